import type { GatewayPromise } from '../http/promise.ts';
import { jsonAnswer } from '../http/response.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import { askStream, askWhole, chatBody, wholeAnswer } from './calls.ts';
import type {
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionMessageParam,
  ChatCompletionMessageToolCall,
  ChatCompletionTool,
} from './params.ts';
import type {
  ParsedChatCompletion,
  ChatCompletion,
  ChatCompletionMessage,
  ParsedChatCompletionMessage,
} from './types.ts';
import { check, checkInteger, checkParams } from '../check.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { type CallableTool, runToolLoop } from '../structured/tool-loop.ts';
import type {
  ChatCompletionStreamingToolRunnerParams,
  ChatCompletionToolRunnerParams,
  RunnerOptions,
} from './run-tools.ts';
import { ChatEngine, type CompletionParser } from './engine.ts';
import type { ChatRun, RunResult } from './run.ts';
import type { ChatCompletionRunner } from './runner.ts';
import { isObject, objectsOf } from '../answers/objects.ts';
import type { JsonObject } from '../types.ts';
import { parseJSONText, SchemaMismatch, GrowingJSON } from '../structured/json.ts';
import {
  ContentFilterFinishReasonError,
  InvalidOutputError,
  LengthFinishReasonError,
  type OutputErrorInit,
} from './errors.ts';

export function askParsed(
  transport: Transport,
  params: ChatCompletionCreateParamsNonStreaming,
  options: RequestOptions | undefined,
): GatewayPromise<ParsedChatCompletion<unknown>> {
  const parser = new OutputParser(params, 'parse');
  const format = jsonAnswer(wholeAnswer(params), (completion, { callId, requestId, status }) => {
    const sent = { phase: 'body', status, requestId } as const;
    const evidence = { ...sent, attempts: [sent] };
    return parser.apply(completion, { callId, evidence });
  });
  const request = () => ({ json: chatBody(params) });
  return transport.call('chat.completions.create', request, format, options);
}

/**
 * A conversation with tools, in the words of chat completions.
 *
 * @param transport - A snapshot: every request goes to one gateway with one key.
 */
