import { errorMessage } from '../../answers/objects.ts';
import { toInputError } from '../../options/check.ts';
import { defaultAdvice, GatewayError } from '../../errors/gateway-error.ts';
import {
  type AnswerFormat,
  type EarlierRequests,
  type LogicalCall,
  worse,
} from '../../calls/call.ts';
import { earlierUnknown } from '../../calls/make-error.ts';
import type { OpenAnswer } from '../../calls/promise.ts';
import type { Change } from '../../http/request.ts';
import type { FailedAttempt } from '../../http/retry.ts';

/** A request that failed after its retries. */
interface FailedRequest {
  /** The error that the caller receives if no request follows. */
  readonly error: GatewayError;
  /**
   * The last attempt, without secrets: its kind, status and error body. `undefined` if the error is not about
   * an attempt, for example if the result does not match the caller's schema.
   */
  readonly failure: FailedAttempt | undefined;
  /** The request, with its parameters (`params`), settings, client and charge class (`spec.charge`). */
  readonly call: LogicalCall;
  /** The parameters that differ from the caller's; empty for the first request. */
  readonly change: Change;
}

/** Decides whether a failed request of a call is followed by another one, with other parameters. */
export interface RequestPolicy {
  /**
   * Called once a request has failed for good: with an error status, without a response, or while its response
   * was read, and after all retries. It isn't called after an abort by the caller or `totalTimeout`.
   *
   * The policy alone decides whether a further request may pay twice, so it must check the outcome: a charged
   * request may be followed by another one only if its outcome is `not_sent` or `rejected`.
   *
   * @returns The change of the next request, which replaces `change` as a whole: a policy that changes only
   *   some parameters returns `{ ...change, … }`. The function of the `RequestSource` receives it. `undefined`
   *   if the error ends the call. Must not throw.
   */
  next(failed: FailedRequest): Change | undefined;
  /**
   * Returns whether the stream of the latest request is held back until its first content, because an error
   * before that may be followed by another request.
   */
  holdsStream(): boolean;
}

/** Creates the first request of a call, or a later one with other parameters. */
export type CallMaker = (change?: Change, earlier?: EarlierRequests) => LogicalCall;

/**
 * Returns a function that sends a request and, after an error, the further requests that its policy returns.
 * It rejects if `makeCall` or `findPolicy` throws.
 *
 * Each request is a `LogicalCall` with its own retries, observers, reservation in the budget and idempotency
 * key. All have the same id, signal and `totalTimeout`. The response is that of the last request. Its error
 * has the worst outcome and the attempts of all requests. If a further request fails before anything is sent,
 * the previous error is thrown, with the reason in its advice.
 */
export function prepareRequests<T>(
  makeCall: CallMaker,
  format: AnswerFormat<T>,
  findPolicy: (first: LogicalCall) => RequestPolicy | undefined,
): () => Promise<OpenAnswer<T>> {
  try {
    const call = makeCall();
    const policy = findPolicy(call);
    if (policy === undefined) return call.prepare(format);
    return () => openEach(call, makeCall, format, policy);
  } catch (cause) {
    const error = toInputError(cause);
    return () => Promise.reject(error);
  }
}

async function openEach<T>(
  first: LogicalCall,
  makeCall: CallMaker,
  format: AnswerFormat<T>,
  policy: RequestPolicy,
): Promise<OpenAnswer<T>> {
  let call = first;
  let change: Change = {};
  let before: GatewayError | undefined;
  const holdsStream = (): boolean => policy.holdsStream();
  first.earlier = { first, count: 0, attempts: [], holdsStream };

  /** Sends the requests after a failed one until one succeeds. Throws if none follows. */
  async function openNext(thrown: unknown): Promise<OpenAnswer<T>> {
    for (let error = thrown; ;) {
      if (!GatewayError.isInstance(error)) throw error;
      addEarlier(error, call, before);
      before = error;
      const { scope, failure } = call;
      const isOver = scope.isOver || scope.remaining <= 0;
      const following = isOver ? undefined : policy.next({ error, failure, call, change });
      if (following === undefined) throw error;
      const { attempts } = error.evidence;
      const earlier = { first, count: (call.earlier?.count ?? 0) + 1, attempts, holdsStream };
      try {
        call = makeCall((change = following), earlier);
      } catch (cause) {
        throw addReason(before, errorMessage(cause));
      }
      try {
        return await call.prepare(format)();
      } catch (cause) {
        if (isUnsent(call)) throw addReason(before, errorMessage(cause));
        error = cause;
      }
    }
  }

  let current = await call.prepare(format)().catch(openNext);
  return {
    get response() {
      return current.response;
    },
    get requestId() {
      return current.requestId;
    },
    raw: () => current.raw(),
    async parse() {
      for (;;) {
        try {
          return await current.parse();
        } catch (error) {
          current = await openNext(error);
        }
      }
    },
  };
}

/** Returns whether a request failed before anything was sent, for another reason than an abort or time limit. */
function isUnsent({ attempts, failure }: LogicalCall): boolean {
  return attempts.length === 0 && (failure === undefined || failure.kind === 'invalid_input');
}

/** Adds the attempts and the outcome of earlier requests to the error of a request. */
function addEarlier(
  error: GatewayError,
  { earlier, params: { model } }: LogicalCall,
  before: GatewayError | undefined,
): void {
  const { attempts } = error.evidence;
  const own = attempts.map((attempt) =>
    attempt.model === undefined && typeof model === 'string' ? { ...attempt, model } : attempt,
  );
  // Errors of an attempt include the earlier ones already.
  const all = new Set([...(earlier?.attempts ?? []), ...own]);
  Object.assign(error, { evidence: { ...error.evidence, attempts: [...all] } });
  const outcome = worse(before?.outcome ?? 'not_sent', error.outcome);
  if (outcome === error.outcome) return;
  setAdvice(
    Object.assign(error, { outcome }),
    outcome === 'unknown' ? earlierUnknown : defaultAdvice[outcome],
  );
}

/** Adds to the error of a request the reason why the next one was not sent. */
export function addReason(error: GatewayError, reason: string): GatewayError {
  setAdvice(error, `${error.advice} The next request was not sent: ${reason}`.trim());
  return error;
}

/** Sets the advice of an error, also at the end of its message. */
function setAdvice(error: GatewayError, advice: string): void {
  const { message } = error;
  const text = message.endsWith(error.advice)
    ? message.slice(0, -error.advice.length || undefined)
    : message;
  Object.assign(error, { advice, message: `${text.trimEnd()} ${advice}` });
}
