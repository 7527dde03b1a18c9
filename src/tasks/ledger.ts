import { defineHidden, errorMessage, isObject } from '../answers/objects.ts';
import { check, checkWord } from '../options/check.ts';
import { APIUserAbortError } from '../errors/api-errors.ts';
import { unknownAdvice } from '../errors/operation-errors.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';
import { untilAborted } from '../http/abort.ts';
import { writeJSON } from '../http/json.ts';
import type { ClientSettings } from '../calls/settings.ts';
import type { SettledSubmission, Transport } from '../calls/transport.ts';
import type { RequestOptions } from '../options/options.ts';
import { LedgerError } from './errors.ts';
import type { AnyRef, Submission } from './kind.ts';
import { withLimit } from './limits.ts';
import { isTaskRef, parseTaskRef, type TaskRef } from './ref.ts';

/** The outcome of a submission, as recorded in its ledger. */
export type SubmitEnd =
  /** The task ended, successfully or as a failure. */
  | 'completed'
  | 'failed'
  /**
   * The submission provably created no task: it was not sent, or was rejected. The call may be claimed again.
   */
  | 'not_submitted'
  /** The submission was sent, but it is unknown whether it was accepted. */
  | 'unknown';

/** A call that may not be submitted again in this state. */
type KnownCall =
  | {
      /** `submitting`: claimed, without an outcome so far. `unknown`: finished with an unknown outcome. */
      readonly status: 'submitting' | 'unknown';
      readonly inputHash: string;
      /** The id of the claim. Pass it as `replaces` to take the claim over. */
      readonly claimId: string;
      /** `true` if the process that claimed it still runs; `undefined` if that is unknown. */
      readonly isAlive?: boolean | undefined;
      /** The request id of the claim in the usage log, as passed to `finish`. */
      readonly requestId?: string | undefined;
      /** `true` if the error response of that request was read completely, as passed to `finish`. */
      readonly isErrorComplete?: boolean | undefined;
    }
  | {
      readonly status: 'accepted' | 'finished';
      readonly inputHash: string;
      readonly ref: TaskRef;
    };

/** The result of a claim. */
export type SubmitClaim =
  | {
      /** The call has not been submitted, and no other claim will succeed: submit it. */
      readonly status: 'claimed';
      /** The id of the claim, unique for each claim. Pass it to `accept` and `finish`. */
      readonly claimId: string;
    }
  | KnownCall;

/** The entry of a call in a ledger. */
export type SubmitEntry = KnownCall & {
  /**
   * Every task that the call created: more than one if it was submitted again after an unknown outcome.
   * Each is paid for. `claim` and `entry` return the first as `ref`.
   */
  readonly refs: readonly TaskRef[];
};

/** The only request of a submission whose outcome is unknown, for `onUnknown: "settle"`. */
export interface SubmittedRequest {
  /** The id that the gateway returned. Store it with the claim; fewer calls can be settled without it. */
  readonly requestId?: string | undefined;
  /**
   * `true` if an error response was read completely. Store it too: without it, `"settle"` can't show that a failed
   * submission was free, and does not submit again.
   */
  readonly isErrorComplete?: boolean | undefined;
}

/** Details of the outcome of a call. */
export interface FinishDetails extends SubmittedRequest {
  /** The id of the claim; without it, the outcome applies to the current state of the call. */
  readonly claimId?: string | undefined;
}

/**
 * Records submissions, so that a crash between sending a submission and receiving its task id cannot lead to a
 * second submission.
 *
 * When a promise is fulfilled, its effect must be durable; when it is rejected, nothing should have
 * changed. In a database, `claim` is an insert that fails if the row exists. A method that hangs blocks
 * its call until `signal` is aborted or `totalTimeout` has passed; `accept` then gets five more seconds, and
 * `finish` never gets more than five seconds.
 *
 * If `accept` fails, the call goes on, because its task is paid for: the failure is logged and in
 * `_ledger_error` of the result.
 *
 * A suspended process may resume and report the outcome of a claim that another process has taken over,
 * so `accept` and `finish` pass the id of their claim. Without an id, the report comes from a person or
 * from a caller that received the task from the ledger, and applies to the current state of the call.
 */
