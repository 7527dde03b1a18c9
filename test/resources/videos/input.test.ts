import { describe, expect, test } from 'vitest';
import { InvalidInputError } from '../../../src/errors/gateway-error.ts';
import { memoryLedger } from '../../../src/tasks/ledger.ts';
import type { Videos } from '../../../src/resources/videos/videos.ts';
import { emulatedVideos, order } from '../../helpers/videos.ts';
import { failureOf } from '../../helpers/clients.ts';
import { fakeWaitingTime, settle } from '../../helpers/fake-time.ts';

/** The first event of a generator. */
const takeFirst = (events: AsyncIterator<unknown>): Promise<unknown> => events.next();

/** The events of a generator until it ends or fails. */
async function iterateAll(events: AsyncIterator<unknown>): Promise<unknown> {
  const seen: unknown[] = [];
  for (let next = await events.next(); next.done !== true; next = await events.next()) {
    seen.push(next.value);
  }
  return seen;
}

function isIterator(result: unknown): result is AsyncIterator<unknown> {
  return typeof result === 'object' && result !== null && 'next' in result;
}

/** Calls a method as plain JavaScript can. */
async function call(
  videos: Videos,
  method: string,
  parameters: readonly unknown[],
  read = takeFirst,
): Promise<unknown> {
  const called: unknown = Reflect.get(videos, method);
  if (typeof called !== 'function') throw new Error(`Missing ${method}()`);
  const result: unknown = Reflect.apply(called, videos, parameters);
  return isIterator(result) ? read(result) : result;
}

/** The parameters of a method that precede its options. */
const before: Readonly<Record<string, readonly unknown[]>> = {
  create: [order],
  retrieve: ['task_1'],
  retrieveFromVendor: [{ vendorPrefix: 'kling', taskId: 'task_1' }],
  downloadContent: ['task_1'],
  remix: ['task_1', { prompt: 'At night' }],
  wait: ['task_1'],
  watch: ['task_1'],
  waitAll: [['task_1']],
  step: ['task_1', undefined],
  createAndWait: [order],
  remixAndWait: ['task_1', { prompt: 'At night' }],
};
const everyMethod = Object.keys(before);
const ledger = memoryLedger();

describe('invalid options are rejected before anything is sent', () => {
  const submissions = ['create', 'remix', 'createAndWait', 'remixAndWait'];

  test.each(submissions)('%s() needs a callId with a ledger', async (method) => {
    const { emulator, videos } = emulatedVideos();

    const error = await failureOf(call(videos, method, [...(before[method] ?? []), { ledger }]));

    expect(error).toMatchObject({
      name: 'InvalidInputError',
      field: 'callId',
      outcome: 'not_sent',
    });
    expect(emulator.requests).toHaveLength(0);
  });

  test('a rejected call is not claimed', async () => {
    const { videos } = emulatedVideos();
    const own = memoryLedger();
    const options = { ledger: own, callId: 'a', maxRetries: -1 };

    await failureOf(videos.create(order, options));
    await failureOf(videos.createAndWait(order, options));

    expect(await own.claim('a', '')).toMatchObject({ status: 'claimed' });
  });
});

describe('null as options', () => {
  fakeWaitingTime();

  test.each(everyMethod)('null as options is accepted by %s()', async (method) => {
    const { emulator, videos } = emulatedVideos({}, { videoDuration: 0 });

    const result = await settle(
      call(videos, method, [...(before[method] ?? []), null], iterateAll),
    );

    const error = 'error' in result ? result.error : undefined;
    expect(InvalidInputError.isInstance(error)).toBe(false);
    expect(error).not.toBeInstanceOf(TypeError);
    expect(emulator.requests).not.toHaveLength(0);
  });
});

describe('invalid tasks are rejected before anything is sent', () => {
  const withTask = ['retrieve', 'downloadContent', 'wait', 'watch', 'step'];
  const bad = [undefined, null, 7, '', ' ', '..', {}, { id: 7 }, [], { kind: 'image' }, ['task_1']];

  test.each(withTask.flatMap((method) => bad.map((task) => [method, task] as const)))(
    '%s(%j)',
    async (method, task) => {
      const { emulator, videos } = emulatedVideos();

      const error = await failureOf(call(videos, method, [task]));

      expect(InvalidInputError.isInstance(error)).toBe(true);
      expect(emulator.requests).toHaveLength(0);
    },
  );

  test.each([undefined, null, 7, 'task_1', {}, { id: 'task_1' }])(
    'waitAll(%j) requires an iterable',
    async (tasks) => {
      const { emulator, videos } = emulatedVideos();

      const error = await failureOf(call(videos, 'waitAll', [tasks]));

      expect(InvalidInputError.isInstance(error)).toBe(true);
      expect(error).toMatchObject({ field: 'tasks' });
      expect(emulator.requests).toHaveLength(0);
    },
  );

  test('waitAll() rejects an async iterable, with advice', async () => {
    const { videos } = emulatedVideos();
    const tasks = (async function* () {
      yield 'task_1';
    })();

    expect(String(await failureOf(call(videos, 'waitAll', [tasks])))).toMatch(
      /tasks: .*Array\.fromAsync/,
    );
  });

  test('names a handle that is JSON text, and a task that is a promise', async () => {
    const { emulator, videos } = emulatedVideos();
    const task = await videos.create(order);
    const sent = emulator.requests.length;

    const text = await failureOf(videos.wait(JSON.stringify(task.ref)));
    const promise = await failureOf(call(videos, 'wait', [Promise.resolve(task)]));
    const stored = await failureOf(videos.remix(JSON.stringify(task), { prompt: 'At night' }));

    expect(String(text)).toMatch(/^InvalidInputError: id: .*JSON\.parse\(\)/);
    expect(String(stored)).toMatch(/^InvalidInputError: id: .*JSON\.parse\(\)/);
    expect(String(promise)).toMatch(/^InvalidInputError: id: is a promise; put "await" before it/);
    expect(emulator.requests).toHaveLength(sent);
  });

  test('rejects an id that a URL cannot hold', async () => {
    const { emulator, videos } = emulatedVideos();

    expect(await failureOf(call(videos, 'wait', ['\uD800']))).toMatchObject({
      name: 'InvalidInputError',
    });
    expect(emulator.requests).toHaveLength(0);
  });
});

test('parameters that are not JSON are rejected before the claim', async () => {
  const { emulator, videos } = emulatedVideos();
  const own = memoryLedger();
  const metadata: Record<string, unknown> = { size: 1n };

  const error = await failureOf(
    videos.create({ ...order, metadata }, { ledger: own, callId: 'a' }),
  );

  expect(InvalidInputError.isInstance(error)).toBe(true);
  expect(error).toMatchObject({ field: 'metadata.size' });
  expect(await own.claim('a', '')).toMatchObject({ status: 'claimed' });
  expect(emulator.requests).toHaveLength(0);
});
