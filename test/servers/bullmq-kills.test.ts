import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { videoJob } from '../../src/adapters/bullmq/index.ts';
import { createEmulator } from '../../src/testing/index.ts';
import { jobOver, openPlace, places, type OpenPlace } from './queues.ts';
import { bundleWorker, type WorkerProgram } from './workers.ts';

/** A video whose first worker was killed. */
interface KillResult {
  readonly step: number;
  /** The step at which it was killed. */
  readonly at: string;
  readonly state: string;
  readonly charges: number;
  /** True if the ledger has its task. */
  readonly isKnown: boolean;
}

const limits = { lockDuration: 1_000, unknownGrace: 1_000, interval: 250 } as const;

/** Kills a worker at each step that a video takes, with a new video for each, and has another go on. */
async function killAtEachStep(place: OpenPlace, program: WorkerProgram): Promise<KillResult[]> {
  await using emulator = createEmulator({ videoDuration: 100 });
  const { url } = await emulator.listen();
  const gateway = { baseURL: url, apiKey: emulator.apiKey };
  const add = async (step: number) => {
    const queue = place.queue(`killed-${step}`);
    const model = `m-video-${step}`;
    await queue.addBulk([videoJob({ id: 'boat', params: { model, prompt: 'A paper boat' } })]);
    return { ...limits, place: place.place, queue: queue.name, gateway };
  };
  const whole = program.start(await add(0));
  await jobOver(place.queue('killed-0'), 'boat');
  await expect.poll(() => whole.steps).toBeGreaterThan(15);
  await whole.end();

  const left = Array.from({ length: whole.steps }, (_, index) => index + 1);
  const results: KillResult[] = [];
  const tryNext = async (): Promise<void> => {
    for (let step = left.shift(); step !== undefined; step = left.shift()) {
      const orders = await add(step);
      const killed = program.start({ ...orders, stopAt: step });
      const { name: at } = (await killed.stopped) ?? { name: 'nowhere' };
      await killed.end();
      const other = place.work(orders.queue, { ...limits, emulator, url });
      const state = await (await jobOver(place.queue(orders.queue), 'boat', 60_000)).getState();
      await other.worker.close();
      const entry = await place.ledger.entry(`${orders.queue}:boat`);
      const charges = emulator.charges.filter(({ model }) => model === `m-video-${step}`).length;
      results.push({ step, at, state, charges, isKnown: entry?.refs.length === 1 });
    }
  };
  await Promise.all(Array.from({ length: 8 }, tryNext));
  return results;
}

const chosen = places({ PostgreSQL: inject('postgresURL'), Redis: inject('redisURL') });

test(
  'workers killed at any step are charged once and lose nothing',
  { timeout: 120_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'model-gateway-kills-'));
    await using program = await bundleWorker();
    const all = chosen.map(async (place) => {
      await using open = await openPlace(place);
      const results = await killAtEachStep(open, program);
      const unknown = results.filter(({ state }) => state === 'failed').map(({ at }) => at);
      console.log(
        `${place.server}: killed at ${results.length} steps; left unknown: ${unknown.join(', ')}`,
      );
      return results;
    });
    const results = (await Promise.all(all)).flat();
    await rm(folder, { recursive: true, force: true });

    expect(results.filter(({ charges }) => charges > 1)).toEqual([]);
    expect(results.filter(({ at }) => at === 'nowhere')).toEqual([]);
    // Unknown outcomes are reported as unknown, known tasks are completed.
    expect(results.filter(({ state, isKnown }) => (state === 'completed') !== isKnown)).toEqual([]);
    const unknown = results.filter(({ state }) => state !== 'completed');
    expect(
      unknown.filter(
        ({ at }) => !/^(after claim|before fetch|after fetch|before accept)$/.test(at),
      ),
    ).toEqual([]);
    expect(unknown.length).toBeLessThanOrEqual(4 * chosen.length);
  },
);
