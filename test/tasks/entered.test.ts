import inspector from 'node:inspector/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { json, scripted } from '../helpers/clients.ts';
import { fakeWaitingTime, resolved } from '../helpers/fake-time.ts';

/*
 * The named functions of this package that a call enters. It makes three requests, and a request alone enters about
 * 170.
 */

fakeWaitingTime();

const session = new inspector.Session();

beforeAll(async () => {
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
});

afterAll(async () => {
  await session.post('Profiler.stopPreciseCoverage');
  session.disconnect();
});

/** Returns how often each function of `src` was entered since the last call. */
async function takeEntries(): Promise<ReadonlyMap<string, number>> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const entries = new Map<string, number>();
  for (const { url, functions } of result) {
    const [, file] = url.split('/src/');
    if (file === undefined) continue;
    for (const { functionName, ranges } of functions) {
      const [{ startOffset, count } = { startOffset: 0, count: 0 }] = ranges;
      // Without a name are files, and the functions by which Vite exports.
      if (count > 0 && functionName !== '')
        entries.set(`${file} ${functionName} ${startOffset}`, count);
    }
  }
  return entries;
}

const submitted = json({ id: 'task_1', task_id: 'task_1', status: 'queued' });
const running = json({ id: 'task_1', status: 'running' });
const done = json({ id: 'task_1', status: 'completed', data: [{ url: 'https://cdn.test/a.png' }] });

describe.each([
  ['videos.createAndWait()', 'video'],
  ['images.generate()', 'image'],
] as const)('%s', (_, kind) => {
  test('enters at most 340 named functions and checks the options of its three requests once', async () => {
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
    expect(entries.size).toBeLessThanOrEqual(340);
    const checks = [...entries].filter(([name]) => /resolve\.ts checkOptions /.test(name));
    expect(checks.map(([, count]) => count)).toEqual([1]);
    expect(requests).toHaveLength(6);
  });
});
