import type { StreamingFileInput } from './types.ts';
import { isBinary, isBlob, isWebStream } from './file-input.ts';

/** A stream that is read chunk by chunk, with a beginning that can be looked at first. */
export interface ByteSource {
  /** The next bytes, never empty, or `undefined` at the end. */
  read(): Promise<Uint8Array | undefined>;
  /** Reads until `length` bytes are there or the stream ends. What is read here is read again. */
  peek(length: number): Promise<{ readonly head: Uint8Array; readonly ended: boolean }>;
  /** Stops the stream and frees what it holds. Later reads fail with `reason`, which is never `undefined`. */
  close(reason: unknown): void;
}

interface RawReader {
  next(): Promise<{ done?: boolean | undefined; value?: unknown }>;
  close(reason: unknown): unknown;
}

const encoder = new TextEncoder();

/** Bytes over the same memory. */
export function bytesOf(data: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}

async function chunkBytes(chunk: unknown): Promise<Uint8Array> {
  if (typeof chunk === 'string') return encoder.encode(chunk);
  if (isBinary(chunk)) return bytesOf(chunk);
  if (isBlob(chunk)) return new Uint8Array(await chunk.arrayBuffer());
  const found = chunk === null ? 'null' : typeof chunk;
  throw new TypeError(`A stream of file content must yield bytes, text or Blobs, not ${found}.`);
}

function readerOf(stream: StreamingFileInput): RawReader {
  if (isWebStream(stream)) {
    const reader = stream.getReader();
    return { next: () => reader.read(), close: (reason) => reader.cancel(reason) };
  }
  const callMethod = (name: string, ...parameters: unknown[]): boolean => {
    const method: unknown = Reflect.get(stream, name);
    if (typeof method !== 'function') return false;
    Reflect.apply(method, stream, parameters);
    return true;
  };
  // A Node stream that fails while nobody reads it would end the process.
  callMethod('on', 'error', () => {});
  const iterator = stream[Symbol.asyncIterator]();
  return {
    next: () => iterator.next(),
    close: (reason) =>
      callMethod('destroy', reason instanceof Error ? reason : undefined) || iterator.return?.(),
  };
}

/** Opens a stream for reading. Throws when another reader holds it. */
export function openSource(stream: StreamingFileInput): ByteSource {
  const reader = readerOf(stream);
  const peeked: Uint8Array[] = [];
  let ended = false;
  let closeReason: unknown;

  const pull = async (): Promise<Uint8Array | undefined> => {
    while (!ended) {
      const { done, value } = await reader.next();
      // A stream that was stopped may not look like one that ended: half a file would be sent.
      if (closeReason !== undefined) throw closeReason;
      if (done === true) ended = true;
      else {
        const bytes = await chunkBytes(value);
        if (bytes.byteLength > 0) return bytes;
      }
    }
    return undefined;
  };

  return {
    read: async () => peeked.shift() ?? pull(),
    async peek(length) {
      const head: number[] = [];
      while (head.length < length) {
        const bytes = await pull();
        if (bytes === undefined) break;
        peeked.push(bytes);
        head.push(...bytes.subarray(0, length));
      }
      return { head: Uint8Array.from(head), ended };
    },
    close(reason) {
      if (ended || closeReason !== undefined) return;
      closeReason = reason;
      Promise.resolve(reader.close(closeReason)).catch(() => {});
    },
  };
}

/**
 * How many bytes an opened fs `ReadStream` will give, with its `start` and `end`, or `undefined` when
 * that cannot be known: for any other stream, a pipe, a device, or a descriptor that the caller opened.
 */
export function sizeOfFileStream(stream: object): number | undefined {
  const get = (name: string): unknown => Reflect.get(stream, name);
  const descriptor = get('fd');
  // The core runs without Node too, so its modules are looked up where they are, never imported.
  const fs = globalThis.process?.getBuiltinModule?.('node:fs');
  if (
    fs === undefined ||
    typeof descriptor !== 'number' ||
    !get('path') ||
    get('destroyed') !== false
  ) {
    return undefined;
  }
  try {
    const stats = fs.fstatSync(descriptor);
    // Files such as those of `/proc` say that they are empty, and are not.
    if (!stats.isFile() || stats.size === 0) return undefined;
    const start = Number(get('start') ?? 0);
    // `end` is the last byte itself, and may lie behind the end of the file.
    return Math.max(0, Math.min(Number(get('end') ?? Infinity) + 1, stats.size) - start);
  } catch {
    return undefined;
  }
}
