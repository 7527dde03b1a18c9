import { costBy, costInAnswer } from '../answers/cost.ts';
import { isJSON, readErrorText } from '../answers/error-body.ts';
import type { ReadCheck } from '../answers/reader.ts';
import { isObject } from '../answers/objects.ts';
import { toInputError } from '../options/check.ts';
import type { ResponseKind } from '../endpoints.ts';
import type { AttemptEvidence, Outcome } from '../errors/gateway-error.ts';
import { CallScope, delay } from '../http/abort.ts';
import { readShouldRetry, classifyStatus, classifyThrown } from '../http/classify.ts';
import { makeError } from './make-error.ts';
import type { OpenAnswer } from './promise.ts';
import { Redaction } from '../http/redaction.ts';
import {
  type CallSpec,
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
} from '../http/response-body.ts';
import { type FailedAttempt, decide, getOutcome, pauseBefore } from '../http/retry.ts';
import { globalFetch, send, isRedirect, resolveRedirect } from '../http/send.ts';
import {
  type CallSettings,
  type ClientSettings,
  requireBase,
  resolveCallSettings,
} from './settings.ts';
import { copyOptions } from '../options/snapshot.ts';
import type { JsonObject } from '../types.ts';
import { buildQuery, buildURL } from '../http/url.ts';

/** The result of a call. */
export interface Ending {
  readonly error?: unknown;
  readonly answer?: unknown;
  /** The content and usage of a stream up to its end. */
  readonly progress?: { readonly partial: unknown; readonly usage: unknown } | undefined;
  /** `true` if the whole response was received. */
  readonly isWhole?: boolean;
}

/** The events in the life of a call. Those from `sent` to `retrying` repeat with each attempt. */
export interface CallEvents {
  /** An attempt is about to be sent. */
  readonly sent: { readonly headers: Headers; readonly body: PreparedBody };
  /** An attempt received a success status. Its body is still unread. */
  readonly answered: Answer;
  /** An attempt failed, possibly while its body was read. In the phase `local` nothing was sent. */
  readonly failed: FailedAttempt;
  /** The attempt is repeated after `delayMs`; `undefined` if too many calls of the client fail. */
  readonly retrying: { readonly failed: FailedAttempt; readonly delayMs: number | undefined };
  /** No attempt follows, and the call fails with this error. */
  readonly gaveUp: Error;
  /** The caller starts reading the body, or stops for now. */
  readonly reading: boolean;
  /** The first chunk of a stream was received. */
  readonly firstChunk: undefined;
  /** The response was read and only names a task, whose result the call waits for. */
  readonly submitted: undefined;
  /** A stream ended, successfully or not. */
  readonly streamEnded: { readonly verdict: string; readonly error?: unknown };
  /** The call ended. Emitted once. */
  readonly ended: Ending;
}

type CallHandlers = { readonly [Name in keyof CallEvents]?: (event: CallEvents[Name]) => void };

/** Listens to the events of one call. Must not throw. */
export interface CallListener extends CallHandlers {
  /** Stored in the handle of the video task that the call submits; see `CallObserver.trace`. */
  readonly trace?: string | undefined;
  /** Awaited before each attempt, outside its `timeout`. Rejects only if `signal` is aborted. */
  readonly beforeAttempt?: (signal: AbortSignal) => Promise<void>;
  /** Calls `work` once, immediately, in its own context, and returns its result. */
  readonly run?: <T>(work: () => T) => T;
}

/** Returns a listener for a call, or `undefined` to ignore the call. */
export type CallSubscriber = (call: LogicalCall, isStream: boolean) => CallListener | undefined;

/** The client that makes a call. */
export interface Caller {
  readonly client: ClientSettings;
  readonly subscribers: readonly CallSubscriber[];
  /** Awaited before the first attempt. A rejection fails the call. */
  beforeSend(call: LogicalCall): Promise<void> | undefined;
}

type Sender<T> = () => Promise<OpenAnswer<T> & Answer>;

