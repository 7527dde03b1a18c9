import { decodeDataURL } from '../../answers/bytes.ts';
import { errorMessage } from '../../answers/objects.ts';
import { OpenResponse } from '../../calls/open-response.ts';
import { GatewayPromise } from '../../calls/promise.ts';
import type { Transport } from '../../calls/transport.ts';
import { APIError, APIUserAbortError, UnexpectedRedirectError } from '../../errors/api-errors.ts';
import {
  ContentExpiredError,
  ContentNotReadyError,
  unavailable,
} from '../../errors/operation-errors.ts';
import { headerPairs } from '../../http/request.ts';
import { readExpiry } from '../../http/signed-url.ts';
import { displayURL } from '../../http/url.ts';
import type { RequestOptions } from '../../options/options.ts';
import { fetchFile } from '../../uploads/fetch-file.ts';
import type { ResolvedTask } from './ref.ts';
import { readTask } from './kind.ts';

/** Statuses of a content route that are about the key, the account or the requested range. */
const otherStatuses: readonly unknown[] = [401, 402, 416];

/** Returns whether another URL may have content that the content route did not return. */
function mayBeElsewhere(error: unknown): error is APIError {
  if (!APIError.isInstance(error) || otherStatuses.includes(error.status)) return false;
  return !APIUserAbortError.isInstance(error) && !ContentNotReadyError.isInstance(error);
}

/** Statuses of a content route that will not have the content later. */
const permanentStatuses: readonly unknown[] = [403, 404, 405, 410, 501];

/** Time limit for reading the task once more, in milliseconds. */
const longestRead = 12_500;

/** Returns a sentence with the time when a URL expires, if the URL tells. */
function describeExpiry(url: string): string {
  const expiry = readExpiry(url);
  if (expiry === undefined) return '';
  const verb = expiry <= Date.now() ? 'expired' : 'expires';
  return ` The URL ${verb} at ${new Date(expiry).toISOString()}.`;
}

/** The URL of a result in its task, for a download whose content route fails. */
export class ResultURL {
  readonly #transport: Transport;
  readonly #resolved: ResolvedTask;
  readonly #options: RequestOptions;
  /** The time limit of the download, on the clock of `performance.now()`. */
  readonly #deadline: number;
  /** The URL in the task that the caller passed, or in the last read of its handle. */
  readonly known: string | undefined;
  /** `true` if the task is known to be completed and to have no URL. */
  #isAbsent: boolean;

  /** @param url - The URL in a completed task, or `''` if it has none; `undefined` if that is unknown. */
  constructor(
    transport: Transport,
    resolved: ResolvedTask,
    url: string | undefined,
    options: RequestOptions,
  ) {
    this.#transport = transport.snapshot();
    this.#resolved = resolved;
    this.#options = options;
    const { totalTimeout = transport.client.call.totalTimeout } = options;
    this.#deadline = performance.now() + (totalTimeout ?? Infinity);
    this.#isAbsent = url === '';
    this.known = url && this.#isOther(url) ? url : undefined;
  }

  /** Returns the content, from the URL in the task if the content route fails. */
  orElse(content: GatewayPromise<Response>): GatewayPromise<Response> {
    const elsewhere = (error: unknown) => this.#open(error);
    const { opened } = content.state();
    return new GatewayPromise(opened.then((open) => open.orElse(elsewhere), elsewhere));
  }

