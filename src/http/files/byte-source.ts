import type { StreamingFileInput } from '../../types/uploads.ts';
import { isBinary, isBlob, isWebStream } from './kinds.ts';

/** A stream that is read chunk by chunk, with a beginning that can be looked at first. */
export interface ByteSource {
  /** The next bytes, never empty, or `undefined` at the end. */
  read(): Promise<Uint8Array | undefined>;
  /** Reads until `length` bytes are there or the stream ends. What is read here is read again. */
  peek(length: number): Promise<{ readonly head: Uint8Array; readonly ended: boolean }>;
  /** Stops the stream and frees what it holds. Later reads fail with `reason`. */
  close(reason: unknown): void;
}

interface RawReader {
  next(): Promise<{ done?: boolean | undefined; value?: unknown }>;
  close(reason: unknown): void;
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

function callMethod(target: object, name: string, ...parameters: unknown[]): unknown {
  const method: unknown = Reflect.get(target, name);
  return typeof method === 'function' ? Reflect.apply(method, target, parameters) : undefined;
}

function readerOf(stream: StreamingFileInput): RawReader {
  if (isWebStream(stream)) {
    const reader = stream.getReader();
    return {
      next: () => reader.read(),
      close: (reason) => void reader.cancel(reason).catch(() => {}),
    };
  }
  // A Node stream that fails while nobody reads it would end the process.
  callMethod(stream, 'on', 'error', () => {});
  const iterator = stream[Symbol.asyncIterator]();
  return {
    next: () => iterator.next(),
    close(reason) {
      if (typeof Reflect.get(stream, 'destroy') === 'function') {
        callMethod(stream, 'destroy', reason instanceof Error ? reason : undefined);
      } else {
        void Promise.resolve(iterator.return?.()).catch(() => {});
      }
    },
  };
}

/** Opens a stream for reading. Throws when another reader holds it. */
export function openSource(stream: StreamingFileInput): ByteSource {
  const reader = readerOf(stream);
  const peeked: Uint8Array[] = [];
  let state: 'open' | 'ended' | 'closed' = 'open';
  let closeReason: unknown;

  const nextChunk = async (): Promise<unknown> => {
    if (state === 'ended') return undefined;
    const { done, value } = await reader.next();
    if (done !== true) return value;
    if (state === 'open') state = 'ended';
    return undefined;
  };
  const pull = async (): Promise<Uint8Array | undefined> => {
    for (;;) {
      const chunk = await nextChunk();
      // A stream that was stopped may not look like one that ended: half a file would be sent.
      if (state === 'closed') throw closeReason;
      if (state === 'ended') return undefined;
      const bytes = await chunkBytes(chunk);
      if (bytes.byteLength > 0) return bytes;
    }
  };

  return {
    async read() {
      return peeked.shift() ?? pull();
    },
    async peek(length) {
      let total = 0;
      while (total < length) {
        const bytes = await pull();
        if (bytes === undefined) break;
        peeked.push(bytes);
        total += bytes.byteLength;
      }
      return { head: concat(peeked, total), ended: state === 'ended' };
    },
    close(reason) {
      if (state !== 'open') return;
      state = 'closed';
      closeReason = reason ?? new Error('The stream was stopped.');
      reader.close(closeReason);
    },
  };
}

function concat(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const [only] = chunks;
  if (only !== undefined && chunks.length === 1) return only;
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return whole;
}
