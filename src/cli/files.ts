import { errorMessage } from '../answers/objects.ts';
import { access, constants, mkdir, stat, readFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, extname, join, resolve } from 'node:path';
import { formatOfBytes, mainExtension, sniffLength } from '../answers/bytes.ts';
import type { Uploadable } from '../index.ts';
import { FileError, fileFromPath, saveTo, type Savable } from '../node/index.ts';
import { stateFolder } from './settings.ts';
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

async function kindOf(path: string): Promise<'file' | 'folder' | 'device' | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  if (found.isFile()) return 'file';
  return found.isDirectory() ? 'folder' : 'device';
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
    if (found === 'device') {
      throw new UsageError(`${out} is not a regular file. Choose another name.`);
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
 * Writes a result that is paid for. If that fails, the program ends with 3, and standard output gets
 * the address of a picture, or a data URL of the bytes if a program reads it.
 *
 * @returns the path or the address, or `undefined` if the result is lost
 */
export async function save(
  source: Exclude<Savable, Response | Blob>,
  path: string,
  terminal: Terminal,
): Promise<string | undefined> {
  try {
    return await saveSomewhere(source, path, terminal);
  } catch (error) {
    process.exitCode = exitCodes.unknown;
    const problem = errorMessage(error);
    const url = 'url' in source ? source.url : undefined;
    if (url != null && url !== '') {
      terminal.note(`The result cannot be saved: ${problem}\nIt is paid for. Its address: ${url}`);
      return url;
    }
    const bytes = 'byteLength' in source ? source : Buffer.from(source.b64_json ?? '', 'base64');
    if (terminal.isOutput || bytes.byteLength === 0) {
      const tried = folders(path).join(', ');
      terminal.note(`${problem}\nIt is paid for, and lost: it could not be written to ${tried}.`);
      return undefined;
    }
    terminal.note(`${problem}\nIt is paid for: standard output has it as a data URL.`);
    return `data:application/octet-stream;base64,${Buffer.from(bytes).toString('base64')}`;
  }
}

/** The folders for a result, in the order in which they are tried. */
function folders(path: string): string[] {
  return [...new Set([dirname(path), tmpdir(), stateFolder(), homedir()])];
}

/** Writes a file, if need be in a folder that was not asked for. */
async function saveSomewhere(source: Savable, path: string, terminal: Terminal): Promise<string> {
  const [, ...others] = folders(path);
  try {
    return (await saveTo(source, path)).path;
  } catch (error) {
    if (!FileError.isInstance(error)) throw error;
    for (const folder of others) {
      const name = `model-gateway-${stamp()}`;
      const elsewhere = await freePath(folder, name, extname(path).slice(1));
      try {
        const { path: saved } = await saveTo(source, elsewhere);
        terminal.note(`${error.message}\nIt is paid for, so it is in ${saved}`);
        return saved;
      } catch (other) {
        if (!FileError.isInstance(other)) throw other;
      }
    }
    throw error;
  }
}

/** The file extension of a picture, by its first bytes in base64. */
export function pictureExtension(base64: string | null | undefined): string {
  const head = Buffer.from(base64?.slice(0, 2 * sniffLength) ?? '', 'base64');
  const format = formatOfBytes(head);
  return format === undefined ? 'png' : mainExtension(format);
}

/** The sequences of Kitty's protocol, each with at most 4,096 characters of base64. */
function kitty(base64: string): string {
  const pieces = base64.match(/.{1,4096}/g) ?? [];
  return pieces
    .map((piece, index) => {
      const head = index === 0 ? 'a=T,f=100,r=16,' : '';
      return `\u001B_G${head}m=${index === pieces.length - 1 ? 0 : 1};${piece}\u001B\\`;
    })
    .join('');
}

const iterm = (base64: string): string =>
  `\u001B]1337;File=inline=1;height=16;preserveAspectRatio=1:${base64}\u0007`;

/** The way in which this terminal shows pictures, if it does. */
function pictureProtocol(): 'kitty' | 'iterm' | undefined {
  const { TERM = '', TERM_PROGRAM = '', KITTY_WINDOW_ID, TMUX } = process.env;
  if (TMUX !== undefined) return undefined;
  if (KITTY_WINDOW_ID !== undefined || /kitty|ghostty/.test(TERM)) return 'kitty';
  return /iTerm|WezTerm/.test(TERM_PROGRAM) ? 'iterm' : undefined;
}

/** Shows a picture where the terminal can; its path is told in any case. */
export async function showPicture(path: string, terminal: Terminal): Promise<void> {
  const shown = terminal.isOutput ? pictureProtocol() : undefined;
  if (isAddress(path)) return;
  // Kitty takes PNG only.
  if (shown === undefined || (shown === 'kitty' && !path.endsWith('.png'))) return;
  const base64 = (await readFile(path)).toString('base64');
  terminal.raw(`${shown === 'kitty' ? kitty(base64) : iterm(base64)}\n`);
}
