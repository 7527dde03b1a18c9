import { toFields } from '../../../answers/objects.ts';
import { endpoints, type Operation, operations } from '../../../endpoints.ts';
import { findRoute, locate, type Probe, probeUnknown, type Target } from './probe.ts';
import type { ReportRow } from './report-schema.ts';

/** Paths on which some gateways serve an operation, besides its usual path without `/v1`. */
const otherPaths: Readonly<Partial<Record<Operation, readonly string[]>>> = {
  'embeddings.createForEngine': ['/engines/{+model}/embeddings'],
  // One Hub, 9router.
  'messages.create': ['/claude/v1/messages'],
  'generate.content': ['/gemini', '/api'].map(
    (prefix) => `${prefix}/v1beta/models/{model}:generateContent`,
  ),
  'generate.contentStream': ['/gemini', '/api'].map(
    (prefix) => `${prefix}/v1beta/models/{model}:streamGenerateContent`,
  ),
  'videos.create': ['/v1/video/generations'],
  'videos.retrieve': ['/v1/video/generations/{task_id}'],
};

/** Describes the response to a probe. One that succeeds was not rejected, as a probe should be. */
function describeProbe(method: string, probe: Probe | undefined): string {
  if (probe === undefined) return 'no response';
  const isServed = probe.status >= 200 && probe.status < 300 && method !== 'GET';
  return isServed ? `${probe.status}, served although the body is not JSON` : `${probe.status}`;
}

/** Returns whether One API's parser rejected a probe of a route that One API registers without serving it. */
function isUnserved(operation: Operation, probe: Probe | undefined): boolean {
  const { type } = toFields(toFields(probe?.json)['error']);
  return operation === 'images.edit' && probe?.status === 400 && type === 'one_api_error';
}

/** The routes that a gateway serves. */
export interface Routes {
  readonly rows: readonly ReportRow[];
  /** Operations with another path than the profile says. */
  readonly paths: Readonly<Partial<Record<Operation, string>>>;
  readonly missing: readonly Operation[];
}

/** Probes the route of every operation for free. */
export async function probeRoutes(target: Target): Promise<Routes> {
  const profile = locate(target)?.gateway?.profile;
  const unknown = new Map<string, Probe>();
  const look = async (operation: Operation, method: string, path: string) => {
    const key = `${method} ${/^\/[^/]*/.exec(path)?.[0] ?? ''}`;
    const absent = unknown.get(key) ?? (await probeUnknown(target, method, path));
    unknown.set(key, absent);
    const found = await findRoute(target, method, path, absent).catch((error: unknown) => {
      if (target.signal.aborted) throw error;
    });
    const detail = `${method} ${path}: ${describeProbe(method, found?.probe)}`;
    return isUnserved(operation, found?.probe)
      ? { served: 'unknown' as const, detail: `${detail}, before the gateway looked for the route` }
      : { served: found?.served ?? 'unknown', detail };
  };
  const rows: ReportRow[] = [];
  const paths: Partial<Record<Operation, string>> = {};
  const absent: Operation[] = [];
  for (const operation of operations) {
    const { method, path: usual } = endpoints[operation];
    const id = `route.${operation}`;
    if (profile?.unsupported?.[operation] !== undefined) {
      rows.push({ id, status: 'no', detail: `not served by ${profile.name}` });
      continue;
    }
    const path = profile?.paths?.[operation] ?? usual;
    const { served, detail } = await look(operation, method, path);
    if (served !== 'no') {
      rows.push({ id, status: served, detail });
      continue;
    }
    const others = [...(otherPaths[operation] ?? []), path.replace(/^\/v1(beta)?(?=\/)/, '')];
    let other: string | undefined;
    for (const candidate of others.filter((each) => each !== path)) {
      const next = await look(operation, method, candidate);
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
