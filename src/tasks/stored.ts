import { isAmount, isObject } from '../answers/objects.ts';
import { check } from '../options/check.ts';
import type { JsonObject } from '../types.ts';

/** Values that callers store and pass back, with their origin for error messages. */
const origins = {
  ref: 'Pass a handle from task.ref, onSubmitted or an error',
  state: 'Pass the state that the last step() returned',
};

type Stored = keyof typeof origins;

/** Throws `InvalidInputError` unless a stored value, or a field of it, is valid. */
export function checkStored(
  fits: boolean,
  field: Stored | `${Stored}.${string}`,
  problem: string,
): asserts fits {
  const origin = field.startsWith('ref') ? origins.ref : origins.state;
  check(fits, field, `${problem} ${origin}, unchanged.`);
}

export function readStored(name: Stored, value: unknown): JsonObject {
  const isString = typeof value === 'string';
  const problem = isString ? 'is text; parse it with JSON.parse() first.' : 'must be an object.';
  checkStored(isObject(value), name, problem);
  return value;
}

export function checkVersion(name: Stored, { v }: JsonObject): void {
  const finding = `is ${JSON.stringify(v)}, a format that this version does not support.`;
  checkStored(v === 1, `${name}.v`, finding);
}

export function readTime(field: `${Stored}.${string}`, value: unknown): number {
  checkStored(isAmount(value), field, 'must be milliseconds since 1970.');
  return value;
}
