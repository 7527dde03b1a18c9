import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { link, lstat, open, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { GatewayError } from '../errors/gateway-error.ts';

/** A file cannot be written. `cause` is the error of the system. */
export class FileError extends GatewayError {
  static override readonly kind: string = 'FileError';

  /** The code of the system, for example `ENOSPC`. */
  readonly code: string;
  /** The file that was to be written. */
  readonly path: string;

  constructor(path: string, code: string, problem: string, cause: unknown) {
    super(`"${path}" ${problem}`, { outcome: 'unknown', advice: '', cause });
    this.code = code;
    this.path = path;
  }
}

const noPermission = 'may not be written by this user.';

const problems: Readonly<Record<string, string>> = {
  ENOENT: 'is in a folder that does not exist; create it first.',
  ENOTDIR: 'has a file in its path where a folder should be.',
  EISDIR: 'is a folder; give the path of a file.',
  EACCES: noPermission,
  EPERM: noPermission,
  EROFS: 'is on a file system that cannot be written.',
  ENOSPC: 'does not fit: the disk is full.',
  EDQUOT: 'does not fit: the disk quota is used up.',
  EFBIG: 'is larger than this file system or user may have files.',
  ENAMETOOLONG: 'has a name that is too long.',
  EMFILE: 'cannot be opened: too many files are open.',
  EIO: 'cannot be written: the disk has failed.',
};

/** The code of an error of the system, or `""`. */
export function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  return typeof code === 'string' ? code : '';
}

/** Says in words what kept a file from being written; other errors pass as they are. */
export function explainFileError(error: unknown, path: string): unknown {
  const code = codeOf(error);
  const isOfSystem =
    error instanceof Error && 'syscall' in error && !GatewayError.isInstance(error);
  const problem = isOfSystem ? problems[code] : undefined;
  return problem === undefined ? error : new FileError(path, code, problem, error);
}

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

/** Gives a file that was synced and closed its name, in one step. */
async function moveInto(target: string, path: string): Promise<void> {
  await rename(path, target);
  await syncFolder(dirname(target));
}

/** Writes a whole file in one step: others see the old one or the new one, also after a crash. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = temporaryName(path);
  try {
    await writeFlushed(temporary, text);
    await moveInto(path, temporary);
  } catch (error) {
    await rm(temporary, { force: true });
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
    await link(temporary, path).catch(async (error: unknown) => {
      if (!unsupported.has(codeOf(error))) throw error;
      await writeNew(path, text);
    });
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
  await syncFolder(dirname(path));
  return true;
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

/** Refuses a target that cannot become a file, before anything is fetched for it. */
export async function checkTarget(path: string): Promise<void> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) {
      throw new FileError(path, 'EISDIR', 'is a folder; give the path of a file.', undefined);
    }
    // Its name would be taken from it, which no program that uses the device or pipe survives.
    if (!found.isFile()) {
      throw new FileError(path, 'EEXIST', 'is no regular file; give another path.', undefined);
    }
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw explainFileError(error, path);
  }
}

/** A file that grows at its end. */
export class GrowingFile {
  readonly path: string;
  readonly #file: FileHandle;
  #size: number;
  #isOpen = true;

  constructor(path: string, file: FileHandle, size: number) {
    this.path = path;
    this.#file = file;
    this.#size = size;
  }

  /** Creates a file that does not exist. */
  static async create(path: string): Promise<GrowingFile> {
    return new GrowingFile(path, await open(path, 'wx'), 0);
  }

  /**
   * Goes on with a file that exists; `undefined` when it is a link, which somebody else may have put
   * there and which would be written through.
   */
  static async reopen(path: string): Promise<GrowingFile | undefined> {
    const file = await open(path, 'r+');
    const { size, nlink, ino, dev } = await file.stat();
    const named = await lstat(path);
    const isOwn = named.isFile() && nlink === 1 && named.ino === ino && named.dev === dev;
    if (isOwn) return new GrowingFile(path, file, size);
    await file.close();
    return undefined;
  }

  /** In bytes. */
  get size(): number {
    return this.#size;
  }

  async append(bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.byteLength;) {
      const left = bytes.byteLength - done;
      const { bytesWritten } = await this.#file.write(bytes, done, left, this.#size);
      done += bytesWritten;
      this.#size += bytesWritten;
    }
  }

  /** Begins again. */
  async clear(): Promise<void> {
    if (this.#size === 0) return;
    await this.#file.truncate(0);
    this.#size = 0;
  }

  /** May be called again. Not every runtime allows that of its own files. */
  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#file.close();
  }

  /** Gives it its name in one step, once everything is on the disk: a crash leaves no empty file. */
  async finish(target: string): Promise<void> {
    await this.sync();
    await this.close();
    await moveInto(target, this.path);
  }

  async sync(): Promise<void> {
    await this.#file.sync();
  }
}

/** A process, so that others can tell whether it still runs. */
export interface Owner {
  /** The machine, and the container on it. */
  readonly host: string;
  readonly pid: number;
  /** When the process began, in words of the system; `""` where that is not known. */
  readonly start: string;
}

/** A short name for a longer text. */
export function shortHash(text: string, length = 12): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length);
}

/** Containers count their processes for themselves. */
function processSpace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

/** Process ids are used again, in containers often at once; together with this they are not. */
function startOf(pid: number): string {
  try {
    const facts = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program, in parentheses, may hold anything.
    const fields = facts.slice(facts.lastIndexOf(')') + 2).split(' ');
    return fields[19] ?? '';
  } catch {
    return '';
  }
}

let known: Owner | undefined;

/** This process. Asked for only when it is needed: Deno asks its user for leave to tell a host name. */
export function thisProcess(): Owner {
  known ??= {
    host: shortHash(hostname() + processSpace(), 8),
    pid: process.pid,
    start: startOf(process.pid),
  };
  return known;
}

/** How long the id of a process is its own where no start is known, in milliseconds. */
const trustedFor = 3_600_000;

/**
 * Returns whether this machine has a process with an id; `undefined` if that cannot be told, because Deno
 * asks for permission to run programs first.
 */
export function isRunning(pid: number): boolean | undefined {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    const code = codeOf(error);
    // A process of another user exists, but may not be signalled.
    if (code === 'EPERM') return true;
    return code === 'ESRCH' ? false : undefined;
  }
}

/**
 * Returns whether the process of a ledger entry still runs; `undefined` if it is on another machine or that
 * cannot be told, because its id may belong to another process by now.
 *
 * @param seenAt - When it surely ran, in milliseconds since 1970.
 */
export function isAlive({ host, pid, start }: Owner, seenAt: number): boolean | undefined {
  const own = thisProcess();
  if (host !== own.host) return undefined;
  const isRecent = Date.now() - seenAt < trustedFor || undefined;
  if (pid === own.pid && start === own.start) return start !== '' || isRecent;
  const found = isRunning(pid);
  if (found !== true) return found;
  const foundStart = startOf(pid);
  return start === '' || foundStart === '' ? isRecent : foundStart === start;
}
