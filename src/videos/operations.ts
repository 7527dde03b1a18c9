import { InvalidInputError } from '../errors/gateway-error.ts';
import type { GatewayPromise } from '../http/promise.ts';
import type { Transport } from '../http/transport.ts';
import { checkEach, checkMany, eachDone, eachTold, optionsOf } from '../many.ts';
import type { RequestOptions } from '../options.ts';
import type { Copied } from '../snapshot.ts';
import { VideoFailedError, VideoSubmitAnswerError } from './errors.ts';
import { handOver, type LedgerCall } from './ledger.ts';
import { checkTaskId, checkVendorPrefix, makeRef, ownTask } from './ref.ts';
import { readTask, WaitRun, WaitScope } from './step.ts';
import { creation, type Order, remixing, submit, submitOnce, type Submitter } from './submit.ts';
import type {
  VideoCreateParams,
  VideoRemixParams,
  VideoTask,
  VideoTaskLike,
  VideoTaskRef,
  VideoVendorParams,
} from './types.ts';
import type {
  VideoCreateAndWaitAllOptions,
  VideoCreateAndWaitOptions,
  VideoCreateAndWaitResult,
  VideoSubmitOptions,
  VideoWaitAllOptions,
  VideoWaitOptions,
  VideoWaitResult,
  VideoWaitState,
  VideoWaitStep,
  VideoWatchEvent,
} from './wait-options.ts';
import { checkState } from './wait.ts';

export function create(
  submitter: Submitter,
  params: VideoCreateParams,
  options: VideoSubmitOptions | undefined,
): GatewayPromise<VideoTask> {
  return submit(submitter, creation(params), options);
}

export function remix(
  submitter: Submitter,
  task: VideoTaskLike,
  params: VideoRemixParams,
  options: VideoSubmitOptions | undefined,
): GatewayPromise<VideoTask> {
  return submit(submitter, remixing(submitter.transport, task, params), options);
}

export function retrieve(
  transport: Transport,
  task: VideoTaskLike,
  options: RequestOptions | undefined,
): GatewayPromise<VideoTask> {
  return readTask(transport, ownTask(transport, task), options);
}

export function retrieveFromVendor(
  transport: Transport,
  params: VideoVendorParams,
  options: RequestOptions | undefined,
): GatewayPromise<VideoTask> {
  const vendorPrefix = checkVendorPrefix('vendorPrefix', params?.vendorPrefix);
  const id = checkTaskId('taskId', params.taskId);
  const { baseURL } = transport;
  const ref = makeRef({ id, route: { type: 'vendor', vendorPrefix }, baseURL, createdAt: 0 });
  return readTask(transport, { ref }, options);
}

/** Makes one poll, and says what follows from it. */
export async function stepTask(
  transport: Transport,
  task: VideoTaskLike,
  before: VideoWaitState | undefined,
  options: VideoWaitOptions,
): Promise<VideoWaitStep> {
  const scope = new WaitScope(transport, options);
  try {
    const run = new WaitRun(scope, scope.nameTask(task), checkState(before, scope.now));
    const { update: _, ...step } = await run.step();
    return step;
  } finally {
    scope.close();
  }
}

/** Waits for a task that exists. */
export async function waitFor(
  transport: Transport,
  task: VideoTaskLike,
  options: VideoWaitOptions,
): Promise<VideoTask> {
  const scope = new WaitScope(transport, options);
  try {
    return await new WaitRun(scope, scope.nameTask(task)).untilDone();
  } finally {
    scope.close();
  }
}

/** Watches a task that exists. A task that failed is an event. */
export async function* watch(
  transport: Transport,
  task: VideoTaskLike,
  options: VideoWaitOptions,
  left: AbortSignal,
): AsyncGenerator<VideoWatchEvent, void, undefined> {
  const scope = new WaitScope(transport, options, left);
  try {
    const named = scope.nameTask(task);
    yield { type: 'submitted', ref: named.ref };
    const run = new WaitRun(scope, named);
    for (;;) {
      const { next, update, pollError } = await run.step();
      const failure = 'error' in next ? next.error : undefined;
      const isFailed = VideoFailedError.isInstance(failure);
      if (failure !== undefined && !isFailed) throw failure;
      if ('delayMs' in next && pollError !== undefined) {
        yield { type: 'poll-error', error: pollError };
      }
      if (update !== undefined) yield { type: 'update', ...update };
      if (isFailed) return yield { type: 'failed', error: failure };
      if ('video' in next) return yield { type: 'completed', task: next.video };
    }
  } finally {
    scope.close();
  }
}

