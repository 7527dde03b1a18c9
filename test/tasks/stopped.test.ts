import { setTimeout } from 'node:timers/promises';
import * as fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import type { Gateway } from '../../src/index.ts';
import type { GatewayOptions, RequestOptions } from '../../src/options/options.ts';
import { memoryLedger, type SubmitLedger } from '../../src/tasks/ledger.ts';
import type { Fault, Quirks } from '../../src/testing/index.ts';
import { emulated, failureOf, scripted } from '../helpers/clients.ts';
import { fakeWaitingTime, rejected, resolved, settle } from '../helpers/fake-time.ts';
import { untyped } from '../helpers/untyped.ts';

type Options = Pick<RequestOptions, 'signal' | 'totalTimeout'> & {
  readonly ledger: SubmitLedger;
  readonly callId: string;
  readonly onSubmitted?: (() => void) | undefined;
};

const prompt = 'A paper boat';

/** The calls that submit a task and wait for it. */
const calls: Readonly<
  Record<
    'videos.createAndWait' | 'videos.create' | 'images.generate',
    (client: Gateway, options: Options) => Promise<object>
  >
> = {
  'videos.createAndWait': ({ videos }, options) =>
    videos.createAndWait({ model: 'm-video', prompt }, options),
  'videos.create': ({ videos }, options) => {
    const { onSubmitted: _, ...own } = options;
    return videos.create({ model: 'm-video', prompt }, own);
  },
  'images.generate': ({ images }, options) =>
    images.generate({ model: 'm-image', prompt }, options),
};

const asTask: Partial<Quirks> = { imageTasks: 'list' };

/** What the gateway does with the first submission, and what becomes of the job. */
const gateways: readonly {
  readonly gateway: string;
  readonly fault?: Fault;
  readonly end: 'done' | 'unknown';
}[] = [
  { gateway: 'answers', end: 'done' },
  { gateway: 'answers late', fault: { type: 'slow', milliseconds: 20_000 }, end: 'done' },
  { gateway: 'refuses', fault: { type: 'error', status: 400 }, end: 'done' },
  { gateway: 'has too much to do', fault: { type: 'error', status: 429 }, end: 'done' },
  { gateway: 'loses the answer', fault: { type: 'reset', when: 'after-charge' }, end: 'unknown' },
  { gateway: 'never answers', fault: { type: 'hang', charged: true }, end: 'unknown' },
];

/** A client that calls `step` at each place where a process may be told to end. */
function stepping(step: () => void, fault: Fault | undefined) {
  const options: GatewayOptions = {
    timeout: 120_000,
    async apiKey() {
      step();
      return emulator.apiKey;
    },
    async fetch(input, init) {
      const answer = emulator.fetch(input, init);
      step();
      const response = await answer;
      step();
      return response;
    },
  };
  const { client, emulator } = emulated(options, { videoDuration: 0, quirks: asTask });
  if (fault !== undefined) emulator.fail({ fault, times: 1 });
  const inner = memoryLedger();
  const around =
    <P extends unknown[], T>(method: (...parameters: P) => Promise<T>) =>
    async (...parameters: P): Promise<T> => {
      step();
      const result = await method(...parameters);
      step();
      return result;
    };
  const ledger: SubmitLedger = {
    claim: around((...parameters) => inner.claim(...parameters)),
    accept: around((...parameters) => inner.accept(...parameters)),
    finish: around((...parameters) => inner.finish(...parameters)),
    entry: (callId) => inner.entry(callId),
  };
  return { client, emulator, ledger };
}

