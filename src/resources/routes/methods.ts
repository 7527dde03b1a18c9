import type { GatewayPromise } from '../../calls/promise.ts';
import { startCall, type Transport } from '../../calls/transport.ts';
import type {
  HTTPMethod,
  RawRequestOptions,
  RouteRequest,
  StreamedRequestOptions,
} from '../../http/request.ts';
import { checkObject } from '../../options/check.ts';
import type { Stream } from '../../streams/stream.ts';
import { callRoute } from './routes.ts';

/** Calls any route by its path. `Gateway` has these methods itself. */
export class Routes {
  /** @internal */
  readonly transport: () => Transport;

  /** @internal */
  constructor(transport: () => Transport) {
    this.transport = transport;
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
      checkObject('options', options);
      const route: RouteRequest =
        typeof request === 'object' ? request : { ...options, method: request, path };
      return callRoute(this.transport(), route);
    });
  }
}
