import type { PieceOf } from '../../streams/protocol.ts';
import type {
  ChatCompletionFunctionCall,
  ChatCompletionMessageToolCall,
  ChatCompletionMessageCustomToolCall,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageImage,
  ChatCompletionMessageParam,
  ChatCompletionReasoningDetail,
  ChatCompletionResponseFormat,
  ChatCompletionServiceTier,
} from './params.ts';
import type { Metadata, OpenString, WithRequestId } from '../../types.ts';
import type { ResponseFormatJSONSchema } from '../../structured/types.ts';
import type { APIUserAbortError } from '../../errors/api-errors.ts';

/** The reason a model stopped. Providers may send other values. */
export type ChatCompletionFinishReason = OpenString<
  'stop' | 'length' | 'tool_calls' | 'content_filter' | 'function_call'
>;

/** Prompt tokens by kind. */
export interface CompletionUsagePromptTokensDetails {
  audio_tokens?: number | undefined;
  cache_write_tokens?: number | undefined;
  /** Read from the provider's cache; usually cheaper. */
  cached_tokens?: number | undefined;
  video_tokens?: number | undefined;
  image_tokens?: number | undefined;
  text_tokens?: number | undefined;
}

/** Completion tokens by kind. */
export interface CompletionUsageCompletionTokensDetails {
  accepted_prediction_tokens?: number | undefined;
  audio_tokens?: number | undefined;
  image_tokens?: number | undefined;
  /** Tokens used for reasoning. Some providers do not count them in `completion_tokens`. */
  reasoning_tokens?: number | undefined;
  rejected_prediction_tokens?: number | undefined;
  text_tokens?: number | undefined;
}

/**
 * Token usage of a completion. Details and counts are typed as in `openai`; like there, they are `null` if the
 * gateway sends `null`.
 */
export interface CompletionUsage {
  completion_tokens: number;
  prompt_tokens: number;
  /** Not always the sum of prompt and completion tokens: some providers count reasoning only here. */
  total_tokens: number;
  completion_tokens_details?: CompletionUsageCompletionTokensDetails | undefined;
  prompt_tokens_details?: CompletionUsagePromptTokensDetails | undefined;
  /**
   * The cost in US dollars, as OpenRouter and LiteLLM report it; Perplexity and others send an object.
   * `usageOf()` reads it for any gateway.
   */
  cost?: number | CompletionUsageCost | null | undefined;
  cost_details?: CompletionUsageCostDetails | null | undefined;
  /** `true` if your own key at the vendor was used. `cost` is then only OpenRouter's fee. */
  is_byok?: boolean | null | undefined;
}

/** The cost as an object, in US dollars. */
export interface CompletionUsageCost {
  /** Perplexity's total. */
  total_cost?: number | null | undefined;
  input_tokens_cost?: number | null | undefined;
  output_tokens_cost?: number | null | undefined;
  request_cost?: number | null | undefined;
  /** The total of other gateways. */
  usd?: number | null | undefined;
}

/** Parts of the cost at OpenRouter, in US dollars. */
export interface CompletionUsageCostDetails {
  /** The vendor's charge. */
  upstream_inference_cost?: number | null | undefined;
  upstream_inference_prompt_cost?: number | null | undefined;
  upstream_inference_completions_cost?: number | null | undefined;
  server_tool_cost?: number | null | undefined;
}

/** One alternative to a token. */
export interface ChatCompletionTokenTopLogprob {
  token: string;
  /** The token as UTF-8 bytes; one character can span several tokens. */
  bytes: number[] | null;
  logprob: number;
}

/** A token and its log probability. */
export interface ChatCompletionTokenLogprob extends ChatCompletionTokenTopLogprob {
  /** The most likely tokens at this position. */
  top_logprobs: ChatCompletionTokenTopLogprob[];
}

/** Log probabilities of the tokens of one choice. */
export interface ChatCompletionLogprobs {
  content: ChatCompletionTokenLogprob[] | null;
  refusal?: ChatCompletionTokenLogprob[] | null | undefined;
  /** The tokens of the reasoning, as DeepSeek sends them. */
  reasoning_content?: ChatCompletionTokenLogprob[] | null | undefined;
}

