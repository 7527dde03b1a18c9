import { isJSON, readErrorText } from '../answers/error-body.ts';
import type { ReadCheck } from '../answers/reader.ts';
import { isObject } from '../answers/objects.ts';
import { toInputError } from '../check.ts';
import type { ResponseKind } from '../endpoints.ts';
import type { AttemptEvidence, Outcome } from '../errors/gateway-error.ts';
import { CallScope, delay } from './abort.ts';
import { asksToRetry, classifyStatus, classifyThrown } from './classify.ts';
import { makeError } from './make-error.ts';
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

/** How a call ended. */
export interface Ending {
  readonly error?: unknown;
  readonly answer?: unknown;
  /** The content of a stream up to its end. */
  readonly progress?: { readonly partial: unknown; readonly usage: unknown } | undefined;
  /** Whether the whole answer was received. */
  readonly isWhole?: boolean;
}

/** The events in the life of a call. Those from `sent` to `retrying` repeat with each attempt. */
export interface CallEvents {
  /** An attempt is about to be sent. */
  readonly sent: { readonly headers: Headers; readonly body: PreparedBody };
  /** An attempt got a success status. Its body is still unread. */
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
  /** A stream ended, in whatever way. */
  readonly streamEnded: { readonly verdict: string; readonly error?: unknown };
  /** The call ended. Emitted once. */
  readonly ended: Ending;
}

type CallHandlers = { readonly [Name in keyof CallEvents]?: (event: CallEvents[Name]) => void };

/** Listens to the events of one call. Must not throw. */
export interface CallListener extends CallHandlers {
  /** Stored in the handle of a video task that the call submits; see `CallObserver.trace`. */
  readonly trace?: string | undefined;
  /** Calls `work` once, at once, in a context of its own, and returns its result. */
  readonly run?: <T>(work: () => T) => T;
}

/** Returns a listener for a call, or `undefined` for a call that is not of interest. */
export type CallSubscriber = (call: LogicalCall, isStream: boolean) => CallListener | undefined;

/** The client that makes a call. */
export interface Caller {
  readonly client: ClientSettings;
  /** Identifies the client, and all clients that share their state with it. */
  readonly shared: object;
  readonly subscribers: readonly CallSubscriber[];
  /** Awaited before the first attempt is sent. A rejection refuses the call. */
  beforeSend(call: LogicalCall): Promise<void> | undefined;
}

type Sender<T> = () => Promise<OpenAnswer<T> & Answer>;

