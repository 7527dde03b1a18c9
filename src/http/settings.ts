import { DriftReporter } from '../answers/reader.ts';
import {
  check,
  checkBoolean,
  checkDuration,
  checkFunction,
  checkInteger,
  checkLimit,
  checkNumber,
  checkObject,
  checkOptions,
  checkRequestOptions,
  checkWord,
} from '../check.ts';
import type {
  CallObserver,
  GatewayOptions,
  LogLevel,
  Logger,
  Observer,
  RequestOptions,
  SharedOptions,
} from '../options.ts';
import { type Credential, checkIdempotency, checkIdempotencyKey, credentialOf } from './auth.ts';
import { applyHeaders } from './request.ts';
import { RetryBudget } from './retry.ts';
import { globalFetch } from './send.ts';
import { type BaseURL, buildQuery, parseBaseURL } from './url.ts';

const levels: readonly LogLevel[] = ['off', 'error', 'warn', 'info', 'debug'];

function parseLogLevel(value: unknown, field: string): LogLevel {
  return checkWord(field, typeof value === 'string' ? value.trim().toLowerCase() : value, levels);
}

/** What a log line may carry: no key and no prompt, and of what a gateway says only what errors show. */
export type LogDetails = Readonly<Record<string, string | number | boolean | undefined>>;

/** What was warned of already: a program may make a client for each of its requests. */
const warned = new WeakMap<Logger, Set<string>>();

class Log {
  readonly #logger: Logger;
  level: LogLevel;

  constructor(logger: Logger, level: LogLevel) {
    this.#logger = logger;
    this.level = level;
  }

  /** Whether lines of `level` are written; ask before building details on a hot path. */
  enabled(level: Exclude<LogLevel, 'off'>): boolean {
    return levels.indexOf(this.level) >= levels.indexOf(level);
  }

  write(level: Exclude<LogLevel, 'off'>, message: string, details: LogDetails): void {
    if (!this.enabled(level)) return;
    try {
      this.#logger[level](`[model-gateway] ${message}`, details);
    } catch {
      // A logger that fails must not fail a call that is already paid for.
    }
  }