  /** Opens the URL in the task after a failure of the content route. Throws that failure if it fails too. */
  async #open(error: unknown): Promise<OpenResponse<Response>> {
    if (!mayBeElsewhere(error) || this.#remaining <= 0) throw error;
    const redirected = UnexpectedRedirectError.isInstance(error)
      ? decodeDataURL(error.headers?.get('location') ?? '')
      : undefined;
    if (redirected !== undefined) return toOpen(toResponse(redirected));
    let failure: Error = error;
    const tried = new Set<string>();
    // The URL may have expired since the task was read, so it is read once more.
    // A gateway that does not respond, or limits requests, has no answer about the task either.
    const isUp = error.status !== undefined && error.status !== 429;
    const read = isUp ? () => this.#read(error.callId) : undefined;
    for (const find of [() => this.known, read]) {
      const url = await find?.();
      if (url === undefined || tried.has(url)) continue;
      tried.add(url);
      try {
        return toOpen(await this.#fetch(url, error.callId));
      } catch (cause) {
        if (APIUserAbortError.isInstance(cause)) throw cause;
        // A rate limit passes, and the content route will then have the file.
        if (error.status !== 429) failure = describe(error, url, cause);
      }
    }
    const isLost = tried.size === 0 && this.#isAbsent && permanentStatuses.includes(error.status);
    const { hide } = this.#transport.client.credential;
    throw isLost ? describeLost(error, hide(this.#resolved.ref.id)) : failure;
  }

  get #remaining(): number {
    return this.#deadline - performance.now();
  }

  /** Returns whether a URL is another one than that of the content route. */
  #isOther(url: string): boolean {
    const path = `/videos/${encodeURIComponent(this.#resolved.ref.id)}/content`;
    return !new URL(url).pathname.endsWith(path);
  }

  /** Reads the URL from the task. */
  async #read(callId: string | undefined): Promise<string | undefined> {
    if (this.#isAbsent) return undefined;
    const { signal, headers, query, fetchOptions } = this.#options;
    const kept = { signal, headers: withoutRange(headers), query, fetchOptions, callId };
    const options = { ...kept, totalTimeout: Math.min(longestRead, this.#limit ?? longestRead) };
    const task = await readTask(this.#transport, this.#resolved, options).catch(() => undefined);
    const { status, url } = task ?? {};
    if (url !== undefined && this.#isOther(url)) return url;
    this.#isAbsent = status === 'completed';
    return undefined;
  }

  get #limit(): number | null {
    return this.#deadline === Infinity ? null : Math.max(1, Math.ceil(this.#remaining));
  }

  async #fetch(url: string, callId: string | undefined): Promise<Response> {
    const inline = decodeDataURL(url);
    if (inline !== undefined) return toResponse(inline);
    const { signal, headers, fetchOptions, maxRetries, timeout, idleTimeout } = this.#options;
    const ranges = [...headerPairs(headers)].filter(([name]) => isRange(name));
    const kept = { signal, fetchOptions, maxRetries, timeout, idleTimeout, callId };
    const options = { ...kept, headers: Object.fromEntries(ranges), totalTimeout: this.#limit };
    return fetchFile(this.#transport, 'videos.downloadContent', url, options);
  }
}

const isRange = (name: string): boolean => /^(if-)?range$/i.test(name);

/** Removes the range of a file from the headers for its task. */
export function withoutRange(headers: RequestOptions['headers']): RequestOptions['headers'] {
  return Object.fromEntries([...headerPairs(headers)].filter(([name]) => !isRange(name)));
}

function toResponse({ bytes, type }: { bytes: Uint8Array<ArrayBuffer>; type: string | undefined }) {
  const headers = { 'content-type': type ?? 'video/mp4', 'content-length': `${bytes.length}` };
  return new Response(bytes, { headers });
}

const toOpen = (response: Response): OpenResponse<Response> =>
  OpenResponse.of(response, undefined, response);

/** Returns the error of the content route with the URL that failed too. */
function describe(error: APIError, url: string, cause: unknown): Error {
  const reason = APIError.isInstance(cause) ? cause.summary : errorMessage(cause);
  const problem = `The task names the URL ${displayURL(url)}, which could not be fetched: ${reason}${describeExpiry(url)}`;
  const advice = 'The video is paid for: error.url is its URL, to download it in another way.';
  return unavailable(error, problem, { url, advice, cause });
}

/** Returns the error of the content route of a completed task without a URL. */
function describeLost(error: APIError, id: string): Error {
  const problem = `Video task ${id} is completed and names no URL.`;
  const isGone = ContentExpiredError.isInstance(error);
  const next = isGone
    ? error.advice
    : 'Its file may be available later, or from the operator of the gateway.';
  return unavailable(error, problem, { advice: `It is paid for. ${next}` });
}