/** Returns the token usage that an answer reports. */
export function usageFrom({ answer, progress }: Ending): JsonObject | undefined {
  const fields: JsonObject = Object(answer);
  const usage = progress?.usage ?? fields['usage'] ?? fields['usageMetadata'];
  return isObject(usage) ? usage : undefined;
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

/** @throws `InvalidInputError` naming the field whose getter throws */
function copyFields(name: string, value: unknown): JsonObject {
  try {
    return isObject(value) ? { ...value } : {};
  } catch (cause) {
    throw toInputError(cause, value, `${name}.`);
  }
}

function paramsOf({ params, form, json, options }: CallSpec): Readonly<JsonObject> {
  const fields = form?.fields && Object.fromEntries(form.fields);
  const body = copyFields('body', json);
  return { ...params, ...fields, ...body, ...copyFields('extraBody', options?.extraBody) };
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
  readonly #listeners: CallListener[] = [];
  #hasChunk = false;
  #hasEnded = false;
  readonly caller: Caller;
  /** The parameters in its path and in its body, by name. */
  readonly params: Readonly<JsonObject>;

  constructor(spec: CallSpec, caller: Caller) {
    const { client } = caller;
    const { download, path } = spec;
    // The caller may change its options as soon as the call awaits anything.
    const options = copyOptions(spec.options);
    this.spec = options ? { ...spec, options } : spec;
    this.settings = settingsOfCall(client, options);
    this.params = paramsOf(this.spec);
    this.startedAt = performance.now();
    this.#id = options?.callId;
    this.client = client;
    this.caller = caller;
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

  /** The id if anything has read it so far. */
  get knownId(): string | undefined {
    return this.#id;
  }

  /** The trace of the first listener that has one. */
  get trace(): string | undefined {
    return this.#listeners.find(({ trace }) => trace !== undefined)?.trace;
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
   * Returns a function that sends a call until there is an answer with a success status, and that rejects
   * otherwise, also if `makeCall` throws.
   */
  static prepare<T>(makeCall: () => LogicalCall, format: AnswerFormat<T>): Sender<T> {
    try {
      const call = makeCall();
      call.#subscribe(format.kind === 'events');
      return call.#sender(format);
    } catch (cause) {
      const error = toInputError(cause);
      return () => Promise.reject(error);
    }
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
    const rules = this.#rules;
    const sendCall: Sender<T> = async () => {
      try {
        const body = this.#body ?? (await this.#prepare());
        for (;;) {
          // An attempt that follows a wait that was stopped says so, and sends nothing.
          if (rules !== undefined) await scope.pause((signal) => rules.begin(signal));
          const answer = await this.#attempt(body);
          if ('kind' in answer) {
            await this.#afterFailure(answer);
            continue;
          }
          this.#emit('answered', answer);
          client.budget.give();
          rules?.passed();
          scope.keepAlive(false);
          return this.#open(answer, format);
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

  #open<T>(answer: Answer, format: AnswerFormat<T>): OpenAnswer<T> & Answer {
    const open: OpenAnswer<T> & Answer = {
      ...answer,
      parse: () => this.#read(open, format),
      raw: () => (open.response = handOut(this, open)),
    };
    return open;
  }

  /** Encodes the body, and asks the client whether the call may be sent. Done once. */
  async #prepare(): Promise<PreparedBody> {
    try {
      const body = (this.#body = await this.#prepareBody());
      const allowed = this.caller.beforeSend(this);
      if (allowed !== undefined) await this.scope.until(allowed);
      return body;
    } catch (cause) {
      throw this.#unsent(cause);
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
      this.#emit('sent', { headers, body });
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
    const before = this.#failedBefore;
    const failed = this.#redact(failure);
    if (failure.kind === 'invalid_input' && before !== undefined) {
      // Nothing was sent this time; what is known of the call is what became of it before.
      throw this.#giveUp({ ...before, cause: failure.cause });
    }
    this.#addAttempt(failed);
    const turn = this.#rules?.pauseAfter(failed, settings.maxRetries);
    if (turn !== undefined && turn < scope.remaining) {
      this.#emit('retrying', { failed, delayMs: turn });
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
    const { phase, code, status, requestId, body, isAnswered } = failed;
    // One that never left the caller is none.
    if (phase === 'local') return;
    const outcome = outcomeOf(failed);
    if (severity.indexOf(outcome) > severity.indexOf(this.#worst)) this.#worst = outcome;
    const evidence = { phase, code: body?.code ?? code, status, requestId };
    this.attempts.push(isAnswered === true ? { ...evidence, isAnswered } : evidence);
    this.#failedBefore = failed;
  }

  #giveUp(failed: FailedAttempt): Error {
    const error = this.#makeError(failed);
    this.#emit('gaveUp', error);
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

  /** Reports that a chunk of a stream was received. */
  noteChunk(): void {
    if (this.#hasChunk) return;
    this.#hasChunk = true;
    this.#emit('firstChunk', undefined);
  }

  /** Ends the call. Safe to call more than once. */
  release(ending: Ending): void {
    this.scope.release();
    this.#body?.release?.();
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#emit('ended', ending);
  }

  /** Ends a call whose answer was a stream. */
  endStream(end: CallEvents['streamEnded'], progress: Ending['progress']): void {
    this.#emit('streamEnded', end);
    this.release({ error: end.error, progress, isWhole: end.verdict === 'complete' });
  }
}
