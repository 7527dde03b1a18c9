import { afterEach, beforeEach, expect, vi } from 'vitest';
import { describeTimersLeft } from './shared-worker.ts';

/** Uses fake timers and a fixed `Math.random()` in all tests of a file, and expects that no timer is left. */
export function fakeWaitingTime(): void {
  beforeEach(() => {
    vi.useFakeTimers();
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
  });

  afterEach(async () => {
    // What a test leaves behind, such as a stream that it stopped reading, may clear its timers a few turns later.
    const start = realNow();
    while (vi.getTimerCount() > 0 && realNow() - start < 5_000) await takeTurn();
    const left = vi.getTimerCount();
    const places = describeTimersLeft();
    vi.restoreAllMocks();
    vi.useRealTimers();
    expect(left, `fake timers left:\n${places}`).toBe(0);
  });
}

/** The value of a promise, or its error. */
type Settled<T> =
  | { readonly value: T; readonly error?: undefined }
  | { readonly error: unknown; readonly value?: undefined };

const realImmediate = setImmediate;
const realNow = performance.now.bind(performance);

/** Waits for a turn of the event loop, whatever time is fake. */
export const takeTurn = (): Promise<void> =>
  new Promise((resolve) => {
    realImmediate(resolve);
  });

/**
 * Waits for asynchronous work that fake timers don't control: turns of the event loop, for example
 * while a form is read, and hashes, which are computed in other threads in the order of the calls.
 */
async function takeTurns(isDone = () => false): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) {
    await takeTurn();
    if (isDone()) return;
  }
  const hashes = Array.from({ length: 8 }, () => crypto.subtle.digest('SHA-256', new Uint8Array()));
  await Promise.all(hashes);
}

/** Seconds with real work in between, such as encoding an image: most calls end within them. */
const busySeconds = 8;

/**
 * Advances fake timers until a promise settles, in steps of a second.
 *
 * @param limit - Seconds after which the test fails.
 */
export async function settle<T>(promise: PromiseLike<T>, limit = 7_200): Promise<Settled<T>> {
  const end: { settled?: Settled<T> } = {};
  promise.then(
    (value) => (end.settled = { value }),
    (error: unknown) => (end.settled = { error }),
  );
  for (let second = 0; second < limit; second += 1) {
    if (second < busySeconds) await takeTurns(() => end.settled !== undefined);
    if (end.settled !== undefined) return end.settled;
    // Without a timer, the promise doesn't depend on time; 30 seconds are enough for the slowest machine.
    const start = realNow();
    while (end.settled === undefined && vi.getTimerCount() === 0 && realNow() - start < 30_000) {
      await takeTurn();
    }
    await vi.advanceTimersByTimeAsync(second === 0 ? 0 : 1_000);
    if (end.settled !== undefined) return end.settled;
  }
  throw new Error(`The promise did not settle within ${limit} seconds.`);
}

/** Returns the value of a promise, in fake time. */
export async function resolved<T>(promise: PromiseLike<T>, limit?: number): Promise<T> {
  const settled = await settle(promise, limit);
  if ('error' in settled) throw settled.error;
  return settled.value;
}

/** Returns the error of a promise, in fake time. */
export async function rejected(promise: PromiseLike<unknown>, limit?: number): Promise<unknown> {
  const settled = await settle(promise, limit);
  if ('error' in settled) return settled.error;
  throw new Error('The promise was fulfilled.');
}
