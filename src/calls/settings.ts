import { DriftReporter } from '../answers/reader.ts';
import { check, checkObject, checkWord } from '../options/check.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';
import {
  areChecked,
  type CheckedOptions,
  checkOptions,
  withDefaults,
  withoutNulls,
} from '../options/resolve.ts';
import { methodFor } from '../options/methods.ts';
import { optionsOf } from '../options/option-names.ts';
import { optionTable, type ResolvedFor } from '../options/option-table.ts';
import { checkIdempotencyKey } from '../options/idempotency.ts';
import { type GatewayReader, readDefined } from '../gateways/find.ts';
import type {
  GatewayOptions,
  LogLevel,
  Logger,
  RequestOptions,
  SharedOptions,
} from '../options/options.ts';
import { withoutQuotes } from '../options/clean-key.ts';
import { type Credential, createCredential } from '../http/auth.ts';
import { applyHeaders } from '../http/request.ts';
import { RetryBudget } from '../http/retry.ts';
import { globalFetch } from '../http/send.ts';
import { type BaseURL, buildQuery, parseBaseURL } from '../http/url.ts';

const levels: readonly LogLevel[] = ['off', 'error', 'warn', 'info', 'debug'];

function parseLogLevel(value: unknown, field: string): LogLevel {
  return checkWord(field, typeof value === 'string' ? value.trim().toLowerCase() : value, levels);
}

/**
 * Details of a log message. They contain neither keys nor prompts, and gateway messages only as errors show
 * them.
 */
export type LogDetails = Readonly<Record<string, string | number | boolean | undefined>>;

/** Warnings that were logged already, because a program may create a client per request. */
const warned = new WeakMap<Logger, Set<string>>();

class Log {
  readonly #logger: Logger;
  /** Loggers such as pino and bunyan take details before the message. */
  readonly #detailsFirst: boolean;
  level: LogLevel;

