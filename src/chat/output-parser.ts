import {
  ContentFilterFinishReasonError,
  InvalidOutputError,
  LengthFinishReasonError,
  type OutputErrorInit,
} from './errors.ts';
import { isObject, objectsOf } from '../answers/objects.ts';
import type {
  ParsedChatCompletion,
  ParsedChatCompletionMessage,
  ChatCompletion,
  ChatCompletionMessage,
} from './types.ts';
import { parseJSONText, SchemaMismatch } from '../structured/json.ts';

type Parse<Value> = (text: string) => Value | Promise<Value>;

/**
 * What the answer is for: `parse` and `run` fail whenever it is cut or filtered, `stream` only when
 * something was to be parsed; `run` leaves the arguments of tool calls to the run, which tells the model.
 */
export type ParseMode = 'parse' | 'stream' | 'run';

/** Parses texts and tool calls of completions as their request asked for, each of them once. */
export class OutputParser<Parsed> {
  readonly #parse: Parse<Parsed> | undefined;
  readonly #tools: ReadonlyMap<string, Parse<unknown>>;
  readonly #mode: ParseMode;
  readonly #contents = new Map<string, Promise<Parsed>>();
  readonly #arguments = new Map<string, Promise<unknown>>();

  constructor(
    parse: Parse<Parsed> | undefined,
    tools: ReadonlyMap<string, Parse<unknown>>,
    mode: ParseMode,
  ) {
    this.#parse = parse;
    this.#tools = tools;
    this.#mode = mode;
  }

  /** Whether text is parsed. */
  get parsesContent(): boolean {
    return this.#parse !== undefined;
  }

  /** Whether the arguments of this tool are parsed. */
  parsesArguments(name: string): boolean {
    return this.#tools.has(name);
  }

  /** The parsed text; `null` when text is not parsed. */
  async content(text: string): Promise<Parsed | null> {
    const parse = this.#parse;
    return parse ? once(this.#contents, text, () => parse(text)) : null;
  }

  /** The parsed arguments; `null` when those of this tool are not parsed. */
  async arguments(name: string, text: string): Promise<unknown> {
    const parse = this.#tools.get(name);
    return parse ? once(this.#arguments, `${name} ${text}`, () => parse(text)) : null;
  }

  /**
   * Adds to a completion what its texts and tool calls are parsed as.
   *
   * @throws `OutputError` with the completion when that is not possible
   */
  async apply(
    completion: ChatCompletion,
    call: Pick<OutputErrorInit, 'callId' | 'evidence'> = {},
  ): Promise<ParsedChatCompletion<Parsed>> {
    const isNeeded = this.#mode !== 'stream' || this.#parse || this.#tools.size > 0;
    for (const { finish_reason: reason } of completion.choices) {
      if (!isNeeded) break;
      if (reason === 'length') throw new LengthFinishReasonError({ completion, ...call });
      if (reason === 'content_filter') {
        throw new ContentFilterFinishReasonError({ completion, ...call });
      }
    }
    const choices = completion.choices.map(async (choice) => {
      const message = await this.#applyTo(choice.message, { completion, ...call });
      return Object.assign(choice, { message });
    });
    return Object.assign(completion, { choices: await Promise.all(choices) });
  }

  async #applyTo(
    message: ChatCompletionMessage,
    found: OutputErrorInit,
  ): Promise<ParsedChatCompletionMessage<Parsed>> {
    const { content, refusal, tool_calls: calls = [] } = message;
    const isCalling = calls.length > 0 || Boolean(message.function_call);
    const fail = (what: string) => (cause: unknown) => {
      const problem = cause instanceof Error ? cause.message : String(cause);
      const issues = cause instanceof SchemaMismatch ? cause.issues : [];
      const text = `${what} cannot be parsed: ${problem}.`;
      throw new InvalidOutputError(text, { ...found, issues, cause });
    };
    const parsing = calls.map(async (call) => {
      if (call.type !== 'function') return call;
      const { name, arguments: text } = call.function;
      if (!this.parsesArguments(name)) return call;
      const isOwn = this.#mode === 'run';
      const parsed = await this.arguments(name, text).catch(
        isOwn ? () => null : fail(`The arguments of "${name}"`),
      );
      return Object.assign(call, {
        function: Object.assign(call.function, { parsed_arguments: parsed }),
      });
    });
    const toolCalls = await Promise.all(parsing);
    // What a model says while it calls tools is not yet its answer.
    const parsed =
      content === null || refusal || (content === '' && isCalling)
        ? null
        : await this.content(content).catch(isCalling ? () => null : fail('The answer'));
    return Object.assign(message, { parsed }, message.tool_calls && { tool_calls: toolCalls });
  }
}

function once<Value>(
  known: Map<string, Promise<Value>>,
  key: string,
  parse: () => Value | Promise<Value>,
): Promise<Value> {
  let value = known.get(key);
  if (value === undefined) {
    value = Promise.resolve().then(parse);
    known.set(key, value);
  }
  return value;
}

function hasParser(value: object): value is { $parseRaw: Parse<unknown> } {
  return '$parseRaw' in value && typeof value.$parseRaw === 'function';
}

function parserIn(format: object, isJSON: boolean): Parse<unknown> | undefined {
  if (hasParser(format)) return (text) => format.$parseRaw(text);
  return isJSON ? parseJSONText : undefined;
}

/** Makes what parses the answers to a request; bad input is left to those who send it. */
export function outputParser(
  params: { response_format?: unknown; tools?: unknown } | null | undefined,
  mode: ParseMode,
): OutputParser<unknown> {
  const { response_format: format, tools } = params ?? {};
  const parsers = new Map<string, Parse<unknown>>();
  for (const tool of objectsOf(tools)) {
    const { function: definition } = tool;
    if (!isObject(definition) || typeof definition['name'] !== 'string') continue;
    const parse = parserIn(tool, definition['strict'] === true);
    if (parse !== undefined) parsers.set(definition['name'], parse);
  }
  const parse = isObject(format) ? parserIn(format, format['type'] === 'json_schema') : undefined;
  return new OutputParser(parse, parsers, mode);
}
