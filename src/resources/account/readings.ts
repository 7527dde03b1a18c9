import { isObject } from '../../answers/objects.ts';
import {
  APIError,
  APIUserAbortError,
  RateLimitError,
  UnexpectedResponseError,
  UnsupportedByGatewayError,
} from '../../errors/api-errors.ts';
import { newApiAccount } from '../../gateways/new-api.ts';
import { isRelayed } from '../../gateways/signs.ts';
import type { AccountRules } from '../../options/gateway-profile.ts';
import { untilAborted } from '../../http/abort.ts';
import type { WithResponse } from '../../calls/promise.ts';
import { valueFormat } from '../../calls/response.ts';
import type { RouteSpec } from '../../http/request.ts';
import { readRetryAfter } from '../../http/retry-after.ts';
import type { Transport } from '../../calls/transport.ts';
import type { RequestOptions } from '../../options/options.ts';
import type { JsonObject } from '../../types.ts';
import { UsageLogLimitError } from './errors.ts';
import type { AccountOptions } from './types.ts';

/** Reads the checked options of a read. Times are in milliseconds since 1970. */
export function readOptions(
  options: AccountOptions | null,
  freshest: number,
): { readonly notBefore: number; readonly signal: AbortSignal | null | undefined } {
  const { maxAge = freshest, signal } = options ?? {};
  return { notBefore: Date.now() - maxAge, signal };
}

/** The period in which gateways of this family count reads of usage log and balance, in milliseconds. */
const limitWindow = 20 * 60_000;

/** A result and the time of its request. */
export interface Reading<T> {
  readonly value: T;
  /** When the read began, in milliseconds since 1970. */
  readonly asOf: number;
}

/** A read that is in progress or has succeeded. */
interface SharedReading<T> {
  readonly asOf: number;
  readonly value: Promise<T>;
}

/** A read that concurrent calls share and that is cached while it is fresh. */
export class Shared<T> {
  readonly #read: () => Promise<T>;
  /** The last successful read. A later failure does not replace it. */
  #good: SharedReading<T> | undefined;
  #pending: SharedReading<T> | undefined;

  constructor(read: () => Promise<T>) {
    this.#read = read;
  }

