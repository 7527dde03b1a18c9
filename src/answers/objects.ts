import type { JsonObject } from '../types.ts';

/** Whether `value` is an object and not a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns whether a value is text that is not blank. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

/** Returns whether a value is a finite number. */
export function isNumber(value: unknown): value is number {
  return Number.isFinite(value);
}

/** Returns a thrown value as an error. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** Returns the message of a thrown value. */
export function errorMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/**
 * Fills required fields that are missing or `null`. Optional fields stay as the gateway sent them, `null`
 * included.
 */
export function fill(value: JsonObject, required: JsonObject): void {
  for (const key in required) value[key] ??= required[key];
}

/** Makes a number of one that came as text; what is no number becomes 0. */
export function toNumber(value: JsonObject, key: string): void {
  const content = value[key];
  if (typeof content === 'number') return;
  value[key] = (typeof content === 'string' && Number(content)) || 0;
}

/** What `read` makes of the first of these values of which it makes anything. */
export function firstOf<In, Out>(
  values: readonly In[],
  read: (value: In) => Out | undefined,
): Out | undefined {
  for (const value of values) {
    const found = read(value);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The objects of a list; what is no object cannot be read. A single object counts as a list of one. */
export function objectsOf(value: unknown): JsonObject[] {
  if (Array.isArray(value)) return value.every(isObject) ? value : value.filter(isObject);
  return isObject(value) ? [value] : [];
}

/** Normalizes the objects of a list that a field holds, and leaves nothing but them in it. */
export function normalizeItems(
  owner: JsonObject,
  key: string,
  normalize: (item: JsonObject, position: number) => void,
): JsonObject[] {
  const items = objectsOf(owner[key]);
  items.forEach(normalize);
  owner[key] = items;
  return items;
}

/** Whether a field holds something: gateways send `""`, `null`, `0`, `false`, `[]` and `{}` for nothing. */
export function holdsSomething(value: unknown, levels = 4): boolean {
  if (value === undefined || value === null || value === false) return false;
  if (value === '' || value === 0) return false;
  if (Array.isArray(value)) return value.length > 0;
  if (!isObject(value) || levels === 0) return true;
  return Object.values(value).some((inner) => holdsSomething(inner, levels - 1));
}

/** The caller's own reason, or `undefined` for a proxy that would throw when the error is printed. */
export function ownCause(reason: unknown): unknown {
  try {
    const isPlain = typeof reason !== 'object' || reason === null;
    if (!isPlain) for (const key of Reflect.ownKeys(reason)) Reflect.get(reason, key);
    return reason;
  } catch {
    return undefined;
  }
}

/**
 * Parses JSON, or a value in each line as a list.
 *
 * @throws `SyntaxError` when the text is neither
 */
export function parseLines(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    return lines.map((line): unknown => JSON.parse(line));
  }
}

/** Parses JSON, or gives `undefined` when the text is not JSON. */
export function parseJSON(text: string, parse: (text: string) => unknown = JSON.parse): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Copies the fields that are not known here, so that what providers add is not lost. The last value
 * wins; lists are joined when `joinLists` is set, as they come in pieces.
 */
export function copyUnknownFields(
  from: object,
  to: object,
  known: ReadonlySet<string>,
  joinLists = false,
): void {
  for (const key in from) {
    if (known.has(key) || key === '__proto__') continue;
    const value: unknown = Reflect.get(from, key);
    if (value === null || value === undefined) continue;
    const before: unknown = Reflect.get(to, key);
    if (!joinLists || !Array.isArray(value)) Reflect.set(to, key, value);
    else if (Array.isArray(before)) before.push(...value);
    else Reflect.set(to, key, [...value]);
  }
}

/** Adds the counts of one usage to a total, also those that only some providers send. */
export function addCounts<Total extends object>(total: Total, usage: object): Total {
  for (const [name, count] of Object.entries<unknown>({ ...usage })) {
    const before: unknown = Object.hasOwn(total, name) ? Reflect.get(total, name) : undefined;
    let sum: unknown;
    if (typeof count === 'number') sum = count + (typeof before === 'number' ? before : 0);
    else if (isObject(count)) sum = addCounts(isObject(before) ? before : {}, count);
    if (sum !== undefined && name !== '__proto__') Reflect.set(total, name, sum);
  }
  return total;
}

/** Pieces that are longer than this are kept in a tree without much waste. */
const shortPiece = 64;

/** A text is made one piece each time it has grown by a third or so, and not for less than 4 KiB. */
const smallestStep = 12;

/** Any expression does: engines make a text one piece before they search in it. */
const nothing = /^$/;

/**
 * Adds a piece to a text that grows.
 *
 * Engines keep a text that was put together as a tree of its pieces, which takes ten times the memory
 * of short ones. Now and then the tree is made one piece; as the text must have grown by a part of
 * itself until then, the work stays in proportion to its length.
 */
export function growText(before: string | null | undefined, piece: string): string {
  if (!before) return piece;
  const text = before + piece;
  if (piece.length < shortPiece) {
    const step = Math.max(smallestStep, 30 - Math.clz32(text.length));
    if (before.length >> step !== text.length >> step) nothing.test(text);
  }
  return text;
}

/** A gateway may wrap the task of another gateway, which wraps the body of its vendor. */
const deepestLevel = 4;

export function objectOf(value: unknown): JsonObject | undefined {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return isObject(first) ? first : undefined;
}

/** Where gateways and vendors put a body inside of another. */
const wrappers = ['data', 'output', 'result', 'task', 'response', 'video'];

/** A video body and the bodies inside of it, outermost first. */
export function levelsOf(body: JsonObject): readonly JsonObject[] {
  const levels: JsonObject[] = [];
  for (let level = body; levels.push(level) < deepestLevel;) {
    const inner = firstOf(wrappers, (name) => objectOf(level[name]));
    if (inner === undefined) break;
    level = inner;
  }
  return levels;
}

/** Text that is not blank, trimmed; anything else counts as missing. */
export function textOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  return text === '' ? undefined : text;
}

/** Returns an id as text. A number that is too large to be exact could be the id of another task. */
export function readId(value: unknown): string | undefined {
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) && value !== 0 ? String(value) : undefined;
  }
  return textOf(value);
}

/** The ids that one object holds; the first is its own. */
export function idsIn(level: JsonObject): readonly string[] {
  const { id, task_id: taskId, video_id: videoId, taskId: camel, job_id: jobId } = level;
  return [id, taskId, videoId, camel, jobId].map(readId).filter((found) => found !== undefined);
}

/** The task id of a submission, wherever it is. Inside of another body, `id` may be that of a record. */
export function findId(body: JsonObject): string | undefined {
  const [, ...inner] = levelsOf(body);
  return (
    idsIn(body)[0] ??
    firstOf(
      inner,
      (level) =>
        firstOf([level['task_id'], level['taskId'], level['job_id']], readId) ?? idsIn(level)[0],
    )
  );
}
