import { checkSignal } from '../check.ts';

/**
 * Calls the listener when the signal is aborted, at once if it is already, until the function that it
 * returns is called.
 */
export function onAbort(signal: AbortSignal | null | undefined, listener: () => void): () => void {
  if (signal?.aborted === true) listener();
  else signal?.addEventListener('abort', listener, { once: true });
  return () => signal?.removeEventListener('abort', listener);
}

/**
 * Settles as the promise does, or rejects with the signal's reason as soon as it is aborted.
 *
 * Not every `fetch` listens to its signal (a test's, an emulator's, one that wraps another), and time
 * limits have to hold all the same.
 */
export function untilAborted<T>(promise: Promise<T>, signal?: AbortSignal | null): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const stop = onAbort(signal, () => reject(signal?.reason));
    promise.then(resolve, reject).finally(stop);
  });
}

/** Waits `milliseconds`, or rejects with the reason of `signal` as soon as it is aborted. */
export async function delay(milliseconds: number, signal?: AbortSignal | null): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  try {
    await untilAborted(over, signal);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Aborts `controller` when `signal` is aborted, until the function that it returns is called.
 *
 * Not `AbortSignal.any`: what that makes of a signal that lives long piles up.
 */
export function followSignal(
  signal: AbortSignal | null | undefined,
  controller: AbortController,
): () => void {
  checkSignal(signal);
  return onAbort(signal, () => controller.abort(signal?.reason));
}

/**
 * Settles as the work does. When it has not ended a while after the signal was aborted, because something
 * in it does not listen, rejects with what `makeReason` gives.
 *
 * @param grace - How long it is waited for after an abort, in milliseconds.
 */
export function withAbortGrace<T>(
  work: Promise<T>,
  signal: AbortSignal,
  grace: number,
  makeReason: () => unknown,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = onAbort(signal, () => {
      timer = setTimeout(() => reject(makeReason()), grace);
    });
    work.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      stop();
    });
  });
}

/** Whether a timer keeps the process alive, in runtimes where it does so at all. */
export function keepAlive(
  timer: ReturnType<typeof setTimeout> | undefined,
  isWanted: boolean,
): void {
  if (typeof timer !== 'object') return;
  if (isWanted) timer.ref();
  else timer.unref();
}

type StopReason = 'signal' | 'timeout' | 'total';

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
  readonly #totalTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #deadline: number = Number.POSITIVE_INFINITY;
  readonly #stopListening: () => void;
  #stopWaiting: ((reason: unknown) => void) | undefined;
  /** Called when the caller starts reading the answer, and when the answer waits to be read. */
  onReading: ((isRead: boolean) => void) | undefined;

  /** @param startedAt - When the call began, on the clock of `performance.now()`. */
  constructor(
    signal: AbortSignal | null | undefined,
    totalTimeout: number | null,
    startedAt = performance.now(),
  ) {
    this.signal = signal ?? undefined;
    this.#stopListening = onAbort(signal, () => this.#stop('signal', signal?.reason));
    if (totalTimeout !== null) {
      this.#deadline = startedAt + totalTimeout;
      this.#totalTimer = setTimeout(() => this.#stop('total'), this.remaining);
    }
  }

  /** Why the current attempt was stopped, or `undefined` while it runs or when the other side failed. */
  get stopped(): StopReason | undefined {
    return this.#stopped;
  }

  /** Whether the whole call was stopped, so that nothing more is sent. */
  get isOver(): boolean {
    return this.#stopped === 'signal' || this.#stopped === 'total';
  }

  /** Aborts the attempt under way. A stream hands it to the caller. */
  get controller(): AbortController {
    return this.#attempt;
  }

  /** Milliseconds left for the whole call. */
  get remaining(): number {
    return this.#deadline - performance.now();
  }

  startAttempt(timeout: number): void {
    this.#fresh();
    this.#attemptTimer = setTimeout(() => this.#stop('timeout'), timeout);
  }

  /**
   * Settles as the promise does, or rejects as soon as the attempt is stopped. An attempt waits for one
   * thing at a time, so this needs no listener, which would cost more than to read a short answer.
   */
  until<T>(promise: Promise<T>): Promise<T> {
    const { aborted, reason }: { aborted: boolean; reason: unknown } = this.#attempt.signal;
    return new Promise<T>((resolve, reject) => {
      if (aborted) reject(reason);
      this.#stopWaiting = reject;
      promise.then(resolve, reject);
    });
  }

  /** Takes the attempt's time limit off: its answer is there, or is a stream with limits of its own. */
  endAttempt(): void {
    clearTimeout(this.#attemptTimer);
  }

  /** Whether the limits keep the process alive: not while an answer waits for somebody to read it. */
  keepAlive(isWanted: boolean): void {
    keepAlive(this.#attemptTimer, isWanted);
    keepAlive(this.#totalTimer, isWanted);
    this.onReading?.(isWanted);
  }

  /** Takes every limit of ours off, because a stream takes over with limits of its own. */
  handOver(): void {
    this.endAttempt();
    clearTimeout(this.#totalTimer);
  }

  /** Waits between attempts; `false` when the caller or the total limit stopped the call meanwhile. */
  async pause(wait: (signal: AbortSignal) => Promise<unknown>): Promise<boolean> {
    const { signal } = this.#fresh();
    try {
      if (!this.isOver) await wait(signal);
    } catch {
      // It was stopped.
    }
    return !this.isOver;
  }

  /** Ends the call: timers and the listener go. Safe to call more than once. */
  release(): void {
    this.handOver();
    this.#stopListening();
  }

  /** A controller that no time limit of an earlier attempt has aborted. */
  #fresh(): AbortController {
    this.endAttempt();
    if (this.#stopped === 'timeout') {
      this.#stopped = undefined;
      this.#attempt = new AbortController();
    }
    return this.#attempt;
  }

  #stop(reason: StopReason, cause?: unknown): void {
    // A caller's abort and the total time-out are final; an attempt's time-out may be retried.
    if (this.isOver) return;
    this.#stopped = reason;
    this.#attempt.abort(cause);
    this.#stopWaiting?.(this.#attempt.signal.reason);
  }
}
