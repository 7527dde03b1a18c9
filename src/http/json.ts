import { errorText } from '../check.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';

/** A value that cannot be sent as JSON. */
interface Fault {
  readonly field: string;
  readonly problem: string;
  readonly cause?: unknown;
}

/** What `JSON.stringify` writes for bytes and for objects whose content it cannot see. */
const suspects = /\{\}|\{"0":|\{"type":"Buffer"/;

const tagOf = (value: object): string => Object.prototype.toString.call(value).slice(8, -1);

const append = (field: string, name: string): string =>
  /^[\w$]+$/.test(name) ? `${field && `${field}.`}${name}` : `${field}[${JSON.stringify(name)}]`;

/** Describes a value that JSON would write as something else. */
function problemWith(value: object): string | undefined {
  const tag = tagOf(value);
  if (ArrayBuffer.isView(value) || /^(ArrayBuffer|Blob|File)$/.test(tag)) {
    return 'holds bytes, which JSON cannot; give base64 text, or a list made by Array.from().';
  }
  if (typeof Reflect.get(value, 'then') === 'function') {
    return 'is a promise; put "await" before it.';
  }
  if (/^(Map|Set|FormData|ReadableStream|Response|Request)$/.test(tag)) {
    return `is a ${tag}, which JSON cannot hold; give an object or a list.`;
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
    return { field, problem: 'is a BigInt, which JSON cannot hold; give a number or text.' };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (parents.includes(value)) return { field, problem: 'contains itself.' };
  try {
    const problem = problemWith(value);
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
  // Reading the value again takes time, and its getters may count calls.
  const fault = text === undefined || suspects.test(text) ? findFault(value, field) : undefined;
  if (text !== undefined && fault === undefined) return text;
  const name = fault?.field || field || 'body';
  const problem = fault?.problem ?? 'cannot be written as JSON; it may be a function or a symbol.';
  throw new InvalidInputError(name, problem, { cause: fault?.cause ?? cause });
}
