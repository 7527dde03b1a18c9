import { errorMessage } from '../answers/objects.ts';
import { defaultAdvice, GatewayError, revise } from '../errors/gateway-error.ts';
import type { Change } from '../http/request.ts';
import { worse } from './history.ts';
import { earlierUnknown } from './make-error.ts';
import type { OpenResponse } from './open-response.ts';
import { findRequest, type GatewayRequest } from './gateway-request.ts';

/** Sends a request of a call. Resolves once the headers of a success response are received. */
export type Send = <T>(request: GatewayRequest<T>) => Promise<OpenResponse<T>>;

/** Decides whether a failed request of a call is followed by another one. */
export interface Follow<T> {
  /**
   * Called once a request has failed for good: with an error status, without a response, or while its response
   * was read, and after all retries. It isn't called after an abort by the caller or `totalTimeout`.
   *
   * It alone decides whether a further request may pay twice, so it must check the outcome: a charged request
   * may be followed by another one only if its outcome is `not_sent` or `rejected`.
   *
   * @param failed - The request, whose `failure` is its last attempt.
   * @param error - The error that the caller receives if no request follows, with the attempts and outcome of all
   *   requests.
   * @returns The next request; `undefined` if the error ends the call.
   * @throws `InvalidInputError` if the next request cannot be sent
   */
  next(failed: GatewayRequest, error: GatewayError): GatewayRequest<T> | undefined;
  /** Called when the response to a request with this change is about to be read. */
  reading?(change: Change): void;
}

/**
 * Sends a request and, after an error, further ones while `follow` returns them.
 *
 * Each request has its own retries, listeners and idempotency key. All have the same id, signal and
 * `totalTimeout`. The response is that of the last request. Its error has the worst outcome and the attempts of
 * all requests. If a further request fails before anything is sent, the previous error is thrown, with the
 * reason in its advice.
 */
export async function sendEach<T>(
  next: Send,
  first: GatewayRequest<T>,
  follow: Follow<T>,
): Promise<OpenResponse<T>> {
  first.call.mayChange = true;
  let before: GatewayError | undefined;

  const watch = (open: OpenResponse<T>): OpenResponse<T> => {
    if (follow.reading === undefined) return open;
    return open.readBy(() => {
      follow.reading?.(open.change);
      return open.parse();
    });
  };

  /** Sends the requests after a failed one until one succeeds. Throws if none follows. */
  async function openNext(thrown: unknown): Promise<OpenResponse<T>> {
    for (let error = thrown; ;) {
      const request = findRequest(error);
      if (!GatewayError.isInstance(error) || request === undefined) throw error;
      addEarlier(error, request, before);
      before = error;
      const { scope } = request;
      if (scope.isOver || scope.remaining <= 0) throw error;
      try {
        const following = follow.next(request, error);
        if (following !== undefined) return watch(await next(following));
      } catch (cause) {
        if (isUnsent(findRequest(cause))) throw addReason(before, errorMessage(cause));
        error = cause;
        continue;
      }
      throw error;
    }
  }

  const open = await next(first).then(watch, openNext);
  return open.orElse(openNext);
}

/**
 * Returns whether a request failed before anything was sent, for another reason than an abort or time limit.
 *
 * @param request - `undefined` if the request was not even created.
 */
function isUnsent(request: GatewayRequest | undefined): boolean {
  if (request === undefined) return true;
  const { history, failure } = request;
  return (
    history.attempts.length === 0 && (failure === undefined || failure.kind === 'invalid_input')
  );
}

/** Adds the attempts and the outcome of earlier requests to the error of a request. */
function addEarlier(
  error: GatewayError,
  { call, history }: GatewayRequest,
  before: GatewayError | undefined,
): void {
  const attempts = error.evidence.attempts.map((attempt) => history.name(attempt));
  // Errors of an attempt include the earlier ones already.
  call.attempts = [...new Set([...call.attempts, ...attempts])];
  const evidence = { ...error.evidence, attempts: call.attempts };
  const outcome = worse(before?.outcome ?? 'not_sent', error.outcome);
  const isWorse = outcome !== error.outcome;
  const advice = outcome === 'unknown' ? earlierUnknown : defaultAdvice[outcome];
  revise(error, { evidence, outcome, advice: isWorse ? advice : error.advice });
}

/** Adds to the error of a request the reason why the next one was not sent. */
export function addReason(error: GatewayError, reason: string): GatewayError {
  revise(error, { advice: `${error.advice} The next request was not sent: ${reason}`.trim() });
  return error;
}
