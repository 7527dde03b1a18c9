import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { GatewayOptions } from '../../../src/options/options.ts';
import { APIUserAbortError } from '../../../src/errors/api-errors.ts';
import { InvalidInputError } from '../../../src/errors/gateway-error.ts';
import { VideoWaitAbortedError } from '../../../src/resources/videos/errors.ts';
import { memoryLedger } from '../../../src/tasks/ledger.ts';
import type { SubmitClaim, SubmitLedger } from '../../../src/tasks/ledger.ts';
import { untyped } from '../../helpers/untyped.ts';
import { countRequests, emulatedVideos, order } from '../../helpers/videos.ts';
import { emulated, failureOf } from '../../helpers/clients.ts';
import { rejected, resolved } from '../../helpers/fake-time.ts';

const never = (): Promise<never> => new Promise(() => {});

/** A method that hangs, and the moment of its call. */
function hanging() {
  const calls = new EventTarget();
  const called = new Promise((resolve) => {
    calls.addEventListener('call', resolve, { once: true });
  });
  const method = (): Promise<never> => {
    calls.dispatchEvent(new Event('call'));
    return never();
  };
  return { called, method };
}

beforeEach(() => {
  vi.useFakeTimers();
  // Digests run on another thread; fake time does not wait for it.
  vi.spyOn(crypto.subtle, 'digest').mockResolvedValue(new ArrayBuffer(32));
});

afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

/** Videos with a ledger that is good but for what is given. */
function withLedger(overrides: Partial<SubmitLedger>, clientOptions: GatewayOptions = {}) {
  const { emulator, videos } = emulatedVideos(clientOptions, { videoDuration: 0 });
  const good = memoryLedger();
  const controller = new AbortController();
  const { signal } = controller;
  const options = { ledger: { ...good, ...overrides }, callId: 'job', signal };
  return { emulator, videos, good, controller, options };
}

describe.each(['create', 'createAndWait'] as const)(
  'videos.%s() with a ledger that hangs',
  (method) => {
    test('a ledger that hangs in claim() ends with an abort, and sends nothing', async () => {
      const claim = hanging();
      const { emulator, videos, controller, options } = withLedger({ claim: claim.method });
      const error = failureOf(videos[method](order, options));
      await claim.called;
      await vi.advanceTimersByTimeAsync(60_000);

      controller.abort(new Error('shutting down'));

      expect(APIUserAbortError.isInstance(await error)).toBe(true);
      expect(await error).toMatchObject({
        outcome: 'not_sent',
        callId: 'job',
        cause: { message: 'shutting down' },
      });
      expect(emulator.requests).toHaveLength(0);
    });

    test('a ledger that hangs in claim() and responds after the abort releases its claim', async () => {
      const ledger = memoryLedger();
      const claim = hanging();
      const late: SubmitLedger['claim'] = async (...parameters) => {
        void claim.method();
        await new Promise((resolve) => {
          setTimeout(resolve, 1_000);
        });
        return ledger.claim(...parameters);
      };
      const { emulator, videos, controller, options } = withLedger({ ...ledger, claim: late });
      const error = failureOf(videos[method](order, options));

      await claim.called;
      controller.abort();
      await error;
      await vi.advanceTimersByTimeAsync(1_000);

      expect(await ledger.claim('job', '')).toMatchObject({ status: 'claimed' });
      expect(emulator.requests).toHaveLength(0);
    });

    test('a ledger that hangs in accept() has five seconds after an abort, and the error has the handle', async () => {
      const accept = hanging();
      const finish = vi.fn<SubmitLedger['finish']>();
      const { emulator, videos, controller, options } = withLedger({
        accept: accept.method,
        finish,
      });
      const ended = vi.fn();
      const error = failureOf(videos[method](order, options)).finally(ended);
      await accept.called;
      await vi.advanceTimersByTimeAsync(60_000);
      controller.abort();

      await vi.advanceTimersByTimeAsync(4_900);
      expect(ended).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(100);

      expect(VideoWaitAbortedError.isInstance(await error)).toBe(true);
      expect(await error).toMatchObject({ ref: { id: emulator.videos.list[0]?.id } });
      expect(countRequests(emulator)).toEqual({ posts: 1, gets: 0 });
      // It could write over what accept() is about to enter.
      expect(finish).not.toHaveBeenCalled();
    });

    test('a ledger that hangs in accept() and responds after the abort has the task, which is not submitted again', async () => {
      const ledger = memoryLedger();
      const accept = hanging();
      const late: SubmitLedger['accept'] = async (...parameters) => {
        void accept.method();
        await new Promise((resolve) => {
          setTimeout(resolve, 10_000);
        });
        await ledger.accept(...parameters);
      };
      const { emulator, videos, controller, options } = withLedger({ ...ledger, accept: late });
      const error = failureOf(videos[method](order, options));
      await accept.called;
      controller.abort();
      await vi.advanceTimersByTimeAsync(10_000);

      expect(await error).toMatchObject({ name: 'VideoWaitAbortedError' });
      const again = await resolved(videos.createAndWait(order, { ledger, callId: 'job' }));
      expect(again.id).toBe(emulator.videos.list[0]?.id);
      expect(countRequests(emulator).posts).toBe(1);
    });
  },
);

