import { hasValue, isObject, listObjects } from '../../answers/objects.ts';
import { type ResponseSchema, trust } from '../../answers/reader.ts';
import { GrowingJSON } from '../../structured/json.ts';
import {
  locateJSON,
  parseArguments,
  parseLocated,
  valueType,
} from '../../structured/locate-json.ts';
import { type Change, unchanged } from '../../http/request.ts';
import type { JsonObject } from '../../types.ts';
import {
  ContentFilterFinishReasonError,
  InvalidOutputError,
  LengthFinishReasonError,
  type OutputErrorInit,
  unparsed,
} from './errors.ts';
import { findSchema } from './structured-output.ts';
import { isCallReason } from '../../answers/finish-reasons.ts';
import type {
  ChatCompletion,
  ChatCompletionChoice,
  ChatCompletionMessage,
  ParsedChatCompletion,
  ParsedChatCompletionMessage,
} from './types.ts';

/**
 * The method that parses. `parse` and `run` fail if a completion is cut or filtered, `stream` only if the
 * request has a parser. With `run`, invalid arguments are an error for the model.
 */
type ParseMode = 'parse' | 'stream' | 'run';

const isSchema = (format: unknown): format is JsonObject =>
  isObject(format) && format['type'] === 'json_schema';

/** Parses texts and tool calls of completions as defined by their request, each only once. */
export class OutputParser<Parsed> {
  readonly #partialTexts = new WeakMap<object, GrowingJSON>();
  /** By tool name; `undefined` is the text of the message. */
  readonly #parsers = new Map<string | undefined, (text: string) => Promise<Parsed>>();
  readonly #mode: ParseMode;
  readonly #format: unknown;

  /**
   * @param params - The caller's parameters. Invalid values are rejected when they are sent.
   * @param change - How the request that is answered differs from them.
   */
  constructor(
    params: { response_format?: unknown; tools?: unknown } | null | undefined,
    mode: ParseMode,
    change = unchanged,
  ) {
    this.#mode = mode;
    const { response_format: format, tools } = params ?? {};
    this.#format = format;
    this.follow(change);
    for (const tool of listObjects(tools)) {
      const { function: definition } = tool;
      if (!isObject(definition) || typeof definition['name'] !== 'string') continue;
      this.#add(definition['name'], tool, definition['strict'] === true);
    }
  }

  /**
   * Parses the response to a request that differs from the caller's: by the `response_format` of a fallback if
   * it has a schema, or else by that of the call.
   */
  follow({ params: { response_format: changed } }: Change): void {
    const format = isSchema(changed) ? changed : this.#format;
    this.#parsers.delete(undefined);
    if (isSchema(format)) this.#add(undefined, format, true);
  }

