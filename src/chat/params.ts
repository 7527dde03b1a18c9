import type { JsonObject, Metadata, OpenString } from '../types.ts';
import type {
  ChatCompletionFunctionTool,
  ResponseFormatJSONSchema,
  FunctionParameters,
} from '../structured/types.ts';

/** Marks the end of what the provider may keep in its cache for similar prompts. */
export interface ChatCompletionPromptCacheBreakpoint {
  mode: 'explicit';
  /** How long it is kept at least; otherwise as `prompt_cache_options` says. */
  ttl?: OpenString<'30m' | '12h'> | undefined;
}

/** What every part of a message may carry. */
interface CacheablePart {
  prompt_cache_breakpoint?: ChatCompletionPromptCacheBreakpoint | undefined;
}

/** Text in a message. */
export interface ChatCompletionContentPartText extends CacheablePart {
  type: 'text';
  text: string;
}

// The parts under the names that code for `openai` uses.
export declare namespace ChatCompletionContentPartText {
  export { ChatCompletionPromptCacheBreakpoint as PromptCacheBreakpoint };
}

/** Where an image is, and how closely the model looks at it. */
export interface ChatCompletionImageURL {
  /** An `https:` URL that the provider can fetch, or a `data:` URL with the image itself. */
  url: string;
  /** How closely the model looks; more detail costs more tokens. The model decides when left out. */
  detail?: OpenString<'auto' | 'low' | 'high'> | undefined;
}

/** An image in a user message. */
export interface ChatCompletionContentPartImage extends CacheablePart {
  type: 'image_url';
  /** A URL with options, or the URL alone. Not every model takes the short form. */
  image_url: ChatCompletionImageURL | string;
}

// The parts under the names that code for `openai` uses.
export declare namespace ChatCompletionContentPartImage {
  export {
    ChatCompletionImageURL as ImageURL,
    ChatCompletionPromptCacheBreakpoint as PromptCacheBreakpoint,
  };
}

/** Sound in a user message, as base64. */
export interface ChatCompletionContentPartInputAudio extends CacheablePart {
  type: 'input_audio';
  input_audio: ChatCompletionInputAudio;
}

type ChatCompletionInputAudio = {
  /** The bytes in base64, without a `data:` prefix. */
  data: string;
  /** The encoding of the bytes. */
  format: OpenString<'wav' | 'mp3'>;
};

// The parts under the names that code for `openai` uses.
export declare namespace ChatCompletionContentPartInputAudio {
  export {
    ChatCompletionInputAudio as InputAudio,
    ChatCompletionPromptCacheBreakpoint as PromptCacheBreakpoint,
  };
}

/** A document in a user message: its bytes, or the id of an uploaded file. */
export interface ChatCompletionContentPartFile extends CacheablePart {
  type: 'file';
  file: ChatCompletionFile;
}

type ChatCompletionFile = {
  filename?: string | undefined;
  /** The document as a `data:` URL or in base64; which of them depends on the model. */
  file_data?: string | undefined;
  file_id?: string | undefined;
};

// The parts under the names that code for `openai` uses.
export declare namespace ChatCompletionContentPartFile {
  export {
    ChatCompletionFile as File,
    ChatCompletionPromptCacheBreakpoint as PromptCacheBreakpoint,
  };
}

/** A video in a user message. Only few models take one. */
export interface ChatCompletionContentPartVideo {
  type: 'video_url';
  video_url: {
    /** An `https:` URL that the provider can fetch. */
    url: string;
  };
}

/** Words with which the model refused, sent back as history. */
export interface ChatCompletionContentPartRefusal {
  type: 'refusal';
  refusal: string;
}

/** One piece of a user message. */
export type ChatCompletionContentPart =
  | ChatCompletionContentPartText
  | ChatCompletionContentPartImage
  | ChatCompletionContentPartInputAudio
  | ChatCompletionContentPartFile
  | ChatCompletionContentPartVideo;

// The parts under the names that code for `openai` uses.
export declare namespace ChatCompletionContentPart {
  export { ChatCompletionContentPartFile as File };
}

/** Name and arguments of a function that the model wants called. */
export interface ChatCompletionFunctionCall {
  /** The arguments as JSON text. Models may write invalid JSON: check before use. */
  arguments: string;
  /** The name of the function. */
  name: string;
}

