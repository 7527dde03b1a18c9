import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import timers from 'node:timers/promises';
import { beforeEach, onTestFinished, vi } from 'vitest';
import { listCallers } from './callers.ts';
import { root } from './run-program.ts';

const source = join(root, 'src/');
const emulator = join(source, 'testing/');
const { setTimeout, setInterval, Date: RealDate } = globalThis;
const { setTimeout: wait } = timers;
const realTime = performance.now.bind(performance);

function replaceWait(replacement: unknown): void {
  Reflect.set(timers, 'setTimeout', replacement);
  syncBuiltinESMExports();
}

/** Returns whether the source, but not its emulator, sets the timer whose function calls this. */
function isOfSource(): boolean {
  const callers = listCallers().filter((file) => file !== import.meta.filename);
  return (
    callers[0]?.startsWith(source) === true && !callers.some((file) => file.startsWith(emulator))
  );
}

/**
 * Lets the time of the source pass faster in the tests of a file or group, for waits that prove nothing: the clocks
 * of the process, and the timers of the source. Sockets, other processes, delays of the emulator, and timers of
 * packages and tests keep the real time.
 *
 * @param factor - Divides the time limits of the source too, which must stay longer than a busy machine needs.
 */
export function passTimeFaster(factor = 10): void {
  const shorten = (delay = 0) => (isOfSource() ? delay / factor : delay);
  beforeEach(() => {
    const start = { date: RealDate.now(), time: realTime() };
    const elapsed = () => (realTime() - start.time) * factor;
    const now = () => Math.floor(start.date + elapsed());

    vi.spyOn(performance, 'now').mockImplementation(() => start.time + elapsed());
    for (const [name, set] of Object.entries({ setTimeout, setInterval })) {
      const setFaster = (run: () => void, delay?: number, ...rest: readonly []) =>
        set(run, shorten(delay), ...rest);
      vi.stubGlobal(name, setFaster);
    }
    replaceWait((delay?: number, ...rest: readonly []) => wait(shorten(delay), ...rest));
    // The rest is restored before the next test.
    onTestFinished(() => replaceWait(wait));
    vi.stubGlobal(
      'Date',
      new Proxy(RealDate, {
        construct: (target, values, newTarget) =>
          Reflect.construct(target, values.length === 0 ? [now()] : values, newTarget),
        get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
      }),
    );
  });
}
