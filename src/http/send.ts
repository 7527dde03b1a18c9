import ky from 'ky';
import { nodeProcess } from '../node-process.ts';
import type { Fetch } from '../options.ts';
import type { CallSpec, OutgoingRequest } from './request.ts';
import { letGo } from './response-body.ts';
import type { FailedAttempt } from './retry.ts';
import { isSameOrigin } from './url.ts';

const versions = nodeProcess()?.versions ?? {};
const isDeno = 'deno' in versions;
/** Whether this is Node itself, and no other runtime that calls itself so for its modules. */
export const isNode = 'node' in versions && !('bun' in versions) && !isDeno;

/** `fetch` must not be called as a method of anything but the global object: workers refuse that. */
export const globalFetch: Fetch = (input, init) => globalThis.fetch(input, init);

/** What `fetch` is called with. */
function initOf({ fetchOptions, method, scope, headers, body, redirect }: OutgoingRequest): object {
  const { signal } = scope.controller;
  const init = { ...fetchOptions, method, signal, headers, redirect, body: body ?? null };
  if (body === undefined) return init;
  // When a connection that was used before breaks, Deno sends a body of text again by itself, although
  // the first request may have been received whole and charged. A `Blob` it sends only once.
  if (typeof body === 'string') return isDeno ? { ...init, body: new Blob([body]) } : init;
  return {
    ...init,
    // Node's fetch clones, and so buffers, every upload unless it can prove that the body is never
    // needed again: a 512 MiB file then grows the heap by 512 MiB.
    ...(isNode ? { redirect: 'error', window: null } : {}),
    ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
  };
}

/** Whether the runtime's own fetch cannot even make the request. */
function cannotBeMade({ url, fetch, fetchOptions, method, redirect }: OutgoingRequest): boolean {
  try {
    void (fetch === globalFetch && new Request(url, { ...fetchOptions, method, redirect }));
    return false;
  } catch {
    return true;
  }
}

/** What marks the error for an answer that cannot be read at all. */
export const notAResponse = 'NOT_A_RESPONSE';

/** A `fetch` of the caller's may give anything; the request may have been sent all the same. */
function checked(response: Response): Response {
  const { status, headers, type } = response ?? {};
  const isResponse =
    typeof status === 'number' &&
    typeof headers?.[Symbol.iterator] === 'function' &&
    type !== 'error';
  if (isResponse) return response;
  throw Object.assign(new TypeError('fetch gave no Response'), { code: notAResponse });
}

/**
 * Sends one request, once.
 *
 * ky validates the URL and the options, by making a `Request` of them, and calls `fetch`. Its timeout,
 * retries and HTTP errors are off: it would repeat charged requests, and its errors hold the request with
 * its key. They are dropped, and the platform's own error is thrown instead.
 *
 * @throws what the platform threw; `request.isSent` says whether the request may have been sent
 */
export async function send(request: OutgoingRequest): Promise<Response> {
  const { url, scope } = request;
  let sent: Promise<Response> | undefined;
  let thrown: unknown;
  try {
    sent = ky(url, {
      // Method, headers and signal are left to the function below. What ky made of them would not be
      // sent, doubled the cost of a call (it copies headers and composes signals), and put the key where
      // its errors hold it.
      timeout: false,
      retry: 0,
      throwHttpErrors: false,
      // The body is added here, and the URL given as text, because another `fetch` (undici's, a test's)
      // does not accept a `Request` of the runtime's own class, and making one would lock a stream.
      fetch: async () => {
        // ky takes a moment to get here, and a stopped call may not be sent any more.
        scope.controller.signal.throwIfAborted();
        request.isSent = true;
        try {
          return checked(await request.fetch(url, initOf(request)));
        } catch (error) {
          thrown = error;
          request.isSent = !cannotBeMade(request);
          throw error;
        }
      },
    });
    return await scope.until(sent);
  } catch (error) {
    sent?.then(({ body }) => letGo(body)).catch(() => undefined);
    return Promise.reject(thrown ?? (request.isSent ? undefined : error));
  }
}

