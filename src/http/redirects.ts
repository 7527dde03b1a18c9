import type { CallSpec } from './request.ts';
import { letGo } from './response-body.ts';
import type { FailedAttempt } from './retry.ts';
import { type OutgoingRequest, send } from './send.ts';
import { isSameOrigin } from './url.ts';

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
