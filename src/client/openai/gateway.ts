/**
 * The client under the names that code for `openai` uses: the types below `OpenAI`, `Chat` and the other
 * resources, such as `Chat.Completions.ChatCompletionChunk`, static members, and APIs that are not served.
 */
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
} from '../../errors/api-errors.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import { toFile } from '../../uploads/to-file.ts';
import { GatewayCore } from '../core-client.ts';
import { FullClient } from '../gateway.ts';
import { Routes } from '../../resources/routes/methods.ts';
import type { GatewayOptions, RequestOptions } from '../../options/options.ts';
import type { ClientSettings } from '../../calls/settings.ts';
import { addMissingMembers, Unserved } from './unserved.ts';
import * as chat from '../../resources/chat/chat.ts';
import * as images from '../../resources/images/images.ts';
import * as audio from '../../resources/audio/audio.ts';
import * as responses from '../../resources/responses/responses.ts';
import * as models from '../../resources/models/models.ts';
import * as embeddings from '../../resources/embeddings/embeddings.ts';
import * as videos from '../../resources/videos/videos.ts';
import type {
  AudioResponseFormat,
  SpeechCreateParams,
  Transcription,
  TranscriptionCreateParams,
  TranscriptionCreateParamsNonStreaming,
  TranscriptionCreateParamsStreaming,
  TranscriptionCreateResponse,
  TranscriptionDiarized,
  TranscriptionDiarizedSegment,
  TranscriptionInclude,
  TranscriptionLanguage,
  TranscriptionSegment,
  TranscriptionStreamEvent,
  TranscriptionTextDeltaEvent,
  TranscriptionTextDoneEvent,
  TranscriptionTextSegmentEvent,
  TranscriptionVerbose,
  TranscriptionWord,
  Translation,
  TranslationCreateParams,
  TranslationCreateResponse,
  TranslationVerbose,
} from './audio.ts';
import type {
  ChatCompletion,
  ChatCompletionAllowedToolChoice,
  ChatCompletionAllowedTools,
  ChatCompletionAssistantMessageParam,
  ChatCompletionAudio,
  ChatCompletionAudioParam,
  ChatCompletionChunk,
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
  ChatCompletionFunctionTool,
  ChatCompletionMessage,
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
  ChatCompletionTokenLogprob,
  ChatCompletionTool,
  ChatCompletionToolChoiceOption,
  ChatCompletionToolMessageParam,
  ChatCompletionUserMessageParam,
  CompletionUsage,
  FunctionDefinition,
  FunctionParameters,
  Metadata,
  ParsedChatCompletion,
  ParsedChatCompletionMessage,
  ParsedChatCompletionMessageToolCall,
  ParsedChoice,
  ParsedFunction,
  ParsedFunctionToolCall,
  ReasoningEffort,
  ResponseFormatJSONObject,
  ResponseFormatJSONSchema,
  ResponseFormatText,
} from './chat.ts';
import type { CreateEmbeddingResponse, Embedding, EmbeddingCreateParams } from './embeddings.ts';
import type {
  Image,
  ImageEditCompletedEvent,
  ImageEditParams,
  ImageEditParamsNonStreaming,
  ImageEditParamsStreaming,
  ImageEditPartialImageEvent,
  ImageEditStreamEvent,
  ImageGenCompletedEvent,
  ImageGenPartialImageEvent,
  ImageGenStreamEvent,
  ImageGenerateParams,
  ImageGenerateParamsNonStreaming,
  ImageGenerateParamsStreaming,
  ImagesResponse,
} from './images.ts';
import type {
  AllModels,
  AudioModel,
  ChatModel,
  EmbeddingModel,
  ImageModel,
  Model,
  ModelsPage,
  Page,
  PageResponse,
  SpeechModel,
  VideoModel,
} from './models.ts';
import type {
  ImageInputReferenceParam,
  Video,
  VideoCreateError,
  VideoCreateParams,
  VideoDownloadContentParams,
  VideoRemixParams,
  VideoSeconds,
  VideoSize,
} from './videos.ts';
import type { Reasoning, Responses } from './responses.ts';
import type { ErrorObject } from './errors.ts';

/** Chat completions: `POST /v1/chat/completions`. */
export type Completions = chat.Completions;
// oxfmt-ignore
export declare namespace Completions {
  export {
    ChatCompletion, ChatCompletionAllowedToolChoice, ChatCompletionAllowedTools,
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
    ChatCompletionUserMessageParam, ParsedChatCompletion, ParsedChatCompletionMessage,
    ParsedChatCompletionMessageToolCall, ParsedChoice, ParsedFunction, ParsedFunctionToolCall,
  };
}

