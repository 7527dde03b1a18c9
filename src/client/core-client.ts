import { check, checkNumber, checkObject } from '../options/check.ts';
import { withoutNulls } from '../options/resolve.ts';
import { traceRequest } from '../policies/observing/channel.ts';
import { fallback } from '../policies/fallback/fallback.ts';
import { outputModes } from '../policies/modes/output-modes.ts';
import { limitRequests } from '../policies/limits/limit-call.ts';
import { checkLimits } from '../policies/limits/limits.ts';
import { logRequest } from '../policies/observing/log.ts';
import { observeCalls } from '../policies/observing/observe.ts';
import type { GatewayReader } from '../gateways/find.ts';
import type { SettleSubmission } from '../tasks/submit.ts';
import type { GatewayPromise } from '../calls/promise.ts';
import type {
  HTTPMethod,
  RawRequestOptions,
  RouteRequest,
  StreamedRequestOptions,
} from '../http/request.ts';
import { changeSettings, type ClientSettings, resolveSettings } from '../calls/settings.ts';
import { type Features, startCall, type Subscriber, Transport } from '../calls/transport.ts';
import type { ApiKey, GatewayOptions, LogLevel } from '../options/options.ts';
import { callRoute } from '../resources/routes/routes.ts';
import type { Stream } from '../streams/stream.ts';

/** The options that are readable and writable on a client. */
const readable: Readonly<Record<string, (client: ClientSettings) => unknown>> = {
  apiKey: ({ credential }) => credential.reveal(),
  baseURL: ({ findBase }) => findBase()?.root ?? '',
  maxRetries: ({ call }) => call.maxRetries,
  timeout: ({ call }) => call.timeout,
  retryUnknownOutcome: ({ call }) => call.retryUnknownOutcome,
  logLevel: ({ log }) => log.level,
  organization: ({ account }) => account['openai-organization'] ?? null,
  project: ({ account }) => account['openai-project'] ?? null,
};

/** Functions of the resource `account` that a client uses for its other calls. */
export interface AccountPart {
  /** Records the cost of calls. */
  readonly recordCall: Subscriber;
  /** Rejects calls that could exceed the budget. */
  readonly keepWithinBudget: Subscriber;
  /** Looks up in the usage log whether a submission was charged. */
  readonly settle: SettleSubmission;
}

function createFeatures(options: GatewayOptions, account: AccountPart | undefined): Features {
  const { budget, limits } = options;
  checkLimits(limits);
  checkObject('budget', budget);
  const problem =
    'needs prices, which the resource account reads: add account: Account to the resources.';
  check(!budget || account !== undefined, 'budget', problem);
  // The budget checks its other fields before the first call is sent.
  checkNumber('budget.limit', budget ? budget.limit : 0, 0);
  const policies = [fallback, outputModes];
  const subscribers = [logRequest, observeCalls(options), traceRequest, limitRequests];
  if (account === undefined) return { subscribers, policies };
  const { recordCall, keepWithinBudget } = account;
  return { subscribers: [recordCall, ...subscribers, keepWithinBudget], policies };
}

/** The options of a client, and calls of any route by its path. `Gateway` and `createGateway()` add resources. */
export class GatewayCore {
  /**
   * The key, or the function that returns it; `null` if there is none. Copies of the client, its printed form
   * and its JSON don't contain it. This option and those below can be set: later calls use the new value,
   * while running calls and waits for videos keep the old one. `undefined` sets the default.
   *
   * @throws `InvalidInputError` if it is set to an invalid value
   */
  declare apiKey: ApiKey | null;
  /** The root of the gateway, without `/v1` or a trailing slash; `""` while it is missing. */
  declare baseURL: string;
  /** Maximum number of retries. */
  declare maxRetries: number;
  /** Time limit of one attempt in milliseconds. */
  declare timeout: number;
  /** Allows repeating calls that may have been charged; `undefined` depends on the operation. */
  declare retryUnknownOutcome: boolean | undefined;
  /** The log level. */
  declare logLevel: LogLevel;
  /** The header `openai-organization`, or `null` if it is not sent. */
  declare organization: string | null;
  /** The header `openai-project`, or `null` if it is not sent. */
  declare project: string | null;

  /**
   * The only state of clients and resources. It is a function in a property of the object: unlike private
   * fields, proxies and copies can use it, and printing or storing a client does not reveal its content.
   *
   * @internal
   */
  readonly transport: () => Transport;

  /** @internal */
  constructor(options: GatewayOptions, account?: AccountPart, readGateway?: GatewayReader) {
    const settings = resolveSettings(options, readGateway);
    const transport = new Transport(
      settings,
      createFeatures(withoutNulls(options, 'client'), account),
    );
    this.transport = () => transport;
    for (const [name, read] of Object.entries(readable)) {
      // Defined on the object, because proxies and copies can use neither private fields nor prototype getters.
      Object.defineProperty(this, name, {
        enumerable: name !== 'apiKey',
        get: () => read(transport.client),
        set: (value: unknown) => {
          transport.client = changeSettings(transport.client, { [name]: value });
        },
      });
    }
  }

