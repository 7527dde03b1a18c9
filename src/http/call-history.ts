import type { AttemptEvidence, Outcome } from '../errors/gateway-error.ts';
import { failures } from './failure.ts';
import type { FailedAttempt } from './to-error.ts';

const severity: Readonly<Record<Outcome, number>> = { not_sent: 0, rejected: 1, unknown: 2 };

function worseOf(first: Outcome, second: Outcome): Outcome {
  return severity[first] > severity[second] ? first : second;
}

/** What the attempts of one call have left behind. */
export class CallHistory {
  readonly #attempts: AttemptEvidence[] = [];
  #worst: Outcome = 'not_sent';

  get attempts(): readonly AttemptEvidence[] {
    return this.#attempts;
  }

  /** Takes note of an attempt that failed. */
  record({ kind, phase, code, status, requestId, body }: FailedAttempt): void {
    this.#worst = worseOf(this.#worst, failures[kind].outcome);
    this.#attempts.push({ phase, code: body?.code ?? code, status, requestId });
  }

  /** What is known of the call is what is known of its worst attempt. */
  outcomeWith(last: Outcome): Outcome {
    return worseOf(this.#worst, last);
  }
}
