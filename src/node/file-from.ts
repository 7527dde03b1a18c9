import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { InvalidInputError } from '../errors/gateway-error.ts';

/**
 * A file on disk as an upload.
 *
 * Its bytes are read only while they are sent, so memory stays flat; and because they can be read
 * again, a request that provably never left can be repeated.
 *
 * @param path - The file. It may not change until the upload is over.
 * @param options - `type` is the MIME type; by default it is told by the extension or the bytes.
 * @throws `InvalidInputError` when the file cannot be read
 *
 * @example
 * await client.audio.translations.create({ model: 'whisper-1', file: await fileFrom('talk.mp3') });
 */
export async function fileFrom(path: string, options: { type?: string } = {}): Promise<File> {
  if (typeof path !== 'string' || path === '') {
    throw new InvalidInputError('path', 'is empty; give the file to upload.');
  }
  const type = options.type === undefined ? {} : { type: options.type };
  try {
    const blob = await openAsBlob(path, type);
    return new File([blob], basename(path), type);
  } catch (error) {
    throw new InvalidInputError('path', `"${path}" cannot be read.`, { cause: error });
  }
}
