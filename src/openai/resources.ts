/**
 * The classes of resources as types, with the types that code for `openai` finds below their names, such as
 * `Chat.Completions.ChatCompletionChunk`.
 */
import type * as chat from '../chat/chat.ts';
import type * as images from '../images/images.ts';
import type * as audio from '../audio/audio.ts';
import type * as models from '../models/models.ts';
import type * as embeddings from '../embeddings/embeddings.ts';
import type * as videos from '../videos/videos.ts';
import type {
  Transcription,
  TranscriptionCreateParams,
  TranscriptionCreateParamsNonStreaming,
  TranscriptionCreateParamsStreaming,
  TranscriptionCreateResponse,
  TranscriptionDiarized,
  TranscriptionDiarizedSegment,
  TranscriptionInclude,
  TranscriptionLanguage,
  TranscriptionStreamEvent,
  TranscriptionTextDeltaEvent,
  TranscriptionTextDoneEvent,
  TranscriptionTextSegmentEvent,
  TranscriptionVerbose,
  TranscriptionWord,
} from '../audio/transcription-types.ts';
import type {
  AudioResponseFormat,
  SpeechCreateParams,
  TranscriptionSegment,
  Translation,
  TranslationCreateParams,
  TranslationCreateResponse,
  TranslationVerbose,
} from '../audio/types.ts';
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
} from '../chat/params.ts';
import type {
  ChatCompletion,
  ChatCompletionAudio,
  ChatCompletionChunk,
  ChatCompletionMessage,
  ChatCompletionTokenLogprob,
  ParsedChatCompletion,
  ParsedChatCompletionMessage,
  ParsedChatCompletionMessageToolCall,
  ParsedChoice,
  ParsedFunction,
  ParsedFunctionToolCall,
} from '../chat/types.ts';
import type {
  CreateEmbeddingResponse,
  Embedding,
  EmbeddingCreateParams,
} from '../embeddings/types.ts';
import type {
  ImageEditParams,
  ImageEditParamsNonStreaming,
  ImageEditParamsStreaming,
} from '../images/edit.ts';
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
} from '../images/types.ts';
import type { Model, ModelsPage } from '../models/answers.ts';
import type { ChatCompletionFunctionTool } from '../structured/types.ts';
import type {
  AudioModel,
  ChatModel,
  EmbeddingModel,
  ImageModel,
  SpeechModel,
  VideoModel,
} from '../types.ts';
import type {
  ImageInputReferenceParam,
  Video,
  VideoCreateError,
  VideoCreateParams,
  VideoRemixParams,
  VideoSeconds,
  VideoSize,
} from '../videos/types.ts';
import type { VideoDownloadContentParams } from '../videos/wait-options.ts';

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

/** Makes and edits images. */
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