/** Earlier requests of the same call; see `RequestPolicy`. */
export interface EarlierRequests {
  readonly first: LogicalCall;
  /** The number of these requests. */
  readonly count: number;
  /** Their attempts, each with its model. */
  readonly attempts: readonly AttemptEvidence[];
  /** See `RequestPolicy`. */
  holdsStream(): boolean;
}

/** Returns the token usage that a response reports. */
export function usageFrom({ answer, progress }: Ending): JsonObject | undefined {
  const fields: JsonObject = Object(answer);
  const usage = progress?.usage ?? fields['usage'] ?? fields['usageMetadata'];
  return isObject(usage) ? usage : undefined;
}

/** Returns the cost in US dollars that the response of a call reports. */
export function costFrom(
  { client }: LogicalCall,
  { answer, progress }: Ending,
  headers = new Headers(),
): number | undefined {
  const read = client.findBase()?.gateway?.profile.readCost ?? costInAnswer;
  return costBy(read, progress ? { usage: progress.usage } : answer, headers);
}

/** Converts a success response to the result of the call. */
export interface AnswerFormat<T, Kind extends ResponseKind = ResponseKind> {
  readonly kind: Kind;
  /**
   * Reads the body.
   *
   * @returns The value. `stays` is `true` if the value is a stream, which keeps the call open.
   * @throws `ReadFailure` if the body is unusable; free calls are then repeated
   */
  read(call: LogicalCall, answer: Answer): Promise<{ readonly value: T; readonly stays?: boolean }>;
}

/** Creates the id of a logical call, shared by its attempts. It only has to be unique in logs. */
function newCallId(): string {
  const random = Math.random().toString(36).slice(2, 12).padEnd(10, '0');
  return `call_${Date.now().toString(36)}${random}`;
}

/** @throws `InvalidInputError` naming the field whose getter throws */
function copyFields(name: string, value: unknown): JsonObject {
  try {
    return isObject(value) ? { ...value } : {};
  } catch (cause) {
    throw toInputError(cause, value, `${name}.`);
  }
}

function collectParams({ params, form, json, options }: CallSpec): Readonly<JsonObject> {
  const fields = form?.fields && Object.fromEntries(form.fields);
  const body = copyFields('body', json);
  return { ...params, ...fields, ...body, ...copyFields('extraBody', options?.extraBody) };
}

const severity: readonly Outcome[] = ['not_sent', 'rejected', 'unknown'];

/** Returns the more severe outcome. */
export const worse = (one: Outcome, other: Outcome): Outcome =>
  severity.indexOf(one) > severity.indexOf(other) ? one : other;

