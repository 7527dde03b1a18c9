import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { memoryLedger } from '../../../src/tasks/ledger.ts';
import type { VideoCreateAndWaitOptions } from '../../../src/resources/videos/wait-options.ts';
import { answeredVideos, order } from '../../helpers/videos.ts';
import { failureOf } from '../../helpers/clients.ts';

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  // Digests run on another thread; fake time does not wait for it.
  vi.spyOn(crypto.subtle, 'digest').mockResolvedValue(new ArrayBuffer(32));
});

afterEach(() => {
  vi.clearAllTimers();
  vi.useRealTimers();
});

const never = (): Promise<never> => new Promise(() => {});
const id = 'task_1';

/** The operation that hangs until the abort. */
interface Phase {
  readonly hangs?: 'POST' | 'GET';
  readonly options?: VideoCreateAndWaitOptions;
  /** Milliseconds until the abort. */
  readonly after?: number;
  /** Milliseconds that the call may go on for. */
  readonly grace?: number;
  readonly error: object;
  readonly posts: number;
}

const aborted = { name: 'VideoWaitAbortedError', ref: { id } };

const phases: Readonly<Record<string, Phase>> = {
  'before it begins': { after: -1, error: { outcome: 'not_sent' }, posts: 0 },
  'in the submission': {
    hangs: 'POST',
    error: { name: 'APIUserAbortError', outcome: 'unknown' },
    posts: 1,
  },
  'in onSubmitted': { options: { onSubmitted: never }, grace: 5_000, error: aborted, posts: 1 },
  'in the first pause': { after: 1_000, error: { ...aborted, polls: 0 }, posts: 1 },
  'in the first poll': { hangs: 'GET', after: 6_000, error: { ...aborted, polls: 0 }, posts: 1 },
  'in a later pause': { after: 15_000, error: { ...aborted, polls: 2 }, posts: 1 },
  'in onUpdate': {
    options: { onUpdate: never },
    after: 6_000,
    error: { ...aborted, polls: 1 },
    posts: 1,
  },
};

describe.each(['without', 'with'] as const)('an abort of createAndWait() %s a ledger', (ledger) => {
  test.each(Object.entries(phases))(
    '%s ends it with the handle, if there is one, and one submission',
    async (_, { hangs, options, after = 100, grace = 0, error: expected, posts }) => {
      const { requests, videos } = answeredVideos(({ method }) =>
        method === hangs ? never() : Response.json({ id, status: 'queued' }),
      );
      const controller = new AbortController();
      const reason = new Error('shutting down');
      if (after < 0) controller.abort(reason);
      const own = memoryLedger();
      const entered = ledger === 'with' ? { ledger: own, callId: 'job' } : {};
      const { signal } = controller;

      const error = failureOf(
        videos.createAndWait(order, { ...options, ...entered, signal, pollTimeout: 60_000 }),
      );
      await vi.advanceTimersByTimeAsync(Math.max(0, after));
      controller.abort(reason);
      await vi.advanceTimersByTimeAsync(grace);

      expect(await error).toMatchObject({ ...expected, cause: reason });
      expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(posts);
      if (ledger === 'without') return;
      // The next call with the same call id never pays again for what was, or may be, paid.
      const { status } = await own.claim('job', '');
      const wanted = posts === 0 ? 'claimed' : hangs === 'POST' ? 'unknown' : 'accepted';
      expect(status).toBe(wanted);
    },
  );
});
