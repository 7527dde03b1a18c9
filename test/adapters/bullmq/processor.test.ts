import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  videoDownloader,
  videoProcessor,
  type VideoProcessorOptions,
} from '../../../src/adapters/bullmq/index.ts';
import {
  Gateway,
  InvalidInputError,
  LedgerError,
  memoryLedger,
  VideoFailedError,
  VideoSubmitUnknownError,
  VideoWaitTimeoutError,
  type SubmitLedger,
} from '../../../src/index.ts';
import { createEmulator, type EmulatorOptions } from '../../../src/testing/index.ts';
import { TestQueue } from '../../helpers/bullmq-queue.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { untyped } from '../../helpers/untyped.ts';
import { modes } from '../../helpers/modes.ts';
import { order } from '../../helpers/videos.ts';
import { failureOf } from '../../helpers/clients.ts';

const reset = { type: 'reset', when: 'after-charge' } as const;

// A delay is what is left until a timestamp, so time stands still between the two.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A queue with one job, its worker, and the gateway that it asks. */
function setUp(options: Partial<VideoProcessorOptions> = {}, setup: EmulatorOptions = {}) {
  const emulator = createEmulator(setup);
  emulator.clock.hold();
  const { apiKey, baseURL, fetch } = emulator;
  const { gateway = 'new-api' } = setup;
  const client = new Gateway({ apiKey, baseURL, fetch, gateway, logLevel: 'off', maxRetries: 0 });
  const ledger = memoryLedger();
  const processor = videoProcessor(client, { ledger, interval: 1_000, ...options });
  const queue = new TestQueue();
  queue.add('boat', { params: order });
  return { emulator, client, ledger, queue, processor };
}

/** Waits until a delayed job is due, in the gateway's time. */
const passing =
  ({ emulator }: Pick<ReturnType<typeof setUp>, 'emulator'>) =>
  ({ delay = 0 }: { readonly delay?: number }) =>
    emulator.clock.advance(delay);

