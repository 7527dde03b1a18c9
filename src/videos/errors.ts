import { UnexpectedResponseError, type UnexpectedResponseErrorInit } from '../errors/api-errors.ts';
import { GatewayError, type GatewayErrorInit } from '../errors/gateway-error.ts';
import { taskErrors, type TaskFailedErrorInit, type TaskWaitSummary } from '../tasks/errors.ts';
import type { VideoTaskRef } from './types.ts';

/** The init object of a `VideoFailedError`. */
export type VideoFailedErrorInit = TaskFailedErrorInit<VideoTaskRef>;

/** The gateway reported, in response to a poll or a download, that the video task failed. */
export class VideoFailedError extends GatewayError {
  static override readonly kind: string = 'VideoFailedError';

  /** The reason from the gateway or its vendor, or a text saying that there was none; never empty. */
  declare readonly reason: string;
  /** The vendor's code, or `undefined`. */
  declare readonly code: string | undefined;
  /** `true` if the reason reads like a content review. A guess, because the gateway does not report it. */
  declare readonly moderated: boolean;
  /** The response that reported the failure, without URL queries; `undefined` if the following polls could not be read. */
  declare readonly raw: unknown;
  /** The handle of the task. */
  declare readonly ref: VideoTaskRef;

  constructor(message: string, init: VideoFailedErrorInit) {
    super(message, init);
    const { reason, code, moderated = false, raw, ref } = init;
    Object.assign(this, { reason, code, moderated, raw, ref });
  }
}

/** Details of a wait that ended before its task did. */
export type VideoWaitSummary = TaskWaitSummary<VideoTaskRef>;

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

/** Returns the advice for a task that continues. */
export function adviceToWait({ id, route }: VideoTaskRef): string {
  const named = route.type === 'openai' ? JSON.stringify(id) : 'error.ref';
  return `The task was not cancelled: it may still finish and be charged. Wait for it again with videos.wait(${named}).`;
}

/** Creates the errors of waits for videos. */
export const videoErrors = taskErrors<VideoTaskRef, VideoFailedError>({
  task: 'Video task',
  advice: adviceToWait,
  missingAdvice: 'Check the id, and that baseURL is the gateway that issued it.',
  Wait: VideoWaitError,
  WaitTimeout: VideoWaitTimeoutError,
  WaitAborted: VideoWaitAbortedError,
  Failed: VideoFailedError,
});
