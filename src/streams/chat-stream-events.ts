import type { APIUserAbortError } from '../errors/connection-error.ts';
import type {
  ChatCompletionFunctionCall,
  ChatCompletionMessageParam,
} from '../types/chat-messages.ts';
import type { ChatCompletionChunk } from '../types/chat-stream.ts';
import type {
  ChatCompletion,
  ChatCompletionMessage,
  ChatCompletionTokenLogprob,
  CompletionUsage,
} from '../types/chat.ts';

/** The next piece of the text. */
export interface ContentDeltaEvent {
  delta: string;
  /** All text so far. */
  snapshot: string;
  /** The text parsed as far as it goes, when structured output was asked for; `null` otherwise. */
  parsed: unknown;
}

/** The text is complete. */
export interface ContentDoneEvent {
  content: string;
  /** The parsed text, when structured output was asked for; `null` otherwise. */
  parsed: unknown;
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
  /** The parsed arguments, when parsing was asked for; `null` otherwise. */
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

/** The events of a `ChatCompletionStream`, with what their listeners are given. */
export interface ChatCompletionStreamEvents {
  /** The gateway has begun to answer. */
  connect: [];
  /** A chunk has come. The snapshot is what all chunks so far add up to; it goes on growing. */
  chunk: [chunk: ChatCompletionChunk, snapshot: ChatCompletion];
  /** Text has come; the snapshot is all text so far. */
  content: [delta: string, snapshot: string];
  'content.delta': [event: ContentDeltaEvent];
  'content.done': [event: ContentDoneEvent];
  'refusal.delta': [event: RefusalDeltaEvent];
  'refusal.done': [event: RefusalDoneEvent];
  'tool_calls.function.arguments.delta': [event: FunctionToolCallArgumentsDeltaEvent];
  'tool_calls.function.arguments.done': [event: FunctionToolCallArgumentsDoneEvent];
  'logprobs.content.delta': [event: LogProbsContentDeltaEvent];
  'logprobs.content.done': [event: LogProbsContentDoneEvent];
  'logprobs.refusal.delta': [event: LogProbsRefusalDeltaEvent];
  'logprobs.refusal.done': [event: LogProbsRefusalDoneEvent];
  /** The answer is complete. */
  chatCompletion: [completion: ChatCompletion];
  /** A message was added to the conversation. */
  message: [message: ChatCompletionMessageParam];
  /** The model wants a function called; its arguments are complete. */
  functionToolCall: [call: ChatCompletionFunctionCall];
  finalChatCompletion: [completion: ChatCompletion];
  finalMessage: [message: ChatCompletionMessage];
  /** Only when there is text. */
  finalContent: [content: string];
  /** Only when the model wants a function called. */
  finalFunctionToolCall: [call: ChatCompletionFunctionCall];
  /** Only when the gateway reported usage. */
  totalUsage: [usage: CompletionUsage];
  /** The call failed. */
  error: [error: Error];
  /** The call was aborted by the caller. */
  abort: [error: APIUserAbortError];
  /** Always the last event, whatever happened. */
  end: [];
}
