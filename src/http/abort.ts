import { checkSignal } from '../options/check.ts';

/**
 * Calls `listener` once when the signal is aborted, or immediately if it already is. The returned function
 * removes the listener.
 */
export function onAbort(signal: AbortSignal | null | undefined, listener: () => void): () => void {
  if (signal?.aborted === true) listener();
  else signal?.addEventListener('abort', listener, { once: true });
  return () => signal?.removeEventListener('abort', listener);
}

/**
 * Settles like `promise`, or rejects once the signal is aborted.
 *
 * Not every `fetch` listens to its signal (mocks and wrappers often don't), and time limits must hold anyway.
 *
 * @param grace - Milliseconds that `promise` still has after the abort; default: none.
 * @param makeReason - Creates the error; default: the reason of the signal.
 */
export function untilAborted<T>(
  promise: Promise<T>,
  signal?: AbortSignal | null,
  grace?: number,
  makeReason: () => unknown = () => signal?.reason,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const leave = (): void => reject(makeReason());
    const stop = onAbort(signal, () => {
      if (grace === undefined) leave();
      else timer = setTimeout(leave, grace);
    });
    promise.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      stop();
    });
  });
}

/** Waits `milliseconds`, or rejects with the reason of `signal` as soon as it is aborted. */
export function delay(milliseconds: number, signal?: AbortSignal | null): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, milliseconds));
  });
  return untilAborted(elapsed, signal).finally(() => clearTimeout(timer));
}

/**
 * Aborts `controller` when `signal` is aborted. The returned function removes the listener.
 *
 * Unlike `AbortSignal.any`, this does not accumulate objects on a long-lived signal.
 */
export function followSignal(
  signal: AbortSignal | null | undefined,
  controller: AbortController,
): () => void {
  checkSignal(signal);
  return onAbort(signal, () => controller.abort(signal?.reason));
}

/** Sets whether a timer keeps the process alive, in runtimes that support it. */
export function keepAlive(
  timer: ReturnType<typeof setTimeout> | undefined,
  isKeptAlive: boolean,
): void {
  if (typeof timer !== 'object') return;
  if (isKeptAlive) timer.ref();
  else timer.unref();
}

/**
 * Aborts a request that this package gives up. The reason has no captured stack, whose frames would keep their
 * objects, such as the stream that was closed, in memory for as long as the signal.
 */
export function abortOwn(controller: AbortController): void {
  const limit: unknown = Reflect.get(Error, 'stackTraceLimit');
  Reflect.set(Error, 'stackTraceLimit', 0);
  const reason = new DOMException('This operation was aborted', 'AbortError');
  Reflect.set(Error, 'stackTraceLimit', limit);
  controller.abort(reason);
}

/** What becomes of an attempt that is under way when its call is stopped. */
interface Lateness {
  /** How many milliseconds it goes on for. */
  readonly grace: number;
  /** Called when the call is stopped, with its error. */
  readonly onLeave: (error: Error) => void;
}

const lateness = new WeakMap<AbortSignal, Lateness>();

/** Lets attempts of calls with this signal go on after an abort or a time limit, because they may be paid for. */
export function allowLateness(signal: AbortSignal, rule: Lateness): void {
  lateness.set(signal, rule);
}

export const findLateness = (signal: AbortSignal | null | undefined): Lateness | undefined =>
  signal ? lateness.get(signal) : undefined;

export type StopReason = 'signal' | 'timeout' | 'total';

/** The request that a scope belongs to. Methods, because closures would keep the request in memory for longer. */
interface ScopeOwner {
  /** Called when the attempt is stopped. Returns how many milliseconds it goes on for; 0 ends it at once. */
  onStop(reason: StopReason): number;
  /** Called with `true` when the caller starts reading the response, and with `false` while it is unread. */
  onReading(isRead: boolean): void;
}

/**
 * Abort signal and time limits of one logical call and its current attempt.
 *
 * Adds one listener to the caller's signal and removes it in `release`, because applications reuse one signal
 * for thousands of calls.
 */
export class CallScope {
  readonly signal: AbortSignal | undefined;
  #attempt = new AbortController();
  #stopped: StopReason | undefined;
  /** `true` once the call was stopped while its attempt went on. */
  #isLeft = false;
  #attemptTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #totalTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #deadline: number = Number.POSITIVE_INFINITY;
  readonly #stopListening: (() => void) | undefined;
  #stopWaiting: ((reason: unknown) => void) | undefined;
  readonly #owner: ScopeOwner | undefined;

