import { checkNumber } from '../../options/check.ts';
import { InvalidInputError } from '../../errors/gateway-error.ts';
import type { GatewayPromise } from '../../calls/promise.ts';
import type { Transport } from '../../calls/transport.ts';
import {
  checkEach,
  checkBatch,
  mapConcurrent,
  mapWithProgress,
  optionsForCall,
} from '../../tasks/many.ts';
import type { RequestOptions } from '../../options/options.ts';
import { checkState } from '../../tasks/wait.ts';
import type { Copied } from '../../options/snapshot.ts';
import { videoErrors, VideoFailedError, VideoSubmitResponseError } from './errors.ts';
import { handOver, type LedgerCall } from '../../tasks/ledger.ts';
import { checkTaskId, checkVendorPrefix, makeRef } from '../../tasks/ref.ts';
import { resolveOwnTask } from './ref.ts';
import { readTask, VideoScope } from './step.ts';
import { type Submitter } from '../../tasks/submit.ts';
import {
  createSubmission,
  type Submission,
  remixSubmission,
  submit,
  submitOnce,
} from './submit.ts';
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

export function create(
  submitter: Submitter,
  params: VideoCreateParams,
  options: VideoSubmitOptions | undefined,
): GatewayPromise<VideoTask> {
  return submit(submitter, createSubmission(params), options);
}

export function remix(
  submitter: Submitter,
  task: VideoTaskLike,
  params: VideoRemixParams,
  options: VideoSubmitOptions | undefined,
): GatewayPromise<VideoTask> {
  return submit(submitter, remixSubmission(submitter.transport, task, params), options);
}

export function retrieve(
  transport: Transport,
  task: VideoTaskLike,
  options: RequestOptions | undefined,
): GatewayPromise<VideoTask> {
  return readTask(transport, resolveOwnTask(transport, task), options);
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

/** Polls once and returns what follows. */
export async function stepTask(
  transport: Transport,
  task: VideoTaskLike,
  stored: VideoWaitState | undefined,
  options: VideoWaitOptions,
): Promise<VideoWaitStep> {
  const scope = new VideoScope(transport, options);
  try {
    const run = scope.run(scope.resolveTask(task), checkState(stored, scope.now));
    const { next, state, task: found, pollError } = await run.step();
    const step = { state, task: found, pollError };
    return { ...step, next: 'result' in next ? { video: next.result } : next };
  } finally {
    scope.close();
  }
}

/** Waits for an existing task. */
export async function waitFor(
  transport: Transport,
  task: VideoTaskLike,
  options: VideoWaitOptions,
): Promise<VideoTask> {
  const scope = new VideoScope(transport, options);
  try {
    return await scope.run(scope.resolveTask(task)).untilDone();
  } finally {
    scope.close();
  }
}

/** Watches an existing task. A failed task is an event instead of an error. */
export async function* watch(
  transport: Transport,
  task: VideoTaskLike,
  options: VideoWaitOptions,
  leaveSignal: AbortSignal,
): AsyncGenerator<VideoWatchEvent, void, undefined> {
  const scope = new VideoScope(transport, options, leaveSignal);
  try {
    const resolved = scope.resolveTask(task);
    yield { type: 'submitted', ref: resolved.ref };
    const run = scope.run(resolved);
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
      if ('result' in next) return yield { type: 'completed', task: next.result };
    }
  } finally {
    scope.close();
  }
}

/** Waits for many tasks and yields one result for each. */
export async function* waitAll(
  transport: Transport,
  takeTasks: () => Iterable<VideoTaskLike>,
  options: VideoWaitAllOptions,
  leaveSignal: AbortSignal,
): AsyncGenerator<VideoWaitResult, void, undefined> {
  const scope = new VideoScope(transport, options, leaveSignal);
  try {
    const tasks = takeTasks();
    checkTasks(tasks);
    scope.limit(pollsPerSecond(options));
    yield* mapConcurrent(tasks, Infinity, async (task, index): Promise<VideoWaitResult> => {
      try {
        const video = await scope.run(scope.resolveTask(task)).untilDone();
        return { index, task, video };
      } catch (error) {
        return { index, task, error };
      }
    });
  } finally {
    scope.close();
  }
}