export interface SubmitLedger {
  /**
   * Claims a call, atomically: of several claims at the same time, one gets `claimed`.
   *
   * @param inputHash - A digest of the submitted content. Must be stored.
   * @param replaces - The claim that may be taken over, if it is still the current one.
   */
  claim(callId: string, inputHash: string, replaces?: string): Promise<SubmitClaim>;
  /**
   * Records the task that the gateway created for the call. The task is paid for, so it is always kept,
   * even next to the task of another claim. A task without a claim id is placed before the others.
   */
  accept(callId: string, ref: TaskRef, claimId?: string): Promise<void>;
  /**
   * Records the outcome of the call. Changes nothing if the claim is not the current one any more.
   * `not_submitted` and `unknown` change nothing either once there is a task, and `not_submitted` does
   * not free a call if the outcome of an earlier claim is in doubt.
   */
  finish(callId: string, end: SubmitEnd, details?: FinishDetails): Promise<void>;
  /** Returns the entry of a call without claiming it; `undefined` if the call may be submitted. */
  entry(callId: string): Promise<SubmitEntry | undefined>;
}

/** A call that is not over: its submission is under way or has an unknown outcome, or its task is not finished. */
export type OpenCall = SubmitEntry & {
  readonly callId: string;
  /** When it was first claimed, in milliseconds since 1970; `undefined` if the ledger has no time of it. */
  readonly since: number | undefined;
};

/** A ledger that lists its calls. */
export interface ListingLedger extends SubmitLedger {
  /**
   * Lists the calls that are not over, oldest first: `submitting`, `unknown` or `accepted`. Reads all entries, so call
   * it from a job or a command, not for each submission.
   *
   * @param options - `before`: only calls that were claimed before this time, in milliseconds since 1970.
   * @throws `LedgerError` if the store of the ledger cannot be read
   */
  open(options?: { before?: number | undefined }): Promise<OpenCall[]>;
}

/** Returns those of the calls that are not over and were claimed before a time, oldest first. */
export function selectOpen(calls: readonly OpenCall[], before: number | undefined): OpenCall[] {
  const isTime = before === undefined || Number.isFinite(before);
  const problem = 'must be a time in milliseconds since 1970, such as Date.now() - 3_600_000.';
  check(isTime, 'before', problem);
  const isMeant = ({ status, since }: OpenCall): boolean =>
    status !== 'finished' && (before === undefined || since === undefined || since < before);
  return calls.filter(isMeant).toSorted((a, b) => (a.since ?? 0) - (b.since ?? 0));
}

const ends: readonly SubmitEnd[] = ['completed', 'failed', 'not_submitted', 'unknown'];

/** Validates the arguments of the methods of a ledger. */
export function checkLedgerCall(
  callId: unknown,
  claimId?: unknown,
  end: unknown = 'unknown',
): void {
  const isText = typeof callId === 'string' && callId !== '';
  check(isText, 'callId', 'is empty; pass the id of your job.');
  checkWord('end', end, ends);
  const isClaim = claimId === undefined || (typeof claimId === 'string' && claimId !== '');
  check(isClaim, 'claimId', 'must be the string that claim() returned.');
}

/** Validates the arguments of `finish` of a ledger, and returns the details. */
export function checkFinish(callId: unknown, end: unknown, details: FinishDetails): FinishDetails {
  const isGiven = typeof details === 'object' && details !== null;
  check(isGiven, 'details', 'must be an object, such as { claimId }.');
  checkLedgerCall(callId, details.claimId, end);
  return details;
}

/** Returns whether two handles are for the same task. */
export function isSameTask(one: TaskRef, other: TaskRef): boolean {
  return one.kind === other.kind && one.id === other.id && one.baseURL === other.baseURL;
}

