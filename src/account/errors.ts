import { APIError, type APIErrorInit, RateLimitError } from '../errors/api-errors.ts';

/** The gateway does not have what was asked for, so nothing can be told. */
export class UnsupportedByGatewayError extends APIError {
  static override readonly kind: string = 'UnsupportedByGatewayError';
}

/** The books were read too often: by this client, or by somebody else behind the same address. */
export class BooksLimitError extends RateLimitError {
  static override readonly kind: string = 'BooksLimitError';

  /** When to ask again at the latest, in milliseconds since 1970. */
  readonly retryAt: number;

  constructor(message: string, init: APIErrorInit & { readonly retryAt: number }) {
    super(message, init);
    this.retryAt = init.retryAt;
  }
}
