import { isObject } from '../../../answers/objects.ts';
import { endpoints, type Operation } from '../../../endpoints.ts';
import { isHTML, locate, rootURL, routeURL, send, type Probe, type Target } from './checks.ts';
import type { ReportRow } from './report-schema.ts';

/** The path parameters of a probe. No gateway has a model or a task with this name. */
const missing = 'doctor-asks-for-nothing';

/** Sends a request that is free: reads nothing that exists, or has a body that is not JSON. */
export function probeRoute(target: Target, method: string, path: string): Promise<Probe> {
  // The record of a task on the route of a vendor that most gateways have.
  const named = path.replace('{vendor_prefix}', 'kling').replaceAll(/\{\+?\w+\}/g, missing);
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

/** Paths on which some gateways serve an operation, besides its usual path without `/v1`. */
const otherPaths: Readonly<Partial<Record<Operation, readonly string[]>>> = {
  'embeddings.createForEngine': ['/engines/{+model}/embeddings'],
  'videos.create': ['/v1/video/generations'],
  'videos.retrieve': ['/v1/video/generations/{task_id}'],
};

/** The routes that a gateway serves. */
export interface Routes {
  readonly rows: readonly ReportRow[];
  /** Operations with another path than the profile says. */
  readonly paths: Readonly<Partial<Record<Operation, string>>>;
  readonly missing: readonly Operation[];
}

const isOperation = (name: string): name is Operation => Object.hasOwn(endpoints, name);

/** Probes the route of every operation for free. */
export async function probeRoutes(target: Target): Promise<Routes> {
  const profile = locate(target)?.gateway?.profile;
  const unknown = new Map<string, Probe>();
  const look = async (method: string, path: string) => {
    const folder = /^\/[^/]*/.exec(path)?.[0] ?? '';
    const known = unknown.get(`${method} ${folder}`);
    const absent = known ?? (await probeRoute(target, method, `${folder}/${missing}`));
    unknown.set(`${method} ${folder}`, absent);
    const probe = await probeRoute(target, method, path).catch((error: unknown) => {
      if (target.signal.aborted) throw error;
    });
    const detail = `${method} ${path}: ${probe?.status ?? 'no response'}`;
    const served = probe === undefined ? 'unknown' : servedStatus(probe, absent);
    return { served, detail };
  };
  const rows: ReportRow[] = [];
  const paths: Partial<Record<Operation, string>> = {};
  const absent: Operation[] = [];
  for (const operation of Object.keys(endpoints).filter(isOperation)) {
    const { method, path: usual } = endpoints[operation];
    const id = `route.${operation}`;
    if (profile?.unsupported?.[operation] !== undefined) {
      rows.push({ id, status: 'no', detail: `not served by ${profile.name}` });
      continue;
    }
    const path = profile?.paths?.[operation] ?? usual;
    const { served, detail } = await look(method, path);
    if (served !== 'no') {
      rows.push({ id, status: served, detail });
      continue;
    }
    const others = [...(otherPaths[operation] ?? []), path.replace(/^\/v1(beta)?(?=\/)/, '')];
    let other: string | undefined;
    for (const candidate of others.filter((each) => each !== path)) {
      const next = await look(method, candidate);
      if (next.served !== 'yes') continue;
      other = `${next.detail}, in place of ${path}`;
      paths[operation] = candidate;
      break;
    }
    if (other === undefined) absent.push(operation);
    rows.push({ id, status: other === undefined ? 'no' : 'yes', detail: other ?? detail });
  }
  return { rows, paths, missing: absent };
}
