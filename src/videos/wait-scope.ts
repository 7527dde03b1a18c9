import { monotonicNow } from '../http/now.ts';

/** The document of a browser tab, or `undefined` in every other runtime. */
function tab(): Document | undefined {
  return typeof document === 'undefined' ? undefined : document;
}

/** Runs something in a scope of its own. */
export async function inScope<T>(
  signal: AbortSignal | null | undefined,
  run: (scope: WaitScope) => Promise<T>,
): Promise<T> {
  const scope = new WaitScope(signal);
  try {
    return await run(scope);
  } finally {
    scope.release();
  }
}

/** The reason of a scope that was left: nobody wants to hear of it. */
const left = new Error('Nobody waits any more.');

/**
 * The life of one wait, or of many: the caller's signal, the clock, and the sleep between polls.
 *
 * However many waits and polls there are, it puts one listener on the caller's signal and one on the
 * document, and `release` takes both off again.
 */
export class WaitScope {
  readonly #caller: AbortSignal | undefined;
  readonly #controller = new AbortController();
  /** What is called when the wait is aborted and when the tab becomes visible. */
  readonly #wakers = new Set<() => void>();
  readonly #offset = Date.now() - monotonicNow();
  readonly #onAbort = (): void => this.#abort(this.#caller?.reason);
  readonly #onVisibility = (): void => {
    if (tab()?.visibilityState === 'visible') this.#wake();
  };

  constructor(signal: AbortSignal | null | undefined) {
    this.#caller = signal ?? undefined;
    if (this.#caller?.aborted === true) this.#onAbort();
    this.#caller?.addEventListener('abort', this.#onAbort, { once: true });
    tab()?.addEventListener('visibilitychange', this.#onVisibility);
  }

  /** Aborted together with the caller's. Polls listen here, so that nothing piles up on the caller's. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Milliseconds since 1970, on a clock that does not jump while the scope lives. */
  get now(): number {
    return this.#offset + monotonicNow();
  }

  /** Whether it was left before its end. */
  get isLeft(): boolean {
    return this.signal.reason === left;
  }

  /**
   * Sleeps. Browsers hardly let the timers of a hidden tab run, so a tab that becomes visible wakes
   * it up, though not before `earliest` milliseconds have passed.
   *
   * @throws the reason of the signal, as soon as it is aborted
   */
  pause(milliseconds: number, earliest: number = milliseconds): Promise<void> {
    const { signal } = this;
    return new Promise((resolve, reject) => {
      const begun = monotonicNow();
      let timer: ReturnType<typeof setTimeout> | undefined;
      const end = (): void => {
        clearTimeout(timer);
        this.#wakers.delete(wake);
        if (signal.aborted) reject(signal.reason);
        else resolve();
      };
      const sleep = (rest: number): void => {
        clearTimeout(timer);
        if (rest <= 0 || signal.aborted) end();
        else timer = setTimeout(end, rest);
      };
      const wake = (): void => sleep(begun + earliest - monotonicNow());
      this.#wakers.add(wake);
      sleep(milliseconds);
    });
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
      const wake = (): void => {
        if (signal.aborted) reject(signal.reason);
      };
      this.#wakers.add(wake);
      wake();
      promise.then(resolve, reject).finally(() => this.#wakers.delete(wake));
    });
  }

  /** Ends whatever is under way, because nobody waits for it any more. */
  leave(): void {
    this.#abort(left);
  }

  /** Takes the listeners off. */
  release(): void {
    this.#caller?.removeEventListener('abort', this.#onAbort);
    tab()?.removeEventListener('visibilitychange', this.#onVisibility);
  }

  #abort(reason: unknown): void {
    this.#controller.abort(reason);
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#wakers) wake();
  }
}
