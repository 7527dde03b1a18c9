import {
  APIError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  UnprocessableEntityError,
  APIConnectionError,
  APIConnectionTimeoutError,
  APIUserAbortError,
} from './errors/api-errors.ts';
import { GatewayError } from './errors/gateway-error.ts';
import type { GatewayPromise } from './http/promise.ts';
import { resolveSettings } from './http/settings.ts';
import { Transport } from './http/transport.ts';
import { rawBody } from './uploads/raw-body.ts';
import { toFile } from './uploads/to-file.ts';
import { undocumentedSpec, type HTTPMethod, type RawRequestOptions } from './http/request.ts';
import type { GatewayOptions, RequestOptions as CallOptions } from './options.ts';
import { Audio } from './audio/audio.ts';
import { Chat } from './chat/chat.ts';
import { Embeddings } from './embeddings/embeddings.ts';
import { Generate } from './generate/generate.ts';
import { Images } from './images/images.ts';
import { Models } from './models/models.ts';
import { Videos } from './videos/videos.ts';
import type { CompletionUsage } from './chat/types.ts';
import type { CreateEmbeddingResponse, EmbeddingCreateParams } from './embeddings/types.ts';
import type { ImagesResponse } from './images/types.ts';
import type {
  AudioNames,
  ChatNames,
  EmbeddingsNames,
  ImagesNames,
  ModelsNames,
} from './openai-names.ts';

/**
 * A client for one gateway and one key.
 *
 * It holds no connection and needs no closing. Printing it never shows the key.
 *
 * @throws `InvalidInputError` when the key or the base URL is missing or an option cannot work
 *
 * @example
 * const client = new Gateway({ apiKey: 'sk-…', baseURL: 'https://gateway.example.com' });
 * const completion = await client.chat.completions.create({
 *   model: 'gpt-4o-mini',
 *   messages: [{ role: 'user', content: 'Hello!' }],
 * });
 */
export class Gateway {
  static readonly GatewayError = GatewayError;
  static readonly APIError = APIError;
  static readonly APIConnectionError = APIConnectionError;
  static readonly APIConnectionTimeoutError = APIConnectionTimeoutError;
  static readonly APIUserAbortError = APIUserAbortError;
  static readonly BadRequestError = BadRequestError;
  static readonly AuthenticationError = AuthenticationError;
  static readonly PermissionDeniedError = PermissionDeniedError;
  static readonly NotFoundError = NotFoundError;
  static readonly ConflictError = ConflictError;
  static readonly UnprocessableEntityError = UnprocessableEntityError;
  static readonly RateLimitError = RateLimitError;
  static readonly InternalServerError = InternalServerError;
  static readonly toFile = toFile;

  /** Chat in OpenAI's format, whole or streamed. */
  readonly chat: Chat;
  /** Content generation in Gemini's format, whole or streamed. */
  readonly generate: Generate;
  /** Text to vectors. */
  readonly embeddings: Embeddings;
  /** Making and editing images. Consumes credit. */
  readonly images: Images;
  /** Speech and translation. */
  readonly audio: Audio;
  /** Video tasks: submit, wait, download, remix. Consumes credit. */
  readonly videos: Videos;
  /** Which models the key can use. */
  readonly models: Models;

  readonly #options: GatewayOptions;
  readonly #transport: Transport;

  constructor(options: GatewayOptions = {}) {
    this.#options = { ...options };
    this.#transport = new Transport(resolveSettings(options));
    this.chat = new Chat(this.#transport);
    this.generate = new Generate(this.#transport);
    this.embeddings = new Embeddings(this.#transport);
    this.images = new Images(this.#transport);
    this.audio = new Audio(this.#transport);
    this.videos = new Videos(this.#transport);
    this.models = new Models(this.#transport);
  }

  /** The root of the gateway, without `/v1` and without a trailing slash. */
  get baseURL(): string {
    return this.#transport.baseURL;
  }

  /**
   * A client with the same options, except for those given. The original stays as it is. When their
   * gateway limits downloads, those of both wait in one line.
   *
   * @throws `InvalidInputError` when an option cannot work
   */
  withOptions(options: GatewayOptions): Gateway {
    const copy = new Gateway({ ...this.#options, ...options });
    copy.videos.joinLineOf(this.videos);
    return copy;
  }

  /**
   * Reads a route that this package does not know, with the same key, errors and retries. A read is
   * free and is repeated when it fails.
   *
   * @param path - Below `baseURL`, for example `/v1/some/route`.
   * @returns Parsed JSON, or text when the answer is not JSON.
   */
  get(path: string, options?: RawRequestOptions): GatewayPromise<unknown> {
    return this.request('GET', path, options);
  }

  /**
   * Sends to a route that this package does not know. It counts as charged: it is repeated only when
   * it provably never left or was refused before work, unless `retryUnknownOutcome` is `true`.
   *
   * @param path - Below `baseURL`, for example `/v1/some/route`.
   * @param options - `body` is sent as JSON, or as it is when it is a form, search parameters, bytes, a
   *   `Blob` or a stream. Streams are never sent twice.
   * @returns Parsed JSON, or text when the answer is not JSON.
   */
  post(path: string, options?: RawRequestOptions): GatewayPromise<unknown> {
    return this.request('POST', path, options);
  }

  /**
   * Calls any route. `GET`, `PUT` and `DELETE` are repeated when they fail; other methods count as
   * charged.
   */
  request(method: HTTPMethod, path: string, options?: RawRequestOptions): GatewayPromise<unknown> {
    return this.#transport.raw(({ base }) =>
      undocumentedSpec(method, path, base.version, options, rawBody(options)),
    );
  }

  /** What `console.log` shows in Node, Bun and Deno. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return `Gateway { baseURL: '${this.baseURL}' }`;
  }

  /** What `JSON.stringify` shows. */
  toJSON(): { baseURL: string } {
    return { baseURL: this.baseURL };
  }
}

/** The types under the names that code for `openai` uses, such as `OpenAI.Chat.ChatCompletion`. */
export declare namespace Gateway {
  export {
    type AudioNames as Audio,
    type CallOptions as RequestOptions,
    type ChatNames as Chat,
    type CompletionUsage,
    type CreateEmbeddingResponse,
    type EmbeddingCreateParams,
    type EmbeddingsNames as Embeddings,
    type GatewayOptions as ClientOptions,
    type ImagesNames as Images,
    type ImagesResponse,
    type ModelsNames as Models,
  };
}
