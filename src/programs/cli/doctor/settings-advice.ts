import {
  type GatewayName,
  type GatewayProfile,
  liteLLM,
  newApi,
  openAICompatible,
  openRouter,
  type Operation,
} from '../../../index.ts';
import { isPost } from './calls/exchanges.ts';
import { readImageTask } from './calls/facts.ts';
import type { CallResult } from './calls/make-call.ts';
import type { FreeFacts } from './probes.ts';
import type { ReportRow, ReportSettings } from './report-schema.ts';

/** The profiles of the package, and the names of their exports. */
const profiles: Readonly<
  Record<GatewayName, { readonly exported: string; readonly profile: GatewayProfile }>
> = {
  'new-api': { exported: 'newApi', profile: newApi },
  openrouter: { exported: 'openRouter', profile: openRouter },
  litellm: { exported: 'liteLLM', profile: liteLLM },
  openai: { exported: 'openAICompatible', profile: openAICompatible },
};

type OwnProfile = NonNullable<ReportSettings['profile']>;
type OwnOptions = ReportSettings['options'];
type Results = ReadonlyMap<string, CallResult>;

const noRoute = 'The gateway has no route for it.';

/** Returns the result of a row; `undefined` without the row. */
const statusIn = (rows: readonly ReportRow[], id: string): ReportRow['status'] | undefined =>
  rows.find((row) => row.id === id)?.status;

const isRefused = (status: ReportRow['status'] | undefined): boolean =>
  status === 'fail' || status === 'unsupported';

/** Chooses how calls with a schema ask for JSON, if the default would be rejected first. */
function structuredOutput(rows: readonly ReportRow[]): OwnOptions['structuredOutput'] {
  const [bySchema, byObject] = ['call.json-schema', 'call.json-object'].map((id) =>
    statusIn(rows, id),
  );
  if (!isRefused(bySchema)) return undefined;
  if (byObject === 'pass') return 'json_object';
  return bySchema === 'unsupported' && byObject === 'unsupported' ? 'prompt' : undefined;
}

/** Returns whether a video was accepted as JSON, after the form was rejected. */
function needsJSON(results: Results): boolean {
  const posts = results.get('call.video')?.exchanges.filter(isPost) ?? [];
  return posts.length > 1 && posts.at(-1)?.status === 200;
}

/** Returns the route of image tasks, if the client had to try others first. */
function imageTaskPath(results: Results): string | undefined {
  const exchanges = results.get('call.image')?.exchanges ?? [];
  const missed = exchanges.some((exchange) => !isPost(exchange) && exchange.status >= 400);
  return missed ? readImageTask(exchanges)?.path : undefined;
}

interface Finding {
  readonly profile: OwnProfile | undefined;
  readonly options: OwnOptions;
  readonly reasons: readonly string[];
}

/** Finds the differences from a profile, with the reason of each. */
function compareProfile(
  base: GatewayProfile,
  { paths, missing, idHeader }: FreeFacts,
  basePath: string | undefined,
  rows: readonly ReportRow[],
  results: Results,
): Finding {
  const reasons: string[] = [];
  const profile: OwnProfile = { name: base.name };
  if (basePath !== undefined) {
    profile.basePath = basePath;
    reasons.push('basePath: the routes are not below /v1');
  }
  const changed = Object.entries(paths);
  if (changed.length > 0) {
    profile.paths = Object.fromEntries(changed);
    reasons.push(`paths: ${changed.map(([operation]) => operation).join(', ')} has another path`);
  }
  const isForm = isRefused(statusIn(rows, 'call.image-edit-form'));
  const hasRule = base.requests?.['images.edit']?.body === 'json';
  if (isForm && !hasRule && statusIn(rows, 'call.image-edit-json') === 'pass') {
    profile.requests = { 'images.edit': { body: 'json' } };
    reasons.push('requests: image edits are accepted as JSON and not as a form');
  }
  const imageTask = imageTaskPath(results);
  if (imageTask !== undefined) {
    profile.imageTask = imageTask;
    reasons.push('imageTask: the route of image tasks');
  }
  if (idHeader !== undefined) {
    profile.requestIdHeaders = [idHeader];
    reasons.push('requestIdHeaders: the header with request ids');
  }
  const options: OwnOptions = {};
  const json = structuredOutput(rows);
  if (json !== undefined) {
    options.structuredOutput = json;
    reasons.push('structuredOutput: the model rejects stricter formats');
  }
  if (needsJSON(results)) {
    options.bodyFormat = 'json';
    reasons.push('bodyFormat: videos are accepted as JSON and not as a form');
  }
  if (Object.keys(profile).length === 1) return { profile: undefined, options, reasons };
  const served = new Set<string>(Object.keys(base.unsupported ?? {}));
  const absent = missing.filter((operation) => !served.has(operation));
  if (absent.length > 0) profile.unsupported = toSentences(absent);
  return { profile: { ...profile, name: 'my-gateway' }, options, reasons };
}

