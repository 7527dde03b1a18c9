import { GatewayError, type GatewayErrorInit } from '../errors/gateway-error.ts';
import { taskErrors, type TaskFailedErrorInit, type TaskWaitSummary } from '../tasks/errors.ts';
import type { ImageTaskRef } from '../tasks/ref.ts';

/** Input of the constructor of `ImageFailedError`. */
export type ImageFailedErrorInit = TaskFailedErrorInit<ImageTaskRef>;

/** The gateway reports that an image task failed. */
export class ImageFailedError extends GatewayError {
  static override readonly kind: string = 'ImageFailedError';

  /** The reason from the gateway or its vendor, or a text that there is none; never empty. */
  declare readonly reason: string;
  /** The vendor's code, or `undefined`. */
  declare readonly code: string | undefined;
  /** `true` if the reason reads like a content review. This is a guess from its text. */
  declare readonly moderated: boolean;
  /** The answer that reported the failure, without the queries of URLs. */
  declare readonly raw: unknown;
  /** The handle of the task. */
  declare readonly ref: ImageTaskRef;

  constructor(message: string, init: ImageFailedErrorInit) {
    super(message, init);
    const { reason, code, moderated = false, raw, ref } = init;
    Object.assign(this, { reason, code, moderated, raw, ref });
  }
}

/** The progress of a wait for images that ended before they were ready. */
export type ImageWaitSummary = TaskWaitSummary<ImageTaskRef>;

/**
 * The wait for images ended before they were ready, and they are or may be paid for. The request was not
 * sent again, and the task was not cancelled: wait for it again with `images.wait(error.ref)`.
 */
export class ImageWaitError extends GatewayError implements ImageWaitSummary {
  static override readonly kind: string = 'ImageWaitError';

  declare readonly ref: ImageTaskRef;
  declare readonly lastStatus: string | undefined;
  declare readonly elapsed: number;
  declare readonly polls: number;

  constructor(message: string, init: GatewayErrorInit & ImageWaitSummary) {
    super(message, init);
    const { ref, lastStatus, elapsed, polls } = init;
    Object.assign(this, { ref, lastStatus, elapsed, polls });
  }
}

/** The `taskTimeout` of a wait, or the `totalTimeout` of its call, has passed. The task is still running. */
export class ImageWaitTimeoutError extends ImageWaitError {
  static override readonly kind: string = 'ImageWaitTimeoutError';
}

/** The `signal` of a wait was aborted. Only the wait stopped; the task is still running. */
export class ImageWaitAbortedError extends ImageWaitError {
  static override readonly kind: string = 'ImageWaitAbortedError';
}

/** Advice for a task that is still running. */
const waitAdvice =
  'The task was not cancelled: it may still finish and be charged. Wait for it again with images.wait(error.ref).';

/** Creates the errors that end waits for images. */
export const imageErrors = taskErrors<ImageTaskRef, ImageFailedError>({
  task: 'Image task',
  advice: () => waitAdvice,
  missingAdvice:
    "No route that is known for image tasks has it. Check that baseURL is the gateway that issued it, and give its route as imageTask in the gateway's profile.",
  Wait: ImageWaitError,
  WaitTimeout: ImageWaitTimeoutError,
  WaitAborted: ImageWaitAbortedError,
  Failed: ImageFailedError,
});
