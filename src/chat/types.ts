import type { PieceOf } from '../streams/protocol.ts';
import type {
  ChatCompletionFunctionCall,
  ChatCompletionMessageToolCall,
  ChatCompletionMessageCustomToolCall,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
  ChatCompletionResponseFormat,
  ChatCompletionServiceTier,
} from './params.ts';
import type { OpenString, WithRequestId } from '../types.ts';
import type { ResponseFormatJSONSchema } from '../structured/types.ts';
import type { APIUserAbortError } from '../errors/api-errors.ts';

/** Why a model stopped writing. Providers may send other words. */
export type ChatCompletionFinishReason = OpenString<
  'stop' | 'length' | 'tool_calls' | 'content_filter' | 'function_call'
>;

/** Of which kinds the prompt tokens were. */
export interface CompletionUsagePromptTokensDetails {
  audio_tokens?: number | null | undefined;
  cache_write_tokens?: number | null | undefined;
  /** Read from the provider's cache; usually cheaper. */
  cached_tokens?: number | null | undefined;
  image_tokens?: number | null | undefined;
  text_tokens?: number | null | undefined;
}

/** Of which kinds the completion tokens were. */
export interface CompletionUsageCompletionTokensDetails {
  accepted_prediction_tokens?: number | null | undefined;
  audio_tokens?: number | null | undefined;
  /** Spent on thinking. Some providers do not count them in `completion_tokens`. */
  reasoning_tokens?: number | null | undefined;
  rejected_prediction_tokens?: number | null | undefined;
  text_tokens?: number | null | undefined;
}

/** How many tokens an answer took. */
export interface CompletionUsage {
  completion_tokens: number;
  prompt_tokens: number;
  /** Need not be the sum of the two: some providers count reasoning only here. */
  total_tokens: number;
  completion_tokens_details?: CompletionUsageCompletionTokensDetails | null | undefined;
  prompt_tokens_details?: CompletionUsagePromptTokensDetails | null | undefined;
}

// The parts under the names that code for `openai` uses.
export declare namespace CompletionUsage {
  export {
    CompletionUsageCompletionTokensDetails as CompletionTokensDetails,
    CompletionUsagePromptTokensDetails as PromptTokensDetails,
  };
}

/** One alternative to a token. */
export interface ChatCompletionTokenTopLogprob {
  token: string;
  /** The token as UTF-8 bytes; one character can span several tokens. */
  bytes: number[] | null;
  logprob: number;
}

/** A token and how likely it was. */
export interface ChatCompletionTokenLogprob extends ChatCompletionTokenTopLogprob {
  /** The most likely tokens at this place. */
  top_logprobs: ChatCompletionTokenTopLogprob[];
}

// The parts under the names that code for `openai` uses.
export declare namespace ChatCompletionTokenLogprob {
  export { ChatCompletionTokenTopLogprob as TopLogprob };
}

/** Log probabilities of the tokens of one choice. */
export interface ChatCompletionLogprobs {
  content: ChatCompletionTokenLogprob[] | null;
  refusal: ChatCompletionTokenLogprob[] | null;
}

/** A web page that the answer cites, or a file that was read for it. */
export interface ChatCompletionAnnotation {
  type: OpenString<'url_citation' | 'file'>;
  /** Where `type` is `"url_citation"`; missing otherwise. */
  url_citation: ChatCompletionURLCitation;
  /** Where `type` is `"file"`: what the provider read, so that it need not be read again. */
  file?: { hash?: string | undefined; name?: string | undefined; content?: unknown } | undefined;
}

type ChatCompletionURLCitation = {
  /** Where the citation ends in the text. */
  end_index: number;
  /** Where the citation starts in the text. */
  start_index: number;
  title: string;
  url: string;
};

// The parts under the names that code for `openai` uses.
export declare namespace ChatCompletionAnnotation {
  export { ChatCompletionURLCitation as URLCitation };
}

/** A spoken answer. */
export interface ChatCompletionAudio {
  id: string;
  /** The sound in base64, in the format that was asked for. */
  data: string;
  /** Unix time in seconds after which `id` can no longer be used in a request. */
  expires_at: number;
  /** What is said. */
  transcript: string;
}

/** The answer of the model. It can be put into `messages` of the next request as it is. */
export interface ChatCompletionMessage {
  role: 'assistant';
  /** The text, or `null` when there is none, for example next to tool calls. */
  content: string | null;
  /** The content as it came, where the provider sends typed parts; `content` has their text. */
  content_parts?: unknown[] | undefined;
  /** The words of a refusal, or `null`. */
  refusal: string | null;
  /** What the model thought, where the provider shows it. */
  reasoning_content?: string | null | undefined;
  /** The same as `reasoning_content`, in the spelling of other providers. */
  reasoning?: string | null | undefined;
  /** Tools that the model wants called. */
  tool_calls?: ChatCompletionMessageToolCall[] | null | undefined;
  /** Pages that the text cites. */
  annotations?: ChatCompletionAnnotation[] | null | undefined;
  /** The spoken answer. */
  audio?: ChatCompletionAudio | null | undefined;
  /** The older form of `tool_calls`. */
  function_call?: ChatCompletionFunctionCall | null | undefined;
}

