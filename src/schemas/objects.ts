import type { JsonObject } from '../types/common.ts';

/** Whether `value` is an object and not a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Makes `null` missing, where the type promises one way to say nothing. */
export function dropNull(value: JsonObject, key: string): void {
  if (value[key] === null) value[key] = undefined;
}

/** The objects of a list; what is no object cannot be read. A single object counts as a list of one. */
export function objectsOf(value: unknown): JsonObject[] {
  if (Array.isArray(value)) return value.every(isObject) ? value : value.filter(isObject);
  return isObject(value) ? [value] : [];
}
