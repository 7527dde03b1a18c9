import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Gateway } from '../index.ts';
import { UsageError } from './usage.ts';

/** Options that every command takes. */
export interface CommonOptions {
  readonly baseUrl?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly timeout?: number | undefined;
  readonly json?: boolean | undefined;
}

function folder(variable: string, windows: string, others: readonly string[]): string {
  const { [variable]: given = '', [windows]: onWindows = '' } = process.env;
  if (given !== '') return join(given, 'model-gateway');
  if (process.platform === 'win32' && onWindows !== '') return join(onWindows, 'model-gateway');
  return join(homedir(), ...others, 'model-gateway');
}

/** The folder of the key: `~/.config/model-gateway`. */
function configFolder(): string {
  return folder('XDG_CONFIG_HOME', 'APPDATA', ['.config']);
}

/** The folder of ledgers and records: `~/.local/state/model-gateway`. */
export function stateFolder(): string {
  return folder('XDG_STATE_HOME', 'LOCALAPPDATA', ['.local', 'state']);
}

const howToTry = 'To try it without a gateway, run "npx model-gateway emulator".';

async function keyFromFile(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  if (!found.isFile()) throw new UsageError(`${path} is no file. A key file holds the key alone.`);
  // Windows has no such bits.
  if (process.platform !== 'win32' && (found.mode & 0o077) !== 0) {
    throw new UsageError(`Others can read ${path}. Close it with: chmod 600 ${path}`);
  }
  const key = (await readFile(path, 'utf8')).trim();
  if (key === '' || /\s/.test(key)) throw new UsageError(`${path} must hold one key and no more.`);
  return key;
}

/** The key: from the environment, or a file that nobody else can read. Never from an argument. */
export async function readKey({ keyFile }: CommonOptions): Promise<string> {
  const { GATEWAY_API_KEY: key = '', GATEWAY_API_KEY_FILE: named = '' } = process.env;
  const path = keyFile ?? (named === '' ? undefined : named);
  if (path !== undefined) {
    const read = await keyFromFile(path);
    if (read !== undefined) return read;
    throw new UsageError(`The key file ${path} does not exist.`);
  }
  if (key !== '') return key;
  const usual = join(configFolder(), 'key');
  const read = await keyFromFile(usual);
  if (read !== undefined) return read;
  throw new UsageError(
    `There is no key. Set GATEWAY_API_KEY, or put the key into ${usual} (chmod 600). ${howToTry}`,
  );
}

/** The address of the gateway. */
export function readBaseURL({ baseUrl }: CommonOptions): string {
  const address = baseUrl ?? process.env['GATEWAY_BASE_URL'] ?? '';
  if (address !== '') return address;
  throw new UsageError(
    `There is no base URL. Set GATEWAY_BASE_URL, or give --base-url https://… ${howToTry}`,
  );
}

/** A client as the environment and the options say. */
export async function openClient(options: CommonOptions): Promise<Gateway> {
  const baseURL = readBaseURL(options);
  const apiKey = await readKey(options);
  return new Gateway({ baseURL, apiKey, totalTimeout: options.timeout ?? null });
}