describe.each(Object.entries(calls))('%s that is aborted at any step', (_, call) => {
  fakeWaitingTime();

  test.each(gateways)('charges once if the gateway $gateway', async ({ fault, end }) => {
    vi.spyOn(crypto.subtle, 'digest').mockResolvedValue(new ArrayBuffer(32));
    for (let at = 1, isOver = false; !isOver; at += 1) {
      const controller = new AbortController();
      let steps = 0;
      let sent = 0;
      const step = (): void => {
        steps += 1;
        if (steps !== at) return;
        sent = emulator.requests.length;
        controller.abort(new Error('shutting down'));
      };
      const { client, emulator, ledger } = stepping(step, fault);
      const options = { ledger, callId: 'job' };

      const { signal } = controller;
      const first = await settle(call(client, { ...options, signal, onSubmitted: step }));
      await expect(resolved(client.settled())).resolves.toBe(true);
      isOver = steps < at;
      if (!isOver && 'error' in first) {
        expect(emulator.requests, `sent after step ${at}`).toHaveLength(sent);
      }
      // If nothing was sent, the fault is that of the next call.
      await settle(call(client, options));
      await resolved(client.settled());
      const last = await settle(call(client, options));

      expect(emulator.charges, `step ${at}`).toHaveLength(1);
      if (end === 'done') expect(last.error).toBeUndefined();
      else expect(last.error).toMatchObject({ outcome: 'unknown', isInProgress: false });
    }
  });
});

describe('a submission that is stopped at any time', () => {
  fakeWaitingTime();

  test('a submission that is stopped at any time has its task if the answer comes within 30 seconds', async () => {
    vi.spyOn(crypto.subtle, 'digest').mockResolvedValue(new ArrayBuffer(32));
    const seconds = fc.integer({ min: 1, max: 70 });
    const way = fc.constantFrom('signal', 'totalTimeout');
    const property = fc.asyncProperty(seconds, seconds, way, async (answer, end, by) => {
      const [latency, stop] = [answer * 1_000 + 500, end * 1_000];
      const fault = { type: 'slow', milliseconds: latency } as const;
      const { client, emulator, ledger } = stepping(() => {}, fault);
      const options = { ledger, callId: 'job' };
      const controller = new AbortController();
      const { signal } = controller;
      const abort = globalThis.setTimeout(() => controller.abort(), stop);
      const limits = by === 'signal' ? { signal } : { totalTimeout: stop };
      const begun = Date.now();
      let took = 0;

      const call = calls['videos.create'](client, { ...options, ...limits });
      const first = await settle(call.finally(() => (took = Date.now() - begun)));
      clearTimeout(abort);
      await resolved(client.settled());
      const second = await settle(calls['videos.createAndWait'](client, options));

      expect('error' in first).toBe(stop < latency);
      expect(took).toBe(Math.min(stop, latency));
      const isInTime = latency < stop + 30_000;
      expect('value' in second).toBe(isInTime);
      // The emulator notices that nobody waits any more, and does not charge.
      expect(emulator.charges).toHaveLength(isInTime ? 1 : 0);
    });
    await fc.assert(property, { numRuns: 40 });
  });
});

const late = (status: number, error: object) => async () => {
  await setTimeout(200);
  return Response.json({ error }, { status });
};

const hang = ({ signal }: Request): Promise<Response> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });

describe('a call that was stopped', () => {
  test.each<[string, (client: Gateway, options: Options) => Promise<object>, () => object]>([
    [
      'a remix in the other format',
      ({ videos }, options) => videos.remix('task_1', { prompt }, options),
      late(415, { message: 'multipart only' }),
    ],
    [
      'another model',
      ({ videos }, options) =>
        videos.create({ model: 'm-a', prompt }, { ...options, fallback: ['m-b'] }),
      late(404, { message: 'no such model', code: 'model_not_found' }),
    ],
    [
      'the request with another key',
      ({ videos }, options) => videos.create({ model: 'm-a', prompt }, options),
      late(401, { message: 'expired' }),
    ],
    [
      'the request after a pause',
      ({ videos }, options) => videos.create({ model: 'm-a', prompt }, options),
      late(429, { message: 'later' }),
    ],
  ])('a call that was stopped does not send %s', async (_, call, answer) => {
    const retry = vi.fn();
    const setup = { apiKey: async () => 'sk-test', observer: { start: () => ({ retry }) } };
    const controller = new AbortController();
    const received = () => {
      setImmediate(() => controller.abort());
      return answer();
    };
    const { client, requests } = scripted([untyped(received)], setup);
    const options = { ledger: memoryLedger(), callId: 'job', signal: controller.signal };

    await failureOf(call(client, options));
    await client.settled();

    expect(requests).toHaveLength(1);
    expect(retry).not.toHaveBeenCalled();
    await expect(options.ledger.entry('job')).resolves.toBeUndefined();
  });
});

