import { getTag } from '../answers/objects.ts';
import { errorText } from '../options/check.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';

/** A value that cannot be sent as JSON. */
interface Fault {
  readonly field: string;
  readonly problem: string;
  readonly cause?: unknown;
}

/** Output of `JSON.stringify` for bytes and for objects without enumerable content. */
const suspects = /\{\}|\{"0":|\{"type":"Buffer"/;

const append = (field: string, name: string): string =>
  /^[\w$]+$/.test(name) ? `${field && `${field}.`}${name}` : `${field}[${JSON.stringify(name)}]`;

/** Describes the problem with a value that JSON would write as something else. */
function describeProblem(value: object): string | undefined {
  const tag = getTag(value);
  if (ArrayBuffer.isView(value) || /^(ArrayBuffer|Blob|File)$/.test(tag)) {
    return 'contains bytes, which JSON cannot represent; pass base64 text, or a list created by Array.from().';
  }
  if (typeof Reflect.get(value, 'then') === 'function') {
    return 'is a promise; put "await" before it.';
  }
  if (/^(Map|Set|FormData|ReadableStream|Response|Request)$/.test(tag)) {
    return `is a ${tag}, which JSON cannot represent; pass an object or a list.`;
  }
  return undefined;
}

/** Returns the first value that cannot be sent, with its path. */
function findFault(
  value: unknown,
  field: string,
  parents: readonly object[] = [],
): Fault | undefined {
  if (typeof value === 'bigint') {
    return { field, problem: 'is a BigInt, which JSON cannot represent; pass a number or text.' };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (parents.includes(value)) return { field, problem: 'contains itself.' };
  try {
    const problem = describeProblem(value);
    if (problem !== undefined) return { field, problem };
    const write: unknown = Reflect.get(value, 'toJSON');
    if (typeof write === 'function') {
      Reflect.apply(write, value, ['']);
      return undefined;
    }
  } catch (cause) {
    return { field, problem: `cannot be read: ${errorText(cause)}.`, cause };
  }
  const path = [...parents, value];
  for (const name of Object.keys(value)) {
    const inner = Array.isArray(value) ? `${field}[${name}]` : append(field, name);
    let item: unknown;
    try {
      item = Reflect.get(value, name);
    } catch (cause) {
      return { field: inner, problem: `cannot be read: ${errorText(cause)}.`, cause };
    }
    const fault = findFault(item, inner, path);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/**
 * Writes a value as JSON.
 *
 * @param field - The name of the value in errors; `""` when its fields are parameters of the call.
 * @throws `InvalidInputError` naming the field that JSON cannot hold, such as a promise
 */
export function writeJSON(
  field: string,
  value: unknown,
  replacer?: (key: string, value: unknown) => unknown,
): string {
  let text: string | undefined;
  let cause: unknown;
  try {
    text = JSON.stringify(value, replacer);
  } catch (error) {
    cause = error;
  }
  // Only suspicious output is searched, because reading the value again takes time and calls its getters
  // twice.
  const fault = text === undefined || suspects.test(text) ? findFault(value, field) : undefined;
  if (text !== undefined && fault === undefined) return text;
  const name = fault?.field || field || 'body';
  const problem = fault?.problem ?? 'cannot be written as JSON; it may be a function or a symbol.';
  throw new InvalidInputError(name, problem, { cause: fault?.cause ?? cause });
}

/** The beginning of an escaped half of a surrogate pair. */
export const halfBegins = String.raw`\ud`;

/** An escaped character in a JSON text; the group is half of a surrogate pair, since whole pairs are not escaped. */
const escaped = /\\(?:(ud[89a-f][\da-f]{2})|[^])/g;

/**
 * Replaces halves of surrogate pairs in a text that `JSON.stringify` wrote, as `toWellFormed()` does. Text that was cut
 * within an emoji has them, and many providers reject it.
 */
export function toWellFormedJSON(text: string): string {
  if (!text.includes(halfBegins)) return text;
  return text.replaceAll(escaped, (match, half) => (half === undefined ? match : '\uFFFD'));
}

const half = /[\uD800-\uDFFF]/u;

/** Returns whether a text has half of a surrogate pair. */
export const hasHalf = (text: string): boolean => half.test(text);

/** Returns the warning for a field with half of a surrogate pair. */
export const warnOfHalf = (field: string): string =>
  `${field} contains half of a character (text that was cut within an emoji). It was sent as U+FFFD, because providers reject it; cut text with Array.from(text)`;

/** Returns the path of the first text with half of a surrogate pair. */
function findHalf(value: unknown, field: string): string | undefined {
  if (typeof value === 'string') return hasHalf(value) ? field : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, item] of Object.entries(value)) {
    const inner = Array.isArray(value) ? `${field}[${name}]` : append(field, name);
    const found = hasHalf(name) ? inner : findHalf(item, inner);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the JSON text of a value without halves of surrogate pairs, and a warning if it had any. */
export function withoutHalves(
  written: string,
  field: string,
  value: unknown,
): { readonly text: string; readonly warning?: string } {
  const text = toWellFormedJSON(written);
  if (text === written) return { text };
  return { text, warning: warnOfHalf(findHalf(value, field) || 'body') };
}
