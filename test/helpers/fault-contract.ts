import { describe, expect, test } from 'vitest';
import { GatewayError, type SubmitClaim, type SubmitLedger } from '../../src/index.ts';
import { makeRef } from '../../src/tasks/ref.ts';
import type { VideoTaskRef } from '../../src/resources/videos/types.ts';
import { untyped } from './untyped.ts';
import type { Fault, Faults } from './faults.ts';
import { emulatedVideos, order } from './videos.ts';

/** Two workers on one ledger, and the faults of what it is stored in. */
export interface FaultyLedger {
  readonly own: SubmitLedger;
  readonly rival: SubmitLedger;
  readonly faults: Faults;
}

function task(id: string): VideoTaskRef {
  return makeRef({ id, baseURL: 'https://gateway.test', createdAt: 5, callId: 'job' });
}

const claimIdIn = (claim: SubmitClaim | undefined): string =>
  claim !== undefined && 'claimId' in claim ? claim.claimId : '';

const claimed = async (ledger: SubmitLedger, replaces?: string): Promise<string> => {
  const claim = await ledger.claim('job', 'hash', replaces);
  expect(claim).toMatchObject({ status: 'claimed' });
  return claimIdIn(claim);
};

/** Repeats a step of a ledger once if it fails. */
async function twice<T>(
  act: () => Promise<T>,
  inFault: (act: () => Promise<unknown>) => Promise<void>,
) {
  let result: T | undefined;
  let isOver = false;
  await inFault(async () => {
    result = await act();
    isOver = true;
  });
  if (!isOver) result = await act();
  return untyped<T>(result);
}

type InFault = (act: () => Promise<unknown>) => Promise<void>;

/** What happens to a call, with one step of it in a fault. */
const stories: readonly [string, (ledgers: FaultyLedger, inFault: InFault) => Promise<void>][] = [
  [
    'a claim that failed can be made again, by the same worker',
    async ({ own, rival }, inFault) => {
      const claim = await twice(() => own.claim('job', 'hash'), inFault);
      expect(claim).toMatchObject({ status: 'claimed' });
      expect(await rival.claim('job', 'hash')).toMatchObject({ status: 'submitting' });
      await own.accept('job', task('a'), claimIdIn(claim));
      expect(await rival.claim('job', 'hash')).toMatchObject({ status: 'accepted' });
    },
  ],
  [
    'a claim that failed is made by one worker only',
    async ({ own, rival }, inFault) => {
      const claims: SubmitClaim[] = [];
      await inFault(async () => void claims.push(await own.claim('job', 'hash')));
      claims.push(await rival.claim('job', 'hash'), await own.claim('job', 'hash'));
      claims.push(await rival.claim('job', 'hash'));
      expect(claims.filter(({ status }) => status === 'claimed')).toHaveLength(1);
    },
  ],
  [
    'a claim that failed may be that of another submission next',
    async ({ own }, inFault) => {
      await inFault(() => own.claim('job', 'hash').then(() => own.finish('job', 'not_submitted')));
      await own.finish('job', 'not_submitted');
      expect(await own.claim('job', 'other')).toMatchObject({ status: 'claimed' });
      expect(await own.entry('job')).toMatchObject({ status: 'submitting', inputHash: 'other' });
    },
  ],
  [
    'a claim of another worker is left as it is',
    async ({ own, rival }, inFault) => {
      const claimId = await claimed(rival);
      const before = await rival.entry('job');
      const claim = await twice(() => own.claim('job', 'hash'), inFault);
      expect(claim).toMatchObject({ status: 'submitting', claimId });
      expect(await rival.entry('job')).toEqual(before);
      await rival.accept('job', task('a'), claimId);
      expect((await own.entry('job'))?.refs).toEqual([task('a')]);
    },
  ],
  [
    'a released call can be claimed',
    async ({ own, rival }, inFault) => {
      await rival.finish('job', 'not_submitted', { claimId: await claimed(rival) });
      const claim = await twice(() => own.claim('job', 'hash'), inFault);
      expect(claim).toMatchObject({ status: 'claimed' });
      expect(await rival.claim('job', 'hash')).toMatchObject({ status: 'submitting' });
      await own.finish('job', 'not_submitted', { claimId: claimIdIn(claim) });
      await claimed(rival);
    },
  ],
  [
    'a takeover that failed can be made again',
    async ({ own, rival }, inFault) => {
      const first = await claimed(rival);
      await rival.finish('job', 'unknown', { claimId: first });
      const claim = await twice(() => own.claim('job', 'hash', first), inFault);
      expect(claim).toMatchObject({ status: 'claimed' });
      expect(await rival.claim('job', 'hash', first)).toMatchObject({ status: 'submitting' });
      await rival.accept('job', task('late'), first);
      await own.accept('job', task('a'), claimIdIn(claim));
      const ids = (await own.entry('job'))?.refs.map(({ id }) => id).toSorted();
      expect(ids).toEqual(['a', 'late']);
    },
  ],
  [
    'a task is kept once it is accepted',
    async ({ own, rival }, inFault) => {
      const claimId = await claimed(own);
      await twice(() => own.accept('job', task('a'), claimId), inFault);
      expect(await rival.claim('job', 'hash', claimId)).toMatchObject({ ref: task('a') });
      expect((await own.entry('job'))?.refs).toEqual([task('a')]);
    },
  ],
  [
    'a task is kept next to that of another worker',
    async ({ own, rival }, inFault) => {
      const first = await claimed(own);
      const second = await claimed(rival, first);
      await rival.accept('job', task('b'), second);
      await twice(() => own.accept('job', task('a'), first), inFault);
      expect((await rival.entry('job'))?.refs).toEqual([task('b'), task('a')]);
    },
  ],
  [
    'a task that a person enters is kept',
    async ({ own, rival }, inFault) => {
      await rival.accept('job', task('b'), await claimed(rival));
      await twice(() => own.accept('job', task('a')), inFault);
      expect((await rival.entry('job'))?.refs).toEqual([task('a'), task('b')]);
    },
  ],
  [
    'a call that created no task can be submitted, also if its end was not recorded',
    async ({ own, rival }, inFault) => {
      const claimId = await claimed(own);
      await inFault(() => own.finish('job', 'not_submitted', { claimId }));
      const next = await claimed(own);
      expect(next).not.toBe(claimId);
      expect(await rival.claim('job', 'hash')).toMatchObject({ status: 'submitting' });
      await own.finish('job', 'not_submitted', { claimId });
      expect(await rival.entry('job')).toMatchObject({ status: 'submitting', claimId: next });
    },
  ],
  [
    'a takeover that created no task keeps the doubt',
    async ({ own, rival }, inFault) => {
      const first = await claimed(rival);
      await rival.finish('job', 'unknown', { claimId: first });
      const second = await claimed(own, first);
      await inFault(() => own.finish('job', 'not_submitted', { claimId: second }));
      expect(await own.claim('job', 'hash')).toMatchObject({ status: 'unknown' });
      expect(await rival.claim('job', 'hash')).toMatchObject({ status: 'unknown' });
    },
  ],
  [
    'an unknown outcome stays unknown',
    async ({ own, rival }, inFault) => {
      const claimId = await claimed(own);
      await twice(() => own.finish('job', 'unknown', { claimId, requestId: 'request-1' }), inFault);
      const known = { status: 'unknown', claimId, requestId: 'request-1' };
      expect(await rival.claim('job', 'hash')).toMatchObject(known);
    },
  ],
  [
    'a call is not submitted again, nor waited for, if its unknown outcome was not recorded',
    async ({ own }, inFault) => {
      const claimId = await claimed(own);
      await inFault(() => own.finish('job', 'unknown', { claimId }));
      const claim = await own.claim('job', 'hash');
      // A lease of a database ends later.
      if (claim.status === 'submitting') expect(claim.claimId).toBe(claimId);
      else expect(claim).toMatchObject({ status: 'unknown', claimId, isAlive: false });
    },
  ],
  [
    'an end is recorded',
    async ({ own, rival }, inFault) => {
      await own.accept('job', task('a'), await claimed(own));
      await twice(() => own.finish('job', 'completed'), inFault);
      expect(await rival.claim('job', 'hash')).toMatchObject({ status: 'finished' });
    },
  ],
];

