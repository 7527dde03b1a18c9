import { toBytes, isBinary, sniffLength, detectType } from '../answers/bytes.ts';
import { GatewayError, InvalidInputError } from '../errors/gateway-error.ts';
import { shown, unreadable } from '../options/check.ts';
import { onAbort } from '../http/abort.ts';
import { nodeProcess } from '../http/node/node-process.ts';
import { baseName, findFileName, typeForName } from './file-name.ts';
import {
  streamingFileMark,
  type ResponseLike,
  type StreamingFile,
  type StreamingFileInput,
  type UploadData,
  type Uploadable,
} from './types.ts';

/**
 * Runs `work`, which reads the caller's input.
 *
 * @throws `InvalidInputError` naming the parameter, instead of an error of the platform
 */
export async function reading<Result>(field: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    throw unreadable(field, error);
  }
}

export function has(value: unknown, name: PropertyKey, type = 'function'): value is object {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, name) === type;
}

/** Accepts other implementations of `Blob`. */
function isBlob(value: unknown): value is Blob {
  const isDescribed = has(value, 'size', 'number') && has(value, 'type', 'string');
  return isDescribed && has(value, 'arrayBuffer') && has(value, 'slice');
}

export function isResponse(value: unknown): value is ResponseLike {
  return has(value, 'url', 'string') && has(value, 'blob');
}

/** Checks `getReader`, because some browsers can't iterate web streams. */
function isWebStream(value: unknown): value is ReadableStream<unknown> {
  return has(value, 'getReader');
}

function isStream(value: unknown): value is StreamingFileInput {
  return isWebStream(value) || has(value, Symbol.asyncIterator);
}

/** Text is only a file if it has a file name. */
export function isUploadData(value: unknown): value is UploadData {
  if (has(value, 'data', 'string')) return has(value, 'filename', 'string');
  const data: unknown = has(value, 'data', 'object') ? Reflect.get(value, 'data') : undefined;
  return isBlob(data) || isBinary(data);
}

/** Accepts files created by another copy of this package, and by `openai`, whose mark is private. */
function isStreamingFile(value: unknown): value is StreamingFile {
  if (has(value, streamingFileMark, 'boolean')) return true;
  return has(value, 'name', 'string') && isStream(Reflect.get(Object(value), 'data'));
}

/**
 * Returns whether a value is a file to upload.
 *
 * Text never is: it may be a URL, a data URL or base64, which are sent as text.
 */
export function isUploadable(value: unknown): value is Uploadable {
  const isWhole = isBlob(value) || isBinary(value) || isResponse(value) || isUploadData(value);
  return isWhole || isStreamingFile(value) || isStream(value);
}

export function notFile(field: string, value: unknown): InvalidInputError {
  if (has(value, 'data', 'object')) {
    const data: unknown = Reflect.get(value, 'data');
    const [found, advice] = isStream(data)
      ? ['a stream', 'pass the stream itself, or toStreamingFile(data, filename) to name it.']
      : [shown(data), 'open a path with fileFromPath(path) of model-gateway/node.'];
    return new InvalidInputError(
      field,
      `must have a Blob, bytes or text in data, not ${found}; ${advice}`,
    );
  }
  const problem = `must be a file (a File, a Blob, bytes, a Response, a stream, or { data, filename, type }), not ${shown(value)}; open a path with fileFromPath(path) of model-gateway/node.`;
  return new InvalidInputError(field, problem);
}

/** Rejects `{ data }` with something that is not a file's content, which would be sent as a reference. */
export function checkData(field: string, value: unknown): void {
  if (has(value, 'data', 'object')) throw notFile(field, value);
}

/** @throws `InvalidInputError` naming the field if the value is not a file */
export function checkFile(field: string, value: unknown): asserts value is Uploadable {
  if (!isUploadable(value)) throw notFile(field, value);
}

async function chunkBytes(chunk: unknown): Promise<Uint8Array<ArrayBuffer>> {
  if (typeof chunk === 'string') return new TextEncoder().encode(chunk);
  if (isBinary(chunk)) return toBytes(chunk);
  if (isBlob(chunk)) return new Uint8Array(await chunk.arrayBuffer());
  const found = chunk === null ? 'null' : typeof chunk;
  throw new TypeError(`A stream of file content must yield bytes, text or Blobs, not ${found}.`);
}

/** Returns whether a value is a Node stream. Their types aren't available here. */
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

function createReader(stream: StreamingFileInput): RawReader {
  if (isWebStream(stream)) {
    const reader = stream.getReader();
    return { next: () => reader.read(), close: (reason) => reader.cancel(reason) };
  }
  const iterator = stream[Symbol.asyncIterator]();
  const next = () => iterator.next();
  if (!isNodeStream(stream)) return { next, close: () => iterator.return?.() };
  // An error without a listener would end the process.
  stream.on('error', () => {});
  return {
    next,
    close: (reason) => stream.destroy(reason instanceof Error ? reason : undefined),
  };
}

