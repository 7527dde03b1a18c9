import { InvalidInputError } from '../errors/gateway-error.ts';
import { isObject } from '../schemas/objects.ts';
import type { VideoTaskLike, VideoTaskRef } from '../types/videos.ts';

type Route = VideoTaskRef['route'];

function bad(part: string, problem: string): InvalidInputError {
  return new InvalidInputError(
    part === '' ? 'ref' : `ref.${part}`,
    `${problem} A handle is what task.ref, onSubmitted or an error gave; store and pass it whole.`,
  );
}

function checkText(part: string, value: unknown): string {
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw bad(part, 'must be text.');
}

/** Checks the id of a task. */
export function checkTaskId(field: string, value: unknown): string {
  const id = typeof value === 'string' ? value.trim() : '';
  // A handle or a task that was stored. No gateway has ids like that.
  if (id.startsWith('{')) {
    throw new InvalidInputError(field, 'is JSON text; read it with JSON.parse() first.');
  }
  // URL parsers resolve the two, even when they are escaped, and would call another route.
  const isWhole = !/\p{Surrogate}/u.test(id);
  if (isWhole && id !== '' && id !== '.' && id !== '..') return id;
  if (!isWhole) throw new InvalidInputError(field, 'holds half of a surrogate pair.');
  const finding = id === '' ? 'is empty' : `may not be "${id}"`;
  throw new InvalidInputError(field, `${finding}; give the task id that the submission returned.`);
}

/**
 * Checks the vendor prefix of a route: one path segment, of characters that no router reads as
 * anything else.
 */
export function checkVendorPrefix(field: string, value: unknown): string {
  const isSafe =
    typeof value === 'string' && /^[\w~-][\w.~-]*$/.test(value) && !/^\.+$/.test(value);
  if (isSafe) return value;
  throw new InvalidInputError(
    field,
    'must be one path segment of letters, digits, "-", "_", "." and "~", for example "kling"; leave slashes out.',
  );
}

function checkRoute(value: unknown): Route {
  if (isObject(value) && value['type'] === 'openai') return { type: 'openai' };
  if (isObject(value) && value['type'] === 'vendor') {
    const vendorPrefix = checkVendorPrefix('ref.route.vendorPrefix', value['vendorPrefix']);
    return { type: 'vendor', vendorPrefix };
  }
  throw bad('route', 'must be { type: "openai" } or { type: "vendor", vendorPrefix }.');
}

/** A gateway root without a trailing slash, so that equal gateways compare equal. */
function checkRoot(value: unknown): string {
  const text = checkText('baseURL', value);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.username + url.password + url.search + url.hash === '';
  if (!isPlain)
    throw bad('baseURL', 'must be an http(s) URL without password, query and fragment.');
  return url.origin + url.pathname.replace(/^(.*[^/])?\/*$/s, '$1');
}

/**
 * Checks a stored handle to a video task, for example `JSON.parse(row.ref)`.
 *
 * @param value - What `task.ref` or `onSubmitted` gave, after a trip through JSON.
 * @returns A fresh handle with the known fields only.
 * @throws `InvalidInputError` naming the field that does not fit
 *
 * @example
 * ```ts
 * const ref = parseVideoTaskRef(JSON.parse(row.ref));
 * const task = await gateway.videos.wait(ref);
 * ```
 */
export function parseVideoTaskRef(value: unknown): VideoTaskRef {
  if (typeof value === 'string') throw bad('', 'is text; parse it with JSON.parse() first.');
  if (!isObject(value)) throw bad('', 'must be an object.');
  const { v, kind, createdAt, model, callId, remixOf } = value;
  if (kind !== 'video') throw bad('kind', 'must be "video".');
  if (v !== 1) {
    throw bad('v', `is ${JSON.stringify(v)}, a format that this version does not know.`);
  }
  if (typeof createdAt !== 'number' || !Number.isFinite(createdAt) || createdAt < 0) {
    throw bad('createdAt', 'must be milliseconds since 1970.');
  }
  const ref: VideoTaskRef = {
    v: 1,
    kind: 'video',
    id: checkTaskId('ref.id', value['id']),
    route: checkRoute(value['route']),
    baseURL: checkRoot(value['baseURL']),
    createdAt,
  };
  return withDetails(ref, {
    model: optionalText('model', model),
    callId: optionalText('callId', callId),
    remixOf: optionalText('remixOf', remixOf),
  });
}

function optionalText(part: string, value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : checkText(part, value);
}

type Details = Pick<VideoTaskRef, 'model' | 'callId' | 'remixOf'>;

/** A handle with what else is known of its task. Unknown details leave no key behind. */
function withDetails(ref: VideoTaskRef, { model, callId, remixOf }: Details): VideoTaskRef {
  if (model !== undefined) ref.model = model;
  if (callId !== undefined) ref.callId = callId;
  if (remixOf !== undefined) ref.remixOf = remixOf;
  return ref;
}

/** Makes the handle of a task. */
export function makeRef(
  task: { readonly id: string; readonly baseURL: string; readonly createdAt: number } & {
    readonly route?: Route;
  } & Details,
): VideoTaskRef {
  const { id, baseURL, createdAt, route = { type: 'openai' } } = task;
  return withDetails({ v: 1, kind: 'video', id, route, baseURL, createdAt }, task);
}

/** A task as its caller names it. */
export interface NamedTask {
  readonly id: string;
  /** The route on which its status is read. */
  readonly route: Route;
  /** The handle, where the caller gave one. */
  readonly ref: VideoTaskRef | undefined;
}

/**
 * Reads what a caller gave for a task: an id, a handle, or a task. A task that went through JSON has
 * lost its handle and counts as its id.
 *
 * @throws `InvalidInputError` when it is none of them
 */
export function nameTask(value: VideoTaskLike): NamedTask {
  if (typeof value === 'string') return byId(value);
  if (value instanceof Promise) {
    throw new InvalidInputError('id', 'is a promise; put "await" before it.');
  }
  if (isObject(value)) {
    const stored = 'ref' in value ? value['ref'] : 'kind' in value ? value : undefined;
    if (stored !== undefined) {
      const ref = parseVideoTaskRef(stored);
      return { id: ref.id, route: ref.route, ref };
    }
    return byId(value['id'] ?? value['task_id']);
  }
  throw new InvalidInputError('id', 'must be a task id, a handle (task.ref) or a video task.');
}

function byId(id: unknown): NamedTask {
  return { id: checkTaskId('id', id), route: { type: 'openai' }, ref: undefined };
}

/** Handles of tasks that were read as completed. Nothing of it is stored with them. */
const completed = new WeakSet<VideoTaskRef>();

/** Takes note that the task of a handle is completed. */
export function noteCompleted(ref: VideoTaskRef): void {
  completed.add(ref);
}

/** Whether a caller's task is known to be completed: it says so, or its handle came with one that did. */
export function isCompleted(task: VideoTaskLike): boolean {
  if (typeof task === 'string') return false;
  return 'status' in task ? task.status === 'completed' : 'kind' in task && completed.has(task);
}

/**
 * Refuses a handle of another gateway: its id means nothing here, or means the task of somebody else.
 *
 * @throws `InvalidInputError` saying what to do
 */
export function checkBaseURL(ref: VideoTaskRef | undefined, baseURL: string, hint: string): void {
  if (ref === undefined || ref.baseURL === baseURL) return;
  throw new InvalidInputError(
    'ref.baseURL',
    `is ${ref.baseURL}, but this client calls ${baseURL}. Use a client of that gateway. ${hint}`,
  );
}
