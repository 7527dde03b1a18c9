import type { NoOptions } from '../../options/options.ts';
import type { JsonObject, Metadata, OpenString } from '../../types.ts';
import type {
  ChatCompletionFunctionTool,
  ResponseFormatJSONSchema,
  FunctionParameters,
} from '../../structured/types.ts';

/** Marks the end of the prompt prefix that the provider may cache. */
export interface ChatCompletionPromptCacheBreakpoint {
  mode: 'explicit';
  /** Minimum time that the prefix is cached. Default: the `ttl` of `prompt_cache_options`. */
  ttl?: OpenString<'30m' | '12h'> | undefined;
}

/** A cache breakpoint in Anthropic's format, which OpenRouter, LiteLLM and others accept. */
export interface ChatCompletionCacheControl {
  type: 'ephemeral';
  /** @defaultValue "5m" */
  ttl?: OpenString<'5m' | '1h'> | undefined;
}

/** Fields of message parts that can be cached. */
interface CacheablePart {
  prompt_cache_breakpoint?: ChatCompletionPromptCacheBreakpoint | undefined;
  cache_control?: ChatCompletionCacheControl | null | undefined;
}

/**
 * A step of the model's reasoning, as OpenRouter sends it. Send all steps back unchanged and in order, so
 * that the model continues from them, for example after a tool call.
 */
export interface ChatCompletionReasoningDetail {
  type: OpenString<'reasoning.text' | 'reasoning.summary' | 'reasoning.encrypted'>;
  /** For `reasoning.text`. */
  text?: string | null | undefined;
  /** The vendor's signature of the text. */
  signature?: string | null | undefined;
  /** For `reasoning.summary`. */
  summary?: string | null | undefined;
  /** For `reasoning.encrypted`: reasoning that only the vendor can read. */
  data?: string | null | undefined;
  id?: string | null | undefined;
  /** The vendor's format, for example `"anthropic-claude-v1"`. */
  format?: string | null | undefined;
  /** The position among the steps. Pieces of a stream with the same position belong together. */
  index?: number | null | undefined;
}

/** A generated image, as a `data:` URL or another URL. */
export interface ChatCompletionMessageImage {
  type?: OpenString<'image_url'> | undefined;
  image_url: { url: string };
  index?: number | null | undefined;
}

/** Text in a message. */
export interface ChatCompletionContentPartText extends CacheablePart {
  type: 'text';
  text: string;
}

/** URL of an image, and the level of detail for the model. */
export interface ChatCompletionImageURL {
  /** An `https:` URL that the provider can fetch, or a `data:` URL with the image itself. */
  url: string;
  /** Level of detail that the model processes; more detail costs more tokens. Default: chosen by the model. */
  detail?: OpenString<'auto' | 'low' | 'high' | 'original'> | undefined;
}

/** An image in a user message. */
export interface ChatCompletionContentPartImage extends CacheablePart {
  type: 'image_url';
  /** A URL with options, or only the URL. Not every model accepts the short form. */
  image_url: ChatCompletionImageURL | string;
}

/** Audio in a user message, as base64. */
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

/** A document in a user message: its content, or the id of an uploaded file. */
export interface ChatCompletionContentPartFile extends CacheablePart {
  type: 'file';
  file: ChatCompletionFile;
}

type ChatCompletionFile = {
  filename?: string | undefined;
  /** The document as a `data:` URL or in base64, depending on the model. */
  file_data?: string | undefined;
  file_id?: string | undefined;
};

/** A video in a user message. Only a few models accept one. */
export interface ChatCompletionContentPartVideo {
  type: 'video_url';
  video_url: {
    /** An `https:` URL that the provider can fetch. */
    url: string;
  };
}

/** A refusal of the model, sent back as history. */
export interface ChatCompletionContentPartRefusal {
  type: 'refusal';
  refusal: string;
}

/** A part of a user message. */
export type ChatCompletionContentPart =
  | ChatCompletionContentPartText
  | ChatCompletionContentPartImage
  | ChatCompletionContentPartInputAudio
  | ChatCompletionContentPartFile
  | ChatCompletionContentPartVideo;

