import { isObject } from '../answers/objects.ts';
import {
  APIError,
  type APIErrorInit,
  APIUserAbortError,
  errorClassForStatus,
  type UnexpectedResponseErrorInit,
} from './api-errors.ts';
import { GatewayError } from './gateway-error.ts';

type APIErrorClass = new (summary: string, init: FailureInit) => APIError;

/** Fields of the error of a failed request. */
export type FailureInit = UnexpectedResponseErrorInit & {
  readonly timeout?: number | undefined;
  readonly advice: string;
};

/** The error of a failed request before it is built. */
export interface DescribedFailure {
  readonly ErrorType: APIErrorClass;
  /** The message without advice. */
  readonly summary: string;
  readonly init: FailureInit;
}

export const buildError = ({ ErrorType, summary, init }: DescribedFailure): APIError =>
  new ErrorType(summary, init);

/**
 * Builds the error of a rejected request with advice for its operation.
 *
 * @param pattern - Matches the summaries that the advice applies to.
 * @param advice - The recommended next step.
 * @param ErrorType - By default, the class for the status.
 * @returns `undefined` if the advice does not apply.
 */
export function explained(
  { ErrorType: Own, summary, init }: DescribedFailure,
  pattern: RegExp,
  advice: string,
  ErrorType: APIErrorClass = Own,
): APIError | undefined {
  const { status } = init;
  const isOfStatus = status !== undefined && Own === errorClassForStatus(status);
  return isOfStatus && pattern.test(summary)
    ? new ErrorType(summary, { ...init, advice })
    : undefined;
}

/** `videos.downloadContent` was called before the task was completed. Wait and call it again. */
export class ContentNotReadyError extends APIError {
  static override readonly kind: string = 'ContentNotReadyError';
}

/** Input of the constructor of `ContentUnavailableError`. */
export type ContentUnavailableInit = APIErrorInit & { readonly url?: string | undefined };

/**
 * The gateway's content route did not return the content of a completed video, and neither did the URL in its
 * task, or the task has none. The fields are those of the content route's response; `cause` is the failure of the
 * URL.
 */
export class ContentUnavailableError extends APIError {
  static override readonly kind: string = 'ContentUnavailableError';

  /**
   * The URL of the video in its task, to download it in another way. It may grant access to the file, so it is not
   * enumerable, which keeps it out of logs; the message names it without its query. `undefined` if the task has
   * none.
   */
  declare readonly url: string | undefined;

  constructor(message: string, init: ContentUnavailableInit) {
    super(message, init);
    Object.defineProperty(this, 'url', { value: init.url });
  }
}

/** HTTP 410: the content of the video has expired and can no longer be downloaded. */
export class ContentExpiredError extends ContentUnavailableError {
  static override readonly kind: string = 'ContentExpiredError';
}

/** Why the URL in a task does not have the content either. */
interface FailedURL {
  /** `undefined` if the task has none. */
  readonly url?: string;
  readonly advice: string;
  readonly cause?: unknown;
}

/**
 * Adds the failure of the URL in the task to the error of a content route.
 *
 * @param problem - The failure, in a sentence.
 */
export function unavailable(
  error: APIError,
  problem: string,
  { url, advice, cause }: FailedURL,
): ContentUnavailableError {
  const attempts = GatewayError.isInstance(cause) ? cause.evidence.attempts : [];
  const { summary, body, evidence } = error;
  const OwnClass = ContentExpiredError.isInstance(error)
    ? ContentExpiredError
    : ContentUnavailableError;
  const init = Object.assign({}, error, {
    body,
    url,
    advice,
    evidence: { ...evidence, attempts: [...evidence.attempts, ...attempts] },
    cause: cause ?? error.cause,
  });
  return new OwnClass(`${summary} ${problem}`, init);
}

/** The advice for a submission that may have created a task. */
export const unknownAdvice =
  "It may exist and be charged, so submitting again may pay twice. account.settle(error) reads the gateway's usage log.";

/** Input of the constructor of a `SubmitUnknownError`. */
export type SubmitUnknownInit = Omit<APIErrorInit, 'outcome'> & {
  readonly isInProgress?: boolean | undefined;
};

/** A submission with an unknown outcome. Each kind of task has a class of its own. */
export class SubmitUnknownError extends APIError {
  /**
   * `true` if another worker is making the call now, according to the ledger: try again later with the same
   * `callId` to get its task. If `false`, trying again doesn't help.
   */
  declare readonly isInProgress: boolean;

  constructor(message: string, init: SubmitUnknownInit) {
    super(message, { ...init, outcome: 'unknown' });
    this.isInProgress = init.isInProgress ?? false;
  }
}

/**
 * A video was submitted, and the gateway may have accepted it. Gateways can't list tasks, and submitting again
 * may pay twice. `account.settle(error)` looks up in the usage log whether it was charged. `cause` is the
 * failure.
 */
export class VideoSubmitUnknownError extends SubmitUnknownError {
  static override readonly kind: string = 'VideoSubmitUnknownError';
}

/** Matches errors of gateways that read JSON and received a form. Go fails at the `-` of its boundary. */
export const expectsJSON =
  /(valid|malformed|parse|parsing|decode|in|as|\/)( the)? ?json\b|json (body|payload)|invalid character|expecting value|invalid asset request/i;

/** Builds the error of a submission: `VideoSubmitUnknownError` if a task may have been created. */
export function explainSubmission(failure: DescribedFailure): APIError | undefined {
  const { ErrorType, summary, init } = failure;
  const advice = `If the gateway wants another content type, set bodyFormat on the call or the client: "form" is the default, "json" the other. The request was not repeated. ${init.advice}`;
  const isOtherType = init.status === 415 || init.status === 422;
  const hinted = explained(failure, isOtherType ? /^/ : expectsJSON, advice);
  // A response that only strict validation rejects contains its task.
  const isRead = isObject(init.data);
  if (init.outcome !== 'unknown' || ErrorType === APIUserAbortError || isRead) return hinted;
  return new VideoSubmitUnknownError(`The video task may have been created: ${summary}`, {
    ...init,
    advice: unknownAdvice,
    cause: hinted ?? buildError(failure),
  });
}
