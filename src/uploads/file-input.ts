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

/** The last segment of a path, whichever slash it uses; `undefined` when there is none. */
export function baseName(path: string): string | undefined {
  const name = path.split(/[\\/]/).pop();
  return name === '' ? undefined : name;
}

/** The extension without its dot, as written, or `''`. A name such as `.env` has none. */
export function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot > 0 ? name.slice(dot + 1) : '';
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function nameFromURL(url: string): string | undefined {
  // A data URL has no name, and a blob URL ends in a random id.
  if (/^(data|blob):/i.test(url)) return undefined;
  return baseName(URL.canParse(url) ? decoded(baseName(new URL(url).pathname) ?? '') : url);
}

/** The file name in a `content-disposition` header (RFC 6266), or `undefined`. */
export function nameFromDisposition(header: string): string | undefined {
  const extended = /;\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(header)?.[1];
  const [, quoted, plain = ''] =
    /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s"]+))/i.exec(header) ?? [];
  return baseName(
    extended === undefined ? (quoted?.replaceAll(/\\(["\\])/g, '$1') ?? plain) : decoded(extended),
  );
}

/**
 * The file name that a value carries: `name` or `filename`, the `content-disposition` and URL of a
 * response, or the `path` of an fs stream. Folders are dropped. `undefined` when there is none.
 */
export function nameOf(value: object): string | undefined {
  const textOf = (property: string): string | undefined => {
    const found: unknown = Reflect.get(value, property);
    // The path of an fs stream can be bytes.
    const text = found instanceof Uint8Array ? new TextDecoder().decode(found) : found;
    return typeof text === 'string' && text !== '' ? text : undefined;
  };
  const explicit = textOf('name') ?? textOf('filename');
  if (explicit !== undefined) return baseName(explicit);
  const headers: unknown = Reflect.get(value, 'headers');
  const disposition = headers instanceof Headers ? headers.get('content-disposition') : null;
  const url = textOf('url');
  return (
    nameFromDisposition(disposition ?? '') ??
    (url === undefined ? baseName(textOf('path') ?? '') : nameFromURL(url))
  );
}
