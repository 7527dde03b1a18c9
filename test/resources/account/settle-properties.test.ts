import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { GatewayError, type Settlement } from '../../../src/index.ts';
import type { Charge, Fault } from '../../../src/testing/index.ts';
import { emulated } from '../../helpers/clients.ts';
import { withFailedChannels } from '../../helpers/usage-log.ts';
import { faultIn, faults, operationNames, operations } from '../../helpers/charge-faults.ts';
import { settle } from '../../helpers/fake-time.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Time for hundreds of calls on a busy machine. */
const options = { timeout: 120_000 };

const step = fc.record({
  operation: fc.constantFrom(...operationNames),
  fault: fc.option(fc.constantFrom(...faults), { nil: undefined, freq: 3 }),
  /** Time since the previous call. */
  pause: fc.constantFrom(0, 500, 5_000, 120_000),
  byCopy: fc.boolean(),
  fails: fc.boolean(),
});

const world = fc.record({
  usageLogErrors: fc.boolean(),
  usageLogCharges: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, fc.constant(false)),
  usageLogTaskIds: fc.boolean(),
  requestIdHeader: fc.boolean(),
  usageLogDelay: fc.constantFrom(0, 2_000, 60_000),
  usageLogEntries: fc.constantFrom(1, 3, 1_000),
});

/** True if a settlement is a part of the sum and is marked as early. */
function isPartial({ verdict, amount, isFinal }: Settlement, made: readonly Charge[]): boolean {
  const kept = made.filter(({ refundedAt }) => refundedAt === undefined);
  const total = kept.reduce((sum, charge) => sum + charge.amount, 0);
  return !isFinal && verdict === 'charged' && (amount?.value ?? 0) < total;
}

test(
  'no verdict is wrong, whatever a client does and its usage log contains',
  options,
  async () => {
    const verdicts = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 6 }),
        world,
        fc.constantFrom(0, -3_600_000, 700, 86_400_000),
        fc.constantFrom(0, 500, 5_000, 90_000),
        fc.boolean(),
        async (steps, quirks, skew, wait, hasFailedChannels) => {
          const { emulator, ...alone } = emulated(
            { timeout: 2_000 },
            { quirks: { ...quirks, usageLogLimit: 0 } },
          );
          emulator.clock.advance(skew);
          // A hidden charge would leave the failed channel as the only entry.
          const isShown = quirks.usageLogCharges && quirks.usageLogEntries > 3;
          const client =
            hasFailedChannels && isShown
              ? alone.client.withOptions({ fetch: withFailedChannels(emulator) })
              : alone.client;
          const copy = client.withOptions({ maxRetries: 0 });
          const { id } = await operations['videos.create'](client);
          const made: { question: unknown; requests: readonly string[]; began: number }[] = [];
          for (const { operation, fault, pause, byCopy, fails } of steps) {
            await vi.advanceTimersByTimeAsync(pause);
            if (fault !== undefined) emulator.fail({ fault: fault satisfies Fault });
            const began = emulator.requests.length;
            const sender = byCopy ? copy : client;
            const end = await settle<unknown>(operations[operation](sender, id));
            const requests = emulator.requests.slice(began).map((request) => request.id);
            const question = end.error ?? Object(end.value)?.ref;
            made.push({ question, requests, began });
            const newest = emulator.videos.list.at(-1);
            if (fails && newest !== undefined && newest.id !== id) emulator.videos.fail(newest.id);
          }
          await vi.advanceTimersByTimeAsync(wait);
          for (const { question, requests } of made) {
            if (question === undefined) continue;
            if ('outcome' in Object(question) && !GatewayError.isInstance(question)) continue;
            const settled = await client.account.settle(Object(question));
            verdicts.set(settled.verdict, (verdicts.get(settled.verdict) ?? 0) + 1);
            // A refund that the log does not show yet does not count.
            const read = emulator.clock.now() - quirks.usageLogDelay;
            const charges = emulator.charges
              .filter(({ requestId }) => requests.includes(requestId))
              .map((charge) =>
                (charge.refundedAt ?? 0) > read ? { ...charge, refundedAt: undefined } : charge,
              );
            expect(isPartial(settled, charges) ? undefined : faultIn(settled, charges)).toBe(
              undefined,
            );
          }
        },
      ),
      { numRuns: 150 },
    );
    // The property would hold as well if nothing were ever concluded.
    for (const verdict of ['charged', 'refunded', 'not_charged', 'unknowable']) {
      expect(verdicts.get(verdict) ?? 0).toBeGreaterThan(0);
    }
  },
);
