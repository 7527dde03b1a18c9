import { InvalidInputError } from '../errors/gateway-error.ts';
import { isObject } from '../answers/objects.ts';
import type { JsonObject } from '../types.ts';

/** What callers store and give back, and where they have it from. */
const origins = {
  ref: 'A handle is what task.ref, onSubmitted or an error gave',
  state: 'A state is what the last step() gave',
};

type Stored = keyof typeof origins;

/** The error for what was stored, or a part of it, and does not fit. */
export function badStored(name: Stored, part: string, problem: string): InvalidInputError {
  const field = part === '' ? name : `${name}.${part}`;
  return new InvalidInputError(field, `${problem} ${origins[name]}; store and pass it whole.`);
}

/** Refuses what is no object. */
export function checkStored(name: Stored, value: unknown): JsonObject {
  if (isObject(value)) return value;
  const isText = typeof value === 'string';
  const problem = isText ? 'is text; parse it with JSON.parse() first.' : 'must be an object.';
  throw badStored(name, '', problem);
}

/** Refuses a format of another version. */
export function checkVersion(name: Stored, version: unknown): void {
  if (version === 1) return;
  const problem = `is ${JSON.stringify(version)}, a format that this version does not know.`;
  throw badStored(name, 'v', problem);
}

/** Refuses what is no point in time. */
export function checkTime(name: Stored, part: string, value: unknown): number {
  if (isAmount(value)) return value;
  throw badStored(name, part, 'must be milliseconds since 1970.');
}

/** Whether a value is a number of at least 0. */
export function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