function pollsPerSecond(options: VideoWaitAllOptions): number {
  const { maxPollsPerSecond = 10 } = options ?? {};
  return checkNumber('maxPollsPerSecond', maxPollsPerSecond, 0.001, 100_000);
}

/** Rejects values that are not iterable, and a single id, which would be iterated by character. */
function checkTasks(tasks: unknown): void {
  const isObject = typeof tasks === 'object' && tasks !== null;
  if (isObject && Symbol.iterator in tasks) return;
  const isAsync = isObject && Symbol.asyncIterator in tasks;
  const fix = isAsync ? 'collect it first, with Array.fromAsync()' : 'for one task use wait()';
  throw new InvalidInputError('tasks', `must be a list of ids, handles or tasks; ${fix}.`);
}

/**
 * Submits a task once, passes its handle to `onSubmitted`, and waits for it.
 *
 * @param shared - The scope that this wait shares with others.
 */
export async function submitAndWait(
  submitter: Submitter,
  submission: Submission,
  options: VideoCreateAndWaitOptions,
  shared?: VideoScope,
): Promise<VideoTask> {
  const scope = shared ?? new VideoScope(submitter.transport, options);
  const { signal, request } = scope.settings;
  const { extraBody, bodyFormat, ledger, callId, onUnknown, onSubmitted } = options ?? {};
  const { fallback, fallbackOn, onFallback } = options ?? {};
  const notify = async (ref: VideoTaskRef): Promise<void> => {
    if (onSubmitted !== undefined) {
      await handOver('onSubmitted', ref, onSubmitted, signal, videoErrors);
    }
  };
  let entered: LedgerCall<VideoTaskRef> | undefined;
  try {
    const { ref, answer, call } = await submitOnce(submitter, submission, {
      ...request,
      signal,
      extraBody,
      bodyFormat,
      ledger,
      callId,
      onUnknown,
      fallback,
      fallbackOn,
      onFallback,
    });
    // Checked before onSubmitted is called: the ledger's task may be from another gateway.
    const task = scope.resolveTask(ref);
    await notify(ref);
    entered = call;
    // A task that the gateway already reports as ended is polled without the first pause.
    const isNew = !/^(completed|failed)$/.test(answer?.data.status ?? '');
    const video = await scope.run(task, undefined, isNew).untilDone();
    await call?.finish('completed');
    return video;
  } catch (error) {
    if (VideoSubmitResponseError.isInstance(error)) await notify(error.ref);
    if (VideoFailedError.isInstance(error)) await entered?.finish('failed');
    throw error;
  } finally {
    if (shared === undefined) scope.close();
  }
}

/** Submits many tasks, waits for them, and yields one result for each. */
export async function* createAndWaitAll(
  submitter: Submitter,
  takeParams: () => readonly Copied<VideoCreateParams>[],
  rawOptions: VideoCreateAndWaitAllOptions,
  leaveSignal: AbortSignal,
): AsyncGenerator<VideoCreateAndWaitResult, void, undefined> {
  const { transport } = submitter;
  transport.checkNames(rawOptions);
  // Plain JavaScript may pass `null` for no options.
  const options = rawOptions ?? {};
  const { onProgress, onSubmitted } = options;
  const scope = new VideoScope(transport, { ...options }, leaveSignal);
  try {
    const concurrency = checkBatch(options);
    const list = takeParams();
    checkEach(list, createSubmission);
    scope.limit(pollsPerSecond(options));
    yield* mapWithProgress<Copied<VideoCreateParams>, VideoCreateAndWaitResult>(
      list,
      { concurrency, onProgress },
      async ({ original, copy }, index) => {
        let accepted: { ref?: VideoTaskRef } = {};
        const callOptions = {
          ...optionsForCall(options, index),
          onSubmitted: (ref: VideoTaskRef) => {
            accepted = { ref };
            return onSubmitted?.(ref, index);
          },
        };
        const item = { index, params: original };
        try {
          const video = await submitAndWait(submitter, createSubmission(copy), callOptions, scope);
          return { ...item, ...accepted, video };
        } catch (error) {
          return { ...item, ...accepted, error };
        }
      },
    );
  } finally {
    scope.close();
  }
}
