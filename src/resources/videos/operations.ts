import { InvalidInputError } from '../../errors/gateway-error.ts';
import type { GatewayPromise } from '../../calls/promise.ts';
import type { Transport } from '../../calls/transport.ts';
import { checkEach, mapConcurrent, mapWithProgress, optionsForCall } from '../../tasks/many.ts';
import type { RequestOptions } from '../../options/options.ts';
import { optionsFor, type ResolvedOptions } from '../../options/resolve.ts';
import { checkState } from '../../tasks/wait.ts';
import { shorter } from '../../tasks/wait-options.ts';
import type { Copied } from '../../options/snapshot.ts';
import { videoErrors, VideoFailedError, VideoSubmitResponseError } from './errors.ts';
import { withAbortGrace } from '../../http/abort.ts';
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
  return submit(submitter, createSubmission(submitter.transport, params), options);
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
  const scope = new VideoScope(transport, transport.checkOptions('videos.step', options));
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
  const scope = new VideoScope(transport, transport.checkOptions('videos.wait', options));
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
  const checked = transport.checkOptions('videos.watch', options);
  const scope = new VideoScope(transport, checked, leaveSignal);
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
  const checked = transport.checkOptions('videos.waitAll', options);
  const scope = new VideoScope(transport, checked, leaveSignal);
  try {
    const tasks = takeTasks();
    checkTasks(tasks);
    scope.limit(checked.maxPollsPerSecond);
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

/** Rejects values that are not iterable, and a single id, which would be iterated by character. */
function checkTasks(tasks: unknown): void {
  const isObject = typeof tasks === 'object' && tasks !== null;
  if (isObject && Symbol.iterator in tasks) return;
  const isAsync = isObject && Symbol.asyncIterator in tasks;
  const fix = isAsync ? 'collect it first, with Array.fromAsync()' : 'for one task use wait()';
  throw new InvalidInputError('tasks', `must be a list of ids, handles or tasks; ${fix}.`);
}

/** Submits a task once, passes its handle to `onSubmitted`, and waits for it. */
export async function submitAndWait(
  submitter: Submitter,
  method: 'videos.createAndWait' | 'videos.remixAndWait',
  submission: Submission,
  options: VideoCreateAndWaitOptions,
): Promise<VideoTask> {
  const { transport } = submitter;
  const checked = transport.checkOptions(method, options);
  const scope = new VideoScope(transport, checked);
  try {
    return await submitWithin(scope, submitter, submission, checked);
  } finally {
    scope.close();
  }
}

/**
 * Submits a task and waits for it within the time limit of the scope.
 *
 * @param options - The checked options of the caller. The submission gets all that it has too.
 */
async function submitWithin(
  scope: VideoScope,
  submitter: Submitter,
  submission: Submission,
  options: ResolvedOptions<'videos.createAndWait', VideoCreateAndWaitOptions>,
): Promise<VideoTask> {
  const since = scope.now;
  const { timeout, signal } = scope.settings;
  const { onSubmitted, totalTimeout = submitter.transport.client.call.totalTimeout } = options;
  const { timeout: _, ...own } = optionsFor(options, submission.operation);
  const notify = async (ref: VideoTaskRef): Promise<void> => {
    if (onSubmitted === undefined) return;
    const handed = handOver(ref, onSubmitted, signal, videoErrors);
    if (timeout === null) return handed;
    const tooLate = () => videoErrors.stopped('timeout', { ref }, undefined, timeout);
    await withAbortGrace(handed, AbortSignal.abort(), since + timeout - scope.now, tooLate);
  };
  let entered: LedgerCall<VideoTaskRef> | undefined;
  try {
    const { ref, answer, call } = await submitOnce(submitter, submission, {
      ...own,
      totalTimeout: shorter(timeout, totalTimeout),
    });
    // Checked before onSubmitted is called: the ledger's task may be from another gateway.
    const task = scope.resolveTask(ref);
    await notify(ref);
    entered = call;
    // A task that the gateway already reports as ended is polled without the first pause.
    const isNew = !/^(completed|failed)$/.test(answer?.data.status ?? '');
    const video = await scope.run(task, undefined, isNew, since).untilDone();
    await call?.finish('completed');
    call?.reportFailure(submitter.transport.client, video);
    return video;
  } catch (error) {
    if (VideoSubmitResponseError.isInstance(error)) await notify(error.ref);
    if (VideoFailedError.isInstance(error)) await entered?.finish('failed');
    throw error;
  }
}

/** Submits many tasks, waits for them, and yields one result for each. */
export async function* createAndWaitAll(
  submitter: Submitter,
  takeParams: () => readonly Copied<VideoCreateParams>[],
  options: VideoCreateAndWaitAllOptions,
  leaveSignal: AbortSignal,
): AsyncGenerator<VideoCreateAndWaitResult, void, undefined> {
  const { transport } = submitter;
  const checked = transport.checkOptions('videos.createAndWaitAll', options);
  const { concurrency, onProgress, onSubmitted } = checked;
  const scope = new VideoScope(transport, checked, leaveSignal);
  try {
    const list = takeParams();
    checkEach(list, (params) => createSubmission(transport, params));
    scope.limit(checked.maxPollsPerSecond);
    yield* mapWithProgress<Copied<VideoCreateParams>, VideoCreateAndWaitResult>(
      list,
      { concurrency, onProgress },
      async ({ original, copy }, index) => {
        let accepted: { ref?: VideoTaskRef } = {};
        const callOptions = {
          ...optionsForCall(checked, index),
          onSubmitted: (ref: VideoTaskRef) => {
            accepted = { ref };
            return onSubmitted?.(ref, index);
          },
        };
        const item = { index, params: original };
        try {
          const submission = createSubmission(transport, copy);
          const video = await submitWithin(scope, submitter, submission, callOptions);
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
