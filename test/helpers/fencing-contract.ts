import { describe, expect, test } from 'vitest';
import { makeRef } from '../../src/tasks/ref.ts';
import type { SubmitEnd, SubmitLedger } from '../../src/index.ts';
import type { VideoTaskRef } from '../../src/resources/videos/types.ts';
import { claimIdOf } from './ledger-contract.ts';
import { untyped } from './untyped.ts';
import { answeredVideos, countRequests, emulatedVideos, order } from './videos.ts';
import { failureOf } from './clients.ts';

const ends: readonly SubmitEnd[] = ['completed', 'failed', 'not_submitted', 'unknown'];

function task(id: string): VideoTaskRef {
  return makeRef({ id, baseURL: 'https://gateway.test', createdAt: 5, callId: 'job' });
}

/** Worker A claims a call, and worker B takes it over. */
async function takenOver(ledger: SubmitLedger) {
  const a = await claimIdOf(ledger.claim('job', 'hash'));
  const b = await claimIdOf(ledger.claim('job', 'hash', a));
  expect(b).not.toBe(a);
  return { a, b };
}

const refusal = () => Response.json({ error: { message: 'No', code: 'x' } }, { status: 402 });
const page = () => new Response('<html></html>', { status: 502 });
const made = (id: string) => () => Response.json({ id, status: 'queued' });

/** The progress of worker B when worker A writes. */
const states: [string, (ledger: SubmitLedger, b: string) => Promise<void>][] = [
  ['is submitting', async () => {}],
  ['does not know', (ledger, b) => ledger.finish('job', 'unknown', { claimId: b })],
  ['made no task', (ledger, b) => ledger.finish('job', 'not_submitted', { claimId: b })],
  ['has a task', (ledger, b) => ledger.accept('job', task('b'), b)],
  [
    'has ended',
    async (ledger, b) => {
      await ledger.accept('job', task('b'), b);
      await ledger.finish('job', 'completed', { claimId: b });
    },
  ],
];

/**
 * The contract of every ledger for takeovers.
 *
 * @param make - Makes one that knows no call.
 */
