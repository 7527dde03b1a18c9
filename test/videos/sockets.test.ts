import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { Gateway } from '../../src/index.ts';
import type { VideoCreateAndWaitOptions } from '../../src/videos/wait-options.ts';
import {
  createEmulator,
  type Emulator,
  type EmulatorOptions,
  type FaultRule,
  type Quirks,
} from '../../src/testing/index.ts';
import { countRequests, order } from '../helpers/videos.ts';
import { failureOf } from '../helpers/clients.ts';

// The same rules as with faked timers and a `fetch` in memory, on real sockets and in real time.

/** Polls as often as is allowed, and without repeating a poll by itself. */
const quick: VideoCreateAndWaitOptions = { interval: 250, maxRetries: 0, pollTimeout: 400 };

/** An emulator behind a port, and videos of a client of it. */
async function listening(setup: EmulatorOptions = {}) {
  const emulator = createEmulator({ videoDuration: 700, ...setup });
  const server = await emulator.listen();
  const client = new Gateway({ apiKey: emulator.apiKey, baseURL: server.url, logLevel: 'off' });
  return {
    emulator,
    server,
    videos: client.videos,
    [Symbol.asyncDispose]: () => emulator[Symbol.asyncDispose](),
  };
}

/** Fails polls for some time. */
function failPolls(emulator: Emulator, fault: FaultRule['fault'], times = 3): void {
  emulator.fail({ operation: 'videos.retrieve', fault, times });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise<unknown>((resolve) => {
    server.close(resolve);
  });
  return typeof address === 'object' && address !== null ? address.port : 0;
}

