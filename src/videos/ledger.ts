import { isObject } from '../answers/objects.ts';
import { check, checkWord } from '../check.ts';
import { APIUserAbortError } from '../errors/api-errors.ts';
import { unknownAdvice, VideoSubmitUnknownError } from '../errors/operation-errors.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';
import { withAbortGrace, untilAborted } from '../http/abort.ts';
import { writeJSON } from '../http/json.ts';
import { callbackError, LedgerError, stoppedError, VideoWaitAbortedError } from './errors.ts';
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

/** A call that nobody may submit again as it is. */
type KnownCall =
  | {
      /** `submitting`: claimed, and never said how it ended. `unknown`: said that it is not known. */
      readonly status: 'submitting' | 'unknown';
      readonly inputHash: string;
      /** Which claim it is. Whoever takes it over has to name it. */
      readonly claimId: string;
      /** Whether whoever claimed it still runs; `undefined` when that cannot be told. */
      readonly isAlive?: boolean | undefined;
      /** The request of the claim, as given to `finish`: the usage log knows it by this id. */
      readonly requestId?: string | undefined;
      /** Whether its error response was read to its end, as given to `finish`. */
      readonly isAnswered?: boolean | undefined;
    }
  | {
      readonly status: 'accepted' | 'finished';
      readonly inputHash: string;
      readonly ref: VideoTaskRef;
    };

/** What a ledger says to somebody who wants to submit. */
export type SubmitClaim =
  | {
      /** Nobody has submitted this call, and nobody else will: go ahead. */
      readonly status: 'claimed';
      /** The claim, to be named when it has led to something. Each is another one. */
      readonly claimId: string;
    }
  | KnownCall;

/** What a ledger knows of a call. */
export type SubmitEntry = KnownCall & {
  /**
   * Every task that was made of the call: more than one when it was submitted again though nobody knew
   * what had become of it. Each is paid for. The first is the one that the ledger gives to all who ask.
   */
  readonly refs: readonly VideoTaskRef[];
};

/**
 * Remembers which submissions were made, so that a crash between sending one and learning its task
 * id cannot lead to a second one.
 *
 * Each method must have taken effect, durably, when its promise is fulfilled, and should have changed
 * nothing when it is rejected. In a database, `claim` is an insert that fails when the row exists. One
 * that hangs holds its call up until `signal` is aborted; `accept` is then given five seconds more, and
 * `finish` never more than that.
 *
 * A process may sleep through anything, and then say how a claim ended that another one has taken over.
 * So `accept` and `finish` name the claim they speak for. Without one, it is a person who speaks, or
 * somebody who was given the task by the ledger: that counts for the call as it is.
 */
export interface SubmitLedger {
  /**
   * Claims a call, atomically: of all who ask at the same time, one is told `claimed`.
   *
   * @param inputHash - A digest of what is submitted. To be stored.
   * @param replaces - The claim that may be taken over, if it is still the current one.
   */
  claim(callId: string, inputHash: string, replaces?: string): Promise<SubmitClaim>;
  /**
   * The gateway has accepted the call as this task, which is paid for. So it is kept whoever says it,
   * also beside the task of another claim. One that comes without a claim goes before the others.
   */
  accept(callId: string, ref: VideoTaskRef, claimId?: string): Promise<void>;
  /**
   * The call has ended. This changes nothing when the claim is no longer the current one. Nor do
   * `not_submitted` and `unknown` once there is a task, and `not_submitted` does not free a call of
   * which an earlier claim is in doubt.
   *
   * @param requestId - With `unknown`: the only request that was sent, where the gateway told its id. To be
   * stored with the claim, for `onUnknown: "settle"`; a ledger that does not settles less.
   * @param isAnswered - With `requestId`: whether its error response was read to its end. To be stored with
   * it: without it a submission that failed can't be shown to be free, and is not submitted again.
   */
  finish(
    callId: string,
    end: SubmitEnd,
    claimId?: string,
    requestId?: string,
    isAnswered?: boolean,
  ): Promise<void>;
  /** Reads what is known of a call, without a claim; `undefined` when it may be submitted. */
  entry(callId: string): Promise<SubmitEntry | undefined>;
}

const ends: readonly SubmitEnd[] = ['completed', 'failed', 'not_submitted', 'unknown'];

/** Checks what a ledger is asked about or told; an end that is not known could be taken for any. */
export function checkAsked(callId: unknown, claimId?: unknown, end: unknown = 'unknown'): void {
  const isText = typeof callId === 'string' && callId !== '';
  check(isText, 'callId', 'is empty; give the id of your job.');
  checkWord('end', end, ends);
  const isClaim = claimId === undefined || (typeof claimId === 'string' && claimId !== '');
  check(isClaim, 'claimId', 'must be the text that claim() gave.');
}

/** Whether two handles are of the same task. */
export function isSameTask(one: VideoTaskRef, other: VideoTaskRef): boolean {
  return one.id === other.id && one.baseURL === other.baseURL;
}

