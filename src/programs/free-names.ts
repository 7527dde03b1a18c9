import { randomBytes } from 'node:crypto';
import { lstat, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { explainFileError, moveToNew } from '../adapters/node/durable.ts';

/** Returns an unused path in a folder. A link that leads nowhere uses its path too. */
export async function findFreePath(
  folder: string,
  name: string,
  extension: string,
): Promise<string> {
  for (let number = 1; ; number += 1) {
    const path = join(folder, `${name}${number === 1 ? '' : `-${number}`}.${extension}`);
    if ((await lstat(path).catch(() => undefined)) === undefined) return path;
  }
}

/** Returns a path in a folder for a file that has no name yet. */
export const temporaryPath = (folder: string, name: string): string =>
  join(folder, `.${name}.${randomBytes(6).toString('hex')}.part`);

/** Moves a file to an unused name. An existing file is never replaced. */
export async function moveToFreeName(
  from: string,
  folder: string,
  name: string,
  extension: string,
): Promise<string> {
  for (;;) {
    const path = await findFreePath(folder, name, extension);
    // Otherwise another process was faster.
    if (await moveToNew(from, path)) return path;
  }
}

/**
 * Creates a file under an unused name, also if other processes choose the same one.
 *
 * @param write - Writes the file to a temporary path.
 * @returns the path of the file
 * @throws `FileError` if the file cannot be named
 */
export async function writeToFreeName(
  folder: string,
  name: string,
  extension: string,
  write: (path: string) => Promise<unknown>,
): Promise<string> {
  const temporary = temporaryPath(folder, name);
  try {
    await write(temporary);
    return await moveToFreeName(temporary, folder, name, extension);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw explainFileError(error, join(folder, `${name}.${extension}`));
  }
}
