import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll, aroundEach, vi } from 'vitest';
import { listCallers } from './callers.ts';

const timers = ['setTimeout', 'clearTimeout', 'setInterval', 'setImmediate', 'Date'] as const;
const readTimers = (): unknown[] => [
  ...timers.map((name) => globalThis[name]),
  Reflect.get(performance, 'now'),
];
const real = readTimers();

/** The symbol of vitest's own `useFakeTimers()`: this file runs once for each test file. */
const originalKey = Symbol.for('useFakeTimers');
const useFakeTimers: typeof vi.useFakeTimers = Reflect.get(vi, originalKey) ?? vi.useFakeTimers;
Reflect.set(vi, originalKey, useFakeTimers);

const testKey = Symbol.for('test of asynchronous work');
/** The test that asynchronous work began in. */
const testOfWork: AsyncLocalStorage<object> = Reflect.get(vi, testKey) ?? new AsyncLocalStorage();
Reflect.set(vi, testKey, testOfWork);
let runningTest: object | undefined;

aroundEach(async (runTest) => {
  runningTest = {};
  await testOfWork.run(runningTest, runTest);
});

/** Returns whether what calls this was begun by an earlier test, for example an exporter that it left running. */
function isOfEarlierTest(): boolean {
  const test = testOfWork.getStore();
  return test !== undefined && test !== runningTest;
}

/** Where the timers of the current fake time were set, by their numbers. A stack is formatted when it is read. */
const origins = new Map<number, Error>();

/** Where the timers that are left in fake time were set. */
export function describeTimersLeft(): string {
  const clock: unknown = Reflect.get(setTimeout, 'clock');
  const left: unknown = Reflect.get(Object(clock), 'timers');
  const ids = left instanceof Map ? [...left.keys()] : [];
  return ids.map((id) => origins.get(Number(id))?.stack ?? `timer ${id}`).join('\n');
}

/** Returns whether Node's `fetch` calls this. */
const isOfFetch = (): boolean =>
  listCallers().some((file) => file.startsWith('node:internal/deps/undici'));

/**
 * Node's `fetch` sets the timers of its connections with the global function, at any time, also for a connection of
 * an earlier test, and so does what an earlier test left running. Fake time would count these timers, and stop them
 * for the rest of the worker.
 */
vi.useFakeTimers = (...parameters) => {
  origins.clear();
  Reflect.apply(useFakeTimers, vi, parameters);
  for (const name of ['setTimeout', 'setImmediate'] as const) {
    const fake: unknown = globalThis[name];
    const genuine = real[timers.indexOf(name)];
    const setTimer = (...timer: readonly unknown[]): unknown => {
      const isOfOthers = isOfFetch() || isOfEarlierTest();
      const set = isOfOthers ? genuine : fake;
      const id: unknown =
        typeof set === 'function' ? Reflect.apply(set, globalThis, timer) : undefined;
      if (!isOfOthers) origins.set(Number(id), new Error());
      return id;
    };
    if (fake !== genuine) Reflect.set(globalThis, name, Object.assign(setTimer, fake));
  }
  return vi;
};

/** The symbol under which Node's `fetch` keeps its connections. */
const dispatcherKey = Symbol.for('undici.globalDispatcher.1');

/** Closes connections that are kept alive: they would set a timer while the next file fakes timers. */
async function closeConnections(): Promise<void> {
  const dispatcher: unknown = Reflect.get(globalThis, dispatcherKey);
  if (typeof dispatcher !== 'object' || dispatcher === null) return;
  const { constructor } = dispatcher;
  const destroy: unknown = Reflect.get(dispatcher, 'destroy');
  if (typeof destroy !== 'function') return;
  Reflect.set(globalThis, dispatcherKey, Reflect.construct(constructor, []));
  await Promise.resolve(Reflect.apply(destroy, dispatcher, []));
}

// Test files of the project `source` share a worker: timers that one of them leaves would stop the next.
afterAll(async () => {
  const isFake = vi.isFakeTimers();
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  // Vitest unstubs before the next test, but the next file is read earlier.
  vi.unstubAllEnvs();
  await closeConnections();
  const isLeft = readTimers().some((timer, index) => timer !== real[index]);
  if (!isFake && !isLeft) return;
  throw new Error(
    'This file leaves fake timers. Call vi.useRealTimers() in afterEach(), after the mocks of fake timers are restored.',
  );
});
