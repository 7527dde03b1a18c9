import type { ErrorBody } from '../schemas/error-body.ts';

/** The gateway sent an error inside the stream. */
export class SentError extends Error {
  readonly body: ErrorBody;

  constructor(body: ErrorBody) {
    super(body.message);
    this.body = body;
  }
}