/** As many redirects of a read as browsers would follow in practice. */
const maxRedirects = 5;

/** Whether an answer sends the request on to another place, which browsers do not show. */
export function isRedirect({ type, status, headers }: Response): boolean {
  return type === 'opaqueredirect' || (status >= 300 && status < 400 && headers.has('location'));
}

/** The answer behind a redirect. Only reads follow one: nothing paid for is sent a second time. */
export function resolveRedirect(
  { readFile }: Pick<CallSpec, 'readFile'>,
  first: Response,
  request: OutgoingRequest,
): Response | FailedAttempt | Promise<Response | FailedAttempt> {
  if (request.method === 'GET') return followRedirects(first, request);
  const file = readFile?.(first, request);
  if (file !== undefined) return file;
  const kind = provesNothingDone(first, request.url) ? 'redirected' : 'redirected_after_work';
  return redirectFailure(first, kind);
}

function redirectFailure(
  { body, status, headers }: Response,
  kind: 'redirected' | 'redirected_after_work',
): FailedAttempt {
  letGo(body);
  return { kind, phase: 'headers', status: status === 0 ? undefined : status, headers };
}

/** Where a redirect leads, or `undefined` when that is not a URL. */
export function locationOf(response: Response, url: string): URL | undefined {
  const location = response.headers.get('location') ?? '';
  return URL.canParse(location, url) ? new URL(location, url) : undefined;
}

/** Where a redirect leads, or `undefined` when that is no place to go to, or one with a password. */
function targetOf(response: Response, url: string): string | undefined {
  const { protocol = '', username, password, href } = locationOf(response, url) ?? {};
  // `fetch` refuses a URL with a password, and names all of it in its error.
  return /^https?:$/.test(protocol) && username === '' && password === '' ? href : undefined;
}

/**
 * Whether a redirect of a POST proves that nothing was done.
 *
 * A 307 or 308 asks for the same request elsewhere (RFC 9110, 15.4.8 and 15.4.9). A 303 leads to a
 * result of the request, and 301 and 302 are in use for that too (15.4.2 to 15.4.4), unless they only
 * name the same resource at another origin, as from http to https. Browsers hide which it is.
 */
function provesNothingDone(response: Response, url: string): boolean {
  const { status } = response;
  if (status === 307 || status === 308) return true;
  const target = status === 301 || status === 302 ? targetOf(response, url) : undefined;
  if (target === undefined || isSameOrigin(url, target)) return false;
  return new URL(target).pathname === new URL(url).pathname;
}

/** What may be sent to another origin: what is accepted, and which part of a file is wanted, and how. */
function publicHeaders(headers: Headers): Headers {
  const kept = new Headers({ accept: '*/*' });
  for (const name of ['range', 'if-range', 'accept-encoding']) {
    const value = headers.get(name);
    if (value !== null) kept.set(name, value);
  }
  return kept;
}

/**
 * Follows the redirects of a read. The key and every other header that was set stay at the origin
 * that they were meant for: the content route redirects to signed URLs of other hosts.
 *
 * @throws what the platform threw
 */
export async function followRedirects(
  first: Response,
  request: OutgoingRequest,
): Promise<Response | FailedAttempt> {
  let response = first;
  let { url, headers } = request;
  for (let hop = 0; isRedirect(response); hop += 1) {
    // Browsers do not show where it leads; they follow it and drop the key themselves.
    const isHidden = response.type === 'opaqueredirect';
    const target = isHidden ? url : targetOf(response, url);
    if (target === undefined || hop === maxRedirects) {
      return redirectFailure(response, 'redirected');
    }
    letGo(response.body);
    if (!isSameOrigin(url, target)) headers = publicHeaders(headers);
    url = target;
    const redirect = isHidden ? 'follow' : 'manual';
    response = await send({ ...request, url, headers, redirect });
  }
  return response;
}
