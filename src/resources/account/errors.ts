import { GatewayError } from '../../errors/gateway-error.ts';
import { type APIErrorInit, RateLimitError } from '../../errors/api-errors.ts';

/** The usage log was read too often, by this client or by others behind the same address. */
export class UsageLogLimitError extends RateLimitError {
  static override readonly kind: string = 'UsageLogLimitError';

  /** The time after which the log can be read again, in milliseconds since 1970. */
  readonly retryAt: number;

  constructor(message: string, init: APIErrorInit & { readonly retryAt: number }) {
    super(message, init);
    this.retryAt = init.retryAt;
  }
}

/** The fields of a `BudgetError`. */
type BudgetFacts = Pick<BudgetError, 'reason' | 'limit' | 'spent' | 'reserved' | 'cost'>;

/** The client's budget does not allow a call. Nothing was sent. */
export class BudgetError extends GatewayError {
  static override readonly kind: string = 'BudgetError';

  /** `limit`: the call would exceed the limit. `price`: its price is unknown. `spent`: `budget.spent()` failed. */
  readonly reason: 'limit' | 'price' | 'spent';
  /** The limit. This and the following amounts are in US dollars. */
  readonly limit: number;
  /** The amount spent so far, as estimated. */
  readonly spent: number;
  /** The amount reserved for calls in progress. */
  readonly reserved: number;
  /** The possible cost of the call; `undefined` if it is unknown. */
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