/** The model wants a function called. Answer it with a message of role `tool`. */
export interface ChatCompletionMessageFunctionToolCall {
  /** Goes into `tool_call_id` of the answer. */
  id: string;
  type: 'function';
  function: ChatCompletionFunctionCall;
  /**
   * `true` when the answer was cut, for example at the token limit, and the arguments are not whole JSON.
   * Don't run such a call. Never sent.
   */
  incomplete?: true | undefined;
}

// The parts under the names that code for `openai` uses.
export declare namespace ChatCompletionMessageFunctionToolCall {
  export { ChatCompletionFunctionCall as Function };
}

/** The model wants a custom tool called. */
export interface ChatCompletionMessageCustomToolCall {
  /** Goes into `tool_call_id` of the answer. */
  id: string;
  type: 'custom';
  custom: ChatCompletionCustomCall;
  /** `true` when the answer was cut, for example at the token limit, so that the input may be too. Never sent. */
  incomplete?: true | undefined;
}

type ChatCompletionCustomCall = {
  /** Free text, as the model wrote it. */
  input: string;
  name: string;
};

// The parts under the names that code for `openai` uses.
export declare namespace ChatCompletionMessageCustomToolCall {
  export { ChatCompletionCustomCall as Custom };
}

/** A tool call in an answer, or in the history of a request. */
export type ChatCompletionMessageToolCall =
  | ChatCompletionMessageFunctionToolCall
  | ChatCompletionMessageCustomToolCall;

/** Instructions of the developer; newer models take them in place of a system message. */
export interface ChatCompletionDeveloperMessageParam {
  role: 'developer';
  content: string | ChatCompletionContentPartText[];
  /** Tells participants of the same role apart. */
  name?: string | undefined;
}

/** Instructions that hold for the whole conversation. */
export interface ChatCompletionSystemMessageParam {
  role: 'system';
  content: string | ChatCompletionContentPartText[];
  /** Tells participants of the same role apart. */
  name?: string | undefined;
}

/** What the user says or shows. */
export interface ChatCompletionUserMessageParam {
  role: 'user';
  content: string | ChatCompletionContentPart[];
  /** Tells participants of the same role apart. */
  name?: string | undefined;
}

/** An earlier answer of the model. A `message` of a completion fits as it is. */
export interface ChatCompletionAssistantMessageParam {
  role: 'assistant';
  /** May be left out or `null` only next to `tool_calls` or `function_call`. */
  content?:
    | string
    | (ChatCompletionContentPartText | ChatCompletionContentPartRefusal)[]
    | null
    | undefined;
  /** Tells participants of the same role apart. */
  name?: string | undefined;
  refusal?: string | null | undefined;
  tool_calls?: ChatCompletionMessageToolCall[] | null | undefined;
  /** An earlier spoken answer, by its id. */
  audio?: ChatCompletionID | null | undefined;
  /** The older form of `tool_calls`. */
  function_call?: ChatCompletionFunctionCall | null | undefined;
  /** The model's earlier thoughts; some reasoning models want them back. */
  reasoning_content?: string | null | undefined;
  /** The same as `reasoning_content`, in the spelling of other providers. */
  reasoning?: string | null | undefined;
  /** Asks the model to go on writing this message. Only few providers know it. */
  prefix?: boolean | undefined;
}

type ChatCompletionID = { id: string };

// The parts under the names that code for `openai` uses.
export declare namespace ChatCompletionAssistantMessageParam {
  export { ChatCompletionID as Audio, ChatCompletionFunctionCall as FunctionCall };
}

/** The result of a tool call. */
export interface ChatCompletionToolMessageParam {
  role: 'tool';
  content: string | ChatCompletionContentPartText[];
  /** The `id` of the tool call that this answers. */
  tool_call_id: string;
}

/** The result of a function call, in the older form. */
export interface ChatCompletionFunctionMessageParam {
  role: 'function';
  content: string | null;
  /** The name of the function. */
  name: string;
}

/** One message of a conversation. */
export type ChatCompletionMessageParam =
  | ChatCompletionDeveloperMessageParam
  | ChatCompletionSystemMessageParam
  | ChatCompletionUserMessageParam
  | ChatCompletionAssistantMessageParam
  | ChatCompletionToolMessageParam
  | ChatCompletionFunctionMessageParam;

