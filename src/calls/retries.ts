import { GatewayError, revise } from '../errors/gateway-error.ts';
import { delay } from '../http/abort.ts';
import type { SendingRules } from '../http/request.ts';
import { ReadFailure } from '../http/responses/response-body.ts';
import { type FailedAttempt, pauseBefore } from '../http/retry.ts';
import { attempt, open, prepare } from './attempt.ts';
import type { OpenAnswer } from './open-answer.ts';
import type { GatewayRequest } from './gateway-request.ts';

/** Adds the reason why a request was not repeated. */
function withoutRetries(error: Error): Error {
  if (!GatewayError.isInstance(error)) return error;
  const reason =
    'It was not repeated, because no retry is left: too many calls of this client fail (option retryBudget).';
  revise(error, { advice: `${error.advice} ${reason}` });
  return error;
}

/** Decides after each failed attempt of a request whether it is repeated. */
class Retries {
  /** Retry rules of a download; `undefined` if retries are off. */
  readonly rules: SendingRules | undefined;
  readonly #request: GatewayRequest;
  /** `true` if an attempt waits for its turn. */
  readonly hasTurns: boolean;

  constructor(request: GatewayRequest) {
    const { spec, settings, listeners } = request;
    this.#request = request;
    if (settings.maxRetries > 0) this.rules = spec.download;
    this.hasTurns = Boolean(this.rules) || listeners.some(({ beforeAttempt }) => beforeAttempt);
  }

  /** Returns when the request may be sent again; throws its error otherwise. */
  async after(failure: FailedAttempt): Promise<void> {
    const request = this.#request;
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
    const downloadPause = this.rules?.pauseAfter(failed, settings.maxRetries);
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
  async takeTurn(): Promise<void> {
    const { rules } = this;
    const { scope, listeners } = this.#request;
    if (rules !== undefined) await scope.pause((signal) => rules.begin(signal));
    for (const { beforeAttempt } of listeners) {
      if (beforeAttempt === undefined) continue;
      const from = performance.now();
      await scope.pause(beforeAttempt);
      this.#request.waited = performance.now() - from;
    }
  }
}

/**
 * Sends a request, and repeats attempts that fail, also those whose response cannot be read. Resolves with the first
 * success response; its error is that of the last attempt.
 *
 * @param retries - Set if the request was sent before.
 * @param isInside - `true` in the contexts of the listeners.
 */
export async function sendWithRetries<T>(
  request: GatewayRequest<T>,
  retries?: Retries,
  isInside = false,
): Promise<OpenAnswer<T>> {
  if (retries === undefined) request.begin();
  const own = retries ?? new Retries(request);
  if (!isInside && request.listeners.some(({ run }) => run !== undefined)) {
    const send = () => sendWithRetries(request, own, true);
    // The context of a later listener encloses those of earlier ones.
    return request.listeners.reduce(
      (inner, { run }) => (run === undefined ? inner : () => run(inner)),
      send,
    )();
  }
  try {
    const body = request.body ?? (await prepare(request));
    for (;;) {
      if (own.hasTurns) await own.takeTurn();
      const answer = await attempt(request, body);
      if ('kind' in answer) {
        await own.after(answer);
        continue;
      }
      request.emit('answered', answer);
      request.client.budget.refund();
      own.rules?.succeeded();
      request.scope.keepAlive(false);
      return open(request, answer).orElse((error) => sendAgain(request, own, error));
    }
  } catch (error) {
    request.fail(error);
    throw error;
  }
}

/** Sends a request again after an error of reading its response. */
async function sendAgain<T>(
  request: GatewayRequest<T>,
  retries: Retries,
  error: unknown,
): Promise<OpenAnswer<T>> {
  try {
    if (!ReadFailure.is(error)) throw error;
    await retries.after(request.explain(error.failed));
  } catch (cause) {
    request.fail(cause);
    throw cause;
  }
  return sendWithRetries(request, retries);
}
