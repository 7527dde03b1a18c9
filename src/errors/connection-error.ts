import { APIError, type APIErrorInit } from './api-error.ts';

/**
 * No answer came: the connection was refused, reset or cut.
 *
 * `outcome` is `not_sent` only where the runtime proves it; see `evidence`.
 */
export class APIConnectionError extends APIError {
  static override readonly kind: string = 'APIConnectionError';
}

/** An attempt took longer than `timeout`. The gateway may still be working on it. */
export class APIConnectionTimeoutError extends APIConnectionError {
  static override readonly kind: string = 'APIConnectionTimeoutError';

  /** The limit that was passed, in milliseconds. */
  readonly timeout: number;

  constructor(message: string, init: APIErrorInit & { readonly timeout: number }) {
    super(message, init);
    this.timeout = init.timeout;
  }
}

/** The caller's `signal` was aborted. `cause` is the signal's reason. */
export class APIUserAbortError extends APIError {
  static override readonly kind: string = 'APIUserAbortError';

  /** What a stream had received, as on `StreamError`; `undefined` when it was no stream. */
  readonly partial: unknown;
  /** The last token usage that the stream reported, or `undefined`. */
  readonly usage: unknown;

  constructor(message: string, init: APIErrorInit & { partial?: unknown; usage?: unknown }) {
    super(message, init);
    this.partial = init.partial;
    this.usage = init.usage;
  }
}

/**
 * The gateway answered with a redirect that this client does not follow: a paid request is never
 * sent on to another place. The usual cause is a wrong `baseURL`.
 *
 * `outcome` is `rejected` after a 307 or 308, and after a 301 or 302 that only names another origin;
 * it is `unknown` after any other, because a redirect may also lead to the result of the work.
 */
export class UnexpectedRedirectError extends APIError {
  static override readonly kind: string = 'UnexpectedRedirectError';
}