/** Returns the next bytes, never empty, or `undefined` at the end. */
export type ReadBytes = () => Promise<Uint8Array<ArrayBuffer> | undefined>;

/**
 * Opens a stream and listens to its errors immediately, because an error without a listener ends a Node
 * process.
 *
 * @param signal - Stops and releases the stream; reads then fail with its reason.
 * @throws if another reader has locked the stream
 */
export function openStream(stream: StreamingFileInput, signal?: AbortSignal): ReadBytes {
  const reader = createReader(stream);
  let ended = false;
  const close = async (): Promise<void> => {
    if (!ended) await reader.close(signal?.reason);
  };
  const stopListening = onAbort(signal, () => void close().catch(() => {}));

  return async () => {
    while (!ended) {
      const { done, value } = await reader.next();
      // A stopped stream must not look like its end, or half a file would be sent.
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

/** A file that is ready to be read, with the metadata of its source. */
export interface OpenFile {
  /** A `Blob` if it can be read any number of times, else a function that reads it once. */
  readonly content: Blob | ReadBytes;
  readonly name: string | undefined;
  /** The MIME type, or `''`. */
  readonly type: string;
  /** Length in bytes; `undefined` if unknown. */
  readonly size: number | undefined;
}

/**
 * Opens a file. Streams are opened synchronously.
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
    // Only blobs of the runtime's class can be part of files and forms.
    const isNative: boolean = value instanceof Blob;
    const content = isNative ? value : new Blob([await value.arrayBuffer()]);
    return { content, name: findFileName(value), type, size };
  }
  if (isBinary(value)) return openFile(new Blob([toBytes(value)]));
  if (isResponse(value)) {
    if (Reflect.get(value, 'ok') === false) {
      const status = String(Reflect.get(value, 'status'));
      throw new TypeError(`it is a response with status ${status}, so its body is not the file`);
    }
    return { ...(await openFile(await value.blob())), name: findFileName(value) };
  }
  if (isUploadData(value)) {
    const { data, filename = '', type } = value;
    const inner = await openFile(typeof data === 'string' ? new Blob([data]) : data);
    return { ...inner, name: baseName(filename) ?? inner.name, type: type ?? inner.type };
  }
  const content = openStream(value, signal);
  return { content, name: findFileName(value), type: '', size: findFileStreamSize(value) };
}

/**
 * Returns the number of bytes in an fs `ReadStream` between its `start` and `end`. `undefined` if it is
 * unknown: for any other stream, a pipe, a device, or a descriptor that the caller opened.
 */
function findFileStreamSize(stream: object): number | undefined {
  // The core also runs without Node, so its modules are looked up at runtime, never imported.
  const fs = nodeProcess()?.getBuiltinModule?.('node:fs');
  if (fs === undefined || !(stream instanceof fs.ReadStream) || !stream.path) return undefined;
  const stats = fs.statSync(stream.path, { throwIfNoEntry: false });
  // Files in `/proc` report a size of 0, but aren't empty.
  if (!stats?.isFile() || stats.size === 0) return undefined;
  const start = Number(Reflect.get(stream, 'start') ?? 0);
  // `end` is inclusive, and may be beyond the end of the file.
  const end = Number(Reflect.get(stream, 'end') ?? Infinity);
  return Math.max(0, Math.min(end + 1, stats.size) - start);
}

/** Reads the first bytes of a file, enough to detect its format. */
export async function readHead(blob: Blob): Promise<Uint8Array> {
  return new Uint8Array(await blob.slice(0, sniffLength).arrayBuffer());
}

/** Returns a whole file, in memory if it can be read only once. */
export async function toBlob({ content }: Pick<OpenFile, 'content'>): Promise<Blob> {
  if (content instanceof Blob) return content;
  const parts: BlobPart[] = [];
  for (let bytes = await content(); bytes !== undefined; bytes = await content()) parts.push(bytes);
  return new Blob(parts);
}

/** The options of `new File()`, whose type has different names in Node and browsers. */
export type FileOptions = NonNullable<ConstructorParameters<typeof File>[2]>;

/** Implements `toFile()`. */
export async function readFile(
  value: unknown,
  name: string | null | undefined,
  options: FileOptions | undefined,
): Promise<File> {
  checkFile('value', value);
  const original = value instanceof File ? value : undefined;
  // Files of other packages, such as polyfills, have a date too.
  const date: unknown = Reflect.get(Object(value), 'lastModified');
  const { type, lastModified = typeof date === 'number' ? date : Date.now() } = { ...options };
  const isRenamed = (name ?? original?.name) !== original?.name;
  const isUnchanged =
    (type ?? original?.type) === original?.type && lastModified === original?.lastModified;
  if (original !== undefined && isUnchanged && !isRenamed) return original;
  return reading('value', async () => {
    const file = await openFile(value);
    const blob = await toBlob(file);
    const fileName = name ?? file.name ?? 'unknown_file';
    const detected = file.type || (typeForName(fileName) ?? detectType(await readHead(blob)) ?? '');
    return new File([blob], fileName, { ...options, type: type ?? detected, lastModified });
  });
}