/** Waits for many tasks. Each of them gets one result. */
export async function* waitAll(
  transport: Transport,
  takeTasks: () => Iterable<VideoTaskLike>,
  options: VideoWaitAllOptions,
  left: AbortSignal,
): AsyncGenerator<VideoWaitResult, void, undefined> {
  const scope = new WaitScope(transport, options, left);
  try {
    const tasks = takeTasks();
    checkTasks(tasks);
    scope.limit(options);
    yield* eachDone(tasks, Infinity, async (task, index): Promise<VideoWaitResult> => {
      try {
        const video = await new WaitRun(scope, scope.nameTask(task)).untilDone();
        return { index, task, video };
      } catch (error) {
        return { index, task, error };
      }
    });
  } finally {
    scope.close();
  }
}

/** Refuses what cannot be looped over, and a single id, whose letters could be. */
function checkTasks(tasks: unknown): void {
  const isObject = typeof tasks === 'object' && tasks !== null;
  if (isObject && Symbol.iterator in tasks) return;
  const isAsync = isObject && Symbol.asyncIterator in tasks;
  const fix = isAsync ? 'collect it first, with Array.fromAsync()' : 'for one task use wait()';
  throw new InvalidInputError('tasks', `must be a list of ids, handles or tasks; ${fix}.`);
}

/**
 * Submits a task once, hands its handle over, and waits for it.
 *
 * @param shared - The scope of many waits, of which this is one.
 */
export async function submitAndWait(
  submitter: Submitter,
  order: Order,
  options: VideoCreateAndWaitOptions,
  shared?: WaitScope,
): Promise<VideoTask> {
  const scope = shared ?? new WaitScope(submitter.transport, options);
  const { signal, request } = scope.settings;
  const { extraBody, bodyFormat, ledger, callId, onUnknown, onSubmitted } = options ?? {};
  const tell = async (ref: VideoTaskRef): Promise<void> => {
    if (onSubmitted !== undefined) await handOver('onSubmitted', ref, onSubmitted, signal);
  };
  let entered: LedgerCall | undefined;
  try {
    const own = { ...request, signal, extraBody, bodyFormat, ledger, callId, onUnknown };
    const { ref, answer, call } = await submitOnce(submitter, order, own);
    // Before anybody is told: a ledger may have been used with another gateway before.
    const task = scope.nameTask(ref);
    await tell(ref);
    entered = call;
    // A task that is said to have ended is polled without the first pause.
    const isNew = !/^(completed|failed)$/.test(answer?.data.status ?? '');
    const video = await new WaitRun(scope, task, undefined, isNew).untilDone();
    await call?.finish('completed');
    return video;
  } catch (error) {
    if (VideoSubmitAnswerError.isInstance(error)) await tell(error.ref);
    if (VideoFailedError.isInstance(error)) await entered?.finish('failed');
    throw error;
  } finally {
    if (shared === undefined) scope.close();
  }
}

/** Submits many tasks and waits for them. Each of them gets one result. */
export async function* createAndWaitAll(
  submitter: Submitter,
  takeParams: () => readonly Copied<VideoCreateParams>[],
  given: VideoCreateAndWaitAllOptions,
  left: AbortSignal,
): AsyncGenerator<VideoCreateAndWaitResult, void, undefined> {
  const { transport } = submitter;
  transport.checkNames(given);
  // Plain JavaScript may give none as `null`.
  const options = given ?? {};
  const { onProgress, onSubmitted } = options;
  const scope = new WaitScope(transport, { ...options }, left);
  try {
    const concurrency = checkMany(options);
    const list = takeParams();
    checkEach(list, creation);
    scope.limit(options);
    yield* eachTold<Copied<VideoCreateParams>, VideoCreateAndWaitResult>(
      list,
      { concurrency, onProgress },
      async ({ original, copy }, index) => {
        let accepted: { ref?: VideoTaskRef } = {};
        const own = {
          ...optionsOf(options, index),
          onSubmitted: (ref: VideoTaskRef) => {
            accepted = { ref };
            return onSubmitted?.(ref, index);
          },
        };
        const place = { index, params: original };
        try {
          const video = await submitAndWait(submitter, creation(copy), own, scope);
          return { ...place, ...accepted, video };
        } catch (error) {
          return { ...place, ...accepted, error };
        }
      },
    );
  } finally {
    scope.close();
  }
}
