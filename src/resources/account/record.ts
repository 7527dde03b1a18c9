import type { GatewayRequest } from '../../calls/gateway-request.ts';
import type { AnswerUsage } from '../../answers/usage.ts';
import type { AttemptEvidence, Outcome } from '../../errors/gateway-error.ts';
import { type PricedCall, priceKind, type UsageSum } from './cost.ts';

/** The usage and cost that a response reports. */
export interface Report {
  readonly usage: Partial<AnswerUsage> | undefined;
  /** In US dollars. */
  readonly cost: number | undefined;
}

/** The end of a call. */
interface CallEnd extends Report {
  /** In milliseconds since 1970. */
  readonly at: number;
  /** The id of the call, if one was created. */
  readonly callId: string | undefined;
  /** The outcome of its error; `undefined` if the call succeeded. */
  readonly outcome: Outcome | undefined;
  /** The model that the response names. */
  readonly model: unknown;
  /** The usage to assume, if the response reports neither usage nor cost. */
  readonly expected: UsageSum | undefined;
  /** The ids of the tasks that the call submitted. */
  readonly taskIds: readonly string[];
  /** The reports of the last poll of each task, which replace that of the submission. */
  readonly polled?: ReadonlyMap<string, Report> | undefined;
}

/** What a budget holds for a call: its reservation while it runs, then the amounts that it counts. */
export interface Held {
  /** Counts the call, which has ended, instead of its reservation. */
  end(): void;
  /** Counts the call anew, after a poll of its task or once it proved to be free. */
  update(): void;
}

/**
 * One call that may be charged, with the facts that determine its cost and its entries in the usage log.
 * Contains neither the prompt nor the response.
 */
export interface CallRecord extends PricedCall {
  /** The attempts that failed. */
  readonly attempts: readonly AttemptEvidence[];
  /** The attempts of earlier requests of the call, to other models or in other modes. */
  readonly earlier: readonly AttemptEvidence[];
  /** The number of attempts before the last that may have been charged. */
  lost: number;
  /** `true` once the call was sent. */
  isSent: boolean;
  /** The response with a success status; `undefined` while a request is running. */
  answer:
    | {
        readonly requestId: string | undefined;
        /** The header with the price multipliers. */
        readonly ratios: string | null;
      }
    | undefined;
  end: CallEnd | undefined;
  /** `true` while the call is in the sums. */
  isSummed: boolean;
  /** `true` once the usage log proves that the last attempt was refunded or not charged. */
  isFree: boolean;
  /** Set if the client has a budget. */
  held: Held | undefined;
}

/** Starts the record of a call. */
export function createRecord({ spec, history, params, call }: GatewayRequest): CallRecord {
  const { operation } = spec;
  const { model, n, size, quality, duration, seconds = duration } = params;
  // All fields at once, so that all records have one shape.
  return {
    operation,
    kind: priceKind(operation),
    model,
    n,
    size,
    quality,
    seconds,
    attempts: history.attempts,
    earlier: call.attempts,
    lost: 0,
    isSent: false,
    answer: undefined,
    end: undefined,
    isSummed: false,
    isFree: false,
    held: undefined,
  };
}

/** Returns whether a call that has ended may have been charged. */
export function isCounted({ end, isFree, lost }: CallRecord): boolean {
  if (end === undefined || (isFree && lost === 0)) return false;
  return end.outcome !== 'not_sent' && end.outcome !== 'rejected';
}
