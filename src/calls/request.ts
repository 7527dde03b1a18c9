import { isJSON, readErrorText } from '../answers/failure.ts';
import type { ReadCheck } from '../answers/reader.ts';
import type { ResponseKind } from '../endpoints.ts';
import {
  type AttemptEvidence,
  GatewayError,
  type Outcome,
  revise,
} from '../errors/gateway-error.ts';
import { CallScope, delay, findLateness, type StopReason } from '../http/abort.ts';
import { readShouldRetry, classifyStatus, classifyThrown } from '../http/classify.ts';
import { findProxy } from '../http/node/proxy.ts';
import { Redaction } from '../http/redaction.ts';
import {
  type CallSpec,
  type Change,
  type OutgoingRequest,
  type PreparedBody,
  applyHeaders,
  jsonBody,
  type SendingRules,
} from '../http/request.ts';
import {
  type Answer,
  ReadFailure,
  errorBodyLimit,
  exposeResponse,
  readBody,
  findRequestId,
} from '../http/responses/response-body.ts';
import { type FailedAttempt, decide, getOutcome, pauseBefore } from '../http/retry.ts';
import { globalFetch, send, isRedirect, resolveRedirect } from '../http/send.ts';
import { type BaseURL, buildQuery, buildURL } from '../http/url.ts';
import type { JsonObject } from '../types.ts';
import type { Call } from './call.ts';
import type { Ending, Listener, RequestEvents, RequestHandlers } from './events.ts';
import { makeError } from './make-error.ts';
import { OpenAnswer } from './open-answer.ts';
import { mayLackVersion, noteMissing, provesRoute } from './route-address.ts';
import { type CallSettings, type ClientSettings, requireBase } from './settings.ts';

type Sender<T> = () => Promise<OpenAnswer<T>>;

/** Converts a success response to the result of the call. */
export interface AnswerFormat<T, Kind extends ResponseKind = ResponseKind> {
  readonly kind: Kind;
  /**
   * Reads the body.
   *
   * @returns The value. `stays` is `true` if the value is a stream, which keeps the call open.
   * @throws `ReadFailure` if the body is unusable; free calls are then repeated
   */
  read(request: Request, answer: Answer): Promise<{ readonly value: T; readonly stays?: boolean }>;
}

const severity: readonly Outcome[] = ['not_sent', 'rejected', 'unknown'];

/** Returns the more severe outcome. */
export const worse = (one: Outcome, other: Outcome): Outcome =>
  severity.indexOf(one) > severity.indexOf(other) ? one : other;

/** Adds the reason why a request was not repeated. */
function withoutRetries(error: Error): Error {
  if (!GatewayError.isInstance(error)) return error;
  const reason =
    'It was not repeated, because no retry is left: too many calls of this client fail (option retryBudget).';
  revise(error, { advice: `${error.advice} ${reason}` });
  return error;
}

/** The requests by the errors that they failed with. */
const failedRequests = new WeakMap<object, Request>();

/** Returns the request that failed with an error; `undefined` if none did. */
export function findRequest(error: unknown): Request | undefined {
  return typeof error === 'object' && error !== null ? failedRequests.get(error) : undefined;
}

/** What a request sends. */
interface Planned {
  readonly spec: CallSpec;
  readonly params: Readonly<JsonObject>;
  readonly change: Change;
  holdsStream(): boolean;
}

/**
 * One request of a call, from the first attempt to the last byte.
 *
 * It owns all that must be cleaned up at the end (timers, the listener on the caller's signal) and the
 * history of attempts for errors.
 */
