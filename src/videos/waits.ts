import { VideoFailedError, VideoSubmitAnswerError } from './errors.ts';
import { checkNumber } from '../check.ts';
import type { Transport } from '../http/transport.ts';
import { inOrderOfEnd, pacer } from './wait-many.ts';
import type {
  VideoCreateAndWaitOptions,
  VideoWaitAllOptions,
  VideoWaitOptions,
  VideoWaitResult,
  VideoWaitState,
  VideoWaitStep,
  VideoWatchEvent,
} from './wait-options.ts';
import { inScope, WaitScope } from './wait-scope.ts';
import { checkState } from './wait-state.ts';
import { waitForTask, WaitRun, watchTask } from './wait.ts';
import type { VideoTask, VideoTaskLike, VideoTaskRef } from './types.ts';
import { finish, handOver } from './submit-with-ledger.ts';
import { checkOwn, checkTasks, makeWait, optionsOf, planOf, waitOf } from './plan.ts';
import { submitOnce, type Submission } from './submit.ts';

/** Makes one poll, and says what follows from it. */
export async function stepTask(
  transport: Transport,
  task: VideoTaskLike,
  before: VideoWaitState | undefined,
  options: VideoWaitOptions,
): Promise<VideoWaitStep> {
  const plan = planOf(transport, optionsOf(options));
  const wait = makeWait(transport, task, plan);
  return inScope(plan.signal, (scope) =>
    new WaitRun(wait, scope, checkState(before, scope.now)).step(),
  );
}

/** What a generator needs before it begins. */
interface Scoped<T> {
  readonly signal: AbortSignal | null | undefined;
  readonly run: (scope: WaitScope) => AsyncIterable<T>;
}

/**
 * A generator with a scope of its own, which ends at once when its caller leaves it.
 *
 * @param prepare - Is called at the first event: what it throws rejects that.
 */
function scoped<T>(prepare: () => Scoped<T>): AsyncGenerator<T, void, undefined> {
  let scope: WaitScope | undefined;
  const start = async function* (): AsyncGenerator<T, void, undefined> {
    // Not before the first event: a generator that nobody begins is never told that it is over.
    const { signal, run } = prepare();
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

/** Waits for a task that exists. */
export async function waitFor(
  transport: Transport,
  task: VideoTaskLike,
  options: VideoWaitOptions,
): Promise<VideoTask> {
  const plan = planOf(transport, optionsOf(options));
  const wait = makeWait(transport, task, plan);
  return inScope(plan.signal, (scope) => waitForTask(wait, scope));
}

/** Watches a task that exists. */
export function watch(
  transport: Transport,
  task: VideoTaskLike,
  options: VideoWaitOptions,
): AsyncGenerator<VideoWatchEvent, void, undefined> {
  return scoped(() => {
    const plan = planOf(transport, optionsOf(options));
    const wait = makeWait(transport, task, plan);
    return { signal: plan.signal, run: (scope) => watchTask(wait, scope) };
  });
}

/** Waits for many tasks. Each of them gets one result. */
export function waitAll(
  transport: Transport,
  tasks: Iterable<VideoTaskLike>,
  options: VideoWaitAllOptions,
): AsyncGenerator<VideoWaitResult, void, undefined> {
  return scoped(() => {
    const { maxPollsPerSecond = 10, ...rest } = optionsOf(options);
    const perSecond = checkNumber('maxPollsPerSecond', maxPollsPerSecond, 0.001, 100_000);
    const plan = planOf(transport, rest);
    checkTasks(tasks);
    const run = async function* (scope: WaitScope): AsyncGenerator<VideoWaitResult> {
      const paced = { ...plan, limiter: plan.limiter ?? pacer(perSecond, scope) };
      const settle = async (task: VideoTaskLike, index: number): Promise<VideoWaitResult> => {
        try {
          const video = await waitForTask(makeWait(transport, task, paced), scope);
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
    };
    return { signal: plan.signal, run };
  });
}

/** Submits a task once, hands its handle over, and waits for it. */
export async function submitAndWait(
  transport: Transport,
  submission: Submission,
  options: VideoCreateAndWaitOptions,
): Promise<VideoTask> {
  // Checked before anything is paid for.
  const given = optionsOf(options);
  const plan = planOf(transport, given);
  const { extraBody, bodyFormat, ledger, callId, onUnknown, onSubmitted } = given;
  const { signal } = plan;
  const request = { ...plan.request, signal, extraBody, bodyFormat, ledger, callId, onUnknown };
  const tell = async (ref: VideoTaskRef): Promise<void> => {
    if (onSubmitted === undefined) return;
    await handOver('onSubmitted', ref, () => onSubmitted(ref), signal);
  };
  const { ref, answer, call } = await submitOnce(transport, submission, request).catch(
    async (error: unknown) => {
      if (VideoSubmitAnswerError.isInstance(error)) await tell(error.ref);
      throw error;
    },
  );
  // A ledger may have been used with another gateway before.
  if (!plan.allowOtherBaseURL) checkOwn(transport, ref);
  await tell(ref);
  // A task that is said to have ended is looked at without the first pause.
  const isDated = answer?.data.status !== 'completed' && answer?.data.status !== 'failed';
  try {
    const wait = waitOf(transport, ref, isDated, plan);
    const video = await inScope(signal, (scope) => waitForTask(wait, scope));
    if (call !== undefined) await finish(call, 'completed');
    return video;
  } catch (error) {
    if (call !== undefined && VideoFailedError.isInstance(error)) await finish(call, 'failed');
    throw error;
  }
}
