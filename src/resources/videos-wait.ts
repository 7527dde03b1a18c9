import { APIError } from '../errors/api-error.ts';
import { VideoFailedError, VideoSubmitAnswerError } from '../errors/video-error.ts';
import { retryAfterFrom } from '../http/backoff.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import type { PollResult } from '../tasks/observe.ts';
import { checkBaseURL, makeRef, nameTask } from '../tasks/task-ref.ts';
import { abortedError, callbackError, summarize } from '../tasks/wait-errors.ts';
import { inOrderOfEnd, pacer } from '../tasks/wait-many.ts';
import type {
  VideoCreateAndWaitOptions,
  VideoWaitAllOptions,
  VideoWaitOptions,
  VideoWaitResult,
  VideoWaitState,
  VideoWaitStep,
  VideoWatchEvent,
} from '../tasks/wait-options.ts';
import { WaitScope } from '../tasks/wait-scope.ts';
import { checkNumber, checkState, resolveWait } from '../tasks/wait-settings.ts';
import { takeStep, waitForTask, watchTask, type Wait } from '../tasks/wait.ts';
import type { SubmitEnd } from '../types/submit-ledger.ts';
import type { VideoTask, VideoTaskLike, VideoTaskRef } from '../types/videos.ts';
import { readTask } from './videos-read.ts';
import { finish, submitOnce, type Submission } from './videos-submit.ts';

/** The options of a wait that belong to each of its requests. */
function requestOptionsOf(options: VideoWaitOptions): RequestOptions {
  const { headers, query, fetchOptions, maxRetries, validation } = options;
  return { headers, query, fetchOptions, maxRetries, validation };
}

/** Reads the status of a task once. Never rejects. */
async function poll(
  transport: Transport,
  ref: VideoTaskRef,
  options: RequestOptions,
): Promise<PollResult> {
  try {
    const { id, route } = ref;
    const read = readTask(transport, () => ({ id, route, ref }), options);
    const { data, response } = await read.withResponse();
    return {
      task: data,
      retryAfter: retryAfterFrom(response.headers, response.status, Date.now()),
    };
  } catch (error) {
    if (!APIError.isInstance(error) || error.headers === undefined) return { error };
    return { error, retryAfter: retryAfterFrom(error.headers, error.status, Date.now()) };
  }
}

/** How a task is waited for, the same for many. */
function planOf(options: VideoWaitOptions) {
  const { onUpdate, limiter } = options;
  return { settings: resolveWait(options), request: requestOptionsOf(options), onUpdate, limiter };
}

type Plan = ReturnType<typeof planOf>;

function waitOf(
  transport: Transport,
  ref: VideoTaskRef,
  isDated: boolean,
  { request, ...plan }: Plan,
): Wait {
  return {
    ...plan,
    ref,
    isDated,
    poll: (limits) => poll(transport, ref, { ...request, ...limits }),
  };
}

/** A wait for what the caller gave. */
function makeWait(
  transport: Transport,
  task: VideoTaskLike,
  { allowOtherBaseURL }: VideoWaitOptions,
  plan: Plan,
): Wait {
  const { id, route, ref } = nameTask(task);
  const { baseURL } = transport;
  if (allowOtherBaseURL !== true) checkBaseURL(ref, baseURL, 'Or set allowOtherBaseURL: true.');
  const made = ref ?? makeRef({ id, route, baseURL, createdAt: Date.now() });
  return waitOf(transport, made, ref !== undefined, plan);
}

/** Makes one poll, and says what follows from it. */
export async function stepTask(
  transport: Transport,
  task: VideoTaskLike,
  before: VideoWaitState | undefined,
  options: VideoWaitOptions,
): Promise<VideoWaitStep> {
  const wait = makeWait(transport, task, options, planOf(options));
  const scope = new WaitScope(options.signal);
  const state = checkState(before ?? { v: 1, since: scope.now, polls: 0, errors: 0, missing: 0 });
  try {
    return await takeStep(wait, state, scope);
  } catch (error) {
    const summary = summarize(wait.ref, state, scope.now - state.since);
    throw error === scope.signal.reason ? abortedError(summary, error) : error;
  } finally {
    scope.release();
  }
}

