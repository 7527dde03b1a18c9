import type { ChargeClass } from '../endpoints.ts';
import type { Outcome } from '../errors/gateway-error.ts';
import { outcomeOf, type Failure, type FailureKind } from './failure.ts';

/** `retry`: within `maxRetries`; `once`: at most one; `refresh`: once, with a new key; `throw`: never. */
export type Rule = 'retry' | 'once' | 'refresh' | 'throw';

interface Row {
  readonly free: Rule;
  readonly metered: Rule;
  readonly charged: Rule;
  readonly reason: string;
}

/**
 * The decision table: what may be repeated, per charge class.
 *
 * The law behind it is RFC 9110, 9.2.2: a request that is not idempotent may be repeated by a client
 * only when the first one was provably not applied. So no row of a charged call retries on an
 * unknown outcome; a test walks the table and proves it.
 */
export const retryTable: Readonly<Record<FailureKind, Row>> = {
  invalid_input: row('throw', 'throw', 'throw', 'the same input fails again'),
  aborted_before_send: row('throw', 'throw', 'throw', 'the caller asked to stop'),
  timed_out_before_send: row('throw', 'throw', 'throw', 'the key or the body did not come in time'),
  cannot_connect: row('retry', 'retry', 'retry', 'nothing was sent'),
  host_not_found: row('once', 'once', 'once', 'nothing was sent; a wrong name does not heal'),
  tls_failed: row('throw', 'throw', 'throw', 'nothing was sent; a certificate does not heal'),
  refused_stream: row('retry', 'retry', 'retry', 'HTTP/2 promises that nothing was processed'),
  connection_lost: row('retry', 'retry', 'throw', 'the request may have been accepted'),
  timed_out: row('retry', 'retry', 'throw', 'the gateway may still be working on it'),
  aborted: row('throw', 'throw', 'throw', 'the caller asked to stop'),
  redirected: row('throw', 'throw', 'throw', 'the base URL is probably wrong'),
  redirected_after_work: row('throw', 'throw', 'throw', 'what it leads to may be the result'),
  refused: row('throw', 'throw', 'throw', 'the same request is refused again'),
  unauthorized: row('refresh', 'refresh', 'refresh', 'a 401 is issued before any work'),
  request_timeout: row('retry', 'retry', 'throw', 'a proxy may have passed the request on'),
  too_early: row('retry', 'retry', 'once', '425 is a refusal before processing'),
  rate_limited: row('retry', 'retry', 'retry', 'a rate limit is refused before work'),
  bare_rate_limited: row('retry', 'retry', 'once', 'a 429 without body or hint is a middlebox'),
  task_refused: row('retry', 'throw', 'throw', 'the provider may have created the task'),
  cannot_heal: row('throw', 'throw', 'throw', 'the code says that it fails again'),
  server_error: row('retry', 'retry', 'throw', 'the work may have been done before it failed'),
  not_implemented: row('throw', 'throw', 'throw', 'the gateway does not have this route'),
  bad_gateway: row('retry', 'retry', 'throw', 'the gateway behind the proxy may still be working'),
  unavailable: row('retry', 'retry', 'throw', 'a 503 does not say whether work had begun'),
  unusable_answer: row('retry', 'throw', 'throw', 'a success status means that it was accepted'),
  error_in_success: row('throw', 'throw', 'throw', 'a definite answer'),
  error_with_id: row('throw', 'throw', 'throw', 'an error next to an id: work may be done'),
};

function row(free: Rule, metered: Rule, charged: Rule, reason: string): Row {
  return { free, metered, charged, reason };
}

/** What the decision needs to know of the call. */
export interface RetryState {
  readonly charge: ChargeClass;
  /** The caller's explicit word on unknown outcomes, or `undefined`. */
  readonly retryUnknownOutcome: boolean | undefined;
  /** Whether the gateway promises to do the work of this call once, however often it is sent. */
  readonly idempotent?: boolean;
  readonly maxRetries: number;
  /** Retries made so far. */
  readonly retries: number;
  /** Whether a 401 was already answered with a new key. */
  readonly refreshed: boolean;
  readonly canRefresh: boolean;
  /** Whether the body can be sent again; a stream cannot. */
  readonly replayable: boolean;
}

/** What to do with a failed attempt. */
export interface Decision {
  readonly action: 'retry' | 'refresh' | 'throw';
  readonly outcome: Outcome;
}

/** The column of the table that a call stands under. */
function columnOf(state: RetryState): ChargeClass {
  if (state.idempotent) return 'free';
  if (state.charge === 'free' || state.retryUnknownOutcome === undefined) return state.charge;
  return state.retryUnknownOutcome ? 'metered' : 'charged';
}

/** Decides, without any effect, whether a failed attempt is repeated. */
export function decide(failure: Failure, state: RetryState): Decision {
  const outcome = outcomeOf[failure.kind];
  const column = columnOf(state);
  // A conflict on a key means that its first attempt is still at work: its answer is waited for.
  const isConflict = failure.kind === 'refused' && failure.status === 409;
  const isAtWork = state.idempotent === true && isConflict;
  const rule = isAtWork ? 'retry' : retryTable[failure.kind][column];
  const stop: Decision = { action: 'throw', outcome };
  if (!state.replayable || rule === 'throw') return stop;
  // Once an answer has begun, only a read may be repeated: the work was done and is billed.
  if (failure.phase === 'body' && column !== 'free') return stop;
  if (rule === 'refresh') {
    return state.canRefresh && !state.refreshed ? { action: 'refresh', outcome } : stop;
  }
  const limit = rule === 'once' ? Math.min(1, state.maxRetries) : state.maxRetries;
  return state.retries < limit ? { action: 'retry', outcome } : stop;
}
