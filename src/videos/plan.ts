import { APIError } from '../errors/api-errors.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';
import { retryAfterFrom } from '../http/retry.ts';
import { checkBoolean, checkObject } from '../check.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import type { PollResult } from './observe.ts';
import { checkBaseURL, makeRef, nameTask } from './task-ref.ts';
import type { VideoWaitOptions } from './wait-options.ts';
import { resolveWait } from './wait-settings.ts';
import type { Wait } from './wait.ts';
import type { VideoTaskLike, VideoTaskRef } from './types.ts';
import { readTask } from './read.ts';

/** How a task is waited for, the same for many. */
export type Plan = ReturnType<typeof planOf>;

/** The options that were given; plain JavaScript may give none as `null`. */
export function optionsOf<T extends object>(options: T): T | Partial<T> {
  checkObject('options', options);
  return options ?? {};
}

/**
 * Checks the options of a wait, those of its requests too, and fills in what is missing.
 *
 * @throws `InvalidInputError` naming the option that cannot work
 */
export function planOf(transport: Transport, options: VideoWaitOptions) {
  const { onUpdate, limiter, signal, allowOtherBaseURL = false } = options;
  const { headers, query, fetchOptions, maxRetries, validation } = options;
  const request: RequestOptions = { headers, query, fetchOptions, maxRetries, validation };
  transport.checkOptions({ ...request, signal });
  checkBoolean('allowOtherBaseURL', allowOtherBaseURL);
  return { settings: resolveWait(options), request, onUpdate, limiter, signal, allowOtherBaseURL };
}

/** Reads the status of a task once. Never rejects. */
async function poll(
  transport: Transport,
  ref: VideoTaskRef,
  route: VideoTaskRef['route'],
  options: RequestOptions,
): Promise<PollResult> {
  try {
    const read = readTask(transport, () => ({ id: ref.id, route, ref }), options);
    const { data, response } = await read.withResponse();
    return {
      task: data,
      retryAfter: retryAfterFrom(response.headers, response.status),
    };
  } catch (error) {
    if (!APIError.isInstance(error) || error.headers === undefined) return { error };
    return { error, retryAfter: retryAfterFrom(error.headers, error.status) };
  }
}

/**
 * A wait for a task that has a handle.
 *
 * @param isDated - Whether the handle says when the task was submitted.
 */
export function waitOf(
  transport: Transport,
  ref: VideoTaskRef,
  isDated: boolean,
  plan: Plan,
): Wait {
  return {
    ...plan,
    ref,
    isDated,
    poll: (limits, route = ref.route) =>
      poll(transport, ref, route, { ...plan.request, ...limits }),
  };
}

/**
 * Refuses the handle of another gateway.
 *
 * @throws `InvalidInputError` saying how to wait for it all the same
 */
export function checkOwn({ baseURL }: Transport, ref: VideoTaskRef | undefined): void {
  checkBaseURL(ref, baseURL, 'Or set allowOtherBaseURL: true.');
}

/** A wait for what the caller gave. */
export function makeWait(transport: Transport, task: VideoTaskLike, plan: Plan): Wait {
  const { id, route, ref } = nameTask(task);
  const { baseURL } = transport;
  if (!plan.allowOtherBaseURL) checkOwn(transport, ref);
  const made = ref ?? makeRef({ id, route, baseURL, createdAt: Date.now() });
  return waitOf(transport, made, ref !== undefined, plan);
}

/**
 * Tasks that can be looped over.
 *
 * @throws `InvalidInputError` for anything else, and for a single id, whose letters could be, too
 */
export function checkTasks(tasks: unknown): void {
  const isObject = typeof tasks === 'object' && tasks !== null;
  if (isObject && Symbol.iterator in tasks) return;
  const isAsync = isObject && Symbol.asyncIterator in tasks;
  const fix = isAsync ? 'collect it first, with Array.fromAsync()' : 'for one task use wait()';
  throw new InvalidInputError('tasks', `must be a list of ids, handles or tasks; ${fix}.`);
}
