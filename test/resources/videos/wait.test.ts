import { inspect } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import { APIError } from '../../../src/errors/api-errors.ts';
import { GatewayError, InvalidInputError } from '../../../src/errors/gateway-error.ts';
import {
  VideoFailedError,
  VideoWaitError,
  VideoWaitTimeoutError,
} from '../../../src/resources/videos/errors.ts';
import { VideoSubmitUnknownError } from '../../../src/errors/operation-errors.ts';
import { parseVideoTaskRef } from '../../../src/tasks/ref.ts';
import type { VideoUpdate } from '../../../src/resources/videos/wait-options.ts';
import type { VideoTaskRef } from '../../../src/resources/videos/types.ts';
import {
  answeredVideos,
  countRequests,
  emulatedVideos,
  inTurn,
  minute,
  order,
  submitted,
  timesOf,
  videosOf,
} from '../../helpers/videos.ts';
import { fakeWaitingTime, rejected, resolved } from '../../helpers/fake-time.ts';

fakeWaitingTime();

function raise(error: Error): never {
  throw error;
}

describe('videos.createAndWait()', () => {
  test('submits once and polls until the task is completed', async () => {
    const { emulator, videos } = emulatedVideos({}, { videoDuration: 20_000 });
    const begun = Date.now();

    const task = await resolved(videos.createAndWait(order));

    expect(task).toMatchObject({ status: 'completed', url: expect.stringMatching(/^http/) });
    expect(countRequests(emulator)).toEqual({ posts: 1, gets: 4 });
    // The word changes from unknown to queued without a change of status, then to in_progress.
    expect(timesOf(emulator.requests, begun)).toEqual([0, 5_000, 11_250, 16_250, 22_500]);
    expect(emulator.charges).toHaveLength(1);
  });

  test('passes the handle to onSubmitted before the first poll', async () => {
    const { emulator, videos } = emulatedVideos();
    const saved: VideoTaskRef[] = [];
    const getsBefore: number[] = [];

    const task = await resolved(
      videos.createAndWait(order, {
        onSubmitted: async (ref) => {
          await new Promise((resolve) => {
            setTimeout(resolve, 60_000);
          });
          getsBefore.push(countRequests(emulator).gets);
          saved.push(ref);
        },
      }),
    );

    expect(getsBefore).toEqual([0]);
    expect(saved).toEqual([task.ref]);
    expect(countRequests(emulator).posts).toBe(1);
  });

  test('onSubmitted that throws ends the call with the handle, and without a poll', async () => {
    const { emulator, videos } = emulatedVideos();
    const problem = new Error('the database is away');

    const error = await rejected(
      videos.createAndWait(order, {
        onSubmitted: () => {
          throw problem;
        },
      }),
    );

    expect(VideoWaitError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ cause: problem, polls: 0, ref: { id: expect.any(String) } });
    expect(String(error)).toContain('onSubmitted');
    expect(countRequests(emulator)).toEqual({ posts: 1, gets: 0 });
  });

  test('a submission with an unknown outcome is neither retried nor awaited', async () => {
    const { emulator, videos } = emulatedVideos();
    const fault = { type: 'reset', when: 'after-charge' } as const;
    emulator.fail({ operation: 'videos.create', fault });
    const onSubmitted = vi.fn();

    const error = await rejected(videos.createAndWait(order, { onSubmitted }));

    expect(VideoSubmitUnknownError.isInstance(error)).toBe(true);
    expect(onSubmitted).not.toHaveBeenCalled();
    expect(countRequests(emulator)).toEqual({ posts: 1, gets: 0 });
  });

  test('invalid options are rejected before anything is charged', async () => {
    const { emulator, videos } = emulatedVideos();

    const error = await rejected(videos.createAndWait(order, { interval: 10 }));

    expect(InvalidInputError.isInstance(error)).toBe(true);
    expect(emulator.requests).toHaveLength(0);
  });

  test('a task that is completed on submission is polled without a pause', async () => {
    const { requests, videos } = answeredVideos(
      inTurn({ id: 'a', status: 'failed' }, { id: 'a', status: 'failed', error: 'No.' }),
    );

    const error = await rejected(videos.createAndWait(order), 7);

    expect(error).toMatchObject({ name: 'VideoFailedError', reason: 'No.' });
    // The first poll at once, and the one that confirms it after 5 s.
    expect(requests.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET']);
  });

  test('headers and query are sent with every request, extra fields with the submission', async () => {
    const { requests, videos } = answeredVideos(
      inTurn({ id: 'a', status: 'queued' }, { id: 'a', status: 'completed' }),
    );

    await resolved(
      videos.createAndWait(order, {
        headers: { 'x-tenant': '7' },
        query: { region: 'eu' },
        extraBody: { seed: 1 },
      }),
    );

    expect(requests.map(({ url }) => new URL(url).search)).toEqual(['?region=eu', '?region=eu']);
    expect(requests.map(({ headers }) => headers.get('x-tenant'))).toEqual(['7', '7']);
    expect([...((await requests[0]?.formData()) ?? [])]).toEqual([
      ...Object.entries(order),
      ['seed', '1'],
    ]);
    expect(requests[1]?.body).toBeNull();
  });
});

