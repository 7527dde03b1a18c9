import { isObject, trimmedText } from '../../../answers/objects.ts';
import { endpoints, type Operation } from '../../../endpoints.ts';
import { readGateway } from '../../../gateways/index.ts';
import { requestIdHeaders } from '../../../gateways/signs.ts';
import { GatewayError, type GatewayName, type Prices, RateLimitError } from '../../../index.ts';
import type { JsonObject } from '../../../types.ts';
import { listedModels } from './checks.ts';
import { knownModels } from './calls/models.ts';
import type { ReportRow } from './report-schema.ts';
import {
  createClient,
  findRoute,
  locate,
  type Probe,
  probeRoute,
  probeUnknown,
  rootURL,
  routeURL,
  send,
  type Target,
  withoutKey,
} from './probe.ts';
import { probeRoutes } from './routes.ts';

/** Headers that identify a gateway, with the name of its profile. */
const familyHeaders: readonly (readonly [header: string, family: GatewayName])[] = [
  ['x-litellm-version', 'litellm'],
  ['x-new-api-version', 'new-api'],
  ['x-oneapi-request-id', 'new-api'],
  ['x-generation-id', 'openrouter'],
  ['openai-processing-ms', 'openai'],
];

const toRow = (id: string, status: ReportRow['status'], detail: string): ReportRow => ({
  id,
  status,
  detail,
});

/** Facts about a gateway that later steps of a report use. */
export interface FreeFacts {
  /** The gateway, as the kind that was recognized if the user named none. */
  readonly target: Target;
  readonly family: GatewayName | undefined;
  readonly paths: Readonly<Partial<Record<Operation, string>>>;
  readonly missing: readonly Operation[];
  /** A header with request ids that this client does not know. */
  readonly idHeader: string | undefined;
  readonly models: readonly JsonObject[];
  readonly prices: Prices | undefined;
  readonly quotaPerDollar: number;
}

/** The kind of a gateway, and how it was recognized. */
interface Family {
  readonly name: GatewayName;
  readonly sign: string;
}

/** Responses that identify a gateway without a known header. */
interface Signs {
  /** `/api/status` of new-api. */
  readonly status: JsonObject;
  /** The error of an empty chat request. */
  readonly error: JsonObject;
}

async function findFamily(
  target: Target,
  headers: Headers,
  { status, error }: Signs,
): Promise<Family | undefined> {
  const [header, named] = familyHeaders.find(([name]) => headers.has(name)) ?? [];
  if (named !== undefined) return { name: named, sign: `by the header ${header}` };
  if (trimmedText(status['version']) !== undefined) {
    return { name: 'new-api', sign: 'by /api/status' };
  }
  const alive = await send(withoutKey(target), `${rootURL(target)}/health/liveliness`);
  if (/^"?i'm alive/i.test(alive.text.trim())) {
    return { name: 'litellm', sign: 'by /health/liveliness' };
  }
  const key = await send(target, routeURL(target, '/key'));
  const data = isObject(key.json) ? key.json['data'] : undefined;
  if (isObject(data) && 'limit_remaining' in data) return { name: 'openrouter', sign: 'by /key' };
  const fields = Object.keys(error).toSorted().join(' ');
  const isPlain = fields === 'code message param type';
  return isPlain
    ? { name: 'openai', sign: 'by its errors, and because it has no route of another kind' }
    : undefined;
}

function familyRow(used: string, family: Family | undefined): ReportRow {
  if (family === undefined) {
    return toRow('family', 'unknown', `read as ${used}; nothing identifies the gateway`);
  }
  const detail = `${family.name}, ${family.sign}; read as ${used}`;
  if (family.name === used) return toRow('family', 'ok', detail);
  return { ...toRow('family', 'warn', detail), fix: `Pass --gateway ${family.name}.` };
}

async function readStatus(target: Target): Promise<JsonObject> {
  const { json } = await send(withoutKey(target), `${rootURL(target)}/api/status`);
  const data = isObject(json) ? json['data'] : undefined;
  return isObject(data) ? data : {};
}

/** Returns the version that a response states, with the name of its header. */
export function versionInHeaders(headers: Headers): string | undefined {
  const names = ['x-litellm-version', 'x-new-api-version'];
  const name = names.find((each) => headers.has(each));
  return name === undefined ? undefined : `${name}: ${headers.get(name)}`;
}

/** Returns the version of LiteLLM, which its health check states without a key. */
async function readLiteLLMVersion(target: Target): Promise<string | undefined> {
  const { json } = await send(withoutKey(target), `${rootURL(target)}/health/readiness`);
  return isObject(json) ? trimmedText(json['litellm_version']) : undefined;
}

