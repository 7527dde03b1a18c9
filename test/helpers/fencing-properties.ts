import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type SubmitLedger, memoryLedger } from '../../src/index.ts';
import { makeRef } from '../../src/tasks/ref.ts';
import type { VideoTaskRef } from '../../src/resources/videos/types.ts';

/** Next event: a worker claims the call, or one that has submitted it reports the outcome. */
type Step =
  | { readonly act: 'claim' | 'take over' }
  | { readonly act: 'accepted' | 'refused' | 'unknown' | 'completed'; readonly worker: number };

const steps = fc.array(
  fc.oneof(
    fc.record({ act: fc.constantFrom('claim' as const, 'take over' as const) }),
    fc.record({
      act: fc.constantFrom(
        'accepted' as const,
        'refused' as const,
        'unknown' as const,
        'completed' as const,
      ),
      worker: fc.nat(5),
    }),
  ),
  { minLength: 3, maxLength: 14 },
);

interface Worker {
  readonly claimId: string;
  readonly ref: VideoTaskRef;
  /** The true outcome of its submission. */
  fate: 'open' | 'accepted' | 'refused' | 'unknown';
}

/** Workers that submit one call with a ledger, and report true outcomes. */
class Fleet {
  readonly workers: Worker[] = [];
  readonly #ledger: SubmitLedger;

  constructor(ledger: SubmitLedger) {
    this.#ledger = ledger;
  }

  /** @returns the entry of the ledger, without the order of later tasks */
  async do(step: Step): Promise<unknown> {
    if ('worker' in step) await this.#tell(step.act, this.workers.at(step.worker));
    else await this.#claim(step.act === 'take over');
    const entry = await this.#ledger.entry('job');
    const ids = entry?.refs.map(({ id }) => id) ?? [];
    const accepted = this.workers.filter(({ fate }) => fate === 'accepted');
    expect(ids.toSorted()).toEqual(accepted.map(({ ref }) => ref.id).toSorted());
    return { ...entry, claimId: undefined, refs: [ids[0], ids.slice(1).toSorted()] };
  }

  async #claim(takesOver: boolean): Promise<void> {
    const entry = await this.#ledger.entry('job');
    const current = entry !== undefined && 'claimId' in entry ? entry.claimId : undefined;
    const claim = await this.#ledger.claim('job', 'hash', takesOver ? current : undefined);
    if (claim.status !== 'claimed') return;
    // A call that may be charged is submitted only by a worker with "resubmit".
    const isSafe = this.workers.every(({ fate }) => fate === 'refused');
    expect(isSafe || (takesOver && current !== undefined)).toBe(true);
    expect(this.workers.map(({ claimId }) => claimId)).not.toContain(claim.claimId);
    const id = `task_${this.workers.length}`;
    const ref = makeRef({ id, baseURL: 'https://gateway.test', createdAt: 5 });
    this.workers.push({ claimId: claim.claimId, ref, fate: 'open' });
  }

  async #tell(act: Exclude<Step['act'], 'claim' | 'take over'>, worker?: Worker): Promise<void> {
    if (worker === undefined) return;
    const { claimId, ref, fate } = worker;
    if (act === 'completed') {
      if (fate === 'accepted') await this.#ledger.finish('job', 'completed', { claimId });
      return;
    }
    if (fate !== 'open') return;
    worker.fate = act;
    if (act === 'accepted') await this.#ledger.accept('job', ref, claimId);
    else await this.#ledger.finish('job', act === 'refused' ? 'not_submitted' : act, { claimId });
  }
}

/**
 * The contract of every ledger for any order of reports: it releases no call that may be charged, loses no
 * task, and has the same entry as the ledger in memory.
 *
 * @param make - Makes one that knows no call.
 */
export function testInterleavings(
  name: string,
  make: () => Promise<SubmitLedger>,
  numRuns: number,
): void {
  // A ledger in files or a database takes thousands of steps.
  test(`${name} releases no call that may be charged and loses no task, whatever workers report`, async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (given) => {
        const inMemory = new Fleet(memoryLedger());
        const other = new Fleet(await make());
        for (const step of [{ act: 'claim' } as const, ...given]) {
          expect(await other.do(step)).toEqual(await inMemory.do(step));
        }
      }),
      { numRuns },
    );
  }, 120_000);
}
