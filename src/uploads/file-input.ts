import { InvalidInputError } from '../errors/gateway-error.ts';
import { check, shown } from '../check.ts';
import {
  streamingFileMark,
  type ResponseLike,
  type StreamingFile,
  type StreamingFileInput,
  type UploadData,
  type Uploadable,
} from './types.ts';

/** Whether a value is an object with such a property. */
function has(value: unknown, name: PropertyKey, type = 'function'): value is object {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, name) === type;
}

/** Whether a value is a `Blob`, of this or of another implementation. */
export function isBlob(value: unknown): value is Blob {
  const isDescribed = has(value, 'size', 'number') && has(value, 'type', 'string');
  return isDescribed && has(value, 'arrayBuffer') && has(value, 'slice');
}

/** Whether a value is bytes in memory, also of another realm, such as a test runner's. */
export function isBinary(value: unknown): value is ArrayBuffer | ArrayBufferView {
  return (
    ArrayBuffer.isView(value) || Object.prototype.toString.call(value) === '[object ArrayBuffer]'
  );
}

/** Whether a value is a `Response`, or shaped like one. */
export function isResponse(value: unknown): value is ResponseLike {
  return has(value, 'url', 'string') && has(value, 'blob');
}

/** Whether a value is a web `ReadableStream`. Not every browser can iterate one. */
function isWebStream(value: unknown): value is ReadableStream<unknown> {
  return has(value, 'getReader');
}

/** Whether a value is read piece by piece. */
export function isStream(value: unknown): value is StreamingFileInput {
  return isWebStream(value) || has(value, Symbol.asyncIterator);
}

/** Whether a value is `{ data, filename, type }`. Text needs a file name to count as a file. */
function isUploadData(value: unknown): value is UploadData {
  if (has(value, 'data', 'string')) return has(value, 'filename', 'string');
  const data: unknown = has(value, 'data', 'object') ? Reflect.get(value, 'data') : undefined;
  return isBlob(data) || isBinary(data);
}

/** Whether a value was made by `toStreamingFile`, also by another copy of this package. */
export function isStreamingFile(value: unknown): value is StreamingFile {
  return has(value, streamingFileMark, 'boolean');
}

/** Whether a value is a file that can be read as a whole, without reading a stream. */
export function isReadable(
  value: unknown,
): value is Blob | ArrayBuffer | ArrayBufferView | UploadData | ResponseLike {
  return isBlob(value) || isBinary(value) || isResponse(value) || isUploadData(value);
}

/**
 * Whether a value is a file to upload, and not text or plain JSON.
 *
 * Text never is: it may be a URL, a data URL or base64, which travel as text.
 */
export function isUploadable(value: unknown): value is Uploadable {
  return isStreamingFile(value) || isReadable(value) || isStream(value);
}

/** The error for what should be a file and is none. */
export function notFile(field: string, value: unknown): InvalidInputError {
  const kinds = 'a File, a Blob, bytes, a Response, a stream, or { data, filename, type }';
  const problem = `must be a file (${kinds}), not ${shown(value)}; wrap anything else with toFile().`;
  return new InvalidInputError(field, problem);
}

/**
 * Refuses what is no file, with what to do instead.
 *
 * @param advice - What to give.
 */
export function checkFile(field: string, value: unknown, advice: string): void {
  if (isUploadable(value)) return;
  check(value !== undefined && value !== null, field, `is missing; give ${advice}.`);
  check(typeof value !== 'string', field, openIt);
  throw notFile(field, value);
}

/** What to do with the path of a file. */
export const openIt =
  'is text; open the file, for example with fileFromPath(path) of model-gateway/node.';

/** Bytes over the same memory. */
export function bytesOf(data: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}

async function chunkBytes(chunk: unknown): Promise<Uint8Array> {
  if (typeof chunk === 'string') return new TextEncoder().encode(chunk);
  if (isBinary(chunk)) return bytesOf(chunk);
  if (isBlob(chunk)) return new Uint8Array(await chunk.arrayBuffer());
  const found = chunk === null ? 'null' : typeof chunk;
  throw new TypeError(`A stream of file content must yield bytes, text or Blobs, not ${found}.`);
}

interface RawReader {
  next(): Promise<{ done?: boolean | undefined; value?: unknown }>;
  close(reason: unknown): unknown;
}

/** Calls a method that only Node streams have. */
function callIfThere(stream: object, name: string, ...parameters: unknown[]): boolean {
  const method: unknown = Reflect.get(stream, name);
  if (typeof method !== 'function') return false;
  Reflect.apply(method, stream, parameters);
  return true;
}

function readerOf(stream: StreamingFileInput): RawReader {
  if (isWebStream(stream)) {
    const reader = stream.getReader();
    return { next: () => reader.read(), close: (reason) => reader.cancel(reason) };
  }
  // A Node stream that fails while nobody reads it would end the process.
  callIfThere(stream, 'on', 'error', () => {});
  const iterator = stream[Symbol.asyncIterator]();
  return {
    next: () => iterator.next(),
    close: (reason) =>
      callIfThere(stream, 'destroy', reason instanceof Error ? reason : undefined) ||
      iterator.return?.(),
  };
}

/** Gives the next bytes, never empty, or `undefined` at the end. */
export type ReadBytes = () => Promise<Uint8Array | undefined>;

/**
 * Opens a stream, and listens to it from now on: a Node stream that fails unheard ends the process.
 *
 * @param signal - Stops the stream, and frees what it holds; reads fail with its reason then.
 * @throws When another reader holds the stream.
 */
export function openStream(stream: StreamingFileInput, signal?: AbortSignal): ReadBytes {
  const reader = readerOf(stream);
  let ended = false;
  const close = async (): Promise<void> => {
    if (!ended) await reader.close(signal?.reason);
  };
  const onAbort = (): void => void close().catch(() => {});
  if (signal?.aborted === true) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });

  return async () => {
    while (!ended) {
      const { done, value } = await reader.next();
      // A stream that was stopped may not look like one that ended: half a file would be sent.
      signal?.throwIfAborted();
      if (done === true) ended = true;
      else {
        const bytes = await chunkBytes(value);
        if (bytes.byteLength > 0) return bytes;
      }
    }
    return undefined;
  };
}

/** The part of a `Blob` that holds these bytes. Blobs do not take shared memory, so that is copied. */
export function blobPart(data: ArrayBuffer | ArrayBufferView): Uint8Array<ArrayBuffer> {
  const bytes = bytesOf(data);
  return bytes.buffer instanceof ArrayBuffer
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : new Uint8Array(bytes);
}

/** Reads to the end. */
export async function readBlob(read: ReadBytes): Promise<Blob> {
  const parts: BlobPart[] = [];
  for (let bytes = await read(); bytes !== undefined; bytes = await read()) {
    parts.push(blobPart(bytes));
  }
  return new Blob(parts);
}