/** Name and arguments of a function call. */
export interface ChatCompletionFunctionCall {
  /** The arguments as JSON text. Models may write invalid JSON, so validate them. */
  arguments: string;
  /** The name of the function. */
  name: string;
}

/** A function call by the model. Answer it with a message of role `tool`. */
export interface ChatCompletionMessageFunctionToolCall {
  /** Use it as `tool_call_id` of the result. */
  id: string;
  type: 'function';
  function: ChatCompletionFunctionCall;
  /**
   * `true` if the response was cut, for example at the token limit, and the arguments are not complete JSON.
   * Don't run such a call. Never sent.
   */
  incomplete?: true | undefined;
}

/** A call of a custom tool by the model. */
export interface ChatCompletionMessageCustomToolCall {
  /** Use it as `tool_call_id` of the result. */
  id: string;
  type: 'custom';
  custom: ChatCompletionCustomCall;
  /**
   * `true` if the response was cut, for example at the token limit, so the input may be cut too. Never sent.
   */
  incomplete?: true | undefined;
}

type ChatCompletionCustomCall = {
  /** The model's text. */
  input: string;
  name: string;
};

/** A tool call in a response, or in the history of a request. */
export type ChatCompletionMessageToolCall =
  | ChatCompletionMessageFunctionToolCall
  | ChatCompletionMessageCustomToolCall;

/** Instructions of the developer; newer models use them instead of a system message. */
export interface ChatCompletionDeveloperMessageParam {
  role: 'developer';
  content: string | readonly ChatCompletionContentPartText[];
  /** Distinguishes participants with the same role. */
  name?: string | undefined;
}

/** Instructions for the whole conversation. */
export interface ChatCompletionSystemMessageParam {
  role: 'system';
  content: string | readonly ChatCompletionContentPartText[];
  /** Distinguishes participants with the same role. */
  name?: string | undefined;
}

/** A message of the user. */
export interface ChatCompletionUserMessageParam {
  role: 'user';
  content: string | readonly ChatCompletionContentPart[];
  /** Distinguishes participants with the same role. */
  name?: string | undefined;
}

/** An earlier message of the model. The `message` of a completion can be used unchanged. */
export interface ChatCompletionAssistantMessageParam {
  role: 'assistant';
  /** Optional only next to `tool_calls` or `function_call`; may be `null` then. */
  content?:
    | string
    | readonly (ChatCompletionContentPartText | ChatCompletionContentPartRefusal)[]
    | null
    | undefined;
  /** Distinguishes participants with the same role. */
  name?: string | undefined;
  refusal?: string | null | undefined;
  tool_calls?: readonly ChatCompletionMessageToolCall[] | null | undefined;
  /** Earlier generated speech, by its id. */
  audio?: ChatCompletionID | null | undefined;
  /** The older form of `tool_calls`. */
  function_call?: ChatCompletionFunctionCall | null | undefined;
  /** The model's earlier reasoning; some reasoning models require it. */
  reasoning_content?: string | null | undefined;
  /** The name of `reasoning_content` at other providers. */
  reasoning?: string | null | undefined;
  /** The model's earlier reasoning in OpenRouter's format. Send it unchanged. */
  reasoning_details?: readonly ChatCompletionReasoningDetail[] | null | undefined;
  /** Generated images. */
  images?: readonly ChatCompletionMessageImage[] | null | undefined;
  /** Asks the model to continue this message. Only a few providers support it. */
  prefix?: boolean | undefined;
}

type ChatCompletionID = { id: string };

/** The result of a tool call. */
export interface ChatCompletionToolMessageParam {
  role: 'tool';
  content: string | readonly ChatCompletionContentPartText[];
  /** The `id` of the tool call. */
  tool_call_id: string;
}

/** The result of a function call, in the older format. */
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

/** The grammar of a custom tool's input. */
export interface ChatCompletionCustomToolGrammar {
  definition: string;
  syntax: OpenString<'lark' | 'regex'>;
}

/** A tool with free text as input, or text that matches a grammar. */
export interface ChatCompletionCustomTool {
  type: 'custom';
  custom: ChatCompletionCustomDefinition;
}

