import type { ChargeClass } from '../endpoints.ts';
import type { Outcome } from '../errors/gateway-error.ts';
import { failures, type Failure } from './failure.ts';

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
  const { outcome, ...rules } = failures[failure.kind];
  const column = columnOf(state);
  // A conflict on a key means that its first attempt is still at work: its answer is waited for.
  const isAtWork = state.idempotent === true && failure.kind === 'conflict';
  const rule = isAtWork ? 'retry' : rules[column];
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
