import { isObject, trimmedText } from '../../answers/objects.ts';
import { endpoints } from '../../endpoints.ts';
import { requestIdHeaders } from '../../gateways/signs.ts';
import { Gateway, GatewayError } from '../../index.ts';
import {
  examine,
  isHTML,
  listedModels,
  locate,
  rootURL,
  routeURL,
  send,
  type Probe,
  type Target,
} from './checks.ts';
import type { DoctorReport, ReportRow } from './report-schema.ts';
import { createScrubber } from './scrub.ts';
import { logger } from '../settings.ts';

declare const __VERSION__: string;

/** Headers by which a gateway is recognized, with the name of its profile. */
const familyHeaders: readonly (readonly [header: string, family: string])[] = [
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

function familyRow(target: Target, { headers }: Probe): ReportRow {
  const used = locate(target)?.gateway?.profile.name ?? 'auto';
  const [header, family] = familyHeaders.find(([name]) => headers.has(name)) ?? [];
  if (family === undefined) {
    return toRow('family', 'unknown', `read as ${used}; no header identifies the gateway`);
  }
  const detail = `${family}, by the header ${header}; read as ${used}`;
  if (family === used) return toRow('family', 'ok', detail);
  return { ...toRow('family', 'warn', detail), fix: `Pass --gateway ${family}.` };
}

async function softwareRow(target: Target, { headers }: Probe): Promise<ReportRow> {
  for (const name of ['x-litellm-version', 'x-new-api-version']) {
    const version = headers.get(name);
    if (version !== null) return toRow('software', 'ok', `${name}: ${version}`);
  }
  const { json } = await send({ ...target, key: '' }, `${rootURL(target)}/api/status`);
  const data = isObject(json) ? json['data'] : undefined;
  const version = isObject(data) ? trimmedText(data['version']) : undefined;
  if (version !== undefined) return toRow('software', 'ok', `version ${version}, by /api/status`);
  return toRow('software', 'unknown', `server: ${headers.get('server') ?? 'not named'}`);
}

function requestIdRow({ headers }: Probe): ReportRow {
  const name = [...requestIdHeaders, 'x-generation-id'].find((header) => headers.has(header));
  return name === undefined
    ? toRow('request-id', 'no', 'responses have no request id')
    : toRow('request-id', 'yes', name);
}

function limitsRow({ headers }: Probe): ReportRow {
  const limits = [...headers].filter(([name]) => /ratelimit.*limit/.test(name));
  const detail = limits.map(([name, value]) => `${name}: ${value}`).join(', ');
  return toRow('limits', detail === '' ? 'unknown' : 'yes', detail || 'no header reports a limit');
}

/** Counts the models by type and the owner's endpoint types, without their names. */
function kindsRow(probe: Probe): ReportRow {
  const models = listedModels(probe);
  if (models === undefined) return toRow('model-kinds', 'unknown', 'the list cannot be read');
  const counts = new Map<string, number>();
  for (const { type, supported_endpoint_types: routes } of models) {
    const ofRoutes = Array.isArray(routes) && routes.length > 0 ? routes.join('+') : undefined;
    const kind = trimmedText(type) ?? ofRoutes ?? 'untyped';
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const list = isObject(probe.json) && Array.isArray(probe.json['models']) ? 'models' : 'data';
  const kinds = [...counts].map(([kind, count]) => `${count} ${kind}`).join(', ');
  return toRow('model-kinds', 'ok', `${kinds || 'none'}, in the field "${list}"`);
}

/** The path parameters of a probe. No gateway has a model or a task with this name. */
const missing = 'doctor-asks-for-nothing';

/** Sends a request that is free: reads nothing that exists, or has a body that is not JSON. */
function probeRoute(target: Target, method: string, path: string): Promise<Probe> {
  const named = path.replaceAll(/\{\w+\}/g, missing);
  const isVersioned = named.startsWith('/v1/');
  const url = isVersioned ? routeURL(target, named.slice(3)) : `${rootURL(target)}${named}`;
  const type = { 'content-type': 'application/json' };
  return send(target, url, { method, ...(method === 'GET' ? {} : { headers: type, body: '{' }) });
}

const hideID = (word: string): string => (/\d/.test(word) ? '#' : word);

/** Returns a response without the parts that differ between two requests for missing routes. */
const shape = ({ status, text }: Probe): string =>
  `${status} ${text.replaceAll(/\/[\w/:.?=-]*/g, '/').replaceAll(/\w{8,}/g, hideID)}`;

function servedStatus(probe: Probe, unknownRoute: Probe): ReportRow['status'] {
  const isAbsent = unknownRoute.status === 404 || unknownRoute.status === 405;
  if (isHTML(probe) || probe.status === 405 || probe.status === 501) return 'no';
  if (shape(probe) === shape(unknownRoute)) return isAbsent ? 'no' : 'unknown';
  if ([401, 403, 429].includes(probe.status)) return 'unknown';
  if (probe.status >= 500 && !isObject(probe.json)) return 'unknown';
  return 'yes';
}

async function* routeRows(target: Target): AsyncGenerator<ReportRow, void, undefined> {
  const profile = locate(target)?.gateway?.profile;
  const unknown = new Map<string, Probe>();
  for (const [operation, { method, path: usual }] of Object.entries(endpoints)) {
    const id = `route.${operation}`;
    const paths: Partial<Record<string, string>> = profile?.paths ?? {};
    const path = paths[operation] ?? usual;
    const unsupported: Partial<Record<string, string>> = profile?.unsupported ?? {};
    const folder = /^\/[^/]*/.exec(path)?.[0] ?? '';
    if (unsupported[operation] !== undefined) {
      yield toRow(id, 'no', `not served by ${profile?.name ?? 'this gateway'}`);
      continue;
    }
    const known = unknown.get(`${method} ${folder}`);
    const absent = known ?? (await probeRoute(target, method, `${folder}/${missing}`));
    unknown.set(`${method} ${folder}`, absent);
    const probe = await probeRoute(target, method, path);
    yield toRow(id, servedStatus(probe, absent), `${method} ${path}: ${probe.status}`);
  }
}

async function invalidRequestRow(target: Target): Promise<ReportRow> {
  // Free: a gateway rejects a chat without a model and messages.
  const { status, json } = await send(target, routeURL(target, '/chat/completions'), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  const error = isObject(json) ? json['error'] : undefined;
  const fields = isObject(error) ? Object.keys(error).toSorted().join(', ') : 'not an object';
  const detail = `an empty chat request is rejected with ${status}; error: ${fields}`;
  return toRow('errors', status >= 500 ? 'warn' : 'ok', detail);
}

async function contentKeyRow(target: Target): Promise<ReportRow> {
  const { path } = endpoints['videos.downloadContent'];
  const { status } = await probeRoute({ ...target, key: '' }, 'GET', path);
  const isNeeded = status === 401 || status === 403;
  return toRow('content-key', isNeeded ? 'yes' : 'no', `GET ${path} without a key: ${status}`);
}

async function accountRow(id: string, read: () => Promise<unknown>): Promise<ReportRow> {
  try {
    await read();
    return toRow(id, 'yes', 'the key can read it');
  } catch (error) {
    if (!GatewayError.isInstance(error)) throw error;
    return toRow(id, 'no', `the key cannot read it (${error.name})`);
  }
}

/** Probes that only a report makes. Free. */
async function* probeMore(target: Target): AsyncGenerator<ReportRow, void, undefined> {
  const models = await send(target, routeURL(target, '/models'));
  yield familyRow(target, models);
  yield await softwareRow(target, models);
  yield requestIdRow(models);
  yield limitsRow(models);
  yield kindsRow(models);
  yield await invalidRequestRow(target);
  yield await contentKeyRow(target);
  const { account } = new Gateway({
    baseURL: target.baseURL,
    gateway: locate(target)?.gateway,
    apiKey: target.key,
    maxRetries: 0,
    totalTimeout: target.timeout,
    logger,
  });
  const { signal } = target;
  yield await accountRow('usage-log', () => account.charges({}, { signal }));
  yield await accountRow('prices', () => account.prices({ signal }));
  yield* routeRows(target);
}

/** Examines a gateway for a report. Free, except for the chat of `spend`. */
export async function createReport(target: Target): Promise<DoctorReport> {
  const found: ReportRow[] = [];
  for await (const { id, status, detail, fix } of examine(target)) {
    found.push({ id, status, detail, ...(fix === undefined ? {} : { fix }) });
  }
  const isReached = found.some(({ id, status }) => id === 'base-url' && status === 'ok');
  if (isReached) {
    try {
      for await (const more of probeMore(target)) found.push(more);
    } catch (error) {
      if (target.signal.aborted) throw error;
      found.push(toRow('probes', 'fail', 'the gateway stopped responding'));
    }
  }
  const { clean, removed } = createScrubber(target);
  const rows = found.map((row) => ({
    ...row,
    detail: clean(row.detail),
    ...(row.fix === undefined ? {} : { fix: clean(row.fix) }),
  }));
  return {
    version: 1,
    createdAt: new Date().toISOString(),
    client: __VERSION__,
    runtime: `Node ${process.version}, ${process.platform} ${process.arch}`,
    rows,
    removed: removed(),
  };
}

const toCell = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|');

/** Formats a report as Markdown for an issue. */
export function formatReport({ client, runtime, createdAt, rows, removed }: DoctorReport): string {
  const table = rows.map(
    ({ id, status, detail, fix }) =>
      `| ${id} | ${status} | ${toCell(fix === undefined ? detail : `${detail}. ${fix}`)} |`,
  );
  const counts = removed.map(({ name, times }) => `${name} (${times})`).join(', ');
  return [
    '### model-gateway doctor',
    '',
    `model-gateway ${client}, ${runtime}, ${createdAt}`,
    '',
    '| Check | Result | Detail |',
    '| --- | --- | --- |',
    ...table,
    '',
    `Removed: ${counts || 'nothing'}.`,
  ].join('\n');
}
