import { describe, expect, test, vi } from 'vitest';
import type { Quirks } from '../../../src/testing/index.ts';
import { InvalidInputError } from '../../../src/errors/gateway-error.ts';
import { VideoWaitError } from '../../../src/resources/videos/errors.ts';
import {
  answeredVideos,
  countRequests,
  emulatedVideos,
  inTurn,
  minute,
  order,
  submitted,
  timesOf,
} from '../../helpers/videos.ts';
import { fakeWaitingTime, rejected, resolved } from '../../helpers/fake-time.ts';

fakeWaitingTime();

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
  test('polls the route of the handle', async () => {
    const { emulator, videos, task } = await submitted(10_000);
    const { ref } = await videos.retrieveFromVendor({ vendorPrefix: 'kling', taskId: task.id });

    const done = await resolved(videos.wait(ref));

    expect(done).toMatchObject({ id: task.id, status: 'completed', raw_status: 'SUCCESS' });
    const paths = emulator.requests.slice(1).map(({ path }) => path);
    expect(new Set(paths)).toEqual(new Set([`/kling/v1/videos/text2video/${task.id}`]));
  });
});

describe('the time limit', () => {
  test('the error shows the handle of a vendor route', async () => {
    const { videos, task } = await submitted(60 * minute);
    const { ref } = await videos.retrieveFromVendor({ vendorPrefix: 'kling', taskId: task.id });

    const error = await rejected(videos.wait(ref, { timeout: 1_000 }));

    expect(String(error)).toContain('videos.wait(error.ref)');
  });
});

describe('a wait tolerates other formats', () => {
  test.each<[string, Partial<Quirks>]>([
    ['ids in data', { videoId: 'data.task_id' }],
    ["the provider's own id in later bodies", { videoForeignId: true }],
    ['status in data', { videoNesting: 'data' }],
    ['percent signs', { videoProgress: 'percent' }],
    ['no progress', { videoProgress: 'missing' }],
    ['milliseconds', { videoTimes: 'milliseconds' }],
    ['no result URL', { videoUrl: 'missing' }],
    ['a data URL', { videoUrl: 'data-url' }],
    ['an empty URL while it runs', { videoUrlBefore: 'empty' }],
    ['an error while it runs', { videoError: 'always' }],
    ['completed_at while it runs', { videoEarlyEnd: true }],
    ['words in capitals', { videoStatuses: { queued: 'QUEUED', completed: 'SUCCESS' } }],
    ['succeed', { videoStatuses: { in_progress: 'processing', completed: 'succeed' } }],
    ['NOT_START', { videoStatuses: { unknown: 'NOT_START', queued: 'SUBMITTED' } }],
    ['an unknown status', { videoStatuses: { queued: 'baking', in_progress: 'frosting' } }],
  ])('%s', async (_, quirks) => {
    const onDrift = vi.fn();
    const { emulator, videos } = emulatedVideos({ onDrift }, { videoDuration: 40_000, quirks });

    const task = await resolved(videos.createAndWait(order));

    expect(onDrift).not.toHaveBeenCalled();
    expect(task.status).toBe('completed');
    expect(emulator.videos.list.map(({ id }) => id)).toEqual([task.id]);
    expect(countRequests(emulator).posts).toBe(1);
    expect(emulator.charges).toHaveLength(1);
  });

  test.each(['tolerant', 'strict'] as const)(
    'a list is a failed poll, and the next one counts (%s)',
    async (validation) => {
      const onUpdate = vi.fn();
      const done = { id: 'a', status: 'completed' };
      const { requests, videos } = answeredVideos(inTurn([], [], done));

      const task = await resolved(videos.wait('a', { validation, onUpdate }));

      expect(task.status).toBe('completed');
      expect(onUpdate).toHaveBeenCalledTimes(1);
      expect(requests).toHaveLength(3);
    },
  );

  test('only lists end the wait', async () => {
    const { requests, videos } = answeredVideos(inTurn([]));

    const error = await rejected(videos.wait('a', { maxConsecutiveErrors: 2 }));

    expect(error).toMatchObject({ name: 'VideoWaitError', cause: { data: [] } });
    // Each of the three polls is repeated once.
    expect(requests).toHaveLength(6);
  });

  test('a result with an unknown status is a completed task', async () => {
    const url = 'https://cdn.example/v.mp4';
    const { videos } = answeredVideos(inTurn({ id: 'a', status: 'ok?', metadata: { url } }));

    const task = await resolved(videos.wait('a'));

    expect(task).toMatchObject({ status: 'completed', inferred: true, url });
  });
});

describe('a poll of a video', () => {
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

  test('strict validation ends the wait, with the received response', async () => {
    const { videos } = answeredVideos(inTurn({ id: 'a', status: 7 }), { validation: 'strict' });

    const error = await rejected(videos.wait('a'));

    expect(VideoWaitError.isInstance(error)).toBe(true);
    expect(error).toHaveProperty('cause.name', 'UnexpectedResponseError');
  });
});

describe('videos.step()', () => {
  test('polls only the route and gateway of the handle', async () => {
    const { emulator, videos, task } = await submitted(0);
    const { ref } = await videos.retrieveFromVendor({ vendorPrefix: 'kling', taskId: task.id });
    const foreign = { ...task.ref, baseURL: 'https://other.test' };

    expect((await videos.step(ref)).next).toHaveProperty('video');
    expect(await rejected(videos.step(foreign))).toMatchObject({ field: 'ref.baseURL' });
    expect(emulator.requests.at(-1)?.path).toBe(`/kling/v1/videos/text2video/${task.id}`);
  });
});
