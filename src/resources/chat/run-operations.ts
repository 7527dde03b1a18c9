import { check, checkParams } from '../../options/check.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import { type GatewayPromise, readChange } from '../../calls/promise.ts';
import { type Change, unchanged, withoutChanged } from '../../http/request.ts';
import { jsonAnswer } from '../../calls/response.ts';
import type { Transport } from '../../calls/transport.ts';
import type { RequestOptions } from '../../options/options.ts';
import { optionsFor } from '../../options/resolve.ts';
import type { Stream } from '../../streams/stream.ts';
import {
  type CallableTool,
  checkToolNames,
  optionsForTurn,
  runToolLoop,
} from '../../structured/tool-loop.ts';
import { createCompletion, streamCompletion, writeCompletion } from './operations.ts';
import { OutputParser } from './output-parser.ts';
import type {
  ChatCompletionCreateParamsBase,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionMessageParam,
  ChatCompletionMessageToolCall,
  ChatCompletionTool,
} from './params.ts';
import { completionAnswer } from './protocol.ts';
import type { ChatRun } from './runs/run.ts';
import { findOutput } from './structured-output.ts';
import type {
  ChatCompletionStreamingToolRunnerParams,
  ChatCompletionToolRunnerParams,
  RunnerOptions,
} from './runs/run-tools.ts';
import type { ChatCompletionRunner } from './runs/runner.ts';
import type { ChatCompletionChunk, ParsedChatCompletion } from './types.ts';

export function parseCompletion(
  transport: Transport,
  params: ChatCompletionCreateParamsNonStreaming,
  options: RequestOptions | undefined,
): GatewayPromise<ParsedChatCompletion<unknown>> {
  return transport.operate(
    'chat.completions.create',
    params,
    {
      kind: 'json',
      write: writeCompletion,
      format: (own: ChatCompletionCreateParamsBase, change) =>
        jsonAnswer(completionAnswer(own), (completion, { callId, requestId, status }) => {
          const sent = { phase: 'body', status, requestId } as const;
          const evidence = { ...sent, attempts: [sent] };
          const parser = new OutputParser<unknown>(params, 'parse', change);
          return parser.apply(completion, { callId, evidence });
        }),
      output: findOutput(params),
    },
    options,
  );
}

/** Opens the stream of a completion, and reports how its request differs from the caller's. */
async function openRun(
  call: GatewayPromise<Stream<ChatCompletionChunk>>,
  onAnswer: (change: Change) => void,
): Promise<Stream<ChatCompletionChunk>> {
  const stream = await call;
  onAnswer(await readChange(call));
  return stream;
}

/** Reads a streamed completion with the events of a run. */
export async function streamWithEvents(
  transport: Transport,
  params: Omit<ChatCompletionCreateParamsBase, 'stream'>,
  options: RequestOptions | undefined,
  run: ChatRun<unknown>,
): Promise<void> {
  checkParams('chat.completions.stream', params);
  const checked = transport.checkOptions('chat.completions.stream', options, params);
  const output = findOutput(params);
  if (params.response_format || params.tools) run.parser = new OutputParser(params, 'stream');
  const { signal } = run.controller;
  const callOptions = { ...optionsFor(checked, 'chat.completions.create'), signal };
  const opening = streamCompletion(transport, params, callOptions, output);
  await run.read(openRun(opening, (change) => run.parser?.follow(change)));
}

/**
 * Requests completions and runs the tools that they call, until one calls none.
 *
 * @param transport - A snapshot, so that all requests go to one gateway with one key.
 */
