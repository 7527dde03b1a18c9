import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { InvalidInputError } from '../src/errors/gateway-error.ts';
import {
  VideoFailedError,
  VideoWaitError,
  VideoWaitTimeoutError,
} from '../src/errors/video-error.ts';
import { parseVideoTaskRef } from '../src/tasks/task-ref.ts';
import type { VideoWaitOptions, VideoWaitState } from '../src/tasks/wait-options.ts';
import type { VideoTaskRef } from '../src/types/videos.ts';
import { untyped } from './helpers/untyped.ts';
import {
  answeredVideos,
  countRequests,
  failing,
  inTurn,
  minute,
  submitted,
  videosOf,
} from './helpers/videos.ts';

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
});

afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

/** A job queue: every step in a process of its own, and nothing but JSON between them. */
async function runJob(
  options: Parameters<typeof videosOf>[0],
  ref: VideoTaskRef,
  wait: VideoWaitOptions = {},
) {
  let job = JSON.stringify({ ref });
  const pauses: number[] = [];
  for (;;) {
    const stored: { ref: unknown; state?: VideoWaitState } = JSON.parse(job);
    // eslint-disable-next-line no-await-in-loop -- one step after the other
    const { state, next } = await videosOf(options).step(
      parseVideoTaskRef(stored.ref),
      stored.state,
      wait,
    );
    if (!('delayMs' in next)) return { next, pauses, state };
    job = JSON.stringify({ ...stored, state });
    pauses.push(next.delayMs);
    // eslint-disable-next-line no-await-in-loop
    await vi.advanceTimersByTimeAsync(next.delayMs);
  }
}

describe('videos.step()', () => {
  test('leads from one process to the next, to the completed task', async () => {
    const { emulator, task } = await submitted(40_000);
    const { apiKey, baseURL, fetch } = emulator;

    const { next, pauses, state } = await runJob({ apiKey, baseURL, fetch }, task.ref);

    expect(next).toMatchObject({ video: { id: task.id, status: 'completed', ref: task.ref } });
    expect(pauses).toEqual(
      [5_000, 6_250, 7_813, 5_000, 6_250, 7_813, 9_766].slice(0, pauses.length),
    );
    expect(state).toMatchObject({ v: 1, polls: pauses.length + 1, status: 'completed' });
    expect(countRequests(emulator)).toEqual({ posts: 1, gets: pauses.length + 1 });
  });

  test('makes exactly one poll, and tells what it saw', async () => {
    const { emulator, videos, task } = await submitted(40_000);

    const step = await videos.step(task);

    expect(step).toMatchObject({
      state: { v: 1, since: Date.now(), polls: 1, errors: 0, missing: 0, rawStatus: 'unknown' },
      next: { delayMs: 5_000, earliestMs: 5_000 },
      task: { id: task.id, status: 'queued' },
    });
    expect(step.pollError).toBeUndefined();
    expect(countRequests(emulator).gets).toBe(1);
  });

  test('a failed task is an error to be thrown', async () => {
    const { emulator, videos, task } = await submitted(40_000);
    emulator.videos.fail(task.id, 'No.');

    const { next } = await videos.step(task);

    expect('error' in next && VideoFailedError.isInstance(next.error)).toBe(true);
    expect(next).toMatchObject({ error: { reason: 'No.', ref: task.ref } });
  });

  test('rule 42: a poll that fails is told and counted, and the pause grows', async () => {
    const { videos } = answeredVideos(inTurn(new Response('<html>', { status: 502 })), {
      maxRetries: 0,
    });
    let state: VideoWaitState | undefined;
    const seen: unknown[] = [];
    for (let polls = 0; polls < 4; polls += 1) {
      // eslint-disable-next-line no-await-in-loop -- one step after the other
      const step = await videos.step('task_1', state, { maxConsecutiveErrors: 3 });
      expect(step.pollError).toMatchObject({ status: 502 });
      seen.push('delayMs' in step.next ? step.next.delayMs : step.next);
      ({ state } = step);
    }

    expect(seen).toEqual([5_000, 10_000, 20_000, { error: expect.any(VideoWaitError) }]);
  });

  test('the time limit counts from the first step, over every process', async () => {
    const { emulator, task } = await submitted(60 * minute);
    const { apiKey, baseURL, fetch } = emulator;

    const { next, state } = await runJob({ apiKey, baseURL, fetch }, task.ref);

    expect('error' in next && VideoWaitTimeoutError.isInstance(next.error)).toBe(true);
    expect(next).toMatchObject({ error: { elapsed: 30 * minute, polls: state.polls } });
  });

  test('a step that comes long after the limit looks once more', async () => {
    const { videos, task } = await submitted(60_000);
    const { state } = await videos.step(task);
    await vi.advanceTimersByTimeAsync(24 * 60 * minute);

    expect((await videos.step(task, state)).next).toMatchObject({ video: { id: task.id } });
  });

  test('polls the route of the handle, and no other gateway', async () => {
    const { emulator, videos, task } = await submitted(0);
    const { ref } = await videos.retrieveFromVendor({ vendorPrefix: 'kling', taskId: task.id });
    const foreign = { ...task.ref, baseURL: 'https://other.test' };

    expect((await videos.step(ref)).next).toHaveProperty('video');
    expect(await failing(videos.step(foreign))).toMatchObject({ field: 'ref.baseURL' });
    const { next } = await videos.step(foreign, undefined, { allowOtherBaseURL: true });
    expect(next).toHaveProperty('video');
    expect(emulator.requests.at(-2)?.path).toBe(`/kling/v1/videos/text2video/${task.id}`);
  });

  test('an abort rejects, and the step can be repeated', async () => {
    const { emulator, videos, task } = await submitted(0);
    const reason = new Error('shutting down');

    const error = await failing(
      videos.step(task, undefined, { signal: AbortSignal.abort(reason) }),
    );

    expect(error).toMatchObject({ name: 'VideoWaitAbortedError', cause: reason, ref: task.ref });
    expect(countRequests(emulator).gets).toBe(0);
    expect((await videos.step(task)).next).toHaveProperty('video');
  });

  test.each([{}, null, 7, { v: 2, since: 1, polls: 1, errors: 0, missing: 0 }, { v: 1, polls: 1 }])(
    'refuses the state %j',
    async (state) => {
      const { emulator, videos, task } = await submitted(0);
      const stored = untyped<VideoWaitState>(state);
      // Nothing stored is no state, and begins.
      if (state === null) {
        expect((await videos.step(task, stored)).next).toHaveProperty('video');
        return;
      }

      const error = await failing(videos.step(task, stored));

      expect(InvalidInputError.isInstance(error)).toBe(true);
      expect(error).toMatchObject({ field: 'state' });
      expect(countRequests(emulator).gets).toBe(0);
    },
  );
});
