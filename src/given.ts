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

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** What is called of a Node stream. */
interface NodeStream {
  on(event: 'error', heard: () => void): unknown;
  destroy(): unknown;
}

function isNodeStream(value: object): value is NodeStream {
  const methods = ['pipe', 'on', 'destroy'];
  return methods.every((name) => typeof Reflect.get(value, name) === 'function');
}

/** Whether a value is an object of no class, in any realm. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * Whether an object can be copied: what has hidden fields or functions counts on being itself.
 *
 * @param mayAct - Whether it may have functions all the same.
 */
function isData(value: object, mayAct: boolean): boolean {
  const items = Object.values(value);
  return (
    isPlain(value) &&
    Object.getOwnPropertyNames(value).length === items.length &&
    (mayAct || !items.some((item) => typeof item === 'function'))
  );
}

/**
 * What a caller gave, as it is now: before it is read it may be used again, for the next call. Data is
 * copied, with its headers and bytes, and everything else is left as it is.
 *
 * @param streams - Gets the Node streams in it. Each is listened to: one that fails unheard would end
 * the process.
 */
export function asGiven<Given>(given: Given, streams: Pick<NodeStream, 'destroy'>[] = []): Given {
  // Most calls have no options.
  if (typeof given !== 'object') return given;
  const copies = new Map<object, unknown>();
  const copyOf = (value: object, isOuter = false): unknown => {
    if (copies.has(value)) return copies.get(value);
    if (Array.isArray(value)) {
      const list: unknown[] = [...value];
      copies.set(value, list);
      // A million numbers are no reason to wait.
      for (const [at, item] of list.entries()) if (isObject(item)) list[at] = copyOf(item);
      return list;
    }
    if (value instanceof Headers) return new Headers(value);
    if (isBinary(value)) return new Blob([bytesOf(value)]);
    if (isNodeStream(value)) {
      value.on('error', () => {});
      streams.push(value);
    }
    if (!isData(value, isOuter)) return value;
    const copy = { ...value };
    copies.set(value, copy);
    return fill(copy);
  };
  const fill = <Target extends object>(target: Target, isOuter = false): Target => {
    for (const [name, item] of Object.entries(target)) {
      if (isObject(item)) Reflect.set(target, name, copyOf(item, isOuter));
    }
    return target;
  };
  try {
    return fill({ given }, true).given;
  } catch {
    // What cannot be read rejects the call that reads it, like all bad input.
    return given;
  }
}
