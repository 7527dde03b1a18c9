import { errorMessage, isObject } from '../answers/objects.ts';
import { GatewayError, InvalidInputError } from '../errors/gateway-error.ts';

/** The longest delay that all runtimes support (31 bits). Longer timers fire immediately. */
const longestTimer = 2_147_483_647;

/**
 * Describes an invalid value for error messages. Objects and long text are not shown, because they may be
 * private.
 */
export function shown(value: unknown): string {
  if (typeof value === 'string') return value.length > 20 ? 'a long text' : `"${value}"`;
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Promise) return 'a promise, which needs "await" before it';
  if (typeof value === 'function') return 'a function';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

/** @throws `InvalidInputError` unless `holds` is true */
export function check(holds: boolean, field: string, problem: string): asserts holds {
  if (!holds) throw new InvalidInputError(field, problem);
}

function checkIs(holds: boolean, field: string, wanted: string, value: unknown): asserts holds {
  check(holds, field, `must be ${wanted}, not ${shown(value)}.`);
}

export function checkNumber(
  field: string,
  value: unknown,
  smallest = -Infinity,
  largest = Infinity,
  noun = 'a number',
  isOfKind: (value: number) => boolean = Number.isFinite,
): number {
  const range = largest === Infinity ? `of at least ${smallest}` : `from ${smallest} to ${largest}`;
  const wanted = smallest === -Infinity ? 'a finite number' : `${noun} ${range}`;
  const isNumber = typeof value === 'number' && isOfKind(value);
  checkIs(isNumber && value >= smallest && value <= largest, field, wanted, value);
  return value;
}

export function checkInteger(
  field: string,
  value: unknown,
  smallest: number,
  largest = Infinity,
): number {
  return checkNumber(field, value, smallest, largest, 'a whole number', Number.isInteger);
}

export function checkDuration(
  field: string,
  value: unknown,
  smallest = 1,
  largest = longestTimer,
): number {
  return checkNumber(field, value, smallest, largest, 'a number of milliseconds');
}

/** Accepts a duration, or `null` for no limit. */
export function checkLimit(field: string, value: unknown): number | null {
  return value === null ? null : checkDuration(field, value);
}

export function checkWord<Word extends string>(
  field: string,
  value: unknown,
  words: readonly Word[],
): Word {
  const found = words.find((word) => word === value);
  checkIs(found !== undefined, field, `one of "${words.join('", "')}"`, value);
  return found;
}

/** Rejects text such as "false", because it would count as true. */
export function checkBoolean(field: string, value: unknown): boolean {
  checkIs(typeof value === 'boolean', field, 'true or false', value);
  return value;
}

export function checkFunction(field: string, value: unknown): void {
  checkIs(value === undefined || typeof value === 'function', field, 'a function', value);
}

export function checkObject(field: string, value: unknown): void {
  if (value === undefined || value === null) return;
  checkIs(isObject(value), field, 'an object', value);
}

export function checkSignal(signal: unknown): void {
  const isSignal = !signal || typeof Reflect.get(Object(signal), 'addEventListener') === 'function';
  checkIs(isSignal, 'signal', 'an AbortSignal', signal);
}

/**
 * Rejects text that is missing or blank.
 *
 * @param advice - A description of the expected value.
 */
export function checkText(field: string, value: unknown, advice: string): string {
  const isText = typeof value === 'string';
  const problem =
    isText || value === undefined || value === null
      ? 'is empty'
      : `must be text, not ${shown(value)}`;
  check(isText && value.trim() !== '', field, `${problem}; give ${advice}.`);
  return value;
}

export function checkModel(model: unknown): string {
  return checkText('model', model, 'a model id as models.list() returns it');
}

/** @param advice - A description of the expected items. */
export function checkList(field: string, value: unknown, advice: string): void {
  const isFilled = Array.isArray(value) && value.length > 0;
  check(isFilled, field, `must be a list with at least one entry; pass ${advice}.`);
}

/** Returns the message of a thrown value, without its final full stop. */
export function errorText(thrown: unknown): string {
  return errorMessage(thrown).replace(/\.$/, '');
}

/** Creates the error for input that could not be read. */
export const unreadable = (field: string, cause: unknown): InvalidInputError =>
  new InvalidInputError(field, `cannot be read: ${errorText(cause)}.`, { cause });

/**
 * Reads every field once.
 *
 * @param outer - The path of the object, with a dot at its end.
 * @throws `InvalidInputError` naming the field whose getter throws
 */
export function checkReadable(value: object, outer = ''): void {
  for (const name of Object.keys(value)) {
    try {
      Reflect.get(value, name);
    } catch (cause) {
      throw unreadable(outer + name, cause);
    }
  }
}

/**
 * Returns the error for input that could not be read.
 *
 * @param cause - The thrown value. Errors of this package are returned as they are.
 * @param input - The input, to name the field in it.
 * @param outer - The path of the input, with a dot at its end.
 */
export function toInputError(cause: unknown, input?: unknown, outer = ''): unknown {
  if (GatewayError.isInstance(cause)) return cause;
  try {
    if (typeof input === 'object' && input !== null) checkReadable(input, outer);
  } catch (named) {
    return named;
  }
  return unreadable('params', cause);
}
