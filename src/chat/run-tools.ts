import { check, checkInteger, checkParams } from '../check.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { RequestOptions } from '../options.ts';
import type { Stream } from '../streams/stream.ts';
import { type CallableTool, runToolLoop } from '../structured/tool-loop.ts';
import type { AutoParseableTool } from '../structured/types.ts';
import {
  ChatStreamRun,
  ChatCompletionStream,
  ChatCompletionStreamingRunner,
} from './stream-helper.ts';
import type {
  ChatCompletionMessageToolCall,
  ChatCompletionCreateParamsBase,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionTool,
} from './params.ts';
import { type OutputParser, outputParser } from './output-parser.ts';
import { ChatCompletionRunner, ChatRun } from './runner.ts';
import type { ChatCompletion, ChatCompletionChunk, ParsedChatCompletion } from './types.ts';

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

type Params = Omit<ChatCompletionCreateParamsBase, 'stream'>;

/** How a run gets its completions: each is one request. */
export interface ChatCalls {
  whole(params: Params, options: RequestOptions): PromiseLike<ChatCompletion>;
  stream(params: Params, options: RequestOptions): PromiseLike<Stream<ChatCompletionChunk>>;
}

/** Starts a run of one streamed completion. */
export function startStream(
  calls: Pick<ChatCalls, 'stream'>,
  params: Params,
  options?: RequestOptions,
): ChatCompletionStream<unknown> {
  const run = new ChatStreamRun(params?.messages, outputParser(params, 'stream'));
  const { signal } = run.controller;
  const work = () => run.read(calls.stream(params, { ...options, signal }));
  return new ChatCompletionStream(run, work, options?.signal);
}

/** Starts a run of completions and tools. */
export function startToolRun(
  calls: ChatCalls,
  params: ChatCompletionToolRunnerParams | ChatCompletionStreamingToolRunnerParams,
  options?: RunnerOptions,
): ChatCompletionRunner<unknown> {
  const parser = outputParser(params, 'run');
  const init = { params, options, parser };
  if (params?.stream === true) {
    const run = new ChatStreamRun(params.messages, parser);
    const request = { ...options, signal: run.controller.signal };
    const ask = (body: Params) => run.read(calls.stream(body, request));
    const work = (runner: ChatCompletionRunner<unknown>) => runTools({ ...init, run, runner, ask });
    return new ChatCompletionStreamingRunner(run, work, options?.signal);
  }
  const run = new ChatRun<unknown>(params?.messages);
  const request = { ...options, signal: run.controller.signal };
  const ask = async (body: Params) => {
    const completion = await calls.whole(body, request);
    run.emit('connect');
    const parsed = run.add(await parser.apply(completion));
    const text = parsed.choices[0]?.message.content;
    if (text) run.emit('content', text, text);
    return parsed;
  };
  const work = (runner: ChatCompletionRunner<unknown>) => runTools({ ...init, run, runner, ask });
  return new ChatCompletionRunner(run, work, options?.signal);
}

/** What a run of tools works with. */
interface ToolRunInit {
  readonly params: Omit<ChatCompletionToolRunnerParams, 'stream'>;
  readonly options: RunnerOptions | undefined;
  readonly parser: OutputParser<unknown>;
  readonly run: ChatRun<unknown>;
  readonly runner: ChatCompletionRunner<unknown>;
  /** Gets one completion, and adds it to the run. */
  readonly ask: (params: Params) => Promise<ParsedChatCompletion<unknown> | undefined>;
}

/** A conversation with tools, in the words of chat completions. */
async function runTools(init: ToolRunInit): Promise<void> {
  const { params, options, run, runner } = init;
  const { maxChatCompletions: limit = 10 } = options ?? {};
  checkParams('chat.completions.runTools', params);
  const { tools, toolContext: _, ...body } = params;
  check(Array.isArray(tools), 'tools', 'must be a list; give what tool() makes.');
  checkInteger('maxChatCompletions', limit, 1, 1_000_000);
  check((params.n ?? 1) === 1, 'n', 'must be 1: a run follows one conversation.');
  const { tool_choice: choice } = params;
  const wanted =
    typeof choice === 'object' && choice.type === 'function' ? choice.function.name : undefined;
  const sent: ChatCompletionTool[] = [];
  const callable = new Map<string, CallableTool>();
  for (const tool of tools) {
    const { name, sentAs, ...called } = prepare(tool, init);
    sent.push(sentAs);
    if (wanted === undefined || name === wanted) callable.set(name, called);
  }
  await runToolLoop<ParsedChatCompletion<unknown>, ChatCompletionMessageToolCall>({
    tools: callable,
    limit,
    signal: run.controller.signal,
    isSequential: wanted !== undefined || params.parallel_tool_calls === false,
    async ask() {
      // Providers refuse an empty list.
      const list = sent.length > 0 ? { tools: sent } : {};
      const completion = await init.ask({ ...body, messages: [...run.messages], ...list });
      if (completion?.choices[0] !== undefined) return completion;
      throw new GatewayError('There is no message in the completion.', { outcome: 'unknown' });
    },
    callsIn: ({ choices }) => choices[0]?.message.tool_calls ?? [],
    read: (call) =>
      call.type === 'function'
        ? [call.function.name, call.function.arguments]
        : [call.custom.name, call.custom.input],
    add(results) {
      for (const [call, { error, text }] of results) {
        if (error !== undefined && call.type === 'function') {
          run.emit('functionToolCallError', error, call.function);
        }
        run.addToolResult({ role: 'tool', tool_call_id: call.id, content: text });
      }
      return wanted !== undefined && results.some(([, { error }]) => error === undefined);
    },
    afterEach: (completion) => options?.afterCompletion?.(completion, runner),
  });
}

/** How a tool is sent, and how it is called. */
function prepare(
  tool: ChatCompletionToolRunnerParams['tools'][number],
  { params: { toolContext }, parser, runner }: ToolRunInit,
): CallableTool & { readonly name: string; readonly sentAs: ChatCompletionTool } {
  if ('$parseRaw' in tool) {
    const { name } = tool.function;
    checkRunnable(name, tool.$callback !== undefined);
    const call = (args: unknown) => tool.$callback?.(args, runner, toolContext);
    return { name, sentAs: tool, parse: parser.of(name), call };
  }
  const { function: definition } = tool;
  checkRunnable(definition?.name, typeof definition?.function === 'function');
  const { name = definition.function.name, description, parameters, strict } = definition;
  const sent = { name, description, parameters: parameters && { ...parameters }, strict };
  return {
    name,
    sentAs: { type: 'function', function: sent },
    parse: definition.parse && ((text) => definition.parse?.(text)),
    call: (args) => definition.function(args, runner, toolContext),
  };
}

function checkRunnable(name = '', isRunnable: boolean): void {
  const problem = `"${name}" has no function to run; give it one, or use create().`;
  check(isRunnable, 'tools', problem);
}
