import { isJSON, readErrorText } from '../answers/error-body.ts';
import type { ReadCheck } from '../answers/reader.ts';
import { isObject } from '../answers/objects.ts';
import { toInputError } from '../check.ts';
import type { ResponseKind } from '../endpoints.ts';
import type { AttemptEvidence, Outcome } from '../errors/gateway-error.ts';
import { CallScope, delay } from './abort.ts';
import {
  type CallRecord,
  type Calls,
  type Ending,
  noteAnswer,
  noteEnd,
  noteSent,
} from '../observing/calls.ts';
import { asksToRetry, classifyStatus, classifyThrown } from './classify.ts';
import { makeError } from './make-error.ts';
import { isObserved, tracingChannel, type Watch, watchCall } from '../observing/observe.ts';
import type { OpenAnswer } from './promise.ts';
import { Redaction } from './redaction.ts';
import {
  type CallSpec,
  type OutgoingRequest,
  type PreparedBody,
  applyHeaders,
  jsonBody,
  type SendingRules,
} from './request.ts';
import {
  type Answer,
  ReadFailure,
  errorBodyLimit,
  handOut,
  readBody,
  requestIdOf,
} from './response-body.ts';
import { type FailedAttempt, decide, outcomeOf, pauseBefore } from './retry.ts';
import { globalFetch, send, isRedirect, resolveRedirect } from './send.ts';
import { type CallSettings, type ClientSettings, baseOf, settingsOfCall } from './settings.ts';
import { copyOptions } from '../snapshot.ts';
import type { JsonObject } from '../types.ts';
import { buildQuery, buildURL } from './url.ts';

/** Whose call it is. */
export interface Caller {
  readonly client: ClientSettings;
  /** What is remembered of its calls. */
  readonly calls: Calls;
  /**
   * Asks the budget of the client for a call that may cost something.
   *
   * @throws what the caller gets thrown, when the call may not be sent
   */
  keepWithin(call: LogicalCall): Promise<void>;
  /** Adds up what calls have come to, and forgets those that are of no more use. */
  fold(): void;
}

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

function paramsOf({ params, form, json, options }: CallSpec): Readonly<JsonObject> {
  const fields = form?.fields && Object.fromEntries(form.fields);
  return { ...params, ...fields, ...(isObject(json) && json), ...options?.extraBody };
}

/** Makes a call. A getter of the caller's that throws is bad input. */
function prepare(makeCall: () => LogicalCall): LogicalCall {
  try {
    return makeCall();
  } catch (cause) {
    throw toInputError(cause);
  }
}

const severity: readonly Outcome[] = ['not_sent', 'rejected', 'unknown'];

/**
 * One call of the caller's, from the first attempt to the last byte.
 *
 * It owns everything that has to be undone at the end (timers, the listener on the caller's signal)
 * and the history that errors tell of.
 */
export class LogicalCall {
  #id: string | undefined;
  /** On the clock of `performance.now()`. */
  readonly startedAt: number;
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
  readonly #rules: SendingRules | undefined;
  #body: PreparedBody | undefined;
  #retries = 0;
  #isRefreshed = false;
  #failedBefore: FailedAttempt | undefined;
  /** Tells the observers, if there are any. */
  watch: Watch | undefined;
  readonly #caller: Caller;
  /** All that it is asked for, by name: what stands in its path and in its body. */
  readonly params: Readonly<JsonObject>;
  /** What is remembered of it. */
  readonly record: CallRecord;

  constructor(spec: CallSpec, caller: Caller) {
    const { client } = caller;
    const { operation, download, path } = spec;
    // The caller may change its options as soon as the call awaits anything.
    const options = copyOptions(spec.options);
    this.spec = options ? { ...spec, options } : spec;
    this.settings = settingsOfCall(client, options);
    this.params = paramsOf(this.spec);
    const { model, n, size, quality, duration, seconds = duration } = this.params;
    const { attempts } = this;
    this.record = { operation, model, n, size, quality, seconds, attempts };
    this.startedAt = performance.now();
    this.#id = options?.callId;
    this.client = client;
    this.#caller = caller;
    if (this.settings.maxRetries > 0) this.#rules = download;
    const query = buildQuery(client.query, spec.query, options?.query);
    this.url = buildURL(baseOf(client).root, path, query);
    this.scope = new CallScope(options?.signal, this.settings.totalTimeout, this.startedAt);
  }

