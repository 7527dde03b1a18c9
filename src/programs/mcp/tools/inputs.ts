import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { audioFormats, findFormatByBytes, imageFormats } from '../../../answers/bytes.ts';
import { ToolError } from './errors.ts';
import type { Input } from '../jobs/job.ts';
import { readHead } from '../jobs/outputs.ts';
import { isPublicHost } from './public-host.ts';

/** The largest input file, in bytes. */
const maxBytes = 100 * 1_024 * 1_024;

/** Folders whose files may be read, and hosts whose URLs may be passed to the gateway. */
export interface InputRules {
  readonly folders: readonly string[];
  /** Empty to allow all public hosts. */
  readonly hosts: readonly string[];
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '' && !way.startsWith('..') && !isAbsolute(way);
}

/** Returns the real path of a file in one of the folders. Symbolic links are followed before the check. */
async function findFile(path: string, { folders }: InputRules): Promise<string> {
  const candidates = isAbsolute(path) ? [path] : folders.map((folder) => resolve(folder, path));
  const roots = await Promise.all(folders.map((folder) => realpath(folder).catch(() => folder)));
  let isOutside = false;
  for (const candidate of candidates) {
    const found = await realpath(candidate).catch(() => undefined);
    if (found === undefined) continue;
    if (roots.some((root) => isInside(found, root))) return found;
    isOutside = true;
  }
  const allowed = folders.join(', ') || 'no folder';
  throw isOutside || candidates.length === 0
    ? new ToolError(`${path} is outside of the folders that may be read: ${allowed}.`)
    : new ToolError(`${path} does not exist. Files are read from ${allowed}.`);
}

async function openFile(path: string, kind: 'image' | 'audio', rules: InputRules): Promise<Input> {
  const found = await findFile(path, rules);
  const { size } = await stat(found).then(
    (file) => (file.isFile() ? file : { size: 0 }),
    () => ({ size: 0 }),
  );
  if (size === 0) throw new ToolError(`${path} is empty or not a file.`);
  if (size > maxBytes) throw new ToolError(`${path} is larger than 100 MiB.`);
  const format = findFormatByBytes(await readHead(found));
  const formats = kind === 'image' ? imageFormats : audioFormats;
  if (format === undefined || !formats.includes(format)) {
    const known = formats.flatMap(({ types }) => Object.keys(types)).join(', ');
    const problem = `${path} is not ${kind === 'image' ? 'an image' : 'an audio file'} (${known}).`;
    throw new ToolError(problem);
  }
  const hash = createHash('sha256');
  await pipeline(createReadStream(found), hash);
  return { path: found, sha256: hash.digest('hex') };
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

/** Opens a file or checks a URL. @throws `ToolError` if it may not be used */
export async function openInput(
  pathOrURL: string,
  kind: 'image' | 'audio',
  rules: InputRules,
): Promise<Input> {
  const isURL = /^[a-z][a-z\d+.-]+:/i.test(pathOrURL) && !/^[a-z]:[\\/]/i.test(pathOrURL);
  if (!isURL) return openFile(pathOrURL, kind, rules);
  if (kind === 'image') return checkURL(pathOrURL, rules);
  throw new ToolError('Pass the path of a local audio file.');
}
