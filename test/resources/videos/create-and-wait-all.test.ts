import { describe, expect, test, vi } from 'vitest';
import { memoryLedger } from '../../../src/tasks/ledger.ts';
import type {
  VideoCreateAndWaitAllOptions,
  VideoCreateAndWaitResult,
} from '../../../src/resources/videos/wait-options.ts';
import type { VideoCreateParams } from '../../../src/resources/videos/types.ts';
import type { Videos } from '../../../src/resources/videos/videos.ts';
import { untyped } from '../../helpers/untyped.ts';
import { countRequests, emulatedVideos, minute, order } from '../../helpers/videos.ts';
import { fakeWaitingTime, rejected, resolved } from '../../helpers/fake-time.ts';

fakeWaitingTime();

const orders = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ ...order, prompt: `boat ${index}` }));

async function collectResults(
  videos: Videos,
  params: Iterable<VideoCreateParams>,
  options: VideoCreateAndWaitAllOptions = {},
) {
  const results: VideoCreateAndWaitResult[] = [];
  for await (const result of videos.createAndWaitAll(params, options)) results.push(result);
  return results.toSorted((one, other) => one.index - other.index);
}

describe('videos.createAndWaitAll()', () => {
  test('submits each once and waits for all, with limited concurrency', async () => {
    const { emulator, videos } = emulatedVideos({}, { videoDuration: 20_000 });
    let running = 0;
    let most = 0;
    const seen: string[] = [];
    const options: VideoCreateAndWaitAllOptions = {
      concurrency: 3,
      onSubmitted: ({ id }, index) => {
        running += 1;
        most = Math.max(most, running);
        seen[index] = id;
      },
      onProgress: () => {
        running -= 1;
      },
    };

    const results = await resolved(collectResults(videos, orders(8), options));

    expect(results.map(({ video }) => video?.status)).toEqual(Array(8).fill('completed'));
    expect(results.map(({ ref }) => ref?.id)).toEqual(seen);
    expect(results.map(({ video }) => video?.id)).toEqual(seen);
    expect(results.map(({ params }) => params)).toEqual(orders(8));
    expect(most).toBe(3);
    expect(emulator.charges).toHaveLength(8);
  });

  test('an error is the result of its video, and others continue', async () => {
    const { emulator, videos } = emulatedVideos({}, { videoDuration: 20_000 });
    emulator.fail({ fault: { type: 'error', status: 500 }, times: 1 });
    const options: VideoCreateAndWaitAllOptions = {
      concurrency: 1,
      onSubmitted: ({ id }, index) => {
        if (index === 1) emulator.videos.fail(id, 'No.');
      },
    };

    const results = await resolved(collectResults(videos, orders(3), options));

    expect(results).toMatchObject([
      { error: { status: 500, outcome: 'unknown' } },
      { error: { name: 'VideoFailedError', reason: 'No.' }, ref: { kind: 'video' } },
      { video: { status: 'completed' }, ref: { kind: 'video' } },
    ]);
    expect(results[0]).not.toHaveProperty('ref');
    expect(countRequests(emulator).posts).toBe(3);
  });

  test('all polls share one limit', async () => {
    const { emulator, videos } = emulatedVideos({}, { videoDuration: 30_000 });

    await resolved(collectResults(videos, orders(20), { concurrency: 20, maxPollsPerSecond: 2 }));

    const perSecond = new Map<number, number>();
    for (const { method, at } of emulator.requests) {
      if (method !== 'GET') continue;
      const second = Math.floor(at / 1_000);
      perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
    }
    expect(perSecond.size).toBeGreaterThan(5);
    expect(Math.max(...perSecond.values())).toBeLessThanOrEqual(2);
  });

  test('continues the tasks of an earlier run with a ledger', async () => {
    const { emulator, videos } = emulatedVideos({}, { videoDuration: 20_000 });
    const controller = new AbortController();
    const common = { ledger: memoryLedger(), callId: 'night', concurrency: 1 };
    const options: VideoCreateAndWaitAllOptions = {
      ...common,
      signal: controller.signal,
      onSubmitted: (_, index) => {
        if (index === 2) controller.abort();
      },
    };

    const first = await resolved(collectResults(videos, orders(5), options));
    const paid = emulator.charges.length;
    const second = await resolved(collectResults(videos, orders(5), common));

    expect(first.filter(({ error }) => error !== undefined)).not.toHaveLength(0);
    expect(paid).toBeLessThan(5);
    expect(second.map(({ video }) => video?.status)).toEqual(Array(5).fill('completed'));
    expect(emulator.charges).toHaveLength(5);
    for (const { index, ref } of first) {
      if (ref !== undefined) expect(second[index]?.ref?.id).toBe(ref.id);
    }
  });

  test('leaving the loop stops all waits and submits no more', async () => {
    const { emulator, videos } = emulatedVideos({}, { videoDuration: 20_000 });
    const leave = async (): Promise<void> => {
      for await (const { video } of videos.createAndWaitAll(orders(9), { concurrency: 3 })) {
        if (video !== undefined) break;
      }
    };

    await resolved(leave());
    const sent = emulator.requests.length;
    await vi.advanceTimersByTimeAsync(minute);

    expect(emulator.requests).toHaveLength(sent);
    expect(emulator.charges.length).toBeLessThan(9);
  });

  test.each<{ field: string; params: unknown; options: object }>([
    { field: 'params', params: order, options: {} },
    { field: 'params[1].prompt', params: [order, { ...order, prompt: ' ' }], options: {} },
    { field: 'params[0].model', params: [{ prompt: 'A boat' }], options: {} },
  ])('rejects an invalid $field before anything is sent', async ({ field, params, options }) => {
    const { emulator, videos } = emulatedVideos();
    const given = untyped<VideoCreateParams[]>(params);

    expect(await rejected(collectResults(videos, given, options))).toMatchObject({ field });
    expect(emulator.requests).toHaveLength(0);
  });
});
