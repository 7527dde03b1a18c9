import { isObject, isText } from '../answers/objects.ts';
import { check } from '../check.ts';
import type { JsonObject } from '../types.ts';
import type { VideoTaskLike, VideoTaskRef } from './types.ts';

type Route = VideoTaskRef['route'];

/** What callers store and give back, and where they have it from. */
const origins = {
  ref: 'A handle is what task.ref, onSubmitted or an error gave',
  state: 'A state is what the last step() gave',
};

type Stored = keyof typeof origins;

/** Refuses what was stored, or a part of it, unless it fits. */
export function checkStored(
  fits: boolean,
  field: Stored | `${Stored}.${string}`,
  problem: string,
): asserts fits {
  const origin = field.startsWith('ref') ? origins.ref : origins.state;
  check(fits, field, `${problem} ${origin}; store and pass it whole.`);
}

/** What was stored: an object, in the format of this version. */
export function readStored(name: Stored, value: unknown): JsonObject {
  const isString = typeof value === 'string';
  const problem = isString ? 'is text; parse it with JSON.parse() first.' : 'must be an object.';
  checkStored(isObject(value), name, problem);
  const { kind, v } = value;
  checkStored(name !== 'ref' || kind === 'video', `${name}.kind`, 'must be "video".');
  const finding = `is ${JSON.stringify(v)}, a format that this version does not know.`;
  checkStored(v === 1, `${name}.v`, finding);
  return value;
}

export function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

export function readTime(field: `${Stored}.${string}`, value: unknown): number {
  checkStored(isAmount(value), field, 'must be milliseconds since 1970.');
  return value;
}

function readText(part: string, value: unknown): string {
  checkStored(isText(value), `ref.${part}`, 'must be text.');
  return value;
}

export function checkTaskId(field: string, value: unknown): string {
  const id = typeof value === 'string' ? value.trim() : '';
  // A handle or a task that was stored. No gateway has ids like that.
  check(!id.startsWith('{'), field, 'is JSON text; read it with JSON.parse() first.');
  check(!/\p{Surrogate}/u.test(id), field, 'holds half of a surrogate pair.');
  const finding = id === '' ? 'is empty' : `may not be "${id}"`;
  const problem = `${finding}; give the task id that the submission returned.`;
  // URL parsers resolve the two, even when they are escaped, and would call another route.
  check(!['', '.', '..'].includes(id), field, problem);
  return id;
}

/** Checks the vendor prefix of a route: only characters that no router reads as anything else. */
export function checkVendorPrefix(field: string, value: unknown): string {
  const fits = typeof value === 'string' && /^[\w~-][\w.~-]*$/.test(value);
  const problem =
    'must be one path segment of letters, digits, "-", "_", "." and "~", for example "kling"; leave slashes out.';
  check(fits, field, problem);
  return value;
}

function readRoute(value: unknown): Route {
  const { type, vendorPrefix } = isObject(value) ? value : {};
  if (type === 'openai') return { type };
  const problem = 'must be { type: "openai" } or { type: "vendor", vendorPrefix }.';
  checkStored(type === 'vendor', 'ref.route', problem);
  return { type, vendorPrefix: checkVendorPrefix('ref.route.vendorPrefix', vendorPrefix) };
}

/** A gateway root without a trailing slash, so that equal gateways compare equal. */
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

/** What a handle holds where it is known. */
const details = ['model', 'callId', 'remixOf', 'trace', 'requestId'] as const;

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
 * const task = await client.videos.wait(ref);
 * ```
 */
export function parseVideoTaskRef(value: unknown): VideoTaskRef {
  const given = readStored('ref', value);
  const createdAt = readTime('ref.createdAt', given['createdAt']);
  const ref = makeRef({
    id: checkTaskId('ref.id', given['id']),
    route: readRoute(given['route']),
    baseURL: readRoot(given['baseURL']),
    createdAt,
  });
  for (const name of details) {
    const detail = given[name] ?? undefined;
    if (detail !== undefined) ref[name] = readText(name, detail);
  }
  return ref;
}

export function makeRef(
  task: Pick<VideoTaskRef, 'id' | 'baseURL' | 'createdAt' | (typeof details)[number]> & {
    readonly route?: Route;
  },
): VideoTaskRef {
  const { id, baseURL, createdAt, route = { type: 'openai' } } = task;
  const ref: VideoTaskRef = { v: 1, kind: 'video', id, route, baseURL, createdAt };
  // Unknown details leave no key behind.
  for (const name of details) if (task[name] !== undefined) ref[name] = task[name];
  return ref;
}

/** A task as its caller names it. */
export interface NamedTask {
  /** Its handle: the caller's, checked, or one that is made of its id. */
  readonly ref: VideoTaskRef;
  /** The handle as the caller gave it, where it was one. */
  readonly given?: object;
}

/**
 * Reads what a caller gave for a task: an id, a handle, or a task. A task that went through JSON has
 * lost its handle and counts as its id, which is one of the gateway at `baseURL`.
 */
export function nameTask(value: VideoTaskLike, baseURL: string): NamedTask {
  let id: unknown = value;
  if (isObject(value)) {
    check(!(value instanceof Promise), 'id', 'is a promise; put "await" before it.');
    const given = 'ref' in value ? value['ref'] : 'kind' in value ? value : undefined;
    if (given !== undefined) return { ref: parseVideoTaskRef(given), given: Object(given) };
    id = value['id'] ?? value['task_id'];
  } else {
    const isString = typeof value === 'string';
    check(isString, 'id', 'must be a task id, a handle (task.ref) or a video task.');
  }
  return { ref: makeRef({ id: checkTaskId('id', id), baseURL, createdAt: Date.now() }) };
}

/**
 * What a caller gave for a task of this gateway. A handle of another one is refused: its id means
 * nothing here, or means the task of somebody else.
 */
export function ownTask(
  { baseURL }: { readonly baseURL: string },
  task: VideoTaskLike,
  hint = 'Or give the id alone.',
): NamedTask {
  const named = nameTask(task, baseURL);
  const { baseURL: other } = named.ref;
  const problem = `is ${other}, but this client calls ${baseURL}. Use a client of that gateway. ${hint}`;
  check(other === baseURL, 'ref.baseURL', problem);
  return named;
}

/** Handles of tasks that were read as completed. Nothing of it is stored with them. */
const completed = new WeakSet();

export function noteCompleted(...refs: readonly (object | undefined)[]): void {
  for (const ref of refs) if (ref !== undefined) completed.add(ref);
}

/** Whether a caller's task is known to be completed: it says so, or its handle came with one that did. */
export function isCompleted(task: VideoTaskLike): boolean {
  if (typeof task === 'string') return false;
  if ('status' in task && task.status === 'completed') return true;
  const ref = 'ref' in task ? task.ref : task;
  return isObject(ref) && completed.has(ref);
}
