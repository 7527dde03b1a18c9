/** Bytes together with what the gateway needs to know of them. */
export interface BinaryUploadData {
  /** The bytes. */
  data: Blob | ArrayBuffer | ArrayBufferView;
  /** The file name. An extension that does not fit the bytes is corrected. */
  filename?: string | undefined;
  /** The MIME type, for example `"image/png"`. */
  type?: string | undefined;
}

/** Text to be sent as a file. */
export interface TextUploadData {
  /** The content of the file, as it is: base64 is not decoded. */
  data: string;
  /** The file name, with its extension. */
  filename: string;
  /** The MIME type, for example `"text/plain"`. */
  type?: string | undefined;
}

/** Content together with a file name and a MIME type. */
export type UploadData = BinaryUploadData | TextUploadData;

/** A `Response`, or anything shaped like one: its body becomes the file. */
export interface ResponseLike {
  readonly url: string;
  blob(): Promise<Blob>;
}

/** What a stream of file content may yield. Text is encoded as UTF-8. */
export type UploadChunk = string | ArrayBuffer | ArrayBufferView | Blob;

/** What `toStreamingFile` takes: read piece by piece while the request is sent. */
export type StreamingFileInput = AsyncIterable<UploadChunk> | ReadableStream<UploadChunk>;

/** The mark of a streaming file. Registered, so that another copy of this package knows it too. */
export const streamingFileMark: unique symbol = Symbol.for('model-gateway.streaming-file');

/** A stream with a file name. Made by `toStreamingFile`, and sent once. */
export interface StreamingFile {
  readonly [streamingFileMark]: true;
  readonly data: StreamingFileInput;
  readonly name: string;
  /** The MIME type, or `undefined` when it is to be concluded from the name and the bytes. */
  readonly type?: string | undefined;
  /** Length in bytes, or `undefined` when it is not known. */
  readonly size?: number | undefined;
}

/**
 * A file to upload.
 *
 * - `File`, `Blob`, bytes, `{ data, filename, type }`, a `fetch` `Response` (read into memory).
 * - An fs `ReadStream`, a web `ReadableStream`, any async iterable, or what `toStreamingFile` made:
 *   streamed, so sent once and never repeated. Browsers and most edge workers cannot stream an
 *   upload; there they are read into memory first.
 *
 * Its bytes may not be empty. Name and MIME type are filled in, and an extension that does not fit
 * the bytes is corrected, because the gateway judges a file by its extension.
 */
export type Uploadable =
  | Blob
  | ArrayBuffer
  | ArrayBufferView
  | UploadData
  | ResponseLike
  | StreamingFile
  | StreamingFileInput;