describe('a ledger that hangs in finish()', () => {
  test('a ledger that hangs in finish() does not delay a completed video', async () => {
    const { emulator, videos, options } = withLedger({ finish: never });

    const video = await resolved(videos.createAndWait(order, options));

    expect(video.status).toBe('completed');
    expect(countRequests(emulator).posts).toBe(1);
  });

  test('a ledger that hangs in finish() does not delay the error of a submission', async () => {
    const { emulator, videos, options } = withLedger({ finish: never });
    emulator.fail({
      operation: 'videos.create',
      fault: { type: 'error', status: 402, message: 'No credit.' },
    });

    expect(await rejected(videos.createAndWait(order, options))).toMatchObject({ status: 402 });
  });
});

test.each(['create', 'createAndWait'] as const)(
  'videos.%s() returns its task if accept() fails, and records that the outcome is unknown',
  async (method) => {
    const { emulator, videos, good, options } = withLedger({
      accept: () => Promise.reject(new Error('The disk is full.')),
    });

    const task = await resolved(videos[method](order, options));

    expect(task.ref.id).toBe(emulator.videos.list[0]?.id);
    expect(task._ledger_error).toMatchObject({
      name: 'LedgerError',
      outcome: 'unknown',
      callId: 'job',
      cause: { message: 'The disk is full.' },
    });
    expect(Object.keys(task)).not.toContain('_ledger_error');
    expect(await good.entry('job')).toMatchObject({ status: 'unknown' });
    expect(countRequests(emulator).posts).toBe(1);
  },
);

const limits = { totalTimeout: 2_000 };

describe.each(['create', 'createAndWait'] as const)('totalTimeout of videos.%s()', (method) => {
  test('limits claim(), and nothing is sent', async () => {
    const claim = hanging();
    const { emulator, videos, options } = withLedger({ claim: claim.method }, limits);

    const error = await rejected(videos[method](order, options), 10);

    expect(error).toMatchObject({ name: 'LedgerError', outcome: 'not_sent', callId: 'job' });
    expect(String(error)).toContain(
      'did not claim call job within the time limit of the call, 2000 ms.',
    );
    expect(emulator.requests).toHaveLength(0);
  });

  test('releases a claim that succeeds too late', async () => {
    const ledger = memoryLedger();
    const late: SubmitLedger['claim'] = async (...parameters) => {
      await new Promise((resolve) => {
        setTimeout(resolve, 5_000);
      });
      return ledger.claim(...parameters);
    };
    const { emulator, videos, options } = withLedger({ ...ledger, claim: late }, limits);

    await rejected(videos[method](order, options), 10);
    await vi.advanceTimersByTimeAsync(5_000);

    expect(await ledger.entry('job')).toBeUndefined();
    expect(emulator.requests).toHaveLength(0);
  });

  test('limits accept(), after which the task is returned', async () => {
    const accept = hanging();
    const finish = vi.fn<SubmitLedger['finish']>();
    const { emulator, videos, options } = withLedger({ accept: accept.method, finish }, limits);

    const task = await resolved(videos[method](order, options), 60);

    expect(task.ref.id).toBe(emulator.videos.list[0]?.id);
    expect(String(task._ledger_error)).toContain('within the time limit of the call, 2000 ms.');
    // It could overwrite what accept() is about to record.
    expect(finish.mock.calls.map(([, end]) => end)).not.toContain('unknown');
    expect(countRequests(emulator).posts).toBe(1);
  });
});

