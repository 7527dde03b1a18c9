import { isObject } from '../answers/objects.ts';
import type { ReadCheck } from '../answers/reader.ts';
import type { ResponseKind } from '../endpoints.ts';
import { CallScope, findLateness, type StopReason } from '../http/abort.ts';
import { readShouldRetry } from '../http/classify.ts';
import { Redaction } from '../http/redaction.ts';
import {
  type CallSpec,
  type Change,
  type OutgoingRequest,
  type PreparedBody,
  unchanged,
} from '../http/request.ts';
import type { IncomingResponse } from '../http/responses/response-body.ts';
import { decideRetry, type FailedAttempt } from '../http/retry.ts';
import { toInputError } from '../options/check.ts';
import type { OutputMode } from '../options/options.ts';
import type { JsonObject } from '../types.ts';
import type { Call } from './call.ts';
import type { Ending, Listener, RequestEvents, RequestHandlers } from './events.ts';
import { History } from './history.ts';
import { makeError } from './make-error.ts';
import { RouteAddress } from './route-address.ts';
import type { CallSettings, ClientSettings } from './settings.ts';

/** Converts a success response to the result of the call. */
export interface ResultFormat<T, Kind extends ResponseKind = ResponseKind> {
  readonly kind: Kind;
  /**
   * Reads the body.
   *
   * @returns The value. `stays` is `true` if the value is a stream, which keeps the call open.
   * @throws `ReadFailure` if the body is unusable; free calls are then repeated
   */
  read(
    request: GatewayRequest,
    incoming: IncomingResponse,
  ): Promise<{ readonly value: T; readonly stays?: boolean }>;
}

/** The modes in which an operation can request JSON. */
export interface OutputModes {
  /** Describes requests that a provider may treat alike, for example those with tools. */
  readonly kind: string;
  /** The modes to try, in this order. */
  readonly order: readonly OutputMode[];
}

/** What a request sends, and how its response is read. */
interface Written<T> {
  readonly spec: CallSpec;
  readonly format: ResultFormat<T>;
}

/** Where the requests of a call come from. */
export interface RequestSource<T> {
  /**
   * Checks the changed parameters and writes their request. Has no side effects: the request may never be sent.
   * Missing if the parameters cannot change: the call is by path.
   *
   * @throws `InvalidInputError` if the parameters are invalid
   */
  readonly write?: (change: Change) => Written<T>;
  /** How the operation can request JSON; `undefined` if the call is not for JSON. */
  readonly output?: OutputModes | undefined;
  /** Parameters that the request can be sent without. */
  readonly optional?: readonly string[] | undefined;
  /** Returns the listeners to the events of a request. */
  readonly listen: (request: GatewayRequest) => readonly Listener[];
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
  const body = copyFields('body', json);
  const { extraBody } = options ?? {};
  // Most requests have only a body; one copy of it is cheaper than a union.
  if (!params && !form && !extraBody) return body;
  const fields = form?.fields && Object.fromEntries(form.fields);
  return { ...params, ...fields, ...body, ...copyFields('extraBody', extraBody) };
}

/** The requests by the errors that they failed with. */
const failedRequests = new WeakMap<object, GatewayRequest>();

/** Returns the request that failed with an error; `undefined` if none did. */
export function findRequest(error: unknown): GatewayRequest | undefined {
  return typeof error === 'object' && error !== null ? failedRequests.get(error) : undefined;
}

/**
 * One request of a call: what it sends, and what happened to it, from the first attempt to the last byte.
 *
 * What it sends never changes; policies send changed copies. Once it is sent, it owns all that must be cleaned up at
 * the end: timers, and the listener on the caller's signal.
 */
export class GatewayRequest<T = unknown> {
  readonly call: Call;
  readonly client: ClientSettings;
  readonly settings: CallSettings;
  readonly source: RequestSource<T>;
  readonly spec: CallSpec;
  readonly format: ResultFormat<T>;
  /** How the request differs from the caller's. */
  readonly change: Change;
  readonly address: RouteAddress;
  readonly history: History;
  readonly redaction = new Redaction();
  /** None before it is sent. */
  listeners: readonly Listener[] = [];
  /** The encoded body, once it is prepared. */
  body: PreparedBody | undefined;
  /** The current attempt; `undefined` before the first and after a failed one. */
  outgoing: OutgoingRequest | undefined;
  /** How long the attempt waited for its listeners, in milliseconds; `undefined` if none made it wait. */
  waited: number | undefined;
  /**
   * The failure that ended the request, without secrets; `undefined` if something other than an attempt failed, for
   * example if the result does not match the caller's schema.
   */
  failure: FailedAttempt | undefined;
  readonly #holds: readonly (() => boolean)[];
  #params: Readonly<JsonObject> | undefined;
  #scope: CallScope | undefined;
  /** The number of earlier requests of the call; `undefined` before it is sent. */
  #index: number | undefined;
  #hasChunk = false;
  #hasEnded = false;

  constructor(
    call: Call,
    source: RequestSource<T>,
    { spec, format }: Written<T>,
    change = unchanged,
    holds: readonly (() => boolean)[] = [],
  ) {
    this.call = call;
    this.client = call.client;
    this.settings = call.settings;
    this.source = source;
    this.spec = spec;
    this.format = format;
    this.change = change;
    this.#holds = holds;
    this.address = new RouteAddress(call, spec);
    this.history = new History(this);
  }

