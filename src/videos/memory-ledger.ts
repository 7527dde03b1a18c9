import { check, checkWord } from '../check.ts';
import { parseVideoTaskRef } from './task-ref.ts';
import type { SubmitClaim, SubmitEnd, SubmitLedger } from './submit-ledger.ts';

/** Checks the id of a call that a ledger is asked about. */
export function checkCallId(callId: unknown): void {
  const isText = typeof callId === 'string' && callId !== '';
  check(isText, 'callId', 'is empty; give the id of your job.');
}

const ends: readonly SubmitEnd[] = ['completed', 'failed', 'not_submitted', 'unknown'];

/** Checks how a call is said to have ended: a word that is not known could be taken for any of them. */
export function checkEnd(end: unknown): void {
  checkWord('end', end, ends);
}

/**
 * A ledger of submissions that lasts as long as the process: it keeps a job that is tried again in
 * the same process from being submitted twice. `fileLedger` of `model-gateway/node` survives crashes.
 */
export function memoryLedger(): SubmitLedger {
  const calls = new Map<string, Exclude<SubmitClaim, { status: 'claimed' }>>();
  /** Calls that were submitted before, nobody knows how. */
  const doubtful = new Set<string>();
  let claims = 0;
  return {
    async claim(callId, inputHash, replaces) {
      checkCallId(callId);
      const found = calls.get(callId);
      if (found !== undefined) {
        if (!('claimId' in found) || found.claimId !== replaces) return found;
        doubtful.add(callId);
      }
      claims += 1;
      // Whoever claimed it runs in this process, so it runs until it says how it ended.
      calls.set(callId, { status: 'submitting', inputHash, claimId: `${claims}`, isAlive: true });
      return { status: 'claimed' };
    },
    async accept(callId, given) {
      checkCallId(callId);
      const ref = parseVideoTaskRef(given);
      const { inputHash = '' } = calls.get(callId) ?? {};
      calls.set(callId, { status: 'accepted', inputHash, ref });
    },
    async finish(callId, end) {
      checkCallId(callId);
      checkEnd(end);
      const found = calls.get(callId);
      if (found === undefined) return;
      if ('ref' in found) calls.set(callId, { ...found, status: 'finished' });
      else if (end === 'not_submitted' && !doubtful.has(callId)) calls.delete(callId);
      else calls.set(callId, { ...found, status: 'unknown', isAlive: false });
    },
  };
}
