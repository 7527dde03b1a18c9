import type { GatewayPromise } from '../http/promise.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import { chatCompletionReader } from '../schemas/chat.ts';
import { ChatCompletionStream } from '../streams/chat-completion-stream.ts';
import { chatProtocolFor } from '../streams/chat-protocol.ts';
import { collectChatCompletion } from '../streams/collect-chat.ts';
import type { Stream } from '../streams/stream.ts';
import type {
  ChatCompletionCreateParams,
  ChatCompletionCreateParamsBase,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionCreateParamsStreaming,
} from '../types/chat-params.ts';
import type { ChatCompletionChunk } from '../types/chat-stream.ts';
import type { ChatCompletion } from '../types/chat.ts';
import { chatBody } from './chat-body.ts';

/** Parameters of `chat.completions.stream()`: those of `create()`; `stream` is always on. */
export type ChatCompletionStreamParams = Omit<ChatCompletionCreateParamsBase, 'stream'> & {
  stream?: true | undefined;
};

/** Chat completions (interface document, 4.3). */
export class Completions {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Answers a conversation: `POST /v1/chat/completions`.
   *
   * Metered: it is repeated on 408, 429, 5xx and lost connections before the first byte of the
   * answer; `retryUnknownOutcome: false` limits that to requests that provably never left or were
   * refused before work.
   *
   * @param params - With `stream: true` the answer comes as a stream of chunks. The loop over it
   *   throws `StreamTruncatedError` when the stream ends without a finish reason, and leaving the
   *   loop early closes the connection.
   * @throws `InvalidInputError` when the model or the messages are empty
   * @throws `APIError` when the gateway refuses or no usable answer comes
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
  create(
    params: ChatCompletionCreateParamsStreaming,
    options?: RequestOptions,
  ): GatewayPromise<Stream<ChatCompletionChunk>>;
  create(
    params: ChatCompletionCreateParamsBase,
    options?: RequestOptions,
  ): GatewayPromise<ChatCompletion | Stream<ChatCompletionChunk>>;
  create(
    params: ChatCompletionCreateParams | ChatCompletionCreateParamsBase,
    options?: RequestOptions,
  ): GatewayPromise<ChatCompletion> | GatewayPromise<Stream<ChatCompletionChunk>> {
    return params?.stream === true ? this.#stream(params, options) : this.#whole(params, options);
  }

  /**
   * Streams an answer with a helper: events for text, tool calls and more, a snapshot that grows, and
   * promises for the final completion, message, text and usage.
   *
   * One request, metered as `create()`. `for await` over the helper gives the raw chunks.
   *
   * @example
   * const stream = client.chat.completions.stream({ model: 'gpt-4o-mini', messages });
   * stream.on('content', (delta) => process.stdout.write(delta));
   * const completion = await stream.finalChatCompletion();
   */
  stream(params: ChatCompletionStreamParams, options?: RequestOptions): ChatCompletionStream {
    return new ChatCompletionStream(params, (signal) => {
      const signals = options?.signal ? [signal, options.signal] : [signal];
      return this.#stream(params, { ...options, signal: AbortSignal.any(signals) });
    });
  }

  #whole(
    params: ChatCompletionCreateParamsBase,
    options: RequestOptions | undefined,
  ): GatewayPromise<ChatCompletion> {
    return this.#transport.json(
      'chat.completions.create',
      () => ({ json: chatBody(params) }),
      { reader: chatCompletionReader, fromEvents: collectChatCompletion },
      options,
    );
  }

  #stream(
    params: Omit<ChatCompletionCreateParamsBase, 'stream'>,
    options: RequestOptions | undefined,
  ): GatewayPromise<Stream<ChatCompletionChunk>> {
    return this.#transport.events(
      'chat.completions.create',
      () => ({ json: { ...chatBody(params), stream: true } }),
      chatProtocolFor(params.n ?? 1),
      options,
    );
  }
}

/** Chat in OpenAI's format. */
export class Chat {
  readonly completions: Completions;

  /** @internal */
  constructor(transport: Transport) {
    this.completions = new Completions(transport);
  }
}
