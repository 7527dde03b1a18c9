/** Bytes together with what the gateway needs to know of them. */
export interface UploadData {
  /** The bytes, or the text. */
  data: Blob | ArrayBuffer | ArrayBufferView | string;
  /** The file name. The gateway trusts its extension, so it must fit the bytes. */
  filename?: string | undefined;
  /** The MIME type, for example `"image/png"`. */
  type?: string | undefined;
}

/** A `Response`, or anything shaped like one: its body becomes the file. */
export interface ResponseLike {
  readonly url: string;
  blob(): Promise<Blob>;
}

/**
 * A file to upload.
 *
 * `File`, `Blob`, bytes, `{ data, filename, type }`, a `fetch` `Response`, an fs `ReadStream`, a web
 * `ReadableStream` or any async iterable of bytes. Streams are sent once and never repeated.
 */
export type Uploadable =
  | Blob
  | ArrayBuffer
  | ArrayBufferView
  | UploadData
  | ResponseLike
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array | string>;
