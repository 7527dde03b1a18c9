import { describe, expect, test, vi } from 'vitest';
import { InvalidInputError } from '../../../src/errors/gateway-error.ts';
import {
  VideoFailedError,
  VideoWaitError,
  VideoWaitTimeoutError,
} from '../../../src/resources/videos/errors.ts';
import { parseVideoTaskRef } from '../../../src/tasks/ref.ts';
import type {
  VideoWaitOptions,
  VideoWaitState,
} from '../../../src/resources/videos/wait-options.ts';
import type { VideoTaskRef } from '../../../src/resources/videos/types.ts';
import { untyped } from '../../helpers/untyped.ts';
import {
  answeredVideos,
  countRequests,
  inTurn,
  minute,
  submitted,
  videosOf,
} from '../../helpers/videos.ts';
import { fakeWaitingTime, rejected } from '../../helpers/fake-time.ts';

fakeWaitingTime();

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
    const { state, next } = await videosOf(options).step(
      parseVideoTaskRef(stored.ref),
      stored.state,
      wait,
    );
    if (!('delayMs' in next)) return { next, pauses, state };
    job = JSON.stringify({ ...stored, state });
    pauses.push(next.delayMs);
    await vi.advanceTimersByTimeAsync(next.delayMs);
  }
}

describe('videos.step()', () => {
  test('continues across processes until the task is completed', async () => {
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

  test('makes exactly one poll, and reports it', async () => {
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

  test('returns the error of a failed task', async () => {
    const { emulator, videos, task } = await submitted(40_000);
    emulator.videos.fail(task.id, 'No.');

    const { state } = await videos.step(task);
    const { next } = await videos.step(task, state);

    expect('error' in next && VideoFailedError.isInstance(next.error)).toBe(true);
    expect(next).toMatchObject({ error: { reason: 'No.', ref: task.ref } });
  });

  test('a failed poll is reported and counted, and the pause grows', async () => {
    const { videos } = answeredVideos(inTurn(new Response('<html>', { status: 502 })), {
      maxRetries: 0,
    });
    let state: VideoWaitState | undefined;
    const seen: unknown[] = [];
    for (let polls = 0; polls < 4; polls += 1) {
      const step = await videos.step('task_1', state, { maxConsecutiveErrors: 3 });
      expect(step.pollError).toMatchObject({ status: 502 });
      seen.push('delayMs' in step.next ? step.next.delayMs : step.next);
      ({ state } = step);
    }

    expect(seen).toEqual([5_000, 10_000, 20_000, { error: expect.any(VideoWaitError) }]);
  });

  test('the time limit counts from the first step, across processes', async () => {
    const { emulator, task } = await submitted(60 * minute);
    const { apiKey, baseURL, fetch } = emulator;

    const { next, state } = await runJob({ apiKey, baseURL, fetch }, task.ref);

    expect('error' in next && VideoWaitTimeoutError.isInstance(next.error)).toBe(true);
    expect(next).toMatchObject({ error: { elapsed: 30 * minute, polls: state.polls } });
  });

  test('a step long after the limit polls once more', async () => {
    const { videos, task } = await submitted(60_000);
    const { state } = await videos.step(task);
    await vi.advanceTimersByTimeAsync(24 * 60 * minute);

    expect((await videos.step(task, state)).next).toMatchObject({ video: { id: task.id } });
  });

  test('polls only the route and gateway of the handle', async () => {
    const { emulator, videos, task } = await submitted(0);
    const { ref } = await videos.retrieveFromVendor({ vendorPrefix: 'kling', taskId: task.id });
    const foreign = { ...task.ref, baseURL: 'https://other.test' };

    expect((await videos.step(ref)).next).toHaveProperty('video');
    expect(await rejected(videos.step(foreign))).toMatchObject({ field: 'ref.baseURL' });
    expect(emulator.requests.at(-1)?.path).toBe(`/kling/v1/videos/text2video/${task.id}`);
  });

  test('an abort rejects, and the step can be repeated', async () => {
    const { emulator, videos, task } = await submitted(0);
    const reason = new Error('shutting down');

    const error = await rejected(
      videos.step(task, undefined, { signal: AbortSignal.abort(reason) }),
    );

    expect(error).toMatchObject({ name: 'VideoWaitAbortedError', cause: reason, ref: task.ref });
    expect(countRequests(emulator).gets).toBe(0);
    expect((await videos.step(task)).next).toHaveProperty('video');
  });

  test('reports changes to onUpdate', async () => {
    const { videos, task } = await submitted(40_000);
    const onUpdate = vi.fn();

    const { state } = await videos.step(task, undefined, { onUpdate });
    await videos.step(task, state, { onUpdate });

    expect(onUpdate).toHaveBeenCalledTimes(1);
    expect(onUpdate).toHaveBeenCalledWith(expect.objectContaining({ polls: 1, progress: 0 }));
  });

  test('an onUpdate that throws rejects with the handle, and the step can be repeated', async () => {
    const { videos, task } = await submitted(40_000);
    const cause = new Error('broken');

    const error = await rejected(
      videos.step(task, undefined, { onUpdate: () => Promise.reject(cause) }),
    );

    expect(error).toMatchObject({ name: 'VideoWaitError', cause, ref: task.ref, polls: 1 });
    expect((await videos.step(task)).state.polls).toBe(1);
  });

  const state = { v: 1, since: 1_000, polls: 3, errors: 0, missing: 0, interval: 5_000 };

  test('null of a database means undefined', async () => {
    const { videos, task } = await submitted(40_000);
    const empty = { status: null, rawStatus: null, progress: null, interval: null };
    const later = {
      failure: null,
      unchangedSince: null,
      unchangedPolls: null,
      vendorPolledAt: null,
    };
    const stored = untyped<VideoWaitState>({ ...state, since: Date.now(), ...empty, ...later });

    expect((await videos.step(task, stored)).next).toEqual({ delayMs: 5_000, earliestMs: 5_000 });
  });

  test('a clock that was set back does not extend the time limit', async () => {
    const { videos, task } = await submitted(24 * 60 * minute);
    const future = { ...state, v: 1, since: Date.now() + 400 * 24 * 60 * minute } as const;

    const first = await videos.step(task, future, { timeout: minute });
    expect(first.state.since).toBe(Date.now());
    expect(first.next).toHaveProperty('delayMs');
    await vi.advanceTimersByTimeAsync(minute);
    const { next } = await videos.step(task, first.state, { timeout: minute });

    expect(next).toMatchObject({ error: { name: 'VideoWaitTimeoutError', elapsed: minute } });
  });

  test('starts without a state, or with null', async () => {
    const { videos, task } = await submitted(0);

    expect((await videos.step(task, untyped<undefined>(null))).next).toHaveProperty('video');
  });

  test.each<[string, unknown]>([
    ['state', 7],
    ['state', []],
    ['state', JSON.stringify(state)],
    ['state.v', {}],
    ['state.v', { ...state, v: 0 }],
    ['state.v', { ...state, v: 2 }],
    ['state.since', { v: 1, polls: 1 }],
    ['state.since', { ...state, since: -1 }],
    ['state.since', { ...state, since: '2026-01-01' }],
    ['state.polls', { ...state, polls: 1.5 }],
    ['state.polls', { ...state, polls: -1 }],
    ['state.errors', { ...state, errors: null }],
    ['state.errors', { ...state, errors: -1_000 }],
    ['state.missing', { ...state, missing: '0' }],
    ['state.status', { ...state, status: 'baking' }],
    ['state.rawStatus', { ...state, rawStatus: 7 }],
    ['state.progress', { ...state, progress: '85%' }],
    ['state.interval', { ...state, interval: '5000' }],
    ['state.interval', { ...state, interval: -5_000 }],
    ['state.failure', { ...state, failure: 'No.' }],
    ['state.failure', { ...state, failure: { code: '7' } }],
    ['state.failure', { ...state, failure: { message: 'No.', code: 7 } }],
    ['state.unchangedSince', { ...state, unchangedSince: '0' }],
    ['state.unchangedPolls', { ...state, unchangedPolls: -1 }],
    ['state.vendorPolledAt', { ...state, vendorPolledAt: true }],
  ])('names %s in %j', async (field, stored) => {
    const { emulator, videos, task } = await submitted(0);

    const error = await rejected(videos.step(task, untyped<VideoWaitState>(stored)));

    expect(InvalidInputError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ field });
    expect(countRequests(emulator).gets).toBe(0);
  });
});
