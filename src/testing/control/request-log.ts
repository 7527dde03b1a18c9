import type { Operation } from '../../endpoints.ts';
import { readCredential } from '../server/auth.ts';
import type { RequestBody } from '../server/request-body.ts';

/** A request as the emulator received it. Never contains the key. */
export interface ReceivedRequest {
  /** Id of the request. The response contains it in `X-Oneapi-Request-Id`. */
  readonly id: string;
  readonly method: string;
  /** Scheme, host and port. */
  readonly origin: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** The documented operation; missing for files and unknown paths. */
  readonly operation?: Operation | undefined;
  /** Header values by lower-case name, without headers that contain a key. */
  readonly headers: Readonly<Record<string, string>>;
  /** `true` if the request has a key, valid or not, in a header or in the query. */
  readonly hasKey: boolean;
  readonly body: RequestBody;
  /** Arrival time, in milliseconds since 1970 on the emulator's clock. */
  readonly at: number;
  /** Status of the response; missing until there is one, and after a reset. */
  readonly status?: number | undefined;
  /** `true` if the client disconnected before the whole response was sent. */
  readonly disconnected: boolean;
}

/** A CORS preflight request. */
export interface ReceivedPreflight {
  readonly path: string;
  readonly origin: string | null;
  readonly method: string | null;
  /** The requested header names, in lower case. */
  readonly headers: readonly string[];
}

const secretHeaders = new Set(['authorization', 'x-api-key', 'x-goog-api-key', 'mj-api-secret']);

/** A received request whose response is still pending. */
export class LoggedRequest implements ReceivedRequest {
  readonly id: string;
  readonly method: string;
  readonly origin: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly hasKey: boolean;
  readonly at: number;
  operation: Operation | undefined;
  body: RequestBody = { kind: 'none' };
  status: number | undefined;
  disconnected = false;

  constructor(request: Request, id: string, at: number) {
    const url = new URL(request.url);
    this.id = id;
    this.at = at;
    this.method = request.method;
    this.origin = url.origin;
    this.path = url.pathname;
    this.query = Object.fromEntries([...url.searchParams].filter(([name]) => name !== 'key'));
    this.headers = Object.fromEntries(
      [...request.headers].filter(([name]) => !secretHeaders.has(name)),
    );
    this.hasKey = readCredential(request) !== undefined;
  }
}

/** Maximum number of requests to keep; the oldest are dropped. */
const limit = 10_000;

/** Requests received since the start or the last reset. */
export class RequestLog {
  #requests: LoggedRequest[] = [];
  #preflights: ReceivedPreflight[] = [];

  get requests(): readonly ReceivedRequest[] {
    return this.#requests;
  }

  get preflights(): readonly ReceivedPreflight[] {
    return this.#preflights;
  }

  add(request: LoggedRequest): void {
    this.#requests.push(request);
    if (this.#requests.length > limit) this.#requests.shift();
  }

  addPreflight(request: Request): void {
    const names = request.headers.get('access-control-request-headers') ?? '';
    this.#preflights.push({
      path: new URL(request.url).pathname,
      origin: request.headers.get('origin'),
      method: request.headers.get('access-control-request-method'),
      headers: names
        .split(',')
        .map((name) => name.trim().toLowerCase())
        .filter((name) => name !== ''),
    });
    if (this.#preflights.length > limit) this.#preflights.shift();
  }

  clear(): void {
    this.#requests = [];
    this.#preflights = [];
  }
}