// The parts under the names that code for `openai` uses.
export declare namespace ChatCompletionMessage {
  export { ChatCompletionAnnotation as Annotation, ChatCompletionFunctionCall as FunctionCall };
}

/** What a review found in one text. */
export interface ChatCompletionModerationResult {
  /** By category, whether it applies. */
  categories: Record<string, boolean>;
  /** By category, what it was found in. */
  category_applied_input_types: Record<string, OpenString<'text' | 'image'>[]>;
  /** By category, how sure the review is, 0 to 1. */
  category_scores: Record<string, number>;
  /** Whether any category applies. */
  flagged: boolean;
  model: string;
  type: OpenString<'moderation_result'>;
}

/** What a review found. */
export interface ChatCompletionModerationResults {
  type: 'moderation_results';
  model: string;
  results: ChatCompletionModerationResult[];
}

// The parts under the names that code for `openai` uses.
export declare namespace ChatCompletionModerationResults {
  export { ChatCompletionModerationResult as Result };
}

/** Why there is no review. */
export interface ChatCompletionModerationError {
  type: 'error';
  code: string;
  message: string;
}

/** What the review found in the request, and in the answer. */
export interface ChatCompletionModeration {
  input?: ChatCompletionModerationResults | ChatCompletionModerationError | undefined;
  output?: ChatCompletionModerationResults | ChatCompletionModerationError | undefined;
}

// The parts under the names that code for `openai` uses.
export declare namespace ChatCompletionModeration {
  export {
    ChatCompletionModerationResults as ModerationResults,
    ChatCompletionModerationError as Error,
  };
}

/** One of the answers of a completion. */
export interface ChatCompletionChoice {
  /** Why the model stopped; `""` when the gateway gave no reason. */
  finish_reason: ChatCompletionFinishReason;
  /** The position among the choices. */
  index: number;
  logprobs: ChatCompletionLogprobs | null;
  message: ChatCompletionMessage;
}

// The parts under the names that code for `openai` uses.
export declare namespace ChatCompletionChoice {
  export { ChatCompletionLogprobs as Logprobs };
}

/**
 * The answer of `chat.completions.create()`.
 *
 * Fields that the gateway adds beyond these are kept. Optional fields are `null` if the gateway sent `null`.
 */
export interface ChatCompletion extends WithRequestId {
  /** The id of the completion; `""` when the gateway gave none. */
  id: string;
  /** The answers. Empty when everything was filtered. */
  choices: ChatCompletionChoice[];
  /** Unix time in seconds; 0 when the gateway gave none. */
  created: number;
  /** The model that answered; it may be the provider's name for it. */
  model: string;
  object: OpenString<'chat.completion'>;
  service_tier?: ChatCompletionServiceTier | null | undefined;
  system_fingerprint?: string | null | undefined;
  /** What the review found that `moderation` asked for. */
  moderation?: ChatCompletionModeration | null | undefined;
  /** The token usage; `undefined` when the gateway gave none. */
  usage?: CompletionUsage | null | undefined;
}

// The parts under the names that code for `openai` uses.
export declare namespace ChatCompletion {
  export { ChatCompletionChoice as Choice, ChatCompletionModeration as Moderation };
}

