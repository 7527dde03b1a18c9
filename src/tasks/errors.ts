import { asSentence, findComplaint, findTaskMessage, quoteValue } from '../answers/failure.ts';
import { toFields } from '../answers/objects.ts';
import { APIError, UnexpectedResponseError } from '../errors/api-errors.ts';
import { GatewayError, type GatewayErrorInit } from '../errors/gateway-error.ts';
import { rewriteText, withoutQueries } from '../http/redaction.ts';
import type { ResponseIssue } from '../types.ts';
import { readsLikeReview } from './reading.ts';
import type { PolledTask, TaskErrorDetails, TaskWaitState } from './types.ts';
import type { WaitEnd } from './decide.ts';

/** The progress of a wait that ended before its task did. */
export interface TaskWaitSummary<Ref> {
  /** The handle of the task, to wait for it again. */
  readonly ref: Ref;
  /** The last status word of the gateway, or `undefined` when no poll succeeded. */
  readonly lastStatus: string | undefined;
  /** Time waited, in milliseconds. */
  readonly elapsed: number;
  /** Number of status requests made. */
  readonly polls: number;
}

/** Input for the error of a task that failed. */
export interface TaskFailedErrorInit<Ref> extends GatewayErrorInit {
  readonly reason: string;
  readonly code?: string | undefined;
  readonly moderated?: boolean | undefined;
  readonly raw: unknown;
  readonly ref: Ref;
}

/**
 * The gateway reports that a task failed. Its submission was accepted and charged, so the outcome is
 * `unknown` until the usage log proves a refund: `account.settle(error)`.
 */
export class TaskFailedError<Ref> extends GatewayError {
  /** The reason from the gateway or its vendor, or a text that there is none; never empty. */
  declare readonly reason: string;
  /** The vendor's code, or `undefined`. */
  declare readonly code: string | undefined;
  /** `true` if the reason reads like a content review. A guess, because the gateway does not report it. */
  declare readonly moderated: boolean;
  /**
   * The response that reported the failure, without URL queries; `undefined` if later polls could not be read.
   */
  declare readonly raw: unknown;
  /** The handle of the task. */
  declare readonly ref: Ref;

  constructor(message: string, init: TaskFailedErrorInit<Ref>) {
    super(message, init);
    const { reason, code, moderated = false, raw, ref } = init;
    Object.assign(this, { reason, code, moderated, raw, ref });
  }
}

/** A wait ended before its task did. */
export class TaskWaitError<Ref> extends GatewayError implements TaskWaitSummary<Ref> {
  declare readonly ref: Ref;
  declare readonly lastStatus: string | undefined;
  declare readonly elapsed: number;
  declare readonly polls: number;

  constructor(message: string, init: GatewayErrorInit & TaskWaitSummary<Ref>) {
    super(message, init);
    const { ref, lastStatus, elapsed, polls } = init;
    Object.assign(this, { ref, lastStatus, elapsed, polls });
  }
}

/**
 * The ledger failed to claim a submission, for example because its database is unreachable. Nothing was
 * sent. The failure may be temporary: a job can retry with the same `callId`. `cause` is the error that
 * the ledger or its database threw; it is missing if the ledger did not answer within `totalTimeout`.
 *
 * As `_ledger_error` of a result, the ledger failed to record the task of that result, which is paid for.
 */
export class LedgerError extends GatewayError {
  static override readonly kind: string = 'LedgerError';
}

/** The field of a paid result that a ledger failed to record. Not enumerable, so it never appears in JSON. */
export interface WithLedgerError {
  /**
   * The error of the `ledger` that did not record this result. A task is then known only by its handle: store it,
   * or call `ledger.accept(callId, ref)` again.
   */
  readonly _ledger_error?: LedgerError | undefined;
}

/** The progress of a wait; only `ref` is set if the wait has not begun. */
export interface Waited<Ref> {
  readonly ref: Ref;
  readonly state?: Pick<TaskWaitState, 'polls' | 'status' | 'rawStatus'>;
  readonly elapsed?: number;
  /** What the last poll said, as a sentence. */
  readonly said?: string | undefined;
  /** Removes the key from words, because the id of a task or the reason of a failure may contain it. */
  readonly hide: (text: string) => string;
}

type WaitErrorClass<Ref> = new (
  message: string,
  init: GatewayErrorInit & TaskWaitSummary<Ref>,
) => GatewayError;

/** The error classes and texts of one kind of task. */
interface ErrorNames<Ref, Failed extends GatewayError> {
  /** The name of such a task, capitalized to begin a sentence. */
  readonly task: string;
  /** Advice for a task that is still running. `isShown` is `false` if its id contains the key. */
  readonly advice: (ref: Ref, isShown: boolean) => string;
  /** Advice for a task that the gateway does not know. */
  readonly missingAdvice: string;
  readonly Wait: WaitErrorClass<Ref>;
  readonly WaitTimeout: WaitErrorClass<Ref>;
  readonly WaitAborted: WaitErrorClass<Ref>;
  readonly Failed: new (message: string, init: TaskFailedErrorInit<Ref>) => Failed;
}

/** Returns what a poll said, as a sentence: a message, an error, or what was received without a status. */
export function describeProgress({ raw, raw_status: word }: PolledTask): string | undefined {
  const body = toFields(raw);
  const message = findComplaint(body)?.message ?? findTaskMessage(body);
  if (message !== undefined) return `It says: ${asSentence(message)}`;
  if (word !== undefined || Object.keys(body).length === 0) return undefined;
  return `It received: ${asSentence(quoteValue(raw) ?? '')}`;
}