describe('a job', () => {
  test('a job submits once, polls with pauses, and returns the handle', async () => {
    const set = setUp({}, { videoDuration: 2_500 });

    const job = await set.queue.finish('boat', set.processor, passing(set));

    expect(job).toMatchObject({ state: 'completed', attempts: 0 });
    expect(job.result).toEqual({ ref: JSON.parse(job.data).ref });
    expect(JSON.parse(job.data)).toMatchObject({
      params: order,
      ref: { callId: 'videos:boat' },
      state: { polls: 2 },
    });
    expect(job.progress).toMatchObject({ status: 'completed', polls: 3 });
    expect(set.queue.delays).toEqual([1_000, 1_000, 1_000]);
    expect(set.emulator.charges).toHaveLength(1);
    expect(await set.ledger.entry('videos:boat')).toMatchObject({ status: 'finished' });
  });

  test('a job passes its own options to no call, where they would be unknown', async () => {
    const warn = vi.fn<(message: string) => void>();
    const logger = { debug: warn, info: warn, warn, error: warn };
    const { apiKey, baseURL, fetch, clock } = createEmulator();
    const client = new Gateway({ apiKey, baseURL, fetch, logger, logLevel: 'warn' });
    const processor = videoProcessor(client, {
      ledger: memoryLedger(),
      callId: ({ id }) => `films:${id}`,
      unknownGrace: 1_000,
      lockDuration: 5_000,
      onUpdate: () => {},
      deliver: ({ stream }) => stream.cancel(),
    });
    const queue = new TestQueue();
    queue.add('boat', { params: order });

    await queue.finish('boat', processor, ({ delay = 0 }) => clock.advance(delay));

    expect(warn.mock.calls).toEqual([]);
  });

  test('a job is stored before it is delayed, so that the next worker reads the new state', async () => {
    const { queue, processor } = setUp();

    await queue.run('boat', processor);
    await queue.run('boat', processor);

    expect(queue.calls.filter((name) => name !== 'updateProgress')).toEqual([
      'updateData',
      'moveToDelayed',
      'updateData',
      'moveToDelayed',
    ]);
  });

  test('a job keeps custom fields, and reports updates', async () => {
    const seen: string[] = [];
    const set = setUp({ onUpdate: ({ status }, { id }) => void seen.push(`${id} ${status}`) });
    set.queue.add('boat', { params: order, studio: 'north' });

    const job = await set.queue.finish('boat', set.processor, passing(set));

    expect(JSON.parse(job.data)).toMatchObject({ studio: 'north' });
    expect(seen.at(-1)).toBe('boat completed');
  });

  test('remixes a video', async () => {
    const set = setUp();
    const original = await set.client.videos.create(order);
    set.queue.add('boat', { params: { prompt: 'At night' }, remixOf: original.ref });

    const job = await set.queue.finish('boat', set.processor, passing(set));

    expect(job.result).toMatchObject({ ref: { remixOf: original.id } });
    expect(set.emulator.charges.map(({ operation }) => operation)).toEqual([
      'videos.create',
      'videos.remix',
    ]);
  });

  test('a job with a handle only waits for it', async () => {
    const set = setUp();
    const { ref } = await set.client.videos.create(order);
    set.queue.add('boat', { ref });

    const job = await set.queue.finish('boat', set.processor, passing(set));

    expect(job.result).toEqual({ ref });
    expect(set.emulator.charges).toHaveLength(1);
  });

  test('a job saves the file', async () => {
    const folder = await temporaryFolder();
    const set = setUp({ saveTo: ({ id }) => join(folder, `${id}.mp4`) });

    const job = await set.queue.finish('boat', set.processor, passing(set));

    const path = join(folder, 'boat.mp4');
    const id = set.emulator.videos.list[0]?.id ?? '';
    const content = await set.emulator.videos.content(id);
    expect(job.result).toMatchObject({ path, bytes: content.length });
    expect((await readFile(path)).equals(content)).toBe(true);
  });

  test('a job passes the file as a stream, again after a failure', async () => {
    let calls = 0;
    const set = setUp({
      async deliver({ stream, ref, response }) {
        calls += 1;
        if (calls === 1) throw new Error('The store is full.');
        const bytes = (await new Response(stream).arrayBuffer()).byteLength;
        return { key: `films/${ref.id}`, bytes, type: response.headers.get('content-type') };
      },
    });

    const job = await set.queue.finish('boat', set.processor, passing(set));

    const id = set.emulator.videos.list[0]?.id ?? '';
    const { length } = await set.emulator.videos.content(id);
    expect(job).toMatchObject({ state: 'completed', attempts: 1 });
    expect(job.result).toMatchObject({
      delivered: { key: `films/${id}`, bytes: length, type: 'video/mp4' },
    });
    expect(set.emulator.charges).toHaveLength(1);
  });
});

/** Tasks without a URL, so that only the content route has the file. */
const withoutURL: EmulatorOptions = { quirks: { videoUrl: 'missing' } };

describe('downloads', () => {
  test('downloads come from the URL in the task if the content route fails', async () => {
    const set = setUp({ deliver: () => 'taken' }, { quirks: { contentStatus: 403 } });

    const job = await set.queue.finish('boat', set.processor, passing(set));

    expect(job).toMatchObject({ state: 'completed', attempts: 0 });
  });

  test('rate-limited downloads free the worker and do not count as an attempt', async () => {
    const set = setUp(
      { deliver: async ({ stream }) => (await new Response(stream).bytes()).length },
      withoutURL,
    );
    const limited = { type: 'bare', status: 429 } as const;
    set.emulator.fail({ operation: 'videos.downloadContent', fault: limited, times: 2 });

    const job = await set.queue.finish('boat', set.processor, passing(set));

    expect(job).toMatchObject({ state: 'completed', attempts: 0 });
    const [, ...pauses] = set.queue.delays.slice(-3);
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(9_900);
    expect(Math.max(...pauses)).toBeLessThan(60_001);
  });

  test('wait as long as the gateway requires', async () => {
    const set = setUp({ deliver: () => 'taken' }, withoutURL);
    const limited = { type: 'rate-limit', retryAfter: 7 } as const;
    set.emulator.fail({ operation: 'videos.downloadContent', fault: limited });

    const job = await set.queue.finish('boat', set.processor, passing(set));

    expect(job.result).toMatchObject({ delivered: 'taken' });
    expect(set.queue.delays.at(-1)).toBe(7_000);
  });

  test('downloads of late files are retried', async () => {
    const set = setUp({ deliver: () => 'taken' }, withoutURL);
    const late = { type: 'bare', status: 404 } as const;
    set.emulator.fail({ operation: 'videos.downloadContent', fault: late, times: 2 });

    const job = await set.queue.finish('boat', set.processor, passing(set));

    expect(job).toMatchObject({ state: 'completed', attempts: 2 });
    expect(set.emulator.charges).toHaveLength(1);
  });
});

