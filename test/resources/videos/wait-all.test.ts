import { describe, expect, test, vi } from 'vitest';
import type {
  VideoWaitAllOptions,
  VideoWaitResult,
} from '../../../src/resources/videos/wait-options.ts';
import type { VideoTaskLike } from '../../../src/resources/videos/types.ts';
import type { Videos } from '../../../src/resources/videos/videos.ts';
import { untyped } from '../../helpers/untyped.ts';
import {
  answeredVideos,
  countRequests,
  emulatedVideos,
  minute,
  order,
} from '../../helpers/videos.ts';
import { fakeWaitingTime, rejected, resolved } from '../../helpers/fake-time.ts';

fakeWaitingTime();

async function collectResults(
  videos: Videos,
  tasks: Iterable<VideoTaskLike>,
  options: VideoWaitAllOptions = {},
) {
  const results: (VideoWaitResult & { at: number })[] = [];
  const begun = Date.now();
  for await (const result of videos.waitAll(tasks, options)) {
    results.push({ ...result, at: Date.now() - begun });
  }
  return results;
}

/** Videos whose every task is done after so many seconds, counted from now. */
function timedVideos(seconds: (id: string) => number) {
  const begun = Date.now();
  const times: number[] = [];
  const { videos, requests } = answeredVideos((request) => {
    const id = new URL(request.url).pathname.split('/').at(-1) ?? '';
    times.push(Date.now() - begun);
    const isDone = Date.now() - begun >= seconds(id) * 1_000;
    return Response.json({ id, status: isDone ? 'done' : 'running' });
  });
  return { videos, requests, times };
}

