import type { JsonObject } from '../../types.ts';
import { repairArguments } from './call-repair.ts';
import { isNaturalEnd } from '../../answers/finish-reasons.ts';
import { isHollowCall, isMissing, isNamelessCall, noArguments } from '../../structured/calls.ts';
import {
  fill,
  hasValue,
  isMissingWord,
  isObject,
  normalizeItems,
  listObjects,
  numberFrom,
  toNumber,
  toFields,
} from '../../answers/objects.ts';
import { normalizeValue, type ResponseSchema } from '../../answers/reader.ts';
import { ToolCallAssembler } from './tool-calls.ts';
import type { ChatCompletionChunkToolCall } from './types.ts';

/** Fills in fields that providers omit from a completion and renames variants, in place. */
export function normalizeCompletion(value: JsonObject): void {
  normalizeHead(value, 'chat.completion');
  normalizeItems(value, 'choices', normalizeChoice);
}

/**
 * Normalizes one chunk of a streamed completion.
 *
 * Fields that depend on other chunks (the id, the index of a tool call) are filled in by `ChatAccumulator`.
 */
export function normalizeChunk(value: JsonObject): void {
  const choices = normalizeItems(value, 'choices', normalizeChunkChoice);
  // Some providers put usage into the choice, Groq into a field of its own.
  const inner = choices[0]?.['usage'] ?? toFields(value['x_groq'])['usage'];
  if (isObject(inner) && !isObject(value['usage'])) value['usage'] = inner;
  // Empty usage would look like a count of 0.
  const { usage } = value;
  if (isObject(usage) && Object.keys(usage).length === 0) value['usage'] = null;
  normalizeHead(value, 'chat.completion.chunk');
}

/** Fills in the fields shared by completions and chunks, and the token counts. */
function normalizeHead(value: JsonObject, object: string): void {
  fill(value, { id: '', model: '' });
  value['object'] ||= object;
  toNumber(value, 'created');
  const { usage: counts } = value;
  if (!isObject(counts)) return;
  fill(counts, { prompt_tokens: 0, completion_tokens: 0 });
  counts['total_tokens'] ??=
    (numberFrom(counts['prompt_tokens']) ?? 0) + (numberFrom(counts['completion_tokens']) ?? 0);
}

/** Normalizes the response to a request for one choice, and joins choices that are parts of one message. */
export function normalizeOneCompletion(value: JsonObject): void {
  const [first, ...others] = listObjects(value['choices']);
  if (first !== undefined && others.length > 0) {
    const message = (first['message'] = toFields(first['message']));
    const left = others.filter(({ message: other, ...fields }) => {
      if (!continuesMessage(message, other)) return true;
      joinFields(message, toFields(other));
      if (hasValue(fields['finish_reason'])) first['finish_reason'] = fields['finish_reason'];
      return false;
    });
    value['choices'] = [first, ...left];
  }
  normalizeCompletion(value);
}

/** Fields with the reasoning of a message. */
const thoughtFields = ['reasoning_content', 'reasoning', 'reasoning_details', 'thinking_blocks'];

/**
 * Returns whether the message of another choice continues a message, although the request was for one choice: some
 * gateways send reasoning, text and each tool call as choices of their own. Two texts are alternatives.
 */
export function continuesMessage(message: object, other: unknown): boolean {
  const parts = [toFields(message), toFields(other)];
  if (parts.every(({ content }) => hasValue(content))) return false;
  const [thinks, thinksToo] = parts.map((part) =>
    thoughtFields.some((name) => hasValue(part[name])),
  );
  return (thinks && !thinksToo) || parts.some(({ tool_calls: calls }) => hasValue(calls));
}

/** Adds the fields of another part of a message: text and lists are joined. */
export function joinFields(message: JsonObject, part: JsonObject): void {
  for (const [name, content] of Object.entries(part)) {
    const { [name]: existing } = message;
    if (!hasValue(content) || name === '__proto__') continue;
    if (!hasValue(existing)) message[name] = content;
    else if (Array.isArray(existing) || Array.isArray(content)) {
      message[name] = [existing, content].flatMap(toParts);
    } else if (typeof existing === 'string' && typeof content === 'string' && name !== 'role') {
      message[name] = existing + content;
    }
  }
}

/** Returns the items of a list, and text as a list of its part. */
const toParts = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : [{ type: 'text', text: value }];

