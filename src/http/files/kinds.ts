import type {
  ResponseLike,
  StreamingFileInput,
  UploadData,
  Uploadable,
} from '../../types/uploads.ts';
import { isStreamingFile } from './streaming-file.ts';

function hasFunction(value: object, name: string): boolean {
  return typeof Reflect.get(value, name) === 'function';
}

/** Whether a value is a `Blob`, of this or of another implementation. */
export function isBlob(value: unknown): value is Blob {
  if (typeof value !== 'object' || value === null) return false;
  if (typeof Blob === 'function' && value instanceof Blob) return true;
  return (
    typeof Reflect.get(value, 'size') === 'number' &&
    typeof Reflect.get(value, 'type') === 'string' &&
    hasFunction(value, 'arrayBuffer') &&
    hasFunction(value, 'slice')
  );
}

/** Whether a value is bytes in memory. */
export function isBinary(value: unknown): value is ArrayBuffer | ArrayBufferView {
  // The second check also knows buffers of another realm, such as a test runner's.
  return (
    ArrayBuffer.isView(value) ||
    value instanceof ArrayBuffer ||
    Object.prototype.toString.call(value) === '[object ArrayBuffer]'
  );
}

/** Whether a value is a `Response`, or shaped like one. */
export function isResponse(value: unknown): value is ResponseLike {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof Reflect.get(value, 'url') === 'string' &&
    hasFunction(value, 'blob')
  );
}

/** Whether a value is a web `ReadableStream`. Not every browser can iterate one. */
export function isWebStream(value: unknown): value is ReadableStream<unknown> {
  return typeof value === 'object' && value !== null && hasFunction(value, 'getReader');
}

/** Whether a value can be read with `for await`. */
function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof Reflect.get(value, Symbol.asyncIterator) === 'function'
  );
}

/** Whether a value is read piece by piece. */
export function isStream(value: unknown): value is StreamingFileInput {
  return isWebStream(value) || isAsyncIterable(value);
}

/** Whether a value is `{ data, filename, type }`. Text needs a file name to count as a file. */
export function isUploadData(value: unknown): value is UploadData {
  if (typeof value !== 'object' || value === null) return false;
  const data: unknown = Reflect.get(value, 'data');
  if (typeof data === 'string') return typeof Reflect.get(value, 'filename') === 'string';
  return isBlob(data) || isBinary(data);
}

/**
 * Whether a value is a file to upload, and not text or plain JSON.
 *
 * Text never is: it may be a URL, a data URL or base64, which travel as text.
 */
export function isUploadable(value: unknown): value is Uploadable {
  return (
    isBlob(value) ||
    isBinary(value) ||
    isStreamingFile(value) ||
    isResponse(value) ||
    isStream(value) ||
    isUploadData(value)
  );
}
