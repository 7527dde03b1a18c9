import {
  UnexpectedResponseError,
  type UnexpectedResponseErrorInit,
} from '../../errors/api-errors.ts';
import { TaskFailedError, TaskWaitError, type TaskWaitSummary } from '../../tasks/errors.ts';
import type { VideoTaskRef } from './types.ts';

/**
 * The gateway reported, in response to a poll or a download, that the video task failed. Usually, its charge is
 * refunded: `account.settle(error)` tells. Until then, the outcome is `unknown`.
 */
export class VideoFailedError extends TaskFailedError<VideoTaskRef> {
  static override readonly kind: string = 'VideoFailedError';
}

/** Details of a wait that ended before its task did. */
export type VideoWaitSummary = TaskWaitSummary<VideoTaskRef>;

/**
 * A wait ended before its task did. The task was not cancelled: it may still finish and be charged.
 * Wait for it again with `videos.wait(error.ref)`.
 */
export class VideoWaitError extends TaskWaitError<VideoTaskRef> {
  static override readonly kind: string = 'VideoWaitError';
}

/** The `timeout` of a wait passed. The task continues. */
export class VideoWaitTimeoutError extends VideoWaitError {
  static override readonly kind: string = 'VideoWaitTimeoutError';
}

/** The `signal` of a wait was aborted. Only the wait stopped; the task continues. */
export class VideoWaitAbortedError extends VideoWaitError {
  static override readonly kind: string = 'VideoWaitAbortedError';
}

/**
 * A video was submitted and accepted, but `validation: "strict"` rejected the response. The task exists
 * and is paid for: wait for it with `videos.wait(error.ref)`.
 */
export class VideoSubmitResponseError extends UnexpectedResponseError {
  static override readonly kind: string = 'VideoSubmitResponseError';

  /** The handle of the task, to wait for it. */
  declare readonly ref: VideoTaskRef;

  constructor(message: string, init: UnexpectedResponseErrorInit & { ref: VideoTaskRef }) {
    super(message, init);
    this.ref = init.ref;
  }
}
