import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createEmulator } from '../../../src/testing/index.ts';
import { runFleet } from '../../helpers/fleet.ts';
import {
  bundleWorker,
  makeDespite,
  problemOf,
  runWorker,
  type KillResult,
} from '../../helpers/kill-cases.ts';
import { someOf } from '../../helpers/some-cases.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { countRequests } from '../../helpers/videos.ts';

// Every step and 200 random moments are taken by `test/extended/kill.ts`.
describe('kill -9', () => {
  let program = '';
  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'model-gateway-kill-'));
    program = await bundleWorker(folder);
    return () => rm(folder, { recursive: true });
  });

  const steps = someOf(Array.from({ length: 16 }, (_, index) => 1 + index * 4));

  test(
    'kill -9 between any two steps loses no video and charges none twice',
    { timeout: 120_000 },
    async () => {
      const results: KillResult[] = [];
      const left = [...steps];
      const work = async (): Promise<void> => {
        for (let step = left.shift(); step !== undefined; step = left.shift()) {
          results.push(await makeDespite(program, { step }, 'video'));
        }
      };
      await Promise.all([work(), work(), work(), work()]);

      expect(results.map(problemOf).filter((problem) => problem !== undefined)).toEqual([]);
      expect(results.every(({ runs }) => runs === 2)).toBe(true);
      const completed = results.filter(({ outcome }) => outcome === 'completed');
      expect(completed.length).toBeGreaterThan((steps.length * 10) / 16);
      expect(completed.every(({ posts, isWhole }) => posts === 1 && isWhole)).toBe(true);
    },
  );

  test('kill -9 of processes with the same call lets one submit', { timeout: 60_000 }, async () => {
    const folder = await temporaryFolder();
    const emulator = createEmulator({ videoDuration: 300 });
    onTestFinished(() => emulator[Symbol.asyncDispose]());
    emulator.fail({ operation: 'videos.create', fault: { type: 'slow', milliseconds: 1_000 } });
    const { url } = await emulator.listen();

    const parameters = [url, emulator.apiKey, folder, '0'];
    const runs = await Promise.all([1, 2, 3, 4].map(() => runWorker(program, parameters)));
    const outcomes = runs.map(({ output }): unknown => JSON.parse(output).outcome);

    expect(outcomes.filter((outcome) => outcome === 'completed')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'VideoSubmitUnknownError')).toHaveLength(3);
    expect(countRequests(emulator).posts).toBe(1);
    expect(await readdir(join(folder, 'ledger'))).toHaveLength(1);
  });

  test(
    'processes that download the same video to the same file do not interfere',
    { timeout: 60_000 },
    async () => {
      const folder = await temporaryFolder();
      const emulator = createEmulator({ videoDuration: 300 });
      onTestFinished(() => emulator[Symbol.asyncDispose]());
      const { url } = await emulator.listen();
      const parameters = [url, emulator.apiKey, folder, '0'];
      await runWorker(program, parameters);
      const target = join(folder, 'out.mp4');
      await rm(target);
      emulator.quirks.contentRange = 'honoured';
      const fault = { type: 'drip', milliseconds: 50, bytes: 256 } as const;
      emulator.fail({ operation: 'videos.downloadContent', fault, times: 9 });

      const runs = await Promise.all([1, 2, 3].map(() => runWorker(program, parameters)));

      const outcomes = runs.map(({ output }): unknown => JSON.parse(output).outcome);
      expect(outcomes).toEqual(Array(3).fill('completed'));
      const [video] = emulator.videos.list;
      const content = await emulator.videos.content(video?.id ?? '');
      expect((await readFile(target)).equals(content)).toBe(true);
      expect((await readdir(folder)).toSorted()).toEqual(['ledger', 'out.mp4']);
      expect(countRequests(emulator).posts).toBe(1);
    },
  );
});

describe('processes that place the same orders pay each once', () => {
  test('processes pay each order once and send it, however few descriptors they have', async () => {
    const fleet = { orders: 120, workers: 2, descriptors: 60 };

    expect(await runFleet(fleet)).toMatchObject({
      paid: 120,
      charges: 120,
      unsent: 0,
      lost: 0,
      wrong: 0,
    });
  });

  // More kills, and a fleet of two versions, are in `test/extended/fleet.ts`.
  test('processes pay each order once while some of them are killed', async () => {
    const { killed, paid, charges, unsent, lost, wrong } = await runFleet({
      orders: 100,
      workers: 3,
      kills: 12,
    });

    expect({ killed, charges, wrong }).toEqual({ killed: 12, charges: paid, wrong: 0 });
    expect(paid + unsent).toBe(100);
    // A worker has six orders at a time, and nobody may send again what it was killed with.
    expect(unsent + lost).toBeLessThanOrEqual(6 * killed);
  });
});
