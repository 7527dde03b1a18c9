import { access, constants, lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import {
  defaultExtension,
  findFormatByBytes,
  findFormatByExtension,
  imageTypeExtension,
} from '../../../answers/bytes.ts';
import { errorMessage } from '../../../answers/objects.ts';
import type { ImagesResponse, ImageWaitError } from '../../../index.ts';
import { readStatusWord } from '../../../tasks/reading.ts';
import { describeRemark } from '../../advice.ts';
import { describeOddFile, type Medium } from '../../first-bytes.ts';
import { findUnread } from '../../unread.ts';
import { FileError, saveTo, type Savable } from '../../../adapters/node/index.ts';
import { systemErrorCode } from '../../../adapters/node/durable.ts';
import { moveToFreeName, temporaryPath } from '../../free-names.ts';
import type { JobRecord, JobUpdate, OutputFile } from './job.ts';
import { withoutAdvice } from './messages.ts';
import { openFile, readHead } from './opened.ts';
import { makeThumbnail } from './make-thumbnail.ts';

/** Creates a folder for results. @throws if it cannot be written */
export async function prepareFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await access(folder, constants.W_OK);
}

/** Returns whether a failure is one of the folder, so that another one may work. */
export function isFileProblem(error: unknown): boolean {
  return FileError.isInstance(error) || systemErrorCode(error) !== '';
}

/**
 * Returns the extension of a file by its content.
 *
 * @param type - The type that the gateway sent, for content without a signature, such as SVG.
 */
async function findExtension(path: string, type?: string): Promise<string> {
  const file = await openFile(path);
  try {
    const format = findFormatByBytes(await readHead(file));
    if (format !== undefined) return defaultExtension(format);
    return imageTypeExtension(type) ?? 'bin';
  } finally {
    await file.close();
  }
}

/** Saves a result in a folder under an unused name. The temporary file is complete once it exists. */
async function saveIn(
  source: Savable,
  folder: string,
  name: string,
  extension: string | undefined,
  type: string | undefined,
): Promise<OutputFile> {
  await prepareFolder(folder);
  const temporary = temporaryPath(folder, name);
  const { bytes } = await saveTo(source, temporary);
  const ending = extension ?? (await findExtension(temporary, type));
  const path = await moveToFreeName(temporary, folder, name, ending);
  return { path, mimeType: mimeType(path), bytes };
}

/**
 * Saves a result that was paid for, in the first folder that can be written.
 *
 * @param folders - In order of preference. The folder for temporary files follows.
 * @param extension - The default is that of the content, or else of the type that the gateway sent.
 * @throws the error of the first folder if none can be written
 */
export async function saveOutput(
  source: Savable,
  folders: readonly string[],
  name: string,
  extension?: string,
  type?: string,
): Promise<OutputFile> {
  let failure: unknown;
  for (const folder of [...folders, tmpdir()]) {
    try {
      return await saveIn(source, folder, name, extension, type);
    } catch (error) {
      failure ??= error;
      // Another folder doesn't help if the result itself cannot be read.
      if (!isFileProblem(error)) throw error;
    }
  }
  throw failure;
}

/** Names the complete files of a process that was killed before it could. */
async function nameLeftovers(folder: string, name: string): Promise<void> {
  for (const entry of await readdir(folder)) {
    const isLeftover =
      entry.startsWith(`.${name}.`) && /^[\da-f]{12}\.part$/.test(entry.slice(name.length + 2));
    if (!isLeftover) continue;
    const path = join(folder, entry);
    const { nlink } = await lstat(path);
    // It was killed between the two steps of the move.
    if (nlink > 1) await rm(path);
    else await moveToFreeName(path, folder, name, await findExtension(path));
  }
}

/** Returns the files that `saveOutput` has written under a name, by their numbers. */
async function findOutputs(folder: string, name: string): Promise<OutputFile[]> {
  await nameLeftovers(folder, name);
  const found: { readonly number: number; readonly file: OutputFile }[] = [];
  for (const entry of await readdir(folder)) {
    if (!entry.startsWith(name)) continue;
    const match = /^(?:-(\d+))?\.[a-z\d]+$/.exec(entry.slice(name.length));
    if (match === null) continue;
    const path = join(folder, entry);
    const stats = await lstat(path);
    // An empty file reserves the name of one that is being moved.
    if (!stats.isFile() || stats.size === 0) continue;
    const file = { path, mimeType: mimeType(path), bytes: stats.size };
    found.push({ number: Number(match[1] ?? 1), file });
  }
  return found.toSorted((a, b) => a.number - b.number).map(({ file }) => file);
}

