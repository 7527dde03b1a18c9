import type { ResponseKind } from '../endpoints.ts';
import type { AttemptEvidence, Outcome } from '../errors/gateway-error.ts';
import { explainStop, neverSent, performAttempt } from './attempt.ts';
import { jsonBody, type PreparedBody } from './body.ts';
import { CallScope } from './call-scope.ts';
import { checkIdempotencyKey } from './auth.ts';
import { delay } from './delay.ts';
import { monotonicNow } from './now.ts';
import { queryOf, type CallSpec } from './call-spec.ts';
import { DownloadTurns } from './download-line.ts';
import type { LogDetails } from './log.ts';
import type { Answer, OpenAnswer } from './promise.ts';
import { checkRequestOptions } from '../check.ts';
import { rawAnswer } from './guard-body.ts';
import { globalFetch, isNode } from './send.ts';
import { ReadFailure } from './read-answer.ts';
import { Redaction } from './redaction.ts';
import { decide, outcomeOf, pauseBefore, type FailedAttempt } from './retry.ts';
import { mergeCallSettings, type CallSettings, type ClientSettings } from './settings.ts';
import { makeError } from './make-error.ts';
import { buildURL, displayURL } from './url.ts';

/** How a success answer becomes what the caller gets. */
export interface AnswerFormat<T, Kind extends ResponseKind = ResponseKind> {
  readonly kind: Kind;
  /**
   * Reads the body.
   *
   * @returns The value; `stays` says that the call lives on, as the value is a stream.
   * @throws `ReadFailure` when it is no answer; a read that costs nothing is then repeated
   */
  read(call: LogicalCall, answer: Answer): Promise<{ readonly value: T; readonly stays?: boolean }>;
}

/** The id of one logical call, over all its attempts. It only has to be unique in logs. */
function newCallId(): string {
  const random = Math.random().toString(36).slice(2, 12).padEnd(10, '0');
  return `call_${Date.now().toString(36)}${random}`;
}

const severity: readonly Outcome[] = ['not_sent', 'rejected', 'unknown'];

function worseOf(first: Outcome, second: Outcome): Outcome {
  return severity.indexOf(first) > severity.indexOf(second) ? first : second;
}

/**
 * One call of the caller's, from the first attempt to the last byte.
 *
 * It owns everything that has to be undone at the end (timers, the listener on the caller's signal)
 * and the history that errors tell of.
 */
export class LogicalCall {
  #id: string | undefined;
  /** On the clock of `monotonicNow`. */
  readonly startedAt = monotonicNow();
  readonly spec: CallSpec;
  readonly client: ClientSettings;
  readonly settings: CallSettings;
  readonly scope: CallScope;
  readonly redaction = new Redaction();
  readonly url: string;
  /** What attempts have left behind so far. */
  readonly attempts: AttemptEvidence[] = [];
  /** What is known of the call is what is known of its worst attempt. */
  #worst: Outcome = 'not_sent';
  /** Of a download that may be sent again. */
  readonly #turns: DownloadTurns | undefined;
  #body: PreparedBody | undefined;
  #retries = 0;
  #refreshed = false;
  #failedBefore: FailedAttempt | undefined;

  constructor(spec: CallSpec, client: ClientSettings) {
    this.#id = spec.options?.callId;
    this.spec = spec;
    this.client = client;
    checkRequestOptions(spec.options);
    this.settings = mergeCallSettings(client.call, spec.options);
    if (spec.options) checkIdempotencyKey(spec.options, this.settings.idempotency);
    if (spec.download !== undefined && this.settings.maxRetries > 0) {
      this.#turns = new DownloadTurns(client.downloads, spec.download.isCompleted);
    }
    this.url = buildURL(client.base.root, spec.path, queryOf(spec, client.query));
    this.scope = new CallScope(spec.options?.signal, this.settings.totalTimeout);
  }

  /** Made when somebody asks: most calls succeed, and nobody does. */
  get id(): string {
    this.#id ??= newCallId();
    return this.#id;
  }

