import type { GatewayPromise } from '../../calls/promise.ts';
import { startCall, type Transport } from '../../calls/transport.ts';
import type { RequestOptions } from '../../options/options.ts';
import { copyOptions, copyParams } from '../../options/snapshot.ts';
import type { Stream } from '../../streams/stream.ts';
import type { GenerateContentParams } from './params.ts';
import {
  generateContent,
  type GenerateToolRun,
  type GenerateToolRunOptions,
  type GenerateToolRunParams,
  runTools,
  streamContent,
} from './operations.ts';
import type { GenerateContentResponse } from './types.ts';

/** Content generation in Gemini's format: `POST /v1beta/models/{model}:generateContent`. */
export class Generate {
  /** @internal */
  readonly transport: () => Transport;

  /** @internal */
  constructor(transport: () => Transport) {
    this.transport = transport;
  }

  /**
   * Generates content: `POST /v1beta/models/{model}:generateContent`.
   *
   * Metered: the request is repeated on 408, 429, 5xx and lost connections before the response begins.
   * A call that asks for pictures, films or sound is charged as an image is, and sent once.
   *
   * @returns The response with the getters `text`, `functionCalls` and `blockReason`. A blocked prompt is a
   *   response without candidates, not an error.
   * @throws `InvalidInputError` if the model or the contents are empty
   * @throws `APIError` if the gateway rejects the request or sends no usable response
   *
   * @example
   * const answer = await client.generate.content({ model: 'gemini-2.5-flash', contents: 'Hello!' });
   * console.log(answer.text);
   */
  content(
    params: GenerateContentParams,
    options?: RequestOptions,
  ): GatewayPromise<GenerateContentResponse> {
    return startCall(params, () => generateContent(this.transport(), params, options));
  }

  /**
   * Generates content as a stream: `POST /v1beta/models/{model}:streamGenerateContent?alt=sse`.
   *
   * Metered: the request is repeated only before the first byte of the response. Leaving the loop early closes
   * the connection.
   *
   * @returns A stream of pieces with the same type as a complete response. It throws `StreamTruncatedError`
   *   if it ends without a finish reason.
   * @throws `InvalidInputError` if the model or the contents are empty
   *
   * @example
   * const stream = await client.generate.contentStream({ model: 'gemini-2.5-flash', contents: 'Hi' });
   * for await (const piece of stream) process.stdout.write(piece.text ?? '');
   */
  contentStream(
    params: GenerateContentParams,
    options?: RequestOptions,
  ): GatewayPromise<Stream<GenerateContentResponse>> {
    return startCall(params, () => streamContent(this.transport(), params, options));
  }

  /**
   * Runs a conversation with functions: requests a response, runs the functions that it calls, sends their
   * results, and repeats until a response calls no functions.
   *
   * Each response is one request, metered like `content()`; `maxCalls` limits them. Several calls in one
   * response run in parallel. Arguments are validated before a function receives them. Unknown functions,
   * invalid arguments and errors of functions are sent to the model, which can correct itself. In mode `ANY`
   * every response calls functions, so only `maxCalls` ends the run.
   *
   * The client, the parameters and the options are read when this method is called; later changes don't
   * affect the run.
   *
   * @throws `FunctionCallFinishReasonError` with the `responses` if one ends with `MALFORMED_FUNCTION_CALL` or
   *   `UNEXPECTED_TOOL_CALL`; no function of that response is called, and `onContent` does not receive it
   * @throws the errors of `content()`; `onContent` has received all paid turns
   *
   * @example
   * const { response } = await client.generate.runTools({
   *   model: 'gemini-2.5-flash',
   *   contents: 'What is the weather in Lisbon?',
   *   functions: [tool({ name: 'get_weather', schema, execute: ({ city }) => lookUp(city) })],
   * });
   * console.log(response.text);
   */
  runTools(
    params: GenerateToolRunParams,
    options?: GenerateToolRunOptions,
  ): Promise<GenerateToolRun> {
    const transport = this.transport().snapshot();
    return runTools(transport, copyParams(params), copyOptions(options));
  }
}