async function softwareRow(
  target: Target,
  family: Family | undefined,
  headers: Headers,
  status: JsonObject,
): Promise<ReportRow> {
  const named = versionInHeaders(headers);
  if (named !== undefined) return toRow('software', 'ok', named);
  const version = trimmedText(status['version']);
  if (version !== undefined) return toRow('software', 'ok', `version ${version}, by /api/status`);
  if (family?.name === 'litellm') {
    const reported = await readLiteLLMVersion(target);
    if (reported !== undefined)
      return toRow('software', 'ok', `LiteLLM ${reported}, by /health/readiness`);
  }
  return toRow('software', 'unknown', `server: ${headers.get('server') ?? 'not named'}`);
}

const knownIdHeaders = [...requestIdHeaders, 'x-generation-id'];

/** Returns a header that looks like a request id, if this client knows none of the headers. */
function unknownIdHeader(headers: Headers): string | undefined {
  if (knownIdHeaders.some((name) => headers.has(name))) return undefined;
  return [...headers.keys()].find((name) => /(request|trace|correlation|call)-?id$/.test(name));
}

function requestIdRow(headers: Headers): ReportRow {
  const name = knownIdHeaders.find((header) => headers.has(header));
  if (name !== undefined) return toRow('request-id', 'yes', name);
  const other = unknownIdHeader(headers);
  return other === undefined
    ? toRow('request-id', 'no', 'responses have no request id')
    : toRow('request-id', 'yes', `${other}, which this client reads only with a profile`);
}

function limitsRow(headers: Headers): ReportRow {
  const limits = [...headers].filter(([name]) => /ratelimit.*(limit|policy)/.test(name));
  const detail = limits.map(([name, value]) => `${name}: ${value}`).join(', ');
  return toRow('limits', detail === '' ? 'unknown' : 'yes', detail || 'no header reports a limit');
}

/** Counts names, for example `2 chat, 1 image`. */
function count(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, times]) => `${times} ${name}`).join(', ');
}

/** Counts the models by what they can be called for and by the types in the list, without their names. */
function kindsRow(
  probe: Probe,
  models: readonly JsonObject[],
  prices: Prices | undefined,
): ReportRow {
  if (listedModels(probe) === undefined) {
    return toRow('model-kinds', 'unknown', 'the list cannot be read');
  }
  const known = knownModels(models, prices?.models ?? [], []);
  const kinds = known.map((model) => [...model.kinds][0] ?? 'other');
  const types = models.map(({ type, supported_endpoint_types: routes }) => {
    const joined = Array.isArray(routes) && routes.length > 0 ? routes.join('+') : undefined;
    return trimmedText(type) ?? joined ?? 'untyped';
  });
  const list = isObject(probe.json) && Array.isArray(probe.json['models']) ? 'models' : 'data';
  const counts = models.length === 0 ? 'none' : `${count(kinds)}; types: ${count(types)}`;
  return toRow('model-kinds', 'ok', `${counts}, in the field "${list}"`);
}

