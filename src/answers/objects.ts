import type { JsonObject } from '../types.ts';

/** Whether `value` is an object and not a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Gives fields that are missing or `null` what the type promises in their place. With `undefined`,
 * `null` becomes missing and what is missing stays so.
 */
export function fill(value: JsonObject, defaults: JsonObject): void {
  for (const key in defaults) {
    const current = value[key];
    if (current === null || (current === undefined && defaults[key] !== undefined)) {
      value[key] = defaults[key];
    }
  }
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