/** The roles that a message can have. */
export type ChatCompletionRole = ChatCompletionMessageParam['role'];

/** Which texts a custom tool takes. */
export interface ChatCompletionCustomToolGrammar {
  definition: string;
  syntax: OpenString<'lark' | 'regex'>;
}

/** A tool whose input is free text, or text of a grammar. */
export interface ChatCompletionCustomTool {
  type: 'custom';
  custom: ChatCompletionCustomDefinition;
}

type ChatCompletionCustomDefinition = {
  name: string;
  description?: string | undefined;
  /** The form of the input. Left out: any text. */
  format?: ChatCompletionCustomText | ChatCompletionCustomGrammar | undefined;
};

type ChatCompletionCustomText = { type: 'text' };

type ChatCompletionCustomGrammar = { type: 'grammar'; grammar: ChatCompletionCustomToolGrammar };

// The parts under the names that code for `openai` uses.
export declare namespace ChatCompletionCustomTool {
  export { ChatCompletionCustomDefinition as Custom };
}

declare namespace ChatCompletionCustomDefinition {
  export { ChatCompletionCustomText as Text, ChatCompletionCustomGrammar as Grammar };
}

declare namespace ChatCompletionCustomGrammar {
  export { ChatCompletionCustomToolGrammar as Grammar };
}

/** A tool that the model may use. */
export type ChatCompletionTool = ChatCompletionFunctionTool | ChatCompletionCustomTool;

/** Makes the model call this function. */
export interface ChatCompletionNamedToolChoice {
  type: 'function';
  function: ChatCompletionName;
}

type ChatCompletionName = { name: string };

// The parts under the names that code for `openai` uses.
export declare namespace ChatCompletionNamedToolChoice {
  export { ChatCompletionName as Function };
}

/** Makes the model use this custom tool. */
export interface ChatCompletionNamedToolChoiceCustom {
  type: 'custom';
  custom: ChatCompletionName;
}

// The parts under the names that code for `openai` uses.
export declare namespace ChatCompletionNamedToolChoiceCustom {
  export { ChatCompletionName as Custom };
}

/** Limits the model to some of the tools. */
export interface ChatCompletionAllowedToolChoice {
  type: 'allowed_tools';
  allowed_tools: ChatCompletionAllowedTools;
}

/** Which tools the model is limited to. */
export type ChatCompletionAllowedTools = {
  /** `auto`: it may use them; `required`: it must. */
  mode: 'auto' | 'required';
  /** Tools by type and name, for example `{ type: "function", function: { name: "find" } }`. */
  tools: JsonObject[];
};

/** Whether, and which, tools are used. */
export type ChatCompletionToolChoiceOption =
  | 'none'
  | 'auto'
  | 'required'
  | ChatCompletionAllowedToolChoice
  | ChatCompletionNamedToolChoice
  | ChatCompletionNamedToolChoiceCustom;

/** Plain text, the default. */
export interface ResponseFormatText {
  type: 'text';
}

/** Any JSON object. Most models need the word JSON in a message too. */
export interface ResponseFormatJSONObject {
  type: 'json_object';
}

/** The form of the answer. */
export type ChatCompletionResponseFormat =
  | ResponseFormatText
  | ResponseFormatJSONObject
  | ResponseFormatJSONSchema;

/** How hard a reasoning model thinks. */
export type ReasoningEffort = OpenString<
  'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'
> | null;

/** The same, under its name in chat. */
export type ChatCompletionReasoningEffort = ReasoningEffort;

/** The kinds of output that a model can produce. */
export type ChatCompletionModality = OpenString<'text' | 'audio'>;

/** Options of a streamed answer. */
export interface ChatCompletionStreamOptions {
  /**
   * Whether the stream ends with the token usage. Streams are always asked for it: without it this
   * gateway family can swallow the chunk that says why the answer ended.
   */
  include_usage?: boolean | undefined;
  /** Whether chunks carry padding against eavesdropping. Most gateways drop this field. */
  include_obfuscation?: boolean | undefined;
}

/** Voice and encoding of a spoken answer. */
export interface ChatCompletionAudioParam {
  format: OpenString<'wav' | 'aac' | 'mp3' | 'flac' | 'opus' | 'pcm16'>;
  voice: string | ChatCompletionID;
}

