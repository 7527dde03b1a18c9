import ky, { type Options } from 'ky';
import { nodeProcess } from './node/node-process.ts';
import type { Fetch } from '../options/options.ts';
import { toResponse } from './responses/foreign-response.ts';
import type { CallSpec, OutgoingRequest } from './request.ts';
import { discardBody, ReadFailure } from './responses/response-body.ts';
import type { FailedAttempt } from './retry.ts';
import { isSameOrigin } from './url.ts';

const versions = nodeProcess()?.versions ?? {};
const isDeno = 'deno' in versions;
/** `true` in Node, but not in runtimes that imitate it for its modules. */
export const isNode = 'node' in versions && !('bun' in versions) && !isDeno;

/** Calls `fetch` on the global object, because workers reject any other `this`. */
export const globalFetch: Fetch = (input, init) => globalThis.fetch(input, init);

/** Returns headers with a field for each, because whatwg-fetch reads only fields of a `Headers` of another class. */
function withFields(headers: Headers): Headers {
  const fields = [...headers].filter(([name]) => !(name in Headers.prototype));
  return Object.assign(new Headers(headers), Object.fromEntries(fields));
}

/** Creates the options for `fetch`. */
function createInit({
  fetch,
  fetchOptions,
  method,
  scope,
  headers: given,
  body,
  redirect,
}: OutgoingRequest): object {
  const { signal } = scope.controller;
  const headers = fetch === globalFetch ? given : withFields(given);
  const init = { ...fetchOptions, method, signal, headers, redirect, body: body ?? null };
  if (body === undefined) return init;
  // If a reused connection breaks, Deno resends a body of text by itself, although the first request may have
  // been received and charged. It sends a `Blob` only once.
  if (typeof body === 'string') return isDeno ? { ...init, body: new Blob([body]) } : init;
  return {
    ...init,
    // Node's fetch clones, and so buffers, an upload unless it never needs the body again: a 512 MiB file
    // would grow the heap by 512 MiB.
    ...(isNode ? { redirect: 'error', window: null } : {}),
    ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
  };
}

/** Returns whether the runtime's own `fetch` can't create the request. */
function isInvalidRequest({
  url,
  fetch,
  fetchOptions,
  method,
  redirect,
}: OutgoingRequest): boolean {
  try {
    void (fetch === globalFetch && new Request(url, { ...fetchOptions, method, redirect }));
    return false;
  } catch {
    return true;
  }
}

function warnOfWhole({ headers, log }: OutgoingRequest): void {
  if (headers.get('accept') !== 'text/event-stream') return;
  log.warnOnce([
    'fetch returned a response without a readable body, so the events of a stream arrive together at its end',
  ]);
}

/** What ky gets in place of a response. */
const checked = new Response(null);

/** Without method, headers and signal: ky would copy and compose them, and put the key into its errors. */
const kyOptions: Options = {
  timeout: false,
  retry: 0,
  throwHttpErrors: false,
  // A request whose hook responds is not cloned; clones cost memory that outlives the call.
  hooks: { beforeRequest: [() => checked] },
  // ky calls this if it does not accept the response of the hook, as where a server replaces the global `Response`.
  fetch: () => Promise.resolve(checked),
};

/**
 * Sends a request once.
 *
 * ky validates the URL by creating a `Request` from it, and sends nothing: another `fetch` (that of undici, a mock)
 * rejects a `Request` of the runtime's class, creating one would lock a stream, and ky's errors contain the request with
 * its key. Its timeout, retries and HTTP errors are off, because it would repeat charged requests. It gets nothing of
 * the request but the URL, and is gone while the response is awaited, so that it keeps nothing in memory.
 *
 * @throws the exception of the platform, or `ReadFailure` if `fetch` resolved with something that cannot be read;
 *   `request.isSent` is `true` if the request may have been sent
 */
export async function send(request: OutgoingRequest): Promise<Response> {
  const { scope } = request;
  await scope.until(ky(request.url, kyOptions));
  // The call may be stopped by now.
  scope.controller.signal.throwIfAborted();
  request.isSent = true;
  const sent = fetchResponse(request);
  try {
    return await scope.until(sent);
  } catch (error) {
    if (scope.stopped === undefined || !request.isSent) throw error;
    // A response that still arrives is not read.
    sent.then(({ body }) => discardBody(body)).catch(() => {});
    return Promise.reject();
  }
}