  constructor(logger: Logger, level: LogLevel) {
    this.#logger = logger;
    this.#detailsFirst = ['bindings', 'addSerializers'].some(
      (method) => typeof Reflect.get(logger, method) === 'function',
    );
    this.level = level;
  }

  /** Returns whether messages of `level` are logged; check before building details on a hot path. */
  isEnabled(level: Exclude<LogLevel, 'off'>): boolean {
    return levels.indexOf(this.level) >= levels.indexOf(level);
  }

  write(level: Exclude<LogLevel, 'off'>, message: string, details: LogDetails): void {
    if (!this.isEnabled(level)) return;
    try {
      const text = `[model-gateway] ${message}`;
      if (this.#detailsFirst) Reflect.apply(this.#logger[level], this.#logger, [details, text]);
      else this.#logger[level](text, details);
    } catch {
      // A failing logger must not fail a paid call.
    }
  }

  /** Logs each warning once per logger. */
  warnOnce(messages: Iterable<string>): void {
    if (!this.isEnabled('warn')) return;
    const logged = warned.get(this.#logger) ?? new Set();
    warned.set(this.#logger, logged);
    for (const message of messages) {
      if (logged.has(message)) continue;
      logged.add(message);
      this.write('warn', message, {});
    }
  }
}

/** Facts that clients of one gateway learned about it. */
interface SharedFacts {
  /** Once learned, the address with the part that replaces `/v1` in paths; see `RouteAddress`. */
  address?: Pick<BaseURL, 'root' | 'api'> | undefined;
  /** The roots and operations whose route is missing with and without `/v1`. */
  readonly missingRoutes: Set<string>;
  /** The models that make images or videos, by the price list. */
  mediaModels?: ReadonlySet<string>;
  /** A host that has none of the account routes, the finding about the first of them, and when it was read. */
  foreign?: { readonly root: string; readonly finding: string; readonly at: number };
}

/** The options of a call that its client has too, with all defaults. */
export type CallSettings = Pick<
  ResolvedFor<'client'>,
  keyof ResolvedFor<'client'> & keyof SharedOptions
>;

/** The options of a client, with all defaults. */
export type ClientSettings = ReturnType<typeof resolveSettings>;

/** Merges checked options over settings: those of a client that a call can override. */
function mergeSettings(base: CallSettings, values: CheckedOptions['values']): CallSettings {
  const ofClient = optionsOf('client');
  const ofCalls = optionsOf('chat.completions.create');
  const overrides = Object.entries(values).filter(
    ([name, value]) => value !== undefined && ofClient.has(name) && ofCalls.has(name),
  );
  return { ...base, ...Object.fromEntries(overrides) };
}

/**
 * Returns the settings of a call.
 *
 * @param operation - The method of the caller, or another operation that the client requests for it.
 * @param params - The parameters of the call.
 * @throws `InvalidInputError` naming the invalid option
 */
export function resolveCallSettings(
  { call, log }: Pick<ClientSettings, 'call' | 'log'>,
  options: RequestOptions | null | undefined,
  operation: string,
  params?: unknown,
): CallSettings {
  if (options === undefined || options === null) return call;
  if (areChecked(options)) return mergeSettings(call, { ...options });
  const { values, warnings } = checkOptions(options, methodFor(operation), operation, params);
  if (warnings.length > 0) log.warnOnce(warnings);
  const settings = mergeSettings(call, values);
  checkIdempotencyKey(options, settings.idempotency);
  return settings;
}

function readEnvironment(name: string): string | undefined {
  try {
    const environment: unknown = Reflect.get(globalThis, 'process')?.env;
    if (typeof environment !== 'object' || environment === null) return undefined;
    const value: unknown = Reflect.get(environment, name);
    return typeof value === 'string' && value.trim() !== '' ? value : undefined;
  } catch {
    // Deno throws without permission to read the environment.
    return undefined;
  }
}

/** Reads a variable without the quotes that Docker's `--env-file` keeps. */
function readPlain(name: string): string | undefined {
  return withoutQuotes(readEnvironment(name) ?? '') || undefined;
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

/** Returns the key from the options or the environment, if it is set yet. */
function findKey(
  { apiKey, dangerouslyAllowBrowser }: GatewayOptions,
  log: Log,
): Credential | undefined {
  const key = apiKey === undefined || apiKey === '' ? readEnvironment('GATEWAY_API_KEY') : apiKey;
  check(
    typeof key !== 'string' || dangerouslyAllowBrowser === true || !isBrowser(),
    'apiKey',
    `is a plain string in a browser, where every visitor can read it; ${keysInPages}, or set dangerouslyAllowBrowser: true if you know that this is safe.`,
  );
  return key === undefined
    ? undefined
    : createCredential(key, (message) => log.warnOnce([message]));
}

/**
 * Resolves the key. A missing key is looked up again for each call, because frameworks build without their
 * environment.
 */
function resolveCredential(options: GatewayOptions, log: Log): Credential {
  const found = findKey(options, log);
  if (found !== undefined) return found;
  const authorize: Credential['authorize'] = (headers) => {
    const credential = findKey(options, log);
    const fix = isBrowser()
      ? keysInPages
      : 'pass { apiKey } to the constructor or set the environment variable GATEWAY_API_KEY';
    check(credential !== undefined, 'apiKey', `is missing; ${fix}.`);
    return credential.authorize(headers);
  };
  return { ...createCredential(null), authorize };
}

const readKind = (gateway: GatewayOptions['gateway']): unknown =>
  gateway ?? readPlain('GATEWAY_PROFILE') ?? 'auto';

/** Returns a function that resolves the base URL, and retries while it is missing. */
function createBaseFinder(
  { baseURL, gateway }: GatewayOptions,
  readGateway: GatewayReader,
): () => BaseURL | undefined {
  let base: BaseURL | undefined;
  const findGateway = readGateway(readKind(gateway));
  const find = (): BaseURL | undefined => {
    if (base !== undefined) return base;
    const url = baseURL || readPlain('GATEWAY_BASE_URL');
    base = url === undefined ? undefined : parseBaseURL(url, findGateway);
    return base;
  };
  find();
  return find;
}

/** @throws `InvalidInputError` if the base URL is missing, or is a path outside a page */
export function requireBase({ findBase }: Pick<ClientSettings, 'findBase'>): BaseURL {
  const base = findBase();
  if (base !== undefined) return base;
  const fix = isBrowser()
    ? 'pass the root of the gateway, or a path of your own server such as "/api"'
    : 'pass { baseURL: "https://gateway.example.com" } to the constructor or set the environment variable GATEWAY_BASE_URL; a path such as "/api" works only in a page. To try the client without a gateway, run npx model-gateway emulator';
  throw new InvalidInputError('baseURL', `is missing; there is no default host: ${fix}.`);
}

function resolveLog(options: GatewayOptions): Log {
  const { logger = console, logLevel } = options;
  checkObject('logger', logger);
  for (const method of ['error', 'warn', 'info', 'debug'] as const) {
    check(typeof logger?.[method] === 'function', 'logger', `has no method ${method}().`);
  }
  const level =
    logLevel === undefined
      ? parseLogLevel(readPlain('GATEWAY_LOG') ?? 'warn', 'GATEWAY_LOG')
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
    log.write('warn', `defaultHeaders contains ${header}: the gateway may take it for the key`, {
      header,
    });
  }
}

/** Reads the id of a billed organization or project. */
function readAccountId(
  options: GatewayOptions,
  field: 'organization' | 'project',
): string | undefined {
  const value: unknown = options[field] || undefined;
  check(value === undefined || typeof value === 'string', field, 'must be a string.');
  applyHeaders(new Headers(), { [`openai-${field}`]: value }, field);
  return value;
}

function checkQuery({ defaultQuery }: GatewayOptions, log: Log): void {
  checkObject('defaultQuery', defaultQuery);
  buildQuery(defaultQuery);
  if (typeof defaultQuery?.['key'] === 'string') {
    log.write('warn', 'defaultQuery contains key: the gateway may take it for the key', {});
  }
}

/**
 * Checks the options of a client and fills in defaults.
 *
 * @param readGateway - Reads the option `gateway`.
 */
export function resolveSettings(input: GatewayOptions, readGateway: GatewayReader = readDefined) {
  const isObject = typeof input === 'object' && input !== null;
  check(isObject, 'options', 'must be an object such as { apiKey, baseURL }.');
  const { values, warnings } = checkOptions(input, 'client');
  const original = { ...input };
  const options = withoutNulls(input, 'client');
  const { bodyFormat, retryBudget = optionTable.retryBudget.default } = options;
  const log = resolveLog(options);
  log.warnOnce(warnings);
  checkHeaders(options, log);
  checkQuery(options, log);
  const shared: SharedFacts = { missingRoutes: new Set() };
  return {
    findBase: createBaseFinder(options, readGateway),
    /** `true` if the kind of gateway is not named. */
    isAuto: () => readKind(options.gateway) === 'auto',
    readGateway,
    credential: resolveCredential(options, log),
    account: {
      'openai-organization': readAccountId(options, 'organization'),
      'openai-project': readAccountId(options, 'project'),
    },
    headers: options.defaultHeaders,
    query: options.defaultQuery,
    fetch: options.fetch ?? globalFetch,
    fetchOptions: options.fetchOptions,
    log,
    drift: new DriftReporter(options.onDrift, log),
    budget: new RetryBudget(retryBudget ?? Infinity),
    /** A copy, so that each client has its own limits unless it is a copy of another one. */
    limits: options.limits ? { ...options.limits } : undefined,
    bodyFormat,
    call: mergeSettings(withDefaults('client', {}), values),
    /** State shared by clients of one gateway; also the identity of their price list and download queue. */
    shared,
    /** Submissions with a ledger whose outcome is not recorded yet; those whose call was stopped with its id. */
    pending: new Map<Promise<unknown>, string | undefined>(),
    /** Returns the original options. A function, so that the key in them is never printed. */
    original: () => original,
  };
}

/** Returns the settings of a client with changed options. Facts learned about the gateway are kept. */
export function changeSettings(
  { log, drift, budget, limits, shared, pending, readGateway, original }: ClientSettings,
  options: GatewayOptions,
): ClientSettings {
  const changed = resolveSettings({ ...original(), ...options }, readGateway);
  log.level = changed.log.level;
  return { ...changed, log, drift, budget, limits, shared, pending };
}
