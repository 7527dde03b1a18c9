import { asSentence } from '../answers/error-body.ts';
import { rewritten, withoutQueries } from '../http/redaction.ts';
import {
  APIError,
  UnexpectedResponseError,
  type UnexpectedResponseErrorInit,
} from '../errors/api-errors.ts';
import { GatewayError, type GatewayErrorInit } from '../errors/gateway-error.ts';
import { readsLikeReview } from './schema.ts';
import type { VideoStatus, VideoTaskError, VideoTaskRef } from './types.ts';

/** What a `VideoFailedError` is made from. */
export interface VideoFailedErrorInit extends GatewayErrorInit {
  readonly reason: string;
  readonly code?: string | undefined;
  readonly moderated?: boolean | undefined;
  readonly raw: unknown;
  readonly ref: VideoTaskRef;
}

/** The gateway reports that the video task failed: to a poll, or to a download of its content. */
export class VideoFailedError extends GatewayError {
  static override readonly kind: string = 'VideoFailedError';

  /** The reason that the gateway or its vendor gave, or that it gave none; never empty. */
  declare readonly reason: string;
  /** The vendor's code, or `undefined`. */
  declare readonly code: string | undefined;
  /** Whether the reason reads like a content review. A guess: the gateway does not say. */
  declare readonly moderated: boolean;
  /** The answer that told of it, without the queries of URLs; `undefined` when the polls after it could not be read. */
  declare readonly raw: unknown;
  /** The handle of the task. */
  declare readonly ref: VideoTaskRef;

  constructor(message: string, init: VideoFailedErrorInit) {
    super(message, init);
    const { reason, code, moderated = false, raw, ref } = init;
    Object.assign(this, { reason, code, moderated, raw, ref });
  }
}

/** What is known of a wait that ended before its task did. */
export interface VideoWaitSummary {
  /** The handle of the task, to wait for it again. */
  readonly ref: VideoTaskRef;
  /** The last status word of the gateway, or `undefined` when no poll succeeded. */
  readonly lastStatus: string | undefined;
  /** Time waited, in milliseconds. */
  readonly elapsed: number;
  /** How many status requests were made. */
  readonly polls: number;
}

/**
 * A wait ended before its task did. The task was not cancelled: it may still finish and be charged.
 * Wait for it again with `videos.wait(error.ref)`.
 */
export class VideoWaitError extends GatewayError implements VideoWaitSummary {
  static override readonly kind: string = 'VideoWaitError';

  declare readonly ref: VideoTaskRef;
  declare readonly lastStatus: string | undefined;
  declare readonly elapsed: number;
  declare readonly polls: number;

  constructor(message: string, init: GatewayErrorInit & VideoWaitSummary) {
    super(message, init);
    const { ref, lastStatus, elapsed, polls } = init;
    Object.assign(this, { ref, lastStatus, elapsed, polls });
  }
}

/** The `timeout` of a wait passed. The task goes on. */
export class VideoWaitTimeoutError extends VideoWaitError {
  static override readonly kind: string = 'VideoWaitTimeoutError';
}

/** The `signal` of a wait was aborted. Only the waiting stopped; the task goes on. */
export class VideoWaitAbortedError extends VideoWaitError {
  static override readonly kind: string = 'VideoWaitAbortedError';
}

/**
 * A video was submitted and accepted, but `validation: "strict"` refuses the answer. The task exists
 * and is paid for: wait for it with `videos.wait(error.ref)`.
 */
export class VideoSubmitAnswerError extends UnexpectedResponseError {
  static override readonly kind: string = 'VideoSubmitAnswerError';

  /** The handle of the task, to wait for it. */
  declare readonly ref: VideoTaskRef;

  constructor(message: string, init: UnexpectedResponseErrorInit & { ref: VideoTaskRef }) {
    super(message, init);
    this.ref = init.ref;
  }
}

/**
 * The ledger of a submission could not be asked, as when its database cannot be reached. Nothing was
 * sent. It may pass: a job can try again with the same `callId`. `cause` is what the ledger or its
 * database threw.
 */
export class LedgerError extends GatewayError {
  static override readonly kind: string = 'LedgerError';
}

/** What is known of a wait, or of a task that is not waited for yet. */
export interface Waited {
  readonly ref: VideoTaskRef;
  readonly state?: {
    readonly polls: number;
    readonly status?: VideoStatus | undefined;
    readonly rawStatus?: string | undefined;
  };
  readonly elapsed?: number;
}

