import { describe, expect, test, vi } from 'vitest';
import { VideoWaitError, VideoWaitTimeoutError } from '../../../src/resources/videos/errors.ts';
import type { FaultRule } from '../../../src/testing/index.ts';
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
import { fetchFailure } from '../../helpers/failures.ts';
import { fakeWaitingTime, rejected, resolved } from '../../helpers/fake-time.ts';

fakeWaitingTime();

describe('a wait continues after failed polls', () => {
  test.each<[string, FaultRule['fault']]>([
    ['500', { type: 'error', status: 500, message: 'broken' }],
    ['503', { type: 'error', status: 503, code: 'system_cpu_overloaded', message: 'busy' }],
    ['HTML 502', { type: 'html', status: 502 }],
    ['HTML 200', { type: 'html', status: 200 }],
    ['a bare 429', { type: 'bare', status: 429 }],
    ['408', { type: 'bare', status: 408 }],
    ['424', { type: 'bare', status: 424 }],
    ['425', { type: 'bare', status: 425 }],
    ['460', { type: 'bare', status: 460 }],
    ['499', { type: 'error', status: 499, message: 'cancelled' }],
    ['524', { type: 'html', status: 524 }],
    ['reset connections', { type: 'reset', when: 'before-body' }],
    ['cut answers', { type: 'cut', bytes: 5 }],
    ['an error with status 200', { type: 'error', status: 200, code: 'fail_to_fetch_task' }],
    ['stalled polls', { type: 'hang' }],
    ['answers that stall', { type: 'stall', bytes: 5 }],
  ])('several times: %s', async (_, fault) => {
    const { emulator, videos } = emulatedVideos({}, { videoDuration: 10_000 });
    emulator.fail({ operation: 'videos.retrieve', fault, times: 8 });

    const task = await resolved(videos.createAndWait(order));

    expect(task.status).toBe('completed');
    expect(countRequests(emulator).posts).toBe(1);
    expect(emulator.charges).toHaveLength(1);
  });

  test('refused connections', async () => {
    const refused = fetchFailure('ECONNREFUSED', 'connect');
    const answers = inTurn(...Array.from({ length: 12 }, () => refused), {
      id: 'a',
      status: 'done',
    });
    const { requests, videos } = answeredVideos(answers);

    expect((await resolved(videos.wait('a'))).status).toBe('completed');
    expect(requests).toHaveLength(13);
  });

  test('fails after too many failures in a row, with the last one as the cause', async () => {
    const { emulator, videos, task } = await submitted(10_000);
    const fault = { type: 'html', status: 502 } as const;
    emulator.fail({ operation: 'videos.retrieve', fault, times: 1_000 });

    const error = await rejected(videos.wait(task, { maxRetries: 0 }));

    expect(VideoWaitError.isInstance(error)).toBe(true);
    expect(VideoWaitTimeoutError.isInstance(error)).toBe(false);
    expect(error).toMatchObject({ polls: 11, ref: task.ref, outcome: 'unknown' });
    expect(error).toHaveProperty('cause.status', 502);
    expect(String(error)).toContain(`videos.wait("${task.id}")`);
    expect(countRequests(emulator)).toEqual({ posts: 1, gets: 11 });
  });

  test('waits as long as Retry-After requires', async () => {
    const { emulator, videos, task } = await submitted(10_000);
    const fault = { type: 'rate-limit', retryAfter: 7 } as const;
    emulator.fail({ operation: 'videos.retrieve', fault });
    const begun = Date.now();

    await resolved(videos.wait(task, { maxRetries: 0 }));

    expect(timesOf(emulator.requests.slice(1), begun)).toEqual([5_000, 12_000]);
  });

  test('Retry-After of a successful response counts too', async () => {
    const times: number[] = [];
    const begun = Date.now();
    const { videos } = answeredVideos((_, position) => {
      times.push(Date.now() - begun);
      const status = position === 0 ? 'queued' : 'done';
      return Response.json({ id: 'a', status }, { headers: { 'retry-after': '42' } });
    });

    await resolved(videos.wait('a'));

    expect(times).toEqual([0, 42_000]);
  });

  test('a stalled poll ends after pollTimeout', async () => {
    const { emulator, videos, task } = await submitted(0);
    emulator.fail({ operation: 'videos.retrieve', fault: { type: 'hang' } });
    const begun = Date.now();

    await resolved(videos.wait(task, { maxRetries: 0 }));

    // 5 s before the first poll, 30 s in it, 5 s after it.
    expect(timesOf(emulator.requests.slice(1), begun)).toEqual([5_000, 40_000]);
  });

  test('polls never overlap', async () => {
    let underWay = 0;
    let most = 0;
    const { requests, videos } = answeredVideos(async (_, position) => {
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise((resolve) => {
        setTimeout(resolve, 20_000);
      });
      underWay -= 1;
      return Response.json({ id: 'a', status: position < 5 ? 'queued' : 'done' });
    });

    await resolved(videos.wait('a', { interval: 250 }));

    expect(most).toBe(1);
    expect(requests).toHaveLength(6);
  });

  test.each([
    [401, 'invalid_api_key'],
    [402, 'payment_required'],
    [403, 'access_denied'],
    [405, 'wrong_method'],
    [422, 'invalid'],
    [501, 'not_implemented'],
    [505, 'old_version'],
  ])('%i ends the wait immediately, with the handle', async (status, code) => {
    const { emulator, videos, task } = await submitted(10_000);
    const fault = { type: 'error', status, code, message: 'No.' } as const;
    emulator.fail({ operation: 'videos.retrieve', fault, times: 10 });

    const error = await rejected(videos.wait(task));

    expect(VideoWaitError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ ref: task.ref, polls: 1 });
    expect(error).toHaveProperty('cause.status', status);
    expect(String(error)).toContain('No.');
    expect(countRequests(emulator).gets).toBe(1);
  });

  test("a 401 of the operator's provider is not blamed on the caller's key", async () => {
    const { emulator, videos, task } = await submitted(10_000);
    const operation = 'videos.retrieve';
    const refusal = { type: 'error', status: 401, envelope: 'openai', message: 'No.' } as const;
    emulator.fail({ operation, fault: { ...refusal, errorType: 'upstream_error' } });
    emulator.fail({ operation, fault: { ...refusal, errorType: 'new_api_error' } });

    const provider = await rejected(videos.wait(task));
    const own = await rejected(videos.wait(task));

    expect(String(provider)).toContain('If every model fails like this, check apiKey.');
    expect(String(own)).toContain('Check apiKey');
  });

  test('a 401 is retried once with a new key', async () => {
    const { emulator, task } = await submitted(0);
    const keys = ['sk-old', emulator.apiKey];
    const { baseURL, fetch } = emulator;
    const videos = videosOf({ baseURL, fetch, apiKey: () => keys.shift() ?? emulator.apiKey });

    expect((await resolved(videos.wait(task))).status).toBe('completed');
  });

  test('a key function that fails is called again for the next poll', async () => {
    const { emulator, task } = await submitted(0);
    const { baseURL, fetch } = emulator;
    let calls = 0;
    const apiKey = () => {
      calls += 1;
      if (calls < 4) throw new Error('the token service is away');
      return emulator.apiKey;
    };

    const done = await resolved(videosOf({ baseURL, fetch, apiKey }).wait(task));

    expect(done.status).toBe('completed');
  });

  test('strict validation ends the wait, with the received response', async () => {
    const { videos } = answeredVideos(inTurn({ id: 'a', status: 7 }), { validation: 'strict' });

    const error = await rejected(videos.wait('a'));

    expect(VideoWaitError.isInstance(error)).toBe(true);
    expect(error).toHaveProperty('cause.name', 'UnexpectedResponseError');
  });
});

