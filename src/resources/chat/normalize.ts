import type { JsonObject } from '../../types.ts';
import {
  fill,
  hasValue,
  isObject,
  normalizeItems,
  listObjects,
  parseJSON,
  numberFrom,
  toNumber,
  toFields,
} from '../../answers/objects.ts';

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
  // Some providers put usage into the choice.
  const inner = choices[0]?.['usage'];
  if (isObject(inner) && !isObject(value['usage'])) value['usage'] = inner;
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

/** The JSON text of empty arguments. */
export const noArguments = '{}';

/** Converts the arguments of a function to text. */
function normalizeFunction(call: unknown): void {
  if (isObject(call) && isObject(call['arguments'])) {
    call['arguments'] = JSON.stringify(call['arguments']);
  }
}

/**
 * Normalizes a function call in a complete response. Many models write no text for a call without arguments.
 */
function normalizeCompleteFunction(call: unknown, isFinished: boolean): void {
  normalizeFunction(call);
  if (!isObject(call)) return;
  const { arguments: text } = call;
  if (typeof text === 'string' && text.trim() !== '') return;
  if (isFinished) call['arguments'] = noArguments;
  else if (typeof text !== 'string') call['arguments'] = '';
}

/** Removes a `function_call` without name and arguments, as Snowflake sends it. */
function dropEmptyCall(owner: JsonObject): void {
  const { function_call: call } = owner;
  if (!isObject(call)) return;
  const { name, arguments: text } = call;
  const hasContent = hasValue(name) || hasValue(typeof text === 'string' ? text.trim() : text);
  if (!hasContent) delete owner['function_call'];
}

function normalizeToolCall(call: JsonObject, isFinished: boolean): void {
  call['id'] ??= '';
  if (call['type'] !== 'function' && call['type'] !== 'custom') {
    call['type'] = isObject(call['custom']) ? 'custom' : 'function';
  }
  const { function: called } = call;
  normalizeCompleteFunction(called, isFinished);
  if (isFinished) return;
  if (!isObject(called) || !areArgumentsComplete(called['arguments'])) call['incomplete'] = true;
}

/** Returns whether arguments are a complete JSON object. */
export function areArgumentsComplete(text: unknown): boolean {
  return typeof text === 'string' && isObject(parseJSON(text));
}

const hasToolCalls = ({ tool_calls: calls }: JsonObject): boolean =>
  calls !== undefined && calls !== null;

function normalizeMessage(value: JsonObject, isFinished: boolean): void {
  normalizeContent(value);
  dropEmptyCall(value);
  normalizeCompleteFunction(value['function_call'], isFinished);
  fill(value, {
    role: 'assistant',
    content: null,
    refusal: null,
  });
  if (!hasToolCalls(value)) return;
  normalizeItems(value, 'tool_calls', (call) => normalizeToolCall(call, isFinished));
}

function normalizeChoice(value: JsonObject, position: number): void {
  fill(value, { index: position, finish_reason: '', logprobs: null });
  if (!isObject(value['message'])) value['message'] = {};
  const { finish_reason: reason } = value;
  if (isObject(value['message'])) {
    normalizeMessage(value['message'], reason === '' || isNaturalEnd(reason));
  }
}

/** Returns whether a finish reason reports a failure of the provider. */
export const isErrorReason = (reason: unknown): boolean =>
  typeof reason === 'string' && reason.toLowerCase() === 'error';

/** Returns whether a finish reason means that the response is complete. Some providers put errors there. */
export function isFinishReason(reason: unknown): boolean {
  return typeof reason === 'string' && reason !== '' && !isErrorReason(reason);
}

const endReasons =
  /^(stop|stop_sequence|end_turn|eos|eos_token|tool_?calls?|tool_?use|function_?calls?|completed?|finished|done)$/i;

/** Returns whether the model ended the response itself, rather than a token limit, a filter or a failure. */
export function isNaturalEnd(reason: unknown): boolean {
  return typeof reason === 'string' && endReasons.test(reason);
}

/** Removes invalid types. Later pieces repeat only some fields of the first one. */
function normalizePiece(piece: JsonObject): void {
  normalizeIndex(piece);
  const { type } = piece;
  if (typeof type === 'string' && type !== 'custom' && type !== 'function') delete piece['type'];
  normalizeFunction(piece['function']);
}

function normalizeDelta(value: JsonObject): void {
  normalizeContent(value);
  if (value['role'] === '') delete value['role'];
  dropEmptyCall(value);
  normalizeFunction(value['function_call']);
  if (hasToolCalls(value)) normalizeItems(value, 'tool_calls', normalizePiece);
}

/** Converts an index from text to a number. */
function normalizeIndex(value: JsonObject): void {
  const { index } = value;
  if (typeof index === 'string' && /^\d+$/.test(index)) value['index'] = Number(index);
}

function normalizeChunkChoice(value: JsonObject, position: number): void {
  fill(value, { index: position, finish_reason: null });
  normalizeIndex(value);
  // Some providers put the whole message into the only chunk.
  const { delta: piece, message: whole } = value;
  if (isObject(piece)) normalizeDelta(piece);
  else normalizeDelta((value['delta'] = toFields(whole)));
}
