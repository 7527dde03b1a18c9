import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { createEmulator } from '../../../src/testing/index.ts';
import { bundleWorker, runWorker } from '../../helpers/kill-cases.ts';

/** Makes images with a program that is killed at a step, and started again until it ends by itself. */
async function makeImagesDespite(program: string, step: number) {
  const folder = await mkdtemp(join(tmpdir(), 'model-gateway-kill-'));
  await using emulator = createEmulator({ quirks: { imageTasks: 'list', imageTaskTime: 300 } });
  const { url } = await emulator.listen();
  try {
    const parameters = (at: number) => [url, emulator.apiKey, folder, String(at), 'image'];
    const first = await runWorker(program, parameters(step));
    const last = first.isKilled ? await runWorker(program, parameters(0)) : first;
    const { outcome }: { outcome: string } = JSON.parse(last.output);
    const posts = emulator.requests.filter(({ method }) => method === 'POST').length;
    return { step, isKilled: first.isKilled, outcome, posts, charges: emulator.charges.length };
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe('kill -9', () => {
  let program = '';
  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'model-gateway-kill-'));
    program = await bundleWorker(folder);
    return () => rm(folder, { recursive: true });
  });

  test(
    'between any two steps loses no image task and charges none twice',
    { timeout: 120_000 },
    async () => {
      const left = Array.from({ length: 12 }, (_, index) => 1 + index * 3);
      const results: Awaited<ReturnType<typeof makeImagesDespite>>[] = [];
      const work = async (): Promise<void> => {
        for (let step = left.shift(); step !== undefined; step = left.shift()) {
          results.push(await makeImagesDespite(program, step));
        }
      };
      await Promise.all([work(), work(), work()]);

      expect(results.every(({ isKilled }) => isKilled)).toBe(true);
      expect(results.filter(({ posts, charges }) => posts > 1 || charges > 1)).toEqual([]);
      const others = results.filter(({ outcome }) => outcome !== 'completed');
      expect(new Set(others.map(({ outcome }) => outcome)).size).toBeLessThanOrEqual(1);
      for (const { outcome } of others) expect(outcome).toBe('ImageSubmitUnknownError');
      expect(results.length - others.length).toBeGreaterThan(5);
    },
  );
});
