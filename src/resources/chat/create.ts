import type { GatewayPromise } from '../../calls/promise.ts';
import type { Transport } from '../../calls/transport.ts';
import type { RequestOptions } from '../../options/options.ts';
import { peek } from '../../options/snapshot.ts';
import type { Stream } from '../../streams/stream.ts';
import { createCompletion, streamCompletion } from './operations.ts';
import type {
  ChatCompletionCreateParams,
  ChatCompletionCreateParamsBase,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionCreateParamsStreaming,
} from './params.ts';
import type { ChatCompletion, ChatCompletionChunk } from './types.ts';

/** Chat completions without runs: `POST /v1/chat/completions`. */
export class PlainCompletions {
  /** @internal */
  readonly transport: () => Transport;

  /** @internal */
  constructor(transport: () => Transport) {
    this.transport = transport;
  }

  /**
   * Creates a completion for a conversation: `POST /v1/chat/completions`.
   *
   * Metered: the request is repeated on 408, 429, 5xx and lost connections before the first byte of the
   * response. `retryUnknownOutcome: false` limits retries to requests that provably were not sent or were
   * rejected before any work.
   * A call that asks for pictures, films or sound is charged as an image is, and sent once.
   *
   * @param params - With `stream: true` the result is a stream of chunks. Iterating it throws
   *   `StreamTruncatedError` if the stream ends without a finish reason, and leaving the loop early closes
   *   the connection. `stream.usage` has the token usage; the chunk that contains only usage is returned only
   *   with `stream_options: { include_usage: true }`.
   * @throws `InvalidInputError` if the model or the messages are empty
   * @throws `APIError` if the gateway rejects the request or sends no usable response
   *
   * @example
   * const completion = await client.chat.completions.create({
   *   model: 'gpt-4o-mini',
   *   messages: [{ role: 'user', content: 'Hello!' }],
   * });
   * console.log(completion.choices[0]?.message.content);
   */
  create(
    params: ChatCompletionCreateParamsNonStreaming,
    options?: RequestOptions,
  ): GatewayPromise<ChatCompletion>;
  /** Streams the completion. Iterating throws `StreamTruncatedError` if it is incomplete. */
  create(
    params: ChatCompletionCreateParamsStreaming,
    options?: RequestOptions,
  ): GatewayPromise<Stream<ChatCompletionChunk>>;
  /** Streams the completion if `stream` is `true`. */
  create(
    params: ChatCompletionCreateParamsBase,
    options?: RequestOptions,
  ): GatewayPromise<ChatCompletion | Stream<ChatCompletionChunk>>;
  create(
    params: ChatCompletionCreateParams | ChatCompletionCreateParamsBase,
    options?: RequestOptions,
  ): GatewayPromise<ChatCompletion> | GatewayPromise<Stream<ChatCompletionChunk>> {
    const transport = this.transport();
    return peek(params, 'stream') === true
      ? streamCompletion(transport, params, options)
      : createCompletion(transport, params, options);
  }
}

/** Chat in OpenAI's format, without `parse()`, `stream()` and `runTools()`. */
export class PlainChat {
  /** Chat completions. */
  readonly completions: PlainCompletions;

  /** @internal */
  constructor(transport: () => Transport) {
    this.completions = new PlainCompletions(transport);
  }
}
