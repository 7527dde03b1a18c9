import { isObject } from '../../answers/objects.ts';
import type { JsonObject } from '../../types.ts';

/** Returns the value if it is an object, otherwise an empty object. */
export function record(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** Returns the value if it is an array, otherwise an empty array. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the value if it is a string. */
export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Returns the value if it is a finite number. */
export function number(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** Returns the name that a Go decoder uses for the JSON type of a value. */
export function jsonType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** Removes fields that are `undefined`. */
export function present(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