describe('a submission whose request has a timeout', () => {
  fakeWaitingTime();

  test('a submission is repeated after the timeout of a request, if that is allowed', async () => {
    vi.spyOn(crypto.subtle, 'digest').mockResolvedValue(new ArrayBuffer(32));
    const answer = Response.json({ id: 'task_1', status: 'queued' });
    const { client, requests } = scripted([hang, answer], { timeout: 50 });
    const options = { ledger: memoryLedger(), callId: 'job', retryUnknownOutcome: true };

    const { id } = await resolved(client.videos.create({ model: 'm-a', prompt }, options));

    expect({ id, requests: requests.length }).toEqual({ id: 'task_1', requests: 2 });
  });
});

describe('settled()', () => {
  test('is true at once if nothing is under way', async () => {
    const { client } = emulated();

    await expect(client.settled({ timeout: 0 })).resolves.toBe(true);
  });

  test.each([-1, Number.NaN, '5'])('rejects the timeout %j', async (timeout) => {
    const { client } = emulated();

    const error = await failureOf(client.settled({ timeout: untyped<number>(timeout) }));

    expect(error).toMatchObject({ name: 'InvalidInputError', field: 'timeout' });
  });

  test('waits for submissions of copies, also to another gateway, and not longer than timeout', async () => {
    const { client, emulator } = emulated();
    emulator.fail({ fault: { type: 'slow', milliseconds: 300 } });
    const copy = client.withOptions({ baseURL: `${emulator.baseURL}/other`, timeout: 1_000 });
    copy.timeout = 5_000;
    const { fetch } = emulator;
    const same = client.withOptions({ fetch });
    const options = { ledger: memoryLedger(), callId: 'job' };

    const submission = same.videos.create({ model: 'm-video', prompt }, options);

    await expect(client.settled({ timeout: 20 })).resolves.toBe(false);
    await expect(copy.settled()).resolves.toBe(true);
    await expect(options.ledger.entry('job')).resolves.toMatchObject({ status: 'accepted' });
    await submission;
  });

  test('waits until a claim that came too late is released', async () => {
    const { client } = emulated();
    const inner = memoryLedger();
    const claim: SubmitLedger['claim'] = async (...parameters) => {
      await setTimeout(100);
      return inner.claim(...parameters);
    };
    const finish = vi.spyOn(inner, 'finish');
    const options = { ledger: { ...inner, claim }, callId: 'job', totalTimeout: 10 };

    await failureOf(client.videos.create({ model: 'm-video', prompt }, options));
    await client.settled();

    expect(finish).toHaveBeenCalledWith('job', 'not_submitted', expect.anything());
    await expect(inner.entry('job')).resolves.toBeUndefined();
  });
});

describe('settled() after an abort while the ledger records the task', () => {
  fakeWaitingTime();

  test('waits for the ledger, also longer than the call', async () => {
    vi.spyOn(crypto.subtle, 'digest').mockResolvedValue(new ArrayBuffer(32));
    const { client } = emulated();
    const inner = memoryLedger();
    const controller = new AbortController();
    const accept: SubmitLedger['accept'] = async (...parameters) => {
      controller.abort();
      await new Promise((resolve) => {
        globalThis.setTimeout(resolve, 8_000);
      });
      return inner.accept(...parameters);
    };
    const options = { ledger: { ...inner, accept }, callId: 'job', signal: controller.signal };

    const error = await rejected(client.videos.create({ model: 'm-video', prompt }, options));
    await expect(inner.entry('job')).resolves.toMatchObject({ status: 'submitting' });
    await expect(resolved(client.settled())).resolves.toBe(true);

    expect(error).toMatchObject({ name: 'VideoWaitAbortedError' });
    await expect(inner.entry('job')).resolves.toMatchObject({ status: 'accepted' });
  });
});