/** Chat in OpenAI's format. */
export type Chat = chat.Chat;
// oxfmt-ignore
export declare namespace Chat {
  export {
    ChatModel, Completions, ChatCompletion, ChatCompletionAllowedToolChoice,
    ChatCompletionAllowedTools, ChatCompletionAssistantMessageParam, ChatCompletionAudio,
    ChatCompletionAudioParam, ChatCompletionChunk, ChatCompletionContentPart,
    ChatCompletionContentPartImage, ChatCompletionContentPartInputAudio,
    ChatCompletionContentPartRefusal, ChatCompletionContentPartText, ChatCompletionCreateParams,
    ChatCompletionCreateParamsNonStreaming, ChatCompletionCreateParamsStreaming,
    ChatCompletionCustomTool, ChatCompletionDeveloperMessageParam, ChatCompletionFunctionCallOption,
    ChatCompletionFunctionMessageParam, ChatCompletionFunctionTool, ChatCompletionMessage,
    ChatCompletionMessageCustomToolCall, ChatCompletionMessageFunctionToolCall,
    ChatCompletionMessageParam, ChatCompletionMessageToolCall, ChatCompletionModality,
    ChatCompletionNamedToolChoice, ChatCompletionNamedToolChoiceCustom, ChatCompletionParseParams,
    ChatCompletionPredictionContent, ChatCompletionReasoningEffort, ChatCompletionRole,
    ChatCompletionStreamOptions, ChatCompletionSystemMessageParam, ChatCompletionTokenLogprob,
    ChatCompletionTool, ChatCompletionToolChoiceOption, ChatCompletionToolMessageParam,
    ChatCompletionUserMessageParam, ParsedChatCompletion, ParsedChatCompletionMessage,
    ParsedChatCompletionMessageToolCall, ParsedChoice, ParsedFunction, ParsedFunctionToolCall,
  };
}

/** Generates and edits images. */
export type Images = images.Images;
// oxfmt-ignore
export declare namespace Images {
  export {
    Image, ImageEditCompletedEvent, ImageEditParams, ImageEditParamsNonStreaming,
    ImageEditParamsStreaming, ImageEditPartialImageEvent, ImageEditStreamEvent,
    ImageGenCompletedEvent, ImageGenPartialImageEvent, ImageGenStreamEvent, ImageGenerateParams,
    ImageGenerateParamsNonStreaming, ImageGenerateParamsStreaming, ImageModel, ImagesResponse,
  };
}

/** Turns text into speech. */
export type Speech = audio.Speech;
// oxfmt-ignore
export declare namespace Speech {
  export {
    SpeechCreateParams, SpeechModel,
  };
}

/** Transcribes speech in its original language. */
export type Transcriptions = audio.Transcriptions;
// oxfmt-ignore
export declare namespace Transcriptions {
  export {
    Transcription, TranscriptionCreateParams, TranscriptionCreateParamsNonStreaming,
    TranscriptionCreateParamsStreaming, TranscriptionCreateResponse, TranscriptionDiarized,
    TranscriptionDiarizedSegment, TranscriptionInclude, TranscriptionLanguage,
    TranscriptionSegment, TranscriptionStreamEvent, TranscriptionTextDeltaEvent,
    TranscriptionTextDoneEvent, TranscriptionTextSegmentEvent, TranscriptionVerbose,
    TranscriptionWord,
  };
}

/** Translates speech into English text. */
export type Translations = audio.Translations;
// oxfmt-ignore
export declare namespace Translations {
  export {
    Translation, TranslationCreateParams, TranslationCreateResponse, TranslationVerbose,
  };
}

/** Text to speech, transcription and translation. */
export type Audio = audio.Audio;
// oxfmt-ignore
export declare namespace Audio {
  export {
    AudioModel, AudioResponseFormat, Speech, SpeechCreateParams, SpeechModel, Transcription,
    TranscriptionCreateParams, TranscriptionCreateParamsNonStreaming,
    TranscriptionCreateParamsStreaming, TranscriptionCreateResponse, TranscriptionDiarized,
    TranscriptionDiarizedSegment, TranscriptionInclude, TranscriptionLanguage, Transcriptions,
    TranscriptionSegment, TranscriptionStreamEvent, TranscriptionTextDeltaEvent,
    TranscriptionTextDoneEvent, TranscriptionTextSegmentEvent, TranscriptionVerbose,
    TranscriptionWord, Translations, Translation, TranslationCreateParams,
    TranslationCreateResponse, TranslationVerbose,
  };
}

/** Lists the models available to the key. */
export type Models = models.Models;
// oxfmt-ignore
export declare namespace Models {
  export {
    Model, ModelsPage,
  };
}

/** Creates embeddings. */
export type Embeddings = embeddings.Embeddings;
// oxfmt-ignore
export declare namespace Embeddings {
  export {
    CreateEmbeddingResponse, Embedding, EmbeddingCreateParams, EmbeddingModel,
  };
}

