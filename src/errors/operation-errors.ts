import { isObject } from '../answers/objects.ts';
import {
  APIError,
  type APIErrorInit,
  APIUserAbortError,
  errorClassForStatus,
} from './api-errors.ts';

/** What errors are made from, to make another one of the same failure. */
function partsOf(error: APIError): [message: string, init: APIErrorInit] {
  const { advice, body, cause } = error;
  return [error.message.replace(` ${advice}`, ''), Object.assign({}, error, { body, cause })];
}

/**
 * What an error answer means for one operation, beyond its status.
 *
 * @param says - What is in its message.
 * @param advice - What to do about it.
 * @param ErrorClass - The class of its status when left out.
 */
export function explained(
  error: Error,
  says: RegExp,
  advice: string,
  ErrorClass?: typeof APIError,
): APIError | undefined {
  if (!APIError.isInstance(error) || error.status === undefined) return undefined;
  const OwnClass = errorClassForStatus(error.status);
  const [message, init] = partsOf(error);
  const isMeant = error.name === OwnClass.kind && says.test(message);
  return isMeant ? new (ErrorClass ?? OwnClass)(message, { ...init, advice }) : undefined;
}

/** `videos.downloadContent` was called before the task was completed. Wait and call it again. */
export class ContentNotReadyError extends APIError {
  static override readonly kind: string = 'ContentNotReadyError';
}

/** HTTP 410: the content of the video has expired and can no longer be downloaded. */
export class ContentExpiredError extends APIError {
  static override readonly kind: string = 'ContentExpiredError';
}

/** What holds for a submission of which nobody knows whether it made a task. */
export const unknownAdvice =
  "It may exist and may be charged: submitting again may pay twice. account.settle(error) asks the gateway's books.";

/**
 * A video was submitted, and it is not known whether the gateway accepted it: gateways list no tasks.
 * Submitting again may pay twice. `account.settle(error)` asks the books whether it was charged. `cause` says
 * what happened.
 */
export class VideoSubmitUnknownError extends APIError {
  static override readonly kind: string = 'VideoSubmitUnknownError';

  /**
   * Whether somebody else is submitting the call at this moment, as its ledger says: try again with
   * the same `callId` later, and the ledger will know the task. When `false`, waiting does not help.
   */
  declare readonly isUnderWay: boolean;

  constructor(
    message: string,
    init: Omit<APIErrorInit, 'outcome'> & { readonly isUnderWay?: boolean | undefined },
  ) {
    super(message, { ...init, outcome: 'unknown' });
    this.isUnderWay = init.isUnderWay ?? false;
  }
}

/** Says of a submission that failed whether it may have made a task. */
export function explainSubmission(error: Error): Error | undefined {
  if (!APIError.isInstance(error)) return undefined;
  const advice = `If the gateway wants another content type, set bodyFormat on the call or the client: "form" is the default, "json" the other. Nothing was sent again by itself. ${error.advice}`;
  const isOtherType = error.status === 415 || error.status === 422;
  const hinted = explained(error, isOtherType ? /^/ : /invalid asset request/i, advice);
  // An answer that is only too odd for strict mode is there, with its task.
  const isRead = isObject(Reflect.get(error, 'data'));
  if (error.outcome !== 'unknown' || APIUserAbortError.isInstance(error) || isRead) return hinted;
  const [message, init] = partsOf(error);
  return new VideoSubmitUnknownError(
    `It is not known whether the video task was created: ${message}`,
    { ...init, advice: unknownAdvice, cause: hinted ?? error },
  );
}
