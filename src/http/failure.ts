import type { Outcome, Phase } from '../errors/gateway-error.ts';

/**
 * Every way in which an attempt can fail, one word each. The rows of the retry table.
 */
export type FailureKind =
  | 'invalid_input'
  | 'aborted_before_send'
  | 'timed_out_before_send'
  | 'cannot_connect'
  | 'host_not_found'
  | 'tls_failed'
  | 'refused_stream'
  | 'connection_lost'
  | 'timed_out'
  | 'aborted'
  | 'redirected'
  | 'redirected_after_work'
  | 'refused'
  | 'unauthorized'
  | 'request_timeout'
  | 'too_early'
  | 'rate_limited'
  | 'bare_rate_limited'
  | 'task_refused'
  | 'cannot_heal'
  | 'server_error'
  | 'not_implemented'
  | 'bad_gateway'
  | 'unavailable'
  | 'unusable_answer'
  | 'error_in_success'
  | 'error_with_id';

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

/** What a failure proves about the request, before the charge class is looked at. */
export const outcomeOf: Readonly<Record<FailureKind, Outcome>> = {
  invalid_input: 'not_sent',
  aborted_before_send: 'not_sent',
  timed_out_before_send: 'not_sent',
  cannot_connect: 'not_sent',
  host_not_found: 'not_sent',
  tls_failed: 'not_sent',
  refused_stream: 'not_sent',
  connection_lost: 'unknown',
  timed_out: 'unknown',
  aborted: 'unknown',
  redirected: 'rejected',
  redirected_after_work: 'unknown',
  refused: 'rejected',
  unauthorized: 'rejected',
  request_timeout: 'unknown',
  too_early: 'rejected',
  rate_limited: 'rejected',
  bare_rate_limited: 'rejected',
  task_refused: 'unknown',
  cannot_heal: 'rejected',
  server_error: 'unknown',
  not_implemented: 'rejected',
  bad_gateway: 'unknown',
  unavailable: 'unknown',
  unusable_answer: 'unknown',
  error_in_success: 'rejected',
  error_with_id: 'unknown',
};
