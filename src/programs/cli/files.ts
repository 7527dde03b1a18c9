import { errorMessage } from '../../answers/objects.ts';
import { findUnread } from '../unread.ts';
import { access, constants, mkdir, stat, readFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, extname, resolve } from 'node:path';
import {
  decodeBytes,
  decodeDataURL,
  defaultExtension,
  findFormatByBytes,
  imageTypeExtension,
  sniffLength,
} from '../../answers/bytes.ts';
import type { Image, Uploadable } from '../../index.ts';
import { FileError, fileFromPath, saveTo, type Savable } from '../../adapters/node/index.ts';
import { describeOddFile, type Medium } from '../first-bytes.ts';
import { describeRemark } from '../advice.ts';
import { writeToFreeName } from '../free-names.ts';
import { stateFolder } from './settings.ts';
import type { Terminal } from './terminal.ts';
import { exitCodes, UsageError } from './usage.ts';

/** Returns `true` for an http(s) or data URL, `false` for a file path. */
export function isAddress(pathOrURL: string): boolean {
  return /^(https?|data):/.test(pathOrURL);
}

/** Opens a file for an upload. */
export async function openFile(path: string): Promise<Uploadable> {
  try {
    return await fileFromPath(path);
  } catch {
    throw new UsageError(`The file ${path} cannot be read.`);
  }
}

/** Shows the error that a gateway sent beside a result. */
export function noteRemark(error: Parameters<typeof describeRemark>[0], terminal: Terminal): void {
  const remark = describeRemark(error);
  if (remark !== undefined) terminal.note(remark);
}

/** Options that select the output file. */
export interface OutOptions {
  readonly out?: string | undefined;
  readonly force?: boolean | undefined;
}

async function fileKind(path: string): Promise<'file' | 'folder' | 'device' | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  if (found.isFile()) return 'file';
  return found.isDirectory() ? 'folder' : 'device';
}

/** Where results are saved, checked before the call is paid for. */
export interface Targets {
  readonly folder: string;
  /**
   * Saves a result and returns its path.
   *
   * @param write - Writes the file to a path, which may be a temporary one.
   */
  write(extension: string, write: (path: string) => Promise<unknown>): Promise<string>;
}

/** Returns the current time for a file name. */
function stamp(): string {
  return new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
}

/** Saves results in a folder under unused names. */
const unusedNames = (folder: string, name: string): Targets => ({
  folder,
  write: (extension, write) => writeToFreeName(folder, name, extension, write),
});

/**
 * Chooses the output paths.
 *
 * @param out - A file, or a folder for several results. The default is the current folder, under unused names.
 * @throws `UsageError` if the path cannot be written, or exists and `force` is not set
 */
export async function chooseTargets(
  kind: string,
  { out, force = false }: OutOptions,
  count = 1,
): Promise<Targets> {
  const path = out === undefined ? undefined : resolve(out);
  const found = path === undefined ? undefined : await fileKind(path);
  const isFolder = path !== undefined && (found === 'folder' || /[/\\]$/.test(out ?? ''));
  if (path !== undefined && !isFolder) {
    if (count > 1) {
      throw new UsageError(`--out must be a folder for ${count} results, such as ${out}/`);
    }
    if (found === 'file' && !force) {
      throw new UsageError(`${out} exists. Choose another name, or pass --force to replace it.`);
    }
    if (found === 'device') {
      throw new UsageError(`${out} is not a regular file. Choose another name.`);
    }
    if ((await fileKind(dirname(path))) !== 'folder') {
      throw new UsageError(`The folder ${dirname(path)} does not exist.`);
    }
    await access(dirname(path), constants.W_OK).catch(() => {
      throw new UsageError(`The folder ${dirname(path)} is not writable. Choose another.`);
    });
    return {
      folder: dirname(path),
      async write(_, write) {
        await write(path);
        return path;
      },
    };
  }
  const folder = path ?? process.cwd();
  try {
    if (isFolder) await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK);
  } catch {
    throw new UsageError(`The folder ${folder} is not writable. Choose another with --out.`);
  }
  return unusedNames(folder, `${kind}-${stamp()}`);
}

/**
 * Saves a result that has been paid for.
 *
 * If that fails, the program exits with 3.
 *
 * @returns the path; if it could not be saved, the address of an image, or a data URL if stdout is not a
 * terminal; `undefined` if the result is lost
 */
export async function save(
  source: Exclude<Savable, Response | Blob>,
  extension: string,
  targets: Targets,
  terminal: Terminal,
): Promise<string | undefined> {
  try {
    return await saveSomewhere(source, extension, targets, terminal);
  } catch (error) {
    process.exitCode = exitCodes.unknown;
    const problem = errorMessage(error);
    const url = 'url' in source ? source.url : undefined;
    if (url != null && url !== '') {
      terminal.note(
        `The result could not be saved: ${problem}\nIt was charged. Its address: ${url}`,
      );
      return url;
    }
    const bytes = 'byteLength' in source ? source : Buffer.from(source.b64_json ?? '', 'base64');
    if (terminal.isOutput || bytes.byteLength === 0) {
      const tried = folders(targets).join(', ');
      terminal.note(
        `${problem}\nThe result was charged and is lost: it could not be written to ${tried}.`,
      );
      return undefined;
    }
    terminal.note(
      `${problem}\nThe result was charged, so it is written to standard output as a data URL.`,
    );
    return `data:application/octet-stream;base64,${Buffer.from(bytes).toString('base64')}`;
  }
}

