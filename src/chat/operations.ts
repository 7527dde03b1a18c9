import type { GatewayPromise } from '../http/promise.ts';
import { jsonAnswer } from '../http/response.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import { chatBody, wholeAnswer } from './calls.ts';
import { outputParser, type OutputParser } from './output-parser.ts';
import type {
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionMessageToolCall,
  ChatCompletionTool,
} from './params.ts';
import type { ParsedChatCompletion } from './types.ts';
import { check, checkInteger, checkParams } from '../check.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { type CallableTool, runToolLoop } from '../structured/tool-loop.ts';
import type {
  ChatCalls,
  ChatCompletionStreamingToolRunnerParams,
  ChatCompletionToolRunnerParams,
  ChatParams,
  RunnerOptions,
} from './run-tools.ts';
import { ChatEngine } from './engine.ts';
import type { ChatRun, RunResult } from './run.ts';
import type { ChatCompletionRunner } from './runner.ts';

export { outputParser } from './output-parser.ts';

export function parse(
  transport: Transport,
  params: ChatCompletionCreateParamsNonStreaming,
  options: RequestOptions | undefined,
): GatewayPromise<ParsedChatCompletion<unknown>> {
  const parser = outputParser(params, 'parse');
  const format = jsonAnswer(wholeAnswer(params), (completion, { callId, requestId, status }) => {
    const sent = { phase: 'body', status, requestId } as const;
    const evidence = { ...sent, attempts: [sent] };
    return parser.apply(completion, { callId, evidence });
  });
  const request = () => ({ json: chatBody(params) });
  return transport.call('chat.completions.create', request, format, options);
}

/** What a run of tools works with. */
interface ToolRunInit {
  readonly calls: ChatCalls;
  readonly params: ChatCompletionToolRunnerParams | ChatCompletionStreamingToolRunnerParams;
  readonly options: RunnerOptions | undefined;
  readonly run: ChatRun<unknown>;
  readonly runner: ChatCompletionRunner<unknown>;
}

/** Gets one completion, and adds it to the run. */
async function ask(
  { calls, options, run, params: { stream: isStreamed } }: ToolRunInit,
  engine: ChatEngine<unknown>,
  parser: OutputParser<unknown>,
  params: ChatParams,
): Promise<ParsedChatCompletion<unknown> | undefined> {
  const request = { ...options, signal: run.controller.signal };
  if (isStreamed === true) return engine.read(calls.stream(params, request));
  const completion = await calls.whole(params, request);
  run.emit('connect');
  const parsed = engine.add(await parser.apply(completion));
  const text = parsed.choices[0]?.message.content;
  if (text) run.emit('content', text, text);
  return parsed;
}

/** A conversation with tools, in the words of chat completions. */
export async function runTools(init: ToolRunInit): Promise<RunResult<unknown>> {
  const { params, options, run, runner } = init;
  const { maxChatCompletions: limit = 10 } = options ?? {};
  checkParams('chat.completions.runTools', params);
  const { tools, toolContext: _, ...body } = params;
  const parser = outputParser(params, 'run');
  const engine = new ChatEngine(run, parser);
  check(Array.isArray(tools), 'tools', 'must be a list; give what tool() makes.');
  checkInteger('maxChatCompletions', limit, 1, 1_000_000);
  check((params.n ?? 1) === 1, 'n', 'must be 1: a run follows one conversation.');
  const { tool_choice: choice } = params;
  const wanted =
    typeof choice === 'object' && choice.type === 'function' ? choice.function.name : undefined;
  const sent: ChatCompletionTool[] = [];
  const callable = new Map<string, CallableTool>();
  for (const tool of tools) {
    const { name, sentAs, ...called } = prepare(tool, init, parser);
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
      const completion = await ask(init, engine, parser, {
        ...body,
        messages: [...run.messages],
        ...list,
      });
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
        engine.addToolResult({ role: 'tool', tool_call_id: call.id, content: text });
      }
      return wanted !== undefined && results.some(([, { error }]) => error === undefined);
    },
    afterEach: (completion) => options?.afterCompletion?.(completion, runner),
  });
  return engine.finish();
}

/** How a tool is sent, and how it is called. */
function prepare(
  tool: ChatCompletionToolRunnerParams['tools'][number],
  { params: { toolContext }, runner }: ToolRunInit,
  parser: OutputParser<unknown>,
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
