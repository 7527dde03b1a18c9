import { describe, expect, test, vi } from 'vitest';
import type { VideoWaitResult } from '../../../src/resources/videos/wait-options.ts';
import type { VideoTaskLike } from '../../../src/resources/videos/types.ts';
import { answeredVideos, countRequests, inTurn, minute, submitted } from '../../helpers/videos.ts';
import { fakeWaitingTime, rejected, resolved } from '../../helpers/fake-time.ts';

fakeWaitingTime();

/** When polls arrive at a gateway that asks to wait, in milliseconds from the first one. */
async function pollsAfter(makeHeader: () => string, status: number): Promise<number[]> {
  const times: number[] = [];
  const { videos } = answeredVideos((_, position) => {
    times.push(Date.now());
    if (position > 0) return Response.json({ id: 'a', status: 'done' });
    const headers = { 'retry-after': makeHeader() };
    return Response.json({ id: 'a', status: 'queued' }, { status, headers });
  });
  await resolved(videos.wait('a', { maxRetries: 0 }));
  return times.map((time) => time - (times[0] ?? 0));
}

/** A date so many seconds from when it is asked for. */
function inSeconds(seconds: number): () => string {
  return () => new Date(Date.now() + seconds * 1_000).toUTCString();
}

describe.each([200, 429, 503])('Retry-After of a response with status %i', (status) => {
  test.each<{ name: string; makeHeader: () => string; pause: number }>([
    { name: 'seconds', makeHeader: () => '42', pause: 42_000 },
    { name: 'a date', makeHeader: inSeconds(60), pause: 60_000 },
    { name: 'a date that has passed', makeHeader: inSeconds(-60), pause: 5_000 },
    { name: 'far too many seconds', makeHeader: () => '86400000', pause: 300_000 },
    {
      name: 'a date in a hundred years',
      makeHeader: () => 'Fri, 31 Dec 2126 23:59:59 GMT',
      pause: 300_000,
    },
    { name: 'zero', makeHeader: () => '0', pause: 5_000 },
    { name: 'a negative number', makeHeader: () => '-30', pause: 5_000 },
    { name: 'no number at all', makeHeader: () => 'soon', pause: 5_000 },
  ])('as $name', async ({ makeHeader, pause }) => {
    vi.setSystemTime(new Date('2026-11-21T12:00:00.000Z'));

    expect(await pollsAfter(makeHeader, status)).toEqual([0, pause]);
  });
});

describe('a clock that jumps', () => {
  const day = 24 * 60 * minute;

  test.each([
    ['forward', day],
    ['back', -day],
  ])('a system clock that is set %s during a wait has no effect', async (_, jump) => {
    const { requests, videos } = answeredVideos((__, position) =>
      Response.json({ id: 'a', status: position < 6 ? 'queued' : 'done' }),
    );
    const waiting = resolved(videos.wait('a', { timeout: 10 * minute }));
    await vi.advanceTimersByTimeAsync(12_000);
    vi.setSystemTime(Date.now() + jump);

    expect((await waiting).status).toBe('completed');
    expect(requests).toHaveLength(7);
  });

  test.each([
    ['the future', day],
    ['the past', -day],
  ])('a handle with a time in %s is awaited, with the time limit', async (_, offset) => {
    const { videos, task } = await submitted(60 * minute);
    const ref = { ...task.ref, createdAt: Math.max(0, task.ref.createdAt + offset) };

    const error = await rejected(videos.wait(ref, { timeout: minute }));

    expect(error).toMatchObject({ name: 'VideoWaitTimeoutError', elapsed: minute });
  });

  test('a handle from the future has the same grace period', async () => {
    const { emulator, videos, task } = await submitted(minute);
    emulator.videos.forget(task.id);
    const ref = { ...task.ref, createdAt: task.ref.createdAt + 365 * day };

    const error = await rejected(videos.wait(ref));

    expect(error).toMatchObject({ name: 'VideoWaitError', elapsed: 30_000 });
    expect(countRequests(emulator).posts).toBe(1);
  });
});

async function collectResults(tasks: Iterable<VideoTaskLike>) {
  const { videos, requests } = answeredVideos((request) => {
    const id = new URL(request.url).pathname.split('/').at(-1);
    return Response.json({ id, status: 'done' });
  });
  const results: VideoWaitResult[] = [];
  const collect = async (): Promise<void> => {
    for await (const result of videos.waitAll(tasks, { maxPollsPerSecond: 1_000 })) {
      results.push(result);
    }
  };
  await resolved(collect());
  return { results, requests };
}

describe('videos.waitAll() of unusual lists', () => {
  test('a repeated task has two results, with their indexes', async () => {
    const { results } = await collectResults(['a', 'b', 'a']);

    expect(results.map(({ index, video }) => [index, video?.id])).toEqual([
      [0, 'a'],
      [1, 'b'],
      [2, 'a'],
    ]);
  });

  test('an iterator that throws ends it with that error, and stops all waits', async () => {
    const problem = new Error('the cursor was closed');
    const tasks = function* () {
      yield 'a';
      throw problem;
    };

    await expect(collectResults(tasks())).rejects.toBe(problem);
  });
});

test('a wait after a timeout never submits', async () => {
  const { requests, videos } = answeredVideos(
    inTurn(...Array.from({ length: 12 }, () => ({ id: 'a', status: 'queued' })), {
      id: 'a',
      status: 'done',
    }),
  );

  await rejected(videos.wait('a', { timeout: minute }));
  expect((await resolved(videos.wait('a'))).status).toBe('completed');

  expect(new Set(requests.map(({ method }) => method))).toEqual(new Set(['GET']));
});