  /**
   * Sends until there is an answer with a success status, or throws.
   *
   * @param makeCall - May throw: bad input rejects like everything else, so that one `catch` serves
   * for all.
   */
  static async run<T>(
    makeCall: () => LogicalCall,
    format: AnswerFormat<T>,
  ): Promise<OpenAnswer<T>> {
    const call = makeCall();
    try {
      const answer = await call.#sendUntilAnswered();
      call.scope.keepAlive(false);
      const { response, requestId } = answer;
      const opened: OpenAnswer<T> = {
        response,
        requestId,
        parse: () => call.#read(answer, format, opened),
        raw: () => rawAnswer(call, answer),
      };
      return opened;
    } catch (error) {
      call.release();
      throw error;
    }
  }

  /**
   * Reads the body of an answer. A read that fails is repeated from the start where that cannot cost
   * anything.
   */
  async #read<T>(first: Answer, format: AnswerFormat<T>, shown: OpenAnswer<T>): Promise<T> {
    let answer = first;
    this.scope.keepAlive(true);
    try {
      for (;;) {
        try {
          const { value, stays } = await format.read(this, answer);
          if (stays !== true) this.release();
          return value;
        } catch (error) {
          if (!(error instanceof ReadFailure)) throw error;
          await this.#afterFailure(this.explain(error.failed));
        }
        answer = await this.#sendUntilAnswered();
        const { response, requestId } = answer;
        Object.assign(shown, { response, requestId });
      }
    } catch (error) {
      this.release();
      throw error;
    }
  }

  /** The error for a failure that ends the call while its body is read. */
  toError(failure: FailedAttempt, outcome: Outcome): Error {
    const failed = this.redaction.attempt(failure);
    this.#record(failed);
    return this.#makeError(failed, outcome);
  }

  /** The key of a call that may be sent again whatever became of it; reads need none. */
  get idempotencyKey(): string | undefined {
    if (this.settings.idempotency === null || this.spec.method === 'GET') return undefined;
    return this.spec.options?.idempotencyKey ?? this.id;
  }

  /** Ends a call whose answer was a stream. */
  endStream({ verdict, error }: { readonly verdict: string; readonly error?: unknown }): void {
    this.release();
    this.#log('debug', 'Stream ended', () => {
      const { name, message } = error instanceof Error ? error : {};
      return { verdict, error: name, message, durationMs: this.#duration };
    });
  }

  get #duration(): number {
    return Math.round(monotonicNow() - this.startedAt);
  }

  release(): void {
    this.scope.release();
    this.#body?.release?.();
  }

  /** A failure while the body was read, corrected when it was we who stopped it. */
  explain(failed: FailedAttempt): FailedAttempt {
    return explainStop(failed, this);
  }

  async #prepareBody(): Promise<PreparedBody> {
    const { method, json, form, options } = this.spec;
    const extra = options?.extraBody ?? undefined;
    try {
      if (form === undefined) return jsonBody(method, json, extra);
      // Another `fetch` in Node may not know the runtime's own `FormData`.
      const takesForms = !isNode || this.client.fetch === globalFetch;
      return await form.encode(extra, takesForms, this.scope.controller.signal);
    } catch (cause) {
      if (this.scope.stopped === undefined) throw cause;
      throw this.#makeError(neverSent(cause, this), 'not_sent');
    }
  }

  async #sendUntilAnswered(): Promise<Answer> {
    this.#body ??= await this.#prepareBody();
    for (;;) {
      const turns = this.#turns;
      // An attempt that follows a wait that was stopped says so, and sends nothing.
      if (turns !== undefined) await this.scope.pause((signal) => turns.begin(signal));
      this.#log('debug', 'Sending', () => ({
        method: this.spec.method,
        url: displayURL(this.url),
        attempt: this.attempts.length + 1,
      }));
      const result = await performAttempt(this, this.#body);
      if ('response' in result) {
        this.client.budget.give();
        this.#turns?.passed();
        const { response, requestId } = result;
        this.#log('debug', 'Answered', () => ({
          status: response.status,
          requestId,
          durationMs: this.#duration,
        }));
        return result;
      }
      await this.#afterFailure(result);
    }
  }

  /** Returns when the call may be sent again; throws otherwise. */
  async #afterFailure(failure: FailedAttempt): Promise<void> {
    if (failure.kind === 'invalid_input' && this.#failedBefore !== undefined) {
      // Nothing was sent this time; what is known of the call is what became of it before.
      const before = { ...this.#failedBefore, cause: failure.cause };
      throw this.#logged(this.#makeError(before, 'not_sent'));
    }
    const failed = this.redaction.attempt(failure);
    this.#record(failed);
    const turn = this.#turns?.pauseAfter(failed, this.settings.maxRetries);
    if (turn !== undefined && turn < (this.scope.remaining ?? Number.POSITIVE_INFINITY)) {
      this.#logRetry(failed, turn);
      return;
    }
    const decision = decide(failed, {
      charge: this.spec.charge,
      retryUnknownOutcome: this.settings.retryUnknownOutcome,
      idempotent: this.idempotencyKey !== undefined,
      maxRetries: turn === undefined ? this.settings.maxRetries : 0,
      retries: this.#retries,
      refreshed: this.#refreshed,
      canRefresh: this.client.credential.canRefresh,
      replayable: this.#body?.replayable ?? true,
    });
    const outcome = outcomeOf(failed);
    const error = this.#makeError(failed, outcome);
    if (decision === 'throw') throw this.#logged(error);
    if (decision === 'refresh') {
      this.#refreshed = true;
      return;
    }
    const pause = this.#pauseBefore(failed);
    if (pause === undefined) throw this.#logged(error);
    if (!this.client.budget.take(failed.kind === 'timed_out')) {
      this.#log('info', 'Not retrying: too many calls of this client fail');
      throw this.#logged(error);
    }
    this.#logRetry(failed, pause);
    this.#retries += 1;
    if (!(await this.scope.pause((signal) => delay(pause, signal)))) {
      throw this.#logged(this.#makeError(this.explain(failed), outcome));
    }
  }

  /** The pause before the next attempt, or `undefined` when waiting so long makes no sense. */
  #pauseBefore(failed: FailedAttempt): number | undefined {
    const pause = pauseBefore(failed, this.#retries);
    const { remaining = Number.POSITIVE_INFINITY } = this.scope;
    return pause !== undefined && pause < remaining ? pause : undefined;
  }

  #record(failed: FailedAttempt): void {
    const { kind, phase, code, status, requestId } = failed;
    // One that never left the caller is none.
    if (phase === 'local') return;
    const { body, problem } = failed;
    const said = body?.code ?? code;
    this.#worst = worseOf(this.#worst, outcomeOf(failed));
    this.attempts.push({ phase, code: said, status, requestId });
    this.#failedBefore = failed;
    const message = body?.message ?? problem;
    this.#log('debug', 'Attempt failed', () => ({ kind, code: said, message, status, requestId }));
  }

  #makeError(failed: FailedAttempt, lastOutcome: Outcome): Error {
    const error = makeError(failed, this, worseOf(this.#worst, lastOutcome));
    return this.spec.download?.explain(error) ?? error;
  }

  #logged(error: Error): Error {
    this.#log('debug', 'Call failed', () => ({ error: error.name }));
    return error;
  }

  #logRetry({ kind, status }: FailedAttempt, delayMs: number): void {
    this.#log('info', 'Retrying', () => ({ kind, status, delayMs }));
  }

  /** @param details - Asked for when the line is written: most calls log nothing. */
  #log(level: 'info' | 'debug', message: string, details?: () => LogDetails): void {
    if (!this.client.log.enabled(level)) return;
    const { operation } = this.spec;
    this.client.log.write(level, message, { callId: this.id, operation, ...details?.() });
  }
}