test.each(['images.generate', 'videos.create', 'videos.createAndWait'] as const)(
  'the limit of %s() is that of the usage log which onUnknown: "settle" reads too',
  async (method) => {
    const { emulator, client } = emulated();
    const fetch: typeof emulator.fetch = async (input, init) => {
      const { pathname } = new URL(input instanceof Request ? input.url : input);
      return pathname === '/api/log/token' ? never() : emulator.fetch(input, init);
    };
    const { images, videos } = client.withOptions({ fetch });
    const image = { model: 'm-image', prompt: 'A boat' };
    const shared = { ledger: memoryLedger(), callId: 'job', onUnknown: 'settle' } as const;
    const calls = {
      'images.generate': (limit?: number) =>
        images.generate(image, { ...shared, totalTimeout: limit }),
      'videos.create': (limit?: number) => videos.create(order, { ...shared, totalTimeout: limit }),
      'videos.createAndWait': (limit?: number) =>
        videos.createAndWait(order, { ...shared, timeout: limit }),
    };
    const operation = method === 'images.generate' ? method : 'videos.create';
    emulator.fail({ fault: { type: 'reset', when: 'after-charge' }, operation });
    await rejected(calls[method]());

    const error = await rejected(calls[method](2_000), 10);

    expect(error).toMatchObject({ outcome: 'unknown', callId: 'job' });
    expect(String(error)).toContain(
      'The usage log was not read within the time limit of the call, 2000 ms.',
    );
    expect(emulator.charges).toHaveLength(1);
    // Other calls of the client may wait for the same read, which goes on.
    await vi.advanceTimersByTimeAsync(3_600_000);
  },
);

describe('a ledger with invalid results', () => {
  test.each<[string, unknown]>([
    ['ledger', undefined],
    ['ledger', null],
    ['ledger', 'claimed'],
    ['ledger', {}],
    ['ledger', { status: 'done' }],
    ['ref', { status: 'accepted', inputHash: '' }],
    ['ref', { status: 'finished', inputHash: '', ref: 'task_1' }],
    ['ref.v', { status: 'accepted', inputHash: '', ref: { v: 2, kind: 'video' } }],
  ])('a ledger with invalid results is rejected, naming %s: %j', async (field, answer) => {
    const { emulator, videos, options } = withLedger({
      claim: async () => untyped<SubmitClaim>(answer),
    });

    const error = await rejected(videos.createAndWait(order, options));

    expect(InvalidInputError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ field });
    expect(emulator.requests).toHaveLength(0);
  });

  test('a row with empty columns is read by its status', async () => {
    const row = { status: 'submitting', inputHash: '', claimId: '1', ref: null, isAlive: null };
    const { emulator, videos, options } = withLedger({
      claim: async () => untyped<SubmitClaim>(row),
    });

    const error = await rejected(videos.createAndWait(order, options));

    expect(error).toMatchObject({ name: 'VideoSubmitUnknownError' });
    expect(emulator.requests).toHaveLength(0);
  });

  test.each(['resubmit', 'settle'] as const)(
    'a claim with an unknown outcome and no id cannot be finished or taken over by others: %s',
    async (onUnknown) => {
      const claim = vi.fn(async () =>
        untyped<SubmitClaim>({ status: 'unknown', inputHash: '', isAlive: false }),
      );
      const finish = vi.fn(async () => {});
      const { emulator, videos, options } = withLedger({ claim, finish });

      const error = await rejected(videos.createAndWait(order, { ...options, onUnknown }));

      expect(error).toMatchObject({ name: 'VideoSubmitUnknownError' });
      expect(claim).toHaveBeenCalledTimes(1);
      expect(finish).not.toHaveBeenCalled();
      expect(countRequests(emulator)).toEqual({ posts: 0, gets: 0 });
    },
  );

  test('never polls a handle of another gateway', async () => {
    const { videos, emulator } = emulatedVideos({}, { videoDuration: 0 });
    const ledger = memoryLedger();
    const options = { ledger, callId: 'job' };
    const { ref } = await videos.create(order, options);
    await ledger.accept('job', { ...ref, baseURL: 'https://old.test' });

    const created = await rejected(videos.create(order, options));
    const waited = await rejected(videos.createAndWait(order, options));

    expect(created).toMatchObject({ name: 'InvalidInputError', field: 'ref.baseURL' });
    expect(waited).toMatchObject({ name: 'InvalidInputError', field: 'ref.baseURL' });
    expect(countRequests(emulator)).toEqual({ posts: 1, gets: 0 });
  });
});
