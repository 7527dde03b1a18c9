import { InvalidInputError } from '../errors/gateway-error.ts';
import type { RequestOptions } from '../options.ts';

/** Timers of every runtime hold 31 bits; longer ones fire at once. */
const longestTimer = 2_147_483_647;

/** How a value that was refused is named: text is quoted, and objects show nothing of themselves. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return `"${value}"`;
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

export function checkDuration(field: string, value: number): number {
  if (typeof value === 'number' && value >= 1 && value <= longestTimer) return value;
  throw new InvalidInputError(
    field,
    `must be 1 to ${longestTimer} milliseconds, not ${shown(value)}.`,
  );
}

/** A duration, or `null` for no limit. */
export function optionalDuration(
  field: string,
  value: number | null | undefined,
  fallback: number | null,
): number | null {
  if (value === undefined) return fallback;
  return value === null ? null : checkDuration(field, value);
}

export function checkInteger(
  field: string,
  value: number,
  smallest: number,
  largest: number,
): number {
  if (Number.isInteger(value) && value >= smallest && value <= largest) return value;
  throw new InvalidInputError(
    field,
    `must be a whole number from ${smallest} to ${largest}, not ${shown(value)}.`,
  );
}

export function checkWord<Word extends string>(
  field: string,
  value: Word,
  words: readonly Word[],
): Word {
  if (words.includes(value)) return value;
  throw new InvalidInputError(
    field,
    `must be one of "${words.join('", "')}", not ${shown(value)}.`,
  );
}

/** Text such as "false" would count as true, and pay twice. */
export function checkBoolean(field: string, value: boolean): boolean {
  if (typeof value === 'boolean') return value;
  throw new InvalidInputError(field, `must be true or false, not ${shown(value)}.`);
}

export function checkFunction(field: string, value: unknown): void {
  if (value === undefined || typeof value === 'function') return;
  throw new InvalidInputError(field, 'must be a function.');
}

export function checkObject(field: string, value: unknown): void {
  if (value === undefined || value === null) return;
  if (typeof value === 'object' && !Array.isArray(value)) return;
  throw new InvalidInputError(field, 'must be an object.');
}

/** Checks the options that only a call has. */
export function checkRequestOptions(options: RequestOptions | undefined): void {
  checkObject('options', options);
  if (options === undefined || options === null) return;
  const { signal, headers, query, extraBody, fetchOptions, callId = '-' } = options;
  if (signal !== undefined && signal !== null && typeof signal.addEventListener !== 'function') {
    throw new InvalidInputError('signal', 'must be an AbortSignal.');
  }
  if (typeof callId !== 'string' || callId.trim() === '') {
    throw new InvalidInputError('callId', 'must be text that is not empty.');
  }
  checkObject('headers', headers);
  checkObject('query', query);
  checkObject('extraBody', extraBody);
  checkObject('fetchOptions', fetchOptions);
}