  /** Warns of each message once for each logger. */
  warnOnce(messages: Iterable<string>): void {
    if (!this.enabled('warn')) return;
    const before = warned.get(this.#logger) ?? new Set();
    warned.set(this.#logger, before);
    for (const message of messages) {
      if (before.has(message)) continue;
      before.add(message);
      this.write('warn', message, {});
    }
  }
}

/** The options that hold for one call, all decided. */
export type CallSettings = {
  readonly [Name in keyof SharedOptions]-?: Name extends 'retryUnknownOutcome'
    ? SharedOptions[Name]
    : Exclude<SharedOptions[Name], undefined>;
};

/** The options of a client, all decided. */
export type ClientSettings = ReturnType<typeof resolveSettings>;

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

const checks: {
  readonly [Name in keyof CallSettings]: (field: string, value: unknown) => CallSettings[Name];
} = {
  maxRetries: (field, value) => checkInteger(field, value, 0, 100),
  timeout: checkDuration,
  firstByteTimeout: checkLimit,
  idleTimeout: checkLimit,
  chunkTimeout: checkLimit,
  totalTimeout: checkLimit,
  retryUnknownOutcome: checkBoolean,
  idempotency: checkIdempotency,
  onTruncated: (field, value) => checkWord(field, value, ['throw', 'warn', 'allow']),
  maxEventBytes: bytesUpTo(1_073_741_824),
  maxResponseBytes: bytesUpTo(longestText),
  partial: checkBoolean,
  validation: (field, value) => checkWord(field, value, ['tolerant', 'strict', 'off']),
};

const isSetting = (name: string): name is keyof CallSettings => name in checks;
const settingNames = Object.keys(checks).filter(isSetting);

/** Merges options over settings and checks every one that is given. */
export function mergeCallSettings(
  base: CallSettings,
  options: SharedOptions | null | undefined,
): CallSettings {
  if (options === undefined || options === null) return base;
  const settings: { -readonly [Name in keyof CallSettings]: CallSettings[Name] } = { ...base };
  const set = <Name extends keyof CallSettings>(name: Name, read: (typeof checks)[Name]): void => {
    const value = options[name];
    if (value !== undefined) settings[name] = read(name, value);
  };
  for (const name of settingNames) set(name, checks[name]);
  return settings;
}

/**
 * What holds for one call.
 *
 * @throws `InvalidInputError` naming the option that cannot work
 */
export function settingsOfCall(
  { call, log }: Pick<ClientSettings, 'call' | 'log'>,
  options: RequestOptions | null | undefined,
): CallSettings {
  log.warnOnce(checkRequestOptions(options).values());
  const settings = mergeCallSettings(call, options);
  if (options) checkIdempotencyKey(options, settings.idempotency);
  return settings;
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

export function isBrowser(): boolean {
  return (
    typeof window !== 'undefined' &&
    typeof window.document !== 'undefined' &&
    typeof navigator !== 'undefined'
  );
}

const keysInPages =
  'pass a function that gets a short-lived key from your server, or apiKey: null if your server adds the key';

/** The key that there is by now. */
function findKey({ apiKey, dangerouslyAllowBrowser }: GatewayOptions): Credential | undefined {
  const key = apiKey === undefined || apiKey === '' ? readEnvironment('GATEWAY_API_KEY') : apiKey;
  check(
    typeof key !== 'string' || dangerouslyAllowBrowser === true || !isBrowser(),
    'apiKey',
    `is a plain string in a browser, where every visitor can read it; ${keysInPages}, or set dangerouslyAllowBrowser: true if you know that this is safe.`,
  );
  return key === undefined ? undefined : credentialOf(key);
}

/** A key that is missing is looked for again by each call: frameworks build without their environment. */
function resolveCredential(options: GatewayOptions): Credential {
  const found = findKey(options);
  if (found !== undefined) return found;
  const authorize: Credential['authorize'] = (headers) => {
    const credential = findKey(options);
    const fix = isBrowser()
      ? keysInPages
      : 'pass { apiKey } to the constructor or set the environment variable GATEWAY_API_KEY';
    check(credential !== undefined, 'apiKey', `is missing; ${fix}.`);
    return credential.authorize(headers);
  };
  return { ...credentialOf(null), authorize };
}

/** Looks for the base URL, and again as long as there is none. */
function baseFinder({ baseURL }: GatewayOptions): () => BaseURL | undefined {
  let base: BaseURL | undefined;
  const find = (): BaseURL | undefined => {
    const given = baseURL || readEnvironment('GATEWAY_BASE_URL');
    base ??= given === undefined ? undefined : parseBaseURL(given);
    return base;
  };
  find();
  return find;
}

/** @throws `InvalidInputError` when there is no base URL, or none that means something here */
export function baseOf({ findBase }: Pick<ClientSettings, 'findBase'>): BaseURL {
  const base = findBase();
  const fix = isBrowser()
    ? 'pass the root of the gateway, or a path of your own server such as "/api"'
    : 'pass { baseURL: "https://gateway.example.com" } to the constructor or set the environment variable GATEWAY_BASE_URL; a path such as "/api" only means something in a page';
  check(base !== undefined, 'baseURL', `is missing; there is no default host: ${fix}.`);
  return base;
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
const conflictingAuthHeaders = ['x-api-key', 'x-goog-api-key', 'mj-api-secret'];

function checkHeaders(options: GatewayOptions, log: Log): void {
  if (!Array.isArray(options.defaultHeaders)) checkObject('defaultHeaders', options.defaultHeaders);
  const headers = new Headers();
  applyHeaders(headers, options.defaultHeaders, 'defaultHeaders');
  for (const header of conflictingAuthHeaders) {
    if (!headers.has(header)) continue;
    log.write('warn', `defaultHeaders holds ${header}: the gateway may take it for the key`, {
      header,
    });
  }
}

/** An id that OpenAI gives to whom it bills. */
function accountOf(options: GatewayOptions, field: 'organization' | 'project'): string | undefined {
  const value: unknown = options[field] || undefined;
  check(value === undefined || typeof value === 'string', field, 'must be an id, as text.');
  applyHeaders(new Headers(), { [`openai-${field}`]: value }, field);
  return value;
}

function checkQuery({ defaultQuery }: GatewayOptions, log: Log): void {
  checkObject('defaultQuery', defaultQuery);
  buildQuery(defaultQuery);
  if (typeof defaultQuery?.['key'] === 'string') {
    log.write('warn', 'defaultQuery holds key: the gateway may take it for the key', {});
  }
}

function observersOf({
  observer = [],
  onRequest,
  onResponse,
}: GatewayOptions): readonly Observer[] {
  const observers = [observer].flat();
  const fits = observers.every((one) => typeof one?.start === 'function');
  check(fits, 'observer', 'has no method start().');
  const follow = (attempt: NonNullable<CallObserver['attempt']>) =>
    observers.push({ start: () => ({ attempt }) });
  if (onRequest) follow((request) => onRequest(request));
  if (onResponse) follow((request) => (response) => onResponse(response, request));
  return observers;
}

/** Checks the options of a client and fills in what is missing. */
export function resolveSettings(options: GatewayOptions) {
  const isObject = typeof options === 'object' && options !== null;
  check(isObject, 'options', 'must be an object such as { apiKey, baseURL }.');
  const ignored = checkOptions(options, 'client');
  const given = { ...options };
  const { bodyFormat = 'form' } = options;
  const log = resolveLog(options);
  log.warnOnce(ignored.values());
  for (const name of ['fetch', 'onDrift', 'onRequest', 'onResponse'] as const) {
    checkFunction(name, options[name]);
  }
  checkObject('fetchOptions', options.fetchOptions);
  checkHeaders(options, log);
  checkQuery(options, log);
  checkObject('budget', options.budget);
  // The rest of it is checked by the part that keeps it, before the first call is sent.
  checkNumber('budget.limit', options.budget ? options.budget.limit : 0, 0);
  return {
    findBase: baseFinder(options),
    credential: resolveCredential(options),
    account: {
      'openai-organization': accountOf(options, 'organization'),
      'openai-project': accountOf(options, 'project'),
    },
    headers: options.defaultHeaders,
    query: options.defaultQuery,
    fetch: options.fetch ?? globalFetch,
    fetchOptions: options.fetchOptions,
    log,
    drift: new DriftReporter(options.onDrift, log),
    observers: observersOf(options),
    budget: new RetryBudget(),
    bodyFormat: checkWord('bodyFormat', bodyFormat, ['form', 'json']),
    call: mergeCallSettings(defaults, options),
    /** What all this was made from. A function, so that nothing shows the key that is in it. */
    given: () => given,
  };
}

/** The settings of a client some of whose options have changed; what it has learned of its gateway stays. */
export function changeSettings(
  { log, drift, budget, given }: ClientSettings,
  options: GatewayOptions,
): ClientSettings {
  const changed = resolveSettings({ ...given(), ...options });
  log.level = changed.log.level;
  return { ...changed, log, drift, budget };
}
