import { keepAlive } from './keep-alive.ts';
import { monotonicNow } from './now.ts';

/** Why an attempt was stopped from our side. */
export type StopReason = 'signal' | 'timeout' | 'total';

/**
 * The life of one logical call: the caller's signal, the time limits, and the attempt under way.
 *
 * One listener is put on the caller's signal and taken off again in `release`, because applications
 * keep one signal for thousands of calls.
 */
export class CallScope {
  readonly signal: AbortSignal | undefined;
  #attempt = new AbortController();
  #stopped: StopReason | undefined;
  #attemptTimer: ReturnType<typeof setTimeout> | undefined;
  #totalTimer: ReturnType<typeof setTimeout> | undefined;
  #sleeper: AbortController | undefined;
  readonly #deadline: number | undefined;
  #released = false;
  readonly #onAbort = (): void => this.#stop('signal', this.signal?.reason);

  constructor(signal: AbortSignal | null | undefined, totalTimeout: number | null | undefined) {
    this.signal = signal ?? undefined;
    if (this.signal?.aborted === true) this.#stopped = 'signal';
    else this.signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (totalTimeout !== undefined && totalTimeout !== null) {
      this.#deadline = monotonicNow() + totalTimeout;
      this.#totalTimer = setTimeout(() => this.#stop('total'), totalTimeout);
    }
  }

  /** Why the current attempt was stopped, or `undefined` while it runs or when the other side failed. */
  get stopped(): StopReason | undefined {
    return this.#stopped;
  }

  /** Aborts the attempt under way. A stream hands it to the caller. */
  get controller(): AbortController {
    return this.#attempt;
  }

  /** Milliseconds left for the whole call, or `undefined` when there is no limit. */
  get remaining(): number | undefined {
    return this.#deadline === undefined ? undefined : Math.max(0, this.#deadline - monotonicNow());
  }

  /** Begins an attempt with a fresh controller and its own time limit. */
  startAttempt(timeout: number): AbortSignal {
    if (this.#stopped === 'timeout') {
      this.#stopped = undefined;
      this.#attempt = new AbortController();
    }
    clearTimeout(this.#attemptTimer);
    this.#attemptTimer = setTimeout(() => this.#stop('timeout'), timeout);
    return this.#attempt.signal;
  }

  /** Takes the attempt's time limit off: its answer is there, or is a stream with limits of its own. */
  endAttempt(): void {
    clearTimeout(this.#attemptTimer);
  }

  /** Whether the limits keep the process alive: not while an answer waits for somebody to read it. */
  keepAlive(isWanted: boolean): void {
    keepAlive(this.#attemptTimer, isWanted);
    keepAlive(this.#totalTimer, isWanted);
  }

  /** Takes every limit of ours off, because a stream takes over with limits of its own. */
  handOver(): void {
    clearTimeout(this.#attemptTimer);
    clearTimeout(this.#totalTimer);
  }

  /** Waits between attempts; `false` when the caller or the total limit stopped the call meanwhile. */
  async pause(wait: (signal: AbortSignal) => Promise<unknown>): Promise<boolean> {
    this.endAttempt();
    if (this.#stopped === 'signal' || this.#stopped === 'total') return false;
    this.#sleeper = new AbortController();
    try {
      await wait(this.#sleeper.signal);
      return true;
    } catch {
      return false;
    } finally {
      this.#sleeper = undefined;
    }
  }

  /** Ends the call: timers and the listener go. Safe to call more than once. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    clearTimeout(this.#attemptTimer);
    clearTimeout(this.#totalTimer);
    this.signal?.removeEventListener('abort', this.#onAbort);
  }

  #stop(reason: StopReason, cause?: unknown): void {
    // The word of the caller and the end of the call are final; an attempt's limit is not.
    if (this.#stopped === 'signal' || this.#stopped === 'total') return;
    this.#stopped = reason;
    this.#attempt.abort(cause);
    this.#sleeper?.abort();
  }
}
