import { InvalidInputError } from '../errors/gateway-error.ts';
import type { SubmitEnd } from '../types/submit-ledger.ts';

const ends: readonly SubmitEnd[] = ['completed', 'failed', 'not_submitted', 'unknown'];

/** Checks the id of a call that a ledger is asked about. */
export function checkCallId(callId: unknown): void {
  if (typeof callId === 'string' && callId !== '') return;
  throw new InvalidInputError('callId', 'must be text that is not empty.');
}

/** Checks how a call is said to have ended: a word that is not known could be taken for any of them. */
export function checkEnd(end: unknown): void {
  if (ends.some((known) => known === end)) return;
  throw new InvalidInputError('end', `must be one of "${ends.join('", "')}".`);
}
