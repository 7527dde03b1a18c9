import { checkNumber, checkObject } from '../check.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';
import type { Transport } from '../http/transport.ts';
import { VideoFailedError, VideoSubmitAnswerError } from './errors.ts';
import { handOver } from './ledger.ts';
import { checkGateway, makeRef, nameTask } from './ref.ts';
import { type Wait, WaitRun, WaitScope } from './step.ts';
import { submitOnce, type Submission } from './submit.ts';
import type { VideoTask, VideoTaskLike, VideoTaskRef } from './types.ts';
import {
  resolveWait,
  type VideoCreateAndWaitOptions,
  type VideoWaitAllOptions,
  type VideoWaitOptions,
  type VideoWaitResult,
  type VideoWaitState,
  type VideoWaitStep,
  type VideoWatchEvent,
  type WaitSettings,
} from './wait-options.ts';
import { checkState } from './wait.ts';

/**
 * Checks the options of a wait, those of its requests too, and fills in what is missing.
 *
 * @throws `InvalidInputError` naming the option that cannot work
 */
function settingsOf(transport: Transport, options: VideoWaitOptions): WaitSettings {
  checkObject('options', options);
  // Plain JavaScript may give none as `null`.
  const settings = resolveWait(options ?? {});
  transport.checkOptions({ ...settings.request, signal: settings.signal });
  return settings;
}

/**
 * A wait for what the caller gave.
 *
 * @throws `InvalidInputError` when it is no task, or one of another gateway and that is not allowed
 */
function waitOf(transport: Transport, given: VideoTaskLike, settings: WaitSettings): Wait {
  const { baseURL } = transport;
  const named = nameTask(given);
  const { id, route, ref } = named;
  if (!settings.allowOtherBaseURL) {
    checkGateway(ref, transport, 'Or set allowOtherBaseURL: true.');
  }
  const made = ref ?? makeRef({ id, route, baseURL, createdAt: Date.now() });
  return { transport, task: { ...named, ref: made }, isDated: ref !== undefined, settings };
}

