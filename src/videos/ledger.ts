import { isObject } from '../answers/objects.ts';
import { check, checkWord } from '../check.ts';
import { APIUserAbortError, unknownAdvice } from '../errors/api-errors.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';
import { withAbortGrace, untilAborted } from '../http/abort.ts';
import {
  callbackError,
  stoppedError,
  summarize,
  VideoSubmitUnknownError,
  VideoWaitAbortedError,
} from './errors.ts';
import { parseVideoTaskRef } from './ref.ts';
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

type Signal = AbortSignal | null | undefined;

/** How long somebody who is told of a paid task is given for it after an abort, in milliseconds. */
const abortGraceMs = 5_000;

/**
 * Hands a paid task over to something of the caller's.
 *
 * @throws `VideoWaitError` with the handle when that throws, `VideoWaitAbortedError` when it hangs and
 * the call is aborted
 */
export async function handOver(
  name: 'onSubmitted' | 'ledger.accept',
  ref: VideoTaskRef,
  tell: (ref: VideoTaskRef) => unknown,
  signal: Signal,
): Promise<void> {
  try {
    const told = (async () => tell(ref))();
    await (signal ? withAbortGrace(told, signal, abortGraceMs, () => signal.reason) : told);
  } catch (error) {
    const isOver = signal?.aborted === true && error === signal.reason;
    const seen = summarize(ref);
    throw isOver ? stoppedError('aborted', seen, error) : callbackError(name, seen, error);
  }
}

/** The task of a call that was accepted; databases may hold the field for others too. */
function acceptedIn(found: SubmitClaim): VideoTaskRef | undefined {
  if (found.status !== 'accepted' && found.status !== 'finished') return undefined;
  return parseVideoTaskRef('ref' in found ? found.ref : undefined);
}

/** A submission as its ledger knows it: under the call id of the caller. */
export class LedgerCall {
  readonly #ledger: SubmitLedger;
  readonly #callId: string;
  readonly #signal: Signal;

  constructor(ledger: SubmitLedger, callId: string, signal: Signal) {
    this.#ledger = ledger;
    this.#callId = callId;
    this.#signal = signal;
  }

  /**
   * Claims the call for a submission.
   *
   * @param content - What is submitted.
   * @returns The task that was made of the call before; `undefined` when it may be submitted now.
   */
  async claim(
    content: unknown,
    onUnknown: 'fail' | 'resubmit' | undefined,
  ): Promise<VideoTaskRef | undefined> {
    const callId = this.#callId;
    const digest = await digestOf(content);
    let found = await this.#ask(digest);
    if (found.status === 'claimed') return undefined;
    const isSame = found.inputHash === '' || found.inputHash === digest;
    check(isSame, 'callId', 'belongs to another submission; give each its own.');
    const isDone = acceptedIn(found) !== undefined;
    if (!isDone && 'claimId' in found && found.isAlive !== true && onUnknown === 'resubmit') {
      found = await this.#ask(digest, found.claimId);
      if (found.status === 'claimed') return undefined;
    }
    const known = acceptedIn(found);
    if (known !== undefined) return known;
    const problem =
      'isAlive' in found && found.isAlive === true
        ? 'is being submitted at this moment'
        : 'was submitted before, and it is not known whether that made a task';
    throw new VideoSubmitUnknownError(`Call ${callId} ${problem}.`, {
      callId,
      evidence: { phase: 'sent', attempts: [] },
      advice: `${unknownAdvice} onUnknown: "resubmit" does it all the same.`,
    });
  }

  /** Asks the ledger for the call. Nothing is sent before its answer has come. */
  async #ask(digest: string, replaces?: string): Promise<SubmitClaim> {
    const callId = this.#callId;
    const signal = this.#signal;
    const asked = (async () => this.#ledger.claim(callId, digest, replaces))();
    let found: SubmitClaim;
    try {
      found = await (signal ? untilAborted(asked, signal) : asked);
    } catch (cause) {
      if (InvalidInputError.isInstance(cause)) throw cause;
      if (signal?.aborted !== true) {
        const problem = 'failed to claim the call; nothing was submitted.';
        throw new InvalidInputError('ledger', problem, { cause });
      }
      // A claim that comes too late is given back: nobody will submit.
      asked
        .then(({ status }) => (status === 'claimed' ? this.finish('not_submitted') : undefined))
        .catch(() => {});
      throw new APIUserAbortError('The submission was aborted before anything was sent.', {
        outcome: 'not_sent',
        callId,
        cause: signal.reason,
      });
    }
    const words = ['claimed', 'submitting', 'unknown', 'accepted', 'finished'];
    const problem = `gave no claim; claim() must give { status } with one of "${words.join('", "')}".`;
    check(isObject(found) && words.includes(found.status), 'ledger', problem);
    return found;
  }

  /** Enters the task that the call has made. */
  async accept(ref: VideoTaskRef): Promise<void> {
    try {
      const enter = () => this.#ledger.accept(this.#callId, ref);
      await handOver('ledger.accept', ref, enter, this.#signal);
    } catch (error) {
      // One that hangs may still be entering it, and is not to be talked over.
      if (!VideoWaitAbortedError.isInstance(error)) await this.finish('unknown');
      throw error;
    }
  }

  /** Tells how the call ended. What is lost when that fails or hangs is only told again. */
  async finish(end: SubmitEnd): Promise<void> {
    const told = (async () => this.#ledger.finish(this.#callId, end))();
    // It is over already: whoever waits for the end is not kept for long. A call that stays claimed is
    // not submitted again, and one that stays accepted is only read.
    const over = AbortSignal.abort();
    await withAbortGrace(told, over, abortGraceMs, () => undefined).catch(() => {});
  }
}

function sortFields(_: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** A digest that does not depend on the order of fields, which databases change. */
async function digestOf(content: unknown): Promise<string> {
  let text: string;
  try {
    text = JSON.stringify(content, sortFields);
  } catch (cause) {
    const problem = 'cannot be written as JSON; it may hold a cycle or a BigInt.';
    throw new InvalidInputError('body', problem, { cause });
  }
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