describe('two queues on one ledger', () => {
  test('two queues on one ledger do not interfere', async () => {
    const { processor, emulator } = setUp();
    const [one, other] = [new TestQueue('one'), new TestQueue('other')];
    for (const queue of [one, other]) queue.add('7', { params: order });

    await one.run('7', processor);
    await other.run('7', processor);

    expect(emulator.charges).toHaveLength(2);
  });
});

describe('failures', () => {
  test('a charged submission with a lost response fails the job immediately', async () => {
    const { queue, processor, emulator } = setUp();
    emulator.fail({ operation: 'videos.create', fault: reset });

    const job = await queue.finish('boat', processor);

    expect(job.error).toMatchObject({
      name: 'UnrecoverableError',
      message: expect.stringMatching(/call videos:boat, job\.retry\(\) continues it\.$/),
    });
    expect(emulator.charges).toHaveLength(1);
    expect(queue.delays).toEqual([]);
  });

  test('a temporary rejection is retried', async () => {
    const set = setUp();
    set.emulator.fail({
      operation: 'videos.create',
      fault: { type: 'rate-limit', retryAfter: 1 },
      times: 2,
    });

    const job = await set.queue.finish('boat', set.processor, passing(set));

    expect(job).toMatchObject({ state: 'completed', attempts: 2 });
    expect(set.emulator.charges).toHaveLength(1);
  });

  test.each([
    ['a wrong model', { type: 'error', status: 503, code: 'model_not_found' }],
    ['no credit', { type: 'error', status: 403, code: 'insufficient_user_quota' }],
    ['bad input', { type: 'error', status: 400, code: 'invalid_request' }],
    [
      'an unknown outcome, of a connection lost before the request,',
      { type: 'reset', when: 'before-body' },
    ],
  ] as const)('%s is not retried', async (_, fault) => {
    const { queue, processor, emulator } = setUp();
    emulator.fail({ operation: 'videos.create', fault });

    const job = await queue.finish('boat', processor);

    expect(job).toMatchObject({
      state: 'failed',
      attempts: 1,
      error: { name: 'UnrecoverableError' },
    });
    expect(emulator.requests).toHaveLength(1);
  });

  test('a failed video fails the job, with the reason', async () => {
    const set = setUp();
    await set.queue.run('boat', set.processor);
    const id = set.emulator.videos.list[0]?.id ?? '';
    set.emulator.videos.fail(id, 'The prompt was blocked by moderation.');

    const job = await set.queue.finish('boat', set.processor, passing(set));

    expect(job).toMatchObject({ state: 'failed', error: { name: 'UnrecoverableError' } });
    const { cause } = untyped<{ cause: unknown }>(job.error);
    expect(VideoFailedError.isInstance(cause)).toBe(true);
    expect(await set.ledger.entry('videos:boat')).toMatchObject({ status: 'finished' });
  });

  test('temporary failures of polls cost nothing', async () => {
    const set = setUp();
    set.emulator.fail({
      operation: 'videos.retrieve',
      fault: { type: 'html', status: 502 },
      times: 4,
    });

    const job = await set.queue.finish('boat', set.processor, passing(set));

    expect(job).toMatchObject({ state: 'completed', attempts: 0 });
  });

  test('retry() after a timeout starts another wait for the same task', async () => {
    const set = setUp({ timeout: 1 }, { videoDuration: 60_000 });

    const begun = Date.now();
    const job = await set.queue.finish('boat', set.processor, () =>
      expect.poll(() => Date.now() > begun + 1).toBe(true),
    );

    expect(VideoWaitTimeoutError.isInstance(untyped<Error>(job.error).cause)).toBe(true);
    expect(JSON.parse(job.data)).not.toHaveProperty('state');
    set.emulator.clock.advance(60_000);
    expect(await set.queue.run('boat', set.processor)).toMatchObject({ state: 'completed' });
    expect(set.emulator.charges).toHaveLength(1);
  });

  test('an unreachable ledger is retried, and nothing is sent before', async () => {
    const ledger = memoryLedger();
    const claim = vi.fn<SubmitLedger['claim']>((...all) => ledger.claim(...all));
    claim.mockRejectedValueOnce(new Error('The database is down.'));
    const set = setUp({ ledger: { ...ledger, claim } });

    const first = await set.queue.run('boat', set.processor);

    expect(first).toMatchObject({ state: 'waiting', attempts: 1 });
    expect(LedgerError.isInstance(first.error)).toBe(true);
    expect(set.emulator.requests).toHaveLength(0);
    expect(await set.queue.finish('boat', set.processor, passing(set))).toMatchObject({
      state: 'completed',
    });
    expect(set.emulator.charges).toHaveLength(1);
  });

  test('a ledger that fails to store the task does not lose it', async () => {
    const ledger = memoryLedger();
    const accept = vi.fn<SubmitLedger['accept']>((...all) => ledger.accept(...all));
    const down = new Error('The database is down.');
    accept.mockRejectedValueOnce(down).mockRejectedValueOnce(down);
    const set = setUp({ ledger: { ...ledger, accept } });

    const job = await set.queue.finish('boat', set.processor, passing(set));

    expect(job).toMatchObject({ state: 'completed', attempts: 0 });
    expect(set.emulator.charges).toHaveLength(1);
    expect(await ledger.entry('videos:boat')).toMatchObject({
      status: 'finished',
      ref: JSON.parse(job.data).ref,
    });
  });
});