/** Sends a chat request that is rejected before any work, because it has neither a model nor messages. */
async function readRejection(target: Target): Promise<Probe> {
  return send(target, routeURL(target, '/chat/completions'), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
}

function errorIn({ json }: Probe): JsonObject | undefined {
  const error = isObject(json) ? json['error'] : undefined;
  return isObject(error) ? error : undefined;
}

function errorsRow(rejection: Probe): ReportRow {
  const error = errorIn(rejection);
  const fields = error === undefined ? 'not an object' : Object.keys(error).toSorted().join(', ');
  const { status } = rejection;
  const detail = `an empty chat request is rejected with ${status}; error: ${fields}`;
  return toRow('errors', status >= 500 ? 'warn' : 'ok', detail);
}

/** Checks whether downloads of videos need a key, if the gateway has such a route. */
async function contentKeyRow(target: Target): Promise<ReportRow> {
  const id = 'content-key';
  const { method, path } = endpoints['videos.downloadContent'];
  const absent = await probeUnknown(target, method, path);
  const { served, probe } = await findRoute(target, method, path, absent);
  if (served !== 'yes') {
    const detail = `${method} ${path} with the key: ${probe.status}, which proves no such route`;
    return toRow(id, 'unknown', detail);
  }
  const { status } = await probeRoute(withoutKey(target), method, path);
  const isRead = status === 404 || (status >= 200 && status < 300);
  const isNeeded = status === 401 || status === 403;
  const row = isNeeded ? 'yes' : isRead ? 'no' : 'unknown';
  return toRow(id, row, `${method} ${path} without a key: ${status}`);
}

/** Reads a part of the account. */
async function readAccount<T>(
  id: string,
  read: () => Promise<T>,
): Promise<{ readonly row: ReportRow; readonly value?: T }> {
  try {
    return { row: toRow(id, 'yes', 'the key can read it'), value: await read() };
  } catch (error) {
    if (!GatewayError.isInstance(error)) throw error;
    if (RateLimitError.isInstance(error)) {
      return { row: toRow(id, 'unknown', 'the gateway limits its readers; run this again later') };
    }
    return { row: toRow(id, 'no', `the key cannot read it (${error.name})`) };
  }
}

/** The most models that a row names. */
const mostNamed = 5;

/** Adds the listed models without a price: a budget rejects them, also as fallbacks. */
function pricesRow(
  { row, value }: { readonly row: ReportRow; readonly value?: Prices },
  models: readonly JsonObject[],
): ReportRow {
  if (value === undefined) return row;
  const priced = new Set(
    value.models.flatMap(({ model, billedPer }) => (billedPer === 'unknown' ? [] : [model])),
  );
  const lacking = models.flatMap(({ id }) =>
    typeof id === 'string' && !priced.has(id) ? [id] : [],
  );
  if (lacking.length === 0) return row;
  const named = lacking.slice(0, mostNamed).join(', ');
  const more = lacking.length > mostNamed ? `, and ${lacking.length - mostNamed} more` : '';
  const detail = `${row.detail}; no price, so that a budget needs perCall for them: ${named}${more}`;
  return { ...row, detail };
}

/** Reads the usage log, unless the gateway only finds the entry of a request. */
async function readUsageLog(target: Target, read: () => Promise<unknown>): Promise<ReportRow> {
  const { charges, charge } = locate(target)?.gateway?.profile.account ?? {};
  if (charges !== undefined || charge === undefined)
    return (await readAccount('usage-log', read)).row;
  const detail =
    'entries are found by the id of a request; --spend <USD> looks for those of its calls';
  return toRow('usage-log', 'unknown', detail);
}

/** Returns the entries of the list of all models, which some gateways have at another address. */
async function readAllModels(target: Target, usual: Probe): Promise<readonly JsonObject[]> {
  const path = locate(target)?.gateway?.profile.paths?.['models.list'];
  const probe =
    path === undefined ? usual : await send(target, routeURL(target, path.replace(/^\/v1/, '')));
  return listedModels(probe) ?? [];
}

/** The unit of new-api's usage log, unless its operator has set another one. */
const defaultQuotaPerDollar = 500_000;

/**
 * Probes a gateway for free, and adds the rows of a report.
 *
 * @param rows - Receives each row as soon as it is known.
 */
export async function probeFree(original: Target, rows: ReportRow[]): Promise<FreeFacts> {
  const models = await send(original, routeURL(original, '/models'));
  const [status, rejection] = [await readStatus(original), await readRejection(original)];
  // Some gateways identify themselves and a request only where a model is called.
  const headers = new Headers(rejection.headers);
  for (const [name, value] of models.headers) headers.set(name, value);
  const used = locate(original)?.gateway?.profile.name ?? 'auto';
  const family = await findFamily(original, headers, { status, error: errorIn(rejection) ?? {} });
  rows.push(familyRow(used, family));
  const isOther = original.isAuto && family !== undefined && family.name !== used;
  const target = isOther ? { ...original, findGateway: readGateway(family.name) } : original;
  rows.push(await softwareRow(target, family, headers, status));
  rows.push(requestIdRow(headers), limitsRow(headers));
  rows.push(errorsRow(rejection), await contentKeyRow(target));
  const { account } = createClient(target);
  const { signal } = target;
  const log = await readUsageLog(target, () => account.charges({}, { signal }));
  const prices = await readAccount('prices', () => account.prices({ signal }));
  const all = await readAllModels(target, models);
  rows.push(log, pricesRow(prices, all), kindsRow(models, all, prices.value));
  const routes = await probeRoutes(target);
  rows.push(...routes.rows);
  const { quota_per_unit: unit } = status;
  return {
    target,
    family: family?.name,
    paths: routes.paths,
    missing: routes.missing,
    idHeader: unknownIdHeader(headers),
    models: all,
    prices: prices.value,
    quotaPerDollar: typeof unit === 'number' && unit > 0 ? unit : defaultQuotaPerDollar,
  };
}
