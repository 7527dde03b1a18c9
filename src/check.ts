import { InvalidInputError } from './errors/gateway-error.ts';
import type { RequestOptions } from './options.ts';

/** Timers of every runtime hold 31 bits; longer ones fire at once. */
const longestTimer = 2_147_483_647;

/** How a value that was refused is named: text is quoted, and objects show nothing of themselves. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return `"${value}"`;
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

/** @throws `InvalidInputError` unless it holds */
export function check(holds: boolean, field: string, problem: string): asserts holds {
  if (!holds) throw new InvalidInputError(field, problem);
}

export function checkDuration(field: string, value: unknown): number {
  const isDuration = typeof value === 'number' && value >= 1 && value <= longestTimer;
  check(isDuration, field, `must be 1 to ${longestTimer} milliseconds, not ${shown(value)}.`);
  return value;
}

/** A duration, or `null` for no limit. */
export function checkLimit(field: string, value: unknown): number | null {
  return value === null ? null : checkDuration(field, value);
}

export function checkInteger(
  field: string,
  value: unknown,
  smallest: number,
  largest: number,
): number {
  const isWhole = typeof value === 'number' && Number.isInteger(value);
  const problem = `must be a whole number from ${smallest} to ${largest}, not ${shown(value)}.`;
  check(isWhole && value >= smallest && value <= largest, field, problem);
  return value;
}

export function checkWord<Word extends string>(
  field: string,
  value: unknown,
  words: readonly Word[],
): Word {
  const found = words.find((word) => word === value);
  const problem = `must be one of "${words.join('", "')}", not ${shown(value)}.`;
  check(found !== undefined, field, problem);
  return found;
}

/** Text such as "false" would count as true, and pay twice. */
export function checkBoolean(field: string, value: unknown): boolean {
  check(typeof value === 'boolean', field, `must be true or false, not ${shown(value)}.`);
  return value;
}

export function checkFunction(field: string, value: unknown): void {
  check(value === undefined || typeof value === 'function', field, 'must be a function.');
}

export function checkObject(field: string, value: unknown): void {
  if (value === undefined || value === null) return;
  check(typeof value === 'object' && !Array.isArray(value), field, 'must be an object.');
}

/** Checks the options that only a call has. */
export function checkRequestOptions(options: RequestOptions | undefined): void {
  checkObject('options', options);
  if (options === undefined || options === null) return;
  const { signal, callId = '-' } = options;
  const isSignal = !signal || typeof signal.addEventListener === 'function';
  check(isSignal, 'signal', 'must be an AbortSignal.');
  const isId = typeof callId === 'string' && callId.trim() !== '';
  check(isId, 'callId', 'must be text that is not empty.');
  for (const field of ['headers', 'query', 'extraBody', 'fetchOptions'] as const) {
    checkObject(field, options[field]);
  }
}
