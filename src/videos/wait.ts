import { VideoFailedError, type VideoWaitSummary } from './errors.ts';
import { isObject } from '../answers/objects.ts';
import { findFailure } from './failure.ts';
import { namesTask } from './fields.ts';
import { restateVideo } from './schema.ts';
import type { VideoTask, VideoTaskRef } from './types.ts';
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

/** A pause before a poll, in milliseconds: as a rule, and at least. */
interface Pause {
  readonly delayMs: number;
  readonly earliestMs: number;
}

/**
 * One wait, poll by poll. Between two polls it holds nothing of the one before but its state: there
 * may be thousands of waits at the same time.
 */
export class WaitRun {
  readonly #wait: Wait;
  readonly #scope: WaitScope;
  #state: VideoWaitState;

  constructor(wait: Wait, scope: WaitScope, state: VideoWaitState) {
    this.#wait = wait;
    this.#scope = scope;
    this.#state = state;
  }

  /**
   * Pauses, polls once, tells what has changed, and says what follows from it.
   *
   * @throws whatever ends the wait
   */
  async step(pause?: Pause, emit?: (event: VideoWatchEvent) => void): Promise<VideoWaitStep> {
    const { signal } = this.#scope;
    try {
      if (pause !== undefined) await this.#scope.pause(pause.delayMs, pause.earliestMs);
      await this.#takeTurn();
      const before = this.#state;
      const step = await this.#poll();
      this.#state = step.state;
      await this.#tellUpdate(before, step, emit);
      return step;
    } catch (error) {
      // Whatever an abort broke off: it is the caller's own decision and not a failure.
      throw signal.aborted && error === signal.reason
        ? abortedError(this.#summary(), error)
        : error;
    }
  }

  async #poll(): Promise<VideoWaitStep> {
    const { ref, settings } = this.#wait;
    const { timeout, pollTimeout } = settings;
    const before = this.#state;
    const started = this.#elapsed;
    const remaining = timeout === null ? null : Math.ceil(timeout - started);
    const totalTimeout = remaining === null || remaining > 0 ? remaining : shortLook;
    const polled = await this.#read({ timeout: pollTimeout, totalTimeout });
    const isInDoubt =
      ref.route.type === 'openai' &&
      polled.task !== undefined &&
      asksVendor(before, polled.task, this.#elapsed);
    const result = isInDoubt ? await this.#askVendor(polled) : polled;
    const { now } = this.#scope;
    const elapsed = now - before.since;
    const seen = this.#observe(result);
    const moment = { started, elapsed, age: ageOf(this.#wait, now) };
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

  /** Asks the vendor's route beside a poll. All that counts is that it calls this task a failure. */
  async #askVendor(polled: PollResult): Promise<PollResult> {
    await this.#takeTurn();
    const limits = { timeout: shortLook, totalTimeout: shortLook, maxRetries: 0 };
    const { task } = await this.#read(limits, vendorRoute);
    // Other software may call its own answer a failure, and that has an id too.
    const isOfTask = isObject(task?.raw) && namesTask(task.raw, this.#wait.ref.id);
    const hasFailed = task?.status === 'failed' && isOfTask;
    return { ...(hasFailed ? { task } : polled), hasAskedVendor: true };
  }

  /** Reads the status once, within some limits. */
  async #read(
    limits: Omit<PollLimits, 'signal'>,
    route?: VideoTaskRef['route'],
  ): Promise<PollResult> {
    const { signal } = this.#scope;
    const result = await this.#scope.race(this.#wait.poll({ signal, ...limits }, route));
    // A poll that was broken off by the abort reports it as its own error.
    signal.throwIfAborted();
    return result;
  }

  #observe(result: PollResult): Observation {
    try {
      return observe(result, this.#wait.settings);
    } catch (error) {
      throw callbackError('unknownStatus', this.#summary(), error);
    }
  }

  /** Awaits the turn to poll, where the caller limits the polls. */
  async #takeTurn(): Promise<void> {
    const { limiter } = this.#wait;
    if (limiter !== undefined) await this.#call('limiter', () => limiter(this.#scope.signal));
  }

  /** Tells what a step has changed, if anything, and of a poll that failed. */
  async #tellUpdate(
    before: VideoWaitState,
    { state, task, next, pollError }: VideoWaitStep,
    emit?: (event: VideoWatchEvent) => void,
  ): Promise<void> {
    if (task !== undefined && hasChanged(before, state)) {
      const { rawStatus, progress, polls } = state;
      const { elapsed } = this.#summary();
      const update = { status: task.status, rawStatus, progress, elapsed, polls, task };
      const { onUpdate } = this.#wait;
      if (onUpdate !== undefined) await this.#call('onUpdate', () => onUpdate(update));
      emit?.({ type: 'update', ...update });
    }
    if (pollError !== undefined && 'delayMs' in next) {
      emit?.({ type: 'poll-error', error: pollError });
    }
  }

  /** Awaits a function of the caller's. */
  async #call(name: 'onUpdate' | 'limiter', run: () => unknown): Promise<void> {
    try {
      await this.#scope.race((async () => run())());
    } catch (error) {
      this.#scope.signal.throwIfAborted();
      throw callbackError(name, this.#summary(), error);
    }
  }

  get #elapsed(): number {
    return this.#scope.now - this.#state.since;
  }

  #summary(): VideoWaitSummary {
    return summarize(this.#wait.ref, this.#state, this.#elapsed);
  }
}

/**
 * Polls until a task is completed. Only reads, one poll after the other.
 *
 * @throws `VideoFailedError` when the task failed
 * @throws `VideoWaitError`, `VideoWaitTimeoutError` or `VideoWaitAbortedError` when the wait ended first
 */
export async function waitForTask(wait: Wait, scope: WaitScope): Promise<VideoTask> {
  const advance = begun(wait, scope);
  for (;;) {
    const video = await advance();
    if (video !== undefined) return video;
  }
}

/** A wait from its beginning: pauses and polls once at each call, and gives the task when it is completed. */
function begun(
  wait: Wait,
  scope: WaitScope,
  emit?: (event: VideoWatchEvent) => void,
): () => Promise<VideoTask | undefined> {
  const first = begin(scope.now, ageOf(wait, scope.now), wait.settings, Math.random());
  const run = new WaitRun(wait, scope, first.state);
  let pause: Pause = { delayMs: first.delay, earliestMs: first.delay };
  return async () => {
    const { next } = await run.step(pause, emit);
    if ('error' in next) throw next.error;
    if ('video' in next) return next.video;
    pause = next;
    return undefined;
  };
}

/** Polls until a task has ended, and tells what happens. A task that failed is an event. */
export async function* watchTask(
  wait: Wait,
  scope: WaitScope,
): AsyncGenerator<VideoWatchEvent, void, undefined> {
  const events: VideoWatchEvent[] = [{ type: 'submitted', ref: wait.ref }];
  const advance = begun(wait, scope, (event) => events.push(event));
  let isOver = false;
  do {
    yield* events.splice(0);
    try {
      const task = await advance();
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