const moments = ['before', 'after'] as const;

/**
 * The contract of every ledger whose store fails at a step, before or after its effect, once or from then on.
 *
 * @param make - Makes one that knows no call.
 */
export function testFaults(name: string, make: () => Promise<FaultyLedger>): void {
  const variants = moments.flatMap((moment) =>
    [false, true].map((isLasting) => ({ moment, isLasting })),
  );
  describe.each(variants)(`${name} fails $moment a step, lasting: $isLasting`, (variant) => {
    /** Runs a story with a fault at every step of it. Returns the number of steps. */
    async function atEveryStep(
      story: (ledgers: FaultyLedger, inFault: InFault, fault: Fault) => Promise<void>,
    ): Promise<number> {
      for (let step = 1; ; step += 1) {
        const ledgers = await make();
        const fault = { ...variant, step };
        let isReached = false;
        await story(
          ledgers,
          async (act) => {
            isReached = await ledgers.faults.during(fault, () => act().catch(() => undefined));
          },
          fault,
        ).catch((error: unknown) => {
          throw new Error(`With a fault at step ${step}`, { cause: error });
        });
        if (!isReached) return step - 1;
      }
    }

    test.each(stories)('%s', async (_, story) => {
      expect(await atEveryStep(story)).toBeGreaterThan(0);
    });

    test('a submission is charged once, however often it is repeated', async () => {
      const steps = await atEveryStep(async ({ own, rival }, inFault, fault) => {
        const { emulator, videos } = emulatedVideos();
        const submit = async (ledger: SubmitLedger) =>
          videos.create(order, { ledger, callId: 'job' }).then(
            ({ id }) => id,
            (error: unknown) => error,
          );
        const answers: unknown[] = [];
        await inFault(async () => void answers.push(await submit(own)));
        answers.push(await submit(own), await submit(rival), await submit(own));

        const [first, second] = answers;
        const isUnsent = GatewayError.isInstance(first) && first.outcome === 'not_sent';
        expect([first, isUnsent ? second : first]).toContain(emulator.videos.list[0]?.id);
        expect(emulator.charges, `step ${fault.step}`).toHaveLength(1);
      });
      expect(steps).toBeGreaterThan(0);
    });

    test('a submission that was rejected can be repeated, and is charged once', async () => {
      const steps = await atEveryStep(async ({ own }, inFault) => {
        const { emulator, videos } = emulatedVideos();
        emulator.fail({ operation: 'videos.create', fault: { type: 'error', status: 400 } });
        const submit = () => videos.create(order, { ledger: own, callId: 'job' });
        await inFault(submit);
        const ids = [await submit().catch(submit), await submit()].map(({ id }) => id);

        expect(ids).toEqual(emulator.videos.list.flatMap(({ id }) => [id, id]));
        expect(emulator.charges).toHaveLength(1);
      });
      expect(steps).toBeGreaterThan(0);
    });
  });
}
