import { UnexpectedResponseError, type UnexpectedResponseErrorInit } from '../errors/api-errors.ts';

/** What an `ImageTaskError` is made from. */
export interface ImageTaskErrorInit extends UnexpectedResponseErrorInit {
  readonly taskId: string | undefined;
  readonly taskStatus: string | undefined;
}

/**
 * The gateway accepted an image request as a task and returned no picture. The task is paid for, so
 * the request is not sent again. Fetch the result from the gateway with `taskId`; the whole answer is
 * in `body`.
 */
export class ImageTaskError extends UnexpectedResponseError {
  static override readonly kind: string = 'ImageTaskError';

  /** The task id. `undefined` if the gateway accepted the request (202) without an id. */
  declare readonly taskId: string | undefined;
  /** The gateway's status word for the task, for example `"submitted"`; `undefined` if it sent none. */
  declare readonly taskStatus: string | undefined;

  constructor(message: string, init: ImageTaskErrorInit) {
    super(message, init);
    this.taskId = init.taskId;
    this.taskStatus = init.taskStatus;
  }
}
