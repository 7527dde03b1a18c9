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
import { copyOptions, copyParams } from '../options/snapshot.ts';
import type { DefinedGateway } from '../options/gateway-profile.ts';
import {
  type Change,
  type RouteSpec,
  applyHeaders,
  createSpec,
  unchanged,
  withoutChanged,
} from '../http/request.ts';
import { buildQuery, buildURL } from '../http/url.ts';
import { Call } from './call.ts';
import type { Listener } from './events.ts';
import { type OperationParts, Plan, type OutputRules } from './plan.ts';
import type { Policy, Send } from './policy.ts';
import { GatewayPromise } from './promise.ts';
import { type AnswerFormat, Request } from './request.ts';
import { requireBase, type ClientSettings } from './settings.ts';

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

/** Returns a listener for a request, or `undefined` to ignore it. */
export type Subscriber = (
  request: Request,
  isStream: boolean,
  transport: Transport,
) => Listener | undefined;

/** The features of a client. */
export interface Features {
  /** The context of a later subscriber wraps those of earlier ones. */
  readonly subscribers: readonly Subscriber[];
  /** Policies around a call, the outermost first. */
  readonly policies: readonly Policy[];
}

const none: Features = { subscribers: [], policies: [] };

/** Makes the calls of one client for its resources. */
export class Transport {
  /** The settings for new calls. Running calls keep theirs. */
  client: ClientSettings;
  readonly features: Features;

  constructor(client: ClientSettings, features: Features = none) {
    this.client = client;
    this.features = features;
  }

  /** Returns a copy with the current settings, for work of several calls that must go to the same gateway. */
  snapshot(): Transport {
    return new Transport(this.client, this.features);
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
   * @param parts - Writes the requests and reads the responses, in one of the kinds that the operation has.
   * @param gateway - The kind of gateway; default: the client's.
   */
  operate<Name extends OperationReturning<Kind>, Params, Kind extends ResponseKind, T>(
    operation: Name,
    params: Params,
    parts: OperationParts<Name, Params, T, Kind>,
    options: RequestOptions | undefined,
    gateway = this.gateway,
  ): GatewayPromise<T> {
    const { kind, output } = parts;
    return this.#call(options, output, (own, isChangeable) => {
      // The caller may change them before the next request.
      const original = isChangeable ? copyParams(params) : params;
      const write = (change: Change) => {
        const changed = change === unchanged ? original : { ...original, ...change.params };
        const request = parts.write(changed, change);
        const spec = createSpec(operation, request, kind, withoutChanged(own, change), gateway);
        return { spec, format: parts.format(changed, change) };
      };
      return new Plan(write, { output });
    });
  }

  /** Calls a route by its path. Its parameters cannot change. */
  raw<T>(
    makeSpec: (client: ClientSettings) => RouteSpec,
    format: AnswerFormat<T>,
    options: RequestOptions | undefined,
  ): GatewayPromise<T> {
    return this.#call(options, undefined, (own) => {
      const spec = { ...makeSpec(this.client), options: own };
      return new Plan(() => ({ spec, format }), { isFixed: true });
    });
  }

  #call<T>(
    options: RequestOptions | undefined,
    output: OutputRules | undefined,
    createPlan: (own: RequestOptions | undefined, isChangeable: boolean) => Plan<T>,
  ): GatewayPromise<T> {
    const { client } = this;
    try {
      const used = this.features.policies.filter(({ asks }) => asks(client, options, output));
      // Copied because the caller may change its options while the call awaits something.
      const own = copyOptions(options);
      const plan = createPlan(own, used.length > 0);
      // Invalid parameters are reported before invalid options.
      plan.write();
      const send = used.reduceRight<Send>((next, { wrap }) => wrap(next), this.#send);
      return new GatewayPromise(send(new Call(client, own, plan.spec.operation), plan));
    } catch (cause) {
      return new GatewayPromise(Promise.reject(toInputError(cause)));
    }
  }

  readonly #send: Send = (call, plan) => {
    const request = new Request(call, plan);
    const isStream = plan.format.kind === 'events';
    const listeners = this.features.subscribers.flatMap(
      (subscribe) => subscribe(request, isStream, this) ?? [],
    );
    return request.prepare(plan.format, listeners)();
  };
}
