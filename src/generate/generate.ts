import type { GatewayPromise } from '../http/promise.ts';
import { startCall, type Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import { copyOptions, copyParams } from '../snapshot.ts';
import type { Stream } from '../streams/stream.ts';
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
   * Generates an answer in one piece: `POST /v1beta/models/{model}:generateContent`.
   *
   * Metered: it is repeated on 408, 429, 5xx and lost connections before the answer begins.
   *
   * @returns The answer with the getters `text`, `functionCalls` and `blockReason`. A refused prompt
   *   is an answer without candidates, not an error.
   * @throws `InvalidInputError` when the model or the contents are empty
   * @throws `APIError` when the gateway refuses or no usable answer comes
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
   * Generates an answer piece by piece:
   * `POST /v1beta/models/{model}:streamGenerateContent?alt=sse`.
   *
   * Metered: it is repeated only before the first byte of the answer. Leaving the loop early closes
   * the connection.
   *
   * @returns A stream whose pieces have the same form as a whole answer. It throws
   *   `StreamTruncatedError` when it ends without a finish reason.
   * @throws `InvalidInputError` when the model or the contents are empty
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
   * Lets the model call functions: asks for an answer, calls the functions that it calls, sends their
   * results back, and so on until an answer calls none.
   *
   * Each answer is one request, metered as `content()`; `maxCalls` bounds them. Several calls in one
   * answer run side by side. Arguments are checked before a function gets them. An unknown function,
   * arguments that do not fit, and errors of functions are told to the model, which can correct itself.
   * In mode `ANY` every answer calls functions, so only `maxCalls` ends the run.
   *
   * The client, the parameters and the options are read when this method is called; later changes do not
   * reach the requests that follow.
   *
   * @throws whatever `content()` throws; `onContent` was given what had been paid for
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