describe('a task that does not exist yet', () => {
  test.each([2, 4])('400 task_not_exist %i times, then found', async (times) => {
    const { emulator, videos } = emulatedVideos({}, { videoDuration: 10_000 });
    emulator.fail({ operation: 'videos.retrieve', fault: { type: 'task-not-exist' }, times });

    const task = await resolved(videos.createAndWait(order));

    expect(task.status).toBe('completed');
    expect(countRequests(emulator).posts).toBe(1);
  });

  test('404 twice, then found', async () => {
    const { emulator, videos } = emulatedVideos();
    const fault = { type: 'error', status: 404, message: 'Not found' } as const;
    emulator.fail({ operation: 'videos.retrieve', fault, times: 2 });

    expect((await resolved(videos.createAndWait(order))).status).toBe('completed');
  });

  test.each(['Task not found', 'task does not exist', 'task_not_exist', 'The task is not found.'])(
    'a bare 400 with "%s" twice, then found',
    async (message) => {
      const missing = Response.json({ error: { message } }, { status: 400 });
      const { requests, videos } = answeredVideos(
        inTurn(missing, missing, { id: 'a', status: 'done' }),
      );

      expect((await resolved(videos.wait('a'))).status).toBe('completed');
      expect(requests).toHaveLength(3);
    },
  );

  test('a 400 with another message ends the wait', async () => {
    const refusal = Response.json({ error: { message: 'Bad request' } }, { status: 400 });
    const { requests, videos } = answeredVideos(inTurn(refusal));

    expect(await rejected(videos.wait('a'))).toMatchObject({ cause: { status: 400 } });
    expect(requests).toHaveLength(1);
  });

  test('ends the wait after the grace period', async () => {
    const { emulator, videos, task } = await submitted(10_000);
    emulator.videos.forget(task.id);

    const error = await rejected(videos.wait(task));

    expect(VideoWaitError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ ref: task.ref, lastStatus: undefined });
    expect(error).toHaveProperty('elapsed');
    expect(String(error)).toContain('is not known to the gateway');
    expect(String(error)).not.toMatch(/create it again|submit/i);
    // 5, 10, 15, 20, 25 and 30 seconds.
    expect(countRequests(emulator)).toEqual({ posts: 1, gets: 6 });
  });

  test('an old handle has no grace period', async () => {
    const { emulator, videos, task } = await submitted(10_000);
    emulator.videos.forget(task.id);
    await vi.advanceTimersByTimeAsync(minute);

    await rejected(videos.wait(task), 1);

    expect(countRequests(emulator).gets).toBe(1);
  });

  test('a known task may be missing twice in a row, not three times', async () => {
    const { emulator, videos, task } = await submitted(5 * minute);
    const gone = { operation: 'videos.retrieve', fault: { type: 'task-not-exist' } } as const;
    emulator.fail({ ...gone, after: 10, times: 2 });
    emulator.fail({ ...gone, after: 20, times: 3 });

    const error = await rejected(videos.wait(task));

    expect(error).toMatchObject({ lastStatus: 'in_progress', polls: 25 });
  });
});