type ChatCompletionCustomDefinition = {
  name: string;
  description?: string | undefined;
  /** The format of the input. Default: any text. */
  format?: ChatCompletionCustomText | ChatCompletionCustomGrammar | undefined;
};

type ChatCompletionCustomText = { type: 'text' };

type ChatCompletionCustomGrammar = { type: 'grammar'; grammar: ChatCompletionCustomToolGrammar };

/** A tool that the model may use. */
export type ChatCompletionTool = ChatCompletionFunctionTool | ChatCompletionCustomTool;

/** Requires the model to call this function. */
export interface ChatCompletionNamedToolChoice {
  type: 'function';
  function: ChatCompletionName;
}

type ChatCompletionName = { name: string };

/** Requires the model to call this custom tool. */
export interface ChatCompletionNamedToolChoiceCustom {
  type: 'custom';
  custom: ChatCompletionName;
}

/** Limits the model to some of the tools. */
export interface ChatCompletionAllowedToolChoice {
  type: 'allowed_tools';
  allowed_tools: ChatCompletionAllowedTools;
}

/** The allowed tools. */
export type ChatCompletionAllowedTools = {
  /** `auto`: the model may use them; `required`: it must. */
  mode: 'auto' | 'required';
  /** Tools by type and name, for example `{ type: "function", function: { name: "find" } }`. */
  tools: JsonObject[];
};

/** Controls the use of tools. */
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

/** Any JSON object. Most models also require the word JSON in a message. */
export interface ResponseFormatJSONObject {
  type: 'json_object';
}

/** The format of the text. */
export type ChatCompletionResponseFormat =
  | ResponseFormatText
  | ResponseFormatJSONObject
  | ResponseFormatJSONSchema;

/** The effort of a reasoning model. */
export type ReasoningEffort = OpenString<
  'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'
> | null;

/** The name of this type in chat. */
export type ChatCompletionReasoningEffort = ReasoningEffort;

/** The kinds of output that a model can produce. */
export type ChatCompletionModality = OpenString<'text' | 'audio' | 'image'>;

/** Options of a stream. */
export interface ChatCompletionStreamOptions {
  /**
   * `true` ends the stream with the token usage. Usage is always requested, because without it some gateways
   * drop the chunk with the finish reason.
   */
  include_usage?: boolean | undefined;
  /** `true` pads chunks against eavesdropping. Most gateways drop this field. */
  include_obfuscation?: boolean | undefined;
}

/** Voice and encoding of generated speech. */
export interface ChatCompletionAudioParam {
  format: OpenString<'wav' | 'aac' | 'mp3' | 'flac' | 'opus' | 'pcm16'>;
  voice: string | ChatCompletionID;
}

/** Text that the response will largely repeat, which makes it faster. */
export interface ChatCompletionPredictionContent {
  type: 'content';
  content: string | readonly ChatCompletionContentPartText[];
}

/** Options of a web search. */
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

/** Moderation of the request and the response. */
export interface ChatCompletionModerationParam {
  /** A moderation model, for example `"omni-moderation-latest"`. */
  model: string;
  /** Scores or blocks flagged content. */
  policy?: ChatCompletionModerationPolicy | null | undefined;
}

type ChatCompletionModerationPolicy = {
  input?: ChatCompletionModerationMode | null | undefined;
  output?: ChatCompletionModerationMode | null | undefined;
};

type ChatCompletionModerationMode = { mode: OpenString<'score' | 'block'> };

/** The processing tier, which affects latency and price. */
export type ChatCompletionServiceTier = OpenString<
  'auto' | 'default' | 'flex' | 'scale' | 'priority' | 'fast'
>;

/** Caching of prompts by the provider. */
export interface ChatCompletionPromptCacheOptions {
  /** `implicit` caches automatically; `explicit` only up to each `prompt_cache_breakpoint`. */
  mode?: OpenString<'implicit' | 'explicit'> | undefined;
  /** Minimum time that prompts are cached. */
  ttl?: OpenString<'30m'> | undefined;
}

/** Maximum prices, in US dollars per million tokens, per image or per request. */
export interface ChatCompletionMaxPrice {
  prompt?: number | string | undefined;
  completion?: number | string | undefined;
  image?: number | string | undefined;
  audio?: number | string | undefined;
  request?: number | string | undefined;
}

