import type { Request } from '../../calls/request.ts';
import type { AnswerUsage } from '../../answers/usage.ts';
import type { AttemptEvidence, Outcome } from '../../errors/gateway-error.ts';
import { type PricedCall, priceKind } from './cost.ts';

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
  /** The ids of the tasks that the call submitted. */
  readonly taskIds: readonly string[];
  /** The reports of the last poll of each task, which replace that of the submission. */
  readonly polled?: ReadonlyMap<string, Report> | undefined;
}

/**
 * One call that may be charged, with the facts that determine its cost and its entries in the usage log.
 * Contains neither the prompt nor the response.
 */
export interface CallRecord extends PricedCall {
  /** The attempts that failed. */
  readonly attempts: readonly AttemptEvidence[];
  /** The number of failed attempts that may have been charged. */
  lost: number;
  /** `true` if the last attempt received a success status and did not fail afterwards. */
  isAccepted: boolean;
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
  /** `true` once the usage log proves that the call was refunded or not charged. */
  isFree: boolean;
  /** Called when the call ends, if it was forgotten before. */
  onEnd: (() => void) | undefined;
}

/** The last calls of clients that share state. */
export interface Calls {
  records: CallRecord[];
}

const allCalls = new WeakMap<object, Calls>();

/** Returns the calls of a client and of those that share their state with it. */
export function findCalls({ client: { shared } }: Pick<Request, 'client'>): Calls {
  const known = allCalls.get(shared);
  if (known !== undefined) return known;
  const calls: Calls = { records: [] };
  allCalls.set(shared, calls);
  return calls;
}

const records = new WeakMap<Request, CallRecord>();

/** Returns the record of a call with a budget; `undefined` for free calls and without a budget. */
export const findRecord = (call: Request): CallRecord | undefined => records.get(call);

/** Starts the record of a call. */
export function createRecord(call: Request): CallRecord {
  const { spec, attempts, params } = call;
  const { operation } = spec;
  const { model, n, size, quality, duration, seconds = duration } = params;
  // All fields at once, so that all records have one shape.
  const record: CallRecord = {
    operation,
    kind: priceKind(operation),
    model,
    n,
    size,
    quality,
    seconds,
    attempts,
    lost: 0,
    isAccepted: false,
    isSent: false,
    answer: undefined,
    end: undefined,
    isSummed: false,
    isFree: false,
    onEnd: undefined,
  };
  // Only budgets look up records, so other calls are spared the cost of this map.
  if (call.client.original().budget) records.set(call, record);
  return record;
}
