import {
  TaskFailedError,
  type TaskFailedErrorInit,
  TaskWaitError,
  type TaskWaitSummary,
} from '../../tasks/errors.ts';
import { SubmitUnknownError } from '../../errors/operation-errors.ts';
import type { ImageTaskRef } from '../../tasks/ref.ts';

/**
 * According to the ledger, this call for images was sent before, with an unknown outcome: a process died, or
 * the response was lost. Sending it again may pay twice. `account.settle(error)` looks up in the usage log
 * whether it was charged.
 */
export class ImageSubmitUnknownError extends SubmitUnknownError {
  static override readonly kind: string = 'ImageSubmitUnknownError';
}

/** Input of the constructor of `ImageFailedError`. */
export type ImageFailedErrorInit = TaskFailedErrorInit<ImageTaskRef>;

/**
 * The gateway reports that an image task failed. Usually, its charge is refunded: `account.settle(error)` tells.
 * Until then, the outcome is `unknown`.
 */
export class ImageFailedError extends TaskFailedError<ImageTaskRef> {
  static override readonly kind: string = 'ImageFailedError';
}

/** The progress of a wait for images that ended before they were ready. */
export type ImageWaitSummary = TaskWaitSummary<ImageTaskRef>;

/**
 * The wait for images ended before they were ready, and they are or may be charged. The request was not sent
 * again, and the task was not cancelled: wait for it again with `images.wait(error.ref)`.
 */
export class ImageWaitError extends TaskWaitError<ImageTaskRef> {
  static override readonly kind: string = 'ImageWaitError';
}

/** The `taskTimeout` of a wait, or the `totalTimeout` of its call, has passed. The task is still running. */
export class ImageWaitTimeoutError extends ImageWaitError {
  static override readonly kind: string = 'ImageWaitTimeoutError';
}

/** The `signal` of a wait was aborted. Only the wait stopped; the task is still running. */
export class ImageWaitAbortedError extends ImageWaitError {
  static override readonly kind: string = 'ImageWaitAbortedError';
}