export function testFencing(title: string, make: () => Promise<SubmitLedger>): void {
  /** Worker A hangs in its submission until the test settles it; worker B takes the call over. */
  async function twoWorkers(endOfA: () => Response, endOfB: () => Response) {
    const ledger = await make();
    const events = new EventTarget();
    const whenTold = (name: string) =>
      new Promise((resolve) => {
        events.addEventListener(name, resolve, { once: true });
      });
    const sentByA = whenTold('sent by A');
    const released = whenTold('released');
    const first = answeredVideos(async () => {
      events.dispatchEvent(new Event('sent by A'));
      await released;
      return endOfA();
    });
    const second = answeredVideos(endOfB);
    const a = first.videos.create(order, { ledger, callId: 'job' }).then(
      ({ ref }) => ref,
      (error: unknown) => error,
    );
    await sentByA;
    // As after the end of its lease: its outcome is unknown.
    await ledger.finish('job', 'unknown');
    const options = { ledger, callId: 'job', onUnknown: 'resubmit' } as const;
    const b = await second.videos.create(order, options).then(
      ({ ref }) => ref,
      (error: unknown) => error,
    );
    events.dispatchEvent(new Event('released'));
    return { ledger, a: await a, b, posts: first.requests.length + second.requests.length };
  }

  describe(`a claim of ${title} that was taken over`, () => {
    describe.each(states)('by a worker that %s', (__, bring) => {
      test.each(ends)('a claim that was taken over is not ended by a late %s', async (end) => {
        const ledger = await make();
        const { a, b } = await takenOver(ledger);
        await bring(ledger, b);
        const before = await ledger.entry('job');

        await ledger.finish('job', end, { claimId: a });

        expect(before).toBeDefined();
        expect(await ledger.entry('job')).toEqual(before);
        expect(await ledger.claim('job', 'hash', a)).not.toMatchObject({ status: 'claimed' });
      });

      test('a claim that was taken over also keeps the task of the first worker', async () => {
        const ledger = await make();
        const { a, b } = await takenOver(ledger);
        await bring(ledger, b);
        const { status, refs = [] } = (await ledger.entry('job')) ?? {};

        await ledger.accept('job', task('a'), a);
        await ledger.accept('job', task('a'), a);
        const entry = await ledger.entry('job');

        expect(entry?.status).toBe(refs.length > 0 ? status : 'accepted');
        expect(entry?.refs).toEqual([...refs, task('a')]);
        expect(await ledger.claim('job', 'hash')).toMatchObject({ ref: entry?.refs[0] });
      });
    });

    test('keeps a task if the other worker is rejected, and if it arrives later', async () => {
      const ledger = await make();
      const { a, b } = await takenOver(ledger);

      await ledger.accept('job', task('a'), a);
      await ledger.finish('job', 'not_submitted', { claimId: b });
      await ledger.finish('job', 'unknown', { claimId: b });

      expect(await ledger.entry('job')).toMatchObject({ status: 'accepted', refs: [task('a')] });
      await ledger.accept('job', task('b'), b);
      expect((await ledger.entry('job'))?.refs).toEqual([task('a'), task('b')]);
    });
  });

  describe(title, () => {
    test('a ledger has no entry for a call that may be submitted', async () => {
      const ledger = await make();
      expect(await ledger.entry('job')).toBeUndefined();

      const claimId = await claimIdOf(ledger.claim('job', 'hash'));
      expect(await ledger.entry('job')).toEqual({
        status: 'submitting',
        inputHash: 'hash',
        claimId,
        isAlive: true,
        refs: [],
      });
      await ledger.finish('job', 'not_submitted', { claimId });

      expect(await ledger.entry('job')).toBeUndefined();
    });

    test('a ledger has a new id for each claim, also after a release', async () => {
      const ledger = await make();
      const ids = new Set<string>();
      for (let attempt = 0; attempt < 5; attempt += 1) {
        const claimId = await claimIdOf(ledger.claim('job', 'hash'));
        ids.add(claimId);
        await ledger.finish('job', 'not_submitted', { claimId });
      }

      expect(ids.size).toBe(5);
    });

    test('keeps a task whose claim was released, even if another worker has the call', async () => {
      const ledger = await make();
      const first = await claimIdOf(ledger.claim('job', 'hash'));
      await ledger.finish('job', 'not_submitted', { claimId: first });
      const second = await claimIdOf(ledger.claim('job', 'hash'));

      await ledger.accept('job', task('a'), first);
      await ledger.accept('job', task('b'), second);

      expect((await ledger.entry('job'))?.refs).toEqual([task('a'), task('b')]);
    });

    test('keeps a task of an unknown claim', async () => {
      const ledger = await make();

      await ledger.accept('job', task('a'), 'gone');

      expect(await ledger.claim('job', 'hash')).toMatchObject({
        status: 'accepted',
        ref: task('a'),
      });
    });

    test('puts a manually entered task first, and keeps the others', async () => {
      const ledger = await make();
      await ledger.accept('job', task('a'), await claimIdOf(ledger.claim('job', 'hash')));

      await ledger.accept('job', task('b'));
      await ledger.accept('job', task('c'));

      const entry = await ledger.entry('job');
      expect(entry).toMatchObject({ status: 'accepted', ref: task('c') });
      expect(entry?.refs.map(({ id }) => id).toSorted()).toEqual(['a', 'b', 'c']);
    });

    test('an end without a claim id applies to the current claim', async () => {
      const ledger = await make();
      await ledger.claim('job', 'hash');

      await ledger.finish('job', 'not_submitted');

      expect(await ledger.claim('job', 'hash')).toMatchObject({ status: 'claimed' });
    });

    test.each(['', 7, null, {}])('rejects the claim id %j', async (claimId) => {
      const ledger = await make();
      await ledger.claim('job', 'hash');
      const bad = untyped<string>(claimId);

      const errors = [
        await failureOf(ledger.accept('job', task('a'), bad)),
        await failureOf(ledger.finish('job', 'not_submitted', { claimId: bad })),
      ];

      for (const error of errors) expect(error).toMatchObject({ field: 'claimId' });
      expect(await ledger.entry('job')).toMatchObject({ status: 'submitting' });
    });

    test('lets one of eight workers submit a call, and reports its claim to the others', async () => {
      const { emulator, videos } = emulatedVideos();
      emulator.fail({
        operation: 'videos.create',
        fault: { type: 'slow', milliseconds: 1_000 },
      });
      const options = { ledger: await make(), callId: 'job', onUnknown: 'resubmit' } as const;

      const outcomes = await Promise.allSettled(
        Array.from({ length: 8 }, () => videos.create(order, options)),
      );

      const errors = outcomes.flatMap((outcome) =>
        outcome.status === 'rejected' ? [outcome.reason] : [],
      );
      expect(errors).toHaveLength(7);
      for (const error of errors) expect(error).toMatchObject({ isInProgress: true });
      expect(countRequests(emulator).posts).toBe(1);
    });

    test('lets one of eight workers take a call over', async () => {
      const { emulator, videos } = emulatedVideos();
      const ledger = await make();
      await ledger.finish('job', 'unknown', { claimId: await claimIdOf(ledger.claim('job', '')) });
      emulator.fail({
        operation: 'videos.create',
        fault: { type: 'slow', milliseconds: 100 },
      });

      await Promise.allSettled(
        Array.from({ length: 8 }, () =>
          videos.create(order, { ledger, callId: 'job', onUnknown: 'resubmit' }),
        ),
      );

      expect(countRequests(emulator).posts).toBe(1);
    });

    test('a ledger does not release a call with an unknown outcome after a late rejection', async () => {
      const { ledger, posts } = await twoWorkers(refusal, page);
      const { requests, videos } = answeredVideos(made('c'));

      const error = await failureOf(videos.create(order, { ledger, callId: 'job' }));

      expect(error).toMatchObject({ name: 'VideoSubmitUnknownError', isInProgress: false });
      expect(posts).toBe(2);
      expect(requests).toHaveLength(0);
    });

    test.each([
      ['was refused', refusal],
      ['knows nothing', page],
    ])('a second submission is not affected if the late worker %s', async (__, endOfA) => {
      const ledger = await make();
      const events = new EventTarget();
      const held = (name: string, end: () => Response) => {
        const sent = new Promise((resolve) => {
          events.addEventListener(`${name} sent`, resolve, { once: true });
        });
        const released = new Promise((resolve) => {
          events.addEventListener(`${name} ends`, resolve, { once: true });
        });
        const { videos } = answeredVideos(async () => {
          events.dispatchEvent(new Event(`${name} sent`));
          await released;
          return end();
        });
        return { videos, sent };
      };
      const [a, b] = [held('a', endOfA), held('b', made('b'))];
      const options = { ledger, callId: 'job', onUnknown: 'resubmit' } as const;
      const first = failureOf(a.videos.create(order, options));
      await a.sent;
      await ledger.finish('job', 'unknown');
      const second = b.videos.create(order, options);
      await b.sent;

      events.dispatchEvent(new Event('a ends'));
      await first;
      const third = answeredVideos(made('c'));
      const error = await failureOf(third.videos.create(order, options));
      events.dispatchEvent(new Event('b ends'));

      expect(error).toMatchObject({ isInProgress: true });
      expect(third.requests).toHaveLength(0);
      const { ref } = await second;
      expect((await ledger.entry('job'))?.refs).toEqual([ref]);
    });

    test('keeps the tasks of two workers', async () => {
      const { ledger, a, b, posts } = await twoWorkers(made('a'), made('b'));

      expect(await ledger.entry('job')).toMatchObject({ status: 'accepted' });
      expect((await ledger.entry('job'))?.refs).toEqual([b, a]);
      expect(posts).toBe(2);
    });
  });
}
