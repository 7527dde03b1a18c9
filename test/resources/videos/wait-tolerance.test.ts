import { describe, expect, test, vi } from 'vitest';
import { VideoFailedError, VideoWaitTimeoutError } from '../../../src/resources/videos/errors.ts';
import type { Quirks } from '../../../src/testing/index.ts';
import {
  answeredVideos,
  countRequests,
  emulatedVideos,
  inTurn,
  minute,
  order,
} from '../../helpers/videos.ts';
import { fakeWaitingTime, rejected, resolved } from '../../helpers/fake-time.ts';

const result = 'https://cdn.test/v.mp4';

fakeWaitingTime();

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

  test.each(['unknown', 'UNKNOWN', '', ' ', 'baking', 'null', '待机中'])(
    'continues at status %j, and the timeout names it',
    async (word) => {
      const { requests, videos } = answeredVideos(inTurn({ id: 'a', status: word }));
      const onUpdate = vi.fn();

      const error = await rejected(videos.wait('a', { onUpdate, timeout: minute }));

      expect(VideoWaitTimeoutError.isInstance(error)).toBe(true);
      const lastStatus = word.trim() === '' ? 'queued' : word;
      expect(error).toMatchObject({ lastStatus });
      expect(String(error)).toContain(`last status "${lastStatus}"`);
      expect(onUpdate).toHaveBeenCalledTimes(1);
      expect(requests.every(({ method }) => method === 'GET')).toBe(true);
    },
  );

  test('continues at a numeric state until it has a result', async () => {
    const { requests, videos } = answeredVideos(
      inTurn(
        { status: 0 },
        { status: 1 },
        { status: 2 },
        { status: 3 },
        { status: 2, outputUrls: [result] },
      ),
    );

    const task = await resolved(videos.wait('a'));

    expect(task).toMatchObject({ status: 'completed', url: result });
    expect(requests).toHaveLength(5);
  });

  test('a number with a reason is a failure once another poll confirms it', async () => {
    const { requests, videos } = answeredVideos(
      inTurn({ status: 1 }, { status: 3, failedReason: 'No' }),
    );

    const error = await rejected(videos.wait('a'));

    expect(VideoFailedError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ reason: 'No' });
    expect(requests).toHaveLength(3);
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
    expect(requests).toHaveLength(3);
  });

  test('a result with an unknown status is a completed task', async () => {
    const url = 'https://cdn.example/v.mp4';
    const { videos } = answeredVideos(inTurn({ id: 'a', status: 'ok?', metadata: { url } }));

    const task = await resolved(videos.wait('a'));

    expect(task).toMatchObject({ status: 'completed', inferred: true, url });
  });

  test.each([['85%'], [85], [0.85]])('progress %j is reported as 85', async (progress) => {
    const { videos } = answeredVideos(
      inTurn({ id: 'a', status: 'running', progress }, { id: 'a', status: 'done' }),
    );
    const updates: (number | undefined)[] = [];

    await resolved(videos.wait('a', { onUpdate: (update) => void updates.push(update.progress) }));

    expect(updates).toEqual([85, undefined]);
  });
});
