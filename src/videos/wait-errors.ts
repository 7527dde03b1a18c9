import { APIError } from '../errors/api-errors.ts';
import { GatewayError, type GatewayErrorInit } from '../errors/gateway-error.ts';
import {
  VideoFailedError,
  VideoWaitAbortedError,
  VideoWaitError,
  VideoWaitTimeoutError,
  type VideoWaitSummary,
} from './errors.ts';
import { readsLikeReview } from './failure.ts';
import { rewritten, withoutQueries } from '../http/redaction.ts';
import type { VideoTaskError, VideoTaskRef } from './types.ts';
import type { StopReason } from './step.ts';
import type { VideoWaitState } from './wait-options.ts';

/** What an error tells of a wait that ended. */
export function summarize(
  ref: VideoTaskRef,
  { rawStatus, status, polls }: Partial<VideoWaitState> = {},
  elapsed = 0,
): VideoWaitSummary {
  return { ref, lastStatus: rawStatus ?? status, elapsed: Math.round(elapsed), polls: polls ?? 0 };
}

/** What to do about a task that goes on. */
export function adviceToWait({ id, route }: VideoTaskRef): string {
  const named = route.type === 'openai' ? JSON.stringify(id) : 'error.ref';
  return `The task was not cancelled: it may still finish and be charged. Wait for it again with videos.wait(${named}).`;
}

function initOf(summary: VideoWaitSummary, cause: unknown): GatewayErrorInit & VideoWaitSummary {
  const { ref } = summary;
  // Without an error it is the answers to the polls that tell of the task.
  const seen = { phase: summary.polls > 0 ? 'body' : 'local', attempts: [] } as const;
  const evidence = GatewayError.isInstance(cause) ? cause.evidence : seen;
  const advice = adviceToWait(ref);
  return { ...summary, outcome: 'unknown', callId: ref.callId, advice, evidence, cause };
}

function lastSeen({ lastStatus, polls }: VideoWaitSummary): string {
  const status = lastStatus === undefined ? 'no status seen' : `last status "${lastStatus}"`;
  return `(${status}, ${polls} ${polls === 1 ? 'poll' : 'polls'}).`;
}

/** The error for a wait that was stopped by its signal. */
export function abortedError(summary: VideoWaitSummary, cause: unknown): VideoWaitAbortedError {
  return new VideoWaitAbortedError(
    `Waiting for video task ${summary.ref.id} was aborted ${lastSeen(summary)}`,
    initOf(summary, cause),
  );
}

/** The error for something of the caller's that threw. */
export function callbackError(
  name: 'onSubmitted' | 'onUpdate' | 'unknownStatus' | 'limiter' | 'ledger.accept',
  summary: VideoWaitSummary,
  cause: unknown,
): VideoWaitError {
  return new VideoWaitError(
    `${name} threw an error, so video task ${summary.ref.id} is not waited for.`,
    initOf(summary, cause),
  );
}

/** What a failed poll says, without advice that is about the poll alone. */
function saying(cause: unknown): string {
  if (!(cause instanceof Error)) return '.';
  const { message } = cause;
  const isPlain = !APIError.isInstance(cause) || cause.status === 401;
  return `: ${isPlain ? message : message.replace(` ${cause.advice}`, '')}`;
}

/** The error for a wait that ended before its task. */
export function stoppedError(
  reason: StopReason,
  summary: VideoWaitSummary,
  timeout: number | null,
  cause: unknown,
): VideoWaitError {
  const task = `Video task ${summary.ref.id}`;
  const init = initOf(summary, cause);
  switch (reason) {
    case 'timeout':
      return new VideoWaitTimeoutError(
        `${task} did not end within ${timeout ?? 0} ms ${lastSeen(summary)}`,
        init,
      );
    case 'missing':
      return new VideoWaitError(`${task} is not known to the gateway.`, {
        ...init,
        advice:
          'Check the id, and that baseURL is the gateway that issued it. The task itself may exist and be charged.',
      });
    case 'foreign_status':
      return new VideoWaitError(
        `${task} has a status that is not known ${lastSeen(summary)}`,
        init,
      );
    case 'too_many_errors':
    case 'fatal': {
      const often = reason === 'fatal' ? '' : ', too often in a row';
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
  const code = failure.code && withoutQueries(failure.code);
  const moderated = readsLikeReview(failure);
  const ending = /[.!?…。！]$/u.test(reason) ? '' : '.';
  const review =
    'It reads like a content review: the same prompt or reference will probably fail again.';
  const other = 'Read the reason before you decide whether to create it again.';
  return new VideoFailedError(`Video task ${ref.id} failed: ${reason}${ending}`, {
    outcome: 'rejected',
    // The submission went well; it is the answer to a poll that tells of the failure.
    evidence: cause?.evidence ?? { phase: 'body', attempts: [] },
    cause,
    callId: ref.callId,
    advice: `${moderated ? review : other} Gateways usually give the credit back; the account shows it.`,
    reason,
    code,
    moderated,
    raw: rewritten(raw, withoutQueries),
    ref,
  });
}