  /** Made when somebody asks: most calls succeed, and nobody does. */
  get id(): string {
    this.#id ??= newCallId();
    return this.#id;
  }

  /** How answers are compared with what is expected, and who is told of differences. */
  get check(): ReadCheck {
    const { client, settings, spec } = this;
    return {
      validation: settings.validation,
      onIssue: (issue) => client.drift.report(spec.operation, issue),
    };
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
    isWatched = false,
  ): Promise<OpenAnswer<T> & Answer> {
    const call = prepare(makeCall);
    const { client, scope, spec } = call;
    let hasBegun = false;
    try {
      if (!isWatched && isObserved(client)) {
        call.watch ??= watchCall(call, format.kind === 'events', tracingChannel);
        hasBegun = true;
        const work = () => LogicalCall.run(() => call, format, true);
        return await call.watch.run(work);
      }
      const body = (call.#body ??= await call.#prepareBody());
      if (client.given().budget && spec.charge !== 'free') {
        await scope.until(call.#caller.keepWithin(call));
      }
      hasBegun = true;
      for (;;) {
        const rules = call.#rules;
        // An attempt that follows a wait that was stopped says so, and sends nothing.
        if (rules !== undefined) await scope.pause((signal) => rules.begin(signal));
        const answer = await call.#attempt(body);
        if ('kind' in answer) {
          await call.#afterFailure(answer);
          continue;
        }
        call.watch?.answered(answer);
        noteAnswer(call.record, answer);
        client.budget.give();
        rules?.passed();
        scope.keepAlive(false);
        const open: OpenAnswer<T> & Answer = {
          ...answer,
          parse: () => call.#read(open, format),
          raw: () => (open.response = handOut(call, open)),
        };
        return open;
      }
    } catch (cause) {
      const error = hasBegun ? cause : call.#unsent(cause);
      call.release({ error });
      throw error;
    }
  }

  #prepareBody(): PreparedBody | Promise<PreparedBody> {
    const { method, json, jsonField = '', form, options } = this.spec;
    const extra = options?.extraBody ?? undefined;
    if (form === undefined) return jsonBody(method, json, extra, jsonField);
    return form.encode(extra, this.scope.controller.signal, options?.onUploadProgress);
  }

  /** What to throw for a failure before anything was sent: that the call was stopped, if it was. */
  #unsent(cause: unknown): unknown {
    if (this.scope.stopped === undefined) return cause;
    return this.#makeError(this.redaction.attempt(this.#neverSent(cause)));
  }

  /** Sends once. Gives the answer when its status is a success, and a failure otherwise. */
  async #attempt(body: PreparedBody): Promise<Answer | FailedAttempt> {
    const { scope, spec, client, settings } = this;
    if (scope.isOver) return this.#neverSent(undefined);
    scope.startAttempt(settings.timeout);
    let request: OutgoingRequest | undefined;
    try {
      const headers = new Headers();
      const authorized = client.credential.authorize(headers);
      if (authorized !== undefined) await scope.until(authorized);
      this.#fill(headers, body);
      request = {
        url: this.url,
        method: spec.method,
        headers,
        body: body.body,
        redirect: 'manual',
        scope,
        fetch: client.fetch,
        fetchOptions: { ...client.fetchOptions, ...spec.options?.fetchOptions },
        isSent: false,
      };
      this.watch?.attempt(headers, body);
      if (spec.charge !== 'free') noteSent(this.record, this.#caller);
      const first = await send(request);
      const response = isRedirect(first) ? await resolveRedirect(spec, first, request) : first;
      if ('kind' in response) return this.explain(response);
      if (!response.ok) return await this.#readError(response);
      // The gateway itself answered first; a redirect leads to the storage of somebody else.
      const requestId =
        requestIdOf(first.headers) ??
        (response === first ? undefined : requestIdOf(response.headers));
      return { response, requestId, spec, scope };
    } catch (error) {
      if (request?.isSent !== true) return this.#neverSent(error);
      const sourceError = body.sourceError?.();
      if (sourceError !== undefined && scope.stopped === undefined) {
        return this.#neverSent(sourceError);
      }
      const foreignURL = client.fetch === globalFetch ? undefined : this.url;
      return this.explain(classifyThrown(error, foreignURL));
    }
  }

