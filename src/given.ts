import { isObject } from './answers/objects.ts';

/** Whether a value is bytes in memory, also of another realm, such as a test runner's. */
export function isBinary(value: unknown): value is ArrayBuffer | ArrayBufferView {
  return (
    ArrayBuffer.isView(value) || Object.prototype.toString.call(value) === '[object ArrayBuffer]'
  );
}

/** The same memory as bytes, or a copy of it where it is shared, which neither blobs nor requests take. */
export function bytesOf(data: ArrayBuffer | ArrayBufferView): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = ArrayBuffer.isView(data) ? data : new Uint8Array(data);
  return buffer instanceof ArrayBuffer
    ? new Uint8Array(buffer, byteOffset, byteLength)
    : new Uint8Array(buffer, byteOffset, byteLength).slice();
}

/** A file as it is now: a copy of bytes. A Node stream that fails unheard would end the process. */
export function fileAsGiven(value: unknown): unknown {
  if (isBinary(value)) {
    try {
      return new Blob([bytesOf(value)]);
    } catch {
      // Bytes that were handed on to a worker are gone: whoever reads them says so.
      return value;
    }
  }
  const on: unknown = isObject(value) ? value['on'] : undefined;
  if (typeof on === 'function') Reflect.apply(on, value, ['error', () => {}]);
  return value;
}

/** Whether a value is an object of no class, in any realm. */
function isPlain(value: unknown): value is object {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

type Copy = (value: unknown) => unknown;

const same: Copy = (value) => value;

/**
 * What a caller gave, as it is now: the part that reads it may take a while to come, and objects are used
 * again for the next call meanwhile.
 *
 * @param other - Copies what is neither a list nor plain data.
 */
export function asGiven<Given>(given: Given, other: Copy = same): Given {
  // Most calls have no options.
  if (typeof given !== 'object') return given;
  const copies = new Map<unknown, unknown>();
  const fill = <Target extends object>(value: unknown, target: Target): Target => {
    copies.set(value, target);
    for (const [name, item] of Object.entries(target)) {
      if (typeof item === 'object') Reflect.set(target, name, copyOf(item));
    }
    return target;
  };
  const listOf = (value: readonly unknown[]): unknown[] => {
    const list = [...value];
    copies.set(value, list);
    // A million numbers are no reason to wait.
    for (const [at, item] of list.entries()) if (typeof item === 'object') list[at] = copyOf(item);
    return list;
  };
  const copyOf: Copy = (value) => {
    if (copies.has(value)) return copies.get(value);
    if (Array.isArray(value)) return listOf(value);
    if (!isPlain(value)) return other(value);
    const copy = { ...value };
    const items = Object.values(copy);
    // What has functions or hidden fields counts on being itself.
    const isData =
      Object.getOwnPropertyNames(value).length === items.length &&
      !items.some((item) => typeof item === 'function');
    return isData ? fill(value, copy) : other(value);
  };
  try {
    return isPlain(given) ? fill(given, { ...given }) : given;
  } catch {
    // What cannot be read rejects the call that reads it, like all bad input.
    return given;
  }
}

/** The options of a call as they are now. */
export function optionsAsGiven<Options>(options: Options): Options {
  return asGiven(options, (value) => (value instanceof Headers ? new Headers(value) : value));
}