/** Saved images, with a small version of the first. */
export interface SavedImages extends Pick<JobUpdate, 'state'> {
  readonly files: readonly OutputFile[];
  readonly thumbnail: string | undefined;
  /** What the gateway reports beside the images. */
  readonly message: string | undefined;
}

/** Returns a small version of the first file, if it is an image that can be decoded. */
async function readThumbnail([file]: readonly OutputFile[]): Promise<string | undefined> {
  return file?.mimeType.startsWith('image/') === true ? makeThumbnail(file.path) : undefined;
}

/** Returns the result of a process that ended before it recorded the files that it had saved. */
export async function findResult(
  { folder, name, count }: JobRecord,
  spareFolder: string,
): Promise<JobUpdate | undefined> {
  const files: OutputFile[] = [];
  for (const each of [folder, spareFolder, tmpdir()]) {
    // A folder that cannot be read has no result that can be returned.
    files.push(...(await findOutputs(each, name).catch(() => [])));
  }
  if (files.length === 0) return undefined;
  const message =
    files.length < count
      ? `${files.length} of ${count} images were saved before the process ended; the others are lost.`
      : undefined;
  return { state: 'done', charged: 'yes', message, files, thumbnail: await readThumbnail(files) };
}

/** Returns the end of a job whose files are saved, but cannot be opened; nothing if they can. */
export async function checkFiles(
  files: readonly OutputFile[],
  medium: Medium,
): Promise<Pick<JobUpdate, 'state' | 'message'>> {
  const problems = await Promise.all(files.map(({ path }) => describeOddFile(path, medium)));
  const message = problems.filter((problem) => problem !== undefined).join(' ');
  return message === '' ? {} : { state: 'failed', message };
}

/**
 * Saves the images of a response.
 *
 * @param count - The number of requested images.
 * @param onSaved - Called and awaited with the files so far.
 */
export async function saveImages(
  { data, error }: ImagesResponse,
  folders: readonly string[],
  name: string,
  count: number,
  onSaved?: (files: readonly OutputFile[]) => Promise<unknown>,
): Promise<SavedImages> {
  const files: OutputFile[] = [];
  for (const image of data) {
    files.push(await saveOutput(image, folders, name, undefined, image.media_type));
    await onSaved?.(files);
  }
  const saved = { files, thumbnail: await readThumbnail(files) };
  const number =
    files.length < count
      ? `The gateway returned ${files.length} of ${count} ${count === 1 ? 'image' : 'images'}.`
      : undefined;
  const { state, message: problem } = await checkFiles(files, 'image');
  const messages = [number, problem, describeRemark(error)].filter((text) => text !== undefined);
  const message = messages.length === 0 ? undefined : messages.join(' ');
  if (state === undefined && files.length > 0) return { ...saved, message };
  return { ...saved, message, state: 'failed' };
}

/** Returns whether a wait ended because the result of a completed task was not found. */
export const isCompleted = ({ lastStatus }: Pick<ImageWaitError, 'lastStatus'>): boolean =>
  readStatusWord(lastStatus).status === 'completed';

/** Saves the response behind an error in which no result was found, and names its file. */
export async function saveUnread(
  error: unknown,
  folders: readonly string[],
  name: string,
): Promise<Pick<JobUpdate, 'files' | 'message'>> {
  const unread = findUnread(error);
  if (unread === undefined) return {};
  const message = withoutAdvice(error);
  try {
    const source = Buffer.from(unread.body);
    // Not a name of a result, which would be returned to a repeated call.
    const file = await saveOutput(source, folders, `${name}-response`, unread.extension);
    const what = unread.isPart ? 'The part before the failure' : 'All of the response';
    return { files: [file], message: `${message} ${what} is saved in ${file.path}` };
  } catch (cause) {
    return { message: `${message} The response could not be saved: ${errorMessage(cause)}` };
  }
}

/** Returns the MIME type of a file by its extension. */
export function mimeType(path: string): string {
  const extension = extname(path).slice(1).toLowerCase();
  const known = findFormatByExtension(extension)?.types[extension];
  return (
    known ??
    {
      json: 'application/json',
      opus: 'audio/ogg',
      pcm: 'audio/L16',
      svg: 'image/svg+xml',
      txt: 'text/plain',
    }[extension] ??
    'application/octet-stream'
  );
}
