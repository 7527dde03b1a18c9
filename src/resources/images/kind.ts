import { check } from '../../options/check.ts';
import type { TaskKind } from '../../tasks/kind.ts';
import {
  checkTaskId,
  type ImageTaskRef,
  makeImageRef,
  parseImageTaskRef,
} from '../../tasks/ref.ts';
import { imageErrors, ImageSubmitUnknownError } from './errors.ts';
import { type ImageTask, pollImages, restateImage } from './poll.ts';

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
  read: pollImages,
  restate: restateImage,
  errors: imageErrors,
  SubmitUnknown: ImageSubmitUnknownError,
};