/** A ledger with a claim whose worker has disappeared. */
async function doubtful(options: Partial<VideoProcessorOptions> = {}) {
  const ledger = memoryLedger();
  const set = setUp({
    ledger: {
      ...ledger,
      async claim(...parameters) {
        const found = await ledger.claim(...parameters);
        return found.status === 'submitting' ? { ...found, isAlive: false } : found;
      },
    },
    ...options,
  });
  const claim = await ledger.claim('videos:boat', '');
  if (claim.status !== 'claimed') throw new Error('It is claimed.');
  const { ref } = await set.client.videos.create(order, { callId: 'videos:boat' });
  const acceptLate = () => ledger.accept('videos:boat', ref, claim.claimId);
  return { ...set, acceptLate, ref };
}

describe('a suspended worker', () => {
  test('a suspended worker has a grace period for its response', async () => {
    const set = await doubtful();

    const waiting = await set.queue.run('boat', set.processor);
    expect(waiting).toMatchObject({ state: 'delayed', attempts: 0, delay: 5_000 });
    await set.acceptLate();

    const job = await set.queue.finish('boat', set.processor, passing(set));
    expect(job.result).toEqual({ ref: set.ref });
    expect(JSON.parse(job.data)).not.toHaveProperty('unknownSince');
    expect(set.emulator.charges).toHaveLength(1);
  });

  test('a suspended worker fails after its grace period, and retry() finds a later response', async () => {
    const set = await doubtful({ unknownGrace: 0 });

    const job = await set.queue.run('boat', set.processor);

    expect(job).toMatchObject({ state: 'failed', error: { name: 'UnrecoverableError' } });
    const { cause } = untyped<Error>(job.error);
    expect(VideoSubmitUnknownError.isInstance(cause)).toBe(true);
    await set.acceptLate();
    const later = await set.queue.finish('boat', set.processor, passing(set));
    expect(later).toMatchObject({ state: 'completed', result: { ref: set.ref } });
    expect(set.emulator.charges).toHaveLength(1);
  });

  test('a suspended worker finds the task of a submission that was slower than totalTimeout', async () => {
    const set = setUp({ totalTimeout: 20 }, { videoDuration: 0 });
    set.emulator.fail({ fault: { type: 'slow', milliseconds: 200 } });

    await set.queue.run('boat', set.processor);
    await set.client.settled();
    const job = await set.queue.finish('boat', set.processor, passing(set));

    expect(job).toMatchObject({ state: 'completed', attempts: 0 });
    expect(set.emulator.charges).toHaveLength(1);
  });

  test('a suspended worker is awaited while it submits', async () => {
    const set = setUp();
    set.emulator.fail({ operation: 'videos.create', fault: { type: 'slow', milliseconds: 1_000 } });
    const slow = set.queue.take('boat');
    const first = set.processor(slow.job, slow.token, undefined);
    await expect.poll(() => set.emulator.requests).toHaveLength(1);

    const other = await set.queue.run('boat', set.processor);

    expect(other).toMatchObject({ state: 'delayed', delay: 5_000, attempts: 0 });
    await failureOf(first);
    expect(await set.queue.finish('boat', set.processor, passing(set))).toMatchObject({
      state: 'completed',
    });
    expect(set.emulator.charges).toHaveLength(1);
  });

  test("a suspended worker does not overwrite another worker's state", async () => {
    const set = setUp({}, { videoDuration: 60_000 });
    await set.queue.run('boat', set.processor);
    const asleep = set.queue.take('boat', Date.now() - 60_000);
    await set.queue.run('boat', set.processor);
    const stored = await set.queue.run('boat', set.processor);
    const before = stored.data;

    const error = await failureOf(set.processor(asleep.job, asleep.token, undefined));

    expect(error).toMatchObject({ name: 'DelayedError' });
    expect(stored.data).toBe(before);
    expect(JSON.parse(before)).toMatchObject({ state: { polls: 2 } });
  });

  test('a suspended worker continues a job that failed while it submitted', async () => {
    const set = setUp();
    const asleep = set.queue.take('boat', Date.now() - 60_000);
    const stored = set.queue.take('boat');
    await set.queue.settle('boat', stored.token, Promise.reject(giveUp()));

    const error = await failureOf(set.processor(asleep.job, asleep.token, undefined));

    expect(error).toMatchObject({ name: 'DelayedError' });
    expect(set.queue.calls).toEqual(['extendLock', 'retry']);
    const job = await set.queue.finish('boat', set.processor, passing(set));
    expect(job).toMatchObject({ state: 'completed' });
    expect(set.emulator.charges).toHaveLength(1);
  });
});

