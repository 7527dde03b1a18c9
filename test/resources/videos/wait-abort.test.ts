import { describe, expect, test, vi } from 'vitest';
import { VideoWaitAbortedError } from '../../../src/resources/videos/errors.ts';
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

describe('aborting a wait', () => {
  test('ends it immediately during a pause', async () => {
    const { emulator, videos, task } = await submitted(60 * minute);
    const controller = new AbortController();
    const reason = new Error('the user left');
    const waiting = videos.wait(task, { signal: controller.signal });
    waiting.catch(() => {});
    await vi.advanceTimersByTimeAsync(7_000);

    controller.abort(reason);
    // The clock stands still, so this can only be at once.
    const error: unknown = await waiting.catch((caught: unknown) => caught);

    expect(VideoWaitAbortedError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ cause: reason, polls: 1, lastStatus: 'unknown', ref: task.ref });
    expect(String(error)).toContain(`videos.wait("${task.id}")`);
    expect(countRequests(emulator)).toEqual({ posts: 1, gets: 1 });
  });

  test('ends it immediately during a poll, even if fetch ignores the signal', async () => {
    const { requests, videos } = answeredVideos(() => new Promise<Response>(() => {}));
    const controller = new AbortController();
    const waiting = videos.wait('a', { signal: controller.signal });
    waiting.catch(() => {});
    await vi.advanceTimersByTimeAsync(1_000);

    controller.abort();

    await expect(waiting).rejects.toBeInstanceOf(VideoWaitAbortedError);
    expect(requests).toHaveLength(1);
    // The time limits of a request that ignores its signal are left.
    vi.clearAllTimers();
  });

  test('ends it immediately in onUpdate', async () => {
    const { videos } = answeredVideos(inTurn({ id: 'a', status: 'queued' }));
    const controller = new AbortController();
    const onUpdate = vi.fn<() => Promise<void>>().mockReturnValue(new Promise(() => {}));
    const waiting = videos.wait('a', { signal: controller.signal, onUpdate });
    waiting.catch(() => {});
    await vi.advanceTimersByTimeAsync(1_000);

    controller.abort();

    await expect(waiting).rejects.toBeInstanceOf(VideoWaitAbortedError);
  });

  test('before it starts sends nothing', async () => {
    const { emulator, videos, task } = await submitted(0);

    const error = await rejected(videos.wait(task, { signal: AbortSignal.abort() }), 1);

    expect(VideoWaitAbortedError.isInstance(error)).toBe(true);
    expect(countRequests(emulator).gets).toBe(0);
  });

  test('after the submission of createAndWait() has the handle', async () => {
    const { emulator, videos } = emulatedVideos();
    const controller = new AbortController();
    const saved: VideoTaskRef[] = [];
    const waiting = rejected(
      videos.createAndWait(order, {
        signal: controller.signal,
        onSubmitted: (ref) => {
          saved.push(ref);
          controller.abort();
        },
      }),
    );

    const error = await waiting;

    expect(VideoWaitAbortedError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ ref: saved[0] });
    expect(countRequests(emulator)).toEqual({ posts: 1, gets: 0 });
  });

  test('adds one listener for any number of polls, and removes it', async () => {
    const { requests, videos } = answeredVideos((_, position) =>
      Response.json({ id: 'a', status: position < 200 ? 'queued' : 'done' }),
    );
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, 'addEventListener');
    const removed = vi.spyOn(signal, 'removeEventListener');

    await resolved(videos.wait('a', { signal, interval: 250 }));

    expect(requests).toHaveLength(201);
    expect(added).toHaveBeenCalledTimes(1);
    expect(removed).toHaveBeenCalledTimes(1);
  });

  test('leaves no listener after 2,000 polls', async () => {
    let polls = 0;
    const videos = videosOf({
      apiKey: 'sk-test',
      baseURL: 'https://gateway.test',
      fetch: async () => {
        polls += 1;
        return Response.json({ id: 'a', status: polls < 2_000 ? 'queued' : 'done' });
      },
    });
    vi.useRealTimers();
    const timers = vi.stubGlobal('setTimeout', (run: () => void, milliseconds: number) => {
      // Pauses end at once; the limits of requests are never reached.
      if (milliseconds <= 250) queueMicrotask(run);
    });
    const { signal } = new AbortController();
    const seen = new Map<EventTarget, { added: number; live: number }>();
    const spy = (method: 'addEventListener' | 'removeEventListener', by: number): void => {
      const { [method]: original } = EventTarget.prototype;
      vi.spyOn(EventTarget.prototype, method).mockImplementation(function (
        this: EventTarget,
        ...parameters: Parameters<EventTarget['addEventListener']>
      ) {
        const counts = seen.get(this) ?? { added: 0, live: 0 };
        seen.set(this, { added: counts.added + Math.max(0, by), live: counts.live + by });
        Reflect.apply(original, this, parameters);
      });
    };
    spy('addEventListener', 1);
    spy('removeEventListener', -1);

    const done = await videos.wait('a', { signal, interval: 250, timeout: null });
    timers.unstubAllGlobals();
    vi.useFakeTimers();

    expect(done.status).toBe('completed');
    expect(polls).toBe(2_000);
    // One signal is listened to by every poll.
    const busy = [...seen.values()].filter(({ added }) => added > 1_000);
    expect(busy).toEqual([{ added: expect.any(Number), live: 0 }]);
    expect(seen.get(signal)).toEqual({ added: 1, live: 0 });
  });
});

describe('a browser tab', () => {
  /** A document that can be hidden and shown. */
  class Tab extends EventTarget {
    visibilityState = 'hidden';
    listeners = 0;

    override addEventListener(...parameters: Parameters<EventTarget['addEventListener']>): void {
      this.listeners += 1;
      super.addEventListener(...parameters);
    }

    override removeEventListener(
      ...parameters: Parameters<EventTarget['removeEventListener']>
    ): void {
      this.listeners -= 1;
      super.removeEventListener(...parameters);
    }

    become(state: 'hidden' | 'visible'): void {
      this.visibilityState = state;
      this.dispatchEvent(new Event('visibilitychange'));
    }
  }

  test('that becomes visible polls, after the minimum pause', async () => {
    const tab = new Tab();
    vi.stubGlobal('document', tab);
    const { emulator, videos, task } = await submitted(60 * minute);
    const controller = new AbortController();
    const interval = { first: 60_000, min: 5_000, max: 60_000, jitter: 0 };
    const waiting = videos.wait(task.id, { interval, signal: controller.signal });
    waiting.catch(() => {});
    const show = async (seconds: number) => {
      await vi.advanceTimersByTimeAsync(seconds * 1_000);
      tab.become('hidden');
      tab.become('visible');
    };

    await show(2);
    await show(20);
    await vi.advanceTimersByTimeAsync(1_000);
    controller.abort();
    await expect(waiting).rejects.toBeInstanceOf(VideoWaitAbortedError);

    expect(timesOf(emulator.requests.slice(1), task.ref.createdAt)).toEqual([0, 5_000, 22_000]);
    expect(tab.listeners).toBe(0);
  });
});
