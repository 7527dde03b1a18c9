import type { Outcome, Phase } from '../errors/gateway-error.ts';

/** `retry`: within `maxRetries`; `once`: at most one; `refresh`: once, with a new key; `throw`: never. */
export type Rule = 'retry' | 'once' | 'refresh' | 'throw';

interface Row {
  /** What the failure proves about the request, before the charge class is looked at. */
  readonly outcome: Outcome;
  readonly free: Rule;
  readonly metered: Rule;
  readonly charged: Rule;
}

function row(outcome: Outcome, free: Rule, metered = free, charged = metered): Row {
  return { outcome, free, metered, charged };
}

/**
 * The decision table: every way in which an attempt can fail, what it proves, and what may be repeated
 * after it, per charge class.
 *
 * The law behind it is RFC 9110, 9.2.2: a request that is not idempotent may be repeated by a client
 * only when the first one was provably not applied. So no row of a charged call retries on an
 * unknown outcome; a test walks the table and proves it.
 */
export const failures = {
  invalid_input: row('not_sent', 'throw'),
  aborted_before_send: row('not_sent', 'throw'),
  timed_out_before_send: row('not_sent', 'throw'),
  /** Nothing was sent, or HTTP/2 promises that nothing was processed. */
  cannot_connect: row('not_sent', 'retry'),
  /** A wrong name does not heal, but a name server may have stumbled. */
  host_not_found: row('not_sent', 'once'),
  tls_failed: row('not_sent', 'throw'),
  connection_lost: row('unknown', 'retry', 'retry', 'throw'),
  timed_out: row('unknown', 'retry', 'retry', 'throw'),
  aborted: row('unknown', 'throw'),
  redirected: row('rejected', 'throw'),
  /** What it leads to may be the result. */
  redirected_after_work: row('unknown', 'throw'),
  /** By its status, or by a code that says that the same request fails again. */
  refused: row('rejected', 'throw'),
  conflict: row('rejected', 'throw'),
  unauthorized: row('rejected', 'refresh'),
  too_early: row('rejected', 'retry', 'retry', 'once'),
  rate_limited: row('rejected', 'retry'),
  /** A 429 without a body or a hint comes from a middlebox. */
  bare_rate_limited: row('rejected', 'retry', 'retry', 'once'),
  /** The gateway says that the work failed. */
  server_error: row('unknown', 'retry', 'retry', 'throw'),
  /** Somebody on the way gave up, and work may have begun. */
  interrupted: row('unknown', 'retry', 'retry', 'throw'),
  /** The provider may have created the task. */
  task_refused: row('unknown', 'retry', 'throw'),
  /** A success status means that the request was accepted. */
  unusable_answer: row('unknown', 'retry', 'throw'),
  /** An error that says neither that work had begun nor that it had not. */
  undecided: row('unknown', 'throw'),
};

/** Every way in which an attempt can fail, one word each. */
export type FailureKind = keyof typeof failures;

/** What is known of a failed attempt. */
export interface Failure {
  readonly kind: FailureKind;
  readonly phase: Phase;
  readonly code?: string | undefined;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  /** What the platform threw; never an error of an HTTP library, which would hold the request. */
  readonly cause?: unknown;
}
