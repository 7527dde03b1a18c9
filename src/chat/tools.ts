import type { AutoParseableTool } from '../structured/types.ts';
import type { RequestOptions } from '../options.ts';
import type { ChatCompletionRunner } from './runner.ts';
import type { ChatCompletionCreateParamsNonStreaming } from './params.ts';
import type { ParsedChatCompletion } from './types.ts';

/** What `JSON.parse` gives; the compiler lets it be used as anything. */
type ParsedJSON = ReturnType<typeof JSON.parse>;

/** A function with its description for the model. The helper `tool()` is shorter and checks more. */
export interface RunnableFunction<Arguments = ParsedJSON> {
  /** Defaults to the name of `function`. */
  name?: string | undefined;
  /** When and how to call it, for the model. */
  description?: string | undefined;
  /** The arguments as a JSON Schema. */
  parameters?: object | undefined;
  strict?: boolean | undefined;
  /**
   * Makes arguments of the model's JSON text, for example `JSON.parse`. The message of what it throws
   * goes to the model. Left out: `function` gets the text.
   */
  parse?(input: string): Arguments | Promise<Arguments>;
  /** Runs when the model calls. What it gives, and the message of what it throws, go to the model. */
  function(
    args: Arguments,
    runner: ChatCompletionRunner<unknown>,
    toolContext: ParsedJSON,
  ): unknown;
}

/** A function as a tool of `runTools()`. */
export interface RunnableToolFunction<Arguments = ParsedJSON> {
  type: 'function';
  function: RunnableFunction<Arguments>;
}

/** Parameters of `chat.completions.runTools()`. */
export interface ChatCompletionToolRunnerParams extends Omit<
  ChatCompletionCreateParamsNonStreaming,
  'tools'
> {
  /** Tools that `tool()` made, or functions with their description. */
  tools: readonly (RunnableToolFunction | AutoParseableTool<unknown>)[];
  /** Handed to every tool. Never sent. */
  toolContext?: unknown;
}

/** Parameters of `chat.completions.runTools()` with streamed answers. */
export interface ChatCompletionStreamingToolRunnerParams extends Omit<
  ChatCompletionToolRunnerParams,
  'stream'
> {
  stream: true;
}

/** Options of `chat.completions.runTools()`. `maxRetries` and time limits hold for each completion. */
export interface RunnerOptions extends RequestOptions {
  /**
   * How many completions the run may take at most; each is paid for. When the last of them calls
   * tools, they still run.
   * @defaultValue 10
   */
  maxChatCompletions?: number | undefined;
  /** Called after each completion and its tools, and waited for. It may add to `runner.messages`. */
  afterCompletion?:
    | ((
        completion: ParsedChatCompletion<unknown>,
        runner: ChatCompletionRunner<unknown>,
      ) => unknown)
    | undefined;
}
