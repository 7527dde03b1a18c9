import { VideoFailedError, type VideoWaitSummary } from '../errors/video-error.ts';
import { isObject } from '../schemas/objects.ts';
import { findFailure } from '../schemas/video-failure.ts';
import { findId } from '../schemas/video-fields.ts';
import { restateVideo } from '../schemas/video.ts';
import type { VideoTask, VideoTaskRef } from '../types/videos.ts';
import { observe, type PollResult } from './observe.ts';
import { asksVendor, begin, decide, hasChanged, type Observation } from './step.ts';
import {
  abortedError,
  callbackError,
  failedError,
  stoppedError,
  summarize,
} from './wait-errors.ts';
import type {
  VideoUpdate,
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
  /** How often it is repeated; left out, as often as the caller says. */
  readonly maxRetries?: number;
}

/** What is waited for, and how. */
export interface Wait extends Pick<VideoWaitOptions, 'onUpdate' | 'limiter'> {
  readonly ref: VideoTaskRef;
  /** Whether `ref.createdAt` says when the task was submitted. */
  readonly isDated: boolean;
  /** Reads the status of the task once, on the route of its handle or on another. Never rejects. */
  readonly poll: (limits: PollLimits, route?: VideoTaskRef['route']) => Promise<PollResult>;
  readonly settings: WaitSettings;
}

/** How long a look may take that is no poll like others, in milliseconds: the last one, and the vendor's. */
const shortLook = 10_000;

/** Where the gateway's own record of a task stands, whichever vendor it is of. */
const vendorRoute = { type: 'vendor', vendorPrefix: 'kling' } as const;

/** Milliseconds since the submission, where it is known when that was. */
function ageOf({ ref, isDated }: Wait, now: number): number | undefined {
  return isDated ? now - ref.createdAt : undefined;
}

/** Reads the status once, within some limits. */
async function read(
  { poll }: Wait,
  scope: WaitScope,
  limits: Omit<PollLimits, 'signal'>,
  route?: VideoTaskRef['route'],
): Promise<PollResult> {
  const { signal } = scope;
  const result = await scope.race(poll({ signal, ...limits }, route));
  // A poll that was broken off by the abort reports it as its own error.
  signal.throwIfAborted();
  return result;
}

