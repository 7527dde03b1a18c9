import { checkIdempotency, credentialOf, type Credential } from './auth.ts';
import { DownloadLine } from './download-line.ts';
import { DriftReporter } from '../answers/reader.ts';
import { applyHeaders } from './headers.ts';
import { Log, parseLogLevel } from './log.ts';
import {
  check,
  checkBoolean,
  checkDuration,
  checkFunction,
  checkInteger,
  checkLimit,
  checkObject,
  checkWord,
} from '../check.ts';
import { RetryBudget } from './retry.ts';
import { globalFetch } from './send.ts';
import { buildQuery, parseBaseURL, type BaseURL } from './url.ts';
import type {
  Fetch,
  FetchOptions,
  GatewayOptions,
  HeaderValues,
  Idempotency,
  QueryValues,
  SharedOptions,
} from '../options.ts';

/** The options that hold for one call, all decided. */
export interface CallSettings {
  readonly maxRetries: number;
  readonly timeout: number;
  readonly firstByteTimeout: number | null;
  readonly idleTimeout: number | null;
  readonly chunkTimeout: number | null;
  readonly totalTimeout: number | null;
  readonly retryUnknownOutcome: boolean | undefined;
  readonly idempotency: Idempotency | null;
  readonly onTruncated: 'throw' | 'warn' | 'allow';
  readonly maxEventBytes: number;
  readonly maxResponseBytes: number;
  readonly partial: boolean;
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
  readonly budget: RetryBudget;
  readonly bodyFormat: 'form' | 'json';
  downloads: DownloadLine;
  readonly call: CallSettings;
}

/** The longest text that Node and Chromium can hold. */
const longestText = 536_870_888;

const defaults: CallSettings = {
  maxRetries: 2,
  timeout: 600_000,
  firstByteTimeout: 300_000,
  idleTimeout: 300_000,
  chunkTimeout: null,
  totalTimeout: null,
  retryUnknownOutcome: undefined,
  idempotency: null,
  onTruncated: 'throw',
  maxEventBytes: 134_217_728,
  maxResponseBytes: 134_217_728,
  partial: true,
  validation: 'tolerant',
};

const bytesUpTo = (largest: number) => (field: string, value: unknown) =>
  checkInteger(field, value, 1_024, largest);

/** Merges options over settings and checks every one that is given. */
export function mergeCallSettings(
  base: CallSettings,
  options: SharedOptions | null | undefined,
): CallSettings {
  if (options === undefined || options === null) return base;
  const pick = <Name extends keyof CallSettings>(
    field: Name,
    read: (field: string, value: unknown) => CallSettings[Name],
  ): CallSettings[Name] =>
    options[field] === undefined ? base[field] : read(field, options[field]);
  return {
    maxRetries: pick('maxRetries', (field, value) => checkInteger(field, value, 0, 100)),
    timeout: pick('timeout', checkDuration),
    firstByteTimeout: pick('firstByteTimeout', checkLimit),
    idleTimeout: pick('idleTimeout', checkLimit),
    chunkTimeout: pick('chunkTimeout', checkLimit),
    totalTimeout: pick('totalTimeout', checkLimit),
    retryUnknownOutcome: pick('retryUnknownOutcome', checkBoolean),
    idempotency: pick('idempotency', checkIdempotency),
    onTruncated: pick('onTruncated', (field, value) =>
      checkWord(field, value, ['throw', 'warn', 'allow']),
    ),
    maxEventBytes: pick('maxEventBytes', bytesUpTo(1_073_741_824)),
    maxResponseBytes: pick('maxResponseBytes', bytesUpTo(longestText)),
    partial: pick('partial', checkBoolean),
    validation: pick('validation', (field, value) =>
      checkWord(field, value, ['tolerant', 'strict', 'off']),
    ),
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

/** Whether this is a page. */
export function isBrowser(): boolean {
  return (
    typeof window !== 'undefined' &&
    typeof window.document !== 'undefined' &&
    typeof navigator !== 'undefined'
  );
}

function resolveCredential(options: GatewayOptions): Credential {
  const apiKey = options.apiKey ?? readEnvironment('GATEWAY_API_KEY');
  const field = 'apiKey';
  check(
    apiKey !== undefined,
    field,
    'is missing; pass { apiKey } to the constructor or set the environment variable GATEWAY_API_KEY.',
  );
  check(
    typeof apiKey !== 'string' || options.dangerouslyAllowBrowser === true || !isBrowser(),
    field,
    'is a plain string in a browser, where every visitor can read it; pass a function that gets a short-lived key from your server, or set dangerouslyAllowBrowser: true if you know that this is safe.',
  );
  return credentialOf(apiKey);
}

function resolveBaseURL(options: GatewayOptions): BaseURL {
  const baseURL = options.baseURL ?? readEnvironment('GATEWAY_BASE_URL');
  check(
    baseURL !== undefined && baseURL !== '',
    'baseURL',
    'is missing; there is no default host. Pass { baseURL: "https://gateway.example.com" } to the constructor or set the environment variable GATEWAY_BASE_URL.',
  );
  return parseBaseURL(baseURL);
}

function resolveLog(options: GatewayOptions): Log {
  const { logger = console, logLevel } = options;
  checkObject('logger', logger);
  for (const method of ['error', 'warn', 'info', 'debug'] as const) {
    check(typeof logger?.[method] === 'function', 'logger', `has no method ${method}().`);
  }
  const level =
    logLevel === undefined
      ? parseLogLevel(readEnvironment('GATEWAY_LOG') ?? 'warn', 'GATEWAY_LOG')
      : parseLogLevel(logLevel, 'logLevel');
  return new Log(logger, level);
}

/** Headers that the gateway prefers to the bearer key on some routes. */
const rivalHeaders = ['x-api-key', 'x-goog-api-key', 'mj-api-secret'];

function checkHeaders(options: GatewayOptions, log: Log): void {
  checkObject('defaultHeaders', options.defaultHeaders);
  const headers = new Headers();
  applyHeaders(headers, options.defaultHeaders, 'defaultHeaders');
  for (const header of rivalHeaders) {
    if (!headers.has(header)) continue;
    log.write('warn', `defaultHeaders holds ${header}: the gateway may take it for the key`, {
      header,
    });
  }
}

function checkQuery({ defaultQuery }: GatewayOptions, log: Log): void {
  checkObject('defaultQuery', defaultQuery);
  buildQuery(defaultQuery);
  if (typeof defaultQuery?.['key'] === 'string') {
    log.write('warn', 'defaultQuery holds key: the gateway may take it for the key', {});
  }
}

/** Checks the options of a client and fills in what is missing. */
export function resolveSettings(options: GatewayOptions): ClientSettings {
  const isObject = typeof options === 'object' && options !== null;
  check(isObject, 'options', 'must be an object such as { apiKey, baseURL }.');
  const { bodyFormat = 'form' } = options;
  const log = resolveLog(options);
  checkFunction('fetch', options.fetch);
  checkFunction('onDrift', options.onDrift);
  checkObject('fetchOptions', options.fetchOptions);
  checkHeaders(options, log);
  checkQuery(options, log);
  return {
    base: resolveBaseURL(options),
    credential: resolveCredential(options),
    headers: options.defaultHeaders,
    query: options.defaultQuery,
    fetch: options.fetch ?? globalFetch,
    fetchOptions: options.fetchOptions,
    log,
    drift: new DriftReporter(options.onDrift, log),
    budget: new RetryBudget(),
    bodyFormat: checkWord('bodyFormat', bodyFormat, ['form', 'json']),
    downloads: new DownloadLine(),
    call: mergeCallSettings(defaults, options),
  };
}
