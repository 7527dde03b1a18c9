import { GatewayError, revise } from '../errors/gateway-error.ts';
import { delay } from '../http/abort.ts';
import type { SendingRules } from '../http/request.ts';
import { ReadFailure } from '../http/responses/response-body.ts';
import { type FailedAttempt, pauseBefore } from '../http/retry.ts';
import { attempt, open, prepare } from './attempt.ts';
import type { OpenResponse } from './open-response.ts';
import type { GatewayRequest } from './gateway-request.ts';

/** Adds the reason why a request was not repeated. */
function withoutRetries(error: Error): Error {
  if (!GatewayError.isInstance(error)) return error;
  const reason =
    'It was not repeated, because no retry is left: too many calls of this client fail (option retryBudget).';
  revise(error, { advice: `${error.advice} ${reason}` });
  return error;
}

/** Returns the retry rules of a download; `undefined` if retries are off. */
const rulesOf = ({ spec, settings }: GatewayRequest): SendingRules | undefined =>
  settings.maxRetries > 0 ? spec.download : undefined;

/** Returns when a request may be sent again after a failed attempt; throws its error otherwise. */
async function waitForRetry(request: GatewayRequest, failure: FailedAttempt): Promise<void> {
  const { scope, client, settings, history } = request;
  const previous = history.last;
  request.outgoing = undefined;
  const failed = request.redact(failure);
  if (failure.kind === 'invalid_input' && previous !== undefined) {
    // Nothing was sent this time, so the previous failure describes the call.
    throw request.giveUp({ ...previous, cause: failure.cause });
  }
  history.add(failed);
  const first = request.address.follow(failed, request.isReplayable);
  if (first === 'again') return;
  if (first !== undefined) throw request.giveUp(first);
  const downloadPause = rulesOf(request)?.pauseAfter(failed, settings.maxRetries);
  if (downloadPause !== undefined && downloadPause < scope.remaining) {
    request.emit('retrying', { failed, delayMs: downloadPause });
    return;
  }
  const maxRetries = downloadPause === undefined ? settings.maxRetries : 0;
  const decision = scope.isOver ? 'throw' : request.decideRetry(failed, maxRetries);
  if (decision === 'refresh') {
    history.isRefreshed = true;
    return;
  }
  const pause = decision === 'retry' ? pauseBefore(failed, history.retries) : undefined;
  // Don't wait if the total timeout would end the wait.
  if (pause === undefined || pause >= scope.remaining) throw request.giveUp(failed);
  if (!client.budget.take(failed.kind === 'timed_out')) {
    request.emit('retrying', { failed, delayMs: undefined });
    throw withoutRetries(request.giveUp(failed));
  }
  request.emit('retrying', { failed, delayMs: pause });
  history.retries += 1;
  if (await scope.pause((signal) => delay(pause, signal))) return;
  throw request.giveUp(request.explain(failed));
}

/** Waits for the turn of an attempt. If the wait is stopped, the attempt fails without sending. */
async function takeTurn(request: GatewayRequest): Promise<void> {
  const { scope, listeners } = request;
  const rules = rulesOf(request);
  if (rules !== undefined) await scope.pause((signal) => rules.begin(signal));
  for (const { beforeAttempt } of listeners) {
    if (beforeAttempt === undefined) continue;
    const from = performance.now();
    await scope.pause(beforeAttempt);
    request.waited = performance.now() - from;
  }
}

/**
 * Sends a request, and repeats attempts that fail, also those whose response cannot be read. Resolves with the first
 * success response; its error is that of the last attempt.
 *
 * @param isInside - `true` in the contexts of the listeners.
 */
export async function sendWithRetries<T>(
  request: GatewayRequest<T>,
  isInside = false,
): Promise<OpenResponse<T>> {
  request.begin();
  const { listeners } = request;
  if (!isInside && listeners.some(({ run }) => run !== undefined)) {
    // The context of a later listener encloses those of earlier ones.
    return listeners.reduce(
      (inner, { run }) => (run === undefined ? inner : () => run(inner)),
      () => sendWithRetries(request, true),
    )();
  }
  const rules = rulesOf(request);
  const hasTurns = rules !== undefined || listeners.some(({ beforeAttempt }) => beforeAttempt);
  try {
    const body = request.body ?? (await prepare(request));
    for (;;) {
      if (hasTurns) await takeTurn(request);
      const received = await attempt(request, body);
      if ('kind' in received) {
        await waitForRetry(request, received);
        continue;
      }
      request.emit('answered', received);
      request.client.budget.refund();
      rules?.succeeded();
      request.scope.keepAlive(false);
      return open(request, received).orElse((error) => sendAgain(request, error));
    }
  } catch (error) {
    request.fail(error);
    throw error;
  }
}

/** Sends a request again after an error of reading its response. */
async function sendAgain<T>(request: GatewayRequest<T>, error: unknown): Promise<OpenResponse<T>> {
  try {
    if (!ReadFailure.is(error)) throw error;
    await waitForRetry(request, request.explain(error.failed));
  } catch (cause) {
    request.fail(cause);
    throw cause;
  }
  return sendWithRetries(request);
}
