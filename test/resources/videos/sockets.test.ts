import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { Gateway } from '../../../src/index.ts';
import type { VideoCreateAndWaitOptions } from '../../../src/resources/videos/wait-options.ts';
import {
  createEmulator,
  type Emulator,
  type EmulatorOptions,
  type FaultRule,
} from '../../../src/testing/index.ts';
import { countRequests, order } from '../../helpers/videos.ts';
import { failureOf } from '../../helpers/clients.ts';

// Other tests of waits use fake timers and a `fetch` in memory; these use real sockets in real time.

/** The shortest interval, without retries of a poll, whose limit even a busy machine meets. */
const quick: VideoCreateAndWaitOptions = { interval: 250, maxRetries: 0, pollTimeout: 2_000 };

/** An emulator that listens on a port, and its client's `videos`. */
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
  test.each<{ readonly response: string; readonly fault: FaultRule['fault'] }>([
    { response: 'a reset connection', fault: { type: 'reset', when: 'before-body' } },
    { response: 'no response', fault: { type: 'hang' } },
    { response: 'a body that stalls', fault: { type: 'stall', bytes: 5 } },
  ])('a wait on a real socket continues after two polls with $response', async ({ fault }) => {
    await using gateway = await listening();
    failPolls(gateway.emulator, fault, 2);

    const video = await gateway.videos.createAndWait(order, quick);

    expect(video.status).toBe('completed');
    expect(countRequests(gateway.emulator).posts).toBe(1);
    expect(gateway.emulator.charges).toHaveLength(1);
  });

  test('a wait on a real socket continues once the gateway is back', async () => {
    await using emulator = createEmulator({ videoDuration: 100 });
    const port = await freePort();
    const server = await emulator.listen(port);
    const { videos } = new Gateway({ apiKey: emulator.apiKey, baseURL: server.url });
    const { ref } = await videos.create(order);
    await server.close();

    const waiting = videos.wait(ref, quick);
    await new Promise((resolve) => {
      setTimeout(resolve, 600);
    });
    await emulator.listen(port);

    expect((await waiting).status).toBe('completed');
    expect(countRequests(emulator).posts).toBe(1);
  });

  test('an abort ends the pause between two polls', async () => {
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

  test('an abort ends a pending poll', async () => {
    await using gateway = await listening({ videoDuration: 60_000 });
    failPolls(gateway.emulator, { type: 'hang' });
    const controller = new AbortController();
    const { signal } = controller;
    const options = { interval: 250, pollTimeout: 20_000, signal };

    const ended = failureOf(gateway.videos.createAndWait(order, options));
    await expect.poll(() => countRequests(gateway.emulator).gets).toBe(1);
    controller.abort();
    const error = await ended;

    expect(error).toMatchObject({ name: 'VideoWaitAbortedError' });
    expect(countRequests(gateway.emulator)).toEqual({ posts: 1, gets: 1 });
  });

  test('a second wait completes a task after a wait that timed out', async () => {
    await using gateway = await listening({ videoDuration: 60_000 });
    const error = await failureOf(gateway.videos.createAndWait(order, { ...quick, timeout: 300 }));

    expect(error).toMatchObject({ name: 'VideoWaitTimeoutError' });
    const ref: unknown = Reflect.get(Object(error), 'ref');
    const stored = JSON.parse(JSON.stringify(ref));
    for (const { id } of gateway.emulator.videos.list) gateway.emulator.videos.complete(id);
    expect((await gateway.videos.wait(stored, quick)).status).toBe('completed');
    expect(countRequests(gateway.emulator).posts).toBe(1);
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

  test('waitAll() yields videos in the order in which they complete', async () => {
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
