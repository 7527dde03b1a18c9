import { VideoFailedError } from '../errors/video-error.ts';
import type { VideoTaskRef } from '../types/videos.ts';
import { observe, type PollResult } from './observe.ts';
import { begin, decide, hasChanged, type Observation } from './step.ts';
import {
  abortedError,
  callbackError,
  failedError,
  stoppedError,
  summarize,
} from './wait-errors.ts';
import type {
  VideoWaitOptions,
  VideoWaitState,
  VideoWaitStep,
  VideoWatchEvent,
} from './wait-options.ts';
import type { WaitScope } from './wait-scope.ts';
import type { WaitSettings } from './wait-settings.ts';

/** The limits of one poll. */
interface PollLimits {
  readonly signal: AbortSignal;
  /** Milliseconds for one attempt. */
  readonly timeout: number;
  /** Milliseconds for all attempts, or `null`. */
  readonly totalTimeout: number | null;
}

/** What is waited for, and how. */
export interface Wait extends Pick<VideoWaitOptions, 'onUpdate' | 'limiter'> {
  readonly ref: VideoTaskRef;
  /** Whether `ref.createdAt` says when the task was submitted. */
  readonly isDated: boolean;
  /** Reads the status of the task once. Never rejects. */
  readonly poll: (limits: PollLimits) => Promise<PollResult>;
  readonly settings: WaitSettings;
}

/** How long the last look at a task may take, after the time is up, in milliseconds. */
const lastLook = 10_000;

/** Milliseconds since the submission, where it is known when that was. */
function ageOf({ ref, isDated }: Wait, now: number): number | undefined {
  return isDated ? now - ref.createdAt : undefined;
}

/**
 * Makes one poll, and says what follows from it.
 *
 * @throws the reason of the scope's signal when it is aborted
 */
export async function takeStep(
  wait: Wait,
  before: VideoWaitState,
  scope: WaitScope,
): Promise<VideoWaitStep> {
  const { ref, settings } = wait;
  const { timeout, pollTimeout } = settings;
  const { signal } = scope;
  const started = scope.now - before.since;
  const remaining = timeout === null ? null : Math.ceil(timeout - started);
  const totalTimeout = remaining === null || remaining > 0 ? remaining : lastLook;
  const result = await scope.race(wait.poll({ signal, timeout: pollTimeout, totalTimeout }));
  // A poll that was broken off by the abort reports it as its own error.
  signal.throwIfAborted();
  const now = scope.now;
  const elapsed = now - before.since;
  const seen = observeFor(wait, result, before, elapsed);
  const moment = { started, elapsed, age: ageOf(wait, now) };
  const { state, next } = decide(before, seen, moment, settings, Math.random());
  const { task, error: pollError } = result;
  const step = { state, task, pollError };
  if (next.type === 'poll') return { ...step, next };
  if (next.type === 'stopped' || task === undefined) {
    const reason = next.type === 'stopped' ? next.reason : 'fatal';
    const error = stoppedError(reason, summarize(ref, state, elapsed), timeout, pollError);
    return { ...step, next: { error } };
  }
  const isCompleted = next.type === 'completed';
  return { ...step, next: isCompleted ? { video: task } : { error: failedError(ref, task) } };
}

function observeFor(
  { ref, settings }: Wait,
  result: PollResult,
  state: VideoWaitState,
  elapsed: number,
): Observation {
  try {
    return observe(result, settings);
  } catch (error) {
    throw callbackError('unknownStatus', summarize(ref, state, elapsed), error);
  }
}

/**
 * Polls until a task has ended and tells what happens. Only reads, one poll after the other.
 *
 * @throws `VideoWaitError`, `VideoWaitTimeoutError` or `VideoWaitAbortedError` when the wait ended first
 */
export async function* watchTask(
  wait: Wait,
  scope: WaitScope,
): AsyncGenerator<VideoWatchEvent, void, undefined> {
  const { ref, onUpdate, limiter, settings } = wait;
  const { signal } = scope;
  const begun = begin(scope.now, ageOf(wait, scope.now), settings, Math.random());
  let { state } = begun;
  let pause = { delayMs: begun.delay, earliestMs: begun.delay };
  const summary = () => summarize(ref, state, scope.now - state.since);
  /** Awaits a function of the caller's. */
  const call = async (name: 'onUpdate' | 'limiter', run: () => unknown): Promise<void> => {
    try {
      await scope.race((async () => run())());
    } catch (error) {
      signal.throwIfAborted();
      throw callbackError(name, summary(), error);
    }
  };
  try {
    yield { type: 'submitted', ref };
    for (;;) {
      await scope.pause(pause.delayMs, pause.earliestMs);
      if (limiter !== undefined) await call('limiter', () => limiter(signal));
      const before = state;
      const taken = await takeStep(wait, before, scope);
      const { next, task, pollError } = taken;
      state = taken.state;
      if (task !== undefined && hasChanged(before, state)) {
        const { rawStatus, progress, polls } = state;
        const elapsed = Math.round(scope.now - state.since);
        const update = { status: task.status, rawStatus, progress, elapsed, polls, task };
        if (onUpdate !== undefined) await call('onUpdate', () => onUpdate(update));
        yield { type: 'update', ...update };
      }
      if ('video' in next) {
        yield { type: 'completed', task: next.video };
        return;
      }
      if ('error' in next) {
        if (!VideoFailedError.isInstance(next.error)) throw next.error;
        yield { type: 'failed', error: next.error };
        return;
      }
      if (pollError !== undefined) yield { type: 'poll-error', error: pollError };
      pause = next;
    }
  } catch (error) {
    if (scope.isLeft) return;
    // Whatever an abort broke off: it is the caller's own decision and not a failure.
    throw signal.aborted && error === signal.reason ? abortedError(summary(), error) : error;
  }
}
