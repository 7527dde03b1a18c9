import { isObject } from '../../answers/objects.ts';
import type { JsonObject } from '../../types.ts';

/** The value when it is an object with fields, otherwise an empty one. */
export function record(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The value when it is a list, otherwise an empty one. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value when it is text, otherwise nothing. */
export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The value when it is a finite number, otherwise nothing. */
export function number(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** The word that a Go decoder uses for the JSON type of a value. */
export function jsonType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** The fields of an object without those that are `undefined`. */
export function present(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
