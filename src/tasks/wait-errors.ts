import { APIError } from '../errors/api-error.ts';
import { GatewayError, type GatewayErrorInit } from '../errors/gateway-error.ts';
import {
  VideoFailedError,
  VideoWaitAbortedError,
  VideoWaitError,
  VideoWaitTimeoutError,
  type VideoWaitSummary,
} from '../errors/video-error.ts';
import { findFailure, readsLikeReview } from '../schemas/video-failure.ts';
import type { VideoTask, VideoTaskRef } from '../types/videos.ts';
import type { StopReason, WaitState } from './step.ts';

/** What an error tells of a wait that ended. */
export function summarize(ref: VideoTaskRef, state: WaitState, elapsed: number): VideoWaitSummary {
  const lastStatus = state.rawStatus ?? state.status;
  return { ref, lastStatus, elapsed: Math.round(elapsed), polls: state.polls };
}

/** How to go on with a task, in code. */
function howToWait({ id, route }: VideoTaskRef): string {
  return route.type === 'openai' ? `videos.wait(${JSON.stringify(id)})` : 'videos.wait(error.ref)';
}

function initOf(summary: VideoWaitSummary, cause: unknown): GatewayErrorInit & VideoWaitSummary {
  const { ref } = summary;
  const evidence = GatewayError.isInstance(cause) ? cause.evidence : undefined;
  const advice =
    'The task was not cancelled: it may still finish and be charged. ' +
    `Wait for it again with ${howToWait(ref)}.`;
  return { ...summary, outcome: 'unknown', callId: ref.callId, advice, evidence, cause };
}

function lastSeen({ lastStatus, polls }: VideoWaitSummary): string {
  const status = lastStatus === undefined ? 'no status seen' : `last status "${lastStatus}"`;
  return `${status}, ${polls} ${polls === 1 ? 'poll' : 'polls'}`;
}

/** The error for a wait that was stopped by its signal. */
export function abortedError(summary: VideoWaitSummary, cause: unknown): VideoWaitAbortedError {
  return new VideoWaitAbortedError(
    `Waiting for video task ${summary.ref.id} was aborted (${lastSeen(summary)}).`,
    initOf(summary, cause),
  );
}

/** The error for a callback of the caller's that threw. */
export function callbackError(
  name: 'onSubmitted' | 'onUpdate' | 'unknownStatus',
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
  if (!(cause instanceof Error)) return '';
  const { message } = cause;
  const advice = GatewayError.isInstance(cause) ? cause.advice : '';
  const isPlain = advice === '' || !APIError.isInstance(cause) || cause.status === 401;
  return `: ${isPlain ? message : message.replace(` ${advice}`, '')}`;
}

/** The error for a wait that ended before its task. */
export function stoppedError(
  reason: StopReason,
  summary: VideoWaitSummary,
  timeout: number | null,
  cause: unknown,
): VideoWaitError {
  const { ref, lastStatus } = summary;
  const init = initOf(summary, cause);
  switch (reason) {
    case 'timeout':
      return new VideoWaitTimeoutError(
        `Video task ${ref.id} did not end within ${timeout ?? 0} ms (${lastSeen(summary)}).`,
        init,
      );
    case 'missing':
      return new VideoWaitError(`The gateway does not know video task ${ref.id}.`, {
        ...init,
        advice:
          'Check the id, and that baseURL is the gateway that issued it. The task itself may exist and be charged.',
      });
    case 'foreign_status':
      return new VideoWaitError(
        `Video task ${ref.id} has a status that is not known: "${lastStatus ?? ''}".`,
        init,
      );
    case 'too_many_errors':
      return new VideoWaitError(
        `Video task ${ref.id} could not be read, too often in a row${saying(cause)}`,
        init,
      );
    case 'fatal':
      return new VideoWaitError(`Video task ${ref.id} could not be read${saying(cause)}`, init);
  }
}

/** The error for a task that failed. */
export function failedError(ref: VideoTaskRef, task: VideoTask): VideoFailedError {
  const { message: reason, code } = task.error ?? findFailure({});
  const moderated = readsLikeReview({ message: reason, code });
  const ending = /[.!?…。！]$/u.test(reason) ? '' : '.';
  return new VideoFailedError(`Video task ${ref.id} failed: ${reason}${ending}`, {
    outcome: 'rejected',
    callId: ref.callId,
    advice: moderated
      ? 'It reads like a content review: the same prompt or reference will probably fail again. Gateways usually give the credit back; the account shows it.'
      : 'Read the reason before you decide whether to create it again. Gateways usually give the credit back; the account shows it.',
    reason,
    code,
    moderated,
    raw: task.raw,
    ref,
  });
}
