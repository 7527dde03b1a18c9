import { check, checkInteger } from '../options/check.ts';
import { type FileOptions, readFile } from './file-input.ts';
import {
  streamingFileMark,
  type ResponseLike,
  type StreamingFile,
  type StreamingFileInput,
  type UploadData,
} from './types.ts';

/** Input of `toFile`. It excludes text, which could be a path: use `{ data, filename }`. */
export type ToFileInput =
  | Blob
  | ArrayBuffer
  | ArrayBufferView
  | UploadData
  | ResponseLike
  | StreamingFileInput;

/**
 * Converts file content in any form to a `File`, which can be uploaded any number of times.
 *
 * Content is read into memory, except that of a `File` or `Blob`, which stays where it is. Use
 * `toStreamingFile` for content that is too large for that.
 *
 * @param value - A `File` or `Blob`, bytes, `{ data, filename, type }`, a `Response`, an fs `ReadStream`, a
 *   web stream or any async iterable, or a promise of one of them.
 * @param name - The file name. Default: the file's name, a response's `content-disposition` or URL, a
 *   stream's `path`, or `unknown_file`.
 * @param options - `type` is the MIME type. Default: that of the value, else of the extension or the first
 *   bytes.
 * @throws `InvalidInputError` if the value cannot be read, or is a failed response
 *
 * @example
 * ```ts
 * const image = await toFile(fetch('https://example.com/cat.png'));
 * await client.images.edit({ model, image, prompt: 'Add a hat' });
 * ```
 */
export async function toFile(
  value: ToFileInput | PromiseLike<ToFileInput>,
  name?: string | null,
  options?: FileOptions,
): Promise<File> {
  return readFile(await value, name, options);
}

/** Options of `toStreamingFile`. */
export interface StreamingFileOptions {
  /** The MIME type. Default: derived from the name and the first bytes. */
  type?: string | undefined;
  /**
   * Length in bytes. The upload then has a `content-length`, which some servers require, and fails if the
   * stream is longer or shorter. Integer, at least 1.
   */
  size?: number | undefined;
}

/**
 * Names a stream, so that it can be uploaded without being read into memory.
 *
 * A request with a stream is sent once and never repeated, because the stream cannot be read again. Browsers
 * and most edge workers cannot stream an upload; there it is read into memory first.
 *
 * @param data - The content: a web stream, a Node stream or any async iterable of bytes or text.
 * @param name - The file name with its extension; folders are removed.
 * @param options - The MIME type and the length, if known.
 * @throws `InvalidInputError` if `name` is empty, or `size` is not a positive integer
 *
 * @example
 * ```ts
 * const file = toStreamingFile(recording, 'talk.mp3');
 * await client.audio.translations.create({ model, file });
 * ```
 */
export function toStreamingFile(
  data: StreamingFileInput,
  name: string,
  options: StreamingFileOptions = {},
): StreamingFile {
  const fileName = name.replace(/^.*[\\/]/s, '');
  check(fileName !== '', 'name', 'must be a file name, for example "talk.mp3".');
  const { type, size } = options;
  if (size !== undefined) checkInteger('size', size, 1);
  return { [streamingFileMark]: true, data, name: fileName, type, size };
}