describe('videos.waitAll()', () => {
  test('yields every task as soon as it has ended', async () => {
    const { videos } = timedVideos(Number);

    const results = await resolved(collectResults(videos, ['60', '20', '40', '1']));

    expect(results.map(({ task }) => task)).toEqual(['1', '20', '40', '60']);
    expect(results.map(({ index }) => index)).toEqual([3, 1, 2, 0]);
    expect(results.map(({ video }) => video?.status)).toEqual(Array(4).fill('completed'));
    for (const { task, at } of results) {
      expect(at).toBeGreaterThanOrEqual(Number(task) * 1_000);
      expect(at).toBeLessThan(Number(task) * 1_000 + 11_000);
    }
  });

  test('an error is the result of its task, and others continue', async () => {
    const { emulator, videos } = emulatedVideos({}, { videoDuration: 20_000 });
    const [failed, gone, fine] = await Promise.all([1, 2, 3].map(() => videos.create(order)));
    if (failed === undefined || gone === undefined || fine === undefined) throw new Error('none');
    emulator.videos.fail(failed.id, 'No.');
    emulator.videos.forget(gone.id);
    const foreign = { ...fine.ref, baseURL: 'https://other.test' };
    const tasks = [failed, gone, fine.ref, '..', untyped<string>(7), foreign];

    const results = await resolved(collectResults(videos, tasks));

    const byIndex = results.toSorted((one, other) => one.index - other.index);
    expect(byIndex).toMatchObject([
      { error: { name: 'VideoFailedError', reason: 'No.' } },
      { error: { name: 'VideoWaitError', ref: gone.ref } },
      { video: { id: fine.id, status: 'completed' }, task: fine.ref },
      { error: { field: 'id' } },
      { error: { field: 'id' } },
      { error: { field: 'ref.baseURL' } },
    ]);
    expect(countRequests(emulator).posts).toBe(3);
  });

  test('respects the limit of polls per second, and polls all tasks in turn', async () => {
    const { videos, times, requests } = timedVideos(() => 100);
    const tasks = Array.from({ length: 200 }, (_, index) => `${index}`);

    await resolved(collectResults(videos, tasks, { maxPollsPerSecond: 5 }));

    const perSecond = new Map<number, number>();
    for (const time of times) {
      const second = Math.floor(time / 1_000);
      perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
    }
    expect(Math.max(...perSecond.values())).toBeLessThanOrEqual(5);
    const first = requests.slice(0, 200).map(({ url }) => url);
    expect(new Set(first).size).toBe(200);
  });

  test('10 polls in a second are the default', async () => {
    const { videos, times } = timedVideos(() => 0);

    await resolved(collectResults(videos, Array(50).fill('a')));

    expect(times.slice(0, 3)).toEqual([0, 100, 200]);
    expect(times.at(-1)).toBe(4_900);
  });

  test('the time limit applies to each task, which is polled once more', async () => {
    const { videos, requests } = timedVideos((id) => (id === 'late' ? 61 : 10_000));

    const results = await resolved(
      collectResults(videos, ['late', 'a', 'b'], { timeout: minute, interval: 50_000 }),
    );

    expect(results.filter(({ error }) => error !== undefined)).toHaveLength(3);
    expect(results[0]).toMatchObject({ error: { name: 'VideoWaitTimeoutError' } });
    expect(requests).toHaveLength(9);
  });

  test('an abort is the result of every unfinished task', async () => {
    const { videos } = timedVideos((id) => (id === 'quick' ? 0 : 10_000));
    const controller = new AbortController();
    const { signal } = controller;
    setTimeout(() => controller.abort(), 20_000);

    const results = await resolved(collectResults(videos, ['quick', 'a', 'b'], { signal }));

    expect(results).toMatchObject([
      { video: { id: 'quick' } },
      { error: { name: 'VideoWaitAbortedError', ref: { id: 'a' } } },
      { error: { name: 'VideoWaitAbortedError', ref: { id: 'b' } } },
    ]);
  });

  test('adds one listener for any number of tasks, and removes it', async () => {
    const { videos } = timedVideos(() => 10);
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, 'addEventListener');
    const removed = vi.spyOn(signal, 'removeEventListener');
    const warnings = vi.spyOn(process, 'emitWarning');
    const tasks = Array.from({ length: 100 }, (_, index) => `${index}`);

    await resolved(collectResults(videos, tasks, { signal, maxPollsPerSecond: 1_000 }));

    expect(added).toHaveBeenCalledTimes(1);
    expect(removed).toHaveBeenCalledTimes(1);
    expect(warnings).not.toHaveBeenCalled();
  });

  test('leaving the loop stops all waits', async () => {
    const { videos, requests } = timedVideos((id) => (id === 'quick' ? 0 : 10_000));

    const leave = async () => {
      for await (const { video } of videos.waitAll(['a', 'quick', 'b'])) {
        if (video !== undefined) break;
      }
    };
    await resolved(leave());
    const sent = requests.length;
    await vi.advanceTimersByTimeAsync(minute);

    expect(requests).toHaveLength(sent);
  });

  test('return() ends it immediately', async () => {
    const { videos } = timedVideos(() => 10_000);
    const results = videos.waitAll(['a', 'b']);
    const next = results.next();
    await vi.advanceTimersByTimeAsync(1_000);

    // The clock stands still from here on.
    expect(await results.return()).toEqual({ done: true, value: undefined });
    expect(await next).toEqual({ done: true, value: undefined });
  });

  test('returns nothing for an empty list', async () => {
    const { videos } = emulatedVideos();

    expect(await resolved(collectResults(videos, []))).toEqual([]);
  });

  test('accepts any iterable, and reads it once', async () => {
    const { videos } = timedVideos(() => 0);

    const results = await resolved(collectResults(videos, new Set(['a', 'b'])));

    expect(results.map(({ task }) => task)).toEqual(['a', 'b']);
  });

  test.each([
    ['maxPollsPerSecond', { maxPollsPerSecond: 0 }],
    ['maxPollsPerSecond', { maxPollsPerSecond: Number.NaN }],
    ['timeout', { timeout: -1 }],
  ])('%s of %j is rejected', async (field, options) => {
    const { emulator, videos } = emulatedVideos();

    expect(await rejected(collectResults(videos, ['a'], options))).toMatchObject({ field });
    expect(emulator.requests).toHaveLength(0);
  });

  test('onUpdate is called for every task', async () => {
    const { videos } = timedVideos(() => 0);
    const seen: string[] = [];
    const onUpdate: VideoWaitAllOptions['onUpdate'] = ({ task }) => void seen.push(task.ref.id);

    await resolved(collectResults(videos, ['a', 'b'], { onUpdate }));

    expect(seen).toEqual(['a', 'b']);
  });
});

describe('videos.waitAll() of unusual lists', () => {
  test('a repeated task has two results, with their indexes', async () => {
    const { videos } = timedVideos(() => 0);

    const results = await resolved(
      collectResults(videos, ['a', 'b', 'a'], { maxPollsPerSecond: 1_000 }),
    );

    expect(results.map(({ index, video }) => [index, video?.id])).toEqual([
      [0, 'a'],
      [1, 'b'],
      [2, 'a'],
    ]);
  });

  test('an iterator that throws ends it with that error, and stops all waits', async () => {
    const { videos } = timedVideos(() => 0);
    const problem = new Error('the cursor was closed');
    const tasks = function* () {
      yield 'a';
      throw problem;
    };

    expect(await rejected(collectResults(videos, tasks()))).toBe(problem);
  });
});