/**
 * Converts typed content parts to text, and thinking parts to reasoning. The parts themselves are kept as
 * `content_parts`, because they may contain images. An object, which Cloudflare sends for a `json_schema`,
 * becomes JSON text.
 */
function normalizeContent(owner: JsonObject): void {
  const { content } = owner;
  if (isObject(content)) owner['content'] = JSON.stringify(content);
  if (!Array.isArray(content)) return;
  const { text, thoughts } = readParts(content);
  owner['content_parts'] = content;
  owner['content'] = text;
  if (thoughts !== null) owner['reasoning_content'] ??= thoughts;
}

/** Returns the text and the reasoning of typed content parts; `null` if there is none. */
export function readParts(content: readonly unknown[]): {
  readonly text: string | null;
  readonly thoughts: string | null;
} {
  const parts = listObjects(content);
  return {
    text: joinTexts(parts.map(({ text }) => text)),
    thoughts: joinTexts(parts.map(readThinking)),
  };
}

/** Thinking is text or a list of text parts. */
function readThinking({ thinking }: JsonObject): unknown {
  if (typeof thinking === 'string') return thinking;
  return joinTexts(listObjects(thinking).map(({ text }) => text));
}

function joinTexts(values: readonly unknown[]): string | null {
  const texts = values.filter((value) => typeof value === 'string');
  return texts.length === 0 ? null : texts.join('');
}

/** Converts the arguments of a function, or the input of a custom tool, to text. */
function normalizeText(called: unknown, field: 'arguments' | 'input'): void {
  if (!isObject(called)) return;
  const { [field]: received } = called;
  const isText = received === undefined || received === null || typeof received === 'string';
  if (!isText) called[field] = JSON.stringify(received);
}

/** Completes the call of the older format in a complete message. Many models write no text for a call without arguments. */
export function completeFunction(call: unknown, isFinished: boolean): void {
  normalizeText(call, 'arguments');
  if (!isObject(call)) return;
  const { arguments: received } = call;
  const [text = '', ...others] = typeof received === 'string' ? repairArguments(received) : [];
  if (isFinished && isMissing(text)) call['arguments'] = noArguments;
  else if (others.length === 0) call['arguments'] = text;
}

/** Removes a `function_call` without name and arguments, as Snowflake sends it. */
function dropEmptyCall(owner: JsonObject): void {
  const { function_call: call } = owner;
  if (!isObject(call)) return;
  const { name, arguments: text } = call;
  const hasContent = hasValue(name) || hasValue(typeof text === 'string' ? text.trim() : text);
  if (!hasContent) delete owner['function_call'];
}

/** Fields of a call without its wrapper: the name, and the arguments by any of their names. */
const unwrappedFields = ['name', 'arguments', 'input', 'parameters'] as const;

/** Moves the fields of a call into `function` or `custom`, if a gateway sent them without that wrapper. */
function wrapCall(call: JsonObject): void {
  if (isObject(call['function']) || isObject(call['custom'])) return;
  const { type, function: named, name = named, input, parameters } = call;
  const { arguments: sent = input ?? parameters } = call;
  if (name === undefined && sent === undefined) return;
  for (const field of unwrappedFields) delete call[field];
  const isCustom = type === 'custom';
  if (isCustom) delete call['function'];
  call[isCustom ? 'custom' : 'function'] = {
    ...(name !== undefined && { name }),
    ...(sent !== undefined && { [isCustom ? 'input' : 'arguments']: sent }),
  };
}

function normalizeMessage(value: JsonObject, isFinished: boolean): void {
  normalizeContent(value);
  dropEmptyCall(value);
  completeFunction(value['function_call'], isFinished);
  fill(value, { role: 'assistant', content: null, refusal: null });
  normalizeToolCalls(value, isFinished);
}

/** A tool call, or a piece of one, before it is assembled. */
const callPiece: ResponseSchema<ChatCompletionChunkToolCall> = {
  fields: {},
  normalize: normalizePiece,
};

/**
 * Repairs the tool calls of a complete message, which are assembled like those of a chunk with all of them.
 *
 * @param isFinished - `true` if the model ended the response itself.
 */
