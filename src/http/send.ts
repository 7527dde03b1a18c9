import type { KyInstance } from 'ky';
import { nodeProcess } from '../node-process.ts';
import type { Fetch, FetchOptions } from '../options.ts';
import type { CallScope } from './abort.ts';
import type { PreparedBody } from './request.ts';
import { letGo } from './response-body.ts';

/** One request, ready to go. */
export interface OutgoingRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: PreparedBody['body'];
  readonly redirect: RequestRedirect;
  readonly scope: CallScope;
  readonly fetch: Fetch;
  readonly fetchOptions: FetchOptions | undefined;
  /** Set as soon as it may have been sent. */
  isSent: boolean;
}

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
 * Loads ky, with the first call.
 *
 * While it loads it tries what the runtime's `Request` can do, which makes Node load all of its `fetch`:
 * more than everything else that an import of this package does, and for nothing in a process that makes
 * no call. The build puts ky into the same file, still run with the first call only, and replaces the
 * `import()` below (tsup.config.ts): a page has no second file to load, and test runners that turn
 * modules into CommonJS do not all turn `import()`.
 */
async function loadKy(): Promise<KyInstance> {
  return (await import('ky')).default;
}

let ky: Awaited<ReturnType<typeof loadKy>> | undefined;

/**
 * Sends one request, once.
 *
 * ky's own timeout, retries and HTTP errors are off: they would retry what must not be retried, and
 * its errors hold the request with its key. What it throws is therefore dropped, and what the
 * platform threw is handed out instead.
 *
 * @throws what the platform threw; `request.isSent` says whether the request may have been sent
 */
export async function send(request: OutgoingRequest): Promise<Response> {
  const { url, scope } = request;
  let sent: Promise<Response> | undefined;
  let thrown: unknown;
  try {
    ky ??= await loadKy();
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
