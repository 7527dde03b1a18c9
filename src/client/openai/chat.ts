/** Types of chat completions, and structured output, with the namespaces that code for `openai` uses. */
import type * as params from '../../resources/chat/params.ts';
import type * as chat from '../../resources/chat/types.ts';
import type * as structured from '../../structured/types.ts';
import type {
  ChatCompletionCreateParamsFunction,
  ChatCompletionCustomToolGrammar,
  ChatCompletionFunctionCall,
  ChatCompletionPromptCacheBreakpoint,
  ChatCompletionPromptCacheOptions,
} from '../../resources/chat/params.ts';
import type {
  ChatCompletionLogprobs,
  ChatCompletionModerationError,
  ChatCompletionModerationResult,
  ChatCompletionTokenTopLogprob,
  CompletionUsageCompletionTokensDetails,
  CompletionUsagePromptTokensDetails,
} from '../../resources/chat/types.ts';
import type { ChatCompletionFunctionTool, NamedJSONSchema } from '../../structured/types.ts';
import type { Closed } from '../../types.ts';

export type * from '../../resources/chat/params.ts';
export type * from '../../resources/chat/types.ts';
export type * from '../../structured/types.ts';
export type * from '../../types.ts';

/** Text in a message. */
export interface ChatCompletionContentPartText extends Closed<params.ChatCompletionContentPartText> {}
export declare namespace ChatCompletionContentPartText {
  export { ChatCompletionPromptCacheBreakpoint as PromptCacheBreakpoint };
}

/** An image in a user message. */
export interface ChatCompletionContentPartImage extends Closed<params.ChatCompletionContentPartImage> {
  image_url: Closed<params.ChatCompletionImageURL>;
}
export declare namespace ChatCompletionContentPartImage {
  export { ChatCompletionPromptCacheBreakpoint as PromptCacheBreakpoint };
  export type ImageURL = Closed<params.ChatCompletionImageURL>;
}

/** Audio in a user message, in base64. */
export interface ChatCompletionContentPartInputAudio extends Closed<params.ChatCompletionContentPartInputAudio> {}
export declare namespace ChatCompletionContentPartInputAudio {
  export type InputAudio = ChatCompletionContentPartInputAudio['input_audio'];
  export { ChatCompletionPromptCacheBreakpoint as PromptCacheBreakpoint };
}

/** A document in a user message. */
export interface ChatCompletionContentPartFile extends Closed<params.ChatCompletionContentPartFile> {}
export declare namespace ChatCompletionContentPartFile {
  export type File = params.ChatCompletionContentPartFile['file'];
  export { ChatCompletionPromptCacheBreakpoint as PromptCacheBreakpoint };
}

/** A content part of a user message. */
export type ChatCompletionContentPart =
  | ChatCompletionContentPartText
  | ChatCompletionContentPartImage
  | ChatCompletionContentPartInputAudio
  | ChatCompletionContentPartFile;
export declare namespace ChatCompletionContentPart {
  export { ChatCompletionContentPartFile as File };
}

/** Instructions of the developer; newer models use them instead of a system message. */
export interface ChatCompletionDeveloperMessageParam extends Closed<params.ChatCompletionDeveloperMessageParam> {}

/** Instructions for the whole conversation. */
export interface ChatCompletionSystemMessageParam extends Closed<params.ChatCompletionSystemMessageParam> {}

/** A message of the user. */
export interface ChatCompletionUserMessageParam {
  role: 'user';
  content: string | ChatCompletionContentPart[];
  /** Distinguishes participants with the same role. */
  name?: string | undefined;
}

/** The result of a tool call. */
export interface ChatCompletionToolMessageParam extends Closed<params.ChatCompletionToolMessageParam> {}

/**
 * One message of a conversation, as `openai` types it. `create()` accepts more: text as `image_url`, videos,
 * `tool_calls: null` and words that only some gateways know.
 */
export type ChatCompletionMessageParam =
  | ChatCompletionDeveloperMessageParam
  | ChatCompletionSystemMessageParam
  | ChatCompletionUserMessageParam
  | ChatCompletionAssistantMessageParam
  | ChatCompletionToolMessageParam
  | params.ChatCompletionFunctionMessageParam;

/** A tool that the model may use. */
export type ChatCompletionTool = ChatCompletionFunctionTool | ChatCompletionCustomTool;

/** The effort of a reasoning model. `create()` also accepts other words. */
export type ReasoningEffort = Closed<params.ReasoningEffort>;

/** The name of this type in chat. */
export type ChatCompletionReasoningEffort = ReasoningEffort;

/** A kind of output. `create()` also accepts `"image"` and other words. */
export type ChatCompletionModality = 'text' | 'audio';

/** Text that the response will largely repeat. */
export interface ChatCompletionPredictionContent extends Closed<params.ChatCompletionPredictionContent> {}

/** A message that `create()` accepts, with what only some gateways know. */
export type ChatCompletionMessageInput = params.ChatCompletionMessageParam;

