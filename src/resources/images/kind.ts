import { check } from '../../options/check.ts';
import type { TaskKind } from '../../tasks/kind.ts';
import {
  checkTaskId,
  type ImageTaskRef,
  makeImageRef,
  parseImageTaskRef,
} from '../../tasks/ref.ts';
import { TaskErrors } from '../../tasks/errors.ts';
import {
  ImageFailedError,
  ImageSubmitUnknownError,
  ImageWaitAbortedError,
  ImageWaitError,
  ImageWaitTimeoutError,
} from './errors.ts';
import { type ImageTask, pollImages, restateImage } from './poll.ts';

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

export const imageTasks: TaskKind<ImageTaskRef, ImageTask> = {
  parse: parseImageTaskRef,
  resolve(task, baseURL) {
    if (typeof task === 'string') {
      const id = checkTaskId('ref', task);
      return { ref: makeImageRef({ id, baseURL, createdAt: Date.now() }) };
    }
    const ref = parseImageTaskRef(task);
    const problem = 'is a handle of images that were returned without a task.';
    check(ref.hasImages !== true, 'ref', problem);
    return { ref, handle: Object(task) };
  },
  read: (...poll) => ({ withResponse: () => pollImages(...poll) }),
  restate: restateImage,
  errors: imageErrors,
  SubmitUnknown: ImageSubmitUnknownError,
};
