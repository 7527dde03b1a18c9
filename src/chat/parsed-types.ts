import type {
  ChatCompletionFunctionCall,
  ChatCompletionMessageCustomToolCall,
  ChatCompletionMessageFunctionToolCall,
} from './messages.ts';
import type {
  ChatCompletionFunctionTool,
  ChatCompletionResponseFormat,
  ResponseFormatJSONSchema,
} from './tool-types.ts';
import type { ChatCompletion, ChatCompletionChoice, ChatCompletionMessage } from './types.ts';

/** A `response_format` that brings its parser. Made by `responseFormat()`. */
export interface AutoParseableResponseFormat<Parsed> extends ResponseFormatJSONSchema {
  /** Parses and checks a whole answer; rejects when it does not fit. Never sent. */
  $parseRaw(content: string): Parsed | Promise<Parsed>;
}

/** A tool that brings the parser of its arguments, and maybe its function. Made by `tool()`. */
export interface AutoParseableTool<Arguments> extends ChatCompletionFunctionTool {
  /** Parses and checks whole arguments; rejects when they do not fit. Never sent. */
  $parseRaw(content: string): Arguments | Promise<Arguments>;
  /** What `runTools()` calls. Never sent. */
  $callback?(args: Arguments, run: ToolRun, toolContext: unknown): unknown;
}

/** The run that a tool is called in. For chat it is the runner itself. */
export interface ToolRun {
  /** Its signal is aborted when the run is. */
  readonly controller: AbortController;
  /** Ends the run. */
  abort(): void;
}

/** What an answer in such a format is parsed as; `null` when it is not parsed. */
export type ParsedOutput<Format> = Format extends { $parseRaw(content: string): infer Parsed }
  ? Awaited<Parsed>
  : Format extends ResponseFormatJSONSchema
    ? unknown
    : null;

/** Parameters whose `response_format` says what the answer is parsed as. */
export type WithFormat<Params, Format extends ChatCompletionResponseFormat | undefined> = Omit<
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
  tool_calls?: ParsedChatCompletionMessageToolCall[] | undefined;
}

/** One of the answers of a parsed completion. */
export interface ParsedChoice<Parsed> extends ChatCompletionChoice {
  message: ParsedChatCompletionMessage<Parsed>;
}

/** The answer of `chat.completions.parse()`. */
export interface ParsedChatCompletion<Parsed> extends ChatCompletion {
  choices: ParsedChoice<Parsed>[];
}
