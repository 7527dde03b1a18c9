import type { SpeechCreateParams, Translation, TranslationVerbose } from './audio/types.ts';
import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionContentPart,
  ChatCompletionContentPartImage,
  ChatCompletionContentPartText,
  ChatCompletionDeveloperMessageParam,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
  ChatCompletionMessageToolCall,
  ChatCompletionRole,
  ChatCompletionSystemMessageParam,
  ChatCompletionToolMessageParam,
  ChatCompletionUserMessageParam,
  ChatCompletionCreateParams,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionTool,
  ChatCompletionToolChoiceOption,
} from './chat/params.ts';
import type {
  ChatCompletionChunk,
  ChatCompletion,
  ChatCompletionMessage,
  ChatCompletionTokenLogprob,
} from './chat/types.ts';
import type {
  CreateEmbeddingResponse,
  Embedding,
  EmbeddingCreateParams,
} from './embeddings/types.ts';
import type { ImageEditParams } from './images/edit.ts';
import type { ImageGenerateParams } from './images/types.ts';
import type { Image, ImagesResponse } from './images/types.ts';
import type { Model } from './models/models.ts';

// The types by the names that code for `openai` uses. They are exported and not declared again as
// `type X = Types.X`: once the declarations are bundled, such an alias would name itself.

/** The types of `OpenAI.Chat`. */
export declare namespace ChatNames {
  export {
    type ChatCompletion,
    type ChatCompletionAssistantMessageParam,
    type ChatCompletionChunk,
    type ChatCompletionContentPart,
    type ChatCompletionContentPartImage,
    type ChatCompletionContentPartText,
    type ChatCompletionCreateParams,
    type ChatCompletionCreateParamsNonStreaming,
    type ChatCompletionCreateParamsStreaming,
    type ChatCompletionDeveloperMessageParam,
    type ChatCompletionMessage,
    type ChatCompletionMessageFunctionToolCall,
    type ChatCompletionMessageParam,
    type ChatCompletionMessageToolCall,
    type ChatCompletionRole,
    type ChatCompletionSystemMessageParam,
    type ChatCompletionTokenLogprob,
    type ChatCompletionTool,
    type ChatCompletionToolChoiceOption,
    type ChatCompletionToolMessageParam,
    type ChatCompletionUserMessageParam,
  };
  /** The types of `OpenAI.Chat.Completions`. */
  export namespace Completions {
    export {
      type ChatCompletion,
      type ChatCompletionAssistantMessageParam,
      type ChatCompletionChunk,
      type ChatCompletionContentPart,
      type ChatCompletionContentPartImage,
      type ChatCompletionContentPartText,
      type ChatCompletionCreateParams,
      type ChatCompletionCreateParamsNonStreaming,
      type ChatCompletionCreateParamsStreaming,
      type ChatCompletionDeveloperMessageParam,
      type ChatCompletionMessage,
      type ChatCompletionMessageFunctionToolCall,
      type ChatCompletionMessageParam,
      type ChatCompletionMessageToolCall,
      type ChatCompletionRole,
      type ChatCompletionSystemMessageParam,
      type ChatCompletionTokenLogprob,
      type ChatCompletionTool,
      type ChatCompletionToolChoiceOption,
      type ChatCompletionToolMessageParam,
      type ChatCompletionUserMessageParam,
    };
  }
}

/** The types of `OpenAI.Embeddings`. */
export declare namespace EmbeddingsNames {
  export { type CreateEmbeddingResponse, type Embedding, type EmbeddingCreateParams };
}

/** The types of `OpenAI.Images`. */
export declare namespace ImagesNames {
  export { type Image, type ImageEditParams, type ImageGenerateParams, type ImagesResponse };
}

/** The types of `OpenAI.Audio`. */
export declare namespace AudioNames {
  export { type SpeechCreateParams, type Translation, type TranslationVerbose };
}

/** The types of `OpenAI.Models`. */
export declare namespace ModelsNames {
  export { type Model };
}
