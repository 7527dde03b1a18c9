import { createHash, randomBytes } from 'node:crypto';
import { type BigIntStats, readFileSync, readlinkSync } from 'node:fs';
import { link, lstat, open, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { GatewayError } from '../../errors/gateway-error.ts';

/** A file cannot be written. `cause` is the system error. */
export class FileError extends GatewayError {
  static override readonly kind: string = 'FileError';

  /** The system error code, for example `ENOSPC`. */
  readonly code: string;
  /** Path of the file. */
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
  EISDIR: 'is a folder; pass the path of a file.',
  EACCES: noPermission,
  EPERM: noPermission,
  EROFS: 'is on a file system that cannot be written.',
  ENOSPC: 'does not fit: the disk is full.',
  EDQUOT: 'does not fit: the disk quota is used up.',
  EFBIG: 'exceeds the maximum file size of this file system or user.',
  ENAMETOOLONG: 'has a name that is too long.',
  EMFILE: 'cannot be opened: too many files are open.',
  EIO: 'cannot be written: the disk has failed.',
};

/** Returns the code of a system error, or `""`. */
export function systemErrorCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  return typeof code === 'string' ? code : '';
}

/** Converts a system error to a `FileError`; returns other errors unchanged. */
export function explainFileError(error: unknown, path: string): unknown {
  const code = systemErrorCode(error);
  const isOfSystem =
    error instanceof Error && 'syscall' in error && !GatewayError.isInstance(error);
  const problem = isOfSystem ? problems[code] : undefined;
  return problem === undefined ? error : new FileError(path, code, problem, error);
}

/** Error codes of systems that cannot flush a folder or create a hard link. */
const unsupported = new Set([
  'EINVAL',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EISDIR',
  'EPERM',
  'EACCES',
]);

/** Flushes the entries of a folder, so that they survive a power failure. */
export async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!unsupported.has(systemErrorCode(error))) throw error;
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

/** Renames a flushed and closed file atomically. */
async function moveInto(target: string, path: string): Promise<void> {
  await rename(path, target);
  await syncFolder(dirname(target));
}

/** Removes a file that this call created under a name that no other process uses. */
async function removeTemporary(path: string): Promise<void> {
  // A leftover is harmless, and must not hide the outcome.
  await rm(path, { force: true }).catch(() => {});
}

/** Replaces a file atomically: readers see the old or the new one, even after a crash. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = temporaryName(path);
  try {
    await writeFlushed(temporary, text);
    await moveInto(path, temporary);
  } catch (error) {
    await removeTemporary(temporary);
    throw error;
  }
}

/**
 * Creates a file atomically. If several processes create the same file, only one succeeds. If it throws, it has
 * removed what it created, unless that failed too.
 *
 * @param unique - Returns a path that no other process uses. The file gets it on a file system without hard links,
 * where a crash could leave a file at `path` without its content. Another process may create `path` then.
 * @returns The path of the file; `undefined` if `path` already exists
 */
export async function createFile(
  path: string,
  text: string,
  unique?: () => Promise<string>,
): Promise<string | undefined> {
  const temporary = temporaryName(path);
  let created: string | undefined;
  try {
    await writeFlushed(temporary, text);
    const isLinked = await linkNew(temporary, path);
    if (isLinked === true) created = path;
    else if (isLinked === undefined && unique === undefined) {
      created = (await writeNew(path, text)) ? path : undefined;
    } else if (isLinked === undefined && unique !== undefined) {
      created = await unique();
      await rename(temporary, created);
    }
    if (created !== undefined) await syncFolder(dirname(created));
    return created;
  } catch (error) {
    if (created !== undefined) await rm(created, { force: true }).catch(() => {});
    throw error;
  } finally {
    await removeTemporary(temporary);
  }
}

/**
 * Gives a file another name that does not exist yet.
 *
 * @returns `false` if the name exists, `undefined` if the file system has no hard links
 */
async function linkNew(from: string, to: string): Promise<boolean | undefined> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    // Network file systems may repeat a request that had succeeded, and report the failure of the second.
    const source = await lstat(from, { bigint: true }).catch(() => undefined);
    if (source !== undefined && source.nlink > 1n && (await isAt(to, source))) return true;
    const code = systemErrorCode(error);
    if (code === 'EEXIST') return false;
    if (unsupported.has(code)) return undefined;
    throw error;
  }
}

/**
 * Moves a file to a name that does not exist yet. No file of another process is replaced.
 *
 * @returns `false` if the name exists
 */
export async function moveToNew(from: string, to: string): Promise<boolean> {
  const isLinked = await linkNew(from, to);
  // Without hard links, an empty file reserves the name.
  if (isLinked === undefined ? !(await writeNew(to, '')) : !isLinked) return false;
  if (isLinked === undefined) await rename(from, to);
  else await removeTemporary(from);
  return true;
}