describe('videos.remixAndWait()', () => {
  test('submits one remix and waits for it', async () => {
    const { emulator, videos, task } = await submitted(0);

    const remix = await resolved(videos.remixAndWait(task, { prompt: 'At night' }));

    expect(remix.ref.remixOf).toBe(task.id);
    expect(remix.status).toBe('completed');
    expect(countRequests(emulator)).toEqual({ posts: 2, gets: 1 });
  });
});

describe('videos.wait()', () => {
  test('polls an existing task immediately', async () => {
    const { emulator, videos, task } = await submitted(0);
    await vi.advanceTimersByTimeAsync(minute);

    for (const named of [task.id, task.ref, task]) {
      expect(await resolved(videos.wait(named), 1)).toMatchObject({ status: 'completed' });
    }
    expect(countRequests(emulator)).toEqual({ posts: 1, gets: 3 });
  });

  test('continues in another process, from a stored handle', async () => {
    const { emulator, task } = await submitted(20_000);
    const stored = JSON.stringify(task.ref);

    const { apiKey, baseURL, fetch } = emulator;
    const later = videosOf({ apiKey, baseURL: `${baseURL}/v1/`, fetch });
    const done = await resolved(later.wait(parseVideoTaskRef(JSON.parse(stored))));

    expect(done).toMatchObject({ id: task.id, status: 'completed' });
    expect(done.ref).toEqual(task.ref);
    expect(countRequests(emulator).posts).toBe(1);
  });

  test('polls the route of the handle', async () => {
    const { emulator, videos, task } = await submitted(10_000);
    const { ref } = await videos.retrieveFromVendor({ vendorPrefix: 'kling', taskId: task.id });

    const done = await resolved(videos.wait(ref));

    expect(done).toMatchObject({ id: task.id, status: 'completed', raw_status: 'SUCCESS' });
    const paths = emulator.requests.slice(1).map(({ path }) => path);
    expect(new Set(paths)).toEqual(new Set([`/kling/v1/videos/text2video/${task.id}`]));
  });

  test('rejects a handle of another gateway, also if it has moved, until the handle names the new one', async () => {
    const { emulator, videos, task } = await submitted(0);
    const ref = { ...task.ref, baseURL: 'https://old.test' };

    expect(await rejected(videos.wait(ref))).toMatchObject({ field: 'ref.baseURL' });
    expect(countRequests(emulator).gets).toBe(0);
    const done = await resolved(videos.wait({ ...ref, baseURL: task.ref.baseURL }));
    expect(done.status).toBe('completed');
    expect(emulator.requests.every(({ origin }) => origin === emulator.baseURL)).toBe(true);
  });

  test('reports only changes', async () => {
    const { videos, task } = await submitted(60_000);
    const updates: VideoUpdate[] = [];

    await resolved(videos.wait(task, { onUpdate: (update) => void updates.push(update) }));

    const seen = updates.map(({ rawStatus, progress }) => [rawStatus, progress]);
    expect(seen).toEqual([
      ['unknown', 0],
      ['queued', 10],
      ['in_progress', 30],
      ['in_progress', 50],
      ['completed', 100],
    ]);
    expect(updates[0]).toMatchObject({ status: 'queued', elapsed: 5_000, polls: 1 });
    expect(updates.at(-1)?.task).toMatchObject({ id: task.id, status: 'completed' });
    expect(updates.at(-1)?.polls).toBeGreaterThan(5);
  });

  test('an onUpdate that throws or rejects ends the wait with the handle', async () => {
    const { videos, task } = await submitted(0);
    const problem = new Error('broken');

    for (const onUpdate of [() => Promise.reject(problem), () => raise(problem)]) {
      const error = await rejected(videos.wait(task, { onUpdate }));
      expect(VideoWaitError.isInstance(error)).toBe(true);
      expect(error).toMatchObject({ cause: problem, ref: task.ref });
    }
  });

  test('a failed task rejects with its reason, code and response', async () => {
    const { emulator, videos, task } = await submitted(60_000);
    emulator.videos.fail(task.id, { message: 'Rejected by the safety review.', code: 'review' });

    const error = await rejected(videos.wait(task));

    expect(VideoFailedError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({
      reason: 'Rejected by the safety review.',
      code: 'review',
      moderated: true,
      outcome: 'unknown',
      ref: task.ref,
      callId: task.ref.callId,
      raw: { status: 'failed', progress: 100 },
    });
    expect(String(error)).toMatch(/failed: Rejected by the safety review\. This looks like/);
    expect(countRequests(emulator).posts).toBe(1);
  });

  test.each(['object', 'numeric-code', 'string', 'fail_reason', 'null', 'missing'] as const)(
    'a failure sent as %s is a typed error with a reason',
    async (videoError) => {
      const { emulator, videos, task } = await submitted(60_000, { videoError });
      emulator.videos.fail(task.id, 'No GPU was free.');

      const error = await rejected(videos.wait(task));

      const isSilent = videoError === 'null' || videoError === 'missing';
      expect(VideoFailedError.isInstance(error)).toBe(true);
      expect(error).toMatchObject({
        reason: isSilent ? 'The gateway returned no reason.' : 'No GPU was free.',
        moderated: false,
      });
    },
  );
});

describe('the time limit', () => {
  test('the error explains how to continue waiting, and never advises a new submission', async () => {
    const { emulator, videos, task } = await submitted(60 * minute);

    const error = await rejected(videos.wait(task));

    expect(VideoWaitTimeoutError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ lastStatus: 'in_progress', ref: task.ref, outcome: 'unknown' });
    const text = String(error);
    expect(text).toContain('did not end within 1800000 ms');
    expect(text).toContain('was not cancelled: it may still finish and be charged');
    expect(text).toContain(`videos.wait("${task.id}")`);
    expect(text).not.toMatch(/creat|submit|resend|send it again/i);
    const times = timesOf(emulator.requests.slice(1), task.ref.createdAt);
    expect(times.at(-1)).toBe(5_000 + 30 * minute - 5_000);
    expect(countRequests(emulator).posts).toBe(1);

    const done = await resolved(videos.wait(task));
    expect(done.status).toBe('completed');
    expect(countRequests(emulator).posts).toBe(1);
  });

  test('the error shows the handle of a vendor route', async () => {
    const { videos, task } = await submitted(60 * minute);
    const { ref } = await videos.retrieveFromVendor({ vendorPrefix: 'kling', taskId: task.id });

    const error = await rejected(videos.wait(ref, { timeout: 1_000 }));

    expect(String(error)).toContain('videos.wait(error.ref)');
  });

  test('null means no limit', async () => {
    const { videos, task } = await submitted(100 * minute);

    expect((await resolved(videos.wait(task, { timeout: null }))).status).toBe('completed');
  });

  test('a poll that hangs at the limit is aborted, and followed by a last one', async () => {
    const { emulator, videos, task } = await submitted(60 * minute);
    emulator.fail({ operation: 'videos.retrieve', fault: { type: 'hang' }, times: 99 });

    const error = await rejected(videos.wait(task, { timeout: 20_000, maxRetries: 0 }));

    expect(VideoWaitTimeoutError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ elapsed: 30_000, polls: 2 });
    expect(timesOf(emulator.requests.slice(1), task.ref.createdAt)).toEqual([5_000, 20_000]);
  });

  test('a machine suspended past the limit polls once more', async () => {
    const { emulator, videos, task } = await submitted(60_000);
    const waiting = videos.wait(task, { timeout: 30_000 });
    await vi.advanceTimersByTimeAsync(12_000);

    // Timers stand still while a machine sleeps; the clocks go on.
    const now = Date.now();
    const clock = performance.now();
    vi.spyOn(performance, 'now').mockImplementation(() => clock + 10 * minute);
    vi.setSystemTime(now + 10 * minute);
    await vi.advanceTimersByTimeAsync(10_000);

    expect((await waiting).status).toBe('completed');
    expect(countRequests(emulator)).toEqual({ posts: 1, gets: 3 });
  });
});

describe('errors of waits', () => {
  test('never contain the key or the prompt', async () => {
    const { emulator, videos, task } = await submitted(60 * minute);
    const errors = [await rejected(videos.wait(task, { timeout: 10_000 }))];
    errors.push(await rejected(videos.wait(task, { signal: AbortSignal.abort() })));
    const fault = { type: 'error', status: 403, message: 'No.' } as const;
    emulator.fail({ operation: 'videos.retrieve', fault });
    errors.push(await rejected(videos.wait(task)));
    emulator.videos.fail(task.id);
    errors.push(await rejected(videos.wait(task)));

    for (const error of errors) {
      const text = inspect(error, { depth: 10, showHidden: true });
      expect(GatewayError.isInstance(error)).toBe(true);
      expect(APIError.isInstance(error)).toBe(false);
      expect(text).not.toContain(emulator.apiKey);
      expect(text).not.toContain(order.prompt);
    }
  });
});