/** The vendors that OpenRouter may use for a request, by their slugs such as `"anthropic"`. */
export interface ChatCompletionProviderPreferences {
  /** Vendors to try first, in this order. */
  order?: readonly string[] | null | undefined;
  /** The only vendors that may be used. */
  only?: readonly string[] | null | undefined;
  /** Vendors that may not be used. */
  ignore?: readonly string[] | null | undefined;
  /**
   * Uses another vendor if the first one fails.
   * @defaultValue true
   */
  allow_fallbacks?: boolean | null | undefined;
  /**
   * Uses only vendors that support every parameter of the request; others ignore some.
   * @defaultValue false
   */
  require_parameters?: boolean | null | undefined;
  /** Allows or forbids vendors that store the request and train on it. */
  data_collection?: OpenString<'allow' | 'deny'> | null | undefined;
  /** Uses only vendors that retain no data. */
  zdr?: boolean | null | undefined;
  /** For example `["fp8", "bf16"]`. */
  quantizations?: readonly string[] | null | undefined;
  /** The order in which vendors are tried; by default OpenRouter balances by price. */
  sort?:
    | OpenString<'price' | 'throughput' | 'latency'>
    | { by?: string | null | undefined; partition?: string | null | undefined }
    | null
    | undefined;
  max_price?: ChatCompletionMaxPrice | undefined;
  /** In seconds, or by percentile such as `{ p90: 3 }`. */
  preferred_max_latency?: number | JsonObject | null | undefined;
  /** In tokens per second, or by percentile. */
  preferred_min_throughput?: number | JsonObject | null | undefined;
}

/** A plugin of OpenRouter, with its settings, for example `{ id: "web", max_results: 3 }`. May cost extra. */
export interface ChatCompletionPlugin {
  id: OpenString<
    | 'web'
    | 'file-parser'
    | 'response-healing'
    | 'context-compression'
    | 'auto-router'
    | 'moderation'
  >;
  /** @defaultValue true */
  enabled?: boolean | undefined;
  [setting: string]: unknown;
}

/** A function that the model must call, in the older format of `tool_choice`. */
export interface ChatCompletionFunctionCallOption {
  name: string;
}

/** A function in the older format of `tools`. */
export interface ChatCompletionCreateParamsFunction {
  name: string;
  description?: string | undefined;
  parameters?: FunctionParameters | undefined;
}

/**
 * Parameters of `chat.completions.create()`: `POST /v1/chat/completions`.
 *
 * Send other fields with the option `extraBody`. A field that a model does not support is dropped by the
 * gateway or rejected by the provider.
 */
