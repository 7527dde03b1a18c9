import { delay } from '../time/delay.ts';
import { monotonicNow } from '../time/now.ts';

/** The document of a browser tab, or `undefined` in every other runtime. */
function tab(): Document | undefined {
  return typeof document === 'undefined' ? undefined : document;
}

/**
 * The life of one wait: the caller's signal, the clock, and the sleep between polls.
 *
 * However many polls there are, it puts one listener on the caller's signal and one on the document,
 * and `release` takes both off again.
 */
export class WaitScope {
  readonly #caller: AbortSignal | undefined;
  readonly #abort = new AbortController();
  readonly #begun = monotonicNow();
  #sleeper: AbortController | undefined;
  readonly #onAbort = (): void => {
    this.#abort.abort(this.#caller?.reason);
    this.#sleeper?.abort();
  };
  readonly #onVisibility = (): void => {
    if (tab()?.visibilityState === 'visible') this.#sleeper?.abort();
  };

  constructor(signal: AbortSignal | null | undefined) {
    this.#caller = signal ?? undefined;
    if (this.#caller?.aborted === true) this.#onAbort();
    else this.#caller?.addEventListener('abort', this.#onAbort, { once: true });
    tab()?.addEventListener('visibilitychange', this.#onVisibility);
  }

  /** Aborted together with the caller's. Polls listen here, so that nothing piles up on the caller's. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Milliseconds since the wait began. */
  get elapsed(): number {
    return monotonicNow() - this.#begun;
  }

  /**
   * Sleeps. Browsers hardly let the timers of a hidden tab run, so a tab that becomes visible wakes
   * it up, though not before `earliest` milliseconds have passed.
   *
   * @throws the reason of the signal, as soon as it is aborted
   */
  async pause(milliseconds: number, earliest: number): Promise<void> {
    this.signal.throwIfAborted();
    if (milliseconds <= 0) return;
    const begun = monotonicNow();
    if (await this.#sleep(milliseconds)) return;
    const rest = earliest - (monotonicNow() - begun);
    if (rest > 0) await this.#sleep(rest, false);
  }

  /**
   * The value of a promise, unless the signal is aborted first: not everything that is waited for
   * listens to signals.
   *
   * @throws the reason of the signal, as soon as it is aborted
   */
  race<T>(promise: Promise<T>): Promise<T> {
    const { signal } = this;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => reject(signal.reason);
      if (signal.aborted) onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
    });
  }

  /** Ends the wait. */
  release(): void {
    this.#caller?.removeEventListener('abort', this.#onAbort);
    tab()?.removeEventListener('visibilitychange', this.#onVisibility);
  }

  /** `false` when something woke it up. */
  async #sleep(milliseconds: number, wakeable = true): Promise<boolean> {
    if (!wakeable) {
      await delay(milliseconds, this.signal);
      return true;
    }
    this.#sleeper = new AbortController();
    try {
      await delay(milliseconds, this.#sleeper.signal);
      return true;
    } catch {
      this.signal.throwIfAborted();
      return false;
    } finally {
      this.#sleeper = undefined;
    }
  }
}