/** A call, as a ledger in memory knows it. */
interface MemoryCall {
  readonly inputHash: string;
  readonly claimId: string;
  status: 'submitting' | 'unknown';
  /** Whether a claim before this one may have made a task. */
  readonly isDoubtful: boolean;
  requestId?: string | undefined;
  isAnswered?: boolean | undefined;
  refs: readonly VideoTaskRef[];
  /** Whether the first of its tasks has ended. */
  isOver: boolean;
}

function entryOf(call: MemoryCall): SubmitEntry {
  const { inputHash, claimId, status, requestId, isAnswered, refs, isOver } = call;
  const [ref] = refs;
  if (ref !== undefined) {
    return { status: isOver ? 'finished' : 'accepted', inputHash, ref, refs };
  }
  // Whoever claimed it runs in this process, so it runs until it says how it ended.
  const isAlive = status === 'submitting';
  const request = requestId && { requestId, ...(isAnswered && { isAnswered }) };
  return { status, inputHash, claimId, isAlive, refs, ...request };
}

/**
 * A ledger of submissions that lasts as long as the process: it keeps a job that is tried again in
 * the same process from being submitted twice. `fileLedger` of `model-gateway/node` survives crashes.
 */
export function memoryLedger(): SubmitLedger {
  const calls = new Map<string, MemoryCall>();
  let claims = 0;
  const enter = (callId: string, inputHash: string, before?: MemoryCall): MemoryCall => {
    claims += 1;
    const call: MemoryCall = {
      inputHash,
      claimId: `${claims}`,
      status: 'submitting',
      isDoubtful: before !== undefined,
      refs: [],
      isOver: false,
    };
    calls.set(callId, call);
    return call;
  };
  return {
    async claim(callId, inputHash, replaces) {
      checkAsked(callId);
      const found = calls.get(callId);
      if (found !== undefined && (found.refs.length > 0 || found.claimId !== replaces)) {
        const { refs: _, ...known } = entryOf(found);
        return known;
      }
      return { status: 'claimed', claimId: enter(callId, inputHash, found).claimId };
    },
    async accept(callId, given, claimId) {
      checkAsked(callId, claimId);
      const ref = parseVideoTaskRef(given);
      const call = calls.get(callId) ?? enter(callId, '');
      const others = call.refs.filter((other) => !isSameTask(other, ref));
      if (claimId === undefined) Object.assign(call, { refs: [ref, ...others], isOver: false });
      else if (others.length === call.refs.length) call.refs = [...others, ref];
    },
    async finish(callId, end, claimId, requestId, isAnswered) {
      checkAsked(callId, claimId, end);
      const call = calls.get(callId);
      if (call === undefined || (claimId ?? call.claimId) !== call.claimId) return;
      const hasEnded = end === 'completed' || end === 'failed';
      if (call.refs.length > 0) call.isOver ||= hasEnded;
      else if (end === 'not_submitted' && !call.isDoubtful) calls.delete(callId);
      else if (!hasEnded) Object.assign(call, { status: 'unknown', requestId, isAnswered });
    },
    async entry(callId) {
      checkAsked(callId);
      const call = calls.get(callId);
      return call && entryOf(call);
    },
  };
}

/** What to do about a submission that the usage log does not free. */
const settleAdvice = {
  charged: 'It is paid for, and the usage log does not name its task.',
  refunded: 'The usage log has its refund, but the ledger holds the call.',
  not_charged: 'By the usage log it was not charged, but the ledger holds the call.',
  unknowable: 'It may be paid for: do not submit it again before that is known.',
} as const;

type Signal = AbortSignal | null | undefined;

/** How long somebody who is told of a paid task is given for it after an abort, in milliseconds. */
const abortGraceMs = 5_000;

/** Hands a paid task over to something of the caller's; when that fails, the error has the handle. */
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
    throw isOver ? stoppedError('aborted', { ref }, error) : callbackError(name, { ref }, error);
  }
}

/** What the usage log tells about a submission with an unknown outcome. */
export interface Settled {
  readonly verdict: 'charged' | 'refunded' | 'not_charged' | 'unknowable';
  readonly why: string;
  /** The task that was charged, where the usage log names it. */
  readonly ref?: VideoTaskRef | undefined;
  readonly cause?: unknown;
}

/** What a ledger keeps of the only request of a submission. */
export interface SubmittedRequest {
  readonly requestId?: string | undefined;
  /** Whether its error response was read to its end. */
  readonly isAnswered?: boolean | undefined;
}

/** A submission as its ledger knows it: under the call id of the caller. */
export class LedgerCall {
  readonly #ledger: SubmitLedger;
  readonly #callId: string;
  readonly #signal: Signal;
  /** The claim of this submission. Whoever goes on with a task that was made before has none. */
  #claimId: string | undefined;

  constructor(ledger: SubmitLedger, callId: string, signal: Signal) {
    this.#ledger = ledger;
    this.#callId = callId;
    this.#signal = signal;
  }

