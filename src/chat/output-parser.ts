import type {
  ChatCompletion,
  ChatCompletionMessage,
  ParsedChatCompletion,
  ParsedChatCompletionMessage,
} from './types.ts';
import { isObject, objectsOf } from '../answers/objects.ts';
import { parseJSONText, SchemaMismatch } from '../structured/json.ts';
import { GrowingJSON } from '../structured/partial-json.ts';
import {
  ContentFilterFinishReasonError,
  InvalidOutputError,
  LengthFinishReasonError,
  type OutputErrorInit,
} from './errors.ts';

type Parse<Value> = (text: string) => Promise<Value>;

/**
 * What the answer is for: `parse` and `run` fail whenever it is cut or filtered, `stream` only when
 * something was to be parsed; `run` leaves the arguments of tool calls to the run, which tells the model.
 */
export type ParseMode = 'parse' | 'stream' | 'run';

/** Parses texts and tool calls of completions as their request asked for, each of them once. */
export class OutputParser<Parsed> {
  readonly #growing = new WeakMap<object, GrowingJSON>();
  readonly #parsers: ReadonlyMap<string | undefined, Parse<Parsed>>;
  readonly #mode: ParseMode;

  /** @param parsers - By the names of tools; `undefined` stands for the text of an answer. */
  constructor(parsers: ReadonlyMap<string | undefined, Parse<Parsed>>, mode: ParseMode) {
    this.#parsers = parsers;
    this.#mode = mode;
  }

  /** What parses the arguments of a tool, or the text; `undefined` when they are not parsed. */
  of(tool?: string): Parse<Parsed> | undefined {
    return this.#parsers.get(tool);
  }

  /**
   * What the beginning of a text, or of the arguments of a tool, says so far; `null` when it is not parsed.
   *
   * @param open - Whose text it is: the same object for each beginning of one text.
   */
  beginning(open: object, text: string, tool?: string): unknown {
    if (!this.#parsers.has(tool)) return null;
    const json = this.#growing.get(open) ?? new GrowingJSON();
    this.#growing.set(open, json);
    return json.read(text);
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
    const found = { completion, ...call };
    const isNeeded = this.#mode !== 'stream' || this.#parsers.size > 0;
    for (const { finish_reason: reason } of isNeeded ? completion.choices : []) {
      if (reason === 'length') throw new LengthFinishReasonError(found);
      if (reason === 'content_filter') throw new ContentFilterFinishReasonError(found);
    }
    const choices = completion.choices.map(async (choice) =>
      Object.assign(choice, { message: await this.#applyTo(choice.message, found) }),
    );
    return Object.assign(completion, { choices: await Promise.all(choices) });
  }

  async #applyTo(
    message: ChatCompletionMessage,
    found: OutputErrorInit,
  ): Promise<ParsedChatCompletionMessage<Parsed>> {
    const { content, refusal, tool_calls: calls = [] } = message;
    const isCalling = calls.length > 0 || Boolean(message.function_call);
    /** What does not fit is `null` where it is tolerated, and an error elsewhere. */
    const parse = async (
      text: string,
      tool: string | undefined,
      isTolerated: boolean,
    ): Promise<Parsed | null> => {
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

/** What parses each text once. */
function once(parse: (text: string) => unknown): Parse<unknown> {
  const known = new Map<string, Promise<unknown>>();
  return (text) => {
    const value = known.get(text) ?? Promise.resolve(text).then(parse);
    known.set(text, value);
    return value;
  };
}

function parserIn(format: object, isJSON: boolean): Parse<unknown> | undefined {
  if (hasParser(format)) return once((text) => format.$parseRaw(text));
  return isJSON ? once(parseJSONText) : undefined;
}

function hasParser(value: object): value is { $parseRaw(text: string): unknown } {
  return '$parseRaw' in value && typeof value.$parseRaw === 'function';
}

/** Makes what parses the answers to a request; bad input is left to those who send it. */
export function outputParser(
  params: { response_format?: unknown; tools?: unknown } | null | undefined,
  mode: ParseMode,
): OutputParser<unknown> {
  const { response_format: format, tools } = params ?? {};
  const parsers = new Map<string | undefined, Parse<unknown>>();
  const add = (name: string | undefined, parser: Parse<unknown> | undefined): void => {
    if (parser) parsers.set(name, parser);
  };
  if (isObject(format)) add(undefined, parserIn(format, format['type'] === 'json_schema'));
  for (const tool of objectsOf(tools)) {
    const { function: definition } = tool;
    if (!isObject(definition) || typeof definition['name'] !== 'string') continue;
    add(definition['name'], parserIn(tool, definition['strict'] === true));
  }
  return new OutputParser(parsers, mode);
}
