import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { InvalidInputError } from '../errors/gateway-error.ts';
import { toFile, unreadable } from '../uploads/to-file.ts';
import { DiskFile } from './disk-file.ts';
import { codeOf } from './file-error.ts';

/**
 * A file on disk as an upload.
 *
 * Its bytes are read only while they are sent, so memory stays flat; and because they can be read
 * again, a request that provably never left can be repeated.
 *
 * @param path - The file. It may not change until the upload is over, which fails then; only Bun sends
 * what it finds.
 * @param options - `type` is the MIME type; by default it is told by the extension or the bytes.
 * @throws `InvalidInputError` when the file cannot be read
 *
 * @example
 * await client.audio.translations.create({ model: 'whisper-1', file: await fileFromPath('talk.mp3') });
 */
export async function fileFromPath(path: string, options: { type?: string } = {}): Promise<File> {
  if (typeof path !== 'string' || path === '') {
    const problem = 'is empty, or no text; give the path of the file to upload.';
    throw new InvalidInputError('path', problem);
  }
  const given: unknown = options?.type;
  if (given !== undefined && typeof given !== 'string') {
    throw new InvalidInputError('type', 'must be a MIME type such as "audio/mpeg", or left out.');
  }
  try {
    const facts = await stat(path);
    if (!facts.isFile()) throw new InvalidInputError('path', `"${path}" is no file.`);
    const blob = await openAsBlob(path);
    const { type } = await toFile(blob, path, given === undefined ? {} : { type: given });
    return new DiskFile(blob, path, facts, type);
  } catch (error) {
    if (InvalidInputError.isInstance(error)) throw error;
    const isMissing = codeOf(error) === 'ENOENT';
    const problem = isMissing ? 'does not exist.' : unreadable(error);
    throw new InvalidInputError('path', `"${path}" ${problem}`, { cause: error });
  }
}