/** Describes a failed poll. Its advice applies only to the poll, except for the key. */
export function describePoll(cause: unknown): string {
  if (!(cause instanceof Error)) return '.';
  const isOfPoll = APIError.isInstance(cause) && cause.status !== 401;
  return `: ${isOfPoll ? cause.summary : cause.message}`;
}

/** Creates the errors that end waits for one kind of task. */
export class TaskErrors<
  Ref extends { readonly id: string; readonly callId?: string | undefined },
  Failed extends GatewayError = GatewayError,
> {
  readonly #names: ErrorNames<Ref, Failed>;

  constructor(names: ErrorNames<Ref, Failed>) {
    this.#names = names;
  }

  /** Creates the error of a callback that threw. */
  callback(name: 'onSubmitted' | 'onUpdate', waited: Waited<Ref>, cause: unknown): GatewayError {
    const { Wait, task } = this.#names;
    const message = `${name} threw an error, so ${task.toLowerCase()} ${waited.ref.id} is not waited for.`;
    return new Wait(waited.hide(message), this.#toInit(waited, cause));
  }

  /** Creates the error of a wait that ended before its task. */
  stopped(
    reason: WaitEnd | 'aborted',
    waited: Waited<Ref>,
    cause: unknown,
    timeout?: number | null,
  ): GatewayError {
    const { Wait, WaitAborted, WaitTimeout, task: noun, missingAdvice } = this.#names;
    const init = this.#toInit(waited, cause);
    const { lastStatus, polls } = init;
    const { said, hide } = waited;
    const id = hide(waited.ref.id);
    const task = `${noun} ${id}`;
    const status = lastStatus === undefined ? 'no status seen' : `last status "${lastStatus}"`;
    const words = said === undefined ? '' : ` ${withoutQueries(hide(said))}`;
    const seen = `(${status}, ${polls} ${polls === 1 ? 'poll' : 'polls'}).${words}`;
    switch (reason) {
      case 'aborted':
        return new WaitAborted(`Waiting for ${noun.toLowerCase()} ${id} was aborted ${seen}`, init);
      case 'timeout':
        return new WaitTimeout(`${task} did not end within ${timeout} ms ${seen}`, init);
      case 'missing':
        return new Wait(`${task} is not known to the gateway${describePoll(cause)}`, {
          ...init,
          advice: `${missingAdvice} The task itself may exist and be charged.`,
        });
      default: {
        const often = reason === 'too_many_errors' ? ', too often in a row' : '';
        return new Wait(`${task} could not be read${often}${describePoll(cause)}`, init);
      }
    }
  }

  /**
   * Creates the error of a completed task whose result cannot be returned.
   *
   * @param raw - The response that holds no readable result.
   * @param issues - The differences that strict validation found in it.
   */
  withoutResult(
    message: string,
    advice: string,
    waited: Waited<Ref>,
    raw?: unknown,
    issues?: readonly ResponseIssue[],
  ): GatewayError {
    // The result may be in the response, which the task may not return for long.
    const data = rewriteText(raw, waited.hide);
    const body = data === undefined ? undefined : JSON.stringify(data);
    const cause =
      body === undefined
        ? undefined
        : new UnexpectedResponseError('The response to the last poll has no readable result.', {
            outcome: 'unknown',
            advice: '',
            evidence: { phase: 'body', attempts: [] },
            callId: waited.ref.callId,
            body,
            data,
            issues,
          });
    const { Wait } = this.#names;
    return new Wait(waited.hide(message), { ...this.#toInit(waited, cause), advice });
  }

  /**
   * Creates the error of a task that failed.
   *
   * @param raw - The response that reported the failure.
   */
  failed(
    { ref, hide }: Waited<Ref>,
    failure: TaskErrorDetails,
    raw: unknown,
    cause?: APIError,
  ): Failed {
    const { Failed, task } = this.#names;
    const clean = (text: string): string => withoutQueries(hide(text));
    const reason = clean(failure.message);
    const moderated = readsLikeReview(failure);
    const review =
      'This looks like a content review: the same prompt or reference will probably fail again.';
    const other = 'Read the reason before you decide whether to create it again.';
    return new Failed(`${task} ${hide(ref.id)} failed: ${asSentence(reason)}`, {
      // The submission was accepted and charged. Gateways refund failed tasks, but some late or never.
      outcome: 'unknown',
      evidence: cause?.evidence ?? { phase: 'body', attempts: [] },
      cause,
      callId: ref.callId,
      advice: `${moderated ? review : other} Gateways usually refund the charge: account.settle(error) tells.`,
      reason,
      code: failure.code && clean(failure.code),
      moderated,
      raw: rewriteText(raw, clean),
      ref,
    });
  }

  #toInit({ ref, state, elapsed = 0, hide }: Waited<Ref>, cause: unknown) {
    const { status, rawStatus: lastStatus = status, polls } = state ?? { polls: 0 };
    // Without an error, the responses to the polls are the evidence.
    const seen = { phase: polls > 0 ? 'body' : 'local', attempts: [] } as const;
    return {
      outcome: 'unknown',
      callId: ref.callId,
      advice: this.#names.advice(ref, hide(ref.id) === ref.id),
      evidence: GatewayError.isInstance(cause) ? cause.evidence : seen,
      cause,
      ref,
      lastStatus,
      elapsed: Math.round(elapsed),
      polls,
    } as const;
  }
}
