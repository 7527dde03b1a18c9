import type { RequestOptions } from '../options.ts';
import type { AutoParseableTool } from '../structured/types.ts';
import type { ChatCompletionCreateParamsNonStreaming } from './params.ts';
import type { ChatCompletionRunner } from './runner.ts';
import type { ParsedChatCompletion } from './types.ts';

/** What `JSON.parse` gives; the compiler lets it be used as anything. */
type ParsedJSON = ReturnType<typeof JSON.parse>;

/** A function with its description for the model. The helper `tool()` is shorter and checks more. */
export interface RunnableFunction<Arguments = ParsedJSON, ToolContext = ParsedJSON> {
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
    toolContext: ToolContext,
  ): unknown;
}

/** A function that parses its arguments itself. */
export interface RunnableFunctionWithParse<
  Arguments extends object,
  ToolContext = ParsedJSON,
> extends RunnableFunction<Arguments, ToolContext> {
  parse(input: string): Arguments | Promise<Arguments>;
}

/** A function that gets its arguments as JSON text. */
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

/** A function as a tool whose arguments have the type that `parse` gives them. */
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
 * The types of the tools' arguments, and of `toolContext`, can be named; left out they can be anything.
 */
export interface ChatCompletionToolRunnerParams<
  FunctionsArgs extends readonly unknown[] = ParsedJSON[],
  ToolContext = unknown,
> extends Omit<ChatCompletionCreateParamsNonStreaming, 'tools'> {
  /** Tools that `tool()` made, or functions with their description. With none it is one completion. */
  tools: readonly (RunnableToolFunction<FunctionsArgs[number]> | AutoParseableTool<unknown>)[];
  /** Handed to every tool. Never sent. */
  toolContext?: ToolContext;
}

/** Parameters of `chat.completions.runTools()` with streamed answers. */
export interface ChatCompletionStreamingToolRunnerParams<
  FunctionsArgs extends readonly unknown[] = ParsedJSON[],
  ToolContext = unknown,
> extends Omit<ChatCompletionToolRunnerParams<FunctionsArgs, ToolContext>, 'stream'> {
  stream: true;
}

/** The same, under the name that code for `openai` uses: `toolContext` is needed. */
export type ChatCompletionToolRunnerParamsWithContext<
  FunctionsArgs extends readonly unknown[],
  ToolContext,
> = ChatCompletionToolRunnerParams<FunctionsArgs, ToolContext> & { toolContext: ToolContext };

/** The same, under the name that code for `openai` uses: there is no `toolContext`. */
export type ChatCompletionToolRunnerParamsWithoutContext<FunctionsArgs extends readonly unknown[]> =
  ChatCompletionToolRunnerParams<FunctionsArgs, never>;

/** The same, under the name that code for `openai` uses: `toolContext` is needed. */
export type ChatCompletionStreamingToolRunnerParamsWithContext<
  FunctionsArgs extends readonly unknown[],
  ToolContext,
> = ChatCompletionStreamingToolRunnerParams<FunctionsArgs, ToolContext> & {
  toolContext: ToolContext;
};

/** The same, under the name that code for `openai` uses: there is no `toolContext`. */
export type ChatCompletionStreamingToolRunnerParamsWithoutContext<
  FunctionsArgs extends readonly unknown[],
> = ChatCompletionStreamingToolRunnerParams<FunctionsArgs, never>;

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
