import type { VideoTaskRef } from './types.ts';

/** How a submission ended, as far as its ledger is concerned. */
export type SubmitEnd =
  /** The task ended: well, or as a failure. */
  | 'completed'
  | 'failed'
  /** It provably made no task: it was never sent, or was refused. It may be claimed again. */
  | 'not_submitted'
  /** It was sent, and nobody knows whether it was accepted. */
  | 'unknown';

/** What a ledger says to somebody who wants to submit. */
export type SubmitClaim =
  /** Nobody has submitted this call, and nobody else will: go ahead. */
  | { readonly status: 'claimed' }
  | {
      /** `submitting`: claimed, and never said how it ended. `unknown`: said that it is not known. */
      readonly status: 'submitting' | 'unknown';
      readonly inputHash: string;
      /** Which claim it is. Whoever takes it over has to name it. */
      readonly claimId: string;
      /** Whether whoever claimed it still runs; `undefined` when that cannot be told. */
      readonly isAlive?: boolean | undefined;
    }
  | {
      readonly status: 'accepted' | 'finished';
      readonly inputHash: string;
      readonly ref: VideoTaskRef;
    };

/**
 * Remembers which submissions were made, so that a crash between sending one and learning its task
 * id cannot lead to a second one.
 *
 * Each method must have taken effect, durably, when its promise is fulfilled. In a database, `claim`
 * is an insert that fails when the row exists. One that hangs holds its call up until `signal` is
 * aborted; `accept` is then given five seconds more, and `finish` never more than that.
 */
export interface SubmitLedger {
  /**
   * Claims a call, atomically: of all who ask at the same time, one is told `claimed`.
   *
   * @param inputHash - A digest of what is submitted. To be stored.
   * @param replaces - The claim that may be taken over, if it is still the current one.
   */
  claim(callId: string, inputHash: string, replaces?: string): Promise<SubmitClaim>;
  /** The gateway has accepted the call as this task. */
  accept(callId: string, ref: VideoTaskRef): Promise<void>;
  /** The call has ended. */
  finish(callId: string, end: SubmitEnd): Promise<void>;
}
