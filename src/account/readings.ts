import { isObject } from '../answers/objects.ts';
import {
  APIError,
  APIUserAbortError,
  RateLimitError,
  UnexpectedResponseError,
} from '../errors/api-errors.ts';
import { untilAborted } from '../http/abort.ts';
import type { WithResponse } from '../http/promise.ts';
import { valueAnswer } from '../http/response.ts';
import type { CallSpec } from '../http/request.ts';
import { retryAfterFrom } from '../http/retry.ts';
import type { Transport } from '../http/transport.ts';
import type { JsonObject } from '../types.ts';
import { BooksLimitError, UnsupportedByGatewayError } from './errors.ts';

/** Gateways of this family count reads of books and usage for so long, in milliseconds. */
const limitWindow = 20 * 60_000;

/** What was read, and when. */
export interface Reading<T> {
  readonly value: T;
  /** When the reading began, in milliseconds since 1970. */
  readonly asOf: number;
}

/** A reading that many wait for at once, and that is used again while it is fresh. */
export class Shared<T> {
  readonly #read: () => Promise<T>;
  #last: { readonly asOf: number; readonly value: Promise<T> } | undefined;

  constructor(read: () => Promise<T>) {
    this.#read = read;
  }

  /**
   * Reads, or gives a reading that began late enough.
   *
   * @param notBefore - When it may have begun at the earliest, in milliseconds since 1970.
   */
  async get(notBefore: number, signal?: AbortSignal | null): Promise<Reading<T>> {
    let reading = this.#last;
    if (reading === undefined || reading.asOf < notBefore) {
      reading = { asOf: Date.now(), value: this.#read() };
      this.#last = reading;
      const failed = reading;
      reading.value.catch(() => {
        if (this.#last === failed) this.#last = undefined;
      });
    }
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
}

/** Reads the routes of the gateway that tell of an account. */
export class Routes {
  readonly #caller: Transport;
  /** When this client was answered on a route whose reads are counted. */
  #reads: readonly number[] = [];

  constructor(caller: Transport) {
    this.#caller = caller;
  }

  /**
   * Reads the JSON object of a route.
   *
   * @param what - What it tells, for the message when the gateway does not have it.
   * @param isCounted - Whether the gateway allows few reads of it.
   */
  async get(
    path: string,
    what: string,
    isCounted: boolean,
  ): Promise<WithResponse<unknown> & { readonly data: JsonObject }> {
    const [plainPath = ''] = path.split('?', 1);
    const ask = (maxRetries?: number) => {
      const spec: CallSpec = {
        operation: `GET ${plainPath}`,
        method: 'GET',
        path,
        query: undefined,
        charge: 'free',
        task: 'reads',
        accept: 'application/json',
        options: { maxRetries },
      };
      return this.#caller.raw(() => spec, valueAnswer).withResponse();
    };
    const begun = Date.now();
    try {
      // A limit that holds for minutes is not helped by asking again at once; what passes may be.
      const answer = await ask(0).catch((error: unknown) => {
        const { status = 0 } = APIError.isInstance(error) ? error : {};
        if ((status >= 400 && status < 500) || isMissing(error)) throw error;
        return ask();
      });
      if (isCounted) this.#reads = [...this.#recent(), begun];
      const { data } = answer;
      if (!isObject(data)) throw unsupported(path, what, 'the answer is no JSON object');
      return { ...answer, data };
    } catch (error) {
      if (isMissing(error)) {
        const said = error.status === 200 ? 'a page was answered' : `status ${error.status}`;
        throw unsupported(path, what, said, error);
      }
      throw isCounted && RateLimitError.isInstance(error) ? this.#limited(error) : error;
    }
  }

  #recent(): readonly number[] {
    return this.#reads.filter((at) => Date.now() - at < limitWindow);
  }

  #limited(error: RateLimitError): BooksLimitError {
    const now = Date.now();
    // The oldest read that counts goes first; whose it is, is only known of our own.
    const [oldest = now] = this.#recent();
    const asked = error.headers && retryAfterFrom(error.headers, error.status);
    const retryAt = asked === undefined ? oldest + limitWindow : now + asked;
    const at = new Date(retryAt).toISOString();
    const message =
      'The gateway does not let its books be read at this moment: most allow 20 reads in 20 minutes from one address.';
    const { status, headers, requestID, callId, evidence } = error;
    return new BooksLimitError(message, {
      outcome: 'rejected',
      advice: `Ask again at ${at} (retryAt), at the latest.`,
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

/** Whether an error says that a gateway does not have the route. */
function isMissing(error: unknown): error is APIError {
  if (!APIError.isInstance(error)) return false;
  const isPage = UnexpectedResponseError.isInstance(error) && /^\s*</.test(error.body ?? '');
  return isPage || [404, 405, 501].includes(error.status ?? 0);
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
