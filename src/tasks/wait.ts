import { VideoWaitError } from '../errors/video-error.ts';
import type { VideoTask, VideoTaskRef } from '../types/videos.ts';
import { observe, type PollResult } from './observe.ts';
import { begin, step, type Observation, type WaitState } from './step.ts';
import {
  abortedError,
  callbackError,
  failedError,
  stoppedError,
  summarize,
} from './wait-errors.ts';
import type { VideoUpdate, VideoWaitOptions } from './wait-options.ts';
import { WaitScope } from './wait-scope.ts';
import type { WaitSettings } from './wait-settings.ts';

/** The limits of one poll. */
export interface PollLimits {
  readonly signal: AbortSignal;
  /** Milliseconds for one attempt. */
  readonly timeout: number;
  /** Milliseconds for all attempts, or `null`. */
  readonly totalTimeout: number | null;
}

/** Reads the status of a task once. Never rejects. */
type Poll = (limits: PollLimits) => Promise<PollResult>;

/** What is waited for, and how. */
export interface WaitInput {
  readonly ref: VideoTaskRef;
  /** Whether `ref.createdAt` says when the task was submitted. */
  readonly isDated: boolean;
  readonly poll: Poll;
  readonly settings: WaitSettings;
  readonly signal: AbortSignal | null | undefined;
  readonly onUpdate: VideoWaitOptions['onUpdate'];
}

/** What happens during a wait. */
type WaitEvent =
  | { readonly type: 'update'; readonly update: VideoUpdate }
  | { readonly type: 'poll-error'; readonly error: unknown }
  | { readonly type: 'completed'; readonly task: VideoTask };

/** How long the last look at a task may take, after the time is up, in milliseconds. */
const lastLook = 10_000;

/**
 * Waits until a task is completed. Only reads, one poll after the other.
 *
 * @throws `VideoFailedError` when the task failed
 * @throws `VideoWaitError`, `VideoWaitTimeoutError` or `VideoWaitAbortedError` when the wait ended first
 */
export async function waitForTask(input: WaitInput): Promise<VideoTask> {
  const run = new WaitRun(input);
  try {
    for await (const event of run.events()) {
      if (event.type === 'update') await run.notify(event.update);
      if (event.type === 'completed') return event.task;
    }
    throw new Error('A wait ended without a task and without an error.');
  } catch (error) {
    throw run.explain(error);
  } finally {
    run.release();
  }
}

/** One wait: the state machine with a clock, a signal and a gateway. */
class WaitRun {
  readonly #input: WaitInput;
  readonly #scope: WaitScope;
  #state: WaitState = { polls: 0, errors: 0, missing: 0 };

  constructor(input: WaitInput) {
    this.#input = input;
    this.#scope = new WaitScope(input.signal);
  }

  /** Polls until the task is completed; everything else that ends a wait is thrown. */
  async *events(): AsyncGenerator<WaitEvent, void, undefined> {
    const { settings } = this.#input;
    const start = begin(this.#age(), settings, Math.random());
    this.#state = start.state;
    await this.#scope.pause(start.delay, start.delay);
    for (;;) {
      // eslint-disable-next-line no-await-in-loop -- polls are made one after the other
      const { result, started } = await this.#poll();
      const { elapsed } = this.#scope;
      const moment = { started, elapsed, age: this.#age() };
      const { state, changed, next } = step(
        this.#state,
        this.#observe(result),
        moment,
        settings,
        Math.random(),
      );
      this.#state = state;
      const task = 'task' in result ? result.task : undefined;
      const error = 'error' in result ? result.error : undefined;
      if (task !== undefined && changed) yield { type: 'update', update: this.#update(task) };
      if (error !== undefined && next.type === 'poll') yield { type: 'poll-error', error };
      if (next.type === 'completed' && task !== undefined) {
        yield { type: 'completed', task };
        return;
      }
      if (next.type === 'failed' && task !== undefined) throw failedError(this.#input.ref, task);
      if (next.type === 'stopped') {
        throw stoppedError(next.reason, this.#summary(task), settings.timeout, error);
      }
      // eslint-disable-next-line no-await-in-loop
      if (next.type === 'poll') await this.#scope.pause(next.delay, next.earliest);
    }
  }

  /** Tells the caller what has changed. */
  async notify(update: VideoUpdate): Promise<void> {
    const { onUpdate } = this.#input;
    if (onUpdate === undefined) return;
    try {
      await this.#scope.race(Promise.resolve(onUpdate(update)));
    } catch (error) {
      this.#scope.signal.throwIfAborted();
      throw callbackError('onUpdate', this.#summary(), error);
    }
  }

  /** An abort, whatever it broke off, is the caller's own decision and not a failure. */
  explain(error: unknown): unknown {
    const { signal } = this.#scope;
    if (!signal.aborted || VideoWaitError.isInstance(error)) return error;
    return error === signal.reason ? abortedError(this.#summary(), error) : error;
  }

  release(): void {
    this.#scope.release();
  }

  async #poll(): Promise<{ result: PollResult; started: number }> {
    const { poll, settings } = this.#input;
    const { timeout, pollTimeout } = settings;
    const started = this.#scope.elapsed;
    const remaining = timeout === null ? null : Math.ceil(timeout - started);
    const totalTimeout = remaining === null || remaining > 0 ? remaining : lastLook;
    const { signal } = this.#scope;
    const result = await this.#scope.race(poll({ signal, timeout: pollTimeout, totalTimeout }));
    // A poll that was broken off by the abort reports it as its own error.
    signal.throwIfAborted();
    return { result, started };
  }

  #observe(result: PollResult): Observation {
    try {
      return observe(result, this.#input.settings);
    } catch (error) {
      throw callbackError('unknownStatus', this.#summary(), error);
    }
  }

  /** Milliseconds since the submission, by the clock on the wall. */
  #age(): number | undefined {
    const { ref, isDated } = this.#input;
    return isDated ? Math.max(0, Date.now() - ref.createdAt) : undefined;
  }

  #update(task: VideoTask): VideoUpdate {
    const { status, rawStatus, progress, polls } = this.#state;
    const elapsed = Math.round(this.#scope.elapsed);
    return { status: status ?? task.status, rawStatus, progress, elapsed, polls, task };
  }

  #summary(task?: VideoTask) {
    const { polls } = this.#state;
    const seen = task === undefined ? {} : { rawStatus: task.raw_status, status: task.status };
    return summarize(this.#input.ref, { ...this.#state, ...seen, polls }, this.#scope.elapsed);
  }
}
