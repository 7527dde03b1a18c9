import { errorMessage } from '../answers/objects.ts';
import { bytesOf, isBinary, sniffLength, typeOfBytes } from '../answers/bytes.ts';
import { GatewayError, InvalidInputError } from '../errors/gateway-error.ts';
import { shown } from '../check.ts';

import { onAbort } from '../http/abort.ts';
import { nodeProcess } from '../node-process.ts';
import { baseName, nameOf, typeOfName } from './file-name.ts';
import {
  streamingFileMark,
  type ResponseLike,
  type StreamingFile,
  type StreamingFileInput,
  type UploadData,
  type Uploadable,
} from './types.ts';

/**
 * Does what reads what a caller gave.
 *
 * @throws `InvalidInputError` naming the parameter in place of an error of the platform
 */
export async function reading<Result>(field: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    throw new InvalidInputError(field, unreadable(error), { cause: error });
  }
}

/** What to say of a file that cannot be read. */
export function unreadable(error: unknown): string {
  const reason = errorMessage(error);
  return `cannot be read: ${reason.replace(/\.$/, '')}.`;
}

/** Whether a value is an object with such a property. */
export function has(value: unknown, name: PropertyKey, type = 'function'): value is object {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, name) === type;
}

/** Also of another implementation. */
function isBlob(value: unknown): value is Blob {
  const isDescribed = has(value, 'size', 'number') && has(value, 'type', 'string');
  return isDescribed && has(value, 'arrayBuffer') && has(value, 'slice');
}

function isResponse(value: unknown): value is ResponseLike {
  return has(value, 'url', 'string') && has(value, 'blob');
}

/** Not every browser can iterate one. */
function isWebStream(value: unknown): value is ReadableStream<unknown> {
  return has(value, 'getReader');
}

function isStream(value: unknown): value is StreamingFileInput {
  return isWebStream(value) || has(value, Symbol.asyncIterator);
}

/** Text needs a file name to count as a file. */
export function isUploadData(value: unknown): value is UploadData {
  if (has(value, 'data', 'string')) return has(value, 'filename', 'string');
  const data: unknown = has(value, 'data', 'object') ? Reflect.get(value, 'data') : undefined;
  return isBlob(data) || isBinary(data);
}

/** Also one that another copy of this package made. */
function isStreamingFile(value: unknown): value is StreamingFile {
  return has(value, streamingFileMark, 'boolean');
}

/**
 * Whether a value is a file to upload, and not text or plain JSON.
 *
 * Text never is: it may be a URL, a data URL or base64, which travel as text.
 */
export function isUploadable(value: unknown): value is Uploadable {
  const isWhole = isBlob(value) || isBinary(value) || isResponse(value) || isUploadData(value);
  return isWhole || isStreamingFile(value) || isStream(value);
}

/** The error for what should be a file and is none. */
export function notFile(field: string, value: unknown): InvalidInputError {
  const problem = `must be a file (a File, a Blob, bytes, a Response, a stream, or { data, filename, type }), not ${shown(value)}; open a path with fileFromPath(path) of model-gateway/node.`;
  return new InvalidInputError(field, problem);
}

/** @throws `InvalidInputError` naming the field when the value is no file. */
export function checkFile(field: string, value: unknown): asserts value is Uploadable {
  if (!isUploadable(value)) throw notFile(field, value);
}

async function chunkBytes(chunk: unknown): Promise<Uint8Array<ArrayBuffer>> {
  if (typeof chunk === 'string') return new TextEncoder().encode(chunk);
  if (isBinary(chunk)) return bytesOf(chunk);
  if (isBlob(chunk)) return new Uint8Array(await chunk.arrayBuffer());
  const found = chunk === null ? 'null' : typeof chunk;
  throw new TypeError(`A stream of file content must yield bytes, text or Blobs, not ${found}.`);
}

/** Whether a value is a Node stream, of which no type is known here. */
function isNodeStream(value: unknown): value is {
  on(event: 'error', listener: () => void): unknown;
  destroy(reason?: Error): unknown;
} {
  return has(value, 'on') && has(value, 'destroy');
}

interface RawReader {
  next(): Promise<{ done?: boolean | undefined; value?: unknown }>;
  close(reason: unknown): unknown;
}

function readerOf(stream: StreamingFileInput): RawReader {
  if (isWebStream(stream)) {
    const reader = stream.getReader();
    return { next: () => reader.read(), close: (reason) => reader.cancel(reason) };
  }
  const iterator = stream[Symbol.asyncIterator]();
  const next = () => iterator.next();
  if (!isNodeStream(stream)) return { next, close: () => iterator.return?.() };
  // One that fails while nobody reads it would end the process.
  stream.on('error', () => {});
  return {
    next,
    close: (reason) => stream.destroy(reason instanceof Error ? reason : undefined),
  };
}