function giveUp(): Error {
  return Object.assign(new Error('Nobody knows.'), { name: 'UnrecoverableError' });
}

describe('cancelling', () => {
  test('aborts a poll, and the job continues at its next attempt', async () => {
    const set = setUp();
    await set.queue.run('boat', set.processor);
    set.emulator.fail({ operation: 'videos.retrieve', fault: { type: 'hang' } });
    const controller = new AbortController();

    const run = set.queue.run('boat', set.processor, controller.signal);
    await expect.poll(() => set.emulator.requests).toHaveLength(2);
    controller.abort('shutdown');

    expect(await run).toMatchObject({ state: 'waiting', attempts: 1 });
    expect(await set.queue.finish('boat', set.processor, passing(set))).toMatchObject({
      state: 'completed',
    });
  });

  test('sends nothing if it came first, and never aborts a submission', async () => {
    const set = setUp();

    const first = await set.queue.run('boat', set.processor, AbortSignal.abort());

    expect(first).toMatchObject({ state: 'waiting' });
    expect(set.emulator.requests).toHaveLength(0);
    set.emulator.fail({ operation: 'videos.create', fault: { type: 'slow', milliseconds: 500 } });
    const controller = new AbortController();
    const running = set.queue.run('boat', set.processor, controller.signal);
    await expect.poll(() => set.emulator.requests).toHaveLength(1);
    controller.abort();
    const second = await running;
    expect(second).toMatchObject({ state: 'delayed' });
    expect(JSON.parse(second.data)).toHaveProperty('ref.id');
  });
});

