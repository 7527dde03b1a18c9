import { toInputError } from '../options/check.ts';
import { checkIdempotencyKey } from '../options/idempotency.ts';
import { checkOptions, type ResolvedOptions, withDefaults } from '../options/resolve.ts';
import type { Method } from '../options/methods.ts';
import {
  endpoints,
  type Operation,
  type OperationReturning,
  type ResponseKind,
} from '../endpoints.ts';
import type { RequestOptions } from '../options/options.ts';
import { withFallback } from '../policies/fallback/fallback.ts';
import { type AnswerFormat, type Caller, type CallSubscriber, LogicalCall } from './call.ts';
import type { DefinedGateway } from '../options/gateway-profile.ts';
import {
  type CallMaker,
  prepareRequests,
  type RequestPolicy,
} from '../policies/fallback/next-request.ts';
import { GatewayPromise } from './promise.ts';
import { type CallSpec, type RequestSource, applyHeaders, createSpec } from '../http/request.ts';
import { requireBase, type ClientSettings } from './settings.ts';
import { buildQuery, buildURL } from '../http/url.ts';

/** The policy of calls by path, whose parameters cannot change. */
const forFixedParams = (call: LogicalCall) => withFallback(call, true);

/**
 * Starts a call, and rejects instead of throwing.
 *
 * @param input - The caller's input, whose getters may throw.
 */
export function startCall<T>(input: unknown, start: () => GatewayPromise<T>): GatewayPromise<T> {
  try {
    return start();
  } catch (cause) {
    return new GatewayPromise(Promise.reject(toInputError(cause, input)));
  }
}

/** Hooks of a client for each of its calls. */
export interface CallHooks {
  /** Listeners to the events of calls. The context of a later listener wraps those of earlier ones. */
  readonly subscribers: readonly CallSubscriber[];
  /** Awaited before a call is sent. A rejection fails the call. */
  readonly beforeSend?: (call: LogicalCall, transport: Transport) => Promise<void> | undefined;
}

/** Makes the calls of one client for its resources. */
export class Transport implements Caller {
  /** The settings for new calls. Running calls keep theirs. */
  client: ClientSettings;
  readonly hooks: CallHooks;

  constructor(client: ClientSettings, hooks: CallHooks = { subscribers: [] }) {
    this.client = client;
    this.hooks = hooks;
  }

  /** Returns a copy with the current settings, for work of several calls that must go to the same gateway. */
  snapshot(): Transport {
    return new Transport(this.client, this.hooks);
  }

  get subscribers(): readonly CallSubscriber[] {
    return this.hooks.subscribers;
  }

  beforeSend(call: LogicalCall): Promise<void> | undefined {
    return this.hooks.beforeSend?.(call, this);
  }

  /** The root URL of the gateway. */
  get baseURL(): string {
    return requireBase(this.client).root;
  }

  /** The kind of gateway; `undefined` if unknown. */
  get gateway(): DefinedGateway | undefined {
    return this.client.findBase()?.gateway;
  }

  /** Returns the URL of an operation's requests, with its parameters as placeholders. */
  operationURL(operation: Operation): string {
    const base = requireBase(this.client);
    const path = base.gateway?.profile.paths?.[operation] ?? endpoints[operation].path;
    return buildURL(base, path, '');
  }

  /**
   * Checks the options of a method that makes several calls, once for all of them.
   *
   * @throws `InvalidInputError` naming the invalid option
   */
  checkOptions<M extends Method, Options extends object>(
    method: M,
    options: Options | null | undefined,
  ): ResolvedOptions<M, Options>;
  checkOptions(method: Method, options: RequestOptions | null | undefined): object {
    const { call, log } = this.client;
    const { values, warnings } = checkOptions(options, method);
    log.warnOnce(warnings);
    const { headers, query, idempotency = call.idempotency }: RequestOptions = options ?? {};
    checkIdempotencyKey(options ?? {}, idempotency);
    applyHeaders(new Headers(), headers, 'headers');
    buildQuery(query);
    return withDefaults(method, values);
  }

  /**
   * Calls an operation.
   *
   * @param format - Reads the response, in one of the kinds that the operation has.
   * @param gateway - The kind of gateway; default: the client's.
   * @param policy - Decides whether a failed request is followed by one with other parameters.
   */
  call<Name extends OperationReturning<Kind>, Kind extends ResponseKind, T>(
    operation: Name,
    request: RequestSource<Name>,
    format: AnswerFormat<T, Kind>,
    options: RequestOptions | undefined,
    gateway = this.gateway,
    policy?: RequestPolicy,
  ): GatewayPromise<T> {
    const makeCall: CallMaker = (change, earlier) => {
      const own = earlier?.first.spec.options ?? options;
      const spec = createSpec(operation, request, format.kind, own, gateway, change);
      return new LogicalCall(spec, this, earlier);
    };
    const findPolicy = (call: LogicalCall) => withFallback(call, false, policy);
    return new GatewayPromise(prepareRequests(makeCall, format, findPolicy)());
  }

  raw<T>(
    makeSpec: (client: ClientSettings) => CallSpec,
    format: AnswerFormat<T>,
  ): GatewayPromise<T> {
    const makeCall = () => new LogicalCall(makeSpec(this.client), this);
    return new GatewayPromise(prepareRequests(makeCall, format, forFixedParams)());
  }
}
