import type { VideoTaskRef } from './types.ts';
import { UnexpectedResponseError, type UnexpectedResponseErrorInit } from '../errors/api-errors.ts';
import { GatewayError, type GatewayErrorInit } from '../errors/gateway-error.ts';

export { VideoSubmitUnknownError } from '../errors/api-errors.ts';

/** What a {@link VideoFailedError} is made from. */
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
  readonly reason: string;
  /** The vendor's code, or `undefined`. */
  readonly code: string | undefined;
  /** Whether the reason reads like a content review. A guess: the gateway does not say. */
  readonly moderated: boolean;
  /** The answer that told of it, without the queries of URLs; `undefined` when the polls after it could not be read. */
  readonly raw: unknown;
  /** The handle of the task. */
  readonly ref: VideoTaskRef;

  constructor(message: string, init: VideoFailedErrorInit) {
    super(message, init);
    this.reason = init.reason;
    this.code = init.code;
    this.moderated = init.moderated ?? false;
    this.raw = init.raw;
    this.ref = init.ref;
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

  /** The handle of the task, to wait for it again. */
  readonly ref: VideoTaskRef;
  /** The last status word of the gateway, or `undefined` when no poll succeeded. */
  readonly lastStatus: string | undefined;
  /** Time waited, in milliseconds. */
  readonly elapsed: number;
  /** How many status requests were made. */
  readonly polls: number;

  constructor(message: string, init: GatewayErrorInit & VideoWaitSummary) {
    super(message, init);
    this.ref = init.ref;
    this.lastStatus = init.lastStatus;
    this.elapsed = init.elapsed;
    this.polls = init.polls;
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
  readonly ref: VideoTaskRef;

  constructor(message: string, init: UnexpectedResponseErrorInit & { ref: VideoTaskRef }) {
    super(message, init);
    this.ref = init.ref;
  }
}