export async function runTools(
  transport: Transport,
  params: ChatCompletionToolRunnerParams | ChatCompletionStreamingToolRunnerParams,
  options: RunnerOptions,
  run: ChatRun<unknown>,
  runner: ChatCompletionRunner<unknown>,
): Promise<RunResult<unknown>> {
  const { maxChatCompletions: limit = 10, afterCompletion } = options;
  checkParams('chat.completions.runTools', params);
  const { tools, toolContext, ...body } = params;
  const parser = new OutputParser(params, 'run');
  const engine = new ChatEngine(run, parser);
  check(Array.isArray(tools), 'tools', 'must be a list; give what tool() makes.');
  checkInteger('maxChatCompletions', limit, 1, 1_000_000);
  check((params.n ?? 1) === 1, 'n', 'must be 1: a run follows one conversation.');
  const { tool_choice: choice } = params;
  const wanted =
    typeof choice === 'object' && choice?.type === 'function' ? choice.function.name : undefined;
  const sent: ChatCompletionTool[] = [];
  const callable = new Map<string, CallableTool>();
  for (const tool of tools) {
    const { name, sentAs, ...called } = prepare(tool, runner, toolContext, parser);
    sent.push(sentAs);
    if (wanted === undefined || name === wanted) callable.set(name, called);
  }
  async function askOnce(): Promise<ParsedChatCompletion<unknown> | undefined> {
    // Providers refuse an empty list.
    const list = sent.length > 0 ? { tools: sent } : {};
    const asked = { ...body, messages: historyOf(run, params.model), ...list };
    if (body.stream === true) return engine.read(askStream(transport, asked, options));
    const completion = await askWhole(transport, asked, options);
    run.emit('connect');
    const parsed = engine.add(await parser.apply(completion));
    const text = parsed.choices[0]?.message.content;
    if (text) run.emit('content', text, text);
    return parsed;
  }
  await runToolLoop<ParsedChatCompletion<unknown>, ChatCompletionMessageToolCall>({
    tools: callable,
    limit,
    signal: run.controller.signal,
    isSequential: wanted !== undefined || params.parallel_tool_calls === false,
    async ask() {
      const completion = await askOnce();
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
    afterEach: (completion) => afterCompletion?.(completion, runner),
  });
  return engine;
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

/** How a tool is sent, and how it is called. */
function prepare(
  tool: ChatCompletionToolRunnerParams['tools'][number],
  runner: ChatCompletionRunner<unknown>,
  toolContext: unknown,
  parser: OutputParser,
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

type Parse = (text: string) => Promise<unknown>;

/**
 * What the answer is for: `parse` and `run` fail whenever it is cut or filtered, `stream` only when
 * something was to be parsed; `run` leaves the arguments of tool calls to the run, which tells the model.
 */
type ParseMode = 'parse' | 'stream' | 'run';

/** Parses texts and tool calls of completions as their request asked for, each of them once. */
export class OutputParser implements CompletionParser<unknown> {
  readonly #growing = new WeakMap<object, GrowingJSON>();
  /** By the names of tools; `undefined` stands for the text of an answer. */
  readonly #parsers = new Map<string | undefined, Parse>();
  readonly #mode: ParseMode;

  /** @param params - Bad input is left to those who send it. */
  constructor(
    params: { response_format?: unknown; tools?: unknown } | null | undefined,
    mode: ParseMode,
  ) {
    this.#mode = mode;
    const { response_format: format, tools } = params ?? {};
    if (isObject(format)) this.#add(undefined, format, format['type'] === 'json_schema');
    for (const tool of objectsOf(tools)) {
      const { function: definition } = tool;
      if (!isObject(definition) || typeof definition['name'] !== 'string') continue;
      this.#add(definition['name'], tool, definition['strict'] === true);
    }
  }

  #add(name: string | undefined, format: JsonObject, isJSON: boolean): void {
    const { $parseRaw: own } = format;
    const isOwn = typeof own === 'function';
    if (!isOwn && !isJSON) return;
    const parse = (text: string): unknown =>
      isOwn ? Reflect.apply(own, format, [text]) : parseJSONText(text);
    const known = new Map<string, Promise<unknown>>();
    this.#parsers.set(name, (text) => {
      const value = known.get(text) ?? Promise.resolve(text).then(parse);
      known.set(text, value);
      return value;
    });
  }

  of(tool?: string): Parse | undefined {
    return this.#parsers.get(tool);
  }

  beginning(key: object, text: string, tool?: string): unknown {
    if (!this.#parsers.has(tool)) return null;
    const json = this.#growing.get(key) ?? new GrowingJSON();
    this.#growing.set(key, json);
    return json.read(text);
  }

  rejects(reason: string): boolean {
    const isNeeded = this.#mode !== 'stream' || this.#parsers.size > 0;
    return isNeeded && (reason === 'length' || reason === 'content_filter');
  }

  async apply(
    completion: ChatCompletion,
    call: Pick<OutputErrorInit, 'callId' | 'evidence'> = {},
  ): Promise<ParsedChatCompletion<unknown>> {
    const found = { completion, ...call };
    const rejected = completion.choices.find(({ finish_reason: reason }) => this.rejects(reason));
    if (rejected?.finish_reason === 'length') throw new LengthFinishReasonError(found);
    if (rejected !== undefined) throw new ContentFilterFinishReasonError(found);
    const choices = completion.choices.map(async (choice) =>
      Object.assign(choice, { message: await this.#applyTo(choice.message, found) }),
    );
    return Object.assign(completion, { choices: await Promise.all(choices) });
  }

  async #applyTo(
    message: ChatCompletionMessage,
    found: OutputErrorInit,
  ): Promise<ParsedChatCompletionMessage<unknown>> {
    const { content, refusal } = message;
    const calls = message.tool_calls ?? [];
    const isCalling = calls.length > 0 || Boolean(message.function_call);
    /** What does not fit is `null` where it is tolerated, and an error elsewhere. */
    const parse = async (
      text: string,
      tool: string | undefined,
      isTolerated: boolean,
    ): Promise<unknown> => {
      try {
        const parser = this.of(tool);
        return parser ? await parser(text) : null;
      } catch (cause) {
        if (isTolerated) return null;
        const what = tool === undefined ? 'The answer' : `The arguments of "${tool}"`;
        const problem = cause instanceof Error ? cause.message : String(cause);
        const issues = cause instanceof SchemaMismatch ? cause.issues : [];
        const init = { ...found, issues, cause };
        throw new InvalidOutputError(`${what} cannot be parsed: ${problem}.`, init);
      }
    };
    const parsing = calls.map(async (call) => {
      if (call.type !== 'function' || !this.of(call.function.name)) return call;
      const { name, arguments: text } = call.function;
      const parsed_arguments = await parse(text, name, this.#mode === 'run');
      return Object.assign(call, { function: Object.assign(call.function, { parsed_arguments }) });
    });
    const toolCalls = await Promise.all(parsing);
    // What a model says while it calls tools is not yet its answer.
    const isSaid = content !== null && !refusal && !(content === '' && isCalling);
    const parsed = isSaid ? await parse(content, undefined, isCalling) : null;
    return Object.assign(message, { parsed }, message.tool_calls && { tool_calls: toolCalls });
  }
}
