import { access, constants, mkdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, extname, join, resolve } from 'node:path';
import type { Uploadable } from '../index.ts';
import { FileError, fileFromPath, saveTo, type Savable } from '../node/index.ts';
import type { Terminal } from './terminal.ts';
import { exitCodes, UsageError } from './usage.ts';

/** Whether an argument is an address, and no path of a file. */
export function isAddress(named: string): boolean {
  return /^(https?|data):/.test(named);
}

/** A file of the caller's, to be sent. */
export async function openFile(path: string): Promise<Uploadable> {
  try {
    return await fileFromPath(path);
  } catch {
    throw new UsageError(`The file ${path} cannot be read.`);
  }
}

/** Where results are written. */
export interface OutOptions {
  readonly out?: string | undefined;
  readonly force?: boolean | undefined;
}

async function kindOf(path: string): Promise<'file' | 'folder' | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  return found.isDirectory() ? 'folder' : 'file';
}

/** Names for results, found before anything is paid. */
export interface Targets {
  /** The path of the result with a number from 0. */
  path(index: number, extension: string): Promise<string>;
}

/** The time as part of a file name. */
function stamp(): string {
  return new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
}

async function freePath(folder: string, name: string, extension: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const path = join(folder, `${name}${number === 1 ? '' : `-${number}`}.${extension}`);
    if ((await kindOf(path)) === undefined) return path;
  }
}

/**
 * Finds out where results go, and refuses what cannot be.
 *
 * @param out - A file, or for several results a folder. Without it they go here, under names that are free.
 */
export async function chooseTargets(
  kind: string,
  { out, force = false }: OutOptions,
  count = 1,
): Promise<Targets> {
  const path = out === undefined ? undefined : resolve(out);
  const found = path === undefined ? undefined : await kindOf(path);
  const isFolder = path !== undefined && (found === 'folder' || /[/\\]$/.test(out ?? ''));
  if (path !== undefined && !isFolder) {
    if (count > 1) {
      throw new UsageError(`--out must be a folder for ${count} results, such as ${out}/`);
    }
    if (found === 'file' && !force) {
      throw new UsageError(`${out} exists. Choose another name, or give --force to replace it.`);
    }
    if ((await kindOf(dirname(path))) !== 'folder') {
      throw new UsageError(`The folder ${dirname(path)} does not exist.`);
    }
    await access(dirname(path), constants.W_OK).catch(() => {
      throw new UsageError(`The folder ${dirname(path)} cannot be written. Choose another.`);
    });
    return { path: () => Promise.resolve(path) };
  }
  const folder = path ?? process.cwd();
  try {
    if (isFolder) await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK);
  } catch {
    throw new UsageError(`The folder ${folder} cannot be written. Choose another by --out.`);
  }
  const name = `${kind}-${stamp()}`;
  return { path: (_, extension) => freePath(folder, name, extension) };
}

/**
 * Writes what was paid for, so that it is not lost: what cannot be fetched is told by its address.
 *
 * @returns the path, or the address
 */
export async function save(source: Savable, path: string, terminal: Terminal): Promise<string> {
  try {
    return await saveSomewhere(source, path, terminal);
  } catch (error) {
    const url = 'url' in source ? source.url : undefined;
    if (source instanceof Response || url == null || url === '') throw error;
    const problem = error instanceof Error ? error.message : String(error);
    terminal.note(`The result cannot be fetched: ${problem}\nIt is paid for. Its address: ${url}`);
    process.exitCode = exitCodes.refused;
    return url;
  }
}

/** Writes a file, if need be in the folder for temporary files. */
async function saveSomewhere(source: Savable, path: string, terminal: Terminal): Promise<string> {
  try {
    return (await saveTo(source, path)).path;
  } catch (error) {
    if (!FileError.isInstance(error) || source instanceof Response) throw error;
    const elsewhere = await freePath(tmpdir(), `model-gateway-${stamp()}`, extname(path).slice(1));
    terminal.note(`${error.message}\nIt is paid for, so it goes to ${elsewhere}`);
    return (await saveTo(source, elsewhere)).path;
  }
}

/** The file extension of a picture, by its first bytes in base64. */
export function pictureExtension(base64: string | null | undefined, asked = 'png'): string {
  const starts: Readonly<Record<string, string>> = { iVBOR: 'png', '/9j/': 'jpg', UklGR: 'webp' };
  const known = Object.keys(starts).find((start) => base64?.startsWith(start) === true);
  return starts[known ?? ''] ?? asked;
}