const toSentences = (operations: readonly Operation[]): Record<string, string> =>
  Object.fromEntries(operations.map((operation) => [operation, noRoute]));

const isName = (name: string): boolean => /^[a-z]\w*$/i.test(name);

/** Formats a value as TypeScript. */
function toCode(value: unknown, indent: string): string {
  if (typeof value === 'string') return `'${value.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
  if (Array.isArray(value)) return `[${value.map((item) => toCode(item, indent)).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = `${indent}  `;
  const lines = Object.entries(value).map(
    ([name, item]) => `${inner}${isName(name) ? name : `'${name}'`}: ${toCode(item, inner)},`,
  );
  return `{\n${lines.join('\n')}\n${indent}}`;
}

/** Formats a profile that extends one of the package. */
function profileCode(base: GatewayName, profile: OwnProfile, indent: string): string {
  const name = profiles[base].exported;
  const inner = `${indent}  `;
  const merged = new Set(['paths', 'unsupported', 'requests']);
  const lines = Object.entries(profile).map(([field, value]) => {
    if (!merged.has(field)) return `${inner}${field}: ${toCode(value, inner)},`;
    const [first, ...rest] = toCode(value, inner).split('\n');
    return (
      [`${inner}${field}: ${first}`, `${inner}  ...${name}.${field},`, ...rest].join('\n') + ','
    );
  });
  return `{\n${inner}...${name},\n${lines.join('\n')}\n${indent}}`;
}

/** Formats a client as TypeScript. Its address and key come from the environment. */
function clientCode(
  base: GatewayName,
  profile: OwnProfile | undefined,
  options: OwnOptions,
): string {
  const gateway = profile === undefined ? `'${base}'` : profileCode(base, profile, '  ');
  const others = Object.entries(options).map(
    ([name, value]) => `  ${name}: ${toCode(value, '  ')},`,
  );
  const names = profile === undefined ? 'Gateway' : `Gateway, ${profiles[base].exported}`;
  return [
    `import { ${names} } from 'model-gateway';`,
    '',
    '// The address and the key are those of GATEWAY_BASE_URL and GATEWAY_API_KEY.',
    'const client = new Gateway({',
    `  gateway: ${gateway},`,
    ...others,
    '});',
  ].join('\n');
}

/** Derives the options with which this client works with a gateway. */
export function adviseSettings(
  free: FreeFacts,
  basePath: string | undefined,
  rows: readonly ReportRow[],
  results: Results,
): ReportSettings {
  const gateway = free.family ?? 'new-api';
  const base = profiles[gateway].profile;
  const { profile, options, reasons } = compareProfile(base, free, basePath, rows, results);
  const code = clientCode(gateway, profile, options);
  return {
    gateway,
    options,
    reasons: [...reasons],
    code,
    ...(profile === undefined ? {} : { profile }),
  };
}

/** Formats a module with the profile of a gateway, and the options of a client for it. */
export function formatProfile({ gateway, profile, options }: ReportSettings): string {
  const { exported } = profiles[gateway];
  const written = profile === undefined ? exported : profileCode(gateway, profile, '');
  const others = Object.entries(options).map(
    ([name, value]) => `  ${name}: ${toCode(value, '  ')},`,
  );
  return [
    `import { type GatewayOptions, type GatewayProfile, ${exported} } from 'model-gateway';`,
    '',
    '/** The profile that `model-gateway doctor --write-profile` found for a gateway. */',
    `export const profile: GatewayProfile = ${written};`,
    '',
    '/** Options of a client for the gateway: `new Gateway({ ...options, baseURL, apiKey })`. */',
    'export const options: GatewayOptions = {',
    '  gateway: profile,',
    ...others,
    '};',
    '',
  ].join('\n');
}