export async function runTools(
  transport: Transport,
  params: ChatCompletionToolRunnerParams | ChatCompletionStreamingToolRunnerParams,
  options: RunnerOptions | undefined,
  run: ChatRun<unknown>,
  runner: ChatCompletionRunner<unknown>,
): Promise<void> {
  const checked = transport.checkOptions('chat.completions.runTools', options, params);
  const { signal } = run.controller;
  const { maxChatCompletions: limit, afterCompletion } = checked;
  const requestOptions = optionsFor(checked, 'chat.completions.create');
  checkParams('chat.completions.runTools', params);
  const { tools, toolContext, ...body } = params;
  const output = findOutput(params);
  const parser = new OutputParser<unknown>(params, 'run');
  run.parser = parser;
  check(Array.isArray(tools), 'tools', 'must be a list of tools; create them with tool().');
  check((params.n ?? 1) === 1, 'n', 'must be 1: a run follows one conversation.');
  const { tool_choice: choice } = params;
  const requiredTool =
    typeof choice === 'object' && choice?.type === 'function' ? choice.function.name : undefined;
  const sent: ChatCompletionTool[] = [];
  const callable = new Map<string, CallableTool>();
  const prepared = tools.map((tool) => prepareTool(tool, runner, toolContext, parser));
  checkToolNames(
    'tools',
    prepared.map(({ name }) => name),
  );
  for (const { name, sentAs, ...called } of prepared) {
    sent.push(sentAs);
    if (requiredTool === undefined || name === requiredTool) callable.set(name, called);
  }
  /** The parameters of the model that answered, if that was a fallback. */
  let answered = unchanged;
  const onAnswer = (change: Change): void => {
    const { output: mode } = change;
    if (run.completions.length === 0) answered = change;
    parser.follow({ params: answered.params, output: mode });
  };
  async function requestCompletion(): Promise<ParsedChatCompletion<unknown> | undefined> {
    // Providers reject an empty list of tools.
    const list = sent.length > 0 ? { tools: sent } : {};
    const { model } = answered.params;
    const history = createHistory(run, typeof model === 'string' ? model : params.model);
    const request = { ...body, ...answered.params, messages: history, ...list };
    const own = optionsForTurn(transport, requestOptions, run.completions.length + 1);
    const callOptions = withoutChanged({ ...own, signal }, answered);
    if (body.stream === true) {
      const opening = streamCompletion(transport, request, callOptions, output);
      return run.read(openRun(opening, onAnswer));
    }
    const call = createCompletion(transport, request, callOptions, output);
    const completion = await call;
    onAnswer(await readChange(call));
    run.emit('connect');
    const parsed = run.add(await parser.apply(completion));
    const text = parsed.choices[0]?.message.content;
    if (text) run.emit('content', text, text);
    return parsed;
  }
  await runToolLoop<ParsedChatCompletion<unknown>, ChatCompletionMessageToolCall>({
    tools: callable,
    limit,
    signal,
    isSequential: requiredTool !== undefined || params.parallel_tool_calls === false,
    async ask() {
      const completion = await requestCompletion();
      if (completion?.choices[0] !== undefined) return completion;
      throw new GatewayError('The completion contains no message.', { outcome: 'unknown' });
    },
    callsIn: ({ choices }) => choices[0]?.message.tool_calls ?? [],
    read: (call) =>
      call.type === 'function'
        ? [call.function.name, call.function.arguments]
        : [call.custom.name, call.custom.input],
    isCut: ({ incomplete }) => incomplete === true,
    add(results) {
      for (const [call, { error, text }] of results) {
        if (error !== undefined && call.type === 'function') {
          run.emit('functionToolCallError', error, call.function);
        }
        run.addToolResult({ role: 'tool', tool_call_id: call.id, content: text });
      }
      return requiredTool !== undefined && results.some(([, { error }]) => error === undefined);
    },
    afterEach: (completion) => afterCompletion?.(completion, runner),
  });
}

/** Models that require their reasoning while they call tools; without it they fail or lose context. */
const needsReasoning = /deepseek|kimi|moonshot|mimo|glm|minimax/i;

/** Returns the conversation. Other models reject or bill the reasoning of earlier messages. */
function createHistory(run: ChatRun<unknown>, model: string): ChatCompletionMessageParam[] {
  const completions = run.completions.filter(
    (completion) => !needsReasoning.test(`${model} ${completion.model}`),
  );
  const excluded = new Set<unknown>(completions.map(({ choices }) => choices[0]?.message));
  return run.messages.map((message) =>
    excluded.has(message)
      ? { ...message, reasoning_content: undefined, reasoning: undefined }
      : message,
  );
}

/** Returns the request's definition of a tool, and the functions that parse its arguments and call it. */
function prepareTool(
  tool: ChatCompletionToolRunnerParams['tools'][number],
  runner: ChatCompletionRunner<unknown>,
  toolContext: unknown,
  parser: OutputParser<unknown>,
): CallableTool & { readonly name: string; readonly sentAs: ChatCompletionTool } {
  if ('$parseRaw' in tool) {
    const { name } = tool.function;
    checkRunnable(name, tool.$callback !== undefined);
    const call = (args: unknown) => tool.$callback?.(args, runner, toolContext);
    return { name, sentAs: tool, parse: parser.getParser(name), call };
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
  const problem = `"${name}" has no function to run; add one, or use create().`;
  check(isRunnable, 'tools', problem);
}
