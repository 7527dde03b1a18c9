import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { postgresLedger } from '../../src/adapters/ledgers/postgres.ts';
import { redisLedger } from '../../src/adapters/ledgers/redis.ts';
import { createEmulator, type Emulator } from '../../src/testing/index.ts';
import type { SubmitLedger } from '../../src/index.ts';
import { failureOf } from '../helpers/clients.ts';
import { order, videosOf } from '../helpers/videos.ts';
import { newPrefix, newTable, sharedPool } from './ledgers.ts';
import { startPostgres } from './postgres.ts';
import { isPassing, Worker, type JobResult, type WorkerSettings } from './ledger-workers.ts';

const pool = sharedPool();
const lease = 1_000;

/** A gateway of its own, and a ledger on a server that all tests share. */
async function world(kind: WorkerSettings['kind']) {
  const emulator = createEmulator({ videoDuration: 300 });
  const server = await emulator.listen();
  onTestFinished(() => server.close());
  const settings = { gateway: server.url, apiKey: emulator.apiKey, kind, lease, killAt: 0 };
  if (kind === 'postgres') {
    const table = newTable();
    const ledger = postgresLedger(pool, { table, lease });
    await ledger.migrate();
    return { emulator, ledger, settings: { ...settings, url: inject('postgresURL'), name: table } };
  }
  const prefix = newPrefix();
  const client = new Redis(inject('redisURL'));
  onTestFinished(() => client.disconnect());
  const ledger = redisLedger(client, { prefix, lease });
  return { emulator, ledger, settings: { ...settings, url: inject('redisURL'), name: prefix } };
}

/** Makes a video with a worker that is killed once, and others after it until its end is known. */
async function makeDespite(settings: WorkerSettings): Promise<JobResult> {
  for (let killAt = settings.killAt; ; killAt = 0) {
    const worker = await Worker.start({ ...settings, killAt });
    const result = await worker.make('job');
    await worker.stop();
    if (!isPassing(result)) return result;
    if (result.isInProgress === true) await pause(200);
  }
}

/** Has a worker make the video again and again, until its end is known. */
async function makeUntilKnown(worker: Worker): Promise<JobResult> {
  for (;;) {
    const result = await worker.make('job');
    if (!isPassing(result)) return result;
    await pause(50);
  }
}

/** A worker that sleeps with its request under way, until its lease has run out. */
async function asleep(kind: WorkerSettings['kind']) {
  const given = await world(kind);
  const { emulator, ledger, settings } = given;
  emulator.fail({ operation: 'videos.create', fault: { type: 'slow', milliseconds: 1_500 } });
  const worker = await Worker.start(settings);
  onTestFinished(() => worker.stop());
  const made = worker.make('job');
  await expect.poll(() => emulator.requests.length, { timeout: 10_000 }).toBe(1);
  worker.signal('SIGSTOP');
  const isAlive = async () => Reflect.get(Object(await ledger.entry('job')), 'isAlive');
  await expect.poll(isAlive, { timeout: 10_000 }).toBe(false);
  const videos = videosOf({ apiKey: emulator.apiKey, baseURL: settings.gateway });
  return { ...given, worker, made, videos };
}

/** Describes the fault: a video paid for twice, lost, or treated as never submitted. */
async function findProblem(
  emulator: Emulator,
  ledger: SubmitLedger,
  { outcome, id }: JobResult,
): Promise<string | undefined> {
  const { charges } = emulator;
  const entry = await ledger.entry('job');
  const known = entry?.refs.map((ref) => ref.id) ?? [];
  if (charges.length > 1) return 'it was paid for twice';
  if (charges.length === 1 && entry === undefined) return 'it was paid for, and counts as new';
  if (outcome === 'VideoSubmitUnknownError') {
    return known.length > 0 ? 'it was given up, though its task is known' : undefined;
  }
  if (outcome !== 'completed') return `it ended with ${outcome}`;
  const isKnown = known.length === 1 && known[0] === id && charges[0]?.taskId === id;
  return isKnown ? undefined : 'its task is not the one of the ledger';
}

const kinds: readonly WorkerSettings['kind'][] =
  inject('redisURL') === '' ? ['postgres'] : ['postgres', 'redis'];