  /**
   * Returns a request that differs from the caller's by these fields of `Change`.
   *
   * @throws `InvalidInputError` if the parameters are invalid
   */
  with(fields: Partial<Change>): GatewayRequest<T> {
    const { call, source } = this;
    const change = { ...this.change, ...fields };
    const written = source.write?.(change) ?? this;
    return new GatewayRequest(call, source, written, change, this.#holds);
  }

  /** Returns a request whose stream is held back until its first content while `holds` returns `true`. */
  holding(holds: () => boolean): GatewayRequest<T> {
    return new GatewayRequest(this.call, this.source, this, this.change, [...this.#holds, holds]);
  }

  /** Returns whether another request may follow an error that precedes the content of the stream. */
  holdsStream(): boolean {
    return this.#holds.some((holds) => holds());
  }

  /** The parameters of path and body, by name. */
  get params(): Readonly<JsonObject> {
    return (this.#params ??= collectParams(this.spec));
  }

  /** The id of the call. */
  get id(): string {
    return this.call.id;
  }

  get url(): string {
    return this.address.url;
  }

  /** Signal and time limits, from when they are first needed. */
  get scope(): CallScope {
    return (this.#scope ??= new CallScope(
      this.call.options?.signal,
      this.settings.totalTimeout,
      this.call.startedAt,
      this,
    ));
  }

  /** The trace of the first listener that has one. */
  get trace(): string | undefined {
    return this.listeners.find(({ trace }) => trace !== undefined)?.trace;
  }

  /** Options for validating responses and reporting differences. */
  get check(): ReadCheck {
    const { client, settings, spec } = this;
    return {
      validation: settings.validation,
      onIssue: (issue) => client.drift.report(spec.operation, issue),
    };
  }

  /** `false` once the body is a stream that was opened. */
  get isReplayable(): boolean {
    return this.body?.replayable ?? true;
  }

  /** The idempotency key of the request; `undefined` for GET requests, which need none. */
  get idempotencyKey(): string | undefined {
    if (this.settings.idempotency === null || this.spec.method === 'GET') return undefined;
    const key = this.call.options?.idempotencyKey ?? this.id;
    const index = this.#index ?? 0;
    return index > 0 ? `${key}-${index + 1}` : key;
  }

  /** Counts the request as one of its call, and adds its listeners, before its first attempt. */
  begin(): void {
    if (this.#index !== undefined) return;
    this.#index = this.call.requests;
    this.call.requests += 1;
    this.listeners = this.source.listen(this);
  }

  emit<Name extends keyof RequestEvents>(name: Name, event: RequestEvents[Name]): void {
    for (const listener of this.listeners) {
      const handlers: RequestHandlers = listener;
      handlers[name]?.(event);
    }
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
  localFailure(cause: unknown): FailedAttempt {
    return this.explain({ kind: 'invalid_input', phase: 'local', cause });
  }

  /** Removes keys and queries from a failure, and emits it. */
  redact(failure: FailedAttempt): FailedAttempt {
    const failed = this.redaction.attempt(failure);
    this.emit('failed', failed);
    return failed;
  }

  /** Returns the error for a failure while the body is read, which ends the call. */
  toError(failure: FailedAttempt): Error {
    const failed = this.redact(failure);
    this.history.add(failed);
    return this.makeError(failed);
  }

  /** Returns the error for the last failure. */
  giveUp(failed: FailedAttempt): Error {
    const error = this.makeError(failed);
    this.emit('gaveUp', error);
    return error;
  }

  makeError(failed: FailedAttempt): Error {
    this.failure = failed;
    return makeError(failed, this, this.history.outcome);
  }

  /** Decides whether a failed attempt is repeated. */
  decideRetry(failed: FailedAttempt, maxRetries = this.settings.maxRetries) {
    const { client, settings, spec, history } = this;
    return decideRetry(failed, {
      charge: spec.charge,
      retryUnknownOutcome: settings.retryUnknownOutcome,
      idempotent: this.idempotencyKey !== undefined,
      maxRetries,
      retries: history.retries,
      canRefresh: !history.isRefreshed && typeof client.credential.reveal() === 'function',
      replayable: this.isReplayable,
      shouldRetry: readShouldRetry(failed),
    });
  }

  /** Lets an attempt go on whose response must not be lost, unless it would be repeated. */
  onStop(reason: StopReason): number {
    const { client, url, spec, redaction, call, history } = this;
    const late = findLateness(call.options?.signal);
    if (late === undefined || this.outgoing?.isSent !== true) return 0;
    const failed = this.explain({ kind: 'interrupted', phase: 'sent' });
    if (reason === 'timeout' && this.decideRetry(failed) === 'retry') return 0;
    const running = { evidence: () => history.evidence({ phase: 'sent' }) };
    const facts = { client, id: this.id, url, spec, redaction, history: running };
    late.onLeave(makeError(failed, facts, 'unknown'));
    return late.grace;
  }

  /** Logs a warning about the call. */
  warn(message: string): void {
    const { client, spec, id } = this;
    client.log.write('warn', message, { callId: id, operation: spec.operation });
  }

  /** Reports that the caller reads the response, or that it is unread. */
  onReading(isRead: boolean): void {
    this.emit('reading', isRead);
  }

  /** Reports that events of a stream were received. */
  noteChunk(): void {
    this.emit('chunk', !this.#hasChunk);
    this.#hasChunk = true;
  }

  /** Ends the request with an error. */
  fail(error: unknown): void {
    if (typeof error === 'object' && error !== null) failedRequests.set(error, this);
    this.release({ error });
  }

  /** Ends the request. Safe to call more than once. */
  release(ending: Ending): void {
    this.#scope?.release();
    this.body?.release?.();
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.emit('ended', ending);
  }

  /** Ends a call that returned a stream. */
  endStream(end: RequestEvents['streamEnded'], progress: Ending['progress']): void {
    this.emit('streamEnded', end);
    this.release({ error: end.error, progress, isWhole: end.verdict === 'complete' });
  }
}
