import { isObject } from '../answers/objects.ts';
import type { AttemptEvidence, Outcome } from '../errors/gateway-error.ts';
import type { JsonObject } from '../types.ts';

/** What is known of a call when it ends. */
export interface Ending {
  readonly error?: unknown;
  readonly answer?: unknown;
  /** What a stream has come to. */
  readonly progress?: { readonly partial: unknown; readonly usage: unknown } | undefined;
  /** What is said of a stream that has ended. */
  readonly verdict?: string;
  /** Whether all of the answer has come. */
  readonly isWhole?: boolean;
}

/** How a call has ended, as it is remembered. */
interface CallEnd {
  /** In milliseconds since 1970. */
  readonly at: number;
  /** The id of the call, if anybody has asked for it. */
  readonly callId: string | undefined;
  /** Of its error; `undefined` when there was none. */
  readonly outcome: Outcome | undefined;
  readonly usage: JsonObject | undefined;
  /** The model that the answer names. */
  readonly model: unknown;
}

/**
 * One call, as it is remembered: what it costs, what the gateway's books may say of it, and what observers
 * are told come from here. It holds no prompt and no answer, and every page makes one for each call: all
 * that can be concluded from it is the matter of parts that are loaded later.
 */
export interface CallRecord {
  readonly operation: string;
  /** Parameters that decide the price, as the caller wrote them. */
  readonly model: unknown;
  readonly n: unknown;
  readonly size?: unknown;
  readonly quality?: unknown;
  readonly seconds?: unknown;
  /** The attempts that failed. */
  readonly attempts: readonly AttemptEvidence[];
  /** How many of them may have been charged, not counting those that ended with an error of the gateway. */
  lost?: number;
  /** When it was first sent, in milliseconds since 1970; `undefined` before. */
  sentAt?: number;
  /** The answer with a success status; `undefined` while a request is under way. */
  answer?:
    | {
        readonly requestId: string | undefined;
        /** What the gateway said its price is multiplied by, as it came in a header. */
        readonly ratios: string | null;
      }
    | undefined;
  end?: CallEnd;
}

/** The last calls of a client that may have been charged. */
export interface Calls {
  records: CallRecord[];
  /** How many were forgotten that are in no sum. */
  lost: number;
  /** Counts a call that has ended, once somebody has asked. */
  onEnd?: (record: CallRecord) => void;
}

/** So many are remembered that the older half can be forgotten. */
const mostCalls = 3_000;

/** Takes note that a request is sent which may be charged. */
export function noteSent(
  record: CallRecord,
  caller: { readonly calls: Calls; fold(): void },
): void {
  record.answer = undefined;
  if (record.sentAt) return;
  record.sentAt = Date.now();
  const { calls } = caller;
  if (calls.records.push(record) % mostCalls > 0) return;
  caller.fold();
}

/** Takes note of an answer with a success status. */
export function noteAnswer(
  record: CallRecord,
  { requestId, response }: { readonly requestId: string | undefined; readonly response: Response },
): void {
  record.answer = { requestId, ratios: response.headers.get('x-new-api-other-ratios') };
}

/** Takes note of what has become of a call. */
export function noteEnd(
  record: CallRecord,
  callId: string | undefined,
  { error, answer, progress }: Ending,
  calls: Calls,
): void {
  if (record.end) return;
  const said: JsonObject = Object(answer);
  const thrown: { readonly outcome?: Outcome } = Object(error);
  const usage = progress?.usage ?? said['usage'] ?? said['usageMetadata'];
  record.end = {
    at: Date.now(),
    callId,
    outcome: error ? (thrown.outcome ?? 'unknown') : undefined,
    // A copy, as callers add up in what they were answered.
    usage: isObject(usage) ? { ...usage } : undefined,
    model: said['model'],
  };
  calls.onEnd?.(record);
}