export class Request {
  readonly call: Call;
  readonly plan: Planned;
  readonly scope: CallScope;
  readonly redaction = new Redaction();
  url: string;
  /** The evidence of each attempt so far. */
  readonly attempts: AttemptEvidence[] = [];
  /** The number of attempts that failed and may have been charged. */
  lost = 0;
  /** How long the attempt waited for its listeners, in milliseconds; `undefined` if none made it wait. */
  waited: number | undefined;
  /** The failure that ended the request; `undefined` if something other than an attempt failed. */
  failure: FailedAttempt | undefined;
  readonly #base: BaseURL;
  readonly #search: string;
  /** The 404 with `/v1`, after which the request is sent without it. */
  #missing: FailedAttempt | undefined;
  /** The evidence of earlier requests of the call. */
  readonly #earlier: readonly AttemptEvidence[];
  /** The number of earlier requests of the call. */
  readonly #index: number;
  /** The most severe outcome of the attempts is the outcome of the request. */
  #worst: Outcome = 'not_sent';
  /** Retry rules of a download; `undefined` if retries are off. */
  readonly #downloadRules: SendingRules | undefined;
  #body: PreparedBody | undefined;
  #retries = 0;
  #isRefreshed = false;
  #previousFailure: FailedAttempt | undefined;
  /** The current attempt; `undefined` before the first and after a failed one. */
  #outgoing: OutgoingRequest | undefined;
  #listeners: readonly Listener[] = [];
  #hasChunk = false;
  #hasEnded = false;

