import { isAmount, isText, toFields } from '../answers/objects.ts';
import { check } from '../options/check.ts';
import type { DefinedGateway } from '../options/gateway-profile.ts';
import type { Transport } from '../calls/transport.ts';
import { isSameOrigin } from '../http/url.ts';
import type { JsonObject } from '../types.ts';
import { checkStored, checkVersion, readStored, readTime } from './stored.ts';

/**
 * A handle to a video task that survives the process: plain JSON, without key, prompt or signed URL.
 *
 * Store it with `JSON.stringify`, read it back with `parseVideoTaskRef`.
 */
export interface VideoTaskRef {
  /** Version of this format. */
  v: 1;
  kind: 'video';
  /** The task id that the submission returned. */
  id: string;
  /** The route that returns the status. */
  route: { type: 'openai' } | { type: 'vendor'; vendorPrefix: string };
  /** The root of the gateway that issued the id. The id is never sent to another gateway. */
  baseURL: string;
  model?: string | undefined;
  /** When the task was submitted, in milliseconds since 1970. */
  createdAt: number;
  /** The id of the call that submitted the task, as in logs and errors. */
  callId?: string | undefined;
  /** The id of the task that was remixed. */
  remixOf?: string | undefined;
  /** The gateway's id of the request that submitted the task; its usage log lists the charge under it. */
  requestId?: string | undefined;
  /** The kind of gateway, the name of its profile; omitted for new-api and in old handles. */
  gateway?: string | undefined;
  /** The trace of the submission, as a W3C `traceparent`, when it was traced. */
  trace?: string | undefined;
  /**
   * Digests of the URLs in the request, so that no wait in another process takes the caller's own picture for the result.
   */
  sent?: string[] | undefined;
}

/**
 * A handle to images that are being generated, which survives the process: plain JSON, without key or prompt.
 *
 * Store it with `JSON.stringify`, read it back with `parseImageTaskRef`.
 */
export interface ImageTaskRef {
  /** Version of this format. */
  v: 1;
  kind: 'image';
  /**
   * The task id in the response, the first if there are several. For images without a task, the id of their
   * call.
   */
  id: string;
  /** All task ids, if the response has several. */
  ids?: string[] | undefined;
  /**
   * The status path from the response, below the origin of `baseURL`, with `{id}` for the id. Omitted if the
   * response has no path to which the key may be sent.
   */
  path?: string | undefined;
  /** `true` if the response contained the images, so there is nothing to wait for. Only in ledgers. */
  hasImages?: true | undefined;
  /** The root of the gateway that issued the id. The id is never sent to another gateway. */
  baseURL: string;
  model?: string | undefined;
  /** When the task was submitted, in milliseconds since 1970. */
  createdAt: number;
  /** The id of the call that submitted the task, as in logs and errors. */
  callId?: string | undefined;
  /** The gateway's id of the request that submitted the task; its usage log lists the charge under it. */
  requestId?: string | undefined;
  /** The kind of gateway, the name of its profile; omitted for new-api. */
  gateway?: string | undefined;
  /** The trace of the submission, as a W3C `traceparent`, when it was traced. */
  trace?: string | undefined;
  /**
   * Digests of the URLs in the request, so that no wait in another process takes the caller's own picture for the result.
   */
  sent?: string[] | undefined;
}

/** A handle to any task. */
export type TaskRef = VideoTaskRef | ImageTaskRef;

type Route = VideoTaskRef['route'];

function readText(part: string, value: unknown, problem = 'must be text.'): string {
  checkStored(isText(value), `ref.${part}`, problem);
  return value;
}

