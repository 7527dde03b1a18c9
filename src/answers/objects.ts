import type { JsonObject } from '../types.ts';

/** Returns whether a value is an object and not a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the fields of an object; none for any other value. */
export function toFields(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** Returns the class of a built-in object, also of another realm, such as `ArrayBuffer`. */
export function getTag(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

/** Returns whether a value is a plain object, including those of another realm. */
export function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Returns a copy of an object without some of its fields. */
export const omit = (value: JsonObject, ...names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));

/** Returns whether a value is non-blank text. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

export function isNumber(value: unknown): value is number {
  return Number.isFinite(value);
}

/** Returns whether a value is a finite number of at least 0. */
export function isAmount(value: unknown): value is number {
  return isNumber(value) && value >= 0;
}

/** Reads a number that may have been sent as text. */
export function numberFrom(value: unknown): number | undefined {
  const number = isText(value) ? Number(value) : value;
  return isNumber(number) ? number : undefined;
}

export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(errorMessage(thrown));
}

export function errorMessage(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  try {
    return String(thrown);
  } catch {
    // An object without a prototype, for example, cannot be converted.
    return getTag(thrown);
  }
}

/** Sets required fields that are missing or `null`. Optional fields are unchanged, including `null`. */
export function fill(value: JsonObject, required: JsonObject): void {
  for (const key in required) value[key] ??= required[key];
}

/** Converts text to a number; anything else becomes 0. */
export function toNumber(value: JsonObject, key: string): void {
  const content = value[key];
  if (typeof content === 'number') return;
  value[key] = (typeof content === 'string' && Number(content)) || 0;
}

/** Adds a non-enumerable field, which `JSON.stringify` and loops skip. */
export function defineHidden(value: object, key: string, content: unknown): void {
  // If the gateway sent a field of this name, an omitted attribute would keep its value.
  const attributes = { enumerable: false, configurable: true, writable: true };
  Object.defineProperty(value, key, { value: content, ...attributes });
}

/** Returns the first result of `read` that is not `undefined`. */
export function findFirst<In, Out>(
  values: readonly In[],
  read: (value: In) => Out | undefined,
): Out | undefined {
  for (const value of values) {
    const found = read(value);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the objects of a list, without other items. A single object counts as a list of one. */
export function listObjects(value: unknown): JsonObject[] {
  if (Array.isArray(value)) return value.every(isObject) ? value : value.filter(isObject);
  return isObject(value) ? [value] : [];
}

/** Normalizes the objects of a list in a field, and removes other items. */
export function normalizeItems(
  owner: JsonObject,
  key: string,
  normalize: (item: JsonObject, position: number) => void,
): JsonObject[] {
  const items = listObjects(owner[key]);
  items.forEach(normalize);
  owner[key] = items;
  return items;
}

/**
 * Returns whether a field has content. Gateways send `""`, `null`, `0`, `false`, `[]` and `{}` for empty
 * fields.
 */
export function hasValue(value: unknown, levels = 4): boolean {
  if (value === undefined || value === null || value === false) return false;
  if (value === '' || value === 0) return false;
  if (Array.isArray(value)) return value.length > 0;
  if (!isObject(value) || levels === 0) return true;
  return Object.values(value).some((inner) => hasValue(inner, levels - 1));
}

/** Returns whether a value is the word for a missing one, which gateways write in other languages send as text. */
export const isMissingWord = (value: unknown): boolean =>
  typeof value === 'string' && /^(null|none|undefined)$/i.test(value);

/**
 * Returns the caller's abort reason, or `undefined` for a proxy that would throw when the error is printed.
 */
export function safeReason(reason: unknown): unknown {
  try {
    const isPlain = typeof reason !== 'object' || reason === null;
    if (!isPlain) for (const key of Reflect.ownKeys(reason)) Reflect.get(reason, key);
    return reason;
  } catch {
    return undefined;
  }
}

/**
 * Parses JSON, or JSON lines as a list.
 *
 * @throws `SyntaxError` if the text is neither
 */
export function parseLines(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    return lines.length === 0 ? undefined : lines.map((line): unknown => JSON.parse(line));
  }
}

/** Parses JSON; `undefined` if the text is not JSON. */
export function parseJSON(text: string, parse: (text: string) => unknown = JSON.parse): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

/** A gateway may wrap the task of another gateway, which wraps the body of its vendor. */
const maxLevels = 4;

export function firstObject(value: unknown): JsonObject | undefined {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return isObject(first) ? first : undefined;
}

/** Fields that gateways and vendors nest a body in. */
const wrappers = [
  'data',
  'output',
  'result',
  'task',
  'task_info',
  'response',
  'Response',
  'Resp',
  'video',
];

/** Returns a video body and the bodies nested in it, outermost first. */
export function unwrapLevels(body: JsonObject): readonly JsonObject[] {
  const levels: JsonObject[] = [];
  for (let level = body; levels.push(level) < maxLevels;) {
    const inner = findFirst(wrappers, (name) => firstObject(level[name]));
    if (inner === undefined) break;
    level = inner;
  }
  return levels;
}

/** Returns trimmed non-blank text; anything else counts as missing. */
export function trimmedText(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  return text === '' ? undefined : text;
}

/** Returns a code as text. Gateways send text or numbers. */
export function codeText(value: unknown): string | undefined {
  return typeof value === 'number' ? String(value) : trimmedText(value);
}

/** Returns an id as text. A number too large to be exact could be the id of another task. */
export function readId(value: unknown): string | undefined {
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) && value !== 0 ? String(value) : undefined;
  }
  return trimmedText(value);
}

/** Fields with the id of a task, the most common first. */
const idFields = [
  'id',
  'task_id',
  'video_id',
  'taskId',
  'job_id',
  'jobId',
  'JobId',
  'generation_id',
  'generationId',
  'queue_id',
];

/** Returns the ids in an object; the first is its own. */
export function findIds(level: JsonObject): readonly string[] {
  return idFields.map((name) => readId(level[name])).filter((found) => found !== undefined);
}

/** Returns the task id of a submission. In a nested body, `id` may be the id of a record. */
export function findId(body: JsonObject): string | undefined {
  const [, ...inner] = unwrapLevels(body);
  return (
    findIds(body)[0] ??
    findFirst(
      inner,
      (level) => findFirst(idFields.slice(1), (name) => readId(level[name])) ?? findIds(level)[0],
    )
  );
}

/** Fields that report the outcome of a request. Next to them, `request_id` is only the id of the request. */
const requestFields = [
  'error',
  'errors',
  'code',
  'message',
  'msg',
  'detail',
  'base_resp',
  'data',
  'output',
  'result',
];

/** Returns the request id of a body that names its task by it, as xAI does: one without any other id. */
export function findTaskRequestId(body: JsonObject): string | undefined {
  if (requestFields.some((name) => hasValue(body[name]))) return undefined;
  return trimmedText(body['request_id']) ?? trimmedText(body['requestId']);
}

/** Returns text that was sent instead of an object and can only be an id: a word with a digit in it. */
export function idText(value: unknown): string | undefined {
  const text = trimmedText(value);
  return text !== undefined && /\d/.test(text) && /^[\w.:-]{3,128}$/.test(text) ? text : undefined;
}