/** A web page that the text cites, or a file that was read for it. */
export interface ChatCompletionAnnotation {
  /** OpenRouter also sends `"file"`, with `file` in place of `url_citation`. */
  type: 'url_citation';
  /** Present if `type` is `"url_citation"`. */
  url_citation: ChatCompletionURLCitation;
  /** Present if `type` is `"file"`: the content that the provider read, so that it need not read it again. */
  file?: { hash?: string | undefined; name?: string | undefined; content?: unknown } | undefined;
}

type ChatCompletionURLCitation = {
  /** End of the citation in the text. */
  end_index: number;
  /** Start of the citation in the text. */
  start_index: number;
  title: string;
  url: string;
};

/** Generated speech. */
export interface ChatCompletionAudio {
  id: string;
  /** The audio in base64, in the requested format. */
  data: string;
  /** Unix time in seconds after which `id` can no longer be used in a request. */
  expires_at: number;
  /** The transcript of the audio. */
  transcript: string;
}

/**
 * The message of the model. It can be added to `messages` of the next request unchanged. `tool_calls`
 * and `annotations` are typed as in `openai`; like there, they are `null` if the gateway sends `null`.
 */
export interface ChatCompletionMessage {
  role: 'assistant';
  /** The text; `null` if there is none, for example next to tool calls. */
  content: string | null;
  /** The original content if the provider sends typed parts; `content` has their text. */
  content_parts?: unknown[] | undefined;
  /** The text of a refusal, or `null`. */
  refusal: string | null;
  /** The model's reasoning, if the provider exposes it. */
  reasoning_content?: string | null | undefined;
  /** The name of `reasoning_content` at other providers. */
  reasoning?: string | null | undefined;
  /** The reasoning in OpenRouter's form. */
  reasoning_details?: ChatCompletionReasoningDetail[] | null | undefined;
  /** Generated images, at OpenRouter and LiteLLM. */
  images?: ChatCompletionMessageImage[] | null | undefined;
  /** Tools that the model calls. */
  tool_calls?: ChatCompletionMessageToolCall[];
  /** Pages that the text cites. */
  annotations?: ChatCompletionAnnotation[];
  /** Generated speech. */
  audio?: ChatCompletionAudio | null;
  /** The older form of `tool_calls`. */
  function_call?: ChatCompletionFunctionCall | null;
}

/** Moderation result of one text. */
export interface ChatCompletionModerationResult {
  /** `true` for each category that applies. */
  categories: Record<string, boolean>;
  /** The types of input that each category applies to. */
  category_applied_input_types: Record<string, OpenString<'text' | 'image'>[]>;
  /** The score of each category, 0 to 1. */
  category_scores: Record<string, number>;
  /** `true` if any category applies. */
  flagged: boolean;
  model: string;
  type: OpenString<'moderation_result'>;
}

/** Moderation results. */
export interface ChatCompletionModerationResults {
  type: 'moderation_results';
  model: string;
  results: ChatCompletionModerationResult[];
}

/** The reason moderation failed. */
export interface ChatCompletionModerationError {
  type: 'error';
  code: string;
  message: string;
}

/** Moderation of the request and of the response. */
export interface ChatCompletionModeration {
  input?: ChatCompletionModerationResults | ChatCompletionModerationError | undefined;
  output?: ChatCompletionModerationResults | ChatCompletionModerationError | undefined;
}

/** One of the choices of a completion. */
export interface ChatCompletionChoice {
  /** The reason the model stopped; `null` or `""` if the gateway sent none, so the text may be cut. */
  finish_reason: ChatCompletionFinishReason | null;
  /** The position among the choices. */
  index: number;
  logprobs: ChatCompletionLogprobs | null;
  message: ChatCompletionMessage;
}

/**
 * The response of `chat.completions.create()`.
 *
 * Additional fields of the gateway are kept. Optional fields are `null` if the gateway sent `null`.
 */
