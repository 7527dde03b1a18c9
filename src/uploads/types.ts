/** Bytes with a file name and a MIME type. */
export interface BinaryUploadData {
  /** The bytes. */
  data: Blob | ArrayBuffer | ArrayBufferView;
  /** The file name. An extension that does not match the bytes is corrected. */
  filename?: string | undefined;
  /** The MIME type, for example `"image/png"`. */
  type?: string | undefined;
}

/** Text that is sent as a file. */
export interface TextUploadData {
  /** The content of the file; base64 is not decoded. */
  data: string;
  /** The file name, with its extension. */
  filename: string;
  /** The MIME type, for example `"text/plain"`. */
  type?: string | undefined;
}

/** Content with a file name and a MIME type. */
export type UploadData = BinaryUploadData | TextUploadData;

/** A `Response`, or an object with the same shape; its body is the file. */
export interface ResponseLike {
  readonly url: string;
  blob(): Promise<Blob>;
}

/** A chunk of a stream of file content. Text is encoded as UTF-8. */
export type UploadChunk = string | ArrayBuffer | ArrayBufferView | Blob;

/** Input of `toStreamingFile`, read while the request is sent. */
export type StreamingFileInput = AsyncIterable<UploadChunk> | ReadableStream<UploadChunk>;

/** Marks streaming files. A registered symbol, so that another copy of this package recognizes it. */
export const streamingFileMark: unique symbol = Symbol.for('model-gateway.streaming-file');

/** A stream with a file name, created by `toStreamingFile` of this package or of `openai`. Can be sent once. */
export interface StreamingFile {
  readonly [streamingFileMark]?: true;
  readonly data: StreamingFileInput;
  readonly name: string;
  /** The MIME type; `undefined` to derive it from the name and the bytes. */
  readonly type?: string | undefined;
  /** Length in bytes; `undefined` if unknown. */
  readonly size?: number | undefined;
}

/**
 * A file to upload.
 *
 * - `File`, `Blob`, bytes, `{ data, filename, type }`, a `fetch` `Response` (read into memory).
 * - An fs `ReadStream`, a web `ReadableStream`, any async iterable, or the result of `toStreamingFile`:
 *   streamed, so sent once and never repeated. Browsers and most edge workers cannot stream an upload; there
 *   it is read into memory first.
 *
 * It may not be empty. Name and MIME type are filled in, and an extension that does not match the bytes is
 * corrected, because the gateway identifies a file by its extension.
 */
export type Uploadable =
  | Blob
  | ArrayBuffer
  | ArrayBufferView
  | UploadData
  | ResponseLike
  | StreamingFile
  | StreamingFileInput;