  /**
   * Returns a read that began at `notBefore` or later, and starts one if there is none.
   *
   * @param notBefore - The earliest start of the read, in milliseconds since 1970.
   */
  async get(notBefore: number, signal?: AbortSignal | null): Promise<Reading<T>> {
    const known = [this.#good, this.#pending].find((one) => one && one.asOf >= notBefore);
    const reading = known ?? this.#begin();
    try {
      return { value: await untilAborted(reading.value, signal), asOf: reading.asOf };
    } catch (cause) {
      if (signal?.aborted !== true || cause !== signal.reason) throw cause;
      throw new APIUserAbortError('Reading the account was aborted.', {
        outcome: 'unknown',
        advice: 'It only reads, so it is safe to repeat.',
        cause,
      });
    }
  }

  #begin(): SharedReading<T> {
    const reading = { asOf: Date.now(), value: this.#read() };
    this.#pending = reading;
    this.#keep(reading).catch(() => undefined);
    return reading;
  }

  async #keep(reading: SharedReading<T>): Promise<void> {
    try {
      await reading.value;
      if (reading.asOf >= (this.#good?.asOf ?? 0)) this.#good = reading;
    } finally {
      if (this.#pending === reading) this.#pending = undefined;
    }
  }
}

/** How long a host counts as one without account routes, in milliseconds. It may have been starting. */
const foreignFor = 600_000;

/** Returns whether a gateway of the new-api family sent an error. */
const isOfFamily = ({ headers, message }: APIError): boolean =>
  isRelayed(headers) || /invalid url \(/i.test(message);

/** The latest time that a `Date` can hold. */
const latestTime = 8.64e15;

/** Returns the account routes of a gateway; those of new-api if the kind of gateway is unknown. */
const rulesFor = ({ gateway }: Transport): AccountRules =>
  gateway === undefined ? newApiAccount : (gateway.profile.account ?? {});

/** Returns the error for a read that the gateway's profile has no route for. */
export function unserved({ gateway }: Transport, noun: string): UnsupportedByGatewayError {
  const message = `This gateway (${gateway?.profile.name}) has no route for ${noun}.`;
  const advice = 'Nothing was sent. If the gateway is of another kind, set the option gateway.';
  return new UnsupportedByGatewayError(message, { outcome: 'not_sent', advice });
}

/** Reads the account routes of the gateway. */
export class AccountRoutes {
  readonly caller: Transport;
  /** The routes that the gateway has. */
  readonly rules: AccountRules;
  /** Times of this client's reads on routes with a limit. */
  #reads: readonly number[] = [];

  constructor(caller: Transport) {
    this.caller = caller;
    this.rules = rulesFor(caller);
  }

  /**
   * Reads the JSON object of a route.
   *
   * @param what - The content of the route, for the error message if the gateway doesn't have it.
   * @param isCounted - `true` if the gateway limits reads of the route.
   * @param signal - Aborts the read with all its attempts.
   */
  async get(
    path: string,
    what: string,
    isCounted: boolean,
    signal?: AbortSignal,
  ): Promise<WithResponse<unknown> & { readonly data: JsonObject }> {
    const begun = Date.now();
    const { foreign } = this.caller.client.shared;
    const isForeign = foreign?.root === this.caller.baseURL && begun - foreign.at < foreignFor;
    if (this.#isGuess && isForeign) throw unsupported(path, what, foreign.finding);
    try {
      // A rate limit lasts for minutes, so only failures other than 4xx are retried.
      const answer = await this.#request(path, { maxRetries: 0, signal }).catch(
        (error: unknown) => {
          const { status = 0 } = APIError.isInstance(error) ? error : {};
          if ((status >= 400 && status < 500) || this.#isMissing(error)) throw error;
          return this.#request(path, { signal });
        },
      );
      if (isCounted) this.#reads = [...this.#recent(), begun];
      const data: unknown = Array.isArray(answer.data) ? { list: answer.data } : answer.data;
      if (!isObject(data)) throw unsupported(path, what, 'the response is not a JSON object');
      return { ...answer, data };
    } catch (error) {
      if (this.#isMissing(error)) {
        const finding = error.status === 200 ? 'a page was returned' : `status ${error.status}`;
        if (this.#isGuess && !isOfFamily(error)) this.#rememberForeign(path, finding);
        throw unsupported(path, what, finding, error);
      }
      throw isCounted && RateLimitError.isInstance(error) ? this.#limited(error) : error;
    }
  }

  /**
   * Returns whether a rate-limited route returns the same response without a key; `undefined` if that is
   * unknown.
   */
  async ignoresKey(path: string): Promise<boolean | undefined> {
    if (this.caller.client.credential.reveal() === null) return false;
    const options = { maxRetries: 0, headers: { authorization: null } };
    try {
      this.#reads = [...this.#recent(), Date.now()];
      const { data: answer } = await this.#request(path, options);
      return isObject(answer) && 'data' in answer;
    } catch (error) {
      return APIError.isInstance(error) && /^40[13]$/.test(`${error.status}`) ? false : undefined;
    }
  }

  /** Returns whether an error means that the gateway doesn't serve the route, or not to this key. */
  #isMissing(error: unknown): error is APIError {
    if (!APIError.isInstance(error)) return false;
    const isPage = UnexpectedResponseError.isInstance(error) && /^\s*</.test(error.body ?? '');
    const isAbsent = isPage || [404, 405, 501].includes(error.status ?? 0);
    return isAbsent || this.rules.isUnsupported?.(error) === true;
  }

  /** `true` if the kind of gateway is unknown, so that the routes are those of new-api only by default. */
  get #isGuess(): boolean {
    return this.caller.client.isAuto() && this.rules === newApiAccount;
  }

  /** Other routes are not asked then, because each would get the key. */
  #rememberForeign(path: string, finding: string): void {
    const words = `not asked, because GET ${path} has shown that the host is no such gateway: ${finding}`;
    const facts = { root: this.caller.baseURL, finding: words, at: Date.now() };
    this.caller.client.shared.foreign = facts;
  }

  #request(path: string, options: RequestOptions) {
    const [plainPath = ''] = path.split('?', 1);
    const spec: RouteSpec = {
      operation: `GET ${plainPath}`,
      method: 'GET',
      path,
      query: undefined,
      charge: 'free',
      task: 'reads',
      accept: 'application/json',
    };
    return this.caller.raw(() => spec, valueFormat, options).withResponse();
  }

  #recent(): readonly number[] {
    return this.#reads.filter((at) => Date.now() - at < limitWindow);
  }

  #limited(error: RateLimitError): UsageLogLimitError {
    const now = Date.now();
    // The limit ends when the oldest read leaves the window. Only this client's own reads are known.
    const [oldest = now] = this.#recent();
    const pause = readRetryAfter(error.headers, error.status, error);
    const isTime = pause !== undefined && now + pause <= latestTime;
    const retryAt = isTime ? now + pause : oldest + limitWindow;
    const at = new Date(retryAt).toISOString();
    const message =
      'The usage log was read too often: most gateways allow 20 reads in 20 minutes per IP address.';
    const { status, headers, requestID, callId, evidence } = error;
    return new UsageLogLimitError(message, {
      outcome: 'rejected',
      advice: `Try again after ${at} (retryAt).`,
      retryAt,
      status,
      headers,
      requestID,
      callId,
      evidence,
      cause: error,
    });
  }
}

/** Creates the error for a route that is missing or whose response is not understood. */
export function unsupported(
  path: string,
  what: string,
  finding: string,
  cause?: APIError,
): UnsupportedByGatewayError {
  const message = `This gateway does not report ${what} (GET ${path}: ${finding}).`;
  const { status, headers, requestID, callId } = cause ?? {};
  const advice = 'This says nothing about charges; ask the operator of the gateway.';
  return new UnsupportedByGatewayError(message, {
    outcome: 'rejected',
    advice,
    status,
    headers,
    requestID,
    callId,
    evidence: cause?.evidence,
    cause,
  });
}