export interface ChatCompletion extends WithRequestId {
  /** The id of the completion; `""` if the gateway sent none. */
  id: string;
  /** The choices. Empty if everything was filtered. */
  choices: ChatCompletionChoice[];
  /** Unix time in seconds; 0 if the gateway sent none. */
  created: number;
  /** The model that was used; it may be the provider's name for it. */
  model: string;
  object: OpenString<'chat.completion'>;
  service_tier?: ChatCompletionServiceTier | null | undefined;
  system_fingerprint?: string | null | undefined;
  /** The `metadata` of the request, if the provider stores the completion. */
  metadata?: Metadata | null | undefined;
  /** Results of the requested `moderation`. */
  moderation?: ChatCompletionModeration | null | undefined;
  /** The token usage; `undefined` if the gateway sent none. */
  usage?: CompletionUsage | null | undefined;
}

/** A piece of a tool call. Pieces with the same `index` belong together. */
export interface ChatCompletionChunkToolCall {
  /** Index of the tool call. Providers need not start at 0. */
  index: number;
  /** Sent with the first piece; later ones may omit it or send `""`. */
  id?: string | null | undefined;
  type?: 'function' | 'custom' | null | undefined;
  function?: ChatCompletionChunkFunction | null | undefined;
  custom?: ChatCompletionChunkCustom | null | undefined;
}

type ChatCompletionChunkFunction = {
  /** The next piece of the arguments as JSON text. */
  arguments?: string | null | undefined;
  name?: string | null | undefined;
};

type ChatCompletionChunkCustom = {
  /** The next piece of the input. */
  input?: string | null | undefined;
  name?: string | null | undefined;
};

/** Additions of a chunk to a message. */
export interface ChatCompletionChunkDelta {
  /** The next piece of the text. */
  content?: string | null | undefined;
  /** The original content if the provider sends typed parts; `content` has their text. */
  content_parts?: unknown[] | undefined;
  /** The next piece of a refusal. */
  refusal?: string | null | undefined;
  role?: OpenString<'developer' | 'system' | 'user' | 'assistant' | 'tool'> | null | undefined;
  /** The next piece of the model's reasoning, if the provider exposes it. */
  reasoning_content?: string | null | undefined;
  /** The name of `reasoning_content` at other providers. */
  reasoning?: string | null | undefined;
  /** Pieces of the reasoning in OpenRouter's format; merged in the final message. */
  reasoning_details?: ChatCompletionReasoningDetail[] | null | undefined;
  /** Generated images. Each is sent in one chunk. */
  images?: ChatCompletionMessageImage[] | null | undefined;
  tool_calls?: ChatCompletionChunkToolCall[] | null | undefined;
  /** The next piece of generated speech. */
  audio?: ChatCompletionChunkAudio | null | undefined;
  /** The older form of `tool_calls`. */
  function_call?: ChatCompletionChunkFunction | null | undefined;
}

type ChatCompletionChunkAudio = Partial<ChatCompletionAudio>;

/** Additions of a chunk to a choice. */
export interface ChatCompletionChunkChoice {
  delta: ChatCompletionChunkDelta;
  /** Index of the choice. */
  index: number;
  /** The reason the model stopped; `null` while it continues. */
  finish_reason: ChatCompletionFinishReason | null;
  logprobs?: ChatCompletionLogprobs | null | undefined;
}

/**
 * A chunk of a streamed completion.
 *
 * Every chunk has at least one choice, except with `include_usage: true`: the last one then has `usage` and no
 * choices, so read `chunk.choices[0]?.delta.content`.
 */
