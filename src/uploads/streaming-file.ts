import { check, checkInteger } from '../check.ts';
import { streamingFileMark, type StreamingFile, type StreamingFileInput } from './types.ts';

/** The last segment of a path, whichever slash it uses; `undefined` when there is none. */
export function baseName(path: string): string | undefined {
  const name = path.split(/[\\/]/).pop();
  return name === '' ? undefined : name;
}

/** What `toStreamingFile` may be told besides the name. */
export interface StreamingFileOptions {
  /** The MIME type. Concluded from the name and the first bytes when left out. */
  type?: string | undefined;
  /**
   * Length in bytes. With it the upload says how long it is, which some servers want; the upload
   * fails when the stream turns out longer or shorter. Integer, at least 1.
   */
  size?: number | undefined;
}

/**
 * Names a stream, so that it can be uploaded without being read into memory.
 *
 * A request with a stream is sent once and never repeated, because the stream cannot be read again.
 * Browsers and most edge workers cannot stream an upload; there it is read into memory first.
 *
 * @param data - The content: a web stream, a Node stream or any async iterable of bytes or text.
 * @param name - The file name, with its extension; folders are dropped.
 * @param options - The MIME type and the length, where they are known.
 * @throws `InvalidInputError` when `name` is empty, or `size` is not a positive integer.
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
  const fileName = baseName(name);
  check(fileName !== undefined, 'name', 'must be a file name, for example "talk.mp3".');
  const { type, size } = options;
  if (size !== undefined) checkInteger('size', size, 1);
  return { [streamingFileMark]: true, data, name: fileName, type, size };
}
