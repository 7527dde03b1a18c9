import { check } from '../../options/check.ts';
import { checkParams } from '../../options/parameters.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import { type GatewayPromise, readChange } from '../../calls/promise.ts';
import type { Change } from '../../http/request.ts';
import { jsonFormat } from '../../calls/response.ts';
import type { Transport } from '../../calls/transport.ts';
import type { RequestOptions } from '../../options/options.ts';
import { changeOptions, optionsFor } from '../../options/resolve.ts';
import { checkSingle, findOutput, toolsByName, Turns } from '../../structured/dialect.ts';
import { type CallableTool, runToolLoop } from '../../structured/tool-loop.ts';
import { createCompletion, streamCompletion, writeCompletion } from './operations.ts';
import { answeredCall } from './errors.ts';
import { OutputParser } from './output-parser.ts';
import type {
  ChatCompletionCreateParamsBase,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionMessageParam,
  ChatCompletionMessageToolCall,
  ChatCompletionTool,
} from './params.ts';
import { countChoices, formatsFor } from './protocol.ts';
import type { ChatRun } from './runs/run.ts';
import { chatOutput } from './structured-output.ts';
import type {
  ChatCompletionStreamingToolRunnerParams,
  ChatCompletionToolRunnerParams,
  RunnerOptions,
} from './runs/run-tools.ts';
import type { ChatCompletionRunner } from './runs/runner.ts';
import type { ParsedChatCompletion } from './types.ts';

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
      format: (changed: ChatCompletionCreateParamsBase, change) =>
        jsonFormat(formatsFor(countChoices(changed, options)).whole, (completion, call) =>
          new OutputParser<unknown>(params, 'parse', change).apply(completion, answeredCall(call)),
        ),
      output: findOutput(chatOutput, params),
    },
    options,
  );
}

/** Awaits a call, and reports how its request differs from the caller's. */
async function untilOpened<T>(
  call: GatewayPromise<T>,
  onResponse: (change: Change) => void,
): Promise<T> {
  const response = await call;
  onResponse(await readChange(call));
  return response;
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
  const output = findOutput(chatOutput, params);
  if (params.response_format || params.tools) run.parser = new OutputParser(params, 'stream');
  const { signal } = run.controller;
  const callOptions = changeOptions(optionsFor(checked, 'chat.completions.create'), { signal });
  const opening = streamCompletion(transport, params, callOptions, output);
  await run.read(untilOpened(opening, (change) => run.parser?.follow(change)));
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
  const requestOptions = changeOptions(optionsFor(checked, 'chat.completions.create'), { signal });
  const turns = new Turns(transport, requestOptions);
  checkParams('chat.completions.runTools', params);
  const { tools, toolContext, ...body } = params;
  const output = findOutput(chatOutput, params);
  const parser = new OutputParser<unknown>(params, 'run');
  run.parser = parser;
  check(Array.isArray(tools), 'tools', 'must be a list of tools; create them with tool().');
  checkSingle('n', params.n);
  const { tool_choice: choice } = params;
  const requiredTool =
    typeof choice === 'object' && choice?.type === 'function' ? choice.function.name : undefined;
  const prepared = tools.map((tool) => prepareTool(tool, runner, toolContext, parser));
  const callable = toolsByName(
    'tools',
    prepared.map(({ tool }) => tool),
  );
  for (const name of requiredTool === undefined ? [] : callable.keys()) {
    if (name !== requiredTool) callable.delete(name);
  }
  const onResponse = (change: Change): void => {
    turns.follow(change);
    parser.follow({ params: turns.params, output: change.output });
  };
  async function requestCompletion(): Promise<ParsedChatCompletion<unknown> | undefined> {
    // Providers reject an empty list of tools.
    const list = prepared.length > 0 ? { tools: prepared.map(({ sentAs }) => sentAs) } : {};
    const { model } = turns.params;
    const history = createHistory(run, typeof model === 'string' ? model : params.model);
    const request = { ...body, ...turns.params, messages: history, ...list };
    const callOptions = turns.next();
    if (body.stream === true) {
      const opening = streamCompletion(transport, request, callOptions, output);
      return run.read(untilOpened(opening, onResponse));
    }
    const call = createCompletion(transport, request, callOptions, output);
    const completion = await untilOpened(call, onResponse);
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
    async request() {
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
): { readonly tool: CallableTool; readonly sentAs: ChatCompletionTool } {
  if ('$parseRaw' in tool) {
    const { name } = tool.function;
    checkRunnable(name, tool.$callback !== undefined);
    const call = (args: unknown) => tool.$callback?.(args, runner, toolContext);
    return { tool: { name, parse: parser.getParser(name), call }, sentAs: tool };
  }
  const { function: definition } = tool;
  checkRunnable(definition?.name, typeof definition?.function === 'function');
  const { name = definition.function.name, description, parameters, strict } = definition;
  const sent = { name, description, parameters: parameters && { ...parameters }, strict };
  return {
    tool: {
      name,
      parse: definition.parse && ((text) => definition.parse?.(text)),
      call: (args) => definition.function(args, runner, toolContext),
    },
    sentAs: { type: 'function', function: sent },
  };
}

function checkRunnable(name = '', isRunnable: boolean): void {
  const problem = `"${name}" has no function to run; add one, or use create().`;
  check(isRunnable, 'tools', problem);
}
