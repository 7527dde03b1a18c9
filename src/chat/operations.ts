import { isObject, objectsOf } from '../answers/objects.ts';
import { check, checkInteger, checkList, checkModel, checkOptions, checkParams } from '../check.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { GatewayPromise } from '../http/promise.ts';
import { jsonAnswer } from '../http/response.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import { eventAnswer } from '../streams/open-stream.ts';
import type { Stream } from '../streams/stream.ts';
import { type CallableTool, runToolLoop } from '../structured/tool-loop.ts';
import { deliverWithChoices } from './delivery.ts';
import { textsOf } from './normalize.ts';
import { OutputParser } from './output-parser.ts';
import type {
  ChatCompletionCreateParamsBase,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionMessageParam,
  ChatCompletionMessageToolCall,
  ChatCompletionTool,
} from './params.ts';
import { chatProtocolFor, completionAnswer } from './protocol.ts';
import type { ChatRun } from './run.ts';
import type {
  ChatCompletionStreamingToolRunnerParams,
  ChatCompletionToolRunnerParams,
  RunnerOptions,
} from './run-tools.ts';
import type { ChatCompletionRunner } from './runner.ts';
import type { ChatCompletion, ChatCompletionChunk, ParsedChatCompletion } from './types.ts';

/** Removes the fields that this package has added to a message of a model. */
function toSentMessage(message: unknown): unknown {
  if (!isObject(message) || message['role'] !== 'assistant') return message;
  const { parsed: _, content_parts: parts, audio, ...sent } = message;
  // Gateways accept the id of a sound, not its data.
  if (audio) sent['audio'] = isObject(audio) ? { id: audio['id'] } : audio;
  if (sent['refusal'] === null) delete sent['refusal'];
  if (Array.isArray(parts)) {
    const { text, thoughts } = textsOf(parts);
    // The caller may have changed the text.
    if (sent['content'] === text) sent['content'] = parts;
    if (sent['reasoning_content'] === thoughts) delete sent['reasoning_content'];
  }
  if (sent['tool_calls']) {
    sent['tool_calls'] = objectsOf(sent['tool_calls']).map((call) => {
      const { incomplete: __, ...rest } = call;
      if (!isObject(rest['function'])) return rest;
      const { parsed_arguments: ___, ...called } = rest['function'];
      return { ...rest, function: called };
    });
  }
  return sent;
}

/**
 * Checks parameters and returns the body of their request.
 *
 * `include_usage: false` is never sent: gateways then drop the chunk with the finish reason of many
 * providers, and a complete answer would look like a truncated one.
 */
function chatBody(params: ChatCompletionCreateParamsBase): object {
  checkParams('chat.completions.create', params);
  checkModel(params.model);
  checkList('messages', params.messages, 'a message such as { role: "user", content: "Hello!" }');
  const body = { ...params, messages: params.messages.map(toSentMessage) };
  if (params.stream_options?.include_usage !== false) return body;
  return { ...body, stream_options: { ...params.stream_options, include_usage: true } };
}

export function createCompletion(
  transport: Transport,
  params: ChatCompletionCreateParamsBase,
  options: RequestOptions | undefined,
): GatewayPromise<ChatCompletion> {
  const request = () => ({ json: chatBody(params) });
  const format = jsonAnswer(completionAnswer(params));
  return transport.call('chat.completions.create', request, format, options);
}

export function streamCompletion(
  transport: Transport,
  params: Omit<ChatCompletionCreateParamsBase, 'stream'>,
  options: RequestOptions | undefined,
): GatewayPromise<Stream<ChatCompletionChunk>> {
  const wantsUsage = params?.stream_options?.include_usage === true;
  return transport.call(
    'chat.completions.create',
    () => ({ json: { ...chatBody(params), stream: true } }),
    eventAnswer({
      ...chatProtocolFor(params?.n ?? 1),
      deliver: (emit) => deliverWithChoices(emit, wantsUsage),
    }),
    options,
  );
}

