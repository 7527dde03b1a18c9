import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { InvalidInputError } from '../errors/gateway-error.ts';

/** Options of {@link saveTo}. */
export interface SaveOptions {
  /** Stops the download. Nothing is left behind. */
  signal?: AbortSignal | undefined;
  /** Called after each chunk with the bytes so far, and the total where the answer tells it. */
  onProgress?: ((progress: SaveProgress) => void) | undefined;
}

/** How far a download has come. */
export interface SaveProgress {
  /** Bytes written so far. */
  readonly received: number;
  /** Bytes in all, or `undefined` when the answer does not tell. */
  readonly total: number | undefined;
}

/** A file that was written. */
export interface SavedFile {
  /** The absolute path. */
  readonly path: string;
  /** Its size in bytes. */
  readonly bytes: number;
}

const problems: Readonly<Record<string, string>> = {
  ENOENT: 'the folder does not exist; create it first.',
  ENOTDIR: 'a part of the path is a file, not a folder.',
  EISDIR: 'is a folder; give the path of a file.',
  EACCES: 'may not be written by this user.',
  EPERM: 'may not be written by this user.',
  EROFS: 'is on a file system that cannot be written.',
  ENOSPC: 'does not fit: the disk is full.',
  EDQUOT: 'does not fit: the disk quota is used up.',
};

/** Says in words what kept a file from being written; other errors pass as they are. */
function explain(error: unknown, path: string): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const problem = typeof code === 'string' ? problems[code] : undefined;
  return problem === undefined
    ? error
    : new InvalidInputError('path', `"${path}" ${problem}`, { cause: error });
}

/** Where the bytes of a result come from: a `Response`, a `Blob`, or the bytes themselves. */
type Savable = Response | Blob | Uint8Array;

function openBody(source: Savable): { body: Readable; total: number | undefined } {
  if (source instanceof Uint8Array) {
    return { body: Readable.from([source]), total: source.byteLength };
  }
  if (source instanceof Blob) {
    return { body: Readable.from(source.stream()), total: source.size };
  }
  if (source.body === null || source.bodyUsed) {
    throw new InvalidInputError('response', 'has no body left to save; it was already read.');
  }
  const length = source.headers.get('content-length');
  const isEncoded = source.headers.has('content-encoding');
  const total = length === null || isEncoded ? undefined : Number(length);
  return { body: Readable.from(source.body), total };
}

/** Without it a crash right after the rename could leave an empty file under the final name. */
async function flush(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Writes a downloaded file to disk.
 *
 * The bytes stream into a temporary file beside `path`, which takes its place only when everything
 * has come, so `path` never holds half a file. Memory stays flat whatever the size.
 *
 * @param source - What `audio.speech.create()` or `videos.downloadContent()` returned.
 * @param path - The file to write. An existing one is replaced.
 * @throws `InvalidInputError` when the file cannot be written, with the reason
 * @throws `UnexpectedResponseError` when the body breaks off or is shorter than announced
 *
 * @example
 * await saveTo(await client.videos.downloadContent(video), 'out.mp4');
 */
export async function saveTo(
  source: Savable,
  path: string,
  options: SaveOptions = {},
): Promise<SavedFile> {
  if (typeof path !== 'string' || path === '') {
    throw new InvalidInputError('path', 'is empty; give the file to write.');
  }
  const target = resolve(path);
  const { body, total } = openBody(source);
  const temporary = join(
    dirname(target),
    `.${basename(target)}.${randomBytes(6).toString('hex')}.part`,
  );
  let received = 0;
  body.on('data', (chunk: Uint8Array) => {
    received += chunk.byteLength;
    options.onProgress?.({ received, total });
  });
  try {
    await pipeline(body, createWriteStream(temporary, { flags: 'wx' }), {
      signal: options.signal,
    });
    await flush(temporary);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw explain(error, path);
  }
  return { path: target, bytes: received };
}
