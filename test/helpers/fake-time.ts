import { afterEach, beforeEach, expect, vi } from 'vitest';

/** Fakes time for every test of a file, takes chance out of pauses, and asserts that no timer is left. */
export function fakeWaitingTime(): void {
  beforeEach(() => {
    vi.useFakeTimers();
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
  });

  afterEach(() => {
    expect(vi.getTimerCount()).toBe(0);
    vi.restoreAllMocks();
    vi.useRealTimers();
  });
}

/** The value of a promise, or its error. */
type Settled<T> = { readonly value: T } | { readonly error: unknown };

const realImmediate = setImmediate;
const realNow = performance.now.bind(performance);

const takeTurn = (): Promise<void> =>
  new Promise((resolve) => {
    realImmediate(resolve);
  });

/**
 * Lets happen what needs no faked time: turns of the event loop, as reading a form does, and hashes,
 * which are made in threads of their own, in the order in which they were asked for.
 */
export async function takeTurns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) {
    await takeTurn();
  }
  const hashes = Array.from({ length: 8 }, () => crypto.subtle.digest('SHA-256', new Uint8Array()));
  await Promise.all(hashes);
}

/**
 * Lets faked time pass until a promise settles, in steps of a second.
 *
 * @param limit - Seconds after which the test has failed.
 */
export async function settle<T>(promise: Promise<T>, limit = 7_200): Promise<Settled<T>> {
  const end: { settled?: Settled<T> } = {};
  promise.then(
    (value) => (end.settled = { value }),
    (error: unknown) => (end.settled = { error }),
  );
  for (let second = 0; second < limit; second += 1) {
    if (second < 2) await takeTurns();
    // Without a timer, what is waited for does not hang on time; 30 seconds are enough for the slowest machine.
    const start = realNow();
    while (end.settled === undefined && vi.getTimerCount() === 0 && realNow() - start < 30_000) {
      await takeTurn();
    }
    await vi.advanceTimersByTimeAsync(second === 0 ? 0 : 1_000);
    if (end.settled !== undefined) return end.settled;
  }
  throw new Error(`The promise did not settle within ${limit} seconds.`);
}

/** Runs fake time until no timer is left, and returns the value or the error of the promise. */
export async function settled<T>(promise: PromiseLike<T>): Promise<{ value?: T; error?: unknown }> {
  const result = promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  await vi.runAllTimersAsync();
  return result;
}