describe.each(kinds)('workers with a ledger of %s', (kind) => {
  test(
    'killed at every step are charged for one video, and lose none',
    { timeout: 120_000 },
    async () => {
      const plain = await world(kind);
      const { steps, outcome } = await makeDespite(plain.settings);
      expect({ outcome, areSteps: steps > 10 }).toEqual({ outcome: 'completed', areSteps: true });

      const left = Array.from({ length: steps }, (_, index) => index + 1);
      const outcomes: string[] = [];
      const problems: string[] = [];
      const tryNext = async (): Promise<void> => {
        for (let killAt = left.shift(); killAt !== undefined; killAt = left.shift()) {
          const { emulator, ledger, settings } = await world(kind);
          const result = await makeDespite({ ...settings, killAt });
          const problem = await findProblem(emulator, ledger, result);
          outcomes.push(result.outcome);
          if (problem !== undefined) problems.push(`at step ${killAt}: ${problem}`);
        }
      };
      await Promise.all([tryNext(), tryNext(), tryNext()]);

      expect(problems).toEqual([]);
      // Those that were killed between the claim and the entry of the task: after the one, around the
      // request, when the task is reported, and before the other. How many steps follow hangs on the clock.
      const unknown = outcomes.filter((name) => name === 'VideoSubmitUnknownError').length;
      expect(unknown).toBeGreaterThan(0);
      expect(unknown).toBeLessThanOrEqual(5);
      expect(outcomes.filter((name) => name === 'completed')).toHaveLength(steps - unknown);
    },
  );

  test('workers submit a call of eight workers once, and all receive its video', async () => {
    const { emulator, settings } = await world(kind);
    emulator.fail({ operation: 'videos.create', fault: { type: 'slow', milliseconds: 300 } });
    const workers = await Promise.all(Array.from({ length: 8 }, () => Worker.start(settings)));
    const results = await Promise.all(workers.map(makeUntilKnown));
    await Promise.all(workers.map((worker) => worker.stop()));

    expect(emulator.charges).toHaveLength(1);
    const ids = results.map(({ outcome, id }) => `${outcome} ${id}`);
    expect(new Set(ids)).toEqual(new Set([`completed ${emulator.charges[0]?.taskId}`]));
  });

  describe('a worker suspended longer than its lease while it submits', () => {
    const params = { ...order, prompt: 'job', seconds: 1, size: '64x64' } as const;

    test('a suspended worker keeps its claim, and its late response counts', async () => {
      const { emulator, ledger, worker, made, videos } = await asleep(kind);

      const error = await failureOf(videos.create(params, { ledger, callId: 'job' }));
      worker.signal('SIGCONT');
      const { outcome, id } = await made;
      const found = await videos.create(params, { ledger, callId: 'job' });

      expect(error).toMatchObject({ name: 'VideoSubmitUnknownError', isInProgress: false });
      expect({ outcome, id }).toEqual({ outcome: 'completed', id: found.id });
      expect(emulator.charges).toHaveLength(1);
    });

    test("a suspended worker and one that takes over don't affect each other: both tasks are kept", async () => {
      const { emulator, ledger, worker, made, videos } = await asleep(kind);

      const options = { ledger, callId: 'job', onUnknown: 'resubmit' } as const;
      const second = await videos.create(params, options);
      worker.signal('SIGCONT');
      const { outcome, id } = await made;
      const entry = await ledger.entry('job');

      expect(outcome).toBe('completed');
      expect(entry).toMatchObject({ status: 'accepted', ref: { id: second.id } });
      const ids = entry?.refs.map((ref) => ref.id);
      expect(ids).toEqual([second.id, id]);
      expect(new Set(emulator.charges.map(({ taskId }) => taskId))).toEqual(new Set(ids));
      expect(emulator.charges).toHaveLength(2);
    });
  });
});

test('a restart of PostgreSQL has no effect', async () => {
  await using server = await startPostgres();
  const restarted = new Pool({ connectionString: server.url });
  restarted.on('error', () => {});
  onTestFinished(() => restarted.end());
  const emulator = createEmulator({ videoDuration: 0 });
  const { apiKey, baseURL, fetch } = emulator;
  const videos = videosOf({ apiKey, baseURL, fetch });
  const ledger = postgresLedger(restarted);
  await ledger.migrate();
  const callIds = Array.from({ length: 60 }, (_, index) => `job-${index}`);
  const left = [...callIds];
  const made: string[] = [];
  const make = async (): Promise<void> => {
    for (let callId = left.shift(); callId !== undefined; callId = left.shift()) {
      const { id } = await videos.create({ ...order, prompt: callId }, { ledger, callId });
      made.push(`${callId} ${id}`);
    }
  };
  const restart = async (how: 'crash' | 'close'): Promise<void> => {
    await server.stop(how);
    await server.start();
  };

  const working = Promise.all([make(), make(), make(), make()]);
  await expect.poll(() => made.length).toBeGreaterThan(8);
  await restart('crash');
  await expect.poll(() => made.length).toBeGreaterThan(30);
  await restart('close');
  await working;

  const paid = emulator.videos.list.map(({ prompt, id }) => `${prompt} ${id}`);
  expect(paid.toSorted()).toEqual(made.toSorted());
  expect(new Set(paid.map((line) => line.split(' ')[0])).size).toBe(callIds.length);
  expect(emulator.charges).toHaveLength(callIds.length);
});
