import { InvalidInputError } from '../errors/gateway-error.ts';
import { Credential } from './auth.ts';
import { DriftReporter } from './drift.ts';
import { Log, parseLogLevel } from './log.ts';
import { globalFetch } from './send.ts';
import { parseBaseURL, type BaseURL } from './url.ts';
import type {
  Fetch,
  FetchOptions,
  GatewayOptions,
  HeaderValues,
  QueryValues,
  SharedOptions,
} from '../options.ts';

/** The options that hold for one call, all decided. */
export interface CallSettings {
  readonly maxRetries: number;
  readonly timeout: number;
  readonly firstByteTimeout: number | null;
  readonly idleTimeout: number | null;
  readonly idleContentTimeout: number | null;
  readonly totalTimeout: number | null;
  readonly retryUnknownOutcome: boolean | undefined;
  readonly onIncomplete: 'throw' | 'warn' | 'allow';
  readonly maxEventBytes: number;
  readonly validation: 'tolerant' | 'strict' | 'off';
}

/** The options of a client, all decided. */
export interface ClientSettings {
  readonly base: BaseURL;
  readonly credential: Credential;
  readonly headers: HeaderValues | undefined;
  readonly query: QueryValues | undefined;
  readonly fetch: Fetch;
  readonly fetchOptions: FetchOptions | undefined;
  readonly log: Log;
  readonly drift: DriftReporter;
  readonly call: CallSettings;
}

/** Timers of every runtime hold 31 bits; longer ones fire at once. */
const longestTimer = 2_147_483_647;

const defaults: CallSettings = {
  maxRetries: 2,
  timeout: 600_000,
  firstByteTimeout: 300_000,
  idleTimeout: 300_000,
  idleContentTimeout: null,
  totalTimeout: null,
  retryUnknownOutcome: undefined,
  onIncomplete: 'throw',
  maxEventBytes: 134_217_728,
  validation: 'tolerant',
};

function checkDuration(field: string, value: number): number {
  if (typeof value !== 'number' || !(value >= 1 && value <= longestTimer)) {
    throw new InvalidInputError(
      field,
      `must be 1 to ${longestTimer} milliseconds, not ${String(value)}.`,
    );
  }
  return value;
}

function optionalDuration(
  field: string,
  value: number | null | undefined,
  fallback: number | null,
): number | null {
  if (value === undefined) return fallback;
  return value === null ? null : checkDuration(field, value);
}

function checkInteger(field: string, value: number, smallest: number, largest: number): number {
  if (!Number.isInteger(value) || value < smallest || value > largest) {
    throw new InvalidInputError(
      field,
      `must be a whole number from ${smallest} to ${largest}, not ${String(value)}.`,
    );
  }
  return value;
}

function checkWord<Word extends string>(field: string, value: Word, words: readonly Word[]): Word {
  if (words.includes(value)) return value;
  throw new InvalidInputError(field, `must be one of "${words.join('", "')}", not "${value}".`);
}

/** Merges options over settings and checks every one that is given. */
export function mergeCallSettings(
  base: CallSettings,
  options: SharedOptions | undefined,
): CallSettings {
  if (options === undefined) return base;
  const { maxRetries, timeout, onIncomplete, maxEventBytes, validation } = options;
  return {
    maxRetries:
      maxRetries === undefined ? base.maxRetries : checkInteger('maxRetries', maxRetries, 0, 100),
    timeout: timeout === undefined ? base.timeout : checkDuration('timeout', timeout),
    firstByteTimeout: optionalDuration(
      'firstByteTimeout',
      options.firstByteTimeout,
      base.firstByteTimeout,
    ),
    idleTimeout: optionalDuration('idleTimeout', options.idleTimeout, base.idleTimeout),
    idleContentTimeout: optionalDuration(
      'idleContentTimeout',
      options.idleContentTimeout,
      base.idleContentTimeout,
    ),
    totalTimeout: optionalDuration('totalTimeout', options.totalTimeout, base.totalTimeout),
    retryUnknownOutcome: options.retryUnknownOutcome ?? base.retryUnknownOutcome,
    onIncomplete:
      onIncomplete === undefined
        ? base.onIncomplete
        : checkWord('onIncomplete', onIncomplete, ['throw', 'warn', 'allow']),
    maxEventBytes:
      maxEventBytes === undefined
        ? base.maxEventBytes
        : checkInteger('maxEventBytes', maxEventBytes, 1_024, 1_073_741_824),
    validation:
      validation === undefined
        ? base.validation
        : checkWord('validation', validation, ['tolerant', 'strict', 'off']),
  };
}

function readEnvironment(name: string): string | undefined {
  try {
    const environment: unknown = Reflect.get(globalThis, 'process')?.env;
    if (typeof environment !== 'object' || environment === null) return undefined;
    const value: unknown = Reflect.get(environment, name);
    return typeof value === 'string' && value.trim() !== '' ? value : undefined;
  } catch {
    // Deno throws when the permission to read the environment is not granted.
    return undefined;
  }
}

function isBrowser(): boolean {
  return (
    typeof window !== 'undefined' &&
    typeof window.document !== 'undefined' &&
    typeof navigator !== 'undefined'
  );
}

function resolveCredential(options: GatewayOptions): Credential {
  const apiKey = options.apiKey ?? readEnvironment('GATEWAY_API_KEY');
  if (apiKey === undefined) {
    throw new InvalidInputError(
      'apiKey',
      'is missing; pass { apiKey } to the constructor or set the environment variable GATEWAY_API_KEY.',
    );
  }
  if (typeof apiKey === 'string' && options.dangerouslyAllowBrowser !== true && isBrowser()) {
    throw new InvalidInputError(
      'apiKey',
      'is a plain string in a browser, where every visitor can read it; pass a function that gets a short-lived key from your server, or set dangerouslyAllowBrowser: true if you know that this is safe.',
    );
  }
  return new Credential(apiKey);
}

function resolveBaseURL(options: GatewayOptions): BaseURL {
  const baseURL = options.baseURL ?? readEnvironment('GATEWAY_BASE_URL');
  if (baseURL === undefined || baseURL === '') {
    throw new InvalidInputError(
      'baseURL',
      'is missing; there is no default host. Pass { baseURL: "https://gateway.example.com" } to the constructor or set the environment variable GATEWAY_BASE_URL.',
    );
  }
  return parseBaseURL(baseURL);
}

function resolveLog(options: GatewayOptions): Log {
  const fromEnvironment = readEnvironment('GATEWAY_LOG');
  const level =
    options.logLevel === undefined
      ? parseLogLevel(fromEnvironment ?? 'warn', 'GATEWAY_LOG')
      : parseLogLevel(options.logLevel, 'logLevel');
  return new Log(options.logger ?? console, level);
}

/** Checks the options of a client and fills in what is missing. */
export function resolveSettings(options: GatewayOptions): ClientSettings {
  const log = resolveLog(options);
  if (options.fetch !== undefined && typeof options.fetch !== 'function') {
    throw new InvalidInputError('fetch', 'must be a function.');
  }
  return {
    base: resolveBaseURL(options),
    credential: resolveCredential(options),
    headers: options.defaultHeaders,
    query: options.defaultQuery,
    fetch: options.fetch ?? globalFetch,
    fetchOptions: options.fetchOptions,
    log,
    drift: new DriftReporter(options.onDrift, log),
    call: mergeCallSettings(defaults, options),
  };
}
