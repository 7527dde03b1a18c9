import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { bundleWorker, type KillResult, makeDespite, problemOf } from '../../helpers/kill-cases.ts';
import { someOf } from '../../helpers/some-cases.ts';

// Every step and random moments are taken by `test/extended/kill.ts --kind image`.
describe('kill -9', () => {
  let program = '';
  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'model-gateway-kill-'));
    program = await bundleWorker(folder);
    return () => rm(folder, { recursive: true });
  });

  test(
    'kill -9 between any two steps loses no image task and charges none twice',
    { timeout: 120_000 },
    async () => {
      const steps = someOf(Array.from({ length: 12 }, (_, index) => 1 + index * 3));
      const left = [...steps];
      const results: KillResult[] = [];
      const work = async (): Promise<void> => {
        for (let step = left.shift(); step !== undefined; step = left.shift()) {
          results.push(await makeDespite(program, { step }, 'image'));
        }
      };
      await Promise.all([work(), work(), work()]);

      expect(results.map(problemOf).filter((problem) => problem !== undefined)).toEqual([]);
      expect(results.every(({ runs }) => runs === 2)).toBe(true);
      const completed = results.filter(({ outcome }) => outcome === 'completed');
      expect(completed.length).toBeGreaterThan((steps.length * 5) / 12);
      expect(completed.every(({ posts, isWhole }) => posts === 1 && isWhole)).toBe(true);
    },
  );
});
