import type { APIUserAbortError } from '../errors/api-errors.ts';
import type { ChatCompletionFunctionCall, ChatCompletionMessageParam } from './messages.ts';
import type {
  ParsedChatCompletion,
  ParsedChatCompletionMessage,
  ChatCompletionChunk,
  ChatCompletion,
  ChatCompletionTokenLogprob,
  CompletionUsage,
} from './types.ts';

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
  chunk: [chunk: ChatCompletionChunk, snapshot: ChatCompletion];
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