  /** @param startedAt - Start of the call on the clock of `performance.now()`. */
  constructor(
    signal: AbortSignal | null | undefined,
    totalTimeout: number | null,
    startedAt = performance.now(),
    owner?: ScopeOwner,
  ) {
    this.#owner = owner;
    this.signal = signal ?? undefined;
    if (signal) this.#stopListening = onAbort(signal, () => this.#stop('signal', signal.reason));
    if (totalTimeout !== null) {
      this.#deadline = startedAt + totalTimeout;
      this.#totalTimer = setTimeout(() => this.#stop('total'), Math.max(0, this.remaining));
    }
  }

  /** The reason the current attempt was stopped; `undefined` while it runs or if the other side failed. */
  get stopped(): StopReason | undefined {
    return this.#isLeft && !this.#attempt.signal.aborted ? undefined : this.#stopped;
  }

  /** `true` if the whole call was stopped. Nothing more is sent. */
  get isOver(): boolean {
    return this.#isLeft || this.#stopped === 'signal' || this.#stopped === 'total';
  }

  /** Aborts the current attempt. Streams expose it to the caller. */
  get controller(): AbortController {
    return this.#attempt;
  }

  /** Milliseconds left for the whole call. */
  get remaining(): number {
    return this.#deadline - performance.now();
  }

  startAttempt(timeout: number): void {
    this.#freshController();
    this.#attemptTimer = setTimeout(() => this.#stop('timeout'), timeout);
  }

  /**
   * Settles like `promise`, or rejects as soon as the attempt is stopped. An attempt awaits one promise at a
   * time, so this needs no listener, which would cost more than reading a short response.
   */
  until<T>(promise: Promise<T>): Promise<T> {
    const { aborted, reason }: { aborted: boolean; reason: unknown } = this.#attempt.signal;
    return new Promise<T>((resolve, reject) => {
      if (aborted) reject(reason);
      this.#stopWaiting = reject;
      promise.then(resolve, reject);
    });
  }

  /** Clears the attempt's time limit, once its response is read or a stream applies its own limits. */
  endAttempt(): void {
    clearTimeout(this.#attemptTimer);
    this.#attemptTimer = undefined;
  }

  /** Sets whether the timers keep the process alive. They don't while a response waits to be read. */
  keepAlive(isKeptAlive: boolean): void {
    keepAlive(this.#attemptTimer, isKeptAlive);
    keepAlive(this.#totalTimer, isKeptAlive);
    this.#owner?.onReading(isKeptAlive);
  }

  /** Clears all time limits, because a stream applies its own, and the last wait, which keeps the response. */
  clearLimits(): void {
    this.endAttempt();
    clearTimeout(this.#totalTimer);
    this.#stopWaiting = undefined;
  }

  /** Waits between attempts. Returns `false` if the call was aborted or timed out meanwhile. */
  async pause(wait: (signal: AbortSignal) => Promise<unknown>): Promise<boolean> {
    const { signal } = this.#freshController();
    try {
      if (!this.isOver) await wait(signal);
    } catch {
      // Stopped; reported by the return value.
    }
    return !this.isOver;
  }

  /** Clears the timers and removes the listener. Safe to call more than once. */
  release(): void {
    this.clearLimits();
    this.#stopListening?.();
  }

  /** Returns a controller that was not aborted by the timeout of an earlier attempt. */
  #freshController(): AbortController {
    this.endAttempt();
    if (this.#stopped === 'timeout') {
      this.#stopped = undefined;
      this.#attempt = new AbortController();
    }
    return this.#attempt;
  }

  #stop(reason: StopReason, abortReason?: unknown): void {
    // A caller's abort and the total timeout are final; an attempt's timeout may be retried.
    if (this.isOver) return;
    this.#stopped = reason;
    const end = (): void => {
      if (reason === 'signal') this.#attempt.abort(abortReason);
      else abortOwn(this.#attempt);
      this.#stopWaiting?.(this.#attempt.signal.reason);
    };
    const grace = this.#owner?.onStop(reason) ?? 0;
    if (grace === 0) return end();
    this.#isLeft = true;
    clearTimeout(this.#attemptTimer);
    this.#attemptTimer = setTimeout(end, grace);
  }
}
