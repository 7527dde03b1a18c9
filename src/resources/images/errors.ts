import {
  TaskErrors,
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

/** Advice for a task that is still running. */
const waitAdvice =
  'The task was not cancelled: it may still finish and be charged. Wait for it again with images.wait(error.ref).';

/** Creates the errors that end waits for images. */
export const imageErrors = /* @__PURE__ */ new TaskErrors<ImageTaskRef, ImageFailedError>({
  task: 'Image task',
  advice: () => waitAdvice,
  missingAdvice:
    "No route that is known for image tasks has it. Check that baseURL is the gateway that issued it, and give its route as imageTask in the gateway's profile.",
  Wait: ImageWaitError,
  WaitTimeout: ImageWaitTimeoutError,
  WaitAborted: ImageWaitAbortedError,
  Failed: ImageFailedError,
});