/** Calls `fetch`, and checks what it resolves with. */
async function fetchResponse(request: OutgoingRequest): Promise<Response> {
  try {
    const value = await request.fetch(request.url, createInit(request));
    const response = toResponse(value, () => warnOfWhole(request));
    if ('kind' in response) throw new ReadFailure(response);
    return response;
  } catch (error) {
    request.isSent = !isInvalidRequest(request);
    throw error;
  }
}

/** Browsers rarely meet more in practice. */
const maxRedirects = 5;

/** Returns whether a response is a redirect, which browsers hide. */
export function isRedirect({ type, status, headers }: Response): boolean {
  return type === 'opaqueredirect' || (status >= 300 && status < 400 && headers.has('location'));
}

/**
 * Returns the response that a redirect leads to. Only GET requests follow redirects, because a paid request
 * must not be sent twice.
 */
export function resolveRedirect(
  { readFile }: Pick<CallSpec, 'readFile'>,
  redirect: Response,
  request: OutgoingRequest,
): Response | FailedAttempt | Promise<Response | FailedAttempt> {
  if (request.method === 'GET') return followRedirects(redirect, request);
  const file = readFile?.(redirect, request);
  if (file !== undefined) return file;
  const kind = provesNothingDone(redirect, request.url) ? 'redirected' : 'redirected_after_work';
  return redirectFailure(redirect, kind);
}

function redirectFailure(
  { body, status, headers }: Response,
  kind: 'redirected' | 'redirected_after_work',
): FailedAttempt {
  discardBody(body);
  return { kind, phase: 'headers', status: status === 0 ? undefined : status, headers };
}

/** Returns the target of a redirect, or `undefined` if it is not a valid URL. */
export function parseLocation(response: Response, url: string): URL | undefined {
  const location = response.headers.get('location') ?? '';
  return URL.canParse(location, url) ? new URL(location, url) : undefined;
}

/** Returns the target of a redirect, or `undefined` if it is not a web URL or contains a password. */
function findTarget(response: Response, url: string): string | undefined {
  const { protocol = '', username, password, href } = parseLocation(response, url) ?? {};
  // `fetch` rejects a URL with a password, and repeats all of it in its error.
  return /^https?:$/.test(protocol) && username === '' && password === '' ? href : undefined;
}

/**
 * Returns whether a redirect of a POST proves that nothing was done.
 *
 * A 307 or 308 asks for the same request at another URL (RFC 9110, 15.4.8 and 15.4.9). A 303 leads to a result
 * of the request, and 301 and 302 are used for that too (15.4.2 to 15.4.4), unless only the origin differs, as
 * from http to https. Browsers don't reveal the status.
 */
function provesNothingDone(response: Response, url: string): boolean {
  const { status } = response;
  if (status === 307 || status === 308) return true;
  const target = status === 301 || status === 302 ? findTarget(response, url) : undefined;
  if (target === undefined || isSameOrigin(url, target)) return false;
  return new URL(target).pathname === new URL(url).pathname;
}

/**
 * Returns the headers that may be sent to another origin: the accepted types and encodings, and the range of
 * a file.
 */
function publicHeaders(headers: Headers): Headers {
  const allowed = new Headers({ accept: '*/*' });
  for (const name of ['range', 'if-range', 'accept-encoding']) {
    const value = headers.get(name);
    if (value !== null) allowed.set(name, value);
  }
  return allowed;
}

/**
 * Follows the redirects of a GET request. The key and other custom headers are only sent to the original
 * origin, because the content route redirects to signed URLs of other hosts.
 *
 * @throws the exception of the platform
 */
export async function followRedirects(
  redirect: Response,
  request: OutgoingRequest,
): Promise<Response | FailedAttempt> {
  let response = redirect;
  let { url, headers } = request;
  for (let hop = 0; isRedirect(response); hop += 1) {
    // Browsers hide the target, but can follow it and drop the key themselves.
    const isHidden = response.type === 'opaqueredirect';
    const target = isHidden ? url : findTarget(response, url);
    if (target === undefined || hop === maxRedirects) {
      return redirectFailure(response, 'redirected');
    }
    discardBody(response.body);
    if (!isSameOrigin(url, target)) headers = publicHeaders(headers);
    url = target;
    const mode = isHidden ? 'follow' : 'manual';
    response = await send({ ...request, url, headers, redirect: mode });
  }
  return response;
}
