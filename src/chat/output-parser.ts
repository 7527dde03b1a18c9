import { errorMessage, isObject, objectsOf } from '../answers/objects.ts';
import { type ResponseSchema, trust } from '../answers/reader.ts';
import { GrowingJSON, parseJSONText, SchemaMismatch } from '../structured/json.ts';
import type { JsonObject } from '../types.ts';
import {
  ContentFilterFinishReasonError,
  InvalidOutputError,
  LengthFinishReasonError,
  type OutputErrorInit,
} from './errors.ts';
import type {
  ChatCompletion,
  ChatCompletionMessage,
  ParsedChatCompletion,
  ParsedChatCompletionMessage,
} from './types.ts';

/**
 * The method that parses. `parse` and `run` fail whenever a completion is cut or filtered, `stream` only
 * when something is parsed. With `run`, arguments that do not fit are an error that goes to the model.
 */
type ParseMode = 'parse' | 'stream' | 'run';

/** Parses texts and tool calls of completions as their request defines, each of them once. */
export class OutputParser<Parsed> {
  readonly #growing = new WeakMap<object, GrowingJSON>();
  /** By the names of tools; `undefined` stands for the text of an answer. */
  readonly #parsers = new Map<string | undefined, (text: string) => Promise<Parsed>>();
  readonly #mode: ParseMode;

  /** @param params - Other values are rejected when they are sent. */
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
    const parse = (text: string): Parsed => {
      const value: unknown = isOwn ? Reflect.apply(own, format, [text]) : parseJSONText(text);
      const unchecked: ResponseSchema<Parsed> = { fields: {} };
      trust(value, unchecked);
      return value;
    };
    const known = new Map<string, Promise<Parsed>>();
    this.#parsers.set(name, (text) => {
      const value = known.get(text) ?? Promise.resolve(text).then(parse);
      known.set(text, value);
      return value;
    });
  }

  /** Returns what parses the arguments of a tool, or the text; `undefined` when they are not parsed. */
  of(tool?: string): ((text: string) => Promise<Parsed>) | undefined {
    return this.#parsers.get(tool);
  }

  /**
   * Parses the beginning of a text, or of the arguments of a tool; `null` when they are not parsed.
   *
   * @param key - The same object for each beginning of one text.
   */
  beginning(key: object, text: string, tool?: string): unknown {
    if (!this.#parsers.has(tool)) return null;
    const json = this.#growing.get(key) ?? new GrowingJSON();
    this.#growing.set(key, json);
    return json.read(text);
  }

  /** Whether a completion that ends for this reason is an error instead of being parsed. */
  rejects(reason: string): boolean {
    const isNeeded = this.#mode !== 'stream' || this.#parsers.size > 0;
    return isNeeded && (reason === 'length' || reason === 'content_filter');
  }

  /**
   * Adds the parsed values of its texts and tool calls to a completion.
   *
   * @throws `OutputError` with the completion when that is not possible
   */
  async apply(
    completion: ChatCompletion,
    call: Pick<OutputErrorInit, 'callId' | 'evidence'> = {},
  ): Promise<ParsedChatCompletion<Parsed>> {
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
  ): Promise<ParsedChatCompletionMessage<Parsed>> {
    const { content, refusal } = message;
    const calls = message.tool_calls ?? [];
    const isCalling = calls.length > 0 || Boolean(message.function_call);
    /** Returns `null` for a text that does not fit if that is tolerated, and throws otherwise. */
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
        const problem = errorMessage(cause);
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
    // Text beside tool calls is not yet the answer.
    const isSaid = content !== null && !refusal && !(content === '' && isCalling);
    const parsed = isSaid ? await parse(content, undefined, isCalling) : null;
    return Object.assign(message, { parsed }, message.tool_calls && { tool_calls: toolCalls });
  }
}