/** Returns whether a path names this file. */
async function isAt(path: string, { dev, ino }: BigIntStats): Promise<boolean> {
  const named = await lstat(path, { bigint: true }).catch(() => undefined);
  return named !== undefined && ino !== 0n && named.ino === ino && named.dev === dev;
}

/**
 * Creates a file on systems without hard links. A crash may leave it empty.
 *
 * @returns `false` if it exists
 */
async function writeNew(path: string, text: string): Promise<boolean> {
  let file: FileHandle;
  try {
    file = await open(path, 'wx');
  } catch (error) {
    // With any other error too, the file at this path may belong to another process.
    if (systemErrorCode(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    await file.writeFile(text);
    await file.sync();
  } catch (error) {
    // Another process may have moved the empty file away, and created its own.
    const opened = await file.stat({ bigint: true }).catch(() => undefined);
    if (opened !== undefined && (await isAt(path, opened))) {
      await rm(path, { force: true }).catch(() => {});
    }
    throw error;
  } finally {
    // Everything is flushed.
    await file.close().catch(() => {});
  }
  return true;
}

/** Throws if the target cannot be a file, before anything is downloaded. */
export async function checkTarget(path: string): Promise<void> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) {
      throw new FileError(path, 'EISDIR', 'is a folder; pass the path of a file.', undefined);
    }
    // Renaming over a device or a pipe would break the programs that use it.
    if (!found.isFile()) {
      throw new FileError(path, 'EEXIST', 'is not a regular file; use another path.', undefined);
    }
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT') throw explainFileError(error, path);
  }
}

/** An append-only file. */
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

  /** Creates a new file. */
  static async create(path: string): Promise<GrowingFile> {
    return new GrowingFile(path, await open(path, 'wx'), 0);
  }

  /**
   * Opens an existing file; returns `undefined` for a link, because another user may have created it to
   * redirect the writes.
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

  /** Size in bytes. */
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

  /** Removes the content. */
  async clear(): Promise<void> {
    if (this.#size === 0) return;
    await this.#file.truncate(0);
    this.#size = 0;
  }

  /** Closes the file. May be called repeatedly, which not every runtime allows for its own files. */
  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#file.close();
  }

  /** Flushes the file and renames it atomically, so that a crash leaves no empty file. */
  async finish(target: string): Promise<void> {
    await this.sync();
    await this.close();
    await moveInto(target, this.path);
  }

  async sync(): Promise<void> {
    await this.#file.sync();
  }
}

/** Identifies a process, to check whether it still runs. */
export interface Owner {
  /** Hash of the host name and the container. */
  readonly host: string;
  readonly pid: number;
  /** Start time of the process in the system's format; `""` if unknown. */
  readonly start: string;
}

/** Returns a short hash of a text. */
export function shortHash(text: string, length = 12): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length);
}

/** Returns the process namespace, because each container numbers its own processes. */
function processSpace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

/** Returns the start time of a process. Process ids are reused, in containers often immediately. */
function processStart(pid: number): string {
  try {
    const facts = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program name, in parentheses, may contain any character.
    const fields = facts.slice(facts.lastIndexOf(')') + 2).split(' ');
    return fields[19] ?? '';
  } catch {
    return '';
  }
}

let known: Owner | undefined;

/** Returns the current process. Evaluated lazily, because Deno requires permission to read the host name. */
export function thisProcess(): Owner {
  known ??= {
    host: shortHash(hostname() + processSpace(), 8),
    pid: process.pid,
    start: processStart(process.pid),
  };
  return known;
}

/** Time that a process id is trusted if the start time is unknown, in milliseconds. */
const trustedFor = 3_600_000;

/**
 * Returns whether this machine has a process with an id; `undefined` if unknown, because Deno requires
 * permission to run programs first.
 */
export function isRunning(pid: number): boolean | undefined {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    const code = systemErrorCode(error);
    // The process exists, but belongs to another user.
    if (code === 'EPERM') return true;
    return code === 'ESRCH' ? false : undefined;
  }
}

/**
 * Returns whether the process of a ledger entry still runs; `undefined` if it is on another machine or
 * unknown, because its id may belong to another process by now.
 *
 * @param seenAt - The last time that the process was known to run, in milliseconds since 1970.
 */
export function isAlive({ host, pid, start }: Owner, seenAt: number): boolean | undefined {
  const current = thisProcess();
  if (host !== current.host) return undefined;
  const isRecent = Date.now() - seenAt < trustedFor || undefined;
  if (pid === current.pid && start === current.start) return start !== '' || isRecent;
  const found = isRunning(pid);
  if (found !== true) return found;
  const foundStart = processStart(pid);
  return start === '' || foundStart === '' ? isRecent : foundStart === start;
}