interface MemoryCall {
  /** When it was first claimed, in milliseconds since 1970. */
  readonly since: number;
  readonly inputHash: string;
  readonly claimId: string;
  status: 'submitting' | 'unknown';
  /** `true` if an earlier claim may have created a task. */
  readonly isDoubtful: boolean;
  requestId?: string | undefined;
  isErrorComplete?: boolean | undefined;
  refs: readonly TaskRef[];
  /** `true` if the first of its tasks has ended. */
  isOver: boolean;
}

function toEntry(call: MemoryCall): SubmitEntry {
  const { inputHash, claimId, status, requestId, isErrorComplete, refs, isOver } = call;
  const [ref] = refs;
  if (ref !== undefined) {
    return { status: isOver ? 'finished' : 'accepted', inputHash, ref, refs };
  }
  // The claim was made in this process, so it is alive until it reports an outcome.
  const isAlive = status === 'submitting';
  const request = requestId && { requestId, ...(isErrorComplete && { isErrorComplete }) };
  return { status, inputHash, claimId, isAlive, refs, ...request };
}

/**
 * Creates a ledger that lasts as long as the process: a job that is retried in the same process is not
 * submitted twice. `fileLedger` of `model-gateway/node` survives crashes.
 */
export function memoryLedger(): ListingLedger {
  const calls = new Map<string, MemoryCall>();
  let claims = 0;
  const enter = (callId: string, inputHash: string, before?: MemoryCall): MemoryCall => {
    claims += 1;
    const call: MemoryCall = {
      since: before?.since ?? Date.now(),
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
      checkLedgerCall(callId);
      const found = calls.get(callId);
      if (found !== undefined && (found.refs.length > 0 || found.claimId !== replaces)) {
        const { refs: _, ...known } = toEntry(found);
        return known;
      }
      return { status: 'claimed', claimId: enter(callId, inputHash, found).claimId };
    },
    async accept(callId, given, claimId) {
      checkLedgerCall(callId, claimId);
      const ref = parseTaskRef(given);
      const call = calls.get(callId) ?? enter(callId, '');
      const others = call.refs.filter((other) => !isSameTask(other, ref));
      if (claimId === undefined) Object.assign(call, { refs: [ref, ...others], isOver: false });
      else if (others.length === call.refs.length) call.refs = [...others, ref];
    },
    async finish(callId, end, details = {}) {
      const { claimId, requestId, isErrorComplete } = checkFinish(callId, end, details);
      const call = calls.get(callId);
      if (call === undefined || (claimId ?? call.claimId) !== call.claimId) return;
      const hasEnded = end === 'completed' || end === 'failed';
      if (call.refs.length > 0) call.isOver ||= hasEnded;
      else if (end === 'not_submitted' && !call.isDoubtful) calls.delete(callId);
      else if (!hasEnded) Object.assign(call, { status: 'unknown', requestId, isErrorComplete });
    },
    async entry(callId) {
      checkLedgerCall(callId);
      const call = calls.get(callId);
      return call && toEntry(call);
    },
    async open({ before } = {}) {
      const all = [...calls].map(([callId, call]) => {
        return { callId, since: call.since, ...toEntry(call) };
      });
      return selectOpen(all, before);
    },
  };
}

/** Advice if the usage log doesn't prove that the submission may be sent again. */
const settleAdvice = {
  charged: 'It is paid for, but the usage log does not contain its task id.',
  refunded: 'The usage log has its refund, but the ledger contains the call.',
  not_charged: 'According to the usage log it was not charged, but the ledger contains the call.',
  unknowable: 'It may be paid for: do not submit it again until you know.',
} as const;

/** Time that `onSubmitted`, `accept` and `finish` have after an abort, in milliseconds. */
export const abortGrace = 5_000;

