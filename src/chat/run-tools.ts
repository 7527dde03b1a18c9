import type { FunctionParameters } from '../structured/types.ts';
import { GatewayError, InvalidInputError } from '../errors/gateway-error.ts';
import { checkInteger, checkList, checkParams } from '../check.ts';
import type { ChatResult } from './result.ts';
import type { ChatCompletionRunner } from './runner.ts';
import { runAborted } from '../streams/errors.ts';
import type { OutputParser } from './output-parser.ts';
import type { ChatCompletionMessageToolCall } from './messages.ts';
import type { ChatCompletionCreateParamsBase, ChatCompletionTool } from './params.ts';
import type { ParsedChatCompletion } from './types.ts';
import { type CallableTool, callTools, type ToolResult } from '../structured/call-tools.ts';
import type { ChatCompletionToolRunnerParams, RunnerOptions } from './tools.ts';

/** What a run of tools works with. */
export interface ToolRunInit<Parsed> {
  readonly params: Omit<ChatCompletionToolRunnerParams, 'stream'>;
  readonly options: RunnerOptions | undefined;
  readonly parser: OutputParser<Parsed>;
  readonly result: ChatResult<Parsed>;
  readonly runner: ChatCompletionRunner<Parsed>;
  /** Gets one completion and adds it to the result. */
  readonly complete: (
    params: ChatCompletionCreateParamsBase,
  ) => Promise<ParsedChatCompletion<Parsed> | undefined>;
  /** Called with the result of each tool. */
  readonly onToolResult: ChatResult<Parsed>['addToolResult'];
}

interface PreparedTools {
  readonly sent: ChatCompletionTool[];
  readonly callable: ReadonlyMap<string, CallableTool>;
}

function prepareTools<Parsed>({ params, runner, parser }: ToolRunInit<Parsed>): PreparedTools {
  const { tools, toolContext } = params;
  const sent: ChatCompletionTool[] = [];
  const callable = new Map<string, CallableTool>();
  for (const tool of tools) {
    if ('$parseRaw' in tool) {
      if (tool.$callback === undefined) throw notRunnable(tool.function.name);
      sent.push(tool);
      callable.set(tool.function.name, {
        parse: (text) => parser.arguments(tool.function.name, text),
        call: (args) => tool.$callback?.(args, runner, toolContext),
      });
      continue;
    }
    const { function: definition } = tool;
    if (typeof definition?.function !== 'function') throw notRunnable(definition?.name);
    const { name = definition.function.name, description, parameters, strict } = definition;
    const schema: FunctionParameters | undefined = parameters && { ...parameters };
    sent.push({ type: 'function', function: { name, description, parameters: schema, strict } });
    callable.set(name, {
      parse: definition.parse && ((text) => definition.parse?.(text)),
      call: (args) => definition.function(args, runner, toolContext),
    });
  }
  return { sent, callable };
}

function notRunnable(name = ''): InvalidInputError {
  const problem = `"${name}" has no function to run; give it one, or use create().`;
  return new InvalidInputError('tools', problem);
}

function checkRun({ params, options }: ToolRunInit<unknown>): void {
  checkParams('chat.completions.runTools', params);
  checkList('tools', params.tools, 'what tool() makes');
  checkInteger('maxChatCompletions', options?.maxChatCompletions ?? 10, 1, 1_000_000);
  if ((params.n ?? 1) !== 1) {
    throw new InvalidInputError('n', 'must be 1: a run follows one conversation.');
  }
}

const nameOf = (call: ChatCompletionMessageToolCall): string =>
  call.type === 'function' ? call.function.name : call.custom.name;

const textOf = (call: ChatCompletionMessageToolCall): string =>
  call.type === 'function' ? call.function.arguments : call.custom.input;

/** Asks for completions and calls the tools that they ask for, until one of them asks for none. */
export async function runTools<Parsed>(init: ToolRunInit<Parsed>): Promise<void> {
  checkRun(init);
  const { params, options, result, runner } = init;
  const { tools: _, toolContext: __, ...body } = params;
  const { sent, callable } = prepareTools(init);
  const { signal } = runner.controller;
  const { tool_choice: choice } = params;
  const isNamed = typeof choice === 'object' && choice.type === 'function';
  const wanted = isNamed ? choice.function.name : undefined;
  const tools = new Map([...callable].filter(([name]) => !isNamed || name === wanted));

  const answer = (call: ChatCompletionMessageToolCall, { error, text }: ToolResult): boolean => {
    if (error !== undefined && call.type === 'function') {
      result.emitter.emit('functionToolCallError', error, call.function);
    }
    const message = { role: 'tool', tool_call_id: call.id, content: text } as const;
    result.addToolResult(message);
    init.onToolResult(message);
    return error === undefined;
  };

  /** Whether the run is over with these. */
  const callAll = async (calls: readonly ChatCompletionMessageToolCall[]): Promise<boolean> => {
    const asked = calls.map((call) => ({ name: nameOf(call), text: textOf(call) }));
    const results = await callTools(tools, asked, signal);
    const isCalled = calls.map((call, index) => {
      const found = results[index];
      return found !== undefined && answer(call, found);
    });
    if (signal.aborted) throw runAborted(signal);
    return isNamed && isCalled.includes(true);
  };

  for (let left = options?.maxChatCompletions ?? 10; left > 0; left -= 1) {
    const messages = [...runner.messages];
    const completion = await init.complete({ ...body, messages, tools: sent });
    const message = completion?.choices[0]?.message;
    if (completion === undefined || message === undefined) {
      throw new GatewayError('There is no message in the completion.', { outcome: 'unknown' });
    }
    const { tool_calls: calls = [] } = message;
    const isSequential = isNamed || params.parallel_tool_calls === false;
    let isOver = calls.length === 0;
    for (const group of isSequential ? calls.map((call) => [call]) : [calls]) {
      isOver ||= await callAll(group);
    }
    await options?.afterCompletion?.(completion, runner);
    if (signal.aborted) throw runAborted(signal);
    if (isOver) return;
  }
}
