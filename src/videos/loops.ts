import { checkObject } from '../check.ts';
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
  type VideoWaitOptions,
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
export function settingsOf(transport: Transport, options: VideoWaitOptions): WaitSettings {
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
export function waitOf(transport: Transport, given: VideoTaskLike, settings: WaitSettings): Wait {
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
export async function waitUntilDone(wait: Wait, shared?: WaitScope): Promise<VideoTask> {
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

/**
 * Submits a task once, hands its handle over, and waits for it.
 *
 * @param shared - What the wait has in common with others, when it is one of many.
 */
export async function submitAndWait(
  transport: Transport,
  submission: Submission,
  options: VideoCreateAndWaitOptions,
  shared?: Pick<Wait, 'takeTurn'> & { readonly scope: WaitScope },
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
    const { takeTurn } = shared ?? {};
    const video = await waitUntilDone({ ...wait, isDated, takeTurn }, shared?.scope);
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

/**
 * A generator with a scope of its own, which ends at once when its caller leaves it.
 *
 * @param prepare - Gives the signal of the scope, and what runs in it. Is called at the first event:
 * what it throws rejects that.
 */
export function scoped<T>(
  prepare: () => [VideoWaitOptions['signal'], (scope: WaitScope) => AsyncIterable<T>],
): AsyncGenerator<T, void, undefined> {
  let scope: WaitScope | undefined;
  const start = async function* (): AsyncGenerator<T, void, undefined> {
    // Not before the first event: a generator that nobody begins is never told that it is over.
    const [signal, run] = prepare();
    scope = new WaitScope(signal);
    try {
      for await (const event of run(scope)) {
        if (scope.isLeft) return;
        yield event;
      }
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
