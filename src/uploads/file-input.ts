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
export function isWebStream(value: unknown): value is ReadableStream<unknown> {
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