export function checkTaskId(field: string, value: unknown): string {
  const id = typeof value === 'string' ? value.trim() : '';
  // This is a stored handle or task. Gateways do not issue such ids.
  check(!id.startsWith('{'), field, 'is JSON text; read it with JSON.parse() first.');
  check(!/\p{Surrogate}/u.test(id), field, 'contains a lone surrogate.');
  const finding = id === '' ? 'is empty' : `may not be "${id}"`;
  const problem = `${finding}; pass the task id that the submission returned.`;
  // URL parsers resolve "." and "..", even if they are escaped, and would request another route.
  check(!['', '.', '..'].includes(id), field, problem);
  return id;
}

/** Checks the vendor prefix of a route: only characters without a special meaning in any router. */
export function checkVendorPrefix(field: string, value: unknown): string {
  const fits = typeof value === 'string' && /^[\w~-][\w.~-]*$/.test(value);
  const problem =
    'must be one path segment of letters, digits, "-", "_", "." and "~", for example "kling", without slashes.';
  check(fits, field, problem);
  return value;
}

function readRoute(value: unknown): Route {
  const { type, vendorPrefix } = toFields(value);
  if (type === 'openai') return { type };
  const problem = 'must be { type: "openai" } or { type: "vendor", vendorPrefix }.';
  checkStored(type === 'vendor', 'ref.route', problem);
  return { type, vendorPrefix: checkVendorPrefix('ref.route.vendorPrefix', vendorPrefix) };
}