// The parts under the names that code for `openai` uses.
export declare namespace ChatCompletionAudioParam {
  export { ChatCompletionID as ID };
}

/** Text that the answer will largely repeat, which makes it faster. */
export interface ChatCompletionPredictionContent {
  type: 'content';
  content: string | ChatCompletionContentPartText[];
}

/** Options of a web search made for the answer. */
export interface ChatCompletionWebSearchOptions {
  search_context_size?: OpenString<'low' | 'medium' | 'high'> | undefined;
  user_location?: ChatCompletionUserLocation | null | undefined;
}

type ChatCompletionUserLocation = {
  type: 'approximate';
  approximate: ChatCompletionApproximateLocation;
};

type ChatCompletionApproximateLocation = {
  city?: string | undefined;
  country?: string | undefined;
  region?: string | undefined;
  timezone?: string | undefined;
};

// The parts under the names that code for `openai` uses.
export declare namespace ChatCompletionWebSearchOptions {
  export { ChatCompletionUserLocation as UserLocation };
}

declare namespace ChatCompletionUserLocation {
  export { ChatCompletionApproximateLocation as Approximate };
}

/** A review of the request and of the answer, made with it. */
export interface ChatCompletionModerationParam {
  /** A moderation model, for example `"omni-moderation-latest"`. */
  model: string;
  /** Whether what is found is only scored, or blocked. */
  policy?: ChatCompletionModerationPolicy | null | undefined;
}

type ChatCompletionModerationPolicy = {
  input?: ChatCompletionModerationMode | null | undefined;
  output?: ChatCompletionModerationMode | null | undefined;
};

type ChatCompletionModerationMode = { mode: OpenString<'score' | 'block'> };

// The parts under the names that code for `openai` uses.
export declare namespace ChatCompletionModerationParam {
  export { ChatCompletionModerationPolicy as Policy };
}

declare namespace ChatCompletionModerationPolicy {
  export { ChatCompletionModerationMode as Input, ChatCompletionModerationMode as Output };
}

/** How soon, and at which price, a provider answers. */
export type ChatCompletionServiceTier = OpenString<
  'auto' | 'default' | 'flex' | 'scale' | 'priority'
>;

/** How the provider keeps prompts in its cache. */
export interface ChatCompletionPromptCacheOptions {
  /** `implicit` caches by itself; `explicit` only up to each `prompt_cache_breakpoint`. */
  mode?: OpenString<'implicit' | 'explicit'> | undefined;
  /** How long prompts are kept at least. */
  ttl?: OpenString<'30m'> | undefined;
}

/** Names a function that the model must call, in the older form of `tool_choice`. */
export interface ChatCompletionFunctionCallOption {
  name: string;
}

/** A function in the older form of `tools`. */
export interface ChatCompletionCreateParamsFunction {
  name: string;
  description?: string | undefined;
  parameters?: FunctionParameters | undefined;
}

/**
 * Parameters of `chat.completions.create()`: `POST /v1/chat/completions`.
 *
 * Fields that are not listed here go through with the option `extraBody`. A field that a model does
 * not know is dropped by the gateway or refused by the provider.
 */
