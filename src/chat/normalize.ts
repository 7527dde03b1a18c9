import type { JsonObject } from '../types.ts';
import {
  fill,
  holdsSomething,
  isObject,
  normalizeItems,
  objectsOf,
  parseJSON,
  toNumber,
} from '../answers/objects.ts';

/** Fills in place what providers leave out of a completion, and renames what they spell differently. */
export function normalizeCompletion(value: JsonObject): void {
  normalizeHead(value, 'chat.completion');
  normalizeItems(value, 'choices', normalizeChoice);
}

/**
 * The same for one chunk of a streamed completion.
 *
 * What takes the other chunks to know (the id, the index of a tool call) is filled in by whoever
 * follows the stream.
 */
export function normalizeChunk(value: JsonObject): void {
  const choices = normalizeItems(value, 'choices', normalizeChunkChoice);
  // Some providers put the usage into the choice.
  const inner = choices[0]?.['usage'];
  if (isObject(inner) && !isObject(value['usage'])) value['usage'] = inner;
  normalizeHead(value, 'chat.completion.chunk');
}

/** Fills the fields that a completion and its chunks share, and the counts of the usage. */
function normalizeHead(value: JsonObject, object: string): void {
  fill(value, { id: '', model: '' });
  value['object'] ||= object;
  toNumber(value, 'created');
  const { usage: counts } = value;
  if (!isObject(counts)) return;
  fill(counts, { prompt_tokens: 0, completion_tokens: 0 });
  counts['total_tokens'] ??= Number(counts['prompt_tokens']) + Number(counts['completion_tokens']);
}

/**
 * Turns content in typed parts into text, and thinking parts into reasoning. The parts themselves
 * are kept as `content_parts`, as they can also hold images and the like. An object, which Cloudflare
 * sends for a `json_schema`, becomes its JSON text.
 */
function normalizeContent(owner: JsonObject): void {
  const { content } = owner;
  if (isObject(content)) owner['content'] = JSON.stringify(content);
  if (!Array.isArray(content)) return;
  const { text, thoughts } = textsOf(content);
  owner['content_parts'] = content;
  owner['content'] = text;
  if (thoughts !== null) owner['reasoning_content'] ??= thoughts;
}

/** What content in typed parts says, and what was thought before; `null` where there is nothing. */
export function textsOf(content: readonly unknown[]): {
  readonly text: string | null;
  readonly thoughts: string | null;
} {
  const parts = objectsOf(content);
  return {
    text: joinTexts(parts.map(({ text }) => text)),
    thoughts: joinTexts(parts.map(thinkingOf)),
  };
}

/** Thinking comes as text or as a list of text parts. */
function thinkingOf({ thinking }: JsonObject): unknown {
  if (typeof thinking === 'string') return thinking;
  return joinTexts(objectsOf(thinking).map(({ text }) => text));
}

function joinTexts(values: readonly unknown[]): string | null {
  const texts = values.filter((value) => typeof value === 'string');
  return texts.length === 0 ? null : texts.join('');
}

/** The arguments of a function that takes none, as JSON text. */
export const noArguments = '{}';

/** Makes the arguments of a function text. */
function normalizeFunction(call: unknown): void {
  if (isObject(call) && isObject(call['arguments'])) {
    call['arguments'] = JSON.stringify(call['arguments']);
  }
}

/** The same for a function in a whole answer. Many models write nothing for a call without arguments. */
function normalizeWholeFunction(call: unknown, isFinished: boolean): void {
  normalizeFunction(call);
  if (!isObject(call)) return;
  const { arguments: text } = call;
  if (typeof text === 'string' && text.trim() !== '') return;
  if (isFinished) call['arguments'] = noArguments;
  else if (typeof text !== 'string') call['arguments'] = '';
}

/** Removes a `function_call` that names no function and has no arguments, as Snowflake sends it. */
function dropHollowCall(owner: JsonObject): void {
  const { function_call: call } = owner;
  if (!isObject(call)) return;
  const { name, arguments: text } = call;
  const holds =
    holdsSomething(name) || holdsSomething(typeof text === 'string' ? text.trim() : text);
  if (!holds) delete owner['function_call'];
}

function normalizeToolCall(call: JsonObject, isFinished: boolean): void {
  call['id'] ??= '';
  if (call['type'] !== 'function' && call['type'] !== 'custom') {
    call['type'] = isObject(call['custom']) ? 'custom' : 'function';
  }
  const { function: called } = call;
  normalizeWholeFunction(called, isFinished);
  if (isFinished) return;
  if (!isObject(called) || !isWholeArguments(called['arguments'])) call['incomplete'] = true;
}

/** Whether arguments are a whole JSON object. */
export function isWholeArguments(text: unknown): boolean {
  return typeof text === 'string' && isObject(parseJSON(text));
}

const holdsToolCalls = ({ tool_calls: calls }: JsonObject): boolean =>
  calls !== undefined && calls !== null;

function normalizeMessage(value: JsonObject, isFinished: boolean): void {
  normalizeContent(value);
  dropHollowCall(value);
  normalizeWholeFunction(value['function_call'], isFinished);
  fill(value, {
    role: 'assistant',
    content: null,
    refusal: null,
  });
  if (!holdsToolCalls(value)) return;
  normalizeItems(value, 'tool_calls', (call) => normalizeToolCall(call, isFinished));
}

function normalizeChoice(value: JsonObject, position: number): void {
  fill(value, { index: position, finish_reason: '', logprobs: null });
  if (!isObject(value['message'])) value['message'] = {};
  const { finish_reason: reason } = value;
  if (isObject(value['message'])) {
    normalizeMessage(value['message'], reason === '' || endsAnswer(reason));
  }
}

/** Whether a reason says that the provider failed. */
export const isErrorReason = (reason: unknown): boolean =>
  typeof reason === 'string' && reason.toLowerCase() === 'error';

/** Whether a reason says that an answer is whole. An error is none, wherever providers put it. */
export function isFinishReason(reason: unknown): boolean {
  return typeof reason === 'string' && reason !== '' && !isErrorReason(reason);
}

const endReasons =
  /^(stop|stop_sequence|end_turn|eos|eos_token|tool_?calls?|tool_?use|function_?calls?|completed?|finished|done)$/i;

/** Whether the model ended the answer itself, rather than a token limit, a filter or a failure. */
export function endsAnswer(reason: unknown): boolean {
  return typeof reason === 'string' && endReasons.test(reason);
}

/** Later pieces say less than the first: what is empty there means nothing. */
function normalizePiece(piece: JsonObject): void {
  normalizeIndex(piece);
  const { type } = piece;
  if (typeof type === 'string' && type !== 'custom' && type !== 'function') delete piece['type'];
  normalizeFunction(piece['function']);
}

function normalizeDelta(value: JsonObject): void {
  normalizeContent(value);
  if (value['role'] === '') delete value['role'];
  dropHollowCall(value);
  normalizeFunction(value['function_call']);
  if (holdsToolCalls(value)) normalizeItems(value, 'tool_calls', normalizePiece);
}

/** An index as text is the same as the number. */
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
  else normalizeDelta((value['delta'] = isObject(whole) ? whole : {}));
}
