import type { GatewayPromise } from '../../calls/promise.ts';
import { startCall, type Transport } from '../../calls/transport.ts';
import type { RequestOptions } from '../../options/options.ts';
import { peek } from '../../options/snapshot.ts';
import type { Stream } from '../../streams/stream.ts';
import { createResponse, parseResponse, streamResponse } from './operations.ts';
import type {
  ResponseCreateParams,
  ResponseCreateParamsBase,
  ResponseCreateParamsNonStreaming,
  ResponseCreateParamsStreaming,
  ResponseTextFormat,
} from './params.ts';
import type {
  ModelResponse,
  ParsedResponse,
  ParsedTextFormat,
  ResponseStreamEvent,
  ResponseParseParams,
} from './types.ts';

/** The Responses API: `POST /v1/responses`. Keeps no state: every call has its whole input. */
export class Responses {
  /**
   * Declared because the types of wrappers for `openai` require it, and `never` because it only throws.
   * @deprecated not supported; use `get('/v1/responses/<id>')` where your gateway stores responses. `Gateway`
   * throws `GatewayError` that says so; clients of `createGateway()` don't have it.
   */
  declare readonly retrieve: (...input: readonly unknown[]) => never;
  /**
   * Declared because the types of wrappers for `openai` require it, and `never` because it only throws: the helper
   * of `openai` repeats what `create()` with `stream: true` and the stream's `partial` give.
   * @deprecated not supported; use `create()` with `stream: true`. `Gateway` throws `GatewayError` that says so;
   * clients of `createGateway()` don't have it.
   */
  declare readonly stream: (...input: readonly unknown[]) => never;

  /** @internal */
  readonly transport: () => Transport;

  /** @internal */
  constructor(transport: () => Transport) {
    this.transport = transport;
  }

  /**
   * Creates a response: `POST /v1/responses`.
   *
   * Metered: the request is repeated on 408, 429, 5xx and lost connections before the first byte of the
   * response. `retryUnknownOutcome: false` limits retries to requests that provably were not sent or were
   * rejected before any work.
   * A call that asks for pictures, films or sound is charged as an image is, and sent once.
   *
   * @param params - With `stream: true` the result is a stream of events. To continue a conversation, put
   *   `...response.output` and the next items into `input`. With `background: true` the response is
   *   `"queued"`; read it later with `get('/v1/responses/<id>')`.
   * @returns The response with `output_text`, its whole text. If it was cut, its `status` is `"incomplete"`
   *   and `incomplete_details` has the reason.
   * @throws `InvalidInputError` if the model or the input is missing
   * @throws `ResponseFailedError` if the response failed, with its items and usage
   * @throws `APIError` if the gateway rejects the request or sends no usable response
   *
   * @example
   * const response = await client.responses.create({ model: 'gpt-5-mini', input: 'Hello!' });
   * console.log(response.output_text);
   */
  create(
    params: ResponseCreateParamsNonStreaming,
    options?: RequestOptions,
  ): GatewayPromise<ModelResponse>;
  /**
   * Streams the events of the response. Iterating throws `StreamTruncatedError` if the stream ends without
   * `response.completed` or `response.incomplete`, and `StreamError` if the response fails.
   */
  create(
    params: ResponseCreateParamsStreaming,
    options?: RequestOptions,
  ): GatewayPromise<Stream<ResponseStreamEvent>>;
  /** Streams the events if `stream` is `true`. */
  create(
    params: ResponseCreateParamsBase,
    options?: RequestOptions,
  ): GatewayPromise<ModelResponse | Stream<ResponseStreamEvent>>;
  create(
    params: ResponseCreateParams | ResponseCreateParamsBase,
    options?: RequestOptions,
  ): GatewayPromise<ModelResponse> | GatewayPromise<Stream<ResponseStreamEvent>> {
    const transport = this.transport();
    return peek(params, 'stream') === true
      ? streamResponse(transport, params, options)
      : createResponse(transport, params, options);
  }

  /**
   * Creates a response with structured output: calls `create()`, parses the text of the final message,
   * validates it, and returns it as `output_parsed`. Metered like `create()`.
   *
   * @param params - `text.format` is from `responseFormat()` or `zodTextFormat()`, which validate the text. With a
   *   plain `json_schema`, text is parsed but not validated. Arguments for tools of `tool()` or
   *   `zodResponsesFunction()`, and for strict tools, are in `parsed_arguments` of their calls.
   * @returns The response. `output_parsed` is `null` if the model refused, called tools without an answer, or
   *   if the response is still queued.
   * @throws `InvalidOutputError` if the text or the arguments are not JSON or do not match, `LengthFinishReasonError` if it
   *   was cut at the token limit, `ContentFilterFinishReasonError` if it was filtered. Their `response` was
   *   paid for.
   * @throws `InvalidInputError` if `stream` is set
   * @throws the errors of `create()`
   *
   * @example
   * const response = await client.responses.parse({
   *   model: 'gpt-5-mini',
   *   input: 'Where is the Eiffel Tower?',
   *   text: { format: responseFormat(z.object({ city: z.string() }), 'place') },
   * });
   * console.log(response.output_parsed?.city);
   */
  parse<Format extends ResponseTextFormat | undefined = undefined>(
    params: ResponseParseParams<Format>,
    options?: RequestOptions,
  ): GatewayPromise<ParsedResponse<ParsedTextFormat<Format>>>;
  parse(
    params: ResponseCreateParamsNonStreaming,
    options?: RequestOptions,
  ): GatewayPromise<ParsedResponse<unknown>> {
    return startCall(params, () => parseResponse(this.transport(), params, options));
  }
}