export interface ChatCompletionChunk extends PieceOf<ChatCompletion, CompletionUsage> {
  /** The id of the completion; `""` if the gateway sent none. */
  id: string;
  /** The additions. Empty in the chunk with the usage that `include_usage: true` requests. */
  choices: ChatCompletionChunkChoice[];
  /** Unix time in seconds; 0 if the gateway sent none. */
  created: number;
  /** The model that is used; it may be the provider's name for it. */
  model: string;
  object: OpenString<'chat.completion.chunk'>;
  service_tier?: ChatCompletionServiceTier | null | undefined;
  system_fingerprint?: string | null | undefined;
  /** Random characters that hide the length of the text from eavesdroppers. */
  obfuscation?: string | null | undefined;
  /** Results of the requested `moderation`. */
  moderation?: ChatCompletionModeration | null | undefined;
  /** The token usage so far; most providers send it once, at the end. */
  usage?: CompletionUsage | null | undefined;
}

/** The parsed type of a response format; `null` if it is not parsed. */
export type ParsedOutput<Format> = Format extends { $parseRaw(content: string): infer Parsed }
  ? Awaited<Parsed>
  : Format extends ResponseFormatJSONSchema
    ? unknown
    : null;

export type AnyResponseFormat = ChatCompletionResponseFormat | undefined;

/** Parameters with a `response_format` that determines the parsed type. */
export type WithFormat<Params, Format extends AnyResponseFormat> = Omit<
  Params,
  'response_format'
> & {
  /** The format of the text. Use the helper `responseFormat()` to validate it. */
  response_format?: Format;
};

/** A function call with parsed arguments. */
export interface ParsedFunctionCall extends ChatCompletionFunctionCall {
  /**
   * The parsed arguments, if the tool was created by `tool()` or is `strict`; missing otherwise. `null` in a
   * run of tools if they are invalid.
   */
  parsed_arguments?: unknown;
}

/** A function call with its id. */
export interface ParsedFunctionToolCall extends ChatCompletionMessageFunctionToolCall {
  function: ParsedFunctionCall;
}

/** A tool call of a parsed message. */
export type ParsedChatCompletionMessageToolCall =
  | ParsedFunctionToolCall
  | ChatCompletionMessageCustomToolCall;

/** A message with parsed text. It can be added to `messages` of the next request unchanged. */
export interface ParsedChatCompletionMessage<Parsed> extends ChatCompletionMessage {
  /** The parsed text; `null` if there is no text, the model refused, or nothing is parsed. */
  parsed: Parsed | null;
  tool_calls?: ParsedChatCompletionMessageToolCall[];
}

/** One of the choices of a parsed completion. */
export interface ParsedChoice<Parsed> extends ChatCompletionChoice {
  message: ParsedChatCompletionMessage<Parsed>;
}

/** The response of `chat.completions.parse()`. */
export interface ParsedChatCompletion<Parsed> extends ChatCompletion {
  choices: ParsedChoice<Parsed>[];
}

/** A partial message. */
interface ChatCompletionSnapshotMessage extends ChatCompletionMessage {
  /** The text parsed so far, not validated; missing if nothing is parsed. */
  parsed?: unknown;
  tool_calls?: ParsedChatCompletionMessageToolCall[];
}

interface ChatCompletionSnapshotChoice extends ChatCompletionChoice {
  message: ChatCompletionSnapshotMessage;
}

/** The completion so far. */
export interface ChatCompletionSnapshot extends ChatCompletion {
  choices: ChatCompletionSnapshotChoice[];
}

/** The next piece of the text. */
export interface ContentDeltaEvent {
  delta: string;
  /** All text so far. */
  snapshot: string;
  /** The text parsed so far, with structured output; `null` otherwise. */
  parsed: unknown;
}

/** The text is complete. */
export interface ContentDoneEvent<Parsed = null> {
  content: string;
  /** The parsed and validated text; `null` if it is invalid or not parsed. */
  parsed: Parsed | null;
}

/** The next piece of a refusal. */
export interface RefusalDeltaEvent {
  delta: string;
  /** The whole refusal so far. */
  snapshot: string;
}

/** A refusal is complete. */
export interface RefusalDoneEvent {
  refusal: string;
}

/** The next piece of the arguments of a function call. */
export interface FunctionToolCallArgumentsDeltaEvent {
  /** The name of the function. */
  name: string;
  /** Index of the tool call in the message. */
  index: number;
  /** All arguments so far, as JSON text. */
  arguments: string;
  /** The arguments parsed so far, if parsing was requested; `null` otherwise. */
  parsed_arguments: unknown;
  arguments_delta: string;
}