describe('a second queue for downloads', () => {
  test('downloads the result of the previous job', async () => {
    const folder = await temporaryFolder();
    const set = setUp();
    const { result } = await set.queue.finish('boat', set.processor, passing(set));
    const downloads = new TestQueue('downloads');
    downloads.add('boat', {});
    const downloader = videoDownloader(set.client, { saveTo: () => join(folder, 'boat.mp4') });
    const { job } = downloads.take('boat');
    const parent = { ...job, getChildrenValues: async () => ({ 'bull:videos:boat': result }) };

    const saved = await downloader(parent);

    expect(saved).toMatchObject({ path: join(folder, 'boat.mp4') });
    expect(saved.bytes).toBeGreaterThan(1_000);
  });

  test('a second queue for downloads without its required options throws', async () => {
    const { client } = setUp();
    const downloader = videoDownloader(client, { saveTo: () => 'boat.mp4' });
    const downloads = new TestQueue('downloads');
    downloads.add('boat', {});

    const job = await downloads.finish('boat', downloader);

    expect(job.error).toMatchObject({
      name: 'UnrecoverableError',
      message: expect.stringContaining('job.data.ref: is missing; add the job with { ref }'),
    });
    expect(() => videoDownloader(client, {})).toThrow(
      'saveTo: is missing; pass saveTo or deliver.',
    );
  });
});

describe('bad input', () => {
  const client = new Gateway({ apiKey: 'sk-test', baseURL: 'https://gateway.test' });

  test.each([
    {
      name: 'no ledger',
      options: {},
      message: 'ledger: is missing; without it, two workers may submit',
    },
    {
      name: 'half a ledger',
      options: { ledger: { claim: () => {} } },
      message: 'ledger: has no method accept()',
    },
    {
      name: 'no options',
      options: undefined,
      message: 'options: must be an object with a ledger.',
    },
    {
      name: 'both targets',
      options: { saveTo: () => '', deliver: () => '' },
      message: 'deliver: cannot be used with saveTo',
    },
    { name: 'a path', options: { saveTo: 'films' }, message: 'saveTo: must be a function.' },
    { name: 'a call id', options: { callId: 'one' }, message: 'callId: must be a function.' },
    {
      name: 'a grace',
      options: { unknownGrace: -1 },
      message: 'unknownGrace: must be milliseconds from 0',
    },
    {
      name: 'a lock',
      options: { lockDuration: 5 },
      message: 'lockDuration: must be milliseconds from 1000',
    },
  ])('$name is rejected when the worker starts', ({ options, message }) => {
    const given = options === undefined || 'ledger' in options || Object.keys(options).length === 0;
    const whole = given ? options : { ledger: memoryLedger(), ...options };

    const make = () => videoProcessor(client, untyped<VideoProcessorOptions>(whole));

    expect(make).toThrow(InvalidInputError);
    expect(make).toThrow(message);
  });

  test('an invalid client is rejected', () => {
    const ledger = memoryLedger();

    expect(() => videoProcessor(untyped<Gateway>({}), { ledger })).toThrow(
      'client: must be a Gateway.',
    );
  });

  test.each([
    { name: 'a wait option', options: { interval: 5 }, field: 'interval' },
    { name: 'onUnknown', options: { onUnknown: untyped<'fail'>('retry') }, field: 'onUnknown' },
  ])('an invalid $name sends nothing, and fails no job permanently', async ({ options, field }) => {
    const { queue, processor, emulator } = setUp(options);

    const job = await queue.run('boat', processor);

    expect(job).toMatchObject({ state: 'waiting', error: { field } });
    expect(emulator.requests).toHaveLength(0);
  });

  test.each([
    {
      name: 'no data',
      data: null,
      message: 'job.data: must be an object; add the job with videoJob()',
    },
    {
      name: 'no params',
      data: {},
      message: 'job.data.params: is missing; add the job with videoJob()',
    },
    { name: 'null as params', data: { params: null }, message: 'job.data.params: is missing' },
    { name: 'no model', data: { params: { prompt: 'A boat' } }, message: 'model: is empty' },
    { name: 'no prompt', data: { params: { model: 'm-video' } }, message: 'prompt: is empty' },
    {
      name: 'a file',
      data: { params: { ...order, input_reference: {} } },
      message: 'input_reference: must be a file',
    },
    { name: 'a broken handle', data: { ref: { v: 1 } }, message: 'ref.kind: must be "video"' },
  ])('a job with $name fails immediately, and nothing is sent', async ({ data, message }) => {
    const { queue, processor, emulator } = setUp();
    queue.add('boat', data);

    const job = await queue.finish('boat', processor);

    expect(job).toMatchObject({ state: 'failed', attempts: 1 });
    expect(job.error).toMatchObject({
      name: 'UnrecoverableError',
      message: expect.stringContaining(message),
    });
    expect(emulator.requests).toHaveLength(0);
  });

  test('a job without an id, a token or a call id fails and names the missing one', async () => {
    const { queue, processor, emulator } = setUp();
    const { job } = queue.take('boat');
    const named = setUp({ callId: () => '' });

    const nameless = await failureOf(processor({ ...job, id: undefined }, 'token'));
    const withoutToken = await failureOf(processor(job));
    const withoutCallId = await failureOf(named.processor(job, 'token'));

    expect(nameless).toMatchObject({ message: 'job.id: is missing; set an id for the job.' });
    expect(withoutToken).toMatchObject({
      message: 'token: is missing; pass the processor to a Worker of BullMQ, which provides it.',
    });
    expect(withoutCallId).toMatchObject({
      message: expect.stringContaining('callId: did not return a string'),
    });
    expect(emulator.requests).toHaveLength(0);
  });

  test('another video under the same call id fails its job, and nothing is sent', async () => {
    const { queue, processor, emulator } = setUp({ callId: () => 'the same' });
    queue.add('other', { params: { ...order, prompt: 'Another one' } });
    await queue.run('boat', processor);

    const job = await queue.finish('other', processor);

    expect(job.error).toMatchObject({
      name: 'UnrecoverableError',
      message: expect.stringContaining('callId: belongs to another submission'),
    });
    expect(emulator.charges).toHaveLength(1);
  });
});

