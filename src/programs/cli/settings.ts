import { Console } from 'node:console';
import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { HostFinder } from '../../gateways/find.ts';
import { readGateway } from '../../gateways/index.ts';
import type { GatewayName } from '../../options/gateway-profile.ts';
import { cleanKey, withoutQuotes } from '../../options/clean-key.ts';
import { Gateway, type Observer } from '../../index.ts';
import { UsageError } from './usage.ts';

/** Options of every command that calls a gateway. */
export interface CommonOptions {
  readonly baseUrl?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly header?: readonly string[] | undefined;
  readonly gateway?: 'auto' | GatewayName | undefined;
  readonly timeout?: number | undefined;
  readonly json?: boolean | undefined;
  readonly resend?: boolean | undefined;
}

function folder(variable: string, windows: string, others: readonly string[]): string {
  const { [variable]: base = '', [windows]: onWindows = '' } = process.env;
  if (base !== '') return join(base, 'model-gateway');
  if (process.platform === 'win32' && onWindows !== '') return join(onWindows, 'model-gateway');
  return join(homedir(), ...others, 'model-gateway');
}

/** Returns the folder of the key file, `~/.config/model-gateway` by default. */
function configFolder(): string {
  return folder('XDG_CONFIG_HOME', 'APPDATA', ['.config']);
}

/** Returns the folder of ledgers and records, `~/.local/state/model-gateway` by default. */
export function stateFolder(): string {
  return folder('XDG_STATE_HOME', 'LOCALAPPDATA', ['.local', 'state']);
}

const tryEmulator = 'To try it without a gateway, run "npx model-gateway emulator".';

async function keyFromFile(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  if (!found.isFile())
    throw new UsageError(`${path} is not a file. A key file contains only the key.`);
  // Windows does not have permission bits.
  if (process.platform !== 'win32' && (found.mode & 0o077) !== 0) {
    throw new UsageError(`Other users can read ${path}. Restrict it: chmod 600 ${path}`);
  }
  const key = (await readFile(path, 'utf8')).trim();
  if (key === '' || /\s/.test(key)) throw new UsageError(`${path} must contain only the key.`);
  return key;
}

/** The file of the key that needs no option. */
export const defaultKeyFile = (): string => join(configFolder(), 'key');

/** Reads the key from the environment or a private file. Arguments would expose it to other users. */
export async function readKey({ keyFile }: CommonOptions): Promise<string> {
  const { GATEWAY_API_KEY: key = '', GATEWAY_API_KEY_FILE: keyPath = '' } = process.env;
  const path = keyFile ?? (keyPath === '' ? undefined : keyPath);
  if (path !== undefined) {
    const read = await keyFromFile(path);
    if (read !== undefined) return read;
    throw new UsageError(`The key file ${path} does not exist.`);
  }
  const cleaned = cleanKey(key, (message) => openLog().warn(`[model-gateway] ${message}`));
  if (cleaned !== '') return cleaned;
  const defaultPath = defaultKeyFile();
  const read = await keyFromFile(defaultPath);
  if (read !== undefined) return read;
  throw new UsageError(
    `The key is missing. Set GATEWAY_API_KEY, or put the key into ${defaultPath} (chmod 600). ${tryEmulator}`,
  );
}

/** Returns the base URL from `--base-url` or the environment. */
export function readBaseURL({ baseUrl }: CommonOptions): string {
  const address = withoutQuotes(baseUrl ?? process.env['GATEWAY_BASE_URL'] ?? '');
  if (address !== '') return address;
  throw new UsageError(
    `The base URL is missing. Set GATEWAY_BASE_URL, or pass --base-url https://… ${tryEmulator}`,
  );
}

/**
 * Returns the function that recognizes the gateway, by `--gateway` or the environment.
 *
 * @throws `InvalidInputError` for an unknown name, listing the known ones
 */
export function readGatewayFinder({ gateway }: CommonOptions): HostFinder {
  const name = gateway ?? process.env['GATEWAY_PROFILE'] ?? '';
  return readGateway(name.trim() === '' ? 'auto' : name);
}

/**
 * Returns the headers of every request: those of `GATEWAY_HEADERS`, one a line, and of `--header`, which are visible to
 * other users.
 */
export function readHeaders({ header = [] }: CommonOptions): Readonly<Record<string, string>> {
  const lines = (process.env['GATEWAY_HEADERS'] ?? '').split(/\r?\n/);
  const headers = new Headers();
  for (const line of [...lines, ...header].filter((each) => each.trim() !== '')) {
    const [, name = '', value = ''] = /^\s*([^\s:]+)\s*:\s*(\S.*)$/.exec(line) ?? [];
    // The value may be a secret, so it is not printed.
    const shown = name === '' ? '' : ` (${name})`;
    if (name.toLowerCase() === 'authorization') {
      throw new UsageError('A header cannot replace the key: set GATEWAY_API_KEY.');
    }
    try {
      headers.set(name, value.trim());
    } catch {
      throw new UsageError(
        `A header${shown} is not valid. Use 'name: value' in --header, and one a line in GATEWAY_HEADERS.`,
      );
    }
  }
  return Object.fromEntries(headers);
}

/** Returns a logger that writes to stderr, because stdout is for results. */
export const openLog = (): Console => new Console(process.stderr);

/** Creates a client from the environment and the options. */
export async function openClient(options: CommonOptions, observer: Observer): Promise<Gateway> {
  const baseURL = readBaseURL(options);
  const apiKey = await readKey(options);
  const totalTimeout = options.timeout ?? null;
  const { gateway } = options;
  const defaultHeaders = readHeaders(options);
  return new Gateway({
    baseURL,
    gateway,
    apiKey,
    defaultHeaders,
    totalTimeout,
    // A call of a person or an agent is sent again only if the first request was free, or they ask for it.
    retryUnknownOutcome: options.resend === true ? undefined : false,
    observer,
    logger: openLog(),
  });
}
