import { asGiven, fileAsGiven } from '../given.ts';
import { loadRare } from '../load-rare.ts';
import type { FileOptions } from './read-file.ts';
import type { ResponseLike, StreamingFileInput, UploadData } from './types.ts';

/** What `toFile` reads. Text is not among it, because it would hide a path: use `{ data, filename }`. */
export type ToFileInput =
  | Blob
  | ArrayBuffer
  | ArrayBufferView
  | UploadData
  | ResponseLike
  | StreamingFileInput;

/**
 * Reads anything that holds a file into a `File`, which can be uploaded any number of times.
 *
 * Everything is read into memory, except that a `File` or a `Blob` keeps its content where it is. Use
 * `toStreamingFile` for what is too large for that.
 *
 * @param value - A `File` or `Blob`, bytes, `{ data, filename, type }`, a `Response`, an fs
 * `ReadStream`, a web stream or any async iterable, or a promise of one of them.
 * @param name - The file name. Without it: the file's own name, a response's `content-disposition` or
 * URL, a stream's `path`, or `unknown_file`.
 * @param options - `type` is the MIME type. Without it: the value's own, else what the extension or
 * the first bytes say.
 * @throws `InvalidInputError` when the value cannot be read, or is a response that failed.
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
  const { given } = asGiven({ given: await value }, fileAsGiven);
  const { readFile } = await loadRare();
  return readFile(given, name, options);
}
