import type { Operation } from '../../endpoints.ts';
import { credentialOf } from '../server/auth.ts';
import type { RequestBody } from '../server/request-body.ts';

/** A request as the emulator received it. It never holds the key. */
export interface ReceivedRequest {
  /** The id that the answer carries in `X-Oneapi-Request-Id`. */
  readonly id: string;
  readonly method: string;
  /** Scheme, host and port. */
  readonly origin: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** The documented operation; missing for files and for unknown paths. */
  readonly operation?: Operation | undefined;
  /** Header values by lower-case name, without those that carry a key. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether any key arrived, right or wrong, in a header or in the query. */
  readonly hasKey: boolean;
  readonly body: RequestBody;
  /** When it arrived, in milliseconds since 1970 on the emulator's clock. */
  readonly at: number;
  /** The status that was answered; missing while there is none, and after a reset. */
  readonly status?: number | undefined;
  /** Whether the client went away before the whole answer was sent. */
  readonly disconnected: boolean;
}

/** A preflight request of a browser. */
export interface ReceivedPreflight {
  readonly path: string;
  readonly origin: string | null;
  readonly method: string | null;
  /** The header names that the browser asked for, in lower case. */
  readonly headers: readonly string[];
}

const secretHeaders = new Set(['authorization', 'x-api-key', 'x-goog-api-key', 'mj-api-secret']);

/** A received request whose end is still open. */
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
    this.hasKey = credentialOf(request) !== undefined;
  }
}

/** How many requests are kept; the oldest go first. */
const limit = 10_000;

/** What was received since the start or the last reset. */
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
