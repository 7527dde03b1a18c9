import { describe, expect, test, vi } from 'vitest';
import { VideoWaitAbortedError } from '../../src/resources/videos/errors.ts';
import { minute, submitted, timesOf, videosOf } from '../helpers/videos.ts';
import { fakeWaitingTime } from '../helpers/fake-time.ts';

fakeWaitingTime();

test('a wait leaves no listener after 2,000 polls', async () => {
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

  test('a browser tab that becomes visible polls, after the minimum pause', async () => {
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