/** Gives the next bytes, never empty, or `undefined` at the end. */
export type ReadBytes = () => Promise<Uint8Array<ArrayBuffer> | undefined>;

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
  const stopListening = onAbort(signal, () => void close().catch(() => {}));

  return async () => {
    while (!ended) {
      const { done, value } = await reader.next();
      // A stream that was stopped may not look like one that ended: half a file would be sent.
      signal?.throwIfAborted();
      if (done === true) {
        ended = true;
        stopListening();
      } else {
        const bytes = await chunkBytes(value);
        if (bytes.byteLength > 0) return bytes;
      }
    }
    return undefined;
  };
}

/** A file that is ready to be read, with what its source says of it. */
export interface OpenFile {
  /** All of it, where that can be read any number of times; else what reads it once. */
  readonly content: Blob | ReadBytes;
  readonly name: string | undefined;
  /** The MIME type, or `''`. */
  readonly type: string;
  /** Length in bytes, or `undefined` when it is not known. */
  readonly size: number | undefined;
}

/**
 * Opens a file. Streams are opened before this function returns its promise.
 *
 * @param signal - Stops streams, see {@link openStream}.
 */
export async function openFile(value: Uploadable, signal?: AbortSignal): Promise<OpenFile> {
  if (isStreamingFile(value)) {
    const { data, name, type = '', size } = value;
    return { content: openStream(data, signal), name, type, size };
  }
  if (isBlob(value)) {
    const { type, size } = value;
    // Only blobs of the runtime's own class can be parts of files and forms.
    const isNative: boolean = value instanceof Blob;
    const content = isNative ? value : new Blob([await value.arrayBuffer()]);
    return { content, name: nameOf(value), type, size };
  }
  if (isBinary(value)) return openFile(new Blob([bytesOf(value)]));
  if (isResponse(value)) {
    if (Reflect.get(value, 'ok') === false) {
      const status = String(Reflect.get(value, 'status'));
      throw new TypeError(`it is a response with status ${status}, so its body is not the file`);
    }
    return { ...(await openFile(await value.blob())), name: nameOf(value) };
  }
  if (isUploadData(value)) {
    const { data, filename = '', type } = value;
    const inner = await openFile(typeof data === 'string' ? new Blob([data]) : data);
    return { ...inner, name: baseName(filename) ?? inner.name, type: type ?? inner.type };
  }
  const content = openStream(value, signal);
  return { content, name: nameOf(value), type: '', size: sizeOfFileStream(value) };
}

/**
 * How many bytes an fs `ReadStream` will give, with its `start` and `end`, or `undefined` when that
 * cannot be known: for any other stream, a pipe, a device, or a descriptor that the caller opened.
 */
function sizeOfFileStream(stream: object): number | undefined {
  // The core runs without Node too, so its modules are looked up where they are, never imported.
  const fs = nodeProcess()?.getBuiltinModule?.('node:fs');
  if (fs === undefined || !(stream instanceof fs.ReadStream) || !stream.path) return undefined;
  const stats = fs.statSync(stream.path, { throwIfNoEntry: false });
  // Files such as those of `/proc` say that they are empty, and are not.
  if (!stats?.isFile() || stats.size === 0) return undefined;
  const start = Number(Reflect.get(stream, 'start') ?? 0);
  // `end` is the last byte itself, and may lie behind the end of the file.
  const end = Number(Reflect.get(stream, 'end') ?? Infinity);
  return Math.max(0, Math.min(end + 1, stats.size) - start);
}

/** The first bytes of a file, as many as are needed to recognise it. */
export async function headOf(blob: Blob): Promise<Uint8Array> {
  return new Uint8Array(await blob.slice(0, sniffLength).arrayBuffer());
}

/** All of a file, in memory if it can be read only once. */
export async function blobOf({ content }: Pick<OpenFile, 'content'>): Promise<Blob> {
  if (content instanceof Blob) return content;
  const parts: BlobPart[] = [];
  for (let bytes = await content(); bytes !== undefined; bytes = await content()) parts.push(bytes);
  return new Blob(parts);
}

/** What `new File()` takes. Node's types and those of browsers have different names for it. */
export type FileOptions = NonNullable<ConstructorParameters<typeof File>[2]>;

/** Does what `toFile()` says. */
export async function readFile(
  given: unknown,
  name: string | null | undefined,
  options: FileOptions | undefined,
): Promise<File> {
  checkFile('value', given);
  const own = given instanceof File ? given : undefined;
  // Files of other packages, such as those of a polyfill, have a date too.
  const date: unknown = Reflect.get(Object(given), 'lastModified');
  const { type, lastModified = typeof date === 'number' ? date : Date.now() } = { ...options };
  const isRenamed = (name ?? own?.name) !== own?.name;
  const isUnchanged = (type ?? own?.type) === own?.type && lastModified === own?.lastModified;
  if (own !== undefined && isUnchanged && !isRenamed) return own;
  return reading('value', async () => {
    const file = await openFile(given);
    const blob = await blobOf(file);
    const fileName = name ?? file.name ?? 'unknown_file';
    const found = file.type || (typeOfName(fileName) ?? typeOfBytes(await headOf(blob)) ?? '');
    return new File([blob], fileName, { ...options, type: type ?? found, lastModified });
  });
}
