import { untilAborted } from '../../http/abort.ts';
import type { Fetch } from '../../options/options.ts';
import { observeBody } from './byte-stream.ts';

/**
 * Pending requests.
 *
 * In Node a request forwards the abort of its signal only while the request itself is reachable: after it
 * is garbage collected, its signal no longer fires.
 */
const held = new Set<Request>();

/** Prevents garbage collection of a request. Returns a function that releases it. */
export function holdRequest(request: Request): () => void {
  held.add(request);
  return () => held.delete(request);
}

/** Target of the emulator's `fetch` function. */
export interface FetchTarget {
  /** The only reachable origins. */
  readonly origins: readonly string[];
  handle(request: Request): Promise<Response>;
}

const redirects = new Set([301, 302, 303, 307, 308]);
const maxRedirects = 20;

function networkError(message: string, fields: object = {}): TypeError {
  const cause = Object.assign(new Error(message), fields);
  return new TypeError('fetch failed', { cause });
}

/** Performs an exchange on its own connection, which is dropped if the client aborts. */
async function exchange(target: FetchTarget, request: Request): Promise<Response> {
  const { signal } = request;
  const { origin, hostname } = new URL(request.url);
  if (!target.origins.includes(origin)) {
    const known = target.origins.join(' and ');
    const message = `getaddrinfo ENOTFOUND ${hostname} (the emulator is at ${known})`;
    throw networkError(message, { code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname });
  }
  const connection = new AbortController();
  const drop = (): void => connection.abort(signal.reason);
  if (signal.aborted) throw signal.reason;
  signal.addEventListener('abort', drop, { once: true });
  const sent = new Request(request, { signal: connection.signal });
  const letGo = [holdRequest(request), holdRequest(sent)];
  const response = await untilAborted(target.handle(sent), connection.signal).finally(() =>
    letGo.forEach((release) => release()),
  );
  // From now on the body keeps the request alive.
  const end = (): void => request.signal.removeEventListener('abort', drop);
  if (response.body === null) {
    end();
    return response;
  }
  const body = observeBody(response.body, {
    signal: connection.signal,
    onEnd: end,
    onCancel: (reason) => connection.abort(reason),
  });
  return new Response(body, { status: response.status, headers: response.headers });
}

/** Creates the request for a redirect. */
function createRedirect(
  request: Request,
  location: string,
  status: number,
  body: BodyInit | null,
): Request {
  const url = new URL(location, request.url);
  const isRead = status === 303 || (status < 303 && request.method === 'POST');
  const headers = new Headers(request.headers);
  if (url.origin !== new URL(request.url).origin) headers.delete('authorization');
  if (isRead) for (const name of ['content-type', 'content-length']) headers.delete(name);
  return new Request(url, {
    method: isRead ? 'GET' : request.method,
    headers,
    body: isRead ? null : body,
    signal: request.signal,
  });
}

function named(response: Response, url: string, isRedirected: boolean): Response {
  return Object.defineProperties(response, {
    url: { value: url },
    redirected: { value: isRedirected },
  });
}

/** Creates a `fetch` function that only reaches the emulator. It follows redirects as usual. */
export function createFetch(target: FetchTarget, baseURL: string): Fetch {
  return async (input, init) => {
    const isRequest = input instanceof Request;
    const first = new Request(isRequest ? input : new URL(input, baseURL), init);
    const sent = init?.body;
    const body = sent instanceof ReadableStream || isRequest ? null : (sent ?? null);
    let request = first;
    for (let count = 0; count <= maxRedirects; count += 1) {
      const { url } = request;
      const response = await exchange(target, request);
      const location = response.headers.get('location');
      const isFinal = !redirects.has(response.status) || location === null;
      if (isFinal || first.redirect === 'manual') return named(response, url, count > 0);
      if (first.redirect === 'error') throw networkError('unexpected redirect');
      request = createRedirect(request, location, response.status, body);
    }
    throw networkError('redirect count exceeded');
  };
}