/** Reads a gateway root and removes trailing slashes, so that equal gateways compare equal. */
function readRoot(value: unknown): string {
  const text = readText('baseURL', value);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.username + url.password + url.search + url.hash === '';
  const problem = 'must be an http(s) URL without password, query and fragment.';
  checkStored(isPlain, 'ref.baseURL', problem);
  return url.origin + url.pathname.replace(/^(.*[^/])?\/*$/s, '$1');
}

function readOptional(stored: JsonObject, part: string): string | undefined {
  const value = stored[part] ?? undefined;
  return value === undefined ? undefined : readText(part, value);
}

function readList(part: string, value: unknown, problem: string): readonly unknown[] | undefined {
  if (value === undefined || value === null) return undefined;
  checkStored(Array.isArray(value), `ref.${part}`, problem);
  return value;
}

/** Reads the fields that handles of both kinds have. */
function readShared(stored: JsonObject, kind: TaskRef['kind']) {
  checkStored(stored['kind'] === kind, 'ref.kind', `must be "${kind}".`);
  checkVersion('ref', stored);
  const problem = 'must be a list of text.';
  const sent = readList('sent', stored['sent'], problem);
  return {
    createdAt: readTime('ref.createdAt', stored['createdAt']),
    id: checkTaskId('ref.id', stored['id']),
    baseURL: readRoot(stored['baseURL']),
    model: readOptional(stored, 'model'),
    callId: readOptional(stored, 'callId'),
    trace: readOptional(stored, 'trace'),
    requestId: readOptional(stored, 'requestId'),
    gateway: readOptional(stored, 'gateway'),
    sent: sent?.map((digest) => readText('sent', digest, problem)),
  };
}

/** Deletes the fields that are `undefined`. */
function withoutUndefined<Ref extends object>(ref: Ref): Ref {
  for (const [name, value] of Object.entries(ref)) {
    if (value === undefined) Reflect.deleteProperty(ref, name);
  }
  return ref;
}

/**
 * Checks a stored handle to a video task, for example `JSON.parse(row.ref)`.
 *
 * @param value - The handle from `task.ref` or `onSubmitted`, parsed from JSON.
 * @returns A new handle with the known fields only.
 * @throws `InvalidInputError` naming the invalid field
 *
 * @example
 * ```ts
 * const ref = parseVideoTaskRef(JSON.parse(row.ref));
 * const task = await client.videos.wait(ref);
 * ```
 */
export function parseVideoTaskRef(value: unknown): VideoTaskRef {
  const stored = readStored('ref', value);
  return makeRef({
    ...readShared(stored, 'video'),
    route: readRoute(stored['route']),
    remixOf: readOptional(stored, 'remixOf'),
  });
}

/** Creates the handle of a task that makes a video. */
export const makeRef = ({
  id,
  route = { type: 'openai' },
  baseURL,
  createdAt,
  ...details
}: Omit<VideoTaskRef, 'v' | 'kind' | 'route'> & { readonly route?: Route }): VideoTaskRef =>
  withoutUndefined({ v: 1, kind: 'video', id, route, baseURL, createdAt, ...details });

/** Reads a path that cannot lead to another origin. */
function readPath(path: unknown, root: string): string {
  const problem = 'must be a path on the gateway, such as "/v1/tasks/{id}".';
  const isPath = typeof path === 'string' && /^\/([^\s#\\/][^\s#\\]*)?$/.test(path);
  checkStored(isPath, 'ref.path', problem);
  const isOwn = URL.canParse(path, root) && isSameOrigin(new URL(path, root).href, root);
  checkStored(isOwn, 'ref.path', problem);
  return path;
}

/** Creates the handle of a task that makes images. */
export const makeImageRef = (task: Omit<ImageTaskRef, 'v' | 'kind'>): ImageTaskRef =>
  withoutUndefined({ v: 1, kind: 'image', ...task });

/**
 * Checks a stored handle to images that are being generated, for example `JSON.parse(row.ref)`.
 *
 * @param value - The handle from `onSubmitted` or an error, parsed from JSON.
 * @returns A new handle with the known fields only.
 * @throws `InvalidInputError` naming the invalid field
 *
 * @example
 * ```ts
 * const ref = parseImageTaskRef(JSON.parse(row.ref));
 * const { data } = await client.images.wait(ref);
 * ```
 */
export function parseImageTaskRef(value: unknown): ImageTaskRef {
  const stored = readStored('ref', value);
  const shared = readShared(stored, 'image');
  const { path, hasImages } = stored;
  const problem = 'must be a list of task ids.';
  const ids = readList('ids', stored['ids'], problem);
  checkStored(ids?.length !== 0, 'ref.ids', problem);
  return makeImageRef({
    ...shared,
    ids: ids?.map((id) => checkTaskId('ref.ids', id)),
    path: path === undefined || path === null ? undefined : readPath(path, shared.baseURL),
    hasImages: hasImages === true ? true : undefined,
  });
}

/** Returns whether a value has the fields that handles of every kind have. */
export function isTaskRef(value: unknown): value is TaskRef {
  const { v, kind, id, baseURL, createdAt } = toFields(value);
  return v === 1 && [kind, id, baseURL].every(isText) && isAmount(createdAt);
}

/**
 * Checks a stored handle to a task of any kind, for example in a ledger of your own. A handle of a kind that this
 * version does not know is returned as it is.
 *
 * @throws `InvalidInputError` naming the invalid field
 */
export function parseTaskRef(value: unknown): TaskRef {
  const { kind } = toFields(value);
  if (kind === 'image') return parseImageTaskRef(value);
  return kind !== 'video' && isTaskRef(value) ? { ...value } : parseVideoTaskRef(value);
}

/**
 * Returns the kind of gateway that a handle names. If the client does not know the name, for example because a
 * profile was renamed, returns the client's kind.
 */
export function gatewayFor(
  transport: Transport,
  { gateway: name }: TaskRef,
): DefinedGateway | undefined {
  const { gateway: current, client } = transport;
  if (name === undefined || current?.profile.name === name) return current;
  try {
    return client.readGateway(name)('') ?? current;
  } catch {
    return current;
  }
}

/** Rejects a handle of another gateway: its id is unknown here, or belongs to another customer's task. */
export function checkGateway(
  { baseURL: issuer }: { readonly baseURL: string },
  baseURL: string,
  hint: string,
): void {
  const problem = `is ${issuer}, but this client calls ${baseURL}. Use a client of that gateway. ${hint}`;
  check(issuer === baseURL, 'ref.baseURL', problem);
}
