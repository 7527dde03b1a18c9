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
import { toFile } from './uploads/to-file.ts';
import type { GatewayOptions, RequestOptions as CallOptions } from './options.ts';
import { GatewayCore } from './core-client.ts';
import { Account } from './account/account.ts';
import { Audio } from './audio/audio.ts';
import { Chat, Completions } from './chat/chat.ts';
import { Embeddings } from './embeddings/embeddings.ts';
import { Generate } from './generate/generate.ts';
import { Images } from './images/images.ts';
import type { ModelsPage, Model } from './models/answers.ts';
import { Models, type Page, type PageResponse } from './models/models.ts';
import { Videos } from './videos/videos.ts';
import type {
  Audio as AudioTypes,
  Chat as ChatTypes,
  Embeddings as EmbeddingsTypes,
  Images as ImagesTypes,
  Models as ModelsTypes,
  Videos as VideosTypes,
} from './openai/resources.ts';
import { createUnservedPrototype, Unserved } from './openai/unserved.ts';
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
export class Gateway extends GatewayCore {
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
    Object.assign(Chat, { Completions });
    Object.setPrototypeOf(this.prototype, createUnservedPrototype(GatewayCore.prototype));
    // Wrappers copy the methods of the client's own prototype, as those of `openai` are there.
    const { constructor: _, ...methods } = Object.getOwnPropertyDescriptors(GatewayCore.prototype);
    Object.defineProperties(this.prototype, methods);
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

  constructor(options: GatewayOptions = {}) {
    super(options, Account.part);
    this.chat = new Chat(this.transport);
    this.generate = new Generate(this.transport);
    this.embeddings = new Embeddings(this.transport);
    this.images = new Images(this.transport);
    this.audio = new Audio(this.transport);
    this.videos = new Videos(this.transport, Account.part.settle);
    this.models = new Models(this.transport);
    this.account = new Account(this.transport);
    this.completions = new Unserved('completions', 'chat.completions.create()');
    this.moderations = new Unserved('moderations', 'the parameter moderation of chat.completions');
  }
}

/** The types under the names that code for `openai` uses, such as `OpenAI.Chat.ChatCompletion`. */
// oxfmt-ignore
export declare namespace Gateway {
  export {
    AllModels, AudioTypes as Audio, AudioModel, AudioResponseFormat, CallOptions as
    RequestOptions, ChatTypes as Chat, ChatCompletion, ChatCompletionAllowedToolChoice,
    ChatCompletionAllowedTools, ChatCompletionAssistantMessageParam, ChatCompletionAudio,
    ChatCompletionAudioParam, ChatCompletionChunk, ChatCompletionContentPart,
    ChatCompletionContentPartImage, ChatCompletionContentPartInputAudio,
    ChatCompletionContentPartRefusal, ChatCompletionContentPartText, ChatCompletionCreateParams,
    ChatCompletionCreateParamsNonStreaming, ChatCompletionCreateParamsStreaming,
    ChatCompletionCustomTool, ChatCompletionDeveloperMessageParam,
    ChatCompletionFunctionCallOption, ChatCompletionFunctionMessageParam,
    ChatCompletionFunctionTool, ChatCompletionMessage, ChatCompletionMessageCustomToolCall,
    ChatCompletionMessageFunctionToolCall, ChatCompletionMessageParam,
    ChatCompletionMessageToolCall, ChatCompletionModality, ChatCompletionNamedToolChoice,
    ChatCompletionNamedToolChoiceCustom, ChatCompletionParseParams,
    ChatCompletionPredictionContent, ChatCompletionReasoningEffort, ChatCompletionRole,
    ChatCompletionStreamOptions, ChatCompletionSystemMessageParam, ChatCompletionTokenLogprob,
    ChatCompletionTool, ChatCompletionToolChoiceOption, ChatCompletionToolMessageParam,
    ChatCompletionUserMessageParam, ChatModel, CompletionUsage, CreateEmbeddingResponse,
    Embedding, EmbeddingCreateParams, EmbeddingModel, EmbeddingsTypes as Embeddings,
    ErrorObject, FunctionDefinition, FunctionParameters, GatewayOptions as ClientOptions, Image,
    ImageEditCompletedEvent, ImageEditParams, ImageEditParamsNonStreaming,
    ImageEditParamsStreaming, ImageEditPartialImageEvent, ImageEditStreamEvent,
    ImageGenCompletedEvent, ImageGenerateParams, ImageGenerateParamsNonStreaming,
    ImageGenerateParamsStreaming, ImageGenPartialImageEvent, ImageGenStreamEvent,
    ImageInputReferenceParam, ImageModel, ImagesTypes as Images, ImagesResponse, Metadata,
    Model, ModelsTypes as Models, type ModelsPage, Page, PageResponse, ParsedChatCompletion,
    ParsedChatCompletionMessage, ParsedChatCompletionMessageToolCall, ParsedChoice,
    ParsedFunction, ParsedFunctionToolCall, ReasoningEffort, ResponseFormatJSONObject,
    ResponseFormatJSONSchema, ResponseFormatText, Video, VideoCreateError, VideoCreateParams,
    VideoDownloadContentParams, VideoModel, VideoRemixParams, VideosTypes as Videos,
    VideoSeconds, VideoSize,
  };
}