/** The arguments of a function call are complete. */
export interface FunctionToolCallArgumentsDoneEvent {
  /** The name of the function. */
  name: string;
  /** Index of the tool call in the message. */
  index: number;
  /** The arguments as JSON text. */
  arguments: string;
  /** The parsed and validated arguments; `null` if they are invalid or not parsed. */
  parsed_arguments: unknown;
}

/** Log probabilities of the next tokens of the text. */
export interface LogProbsContentDeltaEvent {
  content: ChatCompletionTokenLogprob[];
  /** Log probabilities of all tokens so far. */
  snapshot: ChatCompletionTokenLogprob[];
}

/** The log probabilities of the text are complete. */
export interface LogProbsContentDoneEvent {
  content: ChatCompletionTokenLogprob[];
}

/** Log probabilities of the next tokens of a refusal. */
export interface LogProbsRefusalDeltaEvent {
  refusal: ChatCompletionTokenLogprob[];
  /** Log probabilities of all tokens so far. */
  snapshot: ChatCompletionTokenLogprob[];
}

/** The log probabilities of a refusal are complete. */
export interface LogProbsRefusalDoneEvent {
  refusal: ChatCompletionTokenLogprob[];
}

/**
 * The events of `ChatCompletionStream` and `ChatCompletionRunner` with their arguments. A runner without
 * `stream: true` receives no chunks, so `chunk` and events with a dot in their name don't occur.
 */
export interface ChatCompletionStreamEvents<Parsed = null> {
  /** The response has begun. */
  connect: [];
  /** A chunk was received. The snapshot is the completion so far and keeps growing. */
  chunk: [chunk: ChatCompletionChunk, snapshot: ChatCompletionSnapshot];
  /** Text was received; the snapshot is all text of this completion so far. */
  content: [delta: string, snapshot: string];
  'content.delta': [event: ContentDeltaEvent];
  'content.done': [event: ContentDoneEvent<Parsed>];
  'refusal.delta': [event: RefusalDeltaEvent];
  'refusal.done': [event: RefusalDoneEvent];
  'tool_calls.function.arguments.delta': [event: FunctionToolCallArgumentsDeltaEvent];
  'tool_calls.function.arguments.done': [event: FunctionToolCallArgumentsDoneEvent];
  'logprobs.content.delta': [event: LogProbsContentDeltaEvent];
  'logprobs.content.done': [event: LogProbsContentDoneEvent];
  'logprobs.refusal.delta': [event: LogProbsRefusalDeltaEvent];
  'logprobs.refusal.done': [event: LogProbsRefusalDoneEvent];
  /** A completion is complete. */
  chatCompletion: [completion: ParsedChatCompletion<Parsed>];
  /** A message was added to the conversation: a completion, or the result of a tool. */
  message: [message: ChatCompletionMessageParam];
  /** The model calls a function; its arguments are complete. */
  functionToolCall: [call: ChatCompletionFunctionCall];
  /** The result of a tool as sent to the model. */
  functionToolCallResult: [content: string];
  /** A tool could not be called, or failed. The error is sent to the model, and the run continues. */
  functionToolCallError: [error: Error, call: ChatCompletionFunctionCall];
  finalChatCompletion: [completion: ParsedChatCompletion<Parsed>];
  finalMessage: [message: ParsedChatCompletionMessage<Parsed>];
  /** Only if there is text. */
  finalContent: [content: string];
  /** Only if the model called a function. */
  finalFunctionToolCall: [call: ChatCompletionFunctionCall];
  /** Only if a tool was called. */
  finalFunctionToolCallResult: [content: string];
  /** The sum over all completions. Only if the gateway reported usage. */
  totalUsage: [usage: CompletionUsage];
  /** The call failed. */
  error: [error: Error];
  /** The call was aborted by the caller. */
  abort: [error: APIUserAbortError];
  /** Always the last event. */
  end: [];
}
