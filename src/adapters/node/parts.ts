import { randomBytes } from 'node:crypto';
import { lstat, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { parseJSON, toFields } from '../../answers/objects.ts';
import { GrowingFile, isRunning, shortHash, thisProcess } from './durable.ts';

/** A part that was not written to for this long is abandoned, in milliseconds. */
const abandonedAfter = 3_600_000;

const namePattern =
  /^(\.([\da-f]{8})-[\da-f]{8}\.(?:free|([\da-f]{8})-(\d+))\.[\da-f]{12}\.part)(\.json)?$/;

/** A partial download that no process writes to. */
interface Abandoned {
  readonly path: string;
  readonly size: number;
  /** `true` if it belongs to the same file. */
  readonly isSame: boolean;
}

/** Information required to resume a download. */
export interface Resumable {
  /** Identifies the version of the file: a strong ETag, or the time of its last change. */
  readonly validator: string;
  /** Size of the file in bytes, if known. */
  readonly total?: number | undefined;
}

/** Returns whether a body has a content encoding. */
export function isEncoded(headers: Headers): boolean {
  return (headers.get('content-encoding') ?? 'identity') !== 'identity';
}

/**
 * Returns the validator of a response. Weak ETags do not guarantee equal bytes, and a date does only if the
 * file was not changed in the same second as the response (RFC 9110, 13.1.5).
 */
export function readValidator(headers: Headers): string | undefined {
  if (isEncoded(headers)) return undefined;
  const tag = headers.get('etag');
  if (tag !== null) return /^"[^"]*"$/.test(tag) ? tag : undefined;
  const changed = headers.get('last-modified');
  const age = Date.parse(headers.get('date') ?? '') - Date.parse(changed ?? '');
  return changed !== null && age >= 1_000 ? changed : undefined;
}

/** Returns whether a response may be of the same version as the partial file. */
export function isSameVersion(headers: Headers, { validator }: Resumable): boolean {
  const tag = headers.get('etag');
  const named = validator.startsWith('"') ? tag : (tag ?? headers.get('last-modified'));
  return named === null || named === validator;
}

/** Returns the start of a range and the size of the whole file. An empty range starts at the end. */
export function readRange(
  headers: Headers,
): { readonly start: number; readonly total: number | undefined } | undefined {
  const [, begin, total = ''] =
    /^bytes (?:(\d+)-\d+|\*)\/(\d+|\*)$/.exec(headers.get('content-range')?.trim() ?? '') ?? [];
  const start = Number.parseInt(begin ?? total, 10);
  if (Number.isNaN(start)) return undefined;
  return { start, total: total === '*' ? undefined : Number(total) };
}

/** The files of a download: the partial content, and next to it the metadata for resuming it. */
export class Part {
  readonly file: GrowingFile;
  readonly #prefix: string;
  /** Version of the content; `undefined` if unknown. */
  known: Resumable | undefined;

  private constructor(file: GrowingFile, prefix: string, known: Resumable | undefined) {
    this.file = file;
    this.#prefix = prefix;
    this.known = known;
  }

  /**
   * Starts a download, or resumes an abandoned one. No two processes ever share a partial file: it is taken
   * over by renaming, which only one of them can do.
   *
   * @param key - Identifies the content.
   */
  static async take(target: string, key: string, resume: boolean): Promise<Part> {
    const prefix = `.${shortHash(basename(target), 8)}-${shortHash(key, 8)}`;
    const { host, pid } = thisProcess();
    const partPath = nameIn(target, `${prefix}.${host}-${pid}`);
    let file: GrowingFile | undefined;
    for (const { path, isSame } of await findAbandoned(target, prefix)) {
      if (resume && isSame && file === undefined) file = await takeOver(path, partPath);
      else await removePart(path);
    }
    if (file === undefined) return new Part(await GrowingFile.create(partPath), prefix, undefined);
    const text = await readFile(metadataPath(partPath), 'utf8').catch(() => '{}');
    return new Part(file, prefix, readResumable(text));
  }

  /** Starts over with another version of the file. */
  async restart(known: Resumable | undefined): Promise<void> {
    this.known = known;
    await this.file.clear();
    await this.#note();
  }

  async #note(): Promise<void> {
    const path = metadataPath(this.file.path);
    await rm(path, { force: true });
    if (this.known === undefined) return;
    // Create a new file: if another user replaced it by a link, writing must not follow it.
    await writeFile(path, JSON.stringify(this.known), { flag: 'wx' });
  }

  /** Renames the file to its target. */
  async finish(target: string): Promise<void> {
    // Removed first, because metadata next to a complete file would never be cleaned up.
    await rm(metadataPath(this.file.path), { force: true });
    try {
      await this.file.finish(target);
    } catch (error) {
      await this.#note();
      throw error;
    }
  }

  /** Ends a failed download. If it is kept, the next download with `resume` continues it. */
  async release(isKept: boolean): Promise<void> {
    const { path, size } = this.file;
    await this.file.close();
    if (!isKept || size === 0 || this.known === undefined) return removePart(path);
    const free = nameIn(path, `${this.#prefix}.free`);
    await rename(metadataPath(path), metadataPath(free));
    await rename(path, free);
  }
}

function nameIn(target: string, stem: string): string {
  return join(dirname(target), `${stem}.${randomBytes(6).toString('hex')}.part`);
}

/** Returns the path of the metadata of a partial file. */
function metadataPath(path: string): string {
  return `${path}.json`;
}

async function removePart(path: string): Promise<void> {
  await rm(path, { force: true });
  await rm(metadataPath(path), { force: true });
}

/**
 * Returns the partial files of a target that no process writes to, the longest first: those that were
 * released, whose process has ended, or that have not been modified for an hour.
 */
async function findAbandoned(target: string, prefix: string): Promise<Abandoned[]> {
  const folder = dirname(target);
  const found: Abandoned[] = [];
  const names = new Set(await readdir(folder));
  for (const name of names) {
    const [, part = '', of, host, pid = '', metadataEnding] = namePattern.exec(name) ?? [];
    if (of === undefined || !prefix.startsWith(`.${of}-`)) continue;
    // Metadata counts only if its partial file is missing, after a crash between the two.
    const isLost = metadataEnding !== undefined;
    if (isLost && names.has(part)) continue;
    const path = join(folder, part);
    const file = await lstat(join(folder, name)).catch(() => undefined);
    if (file === undefined) continue;
    const isRecent = Date.now() - file.mtimeMs < abandonedAfter;
    // Metadata without a partial file may belong to one that is being renamed.
    if (isLost && isRecent) continue;
    const isEnded = host === thisProcess().host && isRunning(Number(pid)) === false;
    const isOwned = host !== undefined && isRecent && !isEnded;
    const isSame = !isLost && name.startsWith(`${prefix}.`);
    if (!isOwned) found.push({ path, size: file.size, isSame });
  }
  return found.toSorted((one, other) => other.size - one.size);
}

/** Parses the metadata; returns `undefined` if it is invalid. */
function readResumable(text: string): Resumable | undefined {
  const { validator, total } = toFields(parseJSON(text));
  if (typeof validator !== 'string') return undefined;
  return { validator, total: typeof total === 'number' ? total : undefined };
}

/** Takes over a partial file; returns `undefined` if another process was faster. */
async function takeOver(path: string, partPath: string): Promise<GrowingFile | undefined> {
  try {
    await rename(path, partPath);
    await rename(metadataPath(path), metadataPath(partPath)).catch(() => {});
    const file = await GrowingFile.reopen(partPath);
    if (file === undefined) await removePart(partPath);
    return file;
  } catch {
    return undefined;
  }
}
