import { check } from './check.ts';
import type { CallSubscriber } from './http/call.ts';
import { traceCall } from './observing/channel.ts';
import { logCall } from './observing/log.ts';
import { observeCall } from './observing/observe.ts';
import type { SettleSubmission } from './videos/submit.ts';
import type { GatewayPromise } from './http/promise.ts';
import type {
  HTTPMethod,
  RawRequestOptions,
  RouteRequest,
  StreamedRequestOptions,
} from './http/request.ts';
import { changeSettings, type ClientSettings, resolveSettings } from './http/settings.ts';
import { type CallHooks, startCall, Transport } from './http/transport.ts';
import type { ApiKey, GatewayOptions, LogLevel } from './options.ts';
import { callRoute } from './routes/routes.ts';
import type { Stream } from './streams/stream.ts';

/** The options that a client tells, and that can be set. */
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
  /** Records what calls cost. */
  readonly recordCall: CallSubscriber;
  /** Refuses calls that could exceed the budget. */
  readonly keepWithinBudget: NonNullable<CallHooks['beforeSend']>;
  /** Looks up in the usage log whether a submission was charged. */
  readonly settle: SettleSubmission;
}

const subscribers: readonly CallSubscriber[] = [logCall, observeCall, traceCall];

const createHooks = ({ recordCall, keepWithinBudget }: AccountPart): CallHooks => ({
  subscribers: [recordCall, ...subscribers],
  beforeSend: keepWithinBudget,
});

/** The options of a client, and calls of any route by its path. `Gateway` and `createGateway()` add resources. */
export class GatewayCore {
  /**
   * The key, or the function that gives it. A copy of the client, what is printed of it and its JSON do
   * not hold it. Like those below it can be set: calls made afterwards go by it, those under way and
   * waits for videos keep what they began with. `undefined` sets the default. `null` when there is none.
   *
   * @throws `InvalidInputError` when it is set to what cannot work
   */
  declare apiKey: ApiKey | null;
  /** The root of the gateway, without `/v1` or a slash at its end; `""` while it is missing. */
  declare baseURL: string;
  /** How often a failed attempt may be repeated. */
  declare maxRetries: number;
  /** How long one attempt may take, in milliseconds. */
  declare timeout: number;
  /** Whether calls that may have been charged are repeated; `undefined` decides by operation. */
  declare retryUnknownOutcome: boolean | undefined;
  /** What is logged. */
  declare logLevel: LogLevel;
  /** What the header `openai-organization` says, or `null` when it is not sent. */
  declare organization: string | null;
  /** What the header `openai-project` says, or `null` when it is not sent. */
  declare project: string | null;

  /**
   * A function of its own, here and on every resource, is all their state: proxies and copies have it
   * where they do not reach private fields, and nothing that shows or stores a client shows what it holds.
   *
   * @internal
   */
  readonly transport: () => Transport;

  /** @internal */
  constructor(options: GatewayOptions, account?: AccountPart) {
    const hooks = account ? createHooks(account) : { subscribers };
    const transport = new Transport(resolveSettings(options), hooks);
    const problem =
      'needs prices, which the resource account reads: add account: Account to the resources.';
    check(Boolean(account) || !transport.client.given().budget, 'budget', problem);
    this.transport = () => transport;
    for (const [name, read] of Object.entries(readable)) {
      // Own accessors, because proxies and copies reach neither private fields nor getters of prototypes.
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
   * A client of the same class with the same options, except for those given. The original stays as it
   * is. They share their budget and what they have spent, and when their gateway limits downloads, those
   * of both wait in one line.
   *
   * @throws `InvalidInputError` when an option cannot work
   */
  withOptions(options: GatewayOptions): this {
    const own = this.transport();
    const changed = { ...own.client.given(), ...options };
    const copy: this = Reflect.construct(this.constructor, [changed]);
    if (copy.baseURL === this.baseURL) copy.transport().shared = own.shared;
    return copy;
  }

  /**
   * Reads a route by its path, with the same key, errors and retries as every call. A read is free and
   * is repeated when it fails.
   *
   * @param path - Below `baseURL`, for example `/v1/some/route`.
   * @returns Parsed JSON, or text if the answer is not JSON; `null` for a 204; `undefined` for an empty
   *   body labelled JSON; a `Response` for a file; with `stream: true` a `Stream` of the parsed events.
   */
  get<T = Stream<unknown>>(path: string, options: StreamedRequestOptions): GatewayPromise<T>;
  get<T = unknown>(path: string, options?: RawRequestOptions): GatewayPromise<T>;
  get(path: string, options?: RawRequestOptions): GatewayPromise<unknown> {
    return this.request('GET', path, options);
  }

  /**
   * Sends to a route by its path. The paths of documented operations cost what these cost and are
   * repeated as they are. Any other counts as charged: it is repeated only when it provably never left
   * or was refused before work, unless `retryUnknownOutcome` is `true`; `false` makes every path so.
   *
   * @param path - Below `baseURL`, for example `/v1/responses`.
   * @param options - `body` is sent as JSON, or as it is when it is a form, search parameters, bytes, a
   *   `Blob` or a stream. Streams are never sent twice.
   * @returns What `get()` returns.
   * @throws `StreamTruncatedError` in the loop over a stream that is not whole
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

  /** The same as `post()`, for `PUT`. It may be repeated, and is when it fails. */
  put<T = unknown>(path: string, options?: RawRequestOptions): GatewayPromise<T>;
  put(path: string, options?: RawRequestOptions): GatewayPromise<unknown> {
    return this.request('PUT', path, options);
  }

  /** The same as `post()`, for `PATCH`. */
  patch<T = unknown>(path: string, options?: RawRequestOptions): GatewayPromise<T>;
  patch(path: string, options?: RawRequestOptions): GatewayPromise<unknown> {
    return this.request('PATCH', path, options);
  }

  /** The same as `post()`, for `DELETE`. It may be repeated, and is when it fails. */
  delete<T = unknown>(path: string, options?: RawRequestOptions): GatewayPromise<T>;
  delete(path: string, options?: RawRequestOptions): GatewayPromise<unknown> {
    return this.request('DELETE', path, options);
  }

  /**
   * Calls any route: `request({ method, path, body })` or `request(method, path, options)`. `GET`, `PUT`
   * and `DELETE` are repeated when they fail; other methods are as `post()` says.
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
      const whole: RouteRequest =
        typeof request === 'object' ? request : { ...options, method: request, path };
      return callRoute(this.transport(), whole);
    });
  }

  /** What `console.log` shows in Node, Bun and Deno. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return `Gateway { baseURL: '${this.baseURL}' }`;
  }

  /** What `JSON.stringify` shows. */
  toJSON(): { baseURL: string } {
    return { baseURL: this.baseURL };
  }
}
