import type { Fetch, FetchOptions } from '../options.ts';
import type { PreparedBody } from './body.ts';
import { loadKy } from './load-ky.ts';
import { untilAborted } from './until-aborted.ts';

/** One request, ready to go. */
export interface OutgoingRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: PreparedBody['body'];
  readonly redirect: RequestRedirect;
  readonly signal: AbortSignal;
  readonly fetch: Fetch;
  readonly fetchOptions: FetchOptions | undefined;
}

/** A request that failed, and whether it may have been sent. */
interface SendFailure {
  readonly error: unknown;
  readonly dispatched: boolean;
}

/** The answer, or what the platform threw. */
export type SendResult =
  | { readonly response: Response; readonly failure?: undefined }
  | { readonly response?: undefined; readonly failure: SendFailure };

const runtimeVersions: unknown = Reflect.get(globalThis, 'process')?.versions;
const hasVersions = typeof runtimeVersions === 'object' && runtimeVersions !== null;
const isDeno = hasVersions && 'deno' in runtimeVersions;
/** Whether this is Node itself, and no other runtime that calls itself so for its modules. */
export const isNode =
  hasVersions && 'node' in runtimeVersions && !('bun' in runtimeVersions) && !isDeno;

/** How redirects are handled and uploads are kept out of memory. */
function transferOptions(request: OutgoingRequest): RequestInit {
  if (typeof request.body === 'string' || request.body === undefined) {
    return { redirect: request.redirect };
  }
  // Node's fetch clones, and so buffers, every upload unless it can prove that the body is never
  // needed again: a 512 MiB file then grows the heap by 512 MiB.
  return isNode ? { redirect: 'error', window: null } : { redirect: request.redirect };
}

/**
 * The body as it is handed to `fetch`.
 *
 * When a connection that was used before breaks, Deno sends a body of text again by itself, although
 * the first request may have been received whole and charged. A `Blob` it sends only once.
 */
function sentOnce(body: PreparedBody['body']): BodyInit | null {
  if (body === undefined) return null;
  return isDeno && typeof body === 'string' ? new Blob([body]) : body;
}

/** Lets go of a body that nobody will read, so that its connection is free again. */
export function cancelBody(response: Response): void {
  response.body?.cancel().catch(() => {});
}

/** `fetch` must not be called as a method of anything but the global object: workers refuse that. */
export const globalFetch: Fetch = (input, init) => globalThis.fetch(input, init);

/** Whether the runtime's own fetch cannot even make the request. */
function cannotBeMade({ url, fetch, fetchOptions, method, redirect }: OutgoingRequest): boolean {
  try {
    void (fetch === globalFetch && new Request(url, { ...fetchOptions, method, redirect }));
    return false;
  } catch {
    return true;
  }
}

let ky: Awaited<ReturnType<typeof loadKy>> | undefined;

/**
 * Sends one request, once.
 *
 * ky's own timeout, retries and HTTP errors are off: they would retry what must not be retried, and
 * its errors hold the request with its key. What it throws is therefore dropped, and what the
 * platform threw is handed out instead.
 */
export async function send(request: OutgoingRequest): Promise<SendResult> {
  let dispatched = false;
  let platformError: unknown;
  const { method, body, signal } = request;
  try {
    ky ??= await loadKy();
    const sent = ky(request.url, {
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
        signal.throwIfAborted();
        dispatched = true;
        try {
          return await request.fetch(request.url, {
            ...request.fetchOptions,
            method,
            signal,
            ...transferOptions(request),
            headers: request.headers,
            body: sentOnce(body),
            ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
          });
        } catch (error) {
          platformError = error;
          dispatched = !cannotBeMade(request);
          throw error;
        }
      },
    });
    const response = await untilAborted(sent, signal).catch((error: unknown) => {
      sent.then(cancelBody, () => {});
      throw error;
    });
    return { response };
  } catch (error) {
    return { failure: { error: platformError ?? (dispatched ? undefined : error), dispatched } };
  }
}
