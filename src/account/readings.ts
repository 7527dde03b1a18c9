import { isObject } from '../answers/objects.ts';
import {
  APIError,
  APIUserAbortError,
  RateLimitError,
  UnexpectedResponseError,
  UnsupportedByGatewayError,
} from '../errors/api-errors.ts';
import { newApiAccount } from '../gateways/new-api.ts';
import type { AccountRules } from '../gateways/profile.ts';
import { untilAborted } from '../http/abort.ts';
import type { WithResponse } from '../http/promise.ts';
import { valueAnswer } from '../http/response.ts';
import type { CallSpec } from '../http/request.ts';
import { readRetryAfter } from '../http/retry.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import { checkDuration, checkOptions, checkSignal } from '../check.ts';
import type { JsonObject } from '../types.ts';
import { UsageLogLimitError } from './errors.ts';
import type { AccountOptions } from './types.ts';

/** Checks the options of a reading. Times are in milliseconds since 1970. */
export function readOptions(
  options: AccountOptions | null,
  freshest: number,
): { readonly notBefore: number; readonly signal: AbortSignal | null | undefined } {
  checkOptions(options);
  const { maxAge, signal } = options ?? {};
  checkSignal(signal);
  const age = maxAge === undefined ? freshest : checkDuration('maxAge', maxAge, 0);
  return { notBefore: Date.now() - age, signal };
}

/** Gateways of this family count reads of books and usage for so long, in milliseconds. */
const limitWindow = 20 * 60_000;

/** A reading and its time. */
export interface Reading<T> {
  readonly value: T;
  /** When the reading began, in milliseconds since 1970. */
  readonly asOf: number;
}

/** A reading under way, or one that succeeded. */
interface SharedReading<T> {
  readonly asOf: number;
  readonly value: Promise<T>;
}

/** A reading that simultaneous calls share, and that is used again while it is fresh. */
export class Shared<T> {
  readonly #read: () => Promise<T>;
  /** The last one that succeeded: one that fails later does not replace it. */
  #good: SharedReading<T> | undefined;
  #pending: SharedReading<T> | undefined;

  constructor(read: () => Promise<T>) {
    this.#read = read;
  }

  /**
   * Returns a reading that began late enough, and reads if there is none.
   *
   * @param notBefore - When it may have begun at the earliest, in milliseconds since 1970.
   */
  async get(notBefore: number, signal?: AbortSignal | null): Promise<Reading<T>> {
    const known = [this.#good, this.#pending].find((one) => one && one.asOf >= notBefore);
    const reading = known ?? this.#begin();
    try {
      return { value: await untilAborted(reading.value, signal), asOf: reading.asOf };
    } catch (cause) {
      if (signal?.aborted !== true || cause !== signal.reason) throw cause;
      throw new APIUserAbortError('The reading of the account was aborted.', {
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

/** The latest time that a `Date` can hold. */
const latestTime = 8.64e15;

/** Returns what the account of a gateway can read. Where nothing is known about it, new-api's routes are tried. */
const rulesFor = ({ gateway }: Transport): AccountRules =>
  gateway === undefined ? newApiAccount : (gateway.profile.account ?? {});

/** Returns the error for what the profile of a gateway has no route for. */
export function unserved({ gateway }: Transport, noun: string): UnsupportedByGatewayError {
  const message = `This gateway (${gateway?.profile.name}) has no route for ${noun}.`;
  const advice = 'Nothing was sent. If the gateway is of another kind, set the option gateway.';
  return new UnsupportedByGatewayError(message, { outcome: 'not_sent', advice });
}

/** Reads the account routes of the gateway. */
export class Routes {
  readonly caller: Transport;
  /** The routes that the gateway has. */
  readonly rules: AccountRules;
  /** When this client was answered on a route whose reads are counted. */
  #reads: readonly number[] = [];

  constructor(caller: Transport) {
    this.caller = caller;
    this.rules = rulesFor(caller);
  }

  /**
   * Reads the JSON object of a route.
   *
   * @param what - What it tells, for the message when the gateway does not have it.
   * @param isCounted - Whether the gateway allows few reads of it.
   * @param signal - Ends the reading, with all its attempts.
   */
  async get(
    path: string,
    what: string,
    isCounted: boolean,
    signal?: AbortSignal,
  ): Promise<WithResponse<unknown> & { readonly data: JsonObject }> {
    const begun = Date.now();
    try {
      // A limit that holds for minutes is not helped by asking again at once; what passes may be.
      const answer = await this.#request(path, { maxRetries: 0, signal }).catch(
        (error: unknown) => {
          const { status = 0 } = APIError.isInstance(error) ? error : {};
          if ((status >= 400 && status < 500) || this.#isMissing(error)) throw error;
          return this.#request(path, { signal });
        },
      );
      if (isCounted) this.#reads = [...this.#recent(), begun];
      const data: unknown = Array.isArray(answer.data) ? { list: answer.data } : answer.data;
      if (!isObject(data)) throw unsupported(path, what, 'the answer is not a JSON object');
      return { ...answer, data };
    } catch (error) {
      if (this.#isMissing(error)) {
        const said = error.status === 200 ? 'a page was answered' : `status ${error.status}`;
        throw unsupported(path, what, said, error);
      }
      throw isCounted && RateLimitError.isInstance(error) ? this.#limited(error) : error;
    }
  }

  /**
   * Returns whether a rate-limited route gives the same response without a key; `undefined` if that is
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

  /** Returns whether an error means that the gateway does not have the route, or not for this key. */
  #isMissing(error: unknown): error is APIError {
    if (!APIError.isInstance(error)) return false;
    const isPage = UnexpectedResponseError.isInstance(error) && /^\s*</.test(error.body ?? '');
    const isAbsent = isPage || [404, 405, 501].includes(error.status ?? 0);
    return isAbsent || this.rules.isUnserved?.(error) === true;
  }

  #request(path: string, options: RequestOptions) {
    const [plainPath = ''] = path.split('?', 1);
    const spec: CallSpec = {
      operation: `GET ${plainPath}`,
      method: 'GET',
      path,
      query: undefined,
      charge: 'free',
      task: 'reads',
      accept: 'application/json',
      options,
    };
    return this.caller.raw(() => spec, valueAnswer).withResponse();
  }

  #recent(): readonly number[] {
    return this.#reads.filter((at) => Date.now() - at < limitWindow);
  }

  #limited(error: RateLimitError): UsageLogLimitError {
    const now = Date.now();
    // The oldest read that counts goes first; whose it is, is only known of our own.
    const [oldest = now] = this.#recent();
    const pause = error.headers && readRetryAfter(error.headers, error.status);
    const isTime = pause !== undefined && now + pause <= latestTime;
    const retryAt = isTime ? now + pause : oldest + limitWindow;
    const at = new Date(retryAt).toISOString();
    const message =
      'The gateway does not let its usage log be read at this moment: most allow 20 reads in 20 minutes from one address.';
    const { status, headers, requestID, callId, evidence } = error;
    return new UsageLogLimitError(message, {
      outcome: 'rejected',
      advice: `Try again at ${at} (retryAt), at the latest.`,
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

/** The gateway does not tell something, or not so that it is understood. */
export function unsupported(
  path: string,
  what: string,
  finding: string,
  cause?: APIError,
): UnsupportedByGatewayError {
  const message = `This gateway does not tell ${what} (GET ${path}: ${finding}).`;
  const { status, headers, requestID, callId } = cause ?? {};
  const advice = 'Nothing can be concluded from that; ask its operator.';
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