export interface ChatCompletionCreateParamsBase extends NoOptions {
  /** The conversation so far. May not be empty. */
  messages: readonly ChatCompletionMessageParam[];
  /** A chat model id, as returned by `models.list()`. */
  model: string;
  /**
   * Models to try in order if `model` fails, at OpenRouter. The `model` of the response is the one that is
   * charged.
   */
  models?: readonly string[] | undefined;
  /** The vendors that OpenRouter may use. */
  provider?: ChatCompletionProviderPreferences | null | undefined;
  /** OpenRouter's plugins. */
  plugins?: readonly ChatCompletionPlugin[] | undefined;
  /** Maximum number of generated tokens, 0 or more. */
  max_tokens?: number | null | undefined;
  /** Maximum number of generated tokens including reasoning, for reasoning models. */
  max_completion_tokens?: number | null | undefined;
  /** Sampling temperature, usually 0 to 2. Higher is more random. */
  temperature?: number | null | undefined;
  /** Nucleus sampling: only tokens within this probability mass, 0 to 1. */
  top_p?: number | null | undefined;
  /** Number of most likely tokens to sample from. Not every provider supports it. */
  top_k?: number | null | undefined;
  /** Number of choices to generate; each is charged. */
  n?: number | null | undefined;
  /** Sequences that stop the generation. */
  stop?: string | readonly string[] | null | undefined;
  /** −2 to 2; positive values make tokens less likely each time they have occurred. */
  frequency_penalty?: number | null | undefined;
  /** −2 to 2; positive values make tokens less likely if they occurred at all. */
  presence_penalty?: number | null | undefined;
  /** Bias per token id, −100 to 100. */
  logit_bias?: Record<string, number> | null | undefined;
  /** `true` returns the log probabilities of the tokens. */
  logprobs?: boolean | null | undefined;
  /** Number of alternatives per token in `logprobs`, 0 to 20. */
  top_logprobs?: number | null | undefined;
  /** Requests the same response to the same request, as far as the provider can. */
  seed?: number | null | undefined;
  /** The format of the text. */
  response_format?: ChatCompletionResponseFormat | undefined;
  /** Tools that the model may use. */
  tools?: readonly ChatCompletionTool[] | undefined;
  /** Controls the use of tools. */
  tool_choice?: ChatCompletionToolChoiceOption | undefined;
  /** `false` limits the model to one tool call at once. */
  parallel_tool_calls?: boolean | undefined;
  /** The effort of a reasoning model. */
  reasoning_effort?: ReasoningEffort | undefined;
  /** Turns reasoning on or off, at providers with this field. */
  enable_thinking?: boolean | undefined;
  /** Reasoning settings of the provider, for example `{ type: "enabled", budget_tokens: 1024 }`. */
  thinking?: JsonObject | null | undefined;
  /** Reasoning settings of other providers. */
  reasoning?: JsonObject | null | undefined;
  /** Verbosity of the response. */
  verbosity?: OpenString<'low' | 'medium' | 'high'> | null | undefined;
  /** The kinds of output to generate. */
  modalities?: readonly ChatCompletionModality[] | null | undefined;
  /** Voice and encoding; needed when `modalities` has `audio`. */
  audio?: ChatCompletionAudioParam | null | undefined;
  /** Text that the response will largely repeat. */
  prediction?: ChatCompletionPredictionContent | null | undefined;
  /** Allows the model to search the web, if it can. */
  web_search_options?: ChatCompletionWebSearchOptions | undefined;
  /** Up to 16 pairs that the provider stores with the completion. */
  metadata?: Metadata | null | undefined;
  /** `true` lets the provider store the completion. */
  store?: boolean | null | undefined;
  /** Your stable id of the end user. */
  user?: string | undefined;
  /** A stable, hashed id of the end user, for abuse detection. Dropped by most gateways. */
  safety_identifier?: string | null | undefined;
  /** Helps the provider reuse its cache for similar prompts. */
  prompt_cache_key?: string | null | undefined;
  /** Time that the provider caches the prompt. */
  prompt_cache_retention?: OpenString<'in_memory' | '24h'> | null | undefined;
  /** Caching of prompts by the provider. */
  prompt_cache_options?: ChatCompletionPromptCacheOptions | undefined;
  /** Moderates the request and the response. */
  moderation?: ChatCompletionModerationParam | null | undefined;
  /** The processing tier. Dropped by most gateways. */
  service_tier?: ChatCompletionServiceTier | null | undefined;
  /** `true` streams the response. */
  stream?: boolean | null | undefined;
  /** Options of the stream. */
  stream_options?: ChatCompletionStreamOptions | null | undefined;
  /** The older format of `tool_choice`. */
  function_call?: 'none' | 'auto' | ChatCompletionFunctionCallOption | undefined;
  /** The older format of `tools`. */
  functions?: readonly ChatCompletionCreateParamsFunction[] | undefined;
}

/** Parameters for a response that is not streamed. */
export interface ChatCompletionCreateParamsNonStreaming extends ChatCompletionCreateParamsBase {
  stream?: false | null | undefined;
}

/** Parameters for a streamed response. */
export interface ChatCompletionCreateParamsStreaming extends ChatCompletionCreateParamsBase {
  stream: true;
}

/** Parameters of `chat.completions.create()`. */
export type ChatCompletionCreateParams =
  | ChatCompletionCreateParamsNonStreaming
  | ChatCompletionCreateParamsStreaming;

/** Parameters of `chat.completions.parse()`. */
export type ChatCompletionParseParams = ChatCompletionCreateParamsNonStreaming;
