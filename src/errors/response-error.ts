import { APIError, type APIErrorInit } from './api-error.ts';

/** One place where an answer differs from what this client expects. */
export interface ResponseIssue {
  /** Where in the answer, for example `choices[0].message.content`. */
  readonly path: string;
  /** What was expected there, for example `string`. */
  readonly expected: string;
  /** What was received: a type name, never the value itself. */
  readonly received: string;
}

/** What an {@link UnexpectedResponseError} is made from. */
export interface UnexpectedResponseErrorInit extends APIErrorInit {
  readonly issues?: readonly ResponseIssue[] | undefined;
  readonly data?: unknown;
}

/**
 * The gateway answered with success, but the body is not usable: HTML, empty, cut, or not of the
 * promised shape. A paid request was probably accepted.
 */
export class UnexpectedResponseError extends APIError {
  static override readonly kind: string = 'UnexpectedResponseError';

  /** The differences that `validation: "strict"` found; empty otherwise. */
  readonly issues: readonly ResponseIssue[];
  /** The parsed answer, where there was one, so that nothing paid for is lost. Not enumerable either. */
  declare readonly data: unknown;

  constructor(message: string, init: UnexpectedResponseErrorInit) {
    super(message, init);
    this.issues = init.issues ?? [];
    Object.defineProperty(this, 'data', { value: init.data });
  }
}

/** `videos.downloadContent` was called before the task was completed. Wait and call it again. */
export class ContentNotReadyError extends APIError {
  static override readonly kind: string = 'ContentNotReadyError';
}

/** HTTP 410: the content of the video has expired and can no longer be downloaded. */
export class ContentExpiredError extends APIError {
  static override readonly kind: string = 'ContentExpiredError';
}
