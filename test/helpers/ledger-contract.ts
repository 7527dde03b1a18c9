import { describe, expect, test } from 'vitest';
import {
  InvalidInputError,
  type ListingLedger,
  type SubmitClaim,
  type TaskRef,
} from '../../src/index.ts';
import { makeRef } from '../../src/tasks/ref.ts';
import type { VideoTaskRef } from '../../src/resources/videos/types.ts';
import { untyped } from './untyped.ts';
import { failureOf } from './clients.ts';

const ref = makeRef({ id: 'task_1', baseURL: 'https://gateway.test', createdAt: 5, callId: 'job' });

/** The id of a claim, of any worker. */
export async function claimIdOf(asked: Promise<SubmitClaim>): Promise<string> {
  const found = await asked;
  return 'claimId' in found ? found.claimId : '';
}

/**
 * The contract of every ledger.
 *
 * @param make - Makes one that knows no call.
 */
export function testLedger(name: string, make: () => Promise<ListingLedger>): void {
  describe(name, () => {
    test('lists the calls that are not over, oldest first', async () => {
      const ledger = await make();
      const before = Date.now() + 60_000;
      const claimId = await claimIdOf(ledger.claim('taken over', 'hash'));
      await ledger.claim('submitting', 'hash');
      await ledger.finish('unknown', 'unknown', {
        claimId: await claimIdOf(ledger.claim('unknown', 'hash')),
      });
      for (const callId of ['accepted', 'completed', 'failed', 'x'.repeat(500)]) {
        await ledger.accept(callId, { ...ref, callId }, await claimIdOf(ledger.claim(callId, '')));
      }
      await ledger.finish('completed', 'completed');
      await ledger.finish('failed', 'failed');
      await ledger.claim('released', 'hash');
      await ledger.finish('released', 'not_submitted');
      await ledger.claim('taken over', 'hash', claimId);

      const open = await ledger.open();

      expect(
        open.map(({ callId, status }) => `${callId.slice(0, 20)} ${status}`).toSorted(),
      ).toEqual([
        'accepted accepted',
        'submitting submitting',
        'taken over submitting',
        'unknown unknown',
        `${'x'.repeat(20)} accepted`,
      ]);
      const times = open.map(({ since = 0 }) => since);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      expect(Math.abs((times[0] ?? 0) - Date.now())).toBeLessThan(60_000);
      for (const { callId, since: _, ...entry } of open) {
        expect(await ledger.entry(callId)).toEqual(entry);
      }
      expect(await ledger.open({ before })).toEqual(open);
      expect(await ledger.open({ before: before - 120_000 })).toEqual([]);
      expect(await failureOf(ledger.open({ before: Number.NaN }))).toMatchObject({
        field: 'before',
      });
    });

    test('a call goes from claimed to accepted to finished', async () => {
      const ledger = await make();

      expect(await ledger.claim('job', 'hash')).toMatchObject({ status: 'claimed' });
      expect(await ledger.claim('job', 'hash')).toEqual({
        status: 'submitting',
        inputHash: 'hash',
        claimId: expect.any(String),
        isAlive: true,
      });
      await ledger.accept('job', ref);
      expect(await ledger.claim('job', 'other')).toEqual({
        status: 'accepted',
        inputHash: 'hash',
        ref,
      });
      await ledger.finish('job', 'completed');
      expect(await ledger.claim('job', 'hash')).toMatchObject({ status: 'finished', ref });
    });

    test('keeps the request id of an unknown outcome with its claim', async () => {
      const ledger = await make();
      const first = await claimIdOf(ledger.claim('job', 'hash'));
      await ledger.finish('job', 'unknown', {
        claimId: first,
        requestId: '20260101-request',
        isErrorComplete: true,
      });
      const told = [await ledger.claim('job', 'hash'), await ledger.entry('job')];

      const second = await claimIdOf(ledger.claim('job', 'hash', first));
      await ledger.finish('job', 'unknown', { claimId: first, requestId: '20260101-late' });
      const underWay = await ledger.entry('job');
      await ledger.finish('job', 'unknown', { claimId: second });

      const known = {
        status: 'unknown',
        claimId: first,
        requestId: '20260101-request',
        isErrorComplete: true,
      };
      expect(told).toMatchObject([known, known]);
      expect(underWay).not.toHaveProperty('requestId');
      expect(await ledger.entry('job')).toMatchObject({ status: 'unknown', claimId: second });
      expect(await ledger.entry('job')).not.toHaveProperty('requestId');
      expect(await ledger.entry('job')).not.toHaveProperty('isErrorComplete');

      await ledger.finish('job', 'unknown', {
        claimId: second,
        requestId: '20260101-cut',
        isErrorComplete: false,
      });
      expect(await ledger.entry('job')).toMatchObject({ requestId: '20260101-cut' });
      expect(await ledger.entry('job')).not.toHaveProperty('isErrorComplete');
    });

    test('keeps handles of kinds that this version does not know', async () => {
      const ledger = await make();
      const part = 'of a "later"\nversion';
      const other = untyped<TaskRef>({ ...ref, kind: 'sound', route: undefined, part });
      const claimId = await claimIdOf(ledger.claim('job', 'hash'));
      await ledger.accept('job', other, claimId);
      await ledger.accept('job', { ...other, id: 'task_2' }, 'earlier');

      const entry = await ledger.entry('job');
      expect(entry).toMatchObject({ status: 'accepted', ref: { kind: 'sound', part } });
      expect(entry?.refs.map(({ id }) => id)).toEqual(['task_1', 'task_2']);
      expect(await ledger.claim('job', 'hash')).toMatchObject({ status: 'accepted' });
    });

    test('keeps calls independent', async () => {
      const ledger = await make();

      for (const callId of ['a', 'A', '../a', 'a/b', 'ä', ' ', 'x'.repeat(5_000)]) {
        expect(await ledger.claim(callId, 'hash')).toMatchObject({ status: 'claimed' });
      }
    });

    test('one of many concurrent claims succeeds', async () => {
      const ledger = await make();

      const claims = await Promise.all(
        Array.from({ length: 50 }, () => ledger.claim('job', 'hash')),
      );

      expect(claims.filter(({ status }) => status === 'claimed')).toHaveLength(1);
    });

    test('a call that provably created no task may be claimed again', async () => {
      const ledger = await make();
      await ledger.claim('job', 'hash');

      await ledger.finish('job', 'not_submitted');

      expect(await ledger.claim('job', 'other')).toMatchObject({ status: 'claimed' });
    });

    test('a call of unknown outcome stays claimed, without an active worker', async () => {
      const ledger = await make();
      await ledger.claim('job', 'hash');

      await ledger.finish('job', 'unknown');

      expect(await ledger.claim('job', 'hash')).toMatchObject({
        status: 'unknown',
        isAlive: false,
      });
    });

    test('a takeover names the claim, and one of many succeeds', async () => {
      const ledger = await make();
      await ledger.claim('job', 'hash');
      await ledger.finish('job', 'unknown');
      const found = await ledger.claim('job', 'hash');
      const claimId = 'claimId' in found ? found.claimId : '';

      const wrong = await ledger.claim('job', 'hash', 'another');
      const takers = Array.from({ length: 20 }, () => ledger.claim('job', 'hash', claimId));

      const claims = await Promise.all(takers);
      expect(wrong).toMatchObject({ status: 'unknown' });
      expect(claims.filter(({ status }) => status === 'claimed')).toHaveLength(1);
    });

    test('a released takeover keeps the unknown outcome of the first claim', async () => {
      const ledger = await make();
      await ledger.claim('job', 'hash');
      await ledger.finish('job', 'unknown');
      const found = await ledger.claim('job', 'hash');
      await ledger.claim('job', 'hash', 'claimId' in found ? found.claimId : '');

      await ledger.finish('job', 'not_submitted');

      expect(await ledger.claim('job', 'hash')).toMatchObject({ status: 'unknown' });
    });

    test('a later call never discards an accepted task', async () => {
      const ledger = await make();
      await ledger.claim('job', 'hash');
      await ledger.accept('job', ref);

      for (const end of ['not_submitted', 'unknown', 'failed'] as const) {
        await ledger.finish('job', end);
        expect(await ledger.claim('job', 'hash')).toMatchObject({ ref });
      }
    });

    test('a call with a task cannot be taken over, not even by its own claim', async () => {
      const ledger = await make();
      const claimId = await claimIdOf(ledger.claim('job', 'hash'));
      await ledger.accept('job', ref, claimId);

      expect(await ledger.claim('job', 'hash', claimId)).toMatchObject({ status: 'accepted', ref });
      await ledger.finish('job', 'completed', { claimId });
      expect(await ledger.claim('job', 'hash', claimId)).toMatchObject({ status: 'finished', ref });
    });

    test('a task can be entered manually', async () => {
      const ledger = await make();

      await ledger.accept('job', ref);

      expect(await ledger.claim('job', 'hash')).toMatchObject({ status: 'accepted', ref });
    });

    test('ignores the end of a call without a claim', async () => {
      const ledger = await make();

      await ledger.finish('job', 'not_submitted');

      expect(await ledger.claim('job', 'hash')).toMatchObject({ status: 'claimed' });
    });

    test('keeps a handle unchanged, whatever text it contains', async () => {
      const ledger = await make();
      const odd = {
        ...ref,
        model: 'half \uD800 a pair',
        callId: 'nul \0, line\n, tab\t, "\\", 世界 🎬',
      };
      await ledger.accept('job', odd, await claimIdOf(ledger.claim('job', 'hash')));
      await ledger.accept('job', { ...odd, id: 'task\t"2"\\' }, 'another');

      const entry = await ledger.entry('job');

      expect(entry?.refs).toEqual([odd, { ...odd, id: 'task\t"2"\\' }]);
      expect(await ledger.claim('job', 'hash')).toMatchObject({ status: 'accepted', ref: odd });
    });

    test('recognizes a task with other fields, and distinguishes similar ones', async () => {
      const ledger = await make();
      const claimId = await claimIdOf(ledger.claim('job', 'hash'));
      const others = ['task_', 'task_11', 'ask_1', '%', 'task_1","baseURL":"x'].map((id) => ({
        ...ref,
        id,
      }));
      const elsewhere = { ...ref, baseURL: 'https://gateway.test/v2' };

      for (const task of [ref, ...others, elsewhere, { ...ref, createdAt: 9 }, ...others]) {
        await ledger.accept('job', task, claimId);
      }

      const [first, ...more] = (await ledger.entry('job'))?.refs ?? [];
      expect(first).toEqual(ref);
      expect(more).toHaveLength(others.length + 1);
      expect(more).toEqual(expect.arrayContaining([...others, elsewhere]));
    });

    test.each([
      { callIds: ['\uD800', '\uD801', '\uFFFD'] },
      { callIds: ['a\0', 'a', 'a\0b'] },
      { callIds: [`${'x'.repeat(5_000)}1`, `${'x'.repeat(5_000)}2`, 'x'.repeat(5_000)] },
      { callIds: ['é', 'e\u0301', 'é'.toUpperCase()] },
      { callIds: ["'; DROP TABLE calls; --", '"', '%'] },
    ])('keeps calls apart: $callIds', async ({ callIds }) => {
      const ledger = await make();

      for (const callId of callIds) {
        expect(await ledger.claim(callId, callId.length > 9 ? 'hash' : '')).toMatchObject({
          status: 'claimed',
        });
        await ledger.accept(callId, { ...ref, callId });
      }

      for (const callId of callIds) {
        expect((await ledger.entry(callId))?.refs).toEqual([{ ...ref, callId }]);
      }
    });

    describe('invalid input', () => {
      test.each([undefined, null, 7, '', {}])('rejects the call id %j', async (callId) => {
        const ledger = await make();
        const bad = untyped<string>(callId);

        const errors = await Promise.all([
          failureOf(ledger.claim(bad, 'hash')),
          failureOf(ledger.accept(bad, ref)),
          failureOf(ledger.finish(bad, 'unknown')),
        ]);

        expect(errors.every((error) => InvalidInputError.isInstance(error))).toBe(true);
        expect(errors.map((error) => Reflect.get(Object(error), 'field'))).toEqual(
          Array(3).fill('callId'),
        );
      });

      test.each(['task_1', undefined, {}, { ...ref, v: 2 }])(
        'rejects the handle %j',
        async (handle) => {
          const ledger = await make();
          await ledger.claim('job', 'hash');

          const error = await failureOf(ledger.accept('job', untyped<VideoTaskRef>(handle)));

          expect(InvalidInputError.isInstance(error)).toBe(true);
          expect(await ledger.claim('job', 'hash')).toMatchObject({ status: 'submitting' });
        },
      );

      test.each(['1', null, 7])('the details %j', async (details) => {
        const ledger = await make();
        await ledger.claim('job', 'hash');

        const error = await failureOf(ledger.finish('job', 'unknown', untyped<object>(details)));

        expect(error).toMatchObject({ name: 'InvalidInputError', field: 'details' });
        expect(await ledger.claim('job', 'hash')).toMatchObject({ status: 'submitting' });
      });

      test('rejects an invalid end', async () => {
        const ledger = await make();
        await ledger.claim('job', 'hash');

        const error = await failureOf(ledger.finish('job', untyped<'unknown'>('done')));

        expect(error).toMatchObject({ name: 'InvalidInputError', field: 'end' });
        expect(await ledger.claim('job', 'hash')).toMatchObject({ status: 'submitting' });
      });
    });
  });
}