  constructor(call: Call, plan: Planned) {
    const { client, options, settings } = call;
    const { download, fileURL, path, query } = plan.spec;
    this.call = call;
    this.plan = plan;
    if (settings.maxRetries > 0) this.#downloadRules = download;
    const base = (this.#base = requireBase(client));
    this.#search = buildQuery(base.query, client.query, query, options?.query);
    const { address } = client.shared;
    const isLearned = address?.root === base.root && base.version === '' && base.api === '/v1';
    this.url = fileURL ?? buildURL(isLearned ? address : base, path, this.#search);
    this.scope = new CallScope(options?.signal, settings.totalTimeout, call.startedAt, this);
    this.#earlier = call.attempts;
    this.#index = call.requests;
    call.requests += 1;
  }

  get spec(): CallSpec {
    return this.plan.spec;
  }

  get client(): ClientSettings {
    return this.call.client;
  }

  get settings(): CallSettings {
    return this.call.settings;
  }

  /** The parameters of path and body, by name. */
  get params(): Readonly<JsonObject> {
    return this.plan.params;
  }

  /** The id of the call. */
  get id(): string {
    return this.call.id;
  }

  /** When the call started, on the clock of `performance.now()`. */
  get startedAt(): number {
    return this.call.startedAt;
  }

  /** The trace of the first listener that has one. */
  get trace(): string | undefined {
    return this.#listeners.find(({ trace }) => trace !== undefined)?.trace;
  }

  /** Options for validating responses and reporting differences. */
  get check(): ReadCheck {
    const { client, settings, spec } = this;
    return {
      validation: settings.validation,
      onIssue: (issue) => client.drift.report(spec.operation, issue),
    };
  }

  /** Returns a function that sends the request, with retries, and resolves with the first success response. */
  prepare<T>(format: AnswerFormat<T>, listeners: readonly Listener[]): Sender<T> {
    this.#listeners = listeners;
    return this.#sender(format);
  }

  /** Lets an attempt go on whose response must not be lost, unless it would be repeated. */
  onStop(reason: StopReason): number {
    const { client, url, spec, redaction, call } = this;
    const late = findLateness(call.options?.signal);
    if (late === undefined || this.#outgoing?.isSent !== true) return 0;
    const failed = this.explain({ kind: 'interrupted', phase: 'sent' });
    if (reason === 'timeout' && this.#decide(failed) === 'retry') return 0;
    const evidence = () => this.evidence({ phase: 'sent' });
    late.onLeave(
      makeError(failed, { client, id: this.id, url, spec, redaction, evidence }, 'unknown'),
    );
    return late.grace;
  }

  /** Reports that the caller reads the response, or that it is unread. */
  onReading(isRead: boolean): void {
    this.#emit('reading', isRead);
  }

  /** Returns the evidence of all attempts, with those of earlier requests, and of a current one. */
  evidence(...current: readonly AttemptEvidence[]): readonly AttemptEvidence[] {
    const own = [...this.attempts, ...current];
    if (!this.call.mayChange) return own;
    return [...this.#earlier, ...own.map((attempt) => this.name(attempt))];
  }

  /** Adds the model of the request to an attempt. */
  name(attempt: AttemptEvidence): AttemptEvidence {
    const { model } = this.params;
    if (attempt.model !== undefined || typeof model !== 'string') return attempt;
    return { ...attempt, model };
  }

  #emit<Name extends keyof RequestEvents>(name: Name, event: RequestEvents[Name]): void {
    for (const listener of this.#listeners) {
      const handlers: RequestHandlers = listener;
      handlers[name]?.(event);
    }
  }

  /** Returns a function that sends the call, in the contexts of its listeners. */
  #sender<T>(format: AnswerFormat<T>): Sender<T> {
    const { client, scope } = this;
    const rules = this.#downloadRules;
    const sendRequest: Sender<T> = async () => {
      try {
        const body = this.#body ?? (await this.#prepare());
        for (;;) {
          // If the wait was stopped, the attempt fails without sending.
          if (rules !== undefined) await scope.pause((signal) => rules.begin(signal));
          for (const { beforeAttempt } of this.#listeners) {
            if (beforeAttempt === undefined) continue;
            const from = performance.now();
            await scope.pause(beforeAttempt);
            this.waited = performance.now() - from;
          }
          const answer = await this.#attempt(body);
          if ('kind' in answer) {
            await this.#afterFailure(answer);
            continue;
          }
          this.#emit('answered', answer);
          client.budget.refund();
          rules?.succeeded();
          scope.keepAlive(false);
          return this.#toOpen(answer, format);
        }
      } catch (error) {
        this.#fail(error);
        throw error;
      }
    };
    return this.#listeners.reduce(
      (inner, { run }) => (run === undefined ? inner : () => run(inner)),
      sendRequest,
    );
  }

  #toOpen<T>(answer: Answer, format: AnswerFormat<T>): OpenAnswer<T> {
    const opened = {
      response: answer.response,
      requestId: answer.requestId,
      change: this.plan.change,
      failed: () => this.evidence(),
      raw: () => (opened.response = exposeResponse(this, answer)),
    };
    const open = new OpenAnswer(opened, () =>
      this.#read({ ...answer, response: opened.response }, format),
    );
    return open.orElse(async (error) => {
      try {
        if (!ReadFailure.is(error)) throw error;
        await this.#afterFailure(this.explain(error.failed));
      } catch (cause) {
        this.#fail(cause);
        throw cause;
      }
      return this.#sender(format)();
    });
  }

  /** Encodes the body and awaits the listeners. Runs once. */
  async #prepare(): Promise<PreparedBody> {
    try {
      const body = (this.#body = await this.#prepareBody());
      if (body.warning !== undefined) this.client.log.warnOnce([body.warning]);
      for (const listener of this.#listeners) {
        const allowed = listener.beforeRequest?.();
        if (allowed !== undefined) await this.scope.until(allowed);
      }
      return body;
    } catch (cause) {
      throw this.#toUnsentError(cause);
    }
  }

  #prepareBody(): PreparedBody | Promise<PreparedBody> {
    const { method, json, jsonField = '', form, options } = this.spec;
    const extra = options?.extraBody ?? undefined;
    if (form === undefined) return jsonBody(method, json, extra, jsonField);
    return form.encode(extra, this.scope.controller.signal, options?.onUploadProgress);
  }

