import { describe, expect, test, vi } from 'vitest';
import {
  VideoFailedError,
  VideoWaitAbortedError,
  VideoWaitTimeoutError,
} from '../../../src/resources/videos/errors.ts';
import type { VideoWatchEvent } from '../../../src/resources/videos/wait-options.ts';
import {
  answeredVideos,
  countRequests,
  emulatedVideos,
  inTurn,
  minute,
  order,
  submitted,
} from '../../helpers/videos.ts';
import { fakeWaitingTime, rejected, resolved } from '../../helpers/fake-time.ts';

fakeWaitingTime();

/** Every event until the end. */
async function collectEvents(watched: AsyncIterable<VideoWatchEvent>): Promise<VideoWatchEvent[]> {
  const events: VideoWatchEvent[] = [];
  for await (const event of watched) events.push(event);
  return events;
}

describe('videos.watch()', () => {
  test('yields all events, from the handle to the completed task', async () => {
    const { emulator, videos, task } = await submitted(60_000);
    const fault = { type: 'html', status: 502 } as const;
    emulator.fail({ operation: 'videos.retrieve', fault, after: 1 });

    const events = await resolved(collectEvents(videos.watch(task.ref, { maxRetries: 0 })));

    expect(events.map(({ type }) => type)).toEqual([
      'submitted',
      'update',
      'poll-error',
      'update',
      'update',
      'update',
      'update',
      'completed',
    ]);
    expect(events[0]).toEqual({ type: 'submitted', ref: task.ref });
    expect(events[1]).toMatchObject({
      status: 'queued',
      rawStatus: 'unknown',
      progress: 0,
      polls: 1,
    });
    expect(events[2]).toMatchObject({ error: { status: 502 } });
    expect(events.at(-1)).toMatchObject({ task: { id: task.id, status: 'completed' } });
    expect(countRequests(emulator).posts).toBe(1);
  });

  test('a failed task is an event', async () => {
    const { emulator, videos, task } = await submitted(60_000);
    emulator.videos.fail(task.id, 'No.');

    const events = await resolved(collectEvents(videos.watch(task)));

    const last = events.at(-1);
    expect(last?.type === 'failed' && VideoFailedError.isInstance(last.error)).toBe(true);
    expect(last).toMatchObject({ error: { reason: 'No.' } });
  });

  test('calls onUpdate too', async () => {
    const { videos, task } = await submitted(0);
    const onUpdate = vi.fn();

    await resolved(collectEvents(videos.watch(task, { onUpdate })));

    expect(onUpdate).toHaveBeenCalledTimes(1);
  });

  test('throws if the wait ends before the task', async () => {
    const { videos, task } = await submitted(60 * minute);

    const error = await rejected(collectEvents(videos.watch(task, { timeout: minute })));
    const aborted = await rejected(
      collectEvents(videos.watch(task, { signal: AbortSignal.abort() })),
    );

    expect(VideoWaitTimeoutError.isInstance(error)).toBe(true);
    expect(VideoWaitAbortedError.isInstance(aborted)).toBe(true);
  });

  test('leaving the loop only stops the wait', async () => {
    const { emulator, videos, task } = await submitted(60_000);
    const { signal } = new AbortController();
    const removed = vi.spyOn(signal, 'removeEventListener');

    const leave = async () => {
      for await (const event of videos.watch(task, { signal })) {
        if (event.type === 'update') break;
      }
    };
    await resolved(leave());

    expect(countRequests(emulator).gets).toBe(1);
    expect(removed).toHaveBeenCalledTimes(1);
    expect((await resolved(videos.wait(task))).status).toBe('completed');
  });

  test('a watch that never started leaves no listener', () => {
    const { videos } = emulatedVideos();
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, 'addEventListener');

    videos.watch('task_1', { signal });

    expect(added).not.toHaveBeenCalled();
  });

  test('return() ends it immediately during a pause', async () => {
    const { emulator, videos, task } = await submitted(60_000);
    const events = videos.watch(task);
    await events.next();
    const next = events.next();
    await vi.advanceTimersByTimeAsync(1_000);

    // The clock stands still from here on.
    const ended = events.return();

    expect(await next).toEqual({ done: true, value: undefined });
    expect(await ended).toEqual({ done: true, value: undefined });
    expect(countRequests(emulator).gets).toBe(0);
  });

  test('return() ends it immediately during a poll', async () => {
    const { videos } = answeredVideos(
      (request) =>
        new Promise((_, reject) => {
          request.signal.addEventListener('abort', () => reject(request.signal.reason));
        }),
    );
    const events = videos.watch('task_1');
    await events.next();
    const next = events.next();
    await vi.advanceTimersByTimeAsync(1_000);

    await events.return();

    expect(await next).toEqual({ done: true, value: undefined });
  });
});

describe('videos.remixAndWait() and videos.createAndWait()', () => {
  test('a response without a status is awaited', async () => {
    const { requests, videos } = answeredVideos(inTurn({ id: 'a' }, { id: 'a', status: 'done' }));

    expect((await resolved(videos.createAndWait(order))).status).toBe('completed');
    expect(requests).toHaveLength(2);
  });
});
