import { createHash } from 'node:crypto';
import { type FileHandle, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { systemErrorCode } from '../../../adapters/node/durable.ts';
import { audioFormats, findFormatByBytes, imageFormats } from '../../../answers/bytes.ts';
import type { Input } from '../jobs/job.ts';
import { findOpened, openFile, readHead } from '../jobs/opened.ts';
import { ToolError } from './errors.ts';
import { isPublicHost } from './public-host.ts';

/** The largest input file, in bytes. */
const maxBytes = 100 * 1_024 * 1_024;

/** Folders whose files may be read, and hosts whose URLs may be passed to the gateway. */
export interface InputRules {
  readonly folders: readonly string[];
  /** Empty to allow all public hosts. */
  readonly hosts: readonly string[];
  /** Returns whether a path is that of a result, which may be read wherever it was saved. */
  readonly isResult: (path: string) => Promise<boolean>;
}

/** A file that may be read, by its real path. */
interface Found {
  readonly path: string;
  readonly isAllowed: (path: string) => boolean;
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '' && !way.startsWith('..') && !isAbsolute(way);
}

const outside = (path: string, folders: readonly string[]): ToolError =>
  new ToolError(
    `${path} is outside of the folders that may be read: ${folders.join(', ') || 'no folder'}.`,
  );

/** Returns the real path of a file that may be read. Symbolic links are followed before the check. */
async function findFile(path: string, { folders, isResult }: InputRules): Promise<Found> {
  const candidates = isAbsolute(path) ? [path] : folders.map((folder) => resolve(folder, path));
  const roots = await Promise.all(folders.map((folder) => realpath(folder).catch(() => folder)));
  // A link in place of a result is not one.
  const result = (await isResult(path))
    ? join(await realpath(dirname(path)).catch(() => ''), basename(path))
    : undefined;
  const isAllowed = (real: string): boolean =>
    real === result || roots.some((root) => isInside(real, root));
  let isOutside = false;
  for (const candidate of candidates) {
    const found = await realpath(candidate).catch(() => undefined);
    if (found === undefined) continue;
    if (isAllowed(found)) return { path: found, isAllowed };
    isOutside = true;
  }
  throw isOutside || candidates.length === 0
    ? outside(path, folders)
    : new ToolError(`${path} does not exist. Files are read from ${folders.join(', ')}.`);
}

/** Returns the digest of an open file. @throws `ToolError` if it is of another kind or too large */
async function digestFile(
  file: FileHandle,
  path: string,
  kind: 'image' | 'audio',
): Promise<string> {
  const stats = await file.stat();
  const size = stats.isFile() ? stats.size : 0;
  if (size === 0) throw new ToolError(`${path} is empty or not a file.`);
  if (size > maxBytes) throw new ToolError(`${path} is larger than 100 MiB.`);
  const format = findFormatByBytes(await readHead(file));
  const formats = kind === 'image' ? imageFormats : audioFormats;
  if (format === undefined || !formats.includes(format)) {
    const known = formats.flatMap(({ types }) => Object.keys(types)).join(', ');
    const problem = `${path} is not ${kind === 'image' ? 'an image' : 'an audio file'} (${known}).`;
    throw new ToolError(problem);
  }
  const hash = createHash('sha256');
  // A file that grows meanwhile must not be read without end.
  await pipeline(file.createReadStream({ start: 0, end: maxBytes, autoClose: false }), hash);
  return hash.digest('hex');
}

/** Opens a file once, checks what was opened, and reads that: a path may lead elsewhere a moment later. */
async function checkFile(path: string, kind: 'image' | 'audio', rules: InputRules): Promise<Input> {
  const { path: found, isAllowed } = await findFile(path, rules);
  const file = await openFile(found).catch((error: unknown) => {
    const code = systemErrorCode(error);
    // Windows opens no folders.
    if (code === 'EISDIR') throw new ToolError(`${path} is empty or not a file.`);
    throw new ToolError(`${path} cannot be read (${code}).`);
  });
  try {
    const opened = await findOpened(file, found);
    if (opened === undefined || !isAllowed(opened)) throw outside(path, rules.folders);
    return { path: opened, sha256: await digestFile(file, path, kind) };
  } finally {
    await file.close();
  }
}

/** Returns the path of a result by its URI. @throws `ToolError` for other URIs */
async function findResult(uri: string, { isResult }: InputRules): Promise<string> {
  try {
    const path = fileURLToPath(uri);
    if (await isResult(path)) return path;
  } catch {
    // Its host or its path is not one of this computer.
  }
  throw new ToolError(`${uri} is not a result of these tools. Pass the path of any other file.`);
}

/** Checks a URL that the gateway will fetch. */
function checkURL(text: string, { hosts }: InputRules): Input {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (
    url === undefined ||
    url.protocol !== 'https:' ||
    url.username !== '' ||
    url.password !== ''
  ) {
    throw new ToolError('URLs of images must begin with https:// and have no password.');
  }
  const isAllowed = hosts.length === 0 ? isPublicHost(url.hostname) : hosts.includes(url.hostname);
  if (isAllowed) return { url: url.href };
  throw new ToolError(`URLs of the host ${url.hostname} are not allowed.`);
}

/**
 * Opens a file or checks a URL.
 *
 * @param input - The path of a file, the path or `file:` URI of a result, or the URL of an image
 * @throws `ToolError` if it may not be used
 */
export async function openInput(
  input: string,
  kind: 'image' | 'audio',
  rules: InputRules,
): Promise<Input> {
  if (/^file:/i.test(input)) return checkFile(await findResult(input, rules), kind, rules);
  const isURL = /^[a-z][a-z\d+.-]+:/i.test(input) && !/^[a-z]:[\\/]/i.test(input);
  if (!isURL) return checkFile(input, kind, rules);
  if (kind === 'image') return checkURL(input, rules);
  throw new ToolError('Pass the path of a local audio file.');
}