/** Returns the name of a model without its vendor and date. */
const baseName = (model: string): string =>
  model.replace(/^.*\//s, '').replace(/[-@]\d{4}-?\d\d-?\d\d$/, '');

/**
 * Returns the model that took a submission. A fallback of an earlier run may have taken it, but the usage log
 * may also name the requested model with another vendor or date.
 */
function findModel(requested: string | undefined, logged: string | undefined): string | undefined {
  if (requested === undefined || logged === undefined) return requested ?? logged;
  return baseName(requested) === baseName(logged) ? requested : logged;
}

/** The outcome of an earlier claim, as the usage log has it. */
interface Finding<Ref> extends Pick<SettledSubmission, 'verdict' | 'reason'> {
  /** The task that was charged, if the usage log names it. */
  readonly ref?: Ref;
  readonly cause?: unknown;
}

type Claimable<Ref extends AnyRef> = Pick<
  Submission<Ref, never>,
  'kind' | 'content' | 'model' | 'createRef'
>;

/** The reason of a wait for a ledger that took longer than the call may take. */
const tooLate = Symbol('tooLate');

/** The ledger entry of one submission, under the caller's call id. */
export class LedgerCall<Ref extends AnyRef> {
  readonly #transport: Transport;
  readonly #submission: Claimable<Ref>;
  readonly #ledger: SubmitLedger;
  readonly #callId: string;
  readonly #signal: AbortSignal | null | undefined;
  readonly #totalTimeout: number | null;
  readonly #startedAt = performance.now();
  /** The claim of this submission; `undefined` if it continues an existing task. */
  #claimId: string | undefined;
  /** The error of the ledger, if it did not record the task of this submission. */
  #failure: LedgerError | undefined;

  constructor(
    transport: Transport,
    submission: Claimable<Ref>,
    ledger: SubmitLedger,
    options: Pick<RequestOptions, 'callId' | 'signal' | 'totalTimeout'>,
  ) {
    const { callId, signal, totalTimeout = transport.client.call.totalTimeout } = options;
    const problem =
      'is required with a ledger; pass the id of your job, the same for every attempt.';
    check(callId !== undefined, 'callId', problem);
    this.#transport = transport;
    this.#submission = submission;
    this.#ledger = ledger;
    this.#callId = callId;
    this.#signal = signal;
    this.#totalTimeout = totalTimeout;
  }

  get #pending(): ClientSettings['pending'] {
    return this.#transport.client.pending;
  }

  /** The rest of `totalTimeout` in milliseconds, at least 1. */
  get remaining(): number | null {
    if (this.#totalTimeout === null) return null;
    return Math.max(1, Math.ceil(this.#startedAt + this.#totalTimeout - performance.now()));
  }

  /**
   * Settles like `work`, or rejects `grace` milliseconds after an abort or the end of `totalTimeout`.
   *
   * @throws the reason of the signal, or `tooLate`
   */
  async #waitFor<T>(work: Promise<T>, grace?: number): Promise<T> {
    return withLimit(this.#signal, this.remaining, tooLate, (signal) =>
      untilAborted(work, signal, grace),
    );
  }

  /** Lets the next call with this id wait for tracked work, because the caller of this one was stopped. */
  leave(recorded: Promise<unknown>): void {
    if (this.#pending.has(recorded)) this.#pending.set(recorded, this.#callId);
  }

  /** Lets `client.settled()` wait for `work`, and returns it. */
  track<T>(work: Promise<T>): Promise<T> {
    this.#pending.set(work, undefined);
    work.catch(() => {}).finally(() => this.#pending.delete(work));
    return work;
  }

  /** Looks up in the usage log whether a claim was charged, within the limits of the call. */
  async #lookUp(request: SubmittedRequest): Promise<Finding<Ref>> {
    const { model: requested, createRef } = this.#submission;
    const { settle } = this.#transport.features;
    if (settle === undefined) {
      return { verdict: 'unknowable', reason: 'this client cannot read the usage log' };
    }
    return withLimit(this.#signal, this.remaining, tooLate, async (signal) => {
      const callId = this.#callId;
      try {
        const settled = await settle(this.#transport, callId, request, signal);
        const { verdict, reason, taskId } = settled;
        if (verdict !== 'charged' || taskId === undefined) return { verdict, reason };
        const model = findModel(requested, settled.model);
        const { requestId } = request;
        return { verdict, reason, ref: createRef(taskId, { callId, requestId, model }) };
      } catch (cause) {
        // An unreadable usage log proves nothing.
        if (signal.reason !== tooLate) {
          return { verdict: 'unknowable', reason: errorMessage(cause), cause };
        }
        const reason = `The usage log was not read within the time limit of the call, ${this.#totalTimeout} ms.`;
        return { verdict: 'unknowable', reason };
      }
    });
  }

  /**
   * Claims the call for a submission.
   *
   * @returns The task that the call created earlier; `undefined` if it may be submitted now.
   */
  async claim(onUnknown: 'fail' | 'resubmit' | 'settle' | undefined): Promise<Ref | undefined> {
    const callId = this.#callId;
    const { kind, content } = this.#submission;
    const digest = await createDigest(content());
    let found = await this.#requestClaim(digest);
    const isSame = found.status === 'claimed' || ['', digest].includes(found.inputHash);
    check(isSame, 'callId', 'belongs to another submission; use a different one for each.');
    if (found.status === 'submitting') {
      const [late] = [...this.#pending].find(([, leftId]) => leftId === callId) ?? [];
      if (late !== undefined) {
        await this.#waitFor(late).catch(() => {});
        found = await this.#requestClaim(digest);
      }
    }
    let settled: Finding<Ref> | undefined;
    if (
      (found.status === 'submitting' || found.status === 'unknown') &&
      // Custom ledgers may omit the id; the current claim could then be a newer one.
      'claimId' in found &&
      found.isAlive !== true
    ) {
      const { claimId, requestId, isErrorComplete } = found;
      if (onUnknown === 'resubmit') found = await this.#requestClaim(digest, claimId);
      if (onUnknown === 'settle') {
        settled = await this.#lookUp({ requestId, isErrorComplete });
        const { ref, verdict } = settled;
        if (ref !== undefined) {
          this.#claimId = claimId;
          await this.accept(ref);
          return ref;
        }
        if (verdict === 'refunded' || verdict === 'not_charged') {
          await this.finish('not_submitted', {}, claimId);
          // Another process may have taken over the claim meanwhile, and the outcome of an earlier claim may
          // be unknown too.
          found = await this.#requestClaim(digest);
        }
      }
    }
    if (found.status === 'claimed') return undefined;
    // Rows of other statuses may have the `isAlive` field too.
    if (found.status === 'accepted' || found.status === 'finished') {
      return kind.parse(found.ref);
    }
    const isInProgress = 'isAlive' in found && found.isAlive === true;
    const problem = isInProgress
      ? 'is being submitted now'
      : 'was submitted before, and it is unknown whether that created a task';
    throw new kind.SubmitUnknown(`Call ${callId} ${problem}.`, {
      callId,
      isInProgress,
      evidence: { phase: 'sent', attempts: [] },
      cause: settled?.cause,
      advice: isInProgress
        ? 'Try again later with the same callId: the ledger will contain the task by then.'
        : settled === undefined
          ? `${unknownAdvice} onUnknown: "resubmit" submits it anyway.`
          : `${settleAdvice[settled.verdict]} ${settled.reason}`.trim(),
    });
  }

  /** Claims the call in the ledger. Nothing is sent until the ledger has recorded the claim. */
  async #requestClaim(digest: string, replaces?: string): Promise<SubmitClaim> {
    const callId = this.#callId;
    const signal = this.#signal;
    const claimed = (async () => this.#ledger.claim(callId, digest, replaces))();
    let found: SubmitClaim;
    try {
      found = await this.#waitFor(claimed);
    } catch (cause) {
      if (InvalidInputError.isInstance(cause) || LedgerError.isInstance(cause)) throw cause;
      // A claim that succeeds later is released, because nothing will be submitted.
      const release = (late: SubmitClaim) =>
        late.status === 'claimed' ? this.finish('not_submitted', {}, late.claimId) : undefined;
      this.track(claimed.then(release)).catch(() => {});
      const init = { outcome: 'not_sent', callId } as const;
      if (cause === tooLate) {
        const problem = `The ledger did not claim call ${callId} within the time limit of the call, ${this.#totalTimeout} ms.`;
        throw new LedgerError(problem, init);
      }
      if (signal?.aborted === true) {
        const problem = 'The submission was aborted before anything was sent.';
        throw new APIUserAbortError(problem, { ...init, cause: signal.reason });
      }
      throw new LedgerError(`The ledger failed to claim call ${callId}.`, { ...init, cause });
    }
    const words = ['claimed', 'submitting', 'unknown', 'accepted', 'finished'];
    const problem = `returned no claim; claim() must return { status } with one of "${words.join('", "')}".`;
    check(isObject(found) && words.includes(found.status), 'ledger', problem);
    if (found.status !== 'claimed') return found;
    const claimId: unknown = found.claimId;
    const unnamed =
      'returned a claim without an id; claim() must return { status: "claimed", claimId }, with a unique string.';
    check(typeof claimId === 'string' && claimId !== '', 'ledger', unnamed);
    this.#claimId = claimId;
    return found;
  }

  /**
   * Records the task that the call created. `reportFailure` reports a failure, because the task is paid for and the
   * call goes on.
   *
   * @throws the error of an aborted wait if the signal is aborted; it has the handle
   */
  async accept(ref: Ref): Promise<void> {
    const callId = this.#callId;
    const accepted = (async () => {
      check(isTaskRef(ref), 'ref', 'is not a handle.');
      return this.#ledger.accept(callId, ref, this.#claimId);
    })();
    try {
      await this.#waitFor(this.track(accepted), abortGrace);
    } catch (cause) {
      const signal = this.#signal;
      const { hide } = this.#transport.client.credential;
      // A pending accept() may still succeed, so don't overwrite it.
      if (signal?.aborted === true && cause === signal.reason) {
        throw this.#submission.kind.errors.stopped('aborted', { ref, hide }, cause);
      }
      const isLate = cause === tooLate;
      const limit = isLate ? ` within the time limit of the call, ${this.#totalTimeout} ms` : '';
      const problem = `The ledger did not record task ${hide(ref.id)} of call ${callId}${limit}.`;
      this.#failure = LedgerError.isInstance(cause)
        ? cause
        : new LedgerError(problem, {
            outcome: 'unknown',
            callId,
            advice: 'The task is paid for: keep its handle and call ledger.accept(callId, ref).',
            cause: isLate ? undefined : cause,
          });
      if (!isLate) await this.finish('unknown');
    }
  }

  /** Logs that the ledger did not record the task of this submission, and adds the error to its result. */
  reportFailure(result: object): void {
    const failure = this.#failure;
    if (failure === undefined) return;
    this.#transport.client.log.write('warn', failure.message, { callId: this.#callId });
    defineHidden(result, '_ledger_error', failure);
  }

  /** Records the outcome of the call. Errors are ignored: the outcome is recorded again the next time. */
  async finish(
    end: SubmitEnd,
    request: SubmittedRequest = {},
    claimId = this.#claimId,
  ): Promise<void> {
    const finished = (async () =>
      this.#ledger.finish(this.#callId, end, { claimId, ...request }))();
    // The call is over, so this waits only for the grace period. A failed write is safe: a claimed call is
    // not submitted again, and an accepted one is only read.
    const ended = AbortSignal.abort();
    await untilAborted(this.track(finished), ended, abortGrace, () => undefined).catch(() => {});
  }
}

function sortFields(_: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Creates a digest that does not depend on the order of fields, because databases may change it. */
async function createDigest(content: unknown): Promise<string> {
  const text = new TextEncoder().encode(writeJSON('body', content, sortFields));
  const digest = await crypto.subtle.digest('SHA-256', text);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