/** Video tasks: submit, wait, download, remix. */
export type Videos = videos.Videos;
// oxfmt-ignore
export declare namespace Videos {
  export {
    ImageInputReferenceParam, Video, VideoCreateError, VideoCreateParams,
    VideoDownloadContentParams, VideoModel, VideoRemixParams, VideoSeconds, VideoSize,
  };
}

/**
 * Returns the options that frameworks read from `_options` of a client of `openai`: neither the key nor the
 * query, which may hold another one.
 */
function readOptions({ fetch, headers, call }: ClientSettings): object {
  const { maxRetries, timeout } = call;
  return { fetch, defaultHeaders: headers, maxRetries, timeout };
}

/**
 * A client for one gateway and one key.
 *
 * It holds no connection and needs no closing. Printing it never shows the key.
 *
 * If the key or the base URL is missing, each call looks for it again, and throws if it is still missing.
 *
 * @throws `InvalidInputError` if an option is invalid
 *
 * @example
 * const client = new Gateway({ apiKey: 'sk-…', baseURL: 'https://gateway.example.com' });
 * const completion = await client.chat.completions.create({
 *   model: 'gpt-4o-mini',
 *   messages: [{ role: 'user', content: 'Hello!' }],
 * });
 */
export class Gateway extends FullClient {
  static readonly GatewayError = GatewayError;
  /** `GatewayError` under its name in `openai`. */
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
    // Instrumentations of `openai` patch the prototypes of these classes. Their types are in the namespace
    // below.
    Object.assign(chat.Chat, { Completions: chat.Completions });
    Object.assign(this, {
      Chat: chat.Chat,
      Completions: Unserved,
      Embeddings: embeddings.Embeddings,
      Images: images.Images,
      Responses: responses.Responses,
    });
    addMissingMembers(this.prototype, 'client');
    addMissingMembers(chat.Completions.prototype, 'chat.completions');
    addMissingMembers(responses.Responses.prototype, 'responses');
    addMissingMembers(audio.Audio.prototype, 'audio');
    addMissingMembers(images.Images.prototype, 'images');
    addMissingMembers(models.Models.prototype, 'models');
    addMissingMembers(videos.Videos.prototype, 'videos');
    // Wrappers copy the methods of the client's own prototype, where `openai` has its methods.
    for (const { prototype } of [GatewayCore, Routes]) {
      const { constructor: _, ...methods } = Object.getOwnPropertyDescriptors(prototype);
      Object.defineProperties(this.prototype, methods);
    }
  }

  /**
   * Not supported; exists because wrappers of `openai` look for it.
   *
   * @deprecated `create()` throws; use `chat.completions.create()`.
   */
  readonly completions: Unserved;
  /**
   * Not supported; exists because wrappers of `openai` look for it.
   *
   * @deprecated `create()` throws; use `post('/v1/moderations', { body })` where the gateway has it.
   */
  readonly moderations: Unserved;

  constructor(options: GatewayOptions = {}) {
    super(options);
    this.completions = new Unserved('completions', 'chat.completions.create()');
    this.moderations = new Unserved('moderations', 'the parameter moderation of chat.completions');
    Object.defineProperty(this, '_options', { get: () => readOptions(this.transport().client) });
  }
}

/** The types under the names that code for `openai` uses, such as `OpenAI.Chat.ChatCompletion`. */
// oxfmt-ignore
export declare namespace Gateway {
  export {
    AllModels, Audio, AudioModel, AudioResponseFormat, RequestOptions, Chat, ChatCompletion,
    ChatCompletionAllowedToolChoice, ChatCompletionAllowedTools, ChatCompletionAssistantMessageParam, ChatCompletionAudio,
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
    Embedding, EmbeddingCreateParams, EmbeddingModel, Embeddings,
    ErrorObject, FunctionDefinition, FunctionParameters, GatewayOptions as ClientOptions, Image,
    ImageEditCompletedEvent, ImageEditParams, ImageEditParamsNonStreaming,
    ImageEditParamsStreaming, ImageEditPartialImageEvent, ImageEditStreamEvent,
    ImageGenCompletedEvent, ImageGenerateParams, ImageGenerateParamsNonStreaming,
    ImageGenerateParamsStreaming, ImageGenPartialImageEvent, ImageGenStreamEvent,
    ImageInputReferenceParam, ImageModel, Images, ImagesResponse, Metadata,
    Model, Models, type ModelsPage, Page, PageResponse, ParsedChatCompletion,
    ParsedChatCompletionMessage, ParsedChatCompletionMessageToolCall, ParsedChoice,
    ParsedFunction, ParsedFunctionToolCall, Reasoning, ReasoningEffort, ResponseFormatJSONObject,
    ResponseFormatJSONSchema, ResponseFormatText, Responses, Video, VideoCreateError, VideoCreateParams,
    VideoDownloadContentParams, VideoModel, VideoRemixParams, Videos,
    VideoSeconds, VideoSize,
  };
}