/** What to do about a task that goes on. */
export function adviceToWait({ id, route }: VideoTaskRef): string {
  const named = route.type === 'openai' ? JSON.stringify(id) : 'error.ref';
  return `The task was not cancelled: it may still finish and be charged. Wait for it again with videos.wait(${named}).`;
}

function initOf({ ref, state, elapsed = 0 }: Waited, cause: unknown) {
  const { status, rawStatus: lastStatus = status, polls } = state ?? { polls: 0 };
  // Without an error it is the answers to the polls that tell of the task.
  const seen = { phase: polls > 0 ? 'body' : 'local', attempts: [] } as const;
  return {
    outcome: 'unknown',
    callId: ref.callId,
    advice: adviceToWait(ref),
    evidence: GatewayError.isInstance(cause) ? cause.evidence : seen,
    cause,
    ref,
    lastStatus,
    elapsed: Math.round(elapsed),
    polls,
  } as const;
}

/** The error for something of the caller's that threw. */
export function callbackError(
  name: 'onSubmitted' | 'onUpdate' | 'unknownStatus' | 'limiter' | 'ledger.accept',
  waited: Waited,
  cause: unknown,
): VideoWaitError {
  const message = `${name} threw an error, so video task ${waited.ref.id} is not waited for.`;
  return new VideoWaitError(message, initOf(waited, cause));
}

/** How a task has ended, or why the wait for it ends before it has. */
export type WaitEnd =
  | 'completed'
  | 'failed'
  | 'fatal'
  | 'missing'
  | 'too_many_errors'
  | 'foreign_status'
  | 'timeout';

/** What a failed poll says, without advice that is about the poll alone. */
function saying(cause: unknown): string {
  if (!(cause instanceof Error)) return '.';
  const { message } = cause;
  const isPlain = !APIError.isInstance(cause) || cause.status === 401;
  return `: ${isPlain ? message : message.replace(` ${cause.advice}`, '')}`;
}

/** The error for a wait that ended before its task. */
export function stoppedError(
  reason: WaitEnd | 'aborted',
  waited: Waited,
  cause: unknown,
  timeout?: number | null,
): VideoWaitError {
  const init = initOf(waited, cause);
  const { ref, lastStatus, polls } = init;
  const task = `Video task ${ref.id}`;
  const status = lastStatus === undefined ? 'no status seen' : `last status "${lastStatus}"`;
  const seen = `(${status}, ${polls} ${polls === 1 ? 'poll' : 'polls'}).`;
  switch (reason) {
    case 'aborted':
      return new VideoWaitAbortedError(
        `Waiting for video task ${ref.id} was aborted ${seen}`,
        init,
      );
    case 'timeout':
      return new VideoWaitTimeoutError(`${task} did not end within ${timeout} ms ${seen}`, init);
    case 'missing':
      return new VideoWaitError(`${task} is not known to the gateway.`, {
        ...init,
        advice:
          'Check the id, and that baseURL is the gateway that issued it. The task itself may exist and be charged.',
      });
    case 'foreign_status':
      return new VideoWaitError(`${task} has a status that is not known ${seen}`, init);
    default: {
      const often = reason === 'too_many_errors' ? ', too often in a row' : '';
      return new VideoWaitError(`${task} could not be read${often}${saying(cause)}`, init);
    }
  }
}

/**
 * The error for a task that failed.
 *
 * @param raw - The answer that told of it.
 */
export function failedError(
  ref: VideoTaskRef,
  failure: VideoTaskError,
  raw: unknown,
  cause?: APIError,
): VideoFailedError {
  const reason = withoutQueries(failure.message);
  const moderated = readsLikeReview(failure);
  const review =
    'It reads like a content review: the same prompt or reference will probably fail again.';
  const other = 'Read the reason before you decide whether to create it again.';
  return new VideoFailedError(`Video task ${ref.id} failed: ${asSentence(reason)}`, {
    outcome: 'rejected',
    // The submission went well; it is the answer to a poll that tells of the failure.
    evidence: cause?.evidence ?? { phase: 'body', attempts: [] },
    cause,
    callId: ref.callId,
    advice: `${moderated ? review : other} Gateways usually give the credit back; the account shows it.`,
    reason,
    code: failure.code && withoutQueries(failure.code),
    moderated,
    raw: rewritten(raw, withoutQueries),
    ref,
  });
}
