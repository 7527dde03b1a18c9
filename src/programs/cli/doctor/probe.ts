import { isObject, parseJSON, toFields, trimmedText } from '../../../answers/objects.ts';
import type { HostFinder } from '../../../gateways/find.ts';
import { Redaction } from '../../../http/redaction.ts';
import { appendQuery, type BaseURL, buildQuery, parseBaseURL } from '../../../http/url.ts';
import { Gateway, type GatewayOptions } from '../../../index.ts';
import { openLog } from '../settings.ts';
import type { ReportRow } from './report-schema.ts';

/** The gateway to check. */
export interface Target {
  /** The base URL as the user wrote it. */
  readonly baseURL: string;
  /** Returns the gateway of a host, like the client. */
  readonly findGateway: HostFinder;
  /** `true` if the user did not name the kind of gateway. */
  readonly isAuto: boolean;
  readonly key: string;
  /** Headers of every request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Time limit of each request, in milliseconds. */
  readonly timeout: number;
  /** The model to check. */
  readonly model?: string | undefined;
  /** `true` to send a chat to the model, which costs a few tokens. */
  readonly spend: boolean;
}

/** A response. */
export interface Probe {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON, or `undefined`. */
  readonly json: unknown;
  /** Milliseconds to the headers. */
  readonly firstByte: number;
}

/** Locates the gateway's routes as the client does. */
export const locate = ({ baseURL, findGateway }: Target): BaseURL | undefined =>
  parseBaseURL(baseURL, findGateway);

export const rootURL = (target: Target): string => locate(target)?.root ?? '';

/** Returns the URL that the client uses for a route below `/v1`. */
export function routeURL(target: Target, route: string): string {
  const { root = '', api = '/v1' } = locate(target) ?? {};
  return `${root}${api}${route}`;
}

/** Returns the headers of a target that look like secrets. */
export function secretHeaders({ headers }: Target): [name: string, value: string][] {
  const redaction = new Redaction();
  return Object.entries(headers).filter(([name, value]) => redaction.isSecret(name, value));
}

/** Returns a target for requests without a key. */
export function withoutKey(target: Target): Target {
  const secret = new Set(secretHeaders(target).map(([name]) => name));
  const headers = Object.entries(target.headers).filter(([name]) => !secret.has(name));
  return { ...target, key: '', headers: Object.fromEntries(headers) };
}

/** Creates a client of the gateway that repeats nothing. */
export function createClient(target: Target, options: GatewayOptions = {}): Gateway {
  return new Gateway({
    baseURL: target.baseURL,
    gateway: locate(target)?.gateway,
    apiKey: target.key,
    defaultHeaders: target.headers,
    maxRetries: 0,
    totalTimeout: target.timeout,
    logger: openLog(),
    ...options,
  });
}

/** Returns a URL with the query of the base URL, which the client sends with every request. */
function withQuery(target: Target, url: string): string {
  const { query } = locate(target) ?? {};
  const present = new URL(url).searchParams;
  const added = Object.entries(query ?? {}).filter(([name]) => !present.has(name));
  return added.length === 0 ? url : appendQuery(url, buildQuery(Object.fromEntries(added)));
}

export const isHTML = ({ text }: Probe): boolean => /^\s*</.test(text);

export async function send(
  target: Target,
  url: string,
  init: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Probe> {
  const { key, headers: ownHeaders, signal, timeout } = target;
  const start = performance.now();
  const response = await fetch(withQuery(target, url), {
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
    ...init,
    headers: {
      accept: 'application/json',
      ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
      ...ownHeaders,
      ...init.headers,
    },
  });
  const firstByte = performance.now() - start;
  const text = await response.text();
  const { status, headers } = response;
  return { status, headers, text, json: parseJSON(text), firstByte };
}

export const hasNoRoute = ({ status }: Probe): boolean => status === 404 || status === 405;

/** The path parameters of a probe. No gateway has a model or a task with this name. */
const missing = 'doctor-asks-for-nothing';

/**
 * Sends a request that is free: reads nothing that exists, or has a body without a model.
 *
 * @param body - Not JSON by default.
 */
export function probeRoute(
  target: Target,
  method: string,
  path: string,
  body = '{',
): Promise<Probe> {
  // The record of a task on the route of a vendor that most gateways have.
  const named = path.replace('{vendor_prefix}', 'kling').replaceAll(/\{\+?\w+\}/g, missing);
  const isVersioned = named.startsWith('/v1/');
  const url = isVersioned ? routeURL(target, named.slice(3)) : `${rootURL(target)}${named}`;
  const headers = { 'content-type': 'application/json' };
  return send(target, url, { method, ...(method === 'GET' ? {} : { headers, body }) });
}

/** Requests a route beside another one that no gateway has. */
export function probeUnknown(target: Target, method: string, path: string): Promise<Probe> {
  return probeRoute(target, method, `${/^\/[^/]*/.exec(path)?.[0] ?? ''}/${missing}`);
}

const hideID = (word: string): string => (/\d/.test(word) ? '#' : word);

/** Returns a response without the parts that differ between two requests for missing routes. */
const shape = ({ status, text }: Probe): string =>
  `${status} ${text.replaceAll(/\/[\w/:.?=-]*/g, '/').replaceAll(/\w{8,}/g, hideID)}`;

/** Whether a gateway serves a route, as far as a response proves it. */
export type Served = Extract<ReportRow['status'], 'yes' | 'no' | 'unknown'>;

/** Errors that gateways return for unknown routes only. */
const noRoute = /invalid url \(|not found \((get|post)/i;

function servedStatus(probe: Probe, unknownRoute: Probe): Served {
  if (isHTML(probe) || probe.status === 405 || probe.status === 501) return 'no';
  if (noRoute.test(probe.text)) return 'no';
  if (shape(probe) === shape(unknownRoute)) return hasNoRoute(unknownRoute) ? 'no' : 'unknown';
  if ([401, 403, 429].includes(probe.status)) return 'unknown';
  if (probe.status >= 500 && !isObject(probe.json)) return 'unknown';
  return 'yes';
}

/** Returns whether a response is an error of the server, and not of the request. */
function isFailure({ status, json }: Probe): boolean {
  const { error } = toFields(json);
  const { code, type } = toFields(error);
  // Some gateways reject requests with 500 and such a code.
  return status >= 500 && !/invalid/i.test(`${trimmedText(code)} ${trimmedText(type)}`);
}

/** Checks whether a gateway serves a route. @param unknownRoute - Its response to `probeUnknown()`. */
export async function findRoute(
  target: Target,
  method: string,
  path: string,
  unknownRoute: Probe,
): Promise<{ readonly served: Served; readonly probe: Probe }> {
  const probe = await probeRoute(target, method, path);
  const served = servedStatus(probe, unknownRoute);
  if (served !== 'yes' || !isFailure(probe)) return { served, probe };
  // A handler that fails at every request serves none.
  const [plain = path] = path.split('/{');
  const other = await probeRoute(target, method, method === 'GET' ? plain : path, '{}');
  return { served: isFailure(other) ? 'unknown' : 'yes', probe };
}
