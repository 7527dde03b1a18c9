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

/** Whether a field holds something: gateways send `""`, `null`, `0`, `false`, `[]` and `{}` for nothing. */
export function holdsSomething(value: unknown, levels = 4): boolean {
  if (value === undefined || value === null || value === false) return false;
  if (value === '' || value === 0) return false;
  if (Array.isArray(value)) return value.length > 0;
  if (!isObject(value) || levels === 0) return true;
  return Object.values(value).some((inner) => holdsSomething(inner, levels - 1));
}