/** An earlier message of the model, as `create()` accepts it. */
export type ChatCompletionAssistantMessageInput = params.ChatCompletionAssistantMessageParam;

/** A part of a user message that `create()` accepts, also a video. */
export type ChatCompletionContentPartInput = params.ChatCompletionContentPart;

/** The parameters that `create()` accepts, with what only some gateways know. */
export interface ChatCompletionCreateInput extends params.ChatCompletionCreateParamsNonStreaming {}

/** Parameters that `openai` does not have keep their open strings. */
type OwnNames = 'provider' | 'plugins';

type OpenAIParams<Params extends params.ChatCompletionCreateParamsBase> = Omit<
  Closed<Params>,
  OwnNames | 'messages' | 'modalities' | 'tools'
> &
  Pick<Params, OwnNames> & {
    messages: ChatCompletionMessageParam[];
    modalities?: ChatCompletionModality[] | null | undefined;
    tools?: ChatCompletionTool[] | undefined;
  };

/** Parameters of `chat.completions.create()`, streamed or not. */
export interface ChatCompletionCreateParamsBase extends OpenAIParams<params.ChatCompletionCreateParamsBase> {}

/** Parameters for a response that is not streamed. */
export interface ChatCompletionCreateParamsNonStreaming extends OpenAIParams<params.ChatCompletionCreateParamsNonStreaming> {}

/** Parameters for a streamed response. */
export interface ChatCompletionCreateParamsStreaming extends OpenAIParams<params.ChatCompletionCreateParamsStreaming> {}

/** Parameters of `chat.completions.parse()`. */
export type ChatCompletionParseParams = ChatCompletionCreateParamsNonStreaming;

/** A call of a function, requested by the model. Answer it with a message of role `tool`. */
export interface ChatCompletionMessageFunctionToolCall
  extends params.ChatCompletionMessageFunctionToolCall {}
export declare namespace ChatCompletionMessageFunctionToolCall {
  export { ChatCompletionFunctionCall as Function };
}

/** A call of a custom tool, requested by the model. */
export interface ChatCompletionMessageCustomToolCall
  extends params.ChatCompletionMessageCustomToolCall {}
export declare namespace ChatCompletionMessageCustomToolCall {
  type Custom = params.ChatCompletionMessageCustomToolCall['custom'];
}

/** An earlier message by the model. */
export interface ChatCompletionAssistantMessageParam
  extends
    Omit<
      Closed<params.ChatCompletionAssistantMessageParam>,
      'reasoning_details' | 'images' | 'tool_calls'
    >,
    Pick<params.ChatCompletionAssistantMessageParam, 'reasoning_details' | 'images'> {
  tool_calls?: params.ChatCompletionMessageToolCall[] | undefined;
}
export declare namespace ChatCompletionAssistantMessageParam {
  export type Audio = NonNullable<params.ChatCompletionAssistantMessageParam['audio']>;
  export { ChatCompletionFunctionCall as FunctionCall };
}

/** A tool whose input is text. */
export interface ChatCompletionCustomTool extends Closed<params.ChatCompletionCustomTool> {}
export declare namespace ChatCompletionCustomTool {
  type Custom = params.ChatCompletionCustomTool['custom'];
  namespace Custom {
    type Text = Extract<NonNullable<Custom['format']>, { type: 'text' }>;
    type Grammar = Extract<NonNullable<Custom['format']>, { type: 'grammar' }>;
    namespace Grammar {
      export { ChatCompletionCustomToolGrammar as Grammar };
    }
  }
}

/** Requires a call of one function. */
export interface ChatCompletionNamedToolChoice extends params.ChatCompletionNamedToolChoice {}
export declare namespace ChatCompletionNamedToolChoice {
  type Function = params.ChatCompletionNamedToolChoice['function'];
}

/** Requires a call of one custom tool. */
export interface ChatCompletionNamedToolChoiceCustom
  extends params.ChatCompletionNamedToolChoiceCustom {}
export declare namespace ChatCompletionNamedToolChoiceCustom {
  type Custom = params.ChatCompletionNamedToolChoiceCustom['custom'];
}

/** Voice and format of audio output. */
export interface ChatCompletionAudioParam extends Closed<params.ChatCompletionAudioParam> {}
export declare namespace ChatCompletionAudioParam {
  type ID = Exclude<params.ChatCompletionAudioParam['voice'], string>;
}

/** Options of a web search. */
export interface ChatCompletionWebSearchOptions extends Closed<params.ChatCompletionWebSearchOptions> {}
export declare namespace ChatCompletionWebSearchOptions {
  type UserLocation = NonNullable<params.ChatCompletionWebSearchOptions['user_location']>;
  namespace UserLocation {
    type Approximate = UserLocation['approximate'];
  }
}

/** Moderation of the request and the response. */
export interface ChatCompletionModerationParam extends Closed<params.ChatCompletionModerationParam> {}
export declare namespace ChatCompletionModerationParam {
  type Policy = NonNullable<params.ChatCompletionModerationParam['policy']>;
  namespace Policy {
    type Input = NonNullable<Policy['input']>;
    type Output = NonNullable<Policy['output']>;
  }
}