describe.concurrent('a wait on a real socket', { timeout: 30_000 }, () => {
  test.each<[string, FaultRule['fault']]>([
    ['500', { type: 'error', status: 500, message: 'broken' }],
    ['503', { type: 'error', status: 503, message: 'busy' }],
    ['HTML 502', { type: 'html', status: 502 }],
    ['HTML 200', { type: 'html', status: 200 }],
    ['a bare 429', { type: 'bare', status: 429 }],
    ['reset connections', { type: 'reset', when: 'before-body' }],
    ['cut answers', { type: 'cut', bytes: 5 }],
    ['stalled polls', { type: 'hang' }],
    ['answers that stall', { type: 'stall', bytes: 5 }],
    ['400 task_not_exist', { type: 'task-not-exist' }],
    ['404', { type: 'error', status: 404, message: 'Not found' }],
  ])('survives a burst of %s', async (_, fault) => {
    await using gateway = await listening();
    failPolls(gateway.emulator, fault, 2);

    const video = await gateway.videos.createAndWait(order, quick);

    expect(video.status).toBe('completed');
    expect(countRequests(gateway.emulator).posts).toBe(1);
    expect(gateway.emulator.charges).toHaveLength(1);
  });

  test('survives a gateway that is away for a while', async () => {
    await using emulator = createEmulator({ videoDuration: 100 });
    const port = await freePort();
    const server = await emulator.listen(port);
    const { videos } = new Gateway({ apiKey: emulator.apiKey, baseURL: server.url });
    const { ref } = await videos.create(order);
    await server.close();

    const waiting = videos.wait(ref, quick);
    await new Promise((resolve) => {
      setTimeout(resolve, 900);
    });
    await emulator.listen(port);

    expect((await waiting).status).toBe('completed');
    expect(countRequests(emulator).posts).toBe(1);
  });

  test('waits as long as Retry-After says', async () => {
    await using gateway = await listening();
    failPolls(gateway.emulator, { type: 'rate-limit', retryAfter: 1 }, 1);

    await gateway.videos.createAndWait(order, quick);

    const [, refused, next] = gateway.emulator.requests.map(({ at }) => at);
    expect((next ?? 0) - (refused ?? 0)).toBeGreaterThanOrEqual(990);
    expect(countRequests(gateway.emulator).posts).toBe(1);
  });

  test('gives up on a task that is never there, after the grace', async () => {
    await using gateway = await listening();
    const onSubmitted = ({ id }: { id: string }) => gateway.emulator.videos.forget(id);

    const error = await failureOf(
      gateway.videos.createAndWait(order, { ...quick, onSubmitted, notFoundGrace: 2_000 }),
    );

    expect(error).toMatchObject({ name: 'VideoWaitError', cause: { code: 'task_not_exist' } });
    expect(countRequests(gateway.emulator).gets).toBeGreaterThanOrEqual(3);
    expect(countRequests(gateway.emulator).posts).toBe(1);
  });

  test.each<[string, Partial<Quirks>]>([
    ['the status unknown', { videoStatuses: { queued: 'unknown', in_progress: 'UNKNOWN' } }],
    ['an empty status', { videoStatuses: { queued: '', in_progress: ' ' } }],
    ['words of its own', { videoStatuses: { queued: 'baking', in_progress: 'frosting' } }],
    ['words in capitals', { videoStatuses: { queued: 'NOT_START', completed: 'SUCCESS' } }],
    ['Kling’s succeed', { videoStatuses: { completed: 'succeed' } }],
    ['a status in data', { videoNesting: 'data' }],
    ['progress as text', { videoProgress: 'percent' }],
    ['no result URL', { videoUrl: 'missing' }],
    ['ids in data', { videoId: 'data.task_id' }],
  ])('tolerates %s', async (_, quirks) => {
    await using gateway = await listening({ quirks });

    const video = await gateway.videos.createAndWait(order, quick);

    expect(video.status).toBe('completed');
    expect(countRequests(gateway.emulator).posts).toBe(1);
  });

  test('an abort ends the sleep, and does not wait for its end', async () => {
    await using gateway = await listening({ videoDuration: 60_000 });
    const controller = new AbortController();
    const onSubmitted = () => {
      setTimeout(() => controller.abort(), 20);
    };
    const { signal } = controller;

    const error = await failureOf(
      gateway.videos.createAndWait(order, {
        interval: 60_000,
        signal,
        onSubmitted,
      }),
    );

    expect(error).toMatchObject({ name: 'VideoWaitAbortedError', ref: { v: 1 } });
    expect(countRequests(gateway.emulator).posts).toBe(1);
  });

  test('an abort ends a poll that is under way', async () => {
    await using gateway = await listening({ videoDuration: 60_000 });
    failPolls(gateway.emulator, { type: 'hang' });
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 800);

    const error = await failureOf(
      gateway.videos.createAndWait(order, {
        interval: 250,
        pollTimeout: 20_000,
        signal: controller.signal,
      }),
    );

    expect(error).toMatchObject({ name: 'VideoWaitAbortedError' });
    expect(countRequests(gateway.emulator)).toEqual({ posts: 1, gets: 1 });
  });

  test('a time-out leaves a task that another wait completes', async () => {
    await using gateway = await listening({ videoDuration: 1_500 });
    const error = await failureOf(gateway.videos.createAndWait(order, { ...quick, timeout: 600 }));

    expect(error).toMatchObject({ name: 'VideoWaitTimeoutError' });
    const ref: unknown = Reflect.get(Object(error), 'ref');
    const stored = JSON.parse(JSON.stringify(ref));
    expect((await gateway.videos.wait(stored, quick)).status).toBe('completed');
    expect(countRequests(gateway.emulator).posts).toBe(1);
  });

  test('onSubmitted that throws ends it with the handle and without a poll', async () => {
    await using gateway = await listening();
    const cause = new Error('the database is away');

    const error = await failureOf(
      gateway.videos.createAndWait(order, { onSubmitted: () => Promise.reject(cause) }),
    );

    expect(error).toMatchObject({ name: 'VideoWaitError', cause, ref: { v: 1 } });
    expect(countRequests(gateway.emulator)).toEqual({ posts: 1, gets: 0 });
  });

  test('content on another host is fetched without the key', async () => {
    await using gateway = await listening({ quirks: { contentDelivery: 'redirect' } });

    const video = await gateway.videos.createAndWait(order, quick);
    await (await gateway.videos.downloadContent(video)).arrayBuffer();

    const [last, before] = gateway.emulator.requests.toReversed();
    expect([before?.hasKey, last?.hasKey]).toEqual([true, false]);
    expect(last?.origin).not.toBe(before?.origin);
    expect(countRequests(gateway.emulator).posts).toBe(1);
  });

  test('a submission of unknown fate is sent once', async () => {
    await using gateway = await listening();
    const fault = { type: 'reset', when: 'after-charge' } as const;
    gateway.emulator.fail({ operation: 'videos.create', fault });

    const error = await failureOf(gateway.videos.createAndWait(order, quick));

    expect(error).toMatchObject({ name: 'VideoSubmitUnknownError' });
    expect(countRequests(gateway.emulator)).toEqual({ posts: 1, gets: 0 });
  });

  test('many waits end in the order of their tasks', async () => {
    await using gateway = await listening({ videoDuration: 60_000 });
    const tasks = await Promise.all(Array.from({ length: 20 }, () => gateway.videos.create(order)));
    const ended: string[] = [];

    const results = gateway.videos.waitAll(tasks, { interval: 250, maxPollsPerSecond: 500 });
    const wanted = [7, 3, 11].map((index) => tasks[index]?.id ?? '');
    gateway.emulator.videos.complete(wanted[0] ?? '');
    for await (const { video } of results) {
      ended.push(video?.id ?? '');
      const next = wanted[ended.length];
      if (next === undefined) break;
      gateway.emulator.videos.complete(next);
    }

    expect(ended).toEqual(wanted);
    expect(countRequests(gateway.emulator).posts).toBe(20);
  });
});