function normalizeToolCalls(value: JsonObject, isFinished: boolean): void {
  const { tool_calls: calls } = value;
  if (calls === undefined || calls === null) return;
  const sent = listObjects(calls);
  const assembler = new ToolCallAssembler();
  const pieces = sent
    .map((call) => normalizeValue(call, callPiece))
    .flatMap(splitPiece)
    // An id of an empty call is free for another one.
    .filter(({ function: called, custom }) => {
      return !isHollowCall((called ?? custom)?.name, called?.arguments ?? custom?.input);
    });
  assembler.add(pieces.map((piece, index) => ({ ...piece, index })));
  assembler.end(isFinished);
  // An empty list of the provider is kept.
  if (assembler.calls.length === 0 && sent.length > 0) delete value['tool_calls'];
  else value['tool_calls'] = assembler.calls;
}

/** Returns the calls in an entry of a list, whose order is kept. */
function splitPiece(piece: ChatCompletionChunkToolCall): ChatCompletionChunkToolCall[] {
  const { function: called } = piece;
  if (!called?.arguments) return [piece];
  const texts = repairArguments(called.arguments);
  return texts.map((text) => ({ ...piece, function: { ...called, arguments: text } }));
}

/** Returns whether a message has a call without a name, although it has arguments. */
export function hasNamelessCall({ tool_calls: calls, function_call: call }: JsonObject): boolean {
  const called = listObjects(calls).map((item) => item['function'] ?? item['custom']);
  return [...called, call]
    .filter(isObject)
    .some(({ name, input, arguments: args = input }) => isNamelessCall(name, args));
}

/** Returns whether the message of a choice is complete. Some gateways omit the finish reason of complete ones. */
const isMessageFinished = ({ finish_reason: reason = '' }: JsonObject): boolean =>
  reason === '' || isNaturalEnd(reason);

function normalizeChoice(value: JsonObject, position: number): void {
  fill(value, { index: position, logprobs: null });
  normalizeReason(value);
  const { finish_reason: reason = '' } = value;
  value['finish_reason'] = reason;
  const message = (value['message'] = toFields(value['message']));
  normalizeMessage(message, isMessageFinished(value));
}

/** Pieces that are whole choices with `null` as finish reason. No reason follows. */
export const unfinishedChoices = new WeakSet<object>();

/** Converts a choice of a complete completion to a piece of a streamed one. */
export function toWholePiece(choice: JsonObject): JsonObject {
  normalizeReason(choice);
  const { message, ...rest } = choice;
  if (!isObject(message)) return choice;
  normalizeToolCalls(message, isMessageFinished(choice));
  const { tool_calls: calls } = message;
  const delta = Array.isArray(calls)
    ? { ...message, tool_calls: calls.map((call: JsonObject, index) => ({ ...call, index })) }
    : message;
  const piece = { ...rest, delta };
  if (choice['finish_reason'] === null) unfinishedChoices.add(piece);
  return piece;
}

/** Removes invalid types. Later pieces repeat only some fields of the first one. */
function normalizePiece(piece: JsonObject): void {
  normalizeIndex(piece);
  wrapCall(piece);
  const { type } = piece;
  if (typeof type === 'string' && type !== 'custom' && type !== 'function') delete piece['type'];
  normalizeText(piece['function'], 'arguments');
  normalizeText(piece['custom'], 'input');
}

function normalizeDelta(value: JsonObject): void {
  normalizeContent(value);
  if (value['role'] === '') delete value['role'];
  dropEmptyCall(value);
  normalizeText(value['function_call'], 'arguments');
  if (value['tool_calls']) normalizeItems(value, 'tool_calls', normalizePiece);
}

/** Converts an index from text to a number. */
function normalizeIndex(value: JsonObject): void {
  const { index } = value;
  if (typeof index === 'string' && /^-?\d+$/.test(index)) value['index'] = Number(index);
}

/** Replaces a finish reason that is the word for a missing value of some language. */
function normalizeReason(value: JsonObject): void {
  if (isMissingWord(value['finish_reason'])) value['finish_reason'] = null;
}

/** Returns whether a delta has content, rather than only a role. */
export function hasPieces(delta: unknown): boolean {
  return Object.entries(toFields(delta)).some(
    ([name, field]) => name !== 'role' && hasValue(field),
  );
}

function normalizeChunkChoice(value: JsonObject, position: number): void {
  fill(value, { index: position, finish_reason: null });
  normalizeIndex(value);
  normalizeReason(value);
  // Some providers put the whole message into the only chunk, MiniMax also into the last one.
  const { delta: piece, message: whole } = value;
  if (isObject(whole) && !hasPieces(piece)) normalizeDelta((value['delta'] = whole));
  else normalizeDelta((value['delta'] = toFields(piece)));
}
