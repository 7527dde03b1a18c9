import { InvalidInputError } from '../errors/gateway-error.ts';
import { isObject } from '../answers/objects.ts';
import { badStored, checkStored, checkTime, checkVersion } from './stored.ts';
import type { VideoTaskLike, VideoTaskRef } from './types.ts';

type Route = VideoTaskRef['route'];

function checkText(part: string, value: unknown): string {
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw badStored('ref', part, 'must be text.');
}

/** Checks the id of a task. */
export function checkTaskId(field: string, value: unknown): string {
  const id = typeof value === 'string' ? value.trim() : '';
  // A handle or a task that was stored. No gateway has ids like that.
  if (id.startsWith('{')) {
    throw new InvalidInputError(field, 'is JSON text; read it with JSON.parse() first.');
  }
  if (/\p{Surrogate}/u.test(id)) {
    throw new InvalidInputError(field, 'holds half of a surrogate pair.');
  }
  // URL parsers resolve the two, even when they are escaped, and would call another route.
  if (!['', '.', '..'].includes(id)) return id;
  const finding = id === '' ? 'is empty' : `may not be "${id}"`;
  throw new InvalidInputError(field, `${finding}; give the task id that the submission returned.`);
}

/**
 * Checks the vendor prefix of a route: one path segment, of characters that no router reads as
 * anything else.
 */
export function checkVendorPrefix(field: string, value: unknown): string {
  if (typeof value === 'string' && /^[\w~-][\w.~-]*$/.test(value)) return value;
  throw new InvalidInputError(
    field,
    'must be one path segment of letters, digits, "-", "_", "." and "~", for example "kling"; leave slashes out.',
  );
}

function checkRoute(value: unknown): Route {
  const { type, vendorPrefix } = isObject(value) ? value : {};
  if (type === 'openai') return { type };
  if (type === 'vendor') {
    return { type, vendorPrefix: checkVendorPrefix('ref.route.vendorPrefix', vendorPrefix) };
  }
  throw badStored(
    'ref',
    'route',
    'must be { type: "openai" } or { type: "vendor", vendorPrefix }.',
  );
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
    throw badStored(
      'ref',
      'baseURL',
      'must be an http(s) URL without password, query and fragment.',
    );
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
  const given = checkStored('ref', value);
  const { v, kind, id, route, baseURL, createdAt, model, callId, remixOf } = given;
  if (kind !== 'video') throw badStored('ref', 'kind', 'must be "video".');
  checkVersion('ref', v);
  const submitted = checkTime('ref', 'createdAt', createdAt);
  return makeRef({
    id: checkTaskId('ref.id', id),
    route: checkRoute(route),
    baseURL: checkRoot(baseURL),
    createdAt: submitted,
    model: optionalText('model', model),
    callId: optionalText('callId', callId),
    remixOf: optionalText('remixOf', remixOf),
  });
}

function optionalText(part: string, value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : checkText(part, value);
}

type Details = Pick<VideoTaskRef, 'model' | 'callId' | 'remixOf'>;

/** Makes the handle of a task. */
export function makeRef(
  task: { readonly id: string; readonly baseURL: string; readonly createdAt: number } & {
    readonly route?: Route;
  } & Details,
): VideoTaskRef {
  const { id, baseURL, createdAt, route = { type: 'openai' } } = task;
  const ref: VideoTaskRef = { v: 1, kind: 'video', id, route, baseURL, createdAt };
  // Unknown details leave no key behind.
  for (const name of ['model', 'callId', 'remixOf'] as const) {
    if (task[name] !== undefined) ref[name] = task[name];
  }
  return ref;
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
      if (isObject(stored)) givenFor.set(ref, stored);
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
const completed = new WeakSet<object>();

/** The handles of callers, by the checked ones that were made of them. */
const givenFor = new WeakMap<VideoTaskRef, object>();

/** Takes note that the task of a handle is completed. */
export function noteCompleted(ref: VideoTaskRef): void {
  completed.add(ref);
  const given = givenFor.get(ref);
  if (given !== undefined) completed.add(given);
}

/** Whether a caller's task is known to be completed: it says so, or its handle came with one that did. */
export function isCompleted(task: VideoTaskLike): boolean {
  if (typeof task === 'string') return false;
  if ('status' in task && task.status === 'completed') return true;
  const ref = 'ref' in task ? task.ref : task;
  return isObject(ref) && completed.has(ref);
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