/** A piece of a tool call. Pieces with the same `index` belong together. */
export interface ChatCompletionChunkToolCall {
  /** Which tool call this is a piece of. Providers need not start at 0. */
  index: number;
  /** Comes with the first piece; later ones may leave it out or send `""`. */
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

// The parts under the names that code for `openai` uses.
export declare namespace ChatCompletionChunkToolCall {
  export { ChatCompletionChunkCustom as Custom, ChatCompletionChunkFunction as Function };
}

/** What a chunk adds to a message. */
export interface ChatCompletionChunkDelta {
  /** The next piece of the text. */
  content?: string | null | undefined;
  /** The content as it came, where the provider sends typed parts; `content` has their text. */
  content_parts?: unknown[] | undefined;
  /** The next piece of a refusal. */
  refusal?: string | null | undefined;
  role?: OpenString<'developer' | 'system' | 'user' | 'assistant' | 'tool'> | null | undefined;
  /** The next piece of the model's thoughts, where the provider shows them. */
  reasoning_content?: string | null | undefined;
  /** The same as `reasoning_content`, in the spelling of other providers. */
  reasoning?: string | null | undefined;
  tool_calls?: ChatCompletionChunkToolCall[] | null | undefined;
  /** The next piece of a spoken answer. */
  audio?: ChatCompletionChunkAudio | null | undefined;
  /** The older form of `tool_calls`. */
  function_call?: ChatCompletionChunkFunction | null | undefined;
}

type ChatCompletionChunkAudio = Partial<ChatCompletionAudio>;

// The parts under the names that code for `openai` uses.
export declare namespace ChatCompletionChunkDelta {
  export {
    ChatCompletionChunkAudio as Audio,
    ChatCompletionChunkFunction as FunctionCall,
    ChatCompletionChunkToolCall as ToolCall,
  };
}

/** What a chunk adds to one of the answers. */
export interface ChatCompletionChunkChoice {
  delta: ChatCompletionChunkDelta;
  /** Which answer this belongs to. */
  index: number;
  /** Why the model stopped; `null` while it goes on. */
  finish_reason: ChatCompletionFinishReason | null;
  logprobs?: ChatCompletionLogprobs | null | undefined;
}

// The parts under the names that code for `openai` uses.
export declare namespace ChatCompletionChunkChoice {
  export { ChatCompletionChunkDelta as Delta, ChatCompletionLogprobs as Logprobs };
}

/**
 * One piece of a streamed completion.
 *
 * Loops get chunks with at least one choice. Only with `include_usage: true` does the last one have none
 * and `usage` alone, so read `chunk.choices[0]?.delta.content` then.
 */
export interface ChatCompletionChunk extends PieceOf<ChatCompletion, CompletionUsage> {
  /** The id of the completion; `""` when the gateway gave none. */
  id: string;
  /** What is new. Empty in the chunk with the usage that `include_usage: true` requests. */
  choices: ChatCompletionChunkChoice[];
  /** Unix time in seconds; 0 when the gateway gave none. */
  created: number;
  /** The model that answers; it may be the provider's name for it. */
  model: string;
  object: OpenString<'chat.completion.chunk'>;
  service_tier?: ChatCompletionServiceTier | null | undefined;
  system_fingerprint?: string | null | undefined;
  /** What the review found that `moderation` asked for. */
  moderation?: ChatCompletionModeration | null | undefined;
  /** The token usage so far; most providers send it once, at the end. */
  usage?: CompletionUsage | null | undefined;
}

// The parts under the names that code for `openai` uses.
export declare namespace ChatCompletionChunk {
  export { ChatCompletionChunkChoice as Choice, ChatCompletionModeration as Moderation };
}

/** What an answer in such a format is parsed as; `null` when it is not parsed. */
export type ParsedOutput<Format> = Format extends { $parseRaw(content: string): infer Parsed }
  ? Awaited<Parsed>
  : Format extends ResponseFormatJSONSchema
    ? unknown
    : null;

export type AnyResponseFormat = ChatCompletionResponseFormat | undefined;

/** Parameters whose `response_format` says what the answer is parsed as. */
export type WithFormat<Params, Format extends AnyResponseFormat> = Omit<
  Params,
  'response_format'
> & {
  /** The form of the answer. The helper `responseFormat()` makes one that checks it. */
  response_format?: Format;
};

/** A function that the model wants called, with its arguments parsed. */
export interface ParsedFunctionCall extends ChatCompletionFunctionCall {
  /**
   * The arguments, when the tool was made by `tool()` or is `strict`; missing otherwise. `null` in a run
   * of tools when they do not fit.
   */
  parsed_arguments?: unknown;
}

/** The same, under the name that code for `openai` uses. */
export type ParsedFunction = ParsedFunctionCall;

/** The model wants a function called. */
export interface ParsedFunctionToolCall extends ChatCompletionMessageFunctionToolCall {
  function: ParsedFunctionCall;
}

/** A tool call of a parsed message. */
export type ParsedChatCompletionMessageToolCall =
  | ParsedFunctionToolCall
  | ChatCompletionMessageCustomToolCall;

/** A message whose text was parsed. It can be put into `messages` of the next request as it is. */
export interface ParsedChatCompletionMessage<Parsed> extends ChatCompletionMessage {
  /** The parsed text; `null` when there is none, or the model refused, or nothing was to be parsed. */
  parsed: Parsed | null;
  tool_calls?: ParsedChatCompletionMessageToolCall[] | null | undefined;
}

/** One of the answers of a parsed completion. */
export interface ParsedChoice<Parsed> extends ChatCompletionChoice {
  message: ParsedChatCompletionMessage<Parsed>;
}

/** The answer of `chat.completions.parse()`. */
export interface ParsedChatCompletion<Parsed> extends ChatCompletion {
  choices: ParsedChoice<Parsed>[];
}

/** A message that is still growing. */
interface ChatCompletionSnapshotMessage extends ChatCompletionMessage {
  /** The text parsed as far as it goes, not checked; missing if nothing is parsed. */
  parsed?: unknown;
  tool_calls?: ParsedChatCompletionMessageToolCall[] | null | undefined;
}

interface ChatCompletionSnapshotChoice extends ChatCompletionChoice {
  message: ChatCompletionSnapshotMessage;
}

/** What the chunks of a completion add up to so far. */
export interface ChatCompletionSnapshot extends ChatCompletion {
  choices: ChatCompletionSnapshotChoice[];
}

// The parts under the names that code for `openai` uses.
export declare namespace ChatCompletionSnapshot {
  export { ChatCompletionSnapshotChoice as Choice };
}

/** The next piece of the text. */
export interface ContentDeltaEvent {
  delta: string;
  /** All text so far. */
  snapshot: string;
  /** The text parsed as far as it goes, when structured output was asked for; `null` otherwise. */
  parsed: unknown;
}

/** The text is complete. */
export interface ContentDoneEvent<Parsed = null> {
  content: string;
  /** The parsed and checked text; `null` when it does not fit, or was not to be parsed. */
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

/** The next piece of the arguments of a function that the model wants called. */
export interface FunctionToolCallArgumentsDeltaEvent {
  /** The name of the function. */
  name: string;
  /** Which tool call of the message this is. */
  index: number;
  /** All arguments so far, as JSON text. */
  arguments: string;
  /** The arguments parsed as far as they go, when parsing was asked for; `null` otherwise. */
  parsed_arguments: unknown;
  arguments_delta: string;
}

/** The arguments of a function that the model wants called are complete. */
export interface FunctionToolCallArgumentsDoneEvent {
  /** The name of the function. */
  name: string;
  /** Which tool call of the message this is. */
  index: number;
  /** The arguments as JSON text. */
  arguments: string;
  /** The parsed and checked arguments; `null` when they do not fit, or were not to be parsed. */
  parsed_arguments: unknown;
}

/** Log probabilities of the next tokens of the text. */
export interface LogProbsContentDeltaEvent {
  content: ChatCompletionTokenLogprob[];
  /** Those of all tokens so far. */
  snapshot: ChatCompletionTokenLogprob[];
}

/** The log probabilities of the text are complete. */
export interface LogProbsContentDoneEvent {
  content: ChatCompletionTokenLogprob[];
}

/** Log probabilities of the next tokens of a refusal. */
export interface LogProbsRefusalDeltaEvent {
  refusal: ChatCompletionTokenLogprob[];
  /** Those of all tokens so far. */
  snapshot: ChatCompletionTokenLogprob[];
}

/** The log probabilities of a refusal are complete. */
export interface LogProbsRefusalDoneEvent {
  refusal: ChatCompletionTokenLogprob[];
}

/**
 * The events of a `ChatCompletionStream` and of a `ChatCompletionRunner`, with what their listeners are
 * given. A runner without `stream: true` has no pieces, so `chunk` and the events with a dot in their
 * name do not occur.
 */
export interface ChatCompletionStreamEvents<Parsed = null> {
  /** The gateway has begun to answer. */
  connect: [];
  /** A chunk has come. The snapshot is what all chunks so far add up to; it goes on growing. */
  chunk: [chunk: ChatCompletionChunk, snapshot: ChatCompletionSnapshot];
  /** Text has come; the snapshot is all text of this completion so far. */
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
  /** A completion is whole. */
  chatCompletion: [completion: ParsedChatCompletion<Parsed>];
  /** A message was added to the conversation: an answer, or the result of a tool. */
  message: [message: ChatCompletionMessageParam];
  /** The model wants a function called; its arguments are complete. */
  functionToolCall: [call: ChatCompletionFunctionCall];
  /** What a tool gave, as the model is told. */
  functionToolCallResult: [content: string];
  /** A tool could not be called, or failed. The model is told, and the run goes on. */
  functionToolCallError: [error: Error, call: ChatCompletionFunctionCall];
  finalChatCompletion: [completion: ParsedChatCompletion<Parsed>];
  finalMessage: [message: ParsedChatCompletionMessage<Parsed>];
  /** Only when there is text. */
  finalContent: [content: string];
  /** Only when the model wanted a function called. */
  finalFunctionToolCall: [call: ChatCompletionFunctionCall];
  /** Only when a tool was called. */
  finalFunctionToolCallResult: [content: string];
  /** The sum over all completions. Only when the gateway reported usage. */
  totalUsage: [usage: CompletionUsage];
  /** The call failed. */
  error: [error: Error];
  /** The call was aborted by the caller. */
  abort: [error: APIUserAbortError];
  /** Always the last event, whatever happened. */
  end: [];
}
