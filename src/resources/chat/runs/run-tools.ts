import type { RequestOptions } from '../../../options/options.ts';
import type { AutoParseableTool } from '../../../structured/types.ts';
import type { ChatCompletionCreateParamsNonStreaming } from '../params.ts';
import type { ChatCompletionRunner } from './runner.ts';
import type { ParsedChatCompletion } from '../types.ts';

/** The type of `JSON.parse`, which the compiler allows for any use. */
type ParsedJSON = ReturnType<typeof JSON.parse>;

/** A function with its description for the model. The helper `tool()` is shorter and checks more. */
export interface RunnableFunction<Arguments = ParsedJSON, ToolContext = ParsedJSON> {
  /** Defaults to the name of `function`. */
  name?: string | undefined;
  /** Tells the model when and how to call the function. */
  description?: string | undefined;
  /** The arguments as a JSON Schema. */
  parameters?: object | undefined;
  strict?: boolean | undefined;
  /**
   * Parses the model's JSON text, for example `JSON.parse`. The message of an error is sent to the model.
   * Default: `function` receives the text.
   */
  parse?(input: string): Arguments | Promise<Arguments>;
  /** Runs when the model calls the tool. Its result, or the message of its error, is sent to the model. */
  function(
    args: Arguments,
    runner: ChatCompletionRunner<unknown>,
    toolContext: ToolContext,
  ): unknown;
}

/** A function with its own `parse`, which converts the JSON arguments before the call. */
export interface RunnableFunctionWithParse<
  Arguments extends object,
  ToolContext = ParsedJSON,
> extends RunnableFunction<Arguments, ToolContext> {
  parse(input: string): Arguments | Promise<Arguments>;
}

/** A function that receives its arguments as JSON text. */
export interface RunnableFunctionWithoutParse<ToolContext = ParsedJSON> extends RunnableFunction<
  string,
  ToolContext
> {
  parse?: never;
}

/** A function as a tool of `runTools()`. */
export interface RunnableToolFunction<Arguments = ParsedJSON, ToolContext = ParsedJSON> {
  type: 'function';
  function: RunnableFunction<Arguments, ToolContext>;
}

/** A function as a tool, with arguments of the type that `parse` returns. */
export class ParsingToolFunction<Arguments extends object> {
  readonly type = 'function';
  readonly function: RunnableFunctionWithParse<Arguments>;

  constructor(input: RunnableFunctionWithParse<Arguments>) {
    this.function = input;
  }
}

/**
 * Parameters of `chat.completions.runTools()`.
 *
 * The types of the tools' arguments and of `toolContext` can be specified; the default is any type.
 */
export interface ChatCompletionToolRunnerParams<
  FunctionsArgs extends readonly unknown[] = ParsedJSON[],
  ToolContext = unknown,
> extends Omit<ChatCompletionCreateParamsNonStreaming, 'tools'> {
  /** Tools created by `tool()`, or functions with a description. An empty list requests one completion. */
  tools: readonly (RunnableToolFunction<FunctionsArgs[number]> | AutoParseableTool<unknown>)[];
  /** Passed to every tool. Never sent. */
  toolContext?: ToolContext;
}

/** Parameters of `chat.completions.runTools()` with streamed completions. */
export interface ChatCompletionStreamingToolRunnerParams<
  FunctionsArgs extends readonly unknown[] = ParsedJSON[],
  ToolContext = unknown,
> extends Omit<ChatCompletionToolRunnerParams<FunctionsArgs, ToolContext>, 'stream'> {
  stream: true;
}

/** Options of `chat.completions.runTools()`. `maxRetries` and time limits apply to each completion. */
export interface RunnerOptions extends RequestOptions {
  /**
   * Maximum number of completions in the run. Each is billed. If the last completion calls tools, they still
   * run.
   * @defaultValue 10
   */
  maxChatCompletions?: number | undefined;
  /** Called and awaited after each completion and its tools. May add to `runner.messages`. */
  afterCompletion?:
    | ((
        completion: ParsedChatCompletion<unknown>,
        runner: ChatCompletionRunner<unknown>,
      ) => unknown)
    | undefined;
}
