import { constants } from 'node:fs';
import { type FileHandle, open, readlink, realpath, stat } from 'node:fs/promises';
import { sniffLength } from '../../../answers/bytes.ts';

/** A link at the end of a path is not followed, and a pipe is not waited for. Windows has neither flag. */
const flags = constants.O_RDONLY | (constants.O_NOFOLLOW || 0) | (constants.O_NONBLOCK || 0);

/** Opens a file for reading. @throws a system error, also for a symbolic link */
export const openFile = (path: string): Promise<FileHandle> => open(path, flags);

/**
 * Returns the real path of an open file.
 *
 * @param path - The real path that it was opened by. A folder in it may have been replaced by a link since.
 * @returns `undefined` if the path leads to another file now
 */
export async function findOpened(file: FileHandle, path: string): Promise<string | undefined> {
  const target = await readlink(`/proc/self/fd/${file.fd}`).catch(() => undefined);
  if (target !== undefined) return target;
  const [real, opened] = await Promise.all([realpath(path), file.stat({ bigint: true })]);
  const named = await stat(real, { bigint: true });
  return named.dev === opened.dev && named.ino === opened.ino ? real : undefined;
}

/** Reads the first bytes of a file, which identify its format. */
export async function readHead(file: FileHandle): Promise<Uint8Array> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(sniffLength), 0, sniffLength, 0);
  return buffer.subarray(0, bytesRead);
}

/** Reads a regular file. @throws a system error, or `Error` if it is another kind of file or too large */
export async function readRegular(path: string, maxBytes = Infinity): Promise<Buffer> {
  const file = await openFile(path);
  try {
    const stats = await file.stat();
    if (!stats.isFile() || stats.size > maxBytes) throw new Error(`${path} cannot be used.`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}