/** Parameters of `chat.completions.create()`. */
export type ChatCompletionCreateParams =
  | ChatCompletionCreateParamsNonStreaming
  | ChatCompletionCreateParamsStreaming;
export declare namespace ChatCompletionCreateParams {
  export {
    ChatCompletionCreateParamsFunction as Function,
    ChatCompletionCreateParamsNonStreaming,
    ChatCompletionCreateParamsStreaming,
    ChatCompletionModerationParam as Moderation,
    ChatCompletionPromptCacheOptions as PromptCacheOptions,
    ChatCompletionWebSearchOptions as WebSearchOptions,
  };
}

/** Token usage of a completion. */
export interface CompletionUsage extends chat.CompletionUsage {}
export declare namespace CompletionUsage {
  export {
    CompletionUsageCompletionTokensDetails as CompletionTokensDetails,
    CompletionUsagePromptTokensDetails as PromptTokensDetails,
  };
}

/** Log probability of a token. */
export interface ChatCompletionTokenLogprob extends chat.ChatCompletionTokenLogprob {}
export declare namespace ChatCompletionTokenLogprob {
  export { ChatCompletionTokenTopLogprob as TopLogprob };
}

/** A citation of a web page or file. */
export interface ChatCompletionAnnotation extends chat.ChatCompletionAnnotation {}
export declare namespace ChatCompletionAnnotation {
  type URLCitation = chat.ChatCompletionAnnotation['url_citation'];
}

/** A message by the model. It can be sent back in `messages` unchanged. */
export interface ChatCompletionMessage extends chat.ChatCompletionMessage {}
export declare namespace ChatCompletionMessage {
  export { ChatCompletionAnnotation as Annotation, ChatCompletionFunctionCall as FunctionCall };
}

/** Results of a moderation. */
export interface ChatCompletionModerationResults extends chat.ChatCompletionModerationResults {}
export declare namespace ChatCompletionModerationResults {
  export { ChatCompletionModerationResult as Result };
}

/** Moderation results of the request and the response. */
export interface ChatCompletionModeration extends chat.ChatCompletionModeration {}
export declare namespace ChatCompletionModeration {
  export {
    ChatCompletionModerationResults as ModerationResults,
    ChatCompletionModerationError as Error,
  };
}

/** A choice of a completion. */
export interface ChatCompletionChoice extends chat.ChatCompletionChoice {}
export declare namespace ChatCompletionChoice {
  export { ChatCompletionLogprobs as Logprobs };
}

/** A chat completion. Fields that the gateway adds are kept; optional fields are `null` if the gateway sent `null`. */
export interface ChatCompletion extends chat.ChatCompletion {}
export declare namespace ChatCompletion {
  export { ChatCompletionChoice as Choice, ChatCompletionModeration as Moderation };
}

/** A delta of a tool call. */
export interface ChatCompletionChunkToolCall extends chat.ChatCompletionChunkToolCall {}
export declare namespace ChatCompletionChunkToolCall {
  type Custom = NonNullable<chat.ChatCompletionChunkToolCall['custom']>;
  type Function = NonNullable<chat.ChatCompletionChunkToolCall['function']>;
}

/** A delta of a message. */
export interface ChatCompletionChunkDelta extends chat.ChatCompletionChunkDelta {}
export declare namespace ChatCompletionChunkDelta {
  export type Audio = NonNullable<chat.ChatCompletionChunkDelta['audio']>;
  export type FunctionCall = NonNullable<chat.ChatCompletionChunkDelta['function_call']>;
  export { ChatCompletionChunkToolCall as ToolCall };
}

/** A choice of a chunk. */
export interface ChatCompletionChunkChoice extends chat.ChatCompletionChunkChoice {}
export declare namespace ChatCompletionChunkChoice {
  export { ChatCompletionChunkDelta as Delta, ChatCompletionLogprobs as Logprobs };
}

/** A chunk of a streamed chat completion. The last one has no choices if you set `include_usage: true`. */
export interface ChatCompletionChunk extends chat.ChatCompletionChunk {}
export declare namespace ChatCompletionChunk {
  export { ChatCompletionChunkChoice as Choice, ChatCompletionModeration as Moderation };
}

/** The completion accumulated so far. */
export interface ChatCompletionSnapshot extends chat.ChatCompletionSnapshot {}
export declare namespace ChatCompletionSnapshot {
  type Choice = chat.ChatCompletionSnapshot['choices'][number];
}

/** A response format for JSON that matches a schema. */
export interface ResponseFormatJSONSchema extends structured.ResponseFormatJSONSchema {}
export declare namespace ResponseFormatJSONSchema {
  export { NamedJSONSchema as JSONSchema };
}

/** A function call with parsed arguments. */
export type ParsedFunction = chat.ParsedFunctionCall;
