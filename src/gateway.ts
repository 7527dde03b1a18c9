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
import { changeSettings, type ClientSettings, resolveSettings } from './http/settings.ts';
import { type CallHooks, startCall, Transport } from './http/transport.ts';
import { toFile } from './uploads/to-file.ts';
import type {
  HTTPMethod,
  RawRequestOptions,
  RouteRequest,
  StreamedRequestOptions,
} from './http/request.ts';
import type { Stream } from './streams/stream.ts';
import type { ApiKey, GatewayOptions, LogLevel, RequestOptions as CallOptions } from './options.ts';
import { Account } from './account/account.ts';
import { settleSubmission } from './account/reader.ts';
import { keepWithinBudget, recordCall } from './account/spent.ts';
import { Audio } from './audio/audio.ts';
import { Chat } from './chat/chat.ts';
import { Embeddings } from './embeddings/embeddings.ts';
import { Generate } from './generate/generate.ts';
import { Images } from './images/images.ts';
import type { ModelsPage, Model } from './models/answers.ts';
import { Models, type Page, type PageResponse } from './models/models.ts';
import { traceCall } from './observing/channel.ts';
import { logCall } from './observing/log.ts';
import { observeCall } from './observing/observe.ts';
import { Videos } from './videos/videos.ts';
import { callRoute } from './routes/routes.ts';
import { createUnservedPrototype, Unserved } from './unserved.ts';
import type { AudioResponseFormat } from './audio/types.ts';
import type {
  ChatCompletionAllowedToolChoice,
  ChatCompletionAllowedTools,
  ChatCompletionAssistantMessageParam,
  ChatCompletionAudioParam,
  ChatCompletionContentPart,
  ChatCompletionContentPartImage,
  ChatCompletionContentPartInputAudio,
  ChatCompletionContentPartRefusal,
  ChatCompletionContentPartText,
  ChatCompletionCreateParams,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionCustomTool,
  ChatCompletionDeveloperMessageParam,
  ChatCompletionFunctionCallOption,
  ChatCompletionFunctionMessageParam,
  ChatCompletionMessageCustomToolCall,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
  ChatCompletionMessageToolCall,
  ChatCompletionModality,
  ChatCompletionNamedToolChoice,
  ChatCompletionNamedToolChoiceCustom,
  ChatCompletionParseParams,
  ChatCompletionPredictionContent,
  ChatCompletionReasoningEffort,
  ChatCompletionRole,
  ChatCompletionStreamOptions,
  ChatCompletionSystemMessageParam,
  ChatCompletionTool,
  ChatCompletionToolChoiceOption,
  ChatCompletionToolMessageParam,
  ChatCompletionUserMessageParam,
  ReasoningEffort,
  ResponseFormatJSONObject,
  ResponseFormatText,
} from './chat/params.ts';
import type {
  ChatCompletion,
  ChatCompletionAudio,
  ChatCompletionChunk,
  ChatCompletionMessage,
  ChatCompletionTokenLogprob,
  CompletionUsage,
  ParsedChatCompletion,
  ParsedChatCompletionMessage,
  ParsedChatCompletionMessageToolCall,
  ParsedChoice,
  ParsedFunction,
  ParsedFunctionToolCall,
} from './chat/types.ts';
import type {
  CreateEmbeddingResponse,
  Embedding,
  EmbeddingCreateParams,
} from './embeddings/types.ts';
import type {
  ImageEditParams,
  ImageEditParamsNonStreaming,
  ImageEditParamsStreaming,
} from './images/edit.ts';
import type {
  Image,
  ImageEditCompletedEvent,
  ImageEditPartialImageEvent,
  ImageEditStreamEvent,
  ImageGenCompletedEvent,
  ImageGenPartialImageEvent,
  ImageGenStreamEvent,
  ImageGenerateParams,
  ImageGenerateParamsNonStreaming,
  ImageGenerateParamsStreaming,
  ImagesResponse,
} from './images/types.ts';
import type {
  ChatCompletionFunctionTool,
  FunctionDefinition,
  FunctionParameters,
  ResponseFormatJSONSchema,
} from './structured/types.ts';
import type {
  AllModels,
  AudioModel,
  ChatModel,
  EmbeddingModel,
  ErrorObject,
  ImageModel,
  Metadata,
  VideoModel,
} from './types.ts';
import type {
  ImageInputReferenceParam,
  Video,
  VideoCreateError,
  VideoCreateParams,
  VideoRemixParams,
  VideoSeconds,
  VideoSize,
} from './videos/types.ts';
import type { VideoDownloadContentParams } from './videos/wait-options.ts';