/**
 * One logical call, from the first attempt to the last byte. A call with further requests has one of these
 * for each request, all with the same id, start, client and signal.
 *
 * It owns all that must be cleaned up at the end (timers, the listener on the caller's signal) and the
 * history of attempts for errors.
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
  /** The evidence of each attempt so far. */
  readonly attempts: AttemptEvidence[] = [];
  /** Set if the call may have further requests. */
  earlier: EarlierRequests | undefined;
  /** The failure that ended the call; `undefined` if something other than an attempt failed. */
  failure: FailedAttempt | undefined;
  /** The most severe outcome of the attempts is the outcome of the call. */
  #worst: Outcome = 'not_sent';
  /** Retry rules of a download; `undefined` if retries are off. */
  readonly #downloadRules: SendingRules | undefined;
  #body: PreparedBody | undefined;
  #retries = 0;
  #isRefreshed = false;
  #previousFailure: FailedAttempt | undefined;
  readonly #listeners: CallListener[] = [];
  #hasChunk = false;
  #hasEnded = false;
  readonly caller: Caller;
  /** The parameters of path and body, by name. */
  readonly params: Readonly<JsonObject>;

  constructor(spec: CallSpec, caller: Caller, earlier?: EarlierRequests) {
    const { client } = earlier?.first ?? caller;
    const { download, path } = spec;
    // Copied because the caller may change its options while the call awaits something.
    const options = copyOptions(spec.options);
    this.spec = options ? { ...spec, options } : spec;
    this.settings = resolveCallSettings(client, options, spec.operation);
    this.params = collectParams(this.spec);
    this.earlier = earlier;
    this.startedAt = earlier?.first.startedAt ?? performance.now();
    this.#id = earlier?.first.id ?? options?.callId;
    this.client = client;
    this.caller = caller;
    if (this.settings.maxRetries > 0) this.#downloadRules = download;
    const base = requireBase(client);
    const query = buildQuery(base.query, client.query, spec.query, options?.query);
    this.url = buildURL(base, path, query);
    this.scope = new CallScope(options?.signal, this.settings.totalTimeout, this.startedAt);
  }

  /** Created on first use, because most calls succeed and never need it. */
  get id(): string {
    this.#id ??= newCallId();
    return this.#id;
  }

  /** The id if it was created already. */
  get knownId(): string | undefined {
    return this.#id;
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

  /** Returns a function that sends the call, with retries, and resolves with the first success response. */
  prepare<T>(format: AnswerFormat<T>): Sender<T> {
    this.#subscribe(format.kind === 'events');
    return this.#sender(format);
  }

  /** Returns the evidence of all attempts, with those of earlier requests, and of a current one. */
  evidence(...current: readonly AttemptEvidence[]): readonly AttemptEvidence[] {
    const own = [...this.attempts, ...current];
    if (this.earlier === undefined) return own;
    const { model } = this.params;
    const named = typeof model === 'string' ? own.map((attempt) => ({ ...attempt, model })) : own;
    return [...this.earlier.attempts, ...named];
  }

  #subscribe(isStream: boolean): void {
    for (const subscribe of this.caller.subscribers) {
      const listener = subscribe(this, isStream);
      if (listener !== undefined) this.#listeners.push(listener);
    }
    this.scope.onReading = (isRead) => this.#emit('reading', isRead);
  }

  #emit<Name extends keyof CallEvents>(name: Name, event: CallEvents[Name]): void {
    for (const listener of this.#listeners) {
      const handlers: CallHandlers = listener;
      handlers[name]?.(event);
    }
  }

  /** Returns a function that sends the call, in the contexts of its listeners. */
  #sender<T>(format: AnswerFormat<T>): Sender<T> {
    const { client, scope } = this;
    const rules = this.#downloadRules;
    const sendCall: Sender<T> = async () => {
      try {
        const body = this.#body ?? (await this.#prepare());
        for (;;) {
          // If the wait was stopped, the attempt fails without sending.
          if (rules !== undefined) await scope.pause((signal) => rules.begin(signal));
          for (const { beforeAttempt } of this.#listeners) {
            if (beforeAttempt !== undefined) await scope.pause(beforeAttempt);
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
        this.release({ error });
        throw error;
      }
    };
    return this.#listeners.reduce(
      (inner, { run }) => (run === undefined ? inner : () => run(inner)),
      sendCall,
    );
  }

  #toOpen<T>(answer: Answer, format: AnswerFormat<T>): OpenAnswer<T> & Answer {
    const open: OpenAnswer<T> & Answer = {
      ...answer,
      parse: () => this.#read(open, format),
      raw: () => (open.response = exposeResponse(this, open)),
    };
    return open;
  }

  /** Encodes the body and awaits `beforeSend` of the client. Runs once. */
  async #prepare(): Promise<PreparedBody> {
    try {
      const body = (this.#body = await this.#prepareBody());
      const allowed = this.caller.beforeSend(this);
      if (allowed !== undefined) await this.scope.until(allowed);
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
      const authorized = client.credential.authorize(headers);
      if (authorized !== undefined) await scope.until(authorized);
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
        isSent: false,
      };
      this.#emit('sent', { headers, body });
      const direct = await send(request);
      const response = isRedirect(direct) ? await resolveRedirect(spec, direct, request) : direct;
      if ('kind' in response) return this.explain(response);
      if (!response.ok) return await this.#readError(response);
      // The request id of the gateway comes first; after a redirect, `response` is from another host.
      const requestId =
        this.#findRequestId(direct) ??
        (response === direct ? undefined : this.#findRequestId(response));
      return { response, requestId, spec, scope };
    } catch (error) {
      if (request?.isSent !== true) return this.#localFailure(error);
      const sourceError = body.sourceError?.();
      if (sourceError !== undefined && scope.stopped === undefined) {
        return this.#localFailure(sourceError);
      }
      const customFetchURL = client.fetch === globalFetch ? undefined : this.url;
      return this.explain({ ...classifyThrown(error, customFetchURL), requestId: sentId });
    }
  }

  #findRequestId({ headers }: Response, fromMessage?: string): string | undefined {
    const { gateway } = requireBase(this.client);
    return findRequestId(headers, fromMessage, gateway?.profile.requestIdHeaders);
  }

  /** Adds all headers of a request besides the key. */
  #addHeaders(headers: Headers, body: PreparedBody): void {
    const { spec, client, settings, idempotencyKey: key } = this;
    headers.set('accept', spec.accept);
    // `content-length` counts encoded bytes, so only an unencoded body can be checked for completeness.
    if (spec.download !== undefined) headers.set('accept-encoding', 'identity');
    applyHeaders(headers, client.account, 'organization');
    applyHeaders(headers, client.headers, 'defaultHeaders');
    applyHeaders(headers, spec.options?.headers, 'headers');
    this.redaction.remember(headers, this.url);
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

  /** Reads the body. Repeats the request if reading fails and repeating is free. */
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
        Object.assign(answer, await this.#sender(format)());
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
    const previous = this.#previousFailure;
    const failed = this.#redact(failure);
    if (failure.kind === 'invalid_input' && previous !== undefined) {
      // Nothing was sent this time, so the previous failure describes the call.
      throw this.#giveUp({ ...previous, cause: failure.cause });
    }
    this.#addAttempt(failed);
    const downloadPause = this.#downloadRules?.pauseAfter(failed, settings.maxRetries);
    if (downloadPause !== undefined && downloadPause < scope.remaining) {
      this.#emit('retrying', { failed, delayMs: downloadPause });
      return;
    }
    const decision = decide(failed, {
      charge: spec.charge,
      retryUnknownOutcome: settings.retryUnknownOutcome,
      idempotent: this.idempotencyKey !== undefined,
      maxRetries: downloadPause === undefined ? settings.maxRetries : 0,
      retries: this.#retries,
      canRefresh: !this.#isRefreshed && typeof client.credential.reveal() === 'function',
      replayable: this.isReplayable,
      shouldRetry: readShouldRetry(failed),
    });
    if (decision === 'refresh') {
      this.#isRefreshed = true;
      return;
    }
    const pause = decision === 'retry' ? pauseBefore(failed, this.#retries) : undefined;
    // Don't wait if the total timeout would end the wait.
    if (pause === undefined || pause >= scope.remaining) throw this.#giveUp(failed);
    if (!client.budget.take(failed.kind === 'timed_out')) {
      this.#emit('retrying', { failed, delayMs: undefined });
      throw this.#giveUp(failed);
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
    const { phase, code, status, requestId, body, isErrorComplete } = failed;
    // Nothing was sent, so it does not count as an attempt.
    if (phase === 'local') return;
    this.#worst = worse(getOutcome(failed), this.#worst);
    const evidence = { phase, code: body?.code ?? code, status, requestId };
    this.attempts.push(isErrorComplete === true ? { ...evidence, isErrorComplete } : evidence);
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
    const key = this.spec.options?.idempotencyKey ?? this.id;
    return this.earlier?.count ? `${key}-${this.earlier.count + 1}` : key;
  }

  /** Reports that a chunk of a stream was received. */
  noteChunk(): void {
    if (this.#hasChunk) return;
    this.#hasChunk = true;
    this.#emit('firstChunk', undefined);
  }

  /** Reports that the response only names a task. */
  noteTask(): void {
    this.#emit('submitted', undefined);
  }

  /** Ends the call. Safe to call more than once. */
  release(ending: Ending): void {
    this.scope.release();
    this.#body?.release?.();
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#emit('ended', ending);
  }

  /** Ends a call that returned a stream. */
  endStream(end: CallEvents['streamEnded'], progress: Ending['progress']): void {
    this.#emit('streamEnded', end);
    this.release({ error: end.error, progress, isWhole: end.verdict === 'complete' });
  }
}