  /**
   * Returns a client of the same class with changed options. The original is unchanged. Both share their
   * budget, spending and `limits`, and the download queue if the gateway limits downloads.
   *
   * @throws `InvalidInputError` if an option is invalid
   */
  withOptions(options: GatewayOptions): this {
    const original = this.transport();
    const changed = { ...original.client.original(), ...options };
    const copy: this = Reflect.construct(this.constructor, [changed]);
    const transport = copy.transport();
    if (copy.baseURL === this.baseURL) {
      const { shared, limits } = original.client;
      transport.client = {
        ...transport.client,
        shared,
        ...(options.limits === undefined && { limits }),
      };
    }
    return copy;
  }

  /**
   * Requests a route by its path, with the same key, errors and retries as every call. GET requests are free
   * and retried on failure.
   *
   * @param path - Below `baseURL`, for example `/v1/some/route`.
   * @returns Parsed JSON, or text if the response is not JSON; `null` for a 204; `undefined` for an empty
   *   body labelled JSON; a `Response` for a file; with `stream: true` a `Stream` of the parsed events.
   */
  get<T = Stream<unknown>>(path: string, options: StreamedRequestOptions): GatewayPromise<T>;
  get<T = unknown>(path: string, options?: RawRequestOptions): GatewayPromise<T>;
  get(path: string, options?: RawRequestOptions): GatewayPromise<unknown> {
    return this.request('GET', path, options);
  }

  /**
   * Posts to a route by its path. Documented paths have the costs and retry rules of their operation. Any
   * other path counts as charged: the request is repeated only if it provably was not sent or was rejected
   * before any work, unless `retryUnknownOutcome` is `true`; `false` applies this rule to every path.
   *
   * @param path - Below `baseURL`, for example `/v1/responses`.
   * @param options - `body` is sent as JSON, but forms, search parameters, bytes, a `Blob` and streams are
   *   sent unchanged. Streams are never sent twice.
   * @returns The same as `get()`.
   * @throws `StreamTruncatedError` in the loop over an incomplete stream
   *
   * @example
   * const body = { model: 'gpt-4o-mini', input: 'Hello!', stream: true };
   * for await (const event of await client.post('/v1/responses', { body, stream: true })) {
   *   console.log(event);
   * }
   */
  post<T = Stream<unknown>>(path: string, options: StreamedRequestOptions): GatewayPromise<T>;
  post<T = unknown>(path: string, options?: RawRequestOptions): GatewayPromise<T>;
  post(path: string, options?: RawRequestOptions): GatewayPromise<unknown> {
    return this.request('POST', path, options);
  }

  /** The same as `post()`, for `PUT`, which is retried on failure. */
  put<T = unknown>(path: string, options?: RawRequestOptions): GatewayPromise<T>;
  put(path: string, options?: RawRequestOptions): GatewayPromise<unknown> {
    return this.request('PUT', path, options);
  }

  /** The same as `post()`, for `PATCH`. */
  patch<T = unknown>(path: string, options?: RawRequestOptions): GatewayPromise<T>;
  patch(path: string, options?: RawRequestOptions): GatewayPromise<unknown> {
    return this.request('PATCH', path, options);
  }

  /** The same as `post()`, for `DELETE`, which is retried on failure. */
  delete<T = unknown>(path: string, options?: RawRequestOptions): GatewayPromise<T>;
  delete(path: string, options?: RawRequestOptions): GatewayPromise<unknown> {
    return this.request('DELETE', path, options);
  }

  /**
   * Calls any route: `request({ method, path, body })` or `request(method, path, options)`. `GET`, `PUT` and
   * `DELETE` are retried on failure; other methods follow the rules of `post()`.
   */
  request<T = unknown>(request: RouteRequest): GatewayPromise<T>;
  request<T = unknown>(
    method: HTTPMethod,
    path: string,
    options?: RawRequestOptions,
  ): GatewayPromise<T>;
  request(
    request: HTTPMethod | RouteRequest,
    path = '',
    options?: RawRequestOptions,
  ): GatewayPromise<unknown> {
    return startCall(options, () => {
      const route: RouteRequest =
        typeof request === 'object' ? request : { ...options, method: request, path };
      return callRoute(this.transport(), route);
    });
  }

  /** The output of `console.log` in Node, Bun and Deno. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return `Gateway { baseURL: '${this.baseURL}' }`;
  }

  /** The output of `JSON.stringify`. */
  toJSON(): { baseURL: string } {
    return { baseURL: this.baseURL };
  }
}