  #add(name: string | undefined, format: JsonObject, isJSON: boolean): void {
    const { $parseRaw: customParse } = format;
    const hasCustomParse = typeof customParse === 'function';
    if (!hasCustomParse && !isJSON) return;
    const type = valueType(findSchema(format));
    const isText = name === undefined;
    const parseJSON = (text: string): unknown =>
      isText ? parseLocated(text, type) : parseArguments(text);
    const parse = (text: string): Parsed => {
      const value: unknown = hasCustomParse
        ? Reflect.apply(customParse, format, [isText ? locateJSON(text, type) : text])
        : parseJSON(text);
      const unchecked: ResponseSchema<Parsed> = { fields: {} };
      trust(value, unchecked);
      return value;
    };
    const cache = new Map<string, Promise<Parsed>>();
    this.#parsers.set(name, (text) => {
      const value = cache.get(text) ?? Promise.resolve(text).then(parse);
      cache.set(text, value);
      return value;
    });
  }

  /** Parses a text, or the arguments of a tool; `null` if they are not parsed. */
  async parse(text: string, tool?: string): Promise<Parsed | null> {
    const parse = this.#parsers.get(tool);
    return parse ? parse(text) : null;
  }

  /** Returns the parser for the arguments of a tool, or for the text; `undefined` if they are not parsed. */
  getParser(tool?: string): ((text: string) => Promise<Parsed>) | undefined {
    return this.#parsers.get(tool);
  }

  /**
   * Parses the beginning of a text, or of the arguments of a tool; `null` if they are not parsed.
   *
   * @param key - The same object for all beginnings of one text.
   */
  parsePartial(key: object, text: string, tool?: string): unknown {
    if (!this.#parsers.has(tool)) return null;
    const json = this.#partialTexts.get(key) ?? new GrowingJSON();
    this.#partialTexts.set(key, json);
    return json.read(text);
  }

  /** Returns whether a completion with this finish reason is an error. */
  rejects(reason: string | null): boolean {
    const isNeeded = this.#mode !== 'stream' || this.#parsers.size > 0;
    return isNeeded && (reason === 'length' || reason === 'content_filter');
  }

  /**
   * Adds parsed texts and arguments to a completion.
   *
   * @throws `OutputError` with the completion if that is impossible
   */
  async apply(
    completion: ChatCompletion,
    call: OutputErrorInit = {},
  ): Promise<ParsedChatCompletion<Parsed>> {
    const errorInit = { completion, ...call };
    const rejected = completion.choices.find(({ finish_reason: reason }) => this.rejects(reason));
    if (rejected?.finish_reason === 'length') throw new LengthFinishReasonError(errorInit);
    if (rejected !== undefined) throw new ContentFilterFinishReasonError(errorInit);
    const lacking = completion.choices.find((choice) => this.#lacksCall(choice));
    if (lacking !== undefined) {
      const problem = `ends with the finish reason "${lacking.finish_reason}", but has neither a tool call nor text`;
      throw new InvalidOutputError(`The answer ${problem}.`, errorInit);
    }
    const choices = completion.choices.map(async (choice) =>
      Object.assign(choice, { message: await this.#applyTo(choice.message, errorInit) }),
    );
    return Object.assign(completion, { choices: await Promise.all(choices) });
  }

  /** Returns whether a choice ends with a call that it does not have, and has nothing else. */
  #lacksCall({ finish_reason: reason, message }: ChatCompletionChoice): boolean {
    const isNeeded = this.#mode !== 'stream' || this.#parsers.size > 0;
    const { content, refusal, tool_calls: calls, function_call: call, audio, images } = message;
    const parts = [content, refusal, calls, call, audio, images];
    return isNeeded && isCallReason(reason) && !parts.some((part) => hasValue(part));
  }

  async #applyTo(
    message: ChatCompletionMessage,
    errorInit: OutputErrorInit,
  ): Promise<ParsedChatCompletionMessage<Parsed>> {
    const { content, refusal } = message;
    const calls = message.tool_calls ?? [];
    const isCalling = calls.length > 0 || Boolean(message.function_call);
    /** Parses a text. Returns `null` for an invalid text if that is tolerated, and throws otherwise. */
    const parse = (text: string, tool: string | undefined, isTolerated: boolean) =>
      this.parse(text, tool).catch((cause: unknown) => {
        if (isTolerated) return null;
        throw unparsed(tool, cause, errorInit);
      });
    const parsing = calls.map(async (call) => {
      if (call.type !== 'function' || !this.getParser(call.function.name)) return call;
      const { name, arguments: text } = call.function;
      const parsed_arguments = await parse(text, name, this.#mode === 'run');
      return Object.assign(call, { function: Object.assign(call.function, { parsed_arguments }) });
    });
    const toolCalls = await Promise.all(parsing);
    // Text next to tool calls is not the final text.
    const hasText = !refusal && !(isCalling && !content);
    const parsed = hasText ? await parse(content ?? '', undefined, isCalling) : null;
    return Object.assign(message, { parsed }, message.tool_calls && { tool_calls: toolCalls });
  }
}
