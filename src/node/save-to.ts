import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { UnexpectedResponseError } from '../errors/api-errors.ts';
import { check, checkFunction, checkObject, checkSignal, checkText } from '../check.ts';
import { hasDigest } from './digests.ts';
import { explainFileError } from './file-error.ts';
import { checkTarget, GrowingFile, moveInto } from './durable.ts';
import { checkSavable, discard, openSavable, type OpenBody, type Savable } from './savable.ts';

/** Options of {@link saveTo}. */
export interface SaveOptions {
  /** Stops the download. Nothing is left behind. */
  signal?: AbortSignal | undefined;
  /**
   * Called after each chunk with the bytes so far, and the total where the answer tells it. It is
   * awaited; if it throws, the download ends with its error.
   */
  onProgress?: ((progress: SaveProgress) => unknown) | undefined;
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

/** The absolute path of a file to be written. */
export function checkPath(field: string, path: unknown): string {
  const text = checkText(field, path, 'the path of the file to write');
  check(!text.includes('\0'), field, 'may not hold a zero character.');
  return resolve(text);
}

/** Checks the options of whatever is saved. */
export function checkSaveOptions({ signal, onProgress }: SaveOptions): void {
  checkSignal(signal);
  checkFunction('onProgress', onProgress);
}

/** The error for what is not, or not all of, the file. */
export function notWhole(problem: string): UnexpectedResponseError {
  const advice = 'Downloads are free, so it is safe to repeat them.';
  return new UnexpectedResponseError(`The file is not whole: ${problem}`, {
    outcome: 'unknown',
    advice,
  });
}

/** Writes a body to the end of a file. */
export async function receive(
  body: Pick<OpenBody, 'read' | 'cancel' | 'total'>,
  file: GrowingFile,
  { signal, onProgress }: SaveOptions,
): Promise<void> {
  // Not every body ends by itself when its caller aborts.
  const cancel = (): void => body.cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    for (;;) {
      signal?.throwIfAborted();
      const bytes = await body.read();
      signal?.throwIfAborted();
      if (bytes === undefined) return;
      await file.append(bytes);
      // It could go on until the disk is full.
      if (body.total !== undefined && file.size > body.total) {
        throw notWhole(`more than ${body.total} bytes have come.`);
      }
      await onProgress?.({ received: file.size, total: body.total });
    }
  } catch (error) {
    cancel();
    throw error;
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
}

/** Checks a file that was received. */
export async function checkWhole(
  { total, digest }: Pick<OpenBody, 'total' | 'digest'>,
  file: GrowingFile,
): Promise<void> {
  if (total !== undefined && file.size !== total) {
    throw notWhole(`${file.size} of ${total} bytes have come.`);
  }
  if (digest !== undefined && !(await hasDigest(file.path, digest))) {
    throw notWhole(`its ${digest.algorithm} digest is not the one that was announced.`);
  }
}

/**
 * Writes a result to disk.
 *
 * The bytes stream into a temporary file beside `path`, which takes its place only when everything
 * has come, so `path` never holds half a file. The length is checked, and a digest where the answer
 * has one. Memory stays flat whatever the size, except for base64 and data URLs.
 *
 * @param source - What `audio.speech.create()` or `videos.downloadContent()` returned, an image of
 * `images.generate()`, or bytes. The URL of an image is fetched without the key.
 * @param path - The file to write. An existing one is replaced.
 * @throws `FileError` when the file cannot be written, with the reason
 * @throws `UnexpectedResponseError` when the body breaks off, or is not as long as announced
 *
 * @example
 * await saveTo(await client.audio.speech.create({ model, voice, input }), 'speech.mp3');
 */
export async function saveTo(
  source: Savable,
  path: string,
  options: SaveOptions = {},
): Promise<SavedFile> {
  const target = checkPath('path', path);
  checkObject('options', options);
  const given = options ?? {};
  checkSaveOptions(given);
  checkSavable(source);
  const temporary = join(dirname(target), `.${randomBytes(12).toString('hex')}.part`);
  let file: GrowingFile | undefined;
  try {
    await checkTarget(target);
    file = await GrowingFile.create(temporary);
    const body = await openSavable(source, given.signal);
    await receive(body, file, given);
    await checkWhole(body, file);
    await file.sync();
    await file.close();
    await moveInto(target, temporary);
    return { path: target, bytes: file.size };
  } catch (error) {
    discard(source);
    await file?.close();
    await rm(temporary, { force: true });
    throw explainFileError(error, target);
  }
}
