import { isObject } from '../../answers/objects.ts';
import { check } from '../../options/check.ts';
import type { Target } from '../../tasks/kind.ts';
import { checkGateway, checkTaskId, makeRef, parseVideoTaskRef } from '../../tasks/ref.ts';
import type { VideoTask, VideoTaskLike, VideoTaskRef } from './types.ts';

/** A task that a caller passed. */
export type ResolvedTask = Target<VideoTaskRef>;

/**
 * Resolves an id, a handle or a task. A task that was serialized to JSON has lost its handle, so only its id
 * is used, and is assumed to be from the gateway at `baseURL`.
 */
export function resolveTask(value: unknown, baseURL: string): ResolvedTask {
  let id: unknown = value;
  if (isObject(value)) {
    check(!(value instanceof Promise), 'id', 'is a promise; put "await" before it.');
    const handle = 'ref' in value ? value['ref'] : 'kind' in value ? value : undefined;
    if (handle !== undefined) return { ref: parseVideoTaskRef(handle), handle: Object(handle) };
    id = value['id'] ?? value['task_id'];
  } else {
    const isString = typeof value === 'string';
    check(isString, 'id', 'must be a task id, a handle (task.ref) or a video task.');
  }
  return { ref: makeRef({ id: checkTaskId('id', id), baseURL, createdAt: Date.now() }) };
}

/**
 * Resolves a task of this gateway. Rejects a handle from another gateway: its id is unknown here, or
 * belongs to another customer's task.
 */
export function resolveOwnTask(
  { baseURL }: { readonly baseURL: string },
  task: VideoTaskLike,
): ResolvedTask {
  const resolved = resolveTask(task, baseURL);
  checkGateway(resolved.ref, baseURL, 'Or pass only the id.');
  return resolved;
}

/** What is known of a completed task: the URL of its result, or `''` if it has none, and the id of its content. */
interface Completed {
  readonly url: string | undefined;
  readonly contentId: string | undefined;
}

/** Handles of tasks that were read as completed. Kept in memory only. */
const completed = new WeakMap<object, Completed>();

export function rememberCompleted(
  { url, content_id: contentId }: VideoTask,
  ...refs: readonly (object | undefined)[]
): void {
  // A data URL may be large, so it is read again.
  const kept = url === undefined ? '' : url.startsWith('http') ? url : undefined;
  for (const ref of refs) if (ref !== undefined) completed.set(ref, { url: kept, contentId });
}

/** Returns what a task, or an earlier read of its handle, has of its result; `undefined` if it is not known to be completed. */
export function findCompleted(task: VideoTaskLike): Completed | undefined {
  if (typeof task === 'string') return undefined;
  const ref = 'ref' in task ? task.ref : task;
  const known = isObject(ref) ? completed.get(ref) : undefined;
  if (!('status' in task) || task.status !== 'completed') return known;
  return { url: task.url ?? '', contentId: task.content_id ?? known?.contentId };
}
