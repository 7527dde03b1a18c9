import { checkOptions, toInputError } from '../check.ts';
import type { OperationReturning, ResponseKind } from '../endpoints.ts';
import type { RequestOptions } from '../options.ts';
import { type AnswerFormat, type Caller, type CallSubscriber, LogicalCall } from './call.ts';
import { GatewayPromise } from './promise.ts';
import { type CallSpec, type RequestSource, applyHeaders, specOf } from './request.ts';
import { baseOf, type ClientSettings, settingsOfCall } from './settings.ts';
import { buildQuery } from './url.ts';

/**
 * Starts a call, and rejects in place of throwing: one `catch` serves for all.
 *
 * @param input - The caller's, whose getters may throw.
 */
export function startCall<T>(input: unknown, start: () => GatewayPromise<T>): GatewayPromise<T> {
  try {
    return start();
  } catch (cause) {
    return rejectCall(cause, input);
  }
}

/** Returns a call that rejects because its input could not be read. */
export function rejectCall(cause: unknown, input: unknown): GatewayPromise<never> {
  return new GatewayPromise(Promise.reject(toInputError(cause, input)));
}

/** What a client adds to each of its calls. */
export interface CallHooks {
  /** Each may listen to the events of a call. Contexts of later ones enclose those of earlier ones. */
  readonly subscribers: readonly CallSubscriber[];
  /** Awaited before a call is sent. A rejection refuses the call. */
  readonly beforeSend?: (call: LogicalCall, transport: Transport) => Promise<void> | undefined;
}

/** Makes the calls of one client for its resources. */
export class Transport implements Caller {
  /** The settings of the next call. A call under way keeps those that it began with. */
  client: ClientSettings;
  readonly hooks: CallHooks;
  /** Identifies the clients that count what they spend together, and queue their downloads together. */
  shared: object;

  constructor(client: ClientSettings, hooks: CallHooks = { subscribers: [] }, shared: object = {}) {
    this.client = client;
    this.hooks = hooks;
    this.shared = shared;
  }

  /** Returns a copy with the current settings, for work of several calls that must all go to one gateway. */
  snapshot(): Transport {
    return new Transport(this.client, this.hooks, this.shared);
  }

  get subscribers(): readonly CallSubscriber[] {
    return this.hooks.subscribers;
  }

  beforeSend(call: LogicalCall): Promise<void> | undefined {
    return this.hooks.beforeSend?.(call, this);
  }

  /** The root of the gateway, for work that needs it. */
  get baseURL(): string {
    return baseOf(this.client).root;
  }

  /** Refuses options that are misspelt, and warns of those that have no effect. */
  checkNames(options: unknown): void {
    this.client.log.warnOnce(checkOptions(options).values());
  }

  /**
   * Checks the options of calls that are made later, if at all.
   *
   * @throws `InvalidInputError` naming the option that cannot work
   */
  checkOptions(options: RequestOptions): void {
    settingsOfCall(this.client, options);
    applyHeaders(new Headers(), options.headers, 'headers');
    buildQuery(options.query);
  }

  /**
   * Calls an operation.
   *
   * @param format - How its answer is read: one of the kinds that the operation has.
   */
  call<Name extends OperationReturning<Kind>, Kind extends ResponseKind, T>(
    operation: Name,
    request: RequestSource<Name>,
    format: AnswerFormat<T, Kind>,
    options: RequestOptions | undefined,
  ): GatewayPromise<T> {
    const makeCall = () => new LogicalCall(specOf(operation, request, format.kind, options), this);
    return new GatewayPromise(LogicalCall.prepare(makeCall, format)());
  }

  raw<T>(
    makeSpec: (client: ClientSettings) => CallSpec,
    format: AnswerFormat<T>,
  ): GatewayPromise<T> {
    const makeCall = () => new LogicalCall(makeSpec(this.client), this);
    return new GatewayPromise(LogicalCall.prepare(makeCall, format)());
  }
}