  /**
   * Returns the error for a failure before sending: an abort or timeout if the call was stopped, else
   * `cause`.
   */
  #toUnsentError(cause: unknown): unknown {
    if (this.scope.stopped === undefined) return cause;
    return this.#makeError(this.redaction.attempt(this.#localFailure(cause)));
  }

  /** Sends one attempt. Returns the response if its status is a success, a failure otherwise. */
  async #attempt(body: PreparedBody): Promise<Answer | FailedAttempt> {
    const { scope, spec, client, settings } = this;
    if (scope.isOver) return this.#localFailure(undefined);
    scope.startAttempt(settings.timeout);
    let request: OutgoingRequest | undefined;
    let sentId: string | undefined;
    try {
      const headers = new Headers();
      if (spec.fileURL === undefined) {
        const authorized = client.credential.authorize(headers);
        if (authorized !== undefined) await scope.until(authorized);
      }
      this.#addHeaders(headers, body);
      sentId = this.#nameRequest(headers);
      request = {
        url: this.url,
        method: spec.method,
        headers,
        body: body.body,
        redirect: 'manual',
        scope,
        fetch: client.fetch,
        fetchOptions: { ...client.fetchOptions, ...spec.options?.fetchOptions },
        log: client.log,
        isSent: false,
      };
      this.#outgoing = request;
      this.#emit('sent', { headers, body });
      const direct = await send(request);
      const response = isRedirect(direct) ? await resolveRedirect(spec, direct, request) : direct;
      if ('kind' in response) return this.explain(response);
      if (!response.ok) return await this.#readError(response);
      // A website has a page for every path.
      if (this.#missing && response.headers.get('content-type')?.includes('html')) {
        void response.body?.cancel().catch(() => {});
        return { kind: 'refused', phase: 'headers', status: response.status };
      }
      const { root, api } = this.#base;
      if (this.#missing) this.#learnAddress();
      else if (client.shared.address?.root !== root) client.shared.address = { root, api };
      // The request id of the gateway comes first; after a redirect, `response` is from another host.
      const requestId =
        this.#findRequestId(direct) ??
        (response === direct ? undefined : this.#findRequestId(response));
      return { response, requestId, spec, scope };
    } catch (error) {
      if (request?.isSent !== true) return this.#localFailure(error);
      if (ReadFailure.is(error)) {
        const { headers } = error.failed;
        const requestId = (headers && this.#findRequestId({ headers })) ?? sentId;
        return this.explain({ ...error.failed, requestId });
      }
      const sourceError = body.sourceError?.();
      if (sourceError !== undefined && scope.stopped === undefined) {
        return this.#localFailure(sourceError);
      }
      const proxy = findProxy(this.url, request.fetchOptions);
      const route = { url: this.url, proxy, isTrusted: client.fetch === globalFetch };
      return this.explain({ ...classifyThrown(error, route), requestId: sentId });
    }
  }

  #findRequestId({ headers }: Pick<Response, 'headers'>, fromMessage?: string): string | undefined {
    const { gateway } = requireBase(this.client);
    const id = findRequestId(headers, fromMessage, gateway?.profile.requestIdHeaders);
    return id && this.redaction.id(id);
  }

  /** Adds all headers of a request besides the key. */
  #addHeaders(headers: Headers, body: PreparedBody): void {
    const { spec, client, settings, idempotencyKey: key } = this;
    headers.set('accept', spec.accept);
    // `content-length` counts encoded bytes, so only an unencoded body can be checked for completeness.
    if (spec.download !== undefined) headers.set('accept-encoding', 'identity');
    if (spec.fileURL === undefined) {
      applyHeaders(headers, client.account, 'organization');
      applyHeaders(headers, client.headers, 'defaultHeaders');
    }
    applyHeaders(headers, spec.options?.headers, 'headers');
    const { 'openai-organization': organization, 'openai-project': project } = client.account;
    const own = client.headers ?? spec.options?.headers ?? organization ?? project;
    this.redaction.remember(headers, this.url, own !== undefined && own !== null);
    // Set from the body alone: gateways ignore a body with another label, and the runtime writes the boundary
    // of a form.
    headers.delete('content-type');
    if (settings.idempotency && key !== undefined) headers.set(settings.idempotency.header, key);
    for (const [name, value] of Object.entries(body.headers)) headers.set(name, value);
  }

  /**
   * Sets a request id if the gateway accepts one from the client, so that the id is known even without a
   * response.
   */
  #nameRequest(headers: Headers): string | undefined {
    const name = requireBase(this.client).gateway?.profile.sentIdHeader;
    if (name === undefined || this.spec.charge === 'free') return undefined;
    const id = headers.get(name) ?? `${this.id}-${this.evidence().length + 1}`;
    headers.set(name, id);
    return id;
  }

  async #readError(response: Response): Promise<FailedAttempt> {
    const { text, end } = await readBody(response, errorBodyLimit, this.scope);
    const body = readErrorText(text);
    const { status, headers } = response;
    const kind = classifyStatus(status, body, headers, this.spec.charge);
    const requestId = this.#findRequestId(response, body.requestId);
    // If the body ends with its connection, only valid JSON proves that it was not cut.
    const isErrorComplete = status >= 400 && end === 'whole' && isJSON(body);
    const details = { kind, status, headers, body, requestId, isErrorComplete };
    const failed: FailedAttempt = { phase: 'headers', ...details };
    // A timeout while reading an error does not invalidate the error.
    return this.scope.stopped === 'signal' ? this.explain(failed) : failed;
  }

  /** Reads the body, and ends the request unless its value is a stream. */
  async #read<T>(answer: Answer, format: AnswerFormat<T>): Promise<T> {
    this.scope.keepAlive(true);
    const { value, stays } = await format.read(this, answer);
    if (stays !== true) this.release({ answer: value, isWhole: true });
    return value;
  }

  /** Remembers that the routes are not below the `/v1` that was added to the base URL. */
  #learnAddress(): void {
    const { client } = this;
    const { root } = this.#base;
    if (client.shared.address?.root === root) return;
    client.shared.address = { root, api: '' };
    client.log.write('info', 'The routes are not below /v1', { baseURL: root });
  }

  /**
   * Returns whether the request is sent again, without the `/v1` that was added to the base URL.
   *
   * @throws the error for the first 404, if the route is missing there too
   */
  #isWithoutVersion(failed: FailedAttempt): boolean {
    const { client, spec } = this;
    const base = this.#base;
    const first = this.#missing;
    if (first === undefined) {
      if (!this.isReplayable || !mayLackVersion(failed, client.shared, base, spec)) return false;
      this.#missing = failed;
      this.url = buildURL({ root: base.root, api: '' }, spec.path, this.#search);
      return true;
    }
    if (!provesRoute(failed)) {
      noteMissing(client.shared, base.root, spec.operation);
      this.url = buildURL(base, spec.path, this.#search);
      throw this.#giveUp(first);
    }
    if (failed.phase === 'headers') this.#learnAddress();
    return false;
  }

  #decide(failed: FailedAttempt, maxRetries = this.settings.maxRetries) {
    const { client, settings, spec } = this;
    return decide(failed, {
      charge: spec.charge,
      retryUnknownOutcome: settings.retryUnknownOutcome,
      idempotent: this.idempotencyKey !== undefined,
      maxRetries,
      retries: this.#retries,
      canRefresh: !this.#isRefreshed && typeof client.credential.reveal() === 'function',
      replayable: this.isReplayable,
      shouldRetry: readShouldRetry(failed),
    });
  }

  /** Returns when the request may be sent again; throws otherwise. */
  async #afterFailure(failure: FailedAttempt): Promise<void> {
    const { scope, client, settings } = this;
    const previous = this.#previousFailure;
    this.#outgoing = undefined;
    const failed = this.#redact(failure);
    if (failure.kind === 'invalid_input' && previous !== undefined) {
      // Nothing was sent this time, so the previous failure describes the call.
      throw this.#giveUp({ ...previous, cause: failure.cause });
    }
    this.#addAttempt(failed);
    if (this.#isWithoutVersion(failed)) return;
    const downloadPause = this.#downloadRules?.pauseAfter(failed, settings.maxRetries);
    if (downloadPause !== undefined && downloadPause < scope.remaining) {
      this.#emit('retrying', { failed, delayMs: downloadPause });
      return;
    }
    const maxRetries = downloadPause === undefined ? settings.maxRetries : 0;
    const decision = scope.isOver ? 'throw' : this.#decide(failed, maxRetries);
    if (decision === 'refresh') {
      this.#isRefreshed = true;
      return;
    }
    const pause = decision === 'retry' ? pauseBefore(failed, this.#retries) : undefined;
    // Don't wait if the total timeout would end the wait.
    if (pause === undefined || pause >= scope.remaining) throw this.#giveUp(failed);
    if (!client.budget.take(failed.kind === 'timed_out')) {
      this.#emit('retrying', { failed, delayMs: undefined });
      throw withoutRetries(this.#giveUp(failed));
    }
    this.#emit('retrying', { failed, delayMs: pause });
    this.#retries += 1;
    if (await scope.pause((signal) => delay(pause, signal))) return;
    throw this.#giveUp(this.explain(failed));
  }

  /** Returns the failure as an abort or timeout if that is what stopped the attempt. */
  explain(failed: FailedAttempt): FailedAttempt {
    const { stopped, signal } = this.scope;
    if (stopped === undefined) return failed;
    if (stopped === 'signal') return { ...failed, kind: 'aborted', cause: signal?.reason };
    const { totalTimeout, timeout: attemptTimeout } = this.settings;
    const timeout = stopped === 'total' ? (totalTimeout ?? attemptTimeout) : attemptTimeout;
    return { ...failed, kind: 'timed_out', code: undefined, cause: undefined, timeout };
  }

  /** Returns the failure of an attempt that ended before anything was sent. */
  #localFailure(cause: unknown): FailedAttempt {
    return this.explain({ kind: 'invalid_input', phase: 'local', cause });
  }

  /** Returns the error for a failure while the body is read, which ends the call. */
  toError(failure: FailedAttempt): Error {
    const failed = this.#redact(failure);
    this.#addAttempt(failed);
    return this.#makeError(failed);
  }

  /** Removes keys and queries from a failure, and emits it. */
  #redact(failure: FailedAttempt): FailedAttempt {
    const failed = this.redaction.attempt(failure);
    this.#emit('failed', failed);
    return failed;
  }

  #addAttempt(failed: FailedAttempt): void {
    const { phase, code, status, requestId, body, isErrorComplete, address } = failed;
    // Nothing was sent, so it does not count as an attempt.
    if (phase === 'local') return;
    const outcome = getOutcome(failed);
    if (outcome === 'unknown') this.lost += 1;
    this.#worst = worse(outcome, this.#worst);
    this.attempts.push({
      phase,
      code: body?.code ?? code,
      status,
      requestId,
      ...(address !== undefined && { address }),
      ...(isErrorComplete === true && { isErrorComplete }),
    });
    this.#previousFailure = failed;
  }

  #giveUp(failed: FailedAttempt): Error {
    const error = this.#makeError(failed);
    this.#emit('gaveUp', error);
    return error;
  }

  #makeError(failed: FailedAttempt): Error {
    this.failure = failed;
    return makeError(failed, this, this.#worst);
  }

  /** `false` once the body is a stream that was opened. */
  get isReplayable(): boolean {
    return this.#body?.replayable ?? true;
  }

  /** The idempotency key of the call; `undefined` for GET requests, which need none. */
  get idempotencyKey(): string | undefined {
    if (this.settings.idempotency === null || this.spec.method === 'GET') return undefined;
    const key = this.call.options?.idempotencyKey ?? this.id;
    return this.#index > 0 ? `${key}-${this.#index + 1}` : key;
  }

  /** Reports that events of a stream were received. */
  noteChunk(): void {
    this.#emit('chunk', !this.#hasChunk);
    this.#hasChunk = true;
  }

  #fail(error: unknown): void {
    if (typeof error === 'object' && error !== null) failedRequests.set(error, this);
    this.release({ error });
  }

  /** Ends the request. Safe to call more than once. */
  release(ending: Ending): void {
    this.scope.release();
    this.#body?.release?.();
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#emit('ended', ending);
  }

  /** Ends a call that returned a stream. */
  endStream(end: RequestEvents['streamEnded'], progress: Ending['progress']): void {
    this.#emit('streamEnded', end);
    this.release({ error: end.error, progress, isWhole: end.verdict === 'complete' });
  }
}