/** A generator with a scope of its own, which ends at once when its caller leaves it. */
function scoped<T>(
  signal: AbortSignal | null | undefined,
  run: (scope: WaitScope) => AsyncIterable<T>,
): AsyncGenerator<T, void, undefined> {
  let scope: WaitScope | undefined;
  const start = async function* (): AsyncGenerator<T, void, undefined> {
    // Not before the first event: a generator that nobody begins is never told that it is over.
    scope = new WaitScope(signal);
    try {
      yield* run(scope);
    } finally {
      scope.release();
    }
  };
  const events = start();
  const end = events.return.bind(events);
  // By itself, a generator that sleeps ends at its next poll only.
  events.return = (value) => {
    scope?.leave();
    return end(value);
  };
  return events;
}

/** Waits in a scope of its own. */
async function waitAlone(wait: Wait, signal: AbortSignal | null | undefined): Promise<VideoTask> {
  const scope = new WaitScope(signal);
  try {
    return await waitForTask(wait, scope);
  } finally {
    scope.release();
  }
}

/** Waits for a task that exists. */
export async function waitFor(
  transport: Transport,
  task: VideoTaskLike,
  options: VideoWaitOptions,
): Promise<VideoTask> {
  return waitAlone(makeWait(transport, task, options, planOf(options)), options.signal);
}

/** Watches a task that exists. */
export function watch(
  transport: Transport,
  task: VideoTaskLike,
  options: VideoWaitOptions,
): AsyncGenerator<VideoWatchEvent, void, undefined> {
  return scoped(options.signal, (scope) =>
    watchTask(makeWait(transport, task, options, planOf(options)), scope),
  );
}

/** Waits for many tasks. Each of them gets one result. */
export function waitAll(
  transport: Transport,
  tasks: Iterable<VideoTaskLike>,
  options: VideoWaitAllOptions,
): AsyncGenerator<VideoWaitResult, void, undefined> {
  return scoped(options.signal, async function* (scope) {
    const { maxPollsPerSecond, limiter } = options;
    const perSecond = checkNumber('maxPollsPerSecond', maxPollsPerSecond, 10, 0.001, 100_000);
    const plan = { ...planOf(options), limiter: limiter ?? pacer(perSecond, scope) };
    const settle = async (task: VideoTaskLike, index: number): Promise<VideoWaitResult> => {
      try {
        const video = await waitForTask(makeWait(transport, task, options, plan), scope);
        return { index, task, video };
      } catch (error) {
        return { index, task, error };
      }
    };
    // Not a list: it would hold every result until the last one has come.
    const waits = function* (): Generator<Promise<VideoWaitResult>> {
      let index = 0;
      for (const task of tasks) {
        yield settle(task, index);
        index += 1;
      }
    };
    try {
      for await (const result of inOrderOfEnd(waits())) {
        if (scope.isLeft) return;
        yield result;
      }
    } finally {
      scope.leave();
    }
  });
}

/** Submits a task once, hands its handle over, and waits for it. */
export async function submitAndWait(
  transport: Transport,
  submission: Submission,
  options: VideoCreateAndWaitOptions,
): Promise<VideoTask> {
  // Checked before anything is paid for.
  const plan = planOf(options);
  const { signal, extraBody, ledger, callId, onUnknown, onSubmitted } = options;
  const handOver = async (ref: VideoTaskRef): Promise<void> => {
    try {
      await onSubmitted?.(ref);
    } catch (error) {
      throw callbackError('onSubmitted', summarize(ref), error);
    }
  };
  const request = { ...plan.request, signal, extraBody, ledger, callId, onUnknown };
  const { ref, answer } = await submitOnce(submission, request).catch(async (error: unknown) => {
    if (VideoSubmitAnswerError.isInstance(error)) await handOver(error.ref);
    throw error;
  });
  await handOver(ref);
  // A task that is said to have ended is looked at without the first pause.
  const isDated = answer?.data.status !== 'completed' && answer?.data.status !== 'failed';
  const end = async (how: SubmitEnd): Promise<void> => {
    if (ledger !== undefined && callId !== undefined) await finish(ledger, callId, how);
  };
  try {
    const video = await waitAlone(waitOf(transport, ref, isDated, plan), signal);
    await end('completed');
    return video;
  } catch (error) {
    if (VideoFailedError.isInstance(error)) await end('failed');
    throw error;
  }
}
