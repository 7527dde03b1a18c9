import { GatewayError } from '../errors/gateway-error.ts';
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

/** What a `BudgetError` tells besides its message. */
type BudgetFacts = Pick<BudgetError, 'reason' | 'limit' | 'spent' | 'reserved' | 'cost'>;

/** The budget of the client does not allow a call. Nothing was sent. */
export class BudgetError extends GatewayError {
  static override readonly kind: string = 'BudgetError';

  /** `limit`: the call would pass the limit. `price`: what it will cost cannot be told. */
  readonly reason: 'limit' | 'price';
  /** The limit, in US dollars, as the following. */
  readonly limit: number;
  /** What was spent by then, as estimated. */
  readonly spent: number;
  /** What is reserved for calls that are under way. */
  readonly reserved: number;
  /** What the call may cost; `undefined` when that cannot be told before. */
  readonly cost: number | undefined;

  constructor(message: string, advice: string, facts: BudgetFacts, cause?: unknown) {
    super(message, { outcome: 'not_sent', advice, cause });
    this.reason = facts.reason;
    this.limit = facts.limit;
    this.spent = facts.spent;
    this.reserved = facts.reserved;
    this.cost = facts.cost;
  }
}
