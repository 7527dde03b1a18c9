import type { AttemptEvidence, Outcome } from '../errors/gateway-error.ts';
import { type FailedAttempt, getOutcome } from '../http/retry.ts';
import type { JsonObject } from '../types.ts';
import type { Call } from './call.ts';

const severity: readonly Outcome[] = ['not_sent', 'rejected', 'unknown'];

/** Returns the more severe outcome. */
export const worse = (one: Outcome, other: Outcome): Outcome =>
  severity.indexOf(one) > severity.indexOf(other) ? one : other;

/** The request that a history belongs to. */
interface Attempted {
  readonly call: Call;
  readonly params: Readonly<JsonObject>;
}

/** The attempts of a request that failed. */
export class History {
  /** The evidence of each attempt so far. */
  readonly attempts: AttemptEvidence[] = [];
  /** The number of attempts that may have been charged. */
  lost = 0;
  /** The most severe outcome of the attempts is the outcome of the request. */
  outcome: Outcome = 'not_sent';
  /** Retries so far, other than those with a new key. */
  retries = 0;
  /** `true` once an attempt was repeated with a new key. */
  isRefreshed = false;
  /** The failure of the last attempt that was sent. */
  last: FailedAttempt | undefined;
  readonly #request: Attempted;
  /** The evidence of earlier requests of the call. */
  readonly #earlier: readonly AttemptEvidence[];

  constructor(request: Attempted) {
    this.#request = request;
    this.#earlier = request.call.attempts;
  }

  add(failed: FailedAttempt): void {
    const { phase, code, status, requestId, body, isErrorComplete, address } = failed;
    // Nothing was sent, so it does not count as an attempt.
    if (phase === 'local') return;
    const outcome = getOutcome(failed);
    if (outcome === 'unknown') this.lost += 1;
    this.outcome = worse(outcome, this.outcome);
    this.attempts.push({
      phase,
      code: body?.code ?? code,
      status,
      requestId,
      ...(address !== undefined && { address }),
      ...(isErrorComplete === true && { isErrorComplete }),
    });
    this.last = failed;
  }

  /** Returns the evidence of all attempts, with those of earlier requests, and of a current one. */
  evidence(...current: readonly AttemptEvidence[]): readonly AttemptEvidence[] {
    const attempts = [...this.attempts, ...current];
    if (!this.#request.call.mayChange) return attempts;
    return [...this.#earlier, ...attempts.map((attempt) => this.name(attempt))];
  }

  /** Adds the model of the request to an attempt. */
  name(attempt: AttemptEvidence): AttemptEvidence {
    const { model } = this.#request.params;
    if (attempt.model !== undefined || typeof model !== 'string') return attempt;
    return { ...attempt, model };
  }
}
