import { describe, expect, test } from 'vitest';
import { json, scripted } from '../helpers/clients.ts';
import { coverSource } from '../helpers/entered.ts';
import { fakeWaitingTime, resolved } from '../helpers/fake-time.ts';

/*
 * The named functions of this package that a call enters. It makes three requests, and a request alone enters about
 * 170.
 */

fakeWaitingTime();

const takeEntries = coverSource();

const submitted = json({ id: 'task_1', task_id: 'task_1', status: 'queued' });
const running = json({ id: 'task_1', status: 'running' });
const done = json({ id: 'task_1', status: 'completed', data: [{ url: 'https://cdn.test/a.png' }] });

describe.each([
  ['videos.createAndWait()', 'video'],
  ['images.generate()', 'image'],
] as const)('%s', (_, kind) => {
  test('enters at most 365 named functions and checks the options of its three requests once', async () => {
    const answers = [submitted, running, done];
    const { client, requests } = scripted([
      () => answers[(requests.length - 1) % answers.length]?.() ?? Response.error(),
    ]);
    const run = async (): Promise<void> => {
      const params = { model: 'm', prompt: 'A paper boat' };
      const options = { maxRetries: 1 };
      const call =
        kind === 'video'
          ? client.videos.createAndWait(params, options)
          : client.images.generate(params, options);
      await resolved<unknown>(call);
    };
    await run();
    await takeEntries();
    await run();
    const entries = await takeEntries();

    expect(entries.size).toBeGreaterThan(200);
    expect(entries.size).toBeLessThanOrEqual(365);
    const checks = [...entries].filter(([name]) => /resolve\.ts checkOptions /.test(name));
    expect(checks.map(([, count]) => count)).toEqual([1]);
    expect(requests).toHaveLength(6);
  });
});
