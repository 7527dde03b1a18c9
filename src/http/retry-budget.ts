const capacity = 500;
const costOfRetry = 5;
const costAfterTimeout = 10;
const refund = 1;

/**
 * A token bucket that all calls of a client share, so that an outage does not multiply its load.
 *
 * Each retry takes tokens and each success gives one back. While calls mostly succeed it never runs
 * dry; when everything fails, retries stop after a while and each call fails at once.
 */
export class RetryBudget {
  #tokens = capacity;

  /** Takes the tokens of one retry; `false` when there are not enough left. */
  take(afterTimeout: boolean): boolean {
    const cost = afterTimeout ? costAfterTimeout : costOfRetry;
    if (this.#tokens < cost) return false;
    this.#tokens -= cost;
    return true;
  }

  /** Gives back for a call that succeeded. */
  give(): void {
    this.#tokens = Math.min(capacity, this.#tokens + refund);
  }
}
