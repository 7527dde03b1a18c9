import { randomBytes } from 'node:crypto';
import { link, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from './file-error.ts';

/** What systems answer that cannot flush a folder, or cannot give a file a second name. */
const unsupported = new Set([
  'EINVAL',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EISDIR',
  'EPERM',
  'EACCES',
]);

/** Makes the names in a folder survive a power failure. */
export async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!unsupported.has(codeOf(error))) throw error;
  }
}

async function writeFlushed(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

function temporaryName(path: string): string {
  return `${path}.${randomBytes(6).toString('hex')}.tmp`;
}

/** Writes a whole file in one step: others see the old one or the new one, also after a crash. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = temporaryName(path);
  try {
    await writeFlushed(temporary, text);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Without second names, whoever creates the file first has it, though a crash may leave it empty. */
async function writeNew(path: string, text: string): Promise<void> {
  try {
    await writeFlushed(path, text);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') await rm(path, { force: true });
    throw error;
  }
}

/**
 * Writes a new file in one step. Of all that write the same one, in any process, one succeeds.
 *
 * @returns Whether this was the one.
 */
export async function createFile(path: string, text: string): Promise<boolean> {
  const temporary = temporaryName(path);
  try {
    await writeFlushed(temporary, text);
    try {
      await link(temporary, path);
    } catch (error) {
      if (!unsupported.has(codeOf(error))) throw error;
      await writeNew(path, text);
    }
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
  await syncFolder(dirname(path));
  return true;
}