/** Makes one poll, and says what follows from it. */
export async function stepTask(
  transport: Transport,
  task: VideoTaskLike,
  before: VideoWaitState | undefined,
  options: VideoWaitOptions,
): Promise<VideoWaitStep> {
  const wait = waitOf(transport, task, settingsOf(transport, options));
  const scope = new WaitScope(wait.settings.signal);
  try {
    const run = new WaitRun(wait, scope, checkState(before, scope.now));
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
  return waitUntilDone(waitOf(transport, task, settingsOf(transport, options)));
}

/**
 * Polls until a task is completed. Only reads, one poll after the other.
 *
 * @param shared - The scope of many waits, of which this is one.
 * @throws `VideoFailedError` when the task failed
 * @throws `VideoWaitError`, `VideoWaitTimeoutError` or `VideoWaitAbortedError` when the wait ended first
 */
async function waitUntilDone(wait: Wait, shared?: WaitScope): Promise<VideoTask> {
  const scope = shared ?? new WaitScope(wait.settings.signal);
  try {
    const run = new WaitRun(wait, scope);
    for (;;) {
      const { next } = await run.step();
      if ('error' in next) throw next.error;
      if ('video' in next) return next.video;
    }
  } finally {
    if (shared === undefined) scope.close();
  }
}

/** Submits a task once, hands its handle over, and waits for it. */
export async function submitAndWait(
  transport: Transport,
  submission: Submission,
  options: VideoCreateAndWaitOptions,
): Promise<VideoTask> {
  // Checked before anything is paid for.
  const settings = settingsOf(transport, options);
  const { extraBody, bodyFormat, ledger, callId, onUnknown, onSubmitted } = options ?? {};
  const { signal, request } = settings;
  const own = { ...request, signal, extraBody, bodyFormat, ledger, callId, onUnknown };
  const tell = async (ref: VideoTaskRef): Promise<void> => {
    if (onSubmitted !== undefined) await handOver('onSubmitted', ref, onSubmitted, signal);
  };
  const { ref, answer, call } = await submitOnce(transport, submission, own).catch(
    async (error: unknown) => {
      if (VideoSubmitAnswerError.isInstance(error)) await tell(error.ref);
      throw error;
    },
  );
  // Before anybody is told: a ledger may have been used with another gateway before.
  const wait = waitOf(transport, ref, settings);
  await tell(ref);
  // A task that is said to have ended is polled without the first pause.
  const isDated = !/^(completed|failed)$/.test(answer?.data.status ?? '');
  try {
    const video = await waitUntilDone({ ...wait, isDated });
    await call?.finish('completed');
    return video;
  } catch (error) {
    if (VideoFailedError.isInstance(error)) await call?.finish('failed');
    throw error;
  }
}

/** Watches a task that exists. A task that failed is an event. */
export function watch(
  transport: Transport,
  task: VideoTaskLike,
  options: VideoWaitOptions,
): AsyncGenerator<VideoWatchEvent, void, undefined> {
  return scoped(() => {
    const wait = waitOf(transport, task, settingsOf(transport, options));
    return [wait.settings.signal, (scope) => watchTask(wait, scope)];
  });
}

async function* watchTask(
  wait: Wait,
  scope: WaitScope,
): AsyncGenerator<VideoWatchEvent, void, undefined> {
  yield { type: 'submitted', ref: wait.task.ref };
  const run = new WaitRun(wait, scope);
  for (;;) {
    const { next, update, pollError } = await run.step();
    let end: VideoWatchEvent | undefined;
    if ('video' in next) end = { type: 'completed', task: next.video };
    else if ('error' in next) {
      if (!VideoFailedError.isInstance(next.error)) throw next.error;
      end = { type: 'failed', error: next.error };
    } else if (pollError !== undefined) yield { type: 'poll-error', error: pollError };
    if (update !== undefined) yield { type: 'update', ...update };
    if (end !== undefined) return yield end;
  }
}

/** Waits for many tasks. Each of them gets one result. */
export function waitAll(
  transport: Transport,
  tasks: Iterable<VideoTaskLike>,
  options: VideoWaitAllOptions,
): AsyncGenerator<VideoWaitResult, void, undefined> {
  return scoped(() => {
    const settings = settingsOf(transport, options);
    const { maxPollsPerSecond = 10 } = options ?? {};
    const perSecond = checkNumber('maxPollsPerSecond', maxPollsPerSecond, 0.001, 100_000);
    checkTasks(tasks);
    const run = async function* (scope: WaitScope): AsyncGenerator<VideoWaitResult> {
      let free = 0;
      /** One after the other, so that no more than so many polls begin in a second. */
      const takeTurn = (): Promise<void> => {
        const { now } = scope;
        const turn = Math.max(now, free);
        free = turn + 1_000 / perSecond;
        return scope.pause({ delayMs: turn - now, earliestMs: turn - now });
      };
      const settle = async (task: VideoTaskLike, index: number): Promise<VideoWaitResult> => {
        try {
          const wait = { ...waitOf(transport, task, settings), takeTurn };
          return { index, task, video: await waitUntilDone(wait, scope) };
        } catch (error) {
          return { index, task, error };
        }
      };
      const ended: VideoWaitResult[] = [];
      let wake: (() => void) | undefined;
      const note = (result: VideoWaitResult): void => {
        ended.push(result);
        wake?.();
      };
      let count = 0;
      for (const task of tasks) {
        void settle(task, count).then(note);
        count += 1;
      }
      while (count > 0) {
        if (ended.length === 0) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        for (const result of ended.splice(0)) {
          if (scope.isLeft) return;
          count -= 1;
          yield result;
        }
      }
    };
    return [settings.signal, run];
  });
}

/**
 * Tasks that can be looped over.
 *
 * @throws `InvalidInputError` for anything else, and for a single id, whose letters could be, too
 */
function checkTasks(tasks: unknown): void {
  const isObject = typeof tasks === 'object' && tasks !== null;
  if (isObject && Symbol.iterator in tasks) return;
  const isAsync = isObject && Symbol.asyncIterator in tasks;
  const fix = isAsync ? 'collect it first, with Array.fromAsync()' : 'for one task use wait()';
  throw new InvalidInputError('tasks', `must be a list of ids, handles or tasks; ${fix}.`);
}

/**
 * A generator with a scope of its own, which ends at once when its caller leaves it.
 *
 * @param prepare - Gives the signal of the scope, and what runs in it. Is called at the first event:
 * what it throws rejects that.
 */
function scoped<T>(
  prepare: () => [VideoWaitOptions['signal'], (scope: WaitScope) => AsyncIterable<T>],
): AsyncGenerator<T, void, undefined> {
  let scope: WaitScope | undefined;
  const start = async function* (): AsyncGenerator<T, void, undefined> {
    // Not before the first event: a generator that nobody begins is never told that it is over.
    const [signal, run] = prepare();
    scope = new WaitScope(signal);
    try {
      yield* run(scope);
    } catch (error) {
      if (!scope.isLeft) throw error;
    } finally {
      scope.close();
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