  /** Adds what else a request carries to the headers with its key. */
  #fill(headers: Headers, body: PreparedBody): void {
    const { spec, client, settings, idempotencyKey: key } = this;
    headers.set('accept', spec.accept);
    // The promised length is of the bytes as they travel, and only of these it can be told that they are
    // all there.
    if (spec.download !== undefined) headers.set('accept-encoding', 'identity');
    applyHeaders(headers, client.account, 'organization');
    applyHeaders(headers, client.headers, 'defaultHeaders');
    applyHeaders(headers, spec.options?.headers, 'headers');
    this.redaction.remember(headers, this.url);
    // Its type is a fact of the body: the gateway skips a body that is labelled as something else, and
    // the runtime itself writes the boundary of a form.
    headers.delete('content-type');
    if (settings.idempotency && key !== undefined) headers.set(settings.idempotency.header, key);
    for (const [name, value] of Object.entries(body.headers)) headers.set(name, value);
  }

  async #readError(response: Response): Promise<FailedAttempt> {
    const { text, end } = await readBody(response, errorBodyLimit, this.scope);
    const body = readErrorText(text);
    const { status, headers } = response;
    const kind = classifyStatus(status, body, headers, this.spec.charge);
    const requestId = requestIdOf(headers, body.requestId);
    // Where a body ends with its connection, only whole JSON shows that it was not cut.
    const isAnswered = status >= 400 && end === 'whole' && isJSON(body);
    const known = { kind, status, headers, body, requestId, isAnswered };
    const failed: FailedAttempt = { phase: 'headers', ...known };
    // A time limit that passes while an error is read does not make the error less known.
    return this.scope.stopped === 'signal' ? this.explain(failed) : failed;
  }

  /**
   * Reads the body of an answer. A read that fails is repeated from the start where that cannot cost
   * anything.
   */
  async #read<T>(answer: OpenAnswer<T> & Answer, format: AnswerFormat<T>): Promise<T> {
    this.scope.keepAlive(true);
    try {
      for (;;) {
        try {
          const { value, stays } = await format.read(this, answer);
          if (stays !== true) this.release({ answer: value, isWhole: true });
          return value;
        } catch (error) {
          if (!(error instanceof ReadFailure)) throw error;
          await this.#afterFailure(this.explain(error.failed));
        }
        Object.assign(answer, await LogicalCall.run(() => this, format));
        this.scope.keepAlive(true);
      }
    } catch (error) {
      this.release({ error });
      throw error;
    }
  }

  /** Returns when the call may be sent again; throws otherwise. */
  async #afterFailure(failure: FailedAttempt): Promise<void> {
    const { scope, spec, client, settings } = this;
    const before = this.#failedBefore;
    const failed = this.redaction.attempt(failure);
    this.watch?.answered(failed);
    if (failure.kind === 'invalid_input' && before !== undefined) {
      // Nothing was sent this time; what is known of the call is what became of it before.
      throw this.#failed({ ...before, cause: failure.cause });
    }
    this.#addAttempt(failed);
    const turn = this.#rules?.pauseAfter(failed, settings.maxRetries);
    if (turn !== undefined && turn < scope.remaining) {
      this.watch?.retrying(failed, turn);
      return;
    }
    const decision = decide(failed, {
      charge: spec.charge,
      retryUnknownOutcome: settings.retryUnknownOutcome,
      idempotent: this.idempotencyKey !== undefined,
      maxRetries: turn === undefined ? settings.maxRetries : 0,
      retries: this.#retries,
      canRefresh: !this.#isRefreshed && typeof client.credential.reveal() === 'function',
      replayable: this.#body?.replayable ?? true,
      asked: asksToRetry(failed),
    });
    if (decision === 'refresh') {
      this.#isRefreshed = true;
      return;
    }
    const pause = decision === 'retry' ? pauseBefore(failed, this.#retries) : undefined;
    // A wait that the time limit of the call cuts short makes no sense.
    if (pause === undefined || pause >= scope.remaining) throw this.#failed(failed);
    if (!client.budget.take(failed.kind === 'timed_out')) {
      this.watch?.retrying(failed, undefined);
      throw this.#failed(failed);
    }
    this.watch?.retrying(failed, pause);
    this.#retries += 1;
    if (await scope.pause((signal) => delay(pause, signal))) return;
    throw this.#failed(this.explain(failed));
  }

  /** A failure, corrected when it was we who stopped the attempt. */
  explain(failed: FailedAttempt): FailedAttempt {
    const { stopped, signal } = this.scope;
    if (stopped === undefined) return failed;
    if (stopped === 'signal') return { ...failed, kind: 'aborted', cause: signal?.reason };
    const { totalTimeout, timeout: own } = this.settings;
    const timeout = stopped === 'total' ? (totalTimeout ?? own) : own;
    return { ...failed, kind: 'timed_out', code: undefined, cause: undefined, timeout };
  }

  /** The failure of a call that was stopped, or could not be made, before anything was sent. */
  #neverSent(cause: unknown): FailedAttempt {
    return this.explain({ kind: 'invalid_input', phase: 'local', cause });
  }

  /** The error for a failure that ends the call while its body is read. */
  toError(failure: FailedAttempt): Error {
    const failed = this.redaction.attempt(failure);
    this.#addAttempt(failed);
    return this.#makeError(failed);
  }

  #addAttempt(failed: FailedAttempt): void {
    const { phase, code, status, requestId, body, isAnswered } = failed;
    // One that never left the caller is none.
    if (phase === 'local') return;
    const outcome = outcomeOf(failed);
    if (severity.indexOf(outcome) > severity.indexOf(this.#worst)) this.#worst = outcome;
    if (outcome === 'unknown' && failed.kind !== 'server_error') {
      this.record.lost = (this.record.lost ?? 0) + 1;
    }
    const evidence = { phase, code: body?.code ?? code, status, requestId };
    this.attempts.push(isAnswered === true ? { ...evidence, isAnswered } : evidence);
    this.#failedBefore = failed;
    this.watch?.failed(failed);
  }

  #failed(failed: FailedAttempt): Error {
    const error = this.#makeError(failed);
    this.watch?.gaveUp(error);
    return error;
  }

  #makeError(failed: FailedAttempt): Error {
    return makeError(failed, this, this.#worst);
  }

  /** The key of a call that may be sent again whatever became of it; reads need none. */
  get idempotencyKey(): string | undefined {
    if (this.settings.idempotency === null || this.spec.method === 'GET') return undefined;
    return this.spec.options?.idempotencyKey ?? this.id;
  }

  /** Ends the call. Safe to call more than once. */
  release(ending: Ending): void {
    this.scope.release();
    this.#body?.release?.();
    noteEnd(this.record, this.#id, ending, this.#caller.calls);
    this.watch?.end(ending);
  }

  /** Ends a call whose answer was a stream. */
  endStream(
    { verdict, error }: { readonly verdict: string; readonly error?: unknown },
    progress: Ending['progress'],
  ): void {
    this.release({ error, progress, verdict, isWhole: verdict === 'complete' });
  }
}