export interface ChatCompletionCreateParamsBase {
  /** The conversation so far. May not be empty. */
  messages: ChatCompletionMessageParam[];
  /** A chat model id, as `models.list()` gives it. */
  model: string;
  /** Upper bound on the generated tokens; an integer of 0 or more. */
  max_tokens?: number | null | undefined;
  /** Upper bound on the generated tokens including reasoning, for reasoning models. */
  max_completion_tokens?: number | null | undefined;
  /** Sampling temperature, usually 0 to 2. Higher is more random. */
  temperature?: number | null | undefined;
  /** Nucleus sampling: only tokens within this probability mass, 0 to 1. */
  top_p?: number | null | undefined;
  /** Only the so many most likely tokens. Not known to every provider. */
  top_k?: number | null | undefined;
  /** How many answers to generate; each is charged. */
  n?: number | null | undefined;
  /** Texts at which the model stops. */
  stop?: string | string[] | null | undefined;
  /** −2 to 2; positive values make repeated tokens less likely the more often they occurred. */
  frequency_penalty?: number | null | undefined;
  /** −2 to 2; positive values make tokens less likely that occurred at all. */
  presence_penalty?: number | null | undefined;
  /** Token id to bias, −100 to 100. */
  logit_bias?: Record<string, number> | null | undefined;
  /** Whether the answer carries the log probabilities of its tokens. */
  logprobs?: boolean | null | undefined;
  /** How many alternatives `logprobs` lists per token, 0 to 20. */
  top_logprobs?: number | null | undefined;
  /** Asks for the same answer to the same request, as far as the provider can. */
  seed?: number | null | undefined;
  /** The form of the answer. */
  response_format?: ChatCompletionResponseFormat | undefined;
  /** Tools that the model may use. */
  tools?: ChatCompletionTool[] | undefined;
  /** Whether, and which, tools are used. */
  tool_choice?: ChatCompletionToolChoiceOption | undefined;
  /** Whether the model may call several tools at once. */
  parallel_tool_calls?: boolean | undefined;
  /** How hard a reasoning model thinks. */
  reasoning_effort?: ReasoningEffort | undefined;
  /** Switches reasoning on or off, for the providers that have this field. */
  enable_thinking?: boolean | undefined;
  /** Reasoning settings of the provider, for example `{ type: "enabled", budget_tokens: 1024 }`. */
  thinking?: JsonObject | null | undefined;
  /** Reasoning settings of other providers. */
  reasoning?: JsonObject | null | undefined;
  /** How wordy the answer is. */
  verbosity?: OpenString<'low' | 'medium' | 'high'> | null | undefined;
  /** The kinds of output to generate. */
  modalities?: ChatCompletionModality[] | null | undefined;
  /** Voice and encoding; needed when `modalities` has `audio`. */
  audio?: ChatCompletionAudioParam | null | undefined;
  /** Text that the answer will largely repeat. */
  prediction?: ChatCompletionPredictionContent | null | undefined;
  /** Lets the model search the web, where it can. */
  web_search_options?: ChatCompletionWebSearchOptions | undefined;
  /** Up to 16 pairs that the provider stores with the completion. */
  metadata?: Metadata | null | undefined;
  /** Whether the provider may store the completion. */
  store?: boolean | null | undefined;
  /** Your own stable id of the end user. */
  user?: string | undefined;
  /** A stable, hashed id of the end user, for abuse detection. Dropped by most gateways. */
  safety_identifier?: string | null | undefined;
  /** Helps the provider to reuse its cache for similar prompts. */
  prompt_cache_key?: string | null | undefined;
  /** How long the provider keeps the cached prompt. */
  prompt_cache_retention?: OpenString<'in_memory' | '24h'> | null | undefined;
  /** How the provider keeps prompts in its cache. */
  prompt_cache_options?: ChatCompletionPromptCacheOptions | undefined;
  /** Has the request and the answer reviewed. */
  moderation?: ChatCompletionModerationParam | null | undefined;
  /** The processing tier. Dropped by most gateways. */
  service_tier?: ChatCompletionServiceTier | null | undefined;
  /** Whether the answer is streamed. */
  stream?: boolean | null | undefined;
  /** Options of a streamed answer. */
  stream_options?: ChatCompletionStreamOptions | null | undefined;
  /** The older form of `tool_choice`. */
  function_call?: 'none' | 'auto' | ChatCompletionFunctionCallOption | undefined;
  /** The older form of `tools`. */
  functions?: ChatCompletionCreateParamsFunction[] | undefined;
}

/** Parameters for an answer in one piece. */
export interface ChatCompletionCreateParamsNonStreaming extends ChatCompletionCreateParamsBase {
  stream?: false | null | undefined;
}

/** Parameters for a streamed answer. */
export interface ChatCompletionCreateParamsStreaming extends ChatCompletionCreateParamsBase {
  stream: true;
}

/** Parameters of `chat.completions.create()`. */
export type ChatCompletionCreateParams =
  | ChatCompletionCreateParamsNonStreaming
  | ChatCompletionCreateParamsStreaming;

// The parts under the names that code for `openai` uses.
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

/** Parameters of `chat.completions.parse()`. */
export type ChatCompletionParseParams = ChatCompletionCreateParamsNonStreaming;