  /**
   * Claims the call for a submission.
   *
   * @param content - What is submitted.
   * @param settle - Looks up what became of a claim in doubt, by its request where that is known.
   * @returns The task that was made of the call before; `undefined` when it may be submitted now.
   */
  async claim(
    content: unknown,
    onUnknown: 'fail' | 'resubmit' | 'settle' | undefined,
    settle: (request: SubmittedRequest) => Promise<Settled>,
  ): Promise<VideoTaskRef | undefined> {
    const callId = this.#callId;
    const digest = await digestOf(content);
    let found = await this.#ask(digest);
    const isSame = found.status === 'claimed' || ['', digest].includes(found.inputHash);
    check(isSame, 'callId', 'belongs to another submission; give each its own.');
    let settled: Settled | undefined;
    if (
      (found.status === 'submitting' || found.status === 'unknown') &&
      // Without it, which a ledger of the caller's own may leave out, it could be somebody else's claim.
      'claimId' in found &&
      found.isAlive !== true
    ) {
      const { claimId, requestId, isAnswered } = found;
      if (onUnknown === 'resubmit') found = await this.#ask(digest, claimId);
      if (onUnknown === 'settle') {
        settled = await settle({ requestId, isAnswered });
        const { ref, verdict } = settled;
        if (ref !== undefined) {
          this.#claimId = claimId;
          await this.accept(ref);
          return ref;
        }
        if (verdict === 'refunded' || verdict === 'not_charged') {
          await this.finish('not_submitted', {}, claimId);
          // Anew: somebody may have taken the claim over meanwhile, and an earlier one may be in doubt too.
          found = await this.#ask(digest);
        }
      }
    }
    if (found.status === 'claimed') return undefined;
    // Databases may hold the field for others too.
    if (found.status === 'accepted' || found.status === 'finished') {
      return parseVideoTaskRef(found.ref);
    }
    const isUnderWay = 'isAlive' in found && found.isAlive === true;
    const problem = isUnderWay
      ? 'is being submitted at this moment'
      : 'was submitted before, and it is not known whether that made a task';
    throw new VideoSubmitUnknownError(`Call ${callId} ${problem}.`, {
      callId,
      isUnderWay,
      evidence: { phase: 'sent', attempts: [] },
      cause: settled?.cause,
      advice: isUnderWay
        ? 'Try again later with the same callId: the ledger will know the task by then.'
        : settled === undefined
          ? `${unknownAdvice} onUnknown: "resubmit" does it all the same.`
          : `${settleAdvice[settled.verdict]} ${settled.why}`.trim(),
    });
  }

  /** Asks the ledger for the call. Nothing is sent before its answer has come. */
  async #ask(digest: string, replaces?: string): Promise<SubmitClaim> {
    const callId = this.#callId;
    const signal = this.#signal;
    const asked = (async () => this.#ledger.claim(callId, digest, replaces))();
    let found: SubmitClaim;
    try {
      found = await untilAborted(asked, signal);
    } catch (cause) {
      if (InvalidInputError.isInstance(cause) || LedgerError.isInstance(cause)) throw cause;
      if (signal?.aborted !== true) {
        const problem = `The ledger failed to claim call ${callId}.`;
        throw new LedgerError(problem, { outcome: 'not_sent', callId, cause });
      }
      // A claim that comes too late is given back: nobody will submit.
      const giveBack = (late: SubmitClaim) =>
        late.status === 'claimed' ? this.finish('not_submitted', {}, late.claimId) : undefined;
      asked.then(giveBack).catch(() => {});
      throw new APIUserAbortError('The submission was aborted before anything was sent.', {
        outcome: 'not_sent',
        callId,
        cause: signal.reason,
      });
    }
    const words = ['claimed', 'submitting', 'unknown', 'accepted', 'finished'];
    const problem = `gave no claim; claim() must give { status } with one of "${words.join('", "')}".`;
    check(isObject(found) && words.includes(found.status), 'ledger', problem);
    if (found.status !== 'claimed') return found;
    const claimId: unknown = found.claimId;
    const unnamed =
      'gave a claim without an id; claim() must give { status: "claimed", claimId }, with text that no other claim has.';
    check(typeof claimId === 'string' && claimId !== '', 'ledger', unnamed);
    this.#claimId = claimId;
    return found;
  }

  /** Enters the task that the call has made. */
  async accept(ref: VideoTaskRef): Promise<void> {
    try {
      const enter = () => this.#ledger.accept(this.#callId, ref, this.#claimId);
      await handOver('ledger.accept', ref, enter, this.#signal);
    } catch (error) {
      // One that hangs may still be entering it, and is not to be talked over.
      if (!VideoWaitAbortedError.isInstance(error)) await this.finish('unknown');
      throw error;
    }
  }

  /** Tells how the call ended. What is lost when that fails or hangs is only told again. */
  async finish(
    end: SubmitEnd,
    { requestId, isAnswered }: SubmittedRequest = {},
    claimId = this.#claimId,
  ): Promise<void> {
    const told = (async () =>
      this.#ledger.finish(this.#callId, end, claimId, requestId, isAnswered))();
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
  const text = new TextEncoder().encode(writeJSON('body', content, sortFields));
  const digest = await crypto.subtle.digest('SHA-256', text);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