test('a job passes each option of a request to its submission, and those of reads to its polls', async () => {
  const idempotency = { header: 'Idempotency-Key' };
  const options = {
    idempotency,
    headers: { 'x-tenant': 'a' },
    fallback: ['m-next'],
    interval: 250,
  };
  const { queue, processor, emulator } = setUp(options, { videoDuration: 0 });

  const job = await queue.finish('boat', processor);

  expect(job).toMatchObject({ state: 'completed' });
  const sent = emulator.requests.map(({ method, headers }) => [method, headers['x-tenant']]);
  expect(sent.slice(0, 2)).toEqual([
    ['POST', 'a'],
    ['GET', 'a'],
  ]);
  expect(emulator.requests[0]?.headers['idempotency-key']).toBe('videos:boat');
});

describe.each(modes)('a job at %s', (gateway) => {
  test('submits once and completes', async () => {
    const set = setUp({}, { gateway, videoDuration: 2_500 });

    const job = await set.queue.finish('boat', set.processor, passing(set));

    expect(job).toMatchObject({ state: 'completed', attempts: 0 });
    expect(set.emulator.charges).toHaveLength(1);
    expect(await set.ledger.entry('videos:boat')).toMatchObject({ status: 'finished' });
  });

  test('a job whose response was lost is not submitted again', async () => {
    const { queue, processor, emulator } = setUp({}, { gateway });
    emulator.fail({ operation: 'videos.create', fault: reset });

    await queue.finish('boat', processor);
    const job = await queue.finish('boat', processor);

    expect(job).toMatchObject({ state: 'failed' });
    const posts = emulator.requests.filter(({ method }) => method === 'POST');
    expect(posts).toHaveLength(1);
    expect(emulator.charges).toHaveLength(1);
  });
});