/** Asks the vendor's route beside a poll. All that counts is that it calls this task a failure. */
async function askVendor(
  wait: Wait,
  before: VideoWaitState,
  polled: PollResult,
  scope: WaitScope,
): Promise<PollResult> {
  await takeTurn(wait, before, scope);
  const limits = { timeout: shortLook, totalTimeout: shortLook, maxRetries: 0 };
  const { task } = await read(wait, scope, limits, vendorRoute);
  // Other software may call its own answer a failure; what is said of a task holds an id.
  const isOfTask = isObject(task?.raw) && findId(task.raw) !== undefined;
  const hasFailed = task?.status === 'failed' && isOfTask;
  return { ...(hasFailed ? { task } : polled), hasAskedVendor: true };
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
  const started = scope.now - before.since;
  const remaining = timeout === null ? null : Math.ceil(timeout - started);
  const totalTimeout = remaining === null || remaining > 0 ? remaining : shortLook;
  const polled = await read(wait, scope, { timeout: pollTimeout, totalTimeout });
  const isInDoubt =
    ref.route.type === 'openai' &&
    polled.task !== undefined &&
    asksVendor(before, polled.task, scope.now - before.since);
  const result = isInDoubt ? await askVendor(wait, before, polled, scope) : polled;
  const now = scope.now;
  const elapsed = now - before.since;
  const seen = observeFor(wait, result, before, elapsed);
  const moment = { started, elapsed, age: ageOf(wait, now) };
  const { state, next } = decide(before, seen, moment, settings, Math.random());
  const { task, error: pollError } = result;
  const step = { state, task, pollError };
  if (next.type === 'poll') {
    const { delayMs, earliestMs } = next;
    return { ...step, next: { delayMs, earliestMs } };
  }
  if (next.type === 'completed' && task !== undefined) return { ...step, next: { video: task } };
  if (next.type === 'failed') {
    if (task !== undefined) restateVideo(task, 'failed');
    const error = failedError(ref, state.failure ?? findFailure({}), task?.raw);
    return { ...step, next: { error } };
  }
  const reason = next.type === 'stopped' ? next.reason : 'fatal';
  const error = stoppedError(reason, summarize(ref, state, elapsed), timeout, pollError);
  return { ...step, next: { error } };
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

/** Awaits a function of the caller's. */
async function call(
  name: 'onUpdate' | 'limiter',
  run: () => unknown,
  { ref }: Wait,
  state: VideoWaitState,
  scope: WaitScope,
): Promise<void> {
  try {
    await scope.race((async () => run())());
  } catch (error) {
    scope.signal.throwIfAborted();
    throw callbackError(name, summarize(ref, state, scope.now - state.since), error);
  }
}

/** Awaits the turn to poll, where the caller limits the polls. */
export async function takeTurn(wait: Wait, state: VideoWaitState, scope: WaitScope): Promise<void> {
  const { limiter } = wait;
  if (limiter === undefined) return;
  await call('limiter', () => limiter(scope.signal), wait, state, scope);
}

/** Tells the caller what a step has changed, if anything. */
export async function tellUpdate(
  wait: Wait,
  before: VideoWaitState,
  { state, task }: VideoWaitStep,
  scope: WaitScope,
): Promise<VideoUpdate | undefined> {
  if (task === undefined || !hasChanged(before, state)) return undefined;
  const { rawStatus, progress, polls } = state;
  const { elapsed } = summarize(wait.ref, state, scope.now - state.since);
  const update = { status: task.status, rawStatus, progress, elapsed, polls, task };
  const { onUpdate } = wait;
  if (onUpdate !== undefined) await call('onUpdate', () => onUpdate(update), wait, state, scope);
  return update;
}

/**
 * One wait, poll by poll. Between two polls it holds nothing of the one before but its state: there
 * may be thousands of waits at the same time.
 */
class WaitRun {
  readonly #wait: Wait;
  readonly #scope: WaitScope;
  readonly #emit: ((event: VideoWatchEvent) => void) | undefined;
  #state: VideoWaitState;
  #pause: { readonly delayMs: number; readonly earliestMs: number };

  constructor(wait: Wait, scope: WaitScope, emit?: (event: VideoWatchEvent) => void) {
    this.#wait = wait;
    this.#scope = scope;
    this.#emit = emit;
    const age = ageOf(wait, scope.now);
    const { state, delay } = begin(scope.now, age, wait.settings, Math.random());
    this.#state = state;
    this.#pause = { delayMs: delay, earliestMs: delay };
  }

  /**
   * Pauses and polls once; gives the task when it is completed.
   *
   * @throws whatever ends the wait
   */
  async advance(): Promise<VideoTask | undefined> {
    const { signal } = this.#scope;
    try {
      await this.#scope.pause(this.#pause.delayMs, this.#pause.earliestMs);
      await takeTurn(this.#wait, this.#state, this.#scope);
      return await this.#poll();
    } catch (error) {
      // Whatever an abort broke off: it is the caller's own decision and not a failure.
      throw signal.aborted && error === signal.reason
        ? abortedError(this.#summary(), error)
        : error;
    }
  }

  async #poll(): Promise<VideoTask | undefined> {
    const before = this.#state;
    const step = await takeStep(this.#wait, before, this.#scope);
    const { state, next, pollError } = step;
    this.#state = state;
    const update = await tellUpdate(this.#wait, before, step, this.#scope);
    if (update !== undefined) this.#emit?.({ type: 'update', ...update });
    if ('error' in next) throw next.error;
    if ('video' in next) return next.video;
    if (pollError !== undefined) this.#emit?.({ type: 'poll-error', error: pollError });
    this.#pause = next;
    return undefined;
  }

  #summary(): VideoWaitSummary {
    return summarize(this.#wait.ref, this.#state, this.#scope.now - this.#state.since);
  }
}

/**
 * Polls until a task is completed. Only reads, one poll after the other.
 *
 * @throws `VideoFailedError` when the task failed
 * @throws `VideoWaitError`, `VideoWaitTimeoutError` or `VideoWaitAbortedError` when the wait ended first
 */
export async function waitForTask(wait: Wait, scope: WaitScope): Promise<VideoTask> {
  const run = new WaitRun(wait, scope);
  for (;;) {
    const video = await run.advance();
    if (video !== undefined) return video;
  }
}

/** Polls until a task has ended, and tells what happens. A task that failed is an event. */
export async function* watchTask(
  wait: Wait,
  scope: WaitScope,
): AsyncGenerator<VideoWatchEvent, void, undefined> {
  const events: VideoWatchEvent[] = [{ type: 'submitted', ref: wait.ref }];
  const run = new WaitRun(wait, scope, (event) => events.push(event));
  let isOver = false;
  do {
    yield* events.splice(0);
    try {
      const task = await run.advance();
      isOver = task !== undefined;
      if (task !== undefined) events.push({ type: 'completed', task });
    } catch (error) {
      if (scope.isLeft) return;
      isOver = VideoFailedError.isInstance(error);
      if (!VideoFailedError.isInstance(error)) throw error;
      events.push({ type: 'failed', error });
    }
  } while (!isOver);
  yield* events;
}