/** What follows each call of a client, and what may refuse it. */
const hooks: CallHooks = {
  subscribers: [recordCall, logCall, observeCall, traceCall],
  beforeSend: keepWithinBudget,
};

/** The options that a client tells, and that can be set. */
const readable: Readonly<Record<string, (client: ClientSettings) => unknown>> = {
  apiKey: ({ credential }) => credential.reveal(),
  baseURL: ({ findBase }) => findBase()?.root ?? '',
  maxRetries: ({ call }) => call.maxRetries,
  timeout: ({ call }) => call.timeout,
  retryUnknownOutcome: ({ call }) => call.retryUnknownOutcome,
  logLevel: ({ log }) => log.level,
  organization: ({ account }) => account['openai-organization'] ?? null,
  project: ({ account }) => account['openai-project'] ?? null,
};

/**
 * A client for one gateway and one key.
 *
 * It holds no connection and needs no closing. Printing it never shows the key.
 *
 * A key or a base URL that is missing is said by the first call, which looks for it once more.
 *
 * @throws `InvalidInputError` when an option cannot work
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
  /** `GatewayError`, under the name that it has in `openai`. */
  static readonly OpenAIError = GatewayError;
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

  static {
    // Instrumentations of `openai` patch the prototypes of these. As types they are in the namespace below.
    Object.assign(this, { Chat, Completions: Unserved, Embeddings, Images });
    Object.setPrototypeOf(this.prototype, createUnservedPrototype());
  }

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
  /** What the gateway's books say: charges, balance, prices, and what became of a call. */
  readonly account: Account;
  /**
   * Not served: here because wrappers of `openai` look for it.
   *
   * @deprecated `create()` throws; use `chat.completions.create()`.
   */
  readonly completions: Unserved;
  /**
   * Not served: here because wrappers of `openai` look for it.
   *
   * @deprecated `create()` throws; use `post('/v1/moderations', { body })` where the gateway has it.
   */
  readonly moderations: Unserved;

  /**
   * The key, or the function that gives it. A copy of the client, what is printed of it and its JSON do
   * not hold it. Like those below it can be set: calls made afterwards go by it, those under way and
   * waits for videos keep what they began with. `undefined` sets the default. `null` when there is none.
   *
   * @throws `InvalidInputError` when it is set to what cannot work
   */
  declare apiKey: ApiKey | null;
  /** The root of the gateway, without `/v1` or a slash at its end; `""` while it is missing. */
  declare baseURL: string;
  /** How often a failed attempt may be repeated. */
  declare maxRetries: number;
  /** How long one attempt may take, in milliseconds. */
  declare timeout: number;
  /** Whether calls that may have been charged are repeated; `undefined` decides by operation. */
  declare retryUnknownOutcome: boolean | undefined;
  /** What is logged. */
  declare logLevel: LogLevel;
  /** What the header `openai-organization` says, or `null` when it is not sent. */
  declare organization: string | null;
  /** What the header `openai-project` says, or `null` when it is not sent. */
  declare project: string | null;

  /**
   * A function of its own, here and on every resource, is all their state: proxies and copies have it
   * where they do not reach private fields, and nothing that shows or stores a client shows what it holds.
   *
   * @internal
   */
  readonly transport: () => Transport;

  constructor(options: GatewayOptions = {}) {
    const transport = new Transport(resolveSettings(options), hooks);
    this.transport = () => transport;
    for (const [name, read] of Object.entries(readable)) {
      // Accessors of its own, as proxies and copies reach neither private fields nor prototypes' getters.
      Object.defineProperty(this, name, {
        enumerable: name !== 'apiKey',
        get: () => read(transport.client),
        set: (value: unknown) => {
          transport.client = changeSettings(transport.client, { [name]: value });
        },
      });
    }
    this.chat = new Chat(this.transport);
    this.generate = new Generate(this.transport);
    this.embeddings = new Embeddings(this.transport);
    this.images = new Images(this.transport);
    this.audio = new Audio(this.transport);
    this.videos = new Videos(this.transport, settleSubmission);
    this.models = new Models(this.transport);
    this.account = new Account(this.transport);
    this.completions = new Unserved('completions', 'chat.completions.create()');
    this.moderations = new Unserved('moderations', 'the parameter moderation of chat.completions');
  }

  /**
   * A client of the same class with the same options, except for those given. The original stays as it
   * is. They share their budget and what they have spent, and when their gateway limits downloads, those
   * of both wait in one line.
   *
   * @throws `InvalidInputError` when an option cannot work
   */
  withOptions(options: GatewayOptions): this {
    const own = this.transport();
    const changed = { ...own.client.given(), ...options };
    const copy: this = Reflect.construct(this.constructor, [changed]);
    if (copy.baseURL === this.baseURL) copy.transport().shared = own.shared;
    return copy;
  }

  /**
   * Reads a route by its path, with the same key, errors and retries as every call. A read is free and
   * is repeated when it fails.
   *
   * @param path - Below `baseURL`, for example `/v1/some/route`.
   * @returns Parsed JSON, or text if the answer is not JSON; `null` for a 204; `undefined` for an empty
   *   body labelled JSON; a `Response` for a file; with `stream: true` a `Stream` of the parsed events.
   */
  get<T = Stream<unknown>>(path: string, options: StreamedRequestOptions): GatewayPromise<T>;
  get<T = unknown>(path: string, options?: RawRequestOptions): GatewayPromise<T>;
  get(path: string, options?: RawRequestOptions): GatewayPromise<unknown> {
    return this.request('GET', path, options);
  }

  /**
   * Sends to a route by its path. The paths of documented operations cost what these cost and are
   * repeated as they are. Any other counts as charged: it is repeated only when it provably never left
   * or was refused before work, unless `retryUnknownOutcome` is `true`; `false` makes every path so.
   *
   * @param path - Below `baseURL`, for example `/v1/responses`.
   * @param options - `body` is sent as JSON, or as it is when it is a form, search parameters, bytes, a
   *   `Blob` or a stream. Streams are never sent twice.
   * @returns What `get()` returns.
   * @throws `StreamTruncatedError` in the loop over a stream that is not whole
   *
   * @example
   * const body = { model: 'gpt-4o-mini', input: 'Hello!', stream: true };
   * for await (const event of await client.post('/v1/responses', { body, stream: true })) {
   *   console.log(event);
   * }
   */
  post<T = Stream<unknown>>(path: string, options: StreamedRequestOptions): GatewayPromise<T>;
  post<T = unknown>(path: string, options?: RawRequestOptions): GatewayPromise<T>;
  post(path: string, options?: RawRequestOptions): GatewayPromise<unknown> {
    return this.request('POST', path, options);
  }

  /** The same as `post()`, for `PUT`. It may be repeated, and is when it fails. */
  put<T = unknown>(path: string, options?: RawRequestOptions): GatewayPromise<T>;
  put(path: string, options?: RawRequestOptions): GatewayPromise<unknown> {
    return this.request('PUT', path, options);
  }

  /** The same as `post()`, for `PATCH`. */
  patch<T = unknown>(path: string, options?: RawRequestOptions): GatewayPromise<T>;
  patch(path: string, options?: RawRequestOptions): GatewayPromise<unknown> {
    return this.request('PATCH', path, options);
  }

  /** The same as `post()`, for `DELETE`. It may be repeated, and is when it fails. */
  delete<T = unknown>(path: string, options?: RawRequestOptions): GatewayPromise<T>;
  delete(path: string, options?: RawRequestOptions): GatewayPromise<unknown> {
    return this.request('DELETE', path, options);
  }

  /**
   * Calls any route: `request({ method, path, body })` or `request(method, path, options)`. `GET`, `PUT`
   * and `DELETE` are repeated when they fail; other methods are as `post()` says.
   */
  request<T = unknown>(request: RouteRequest): GatewayPromise<T>;
  request<T = unknown>(
    method: HTTPMethod,
    path: string,
    options?: RawRequestOptions,
  ): GatewayPromise<T>;
  request(
    request: HTTPMethod | RouteRequest,
    path = '',
    options?: RawRequestOptions,
  ): GatewayPromise<unknown> {
    return startCall(options, () => {
      const whole: RouteRequest =
        typeof request === 'object' ? request : { ...options, method: request, path };
      return callRoute(this.transport(), whole);
    });
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
// oxfmt-ignore
export declare namespace Gateway {
  export {
    AllModels, type Audio, AudioModel, AudioResponseFormat, CallOptions as RequestOptions, type
    Chat, ChatCompletion, ChatCompletionAllowedToolChoice, ChatCompletionAllowedTools,
    ChatCompletionAssistantMessageParam, ChatCompletionAudio, ChatCompletionAudioParam,
    ChatCompletionChunk, ChatCompletionContentPart, ChatCompletionContentPartImage,
    ChatCompletionContentPartInputAudio, ChatCompletionContentPartRefusal,
    ChatCompletionContentPartText, ChatCompletionCreateParams,
    ChatCompletionCreateParamsNonStreaming, ChatCompletionCreateParamsStreaming,
    ChatCompletionCustomTool, ChatCompletionDeveloperMessageParam, ChatCompletionFunctionCallOption,
    ChatCompletionFunctionMessageParam, ChatCompletionFunctionTool, ChatCompletionMessage,
    ChatCompletionMessageCustomToolCall, ChatCompletionMessageFunctionToolCall,
    ChatCompletionMessageParam, ChatCompletionMessageToolCall, ChatCompletionModality,
    ChatCompletionNamedToolChoice, ChatCompletionNamedToolChoiceCustom, ChatCompletionParseParams,
    ChatCompletionPredictionContent, ChatCompletionReasoningEffort, ChatCompletionRole,
    ChatCompletionStreamOptions, ChatCompletionSystemMessageParam, ChatCompletionTokenLogprob,
    ChatCompletionTool, ChatCompletionToolChoiceOption, ChatCompletionToolMessageParam,
    ChatCompletionUserMessageParam, ChatModel, CompletionUsage, CreateEmbeddingResponse, Embedding,
    EmbeddingCreateParams, EmbeddingModel, type Embeddings, ErrorObject, FunctionDefinition,
    FunctionParameters, GatewayOptions as ClientOptions, Image, ImageEditCompletedEvent,
    ImageEditParams, ImageEditParamsNonStreaming, ImageEditParamsStreaming,
    ImageEditPartialImageEvent, ImageEditStreamEvent, ImageGenCompletedEvent, ImageGenerateParams,
    ImageGenerateParamsNonStreaming, ImageGenerateParamsStreaming, ImageGenPartialImageEvent,
    ImageGenStreamEvent, ImageInputReferenceParam, ImageModel, type Images, ImagesResponse,
    Metadata, Model, type Models, type ModelsPage, Page, PageResponse, ParsedChatCompletion,
    ParsedChatCompletionMessage, ParsedChatCompletionMessageToolCall, ParsedChoice, ParsedFunction,
    ParsedFunctionToolCall, ReasoningEffort, ResponseFormatJSONObject, ResponseFormatJSONSchema,
    ResponseFormatText, Video, VideoCreateError, VideoCreateParams, VideoDownloadContentParams,
    VideoModel, VideoRemixParams, type Videos, VideoSeconds, VideoSize,
  };
}
