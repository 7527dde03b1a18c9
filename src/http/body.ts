import { isObject } from '../answers/objects.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';

/** A body that is ready to be sent. */
export interface PreparedBody {
  readonly body: string | Blob | FormData | ReadableStream<Uint8Array> | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether it can be sent a second time; a stream cannot. */
  readonly replayable: boolean;
  /**
   * Frees what the body is read from. To be called when the call has ended, in whatever way: an answer
   * may come before the body was read, and a failed connection reads nothing.
   */
  release?(reason?: unknown): void;
  /** What the source of the body failed with: the gateway never saw a complete request then. */
  sourceError?(): unknown;
}

/** A body in another encoding than JSON. */
export interface BodyEncoding {
  /**
   * Turns the body into bytes, once per call.
   *
   * @param extra - Fields of the caller's that win.
   * @param takesForms - Whether the `fetch` that will send it knows the runtime's own `FormData`.
   * @param signal - Stops the encoding, and later the upload.
   */
  encode(
    extra: Readonly<Record<string, unknown>> | undefined,
    takesForms: boolean,
    signal: AbortSignal,
  ): Promise<PreparedBody>;
}

// The gateway skips a JSON body unless the type begins with exactly this text.
const jsonHeaders: Readonly<Record<string, string>> = { 'content-type': 'application/json' };

function withExtra(
  method: string,
  json: unknown,
  extra: Readonly<Record<string, unknown>>,
): object {
  if (method === 'GET') {
    throw new InvalidInputError('extraBody', 'cannot go with a GET; use query instead.');
  }
  if (json === undefined) return extra;
  if (isObject(json)) return { ...json, ...extra };
  throw new InvalidInputError('extraBody', 'can only be added to a body that is an object.');
}

/** The body of a request that has none, or one of JSON. */
export function jsonBody(
  method: string,
  json: unknown,
  extra: Readonly<Record<string, unknown>> | undefined,
): PreparedBody {
  if (json === undefined && extra === undefined) {
    return { body: undefined, headers: {}, replayable: true };
  }
  const value = extra === undefined ? json : withExtra(method, json, extra);
  return { body: writeJSON('body', value), headers: jsonHeaders, replayable: true };
}

/** @throws `InvalidInputError` naming the field when a value has no JSON text. */
export function writeJSON(field: string, value: unknown): string {
  let text: string | undefined;
  let cause: unknown;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    cause = error;
  }
  if (text !== undefined) return text;
  const problem = 'cannot be written as JSON; it may hold a cycle or a BigInt.';
  throw new InvalidInputError(field, problem, { cause });
}