export function parseCompletion(
  transport: Transport,
  params: ChatCompletionCreateParamsNonStreaming,
  options: RequestOptions | undefined,
): GatewayPromise<ParsedChatCompletion<unknown>> {
  const parser = new OutputParser<unknown>(params, 'parse');
  const format = jsonAnswer(
    completionAnswer(params),
    (completion, { callId, requestId, status }) => {
      const sent = { phase: 'body', status, requestId } as const;
      const evidence = { ...sent, attempts: [sent] };
      return parser.apply(completion, { callId, evidence });
    },
  );
  const request = () => ({ json: chatBody(params) });
  return transport.call('chat.completions.create', request, format, options);
}

/** Reads a streamed completion with the events of a run. */
export async function streamWithEvents(
  transport: Transport,
  params: Omit<ChatCompletionCreateParamsBase, 'stream'>,
  options: RequestOptions | undefined,
  run: ChatRun<unknown>,
): Promise<void> {
  checkParams('chat.completions.stream', params);
  checkOptions(options);
  if (params.response_format || params.tools) run.parser = new OutputParser(params, 'stream');
  const { signal } = run.controller;
  await run.read(streamCompletion(transport, params, { ...options, signal }));
}

/**
 * Requests completions and calls the tools that they call, until one calls none.
 *
 * @param transport - A snapshot: every request goes to one gateway with one key.
 */
export async function runTools(
  transport: Transport,
  params: ChatCompletionToolRunnerParams | ChatCompletionStreamingToolRunnerParams,
  options: RunnerOptions | undefined,
  run: ChatRun<unknown>,
  runner: ChatCompletionRunner<unknown>,
): Promise<void> {
  checkOptions(options);
  const { signal } = run.controller;
  const { maxChatCompletions: limit = 10, afterCompletion, ...requestOptions } = options ?? {};
  checkParams('chat.completions.runTools', params);
  const { tools, toolContext, ...body } = params;
  const parser = new OutputParser<unknown>(params, 'run');
  run.parser = parser;
  check(Array.isArray(tools), 'tools', 'must be a list; give what tool() makes.');
  checkInteger('maxChatCompletions', limit, 1, 1_000_000);
  check((params.n ?? 1) === 1, 'n', 'must be 1: a run follows one conversation.');
  const { tool_choice: choice } = params;
  const wanted =
    typeof choice === 'object' && choice?.type === 'function' ? choice.function.name : undefined;
  const sent: ChatCompletionTool[] = [];
  const callable = new Map<string, CallableTool>();
  for (const tool of tools) {
    const { name, sentAs, ...called } = prepareTool(tool, runner, toolContext, parser);
    sent.push(sentAs);
    if (wanted === undefined || name === wanted) callable.set(name, called);
  }
  async function requestCompletion(): Promise<ParsedChatCompletion<unknown> | undefined> {
    // Providers reject an empty list.
    const list = sent.length > 0 ? { tools: sent } : {};
    const request = { ...body, messages: historyOf(run, params.model), ...list };
    const callOptions = { ...requestOptions, signal };
    if (body.stream === true) return run.read(streamCompletion(transport, request, callOptions));
    const completion = await createCompletion(transport, request, callOptions);
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
    isSequential: wanted !== undefined || params.parallel_tool_calls === false,
    async ask() {
      const completion = await requestCompletion();
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
    afterEach: (completion) => afterCompletion?.(completion, runner),
  });
}

/** Models that need their reasoning back while they call tools: without it they fail or lose the thread. */
const needsReasoning = /deepseek|kimi|moonshot|mimo|glm|minimax/i;

/** Returns the conversation. Other models refuse or bill the `reasoning_content` of earlier answers. */
function historyOf(run: ChatRun<unknown>, model: string): ChatCompletionMessageParam[] {
  const answers = run.completions.filter(
    (answer) => !needsReasoning.test(`${model} ${answer.model}`),
  );
  const without = new Set<unknown>(answers.map(({ choices }) => choices[0]?.message));
  return run.messages.map((message) =>
    without.has(message) ? { ...message, reasoning_content: undefined } : message,
  );
}

/** Returns how a tool is sent, and how it is called. */
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
