import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { videoDownloader, videoJob, videoQueueOptions } from '../../src/adapters/bullmq/index.ts';
import { createEmulator } from '../../src/testing/index.ts';
import { jobOver, openFlows, openPlace, openWorker, places, type OpenPlace } from './queues.ts';
import { bundleWorker, type WorkerProgram } from './workers.ts';

const params = { model: 'm-video', prompt: 'A paper boat' };
const limits = { lockDuration: 1_000, unknownGrace: 1_000, interval: 250 } as const;
/** Settings that keep locks on a busy machine. */
const calm = { ...limits, lockDuration: 30_000 } as const;

const folder = await mkdtemp(join(tmpdir(), 'model-gateway-queues-'));
let program: WorkerProgram;
beforeAll(async () => {
  program = await bundleWorker();
});
afterAll(async () => {
  await program[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const chosen = places({ PostgreSQL: inject('postgresURL'), Redis: inject('redisURL') });

describe.concurrent.each(chosen)('BullMQ on $server', (place) => {
  let open: OpenPlace;
  beforeAll(async () => {
    open = await openPlace(place);
  });
  afterAll(() => open[Symbol.asyncDispose]());

  test('a job is submitted once, polled, and saved', async () => {
    await using emulator = createEmulator({ videoDuration: 600 });
    const { url } = await emulator.listen();
    const name = `plain-${place.server}`;
    const queue = open.queue(name);
    await queue.addBulk([videoJob({ id: 'boat', params }), videoJob({ id: 'boat', params })]);
    const { worker } = open.work(name, {
      ...calm,
      emulator,
      url,
      saveTo: ({ id }) => join(folder, `${place.server}-${id}.mp4`),
    });

    const job = await jobOver(queue, 'boat');
    await worker.close();

    expect(await job.getState()).toBe('completed');
    expect(job.returnvalue).toMatchObject({
      ref: { callId: `${name}:boat` },
      path: join(folder, `${place.server}-boat.mp4`),
    });
    expect(job.progress).toMatchObject({ status: 'completed' });
    expect(job.attemptsMade).toBe(1);
    expect(job.attemptsStarted).toBeGreaterThan(1);
    expect(emulator.charges).toHaveLength(1);
  });

  test('a flow downloads at its own rate, and waits for a video after a failed job', async () => {
    await using emulator = createEmulator({ videoDuration: 0 });
    const { url } = await emulator.listen();
    const [videos, downloads] = [`made-${place.server}`, `downloads-${place.server}`];
    const queue = open.queue(videos);
    const second = open.queue(downloads);
    const flows = openFlows(place);
    emulator.fail({ operation: 'videos.create', fault: { type: 'bare', status: 400 }, times: 1 });
    const ids = ['one', 'two', 'three'];
    await Promise.all(
      ids.map((id) =>
        flows.add({
          name: 'download',
          queueName: downloads,
          opts: { jobId: id },
          children: [{ ...videoJob({ id, params }), queueName: videos }],
        }),
      ),
    );
    const { worker, client } = open.work(videos, { ...calm, emulator, url });
    const times: number[] = [];
    const downloader = videoDownloader(client, {
      async deliver({ stream }) {
        times.push(Date.now());
        return (await new Response(stream).arrayBuffer()).byteLength;
      },
    });
    const slow = openWorker(
      place,
      downloads,
      downloader,
      videoQueueOptions({ maxPerSecond: 2 }).worker,
    );

    const made = await Promise.all(ids.map((id) => jobOver(queue, id)));
    const states = await Promise.all(made.map((job) => job.getState()));
    const refused = made[states.indexOf('failed')];
    expect(states.toSorted()).toEqual(['completed', 'completed', 'failed']);
    await refused?.retry();
    const saved = await Promise.all(ids.map((id) => jobOver(second, id)));
    await Promise.all([worker.close(), slow.close(), flows.close()]);

    expect(saved.map((job) => job.returnvalue)).toEqual(
      ids.map(() => ({ ref: expect.anything(), delivered: expect.any(Number) })),
    );
    const [first = 0, , third = 0] = times;
    expect(third - first).toBeGreaterThanOrEqual(400);
    expect(emulator.charges).toHaveLength(3);
  });

  test('eight workers with the same call submit it once', async () => {
    await using emulator = createEmulator({ videoDuration: 0 });
    const { url } = await emulator.listen();
    const names = Array.from({ length: 8 }, (_, index) => `same-${index}-${place.server}`);
    const made = names.map((name) => open.queue(name));
    emulator.fail({ operation: 'videos.create', fault: { type: 'slow', milliseconds: 300 } });
    const workers = names.map(
      (name) =>
        open.work(name, { ...calm, emulator, url, callId: () => `the-same-${place.server}` })
          .worker,
    );
    await Promise.all(made.map((queue) => queue.addBulk([videoJob({ id: 'boat', params })])));

    const jobs = await Promise.all(made.map((queue) => jobOver(queue, 'boat')));
    await Promise.all(workers.map((worker) => worker.close()));

    const states = await Promise.all(jobs.map((job) => job.getState()));
    expect(new Set(states)).toEqual(new Set(['completed']));
    expect(new Set(jobs.map((job) => job.returnvalue.ref.id)).size).toBe(1);
    expect(emulator.charges).toHaveLength(1);
  });

  test('a worker suspended while it submits loses the job, and continues it', async () => {
    await using emulator = createEmulator({ videoDuration: 0 });
    const { url } = await emulator.listen();
    const name = `late-${place.server}`;
    const queue = open.queue(name);
    await queue.addBulk([videoJob({ id: 'boat', params })]);
    const gateway = { baseURL: url, apiKey: emulator.apiKey };
    // It has claimed the call, and not sent it yet.
    const orders = { ...limits, place, queue: name, gateway, stopAt: 3, how: 'SIGSTOP' } as const;
    const asleep = program.start(orders);
    expect(await asleep.stopped).toMatchObject({ name: 'before fetch' });
    const { worker } = open.work(name, { ...limits, emulator, url });

    const givenUp = await jobOver(queue, 'boat');
    expect(await givenUp.getState()).toBe('failed');
    expect(givenUp.failedReason).toMatch(/job\.retry\(\) continues it\.$/);
    expect(emulator.charges).toHaveLength(0);
    asleep.child.kill('SIGCONT');
    await vi.waitFor(async () => expect((await queue.getJobCounts())['completed']).toBe(1), {
      timeout: 15_000,
      interval: 50,
    });
    await asleep.end();
    await worker.close();

    const job = await queue.getJob('boat');
    const entry = await open.ledger.entry(`${name}:boat`);
    expect(job?.returnvalue.ref).toEqual(entry?.refs[0]);
    expect(emulator.charges).toHaveLength(1);
  });

  test('a worker suspended longer than its lock overwrites nothing', async () => {
    await using emulator = createEmulator({ videoDuration: 1_000 });
    emulator.clock.hold();
    const { url } = await emulator.listen();
    const name = `asleep-${place.server}`;
    const queue = open.queue(name);
    await queue.addBulk([videoJob({ id: 'boat', params })]);
    const gateway = { baseURL: url, apiKey: emulator.apiKey };
    // With the answer to its first poll in its hands.
    const orders = { ...limits, place, queue: name, gateway, stopAt: 12, how: 'SIGSTOP' } as const;
    const asleep = program.start(orders);
    expect(await asleep.stopped).toMatchObject({ name: 'after fetch' });
    const { worker } = open.work(name, { ...limits, emulator, url });
    const polls = async () => (await queue.getJob('boat'))?.data.state?.polls ?? 0;
    await vi.waitFor(async () => expect(await polls()).toBeGreaterThan(2), { timeout: 15_000 });

    const before = await polls();
    asleep.child.kill('SIGCONT');
    const seen: number[] = [];
    await vi.waitUntil(
      async () => {
        seen.push(await polls());
        return (seen.at(-1) ?? 0) > before + 3;
      },
      { timeout: 15_000, interval: 10 },
    );
    await asleep.end();
    emulator.clock.advance(1_000);
    const job = await jobOver(queue, 'boat');
    await worker.close();

    expect(Math.min(...seen)).toBeGreaterThanOrEqual(before);
    expect(await job.getState()).toBe('completed');
    expect(emulator.charges).toHaveLength(1);
  });
});