/** Returns the folders for a result, in the order of the attempts. */
function folders({ folder }: Targets): string[] {
  return [...new Set([folder, tmpdir(), stateFolder(), homedir()])];
}

/** Saves a file, in a fallback folder if its own is not writable. */
async function saveSomewhere(
  source: Savable,
  extension: string,
  targets: Targets,
  terminal: Terminal,
): Promise<string> {
  const [, ...others] = folders(targets);
  const write = (path: string) => saveTo(source, path);
  try {
    return await targets.write(extension, write);
  } catch (error) {
    if (!FileError.isInstance(error)) throw error;
    for (const folder of others) {
      try {
        const elsewhere = unusedNames(folder, `model-gateway-${stamp()}`);
        const saved = await elsewhere.write(extension, write);
        terminal.note(`${error.message}\nThe result was charged, so it is saved in ${saved}`);
        return saved;
      } catch (other) {
        if (!FileError.isInstance(other)) throw other;
      }
    }
    throw error;
  }
}

/** Detects the file extension of an image from its bytes, or from the type that the gateway sent. PNG is the default. */
export function imageExtension({ b64_json: base64, url, media_type: declared }: Image): string {
  const inline = decodeDataURL(url ?? '') ?? decodeBytes(base64?.slice(0, 2 * sniffLength) ?? '');
  const format = findFormatByBytes(inline?.bytes ?? new Uint8Array());
  if (format !== undefined) return defaultExtension(format);
  return imageTypeExtension(declared ?? inline?.type) ?? 'png';
}

/**
 * Saves the response of a paid call in which no result was found, beside the result's own path, and prints its path.
 *
 * @param out - The file or folder for the result.
 */
export async function saveUnread(
  error: unknown,
  out: string | undefined,
  terminal: Terminal,
): Promise<void> {
  const unread = findUnread(error);
  if (unread === undefined) return;
  const path = out === undefined ? process.cwd() : resolve(out);
  const isFolder = out === undefined || (await fileKind(path)) === 'folder';
  const folder = isFolder ? path : dirname(path);
  const name = isFolder ? `response-${stamp()}` : `${basename(path)}.response`;
  const targets = unusedNames(folder, name);
  try {
    const saved = await saveSomewhere(
      Buffer.from(unread.body),
      unread.extension,
      targets,
      terminal,
    );
    const what = unread.isPart ? 'the part before the failure' : 'all of it';
    terminal.note(`The response may be paid for, so ${what} is saved in ${saved}`);
  } catch (problem) {
    terminal.note(`The response may be paid for, but was not saved: ${errorMessage(problem)}`);
  }
}

/** Prints a note if an image is not in the format of its file name, because the gateway ignored the request. */
export async function noteOtherFormat(path: string, terminal: Terminal): Promise<void> {
  if (isAddress(path)) return;
  const format = findFormatByBytes((await readFile(path)).subarray(0, sniffLength));
  const actual = format === undefined ? undefined : defaultExtension(format);
  const expected = extname(path).slice(1).toLowerCase().replace('jpeg', 'jpg');
  if (actual === undefined || expected === '' || actual === expected) return;
  const [requested, received] = [expected, actual].map((name) => name.toUpperCase());
  terminal.note(`${path} contains ${received}, although ${requested} was requested.`);
}

/** Prints a note, and exits with 3, if a saved result does not begin like a file of its medium. */
export async function noteOddFile(path: string, medium: Medium, terminal: Terminal): Promise<void> {
  if (isAddress(path)) return;
  const problem = await describeOddFile(path, medium);
  if (problem === undefined) return;
  process.exitCode = exitCodes.unknown;
  terminal.note(problem);
}

/** Encodes an image for Kitty's graphics protocol, in sequences of at most 4,096 characters. */
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

/** Returns the image protocol of this terminal, if it has one. */
function imageProtocol(): 'kitty' | 'iterm' | undefined {
  const { TERM = '', TERM_PROGRAM = '', KITTY_WINDOW_ID, TMUX } = process.env;
  if (TMUX !== undefined) return undefined;
  if (KITTY_WINDOW_ID !== undefined || /kitty|ghostty/.test(TERM)) return 'kitty';
  return /iTerm|WezTerm/.test(TERM_PROGRAM) ? 'iterm' : undefined;
}

/** Shows an image if the terminal supports it. */
export async function showImage(path: string, terminal: Terminal): Promise<void> {
  const protocol = terminal.isOutput ? imageProtocol() : undefined;
  if (isAddress(path)) return;
  // Kitty accepts PNG only.
  if (protocol === undefined || (protocol === 'kitty' && !path.endsWith('.png'))) return;
  const base64 = (await readFile(path)).toString('base64');
  terminal.raw(`${protocol === 'kitty' ? kitty(base64) : iterm(base64)}\n`);
}
