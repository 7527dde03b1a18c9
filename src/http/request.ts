import type { TaskRole } from '../answers/error-body.ts';
import { isObject } from '../answers/objects.ts';
import { check } from '../check.ts';
import {
  type BodyKind,
  type ChargeClass,
  type Endpoint,
  type Operation,
  type PathParameter,
  type ResponseKind,
  endpoints,
} from '../endpoints.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';
import type { Fetch, FetchOptions, HeaderValues, QueryValues, RequestOptions } from '../options.ts';
import type { CallScope } from './abort.ts';
import type { FailedAttempt } from './retry.ts';
import { writeJSON } from './json.ts';
import { fillPath } from './url.ts';

export interface PreparedBody {
  readonly body: string | Blob | ReadableStream<Uint8Array> | undefined;
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
  /** What is in it, for whoever is told of the call. */
  readonly fields?: readonly (readonly [name: string, value: unknown, ...more: unknown[]])[];
  /**
   * Turns the body into bytes, once per call.
   *
   * @param extra - Fields of the caller's that win.
   * @param signal - Stops the encoding, and later the upload.
   * @param onProgress - Told of the files of a form as they are read.
   */
  encode(
    extra: Readonly<Record<string, unknown>> | undefined,
    signal: AbortSignal,
    onProgress?: RequestOptions['onUploadProgress'],
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

/**
 * The body of a request that has none, or one of JSON.
 *
 * @param field - See `writeJSON`.
 */
export function jsonBody(
  method: string,
  json: unknown,
  extra: Readonly<Record<string, unknown>> | undefined,
  field: string,
): PreparedBody {
  if (json === undefined && extra === undefined) {
    return { body: undefined, headers: {}, replayable: true };
  }
  const value = extra === undefined ? json : withExtra(method, json, extra);
  return { body: writeJSON(field, value), headers: jsonHeaders, replayable: true };
}

interface BodyFields {
  none: { readonly json?: undefined; readonly form?: undefined };
  json: { readonly json: object; readonly form?: undefined };
  multipart: { readonly json?: undefined; readonly form: BodyEncoding };
}

type BodyOf<Name extends Operation> = BodyFields[(typeof endpoints)[Name]['bodies'][number] &
  BodyKind];

type ParametersOf<Name extends Operation> = [PathParameter<Name>] extends [never]
  ? { readonly params?: undefined }
  : { readonly params: Readonly<Record<PathParameter<Name>, string>> };

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

/** Rules of a download's own for when it is sent, and sent again. */
export interface SendingRules {
  begin(signal: AbortSignal): Promise<void>;
  /** It was answered with its content. */
  passed(): void;
  /**
   * The pause after a failure for which rules of its own hold; `Infinity` when it is not sent again, and
   * `undefined` when the rules of all calls hold.
   */
  pauseAfter(failed: FailedAttempt, maxRetries: number): number | undefined;
}

/** What only a resource knows of its calls. */
interface OwnRules {
  readonly download?: SendingRules | undefined;
  /** The error that says more of a failure than HTTP does, if there is one. */
  readonly explain?: ((error: Error) => Error | undefined) | undefined;
  /** Returns what is wrong with a parsed answer that is paid for and must not be requested again. */
  readonly refuse?: ((answer: unknown, status: number) => string | undefined) | undefined;
  /** Reads the file that a redirect leads to, if it is one that leads to what was made. */
  readonly readFile?:
    | ((
        redirect: Response,
        request: OutgoingRequest,
      ) => Promise<Response | FailedAttempt> | undefined)
    | undefined;
  /** Of the call that submitted the video task which this one is about: see `ObservedCall.trace`. */
  readonly trace?: string | undefined;
}

/** What a resource says of one call: the path parameters and the body that its endpoint has. */
export type OperationRequest<Name extends Operation> = ParametersOf<Name> & BodyOf<Name> & OwnRules;

/** A request, or what makes it. A function may throw: bad input then rejects the call. */
export type RequestSource<Name extends Operation> =
  | OperationRequest<Name>
  | (() => OperationRequest<Name>);

/** One logical call, ready to be sent any number of times. */
export interface CallSpec extends OwnRules {
  /** The operation, or `METHOD path` of an undocumented route. */
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly query: QueryValues | undefined;
  readonly charge: ChargeClass;
  readonly task: TaskRole;
  readonly accept: string;
  readonly json?: unknown;
  /** The name of the JSON body in errors; left out when its fields are the parameters of the call. */
  readonly jsonField?: string | undefined;
  readonly form?: BodyEncoding | undefined;
  /** What stands in the path. */
  readonly params?: Readonly<Record<string, string>> | undefined;
  readonly options: RequestOptions | undefined;
}

const accepted: Readonly<Record<ResponseKind, string>> = {
  json: 'application/json',
  text: '*/*',
  binary: '*/*',
  events: 'text/event-stream',
};

/** Every operation of videos is about a task; what is charged makes one. */
export function taskRoleOf(operation: string, charge: ChargeClass): TaskRole {
  if (!operation.startsWith('videos.')) return undefined;
  return charge === 'charged' ? 'creates' : 'reads';
}

export function specOf<Name extends Operation>(
  operation: Name,
  source: RequestSource<Name>,
  kind: ResponseKind,
  options: RequestOptions | undefined,
): CallSpec {
  for (const field of ['path', 'method', 'body']) {
    const isLeftOut = Reflect.get(Object(options), field) === undefined;
    const advice = 'use client.request({ method, path, body })';
    check(isLeftOut, field, `is fixed for ${operation}; ${advice}.`);
  }
  const endpoint: Endpoint = endpoints[operation];
  const request = typeof source === 'function' ? source() : source;
  const { method, path, query, charge } = endpoint;
  return {
    ...request,
    operation,
    method,
    path: fillPath(path, request.params),
    query,
    charge,
    task: taskRoleOf(operation, charge),
    accept: accepted[kind],
    options,
  };
}

type UpperCaseMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The methods that `request` takes. */
export type HTTPMethod = UpperCaseMethod | Lowercase<UpperCaseMethod>;

/** Options of a call to a route by its path. */
export interface RawRequestOptions extends RequestOptions {
  /**
   * The body: a value to be written as JSON, or one that is sent as it is. These are sent as they are:
   * a `FormData`, a `URLSearchParams`, a `Blob`, an `ArrayBuffer`, a typed array, a `Response`, and a
   * stream (a web `ReadableStream`, a Node `Readable`, any async iterable of bytes or text, a
   * generator), which is never sent twice. `null` sends no body.
   *
   * The `content-type` of `headers` holds for all of them but a form. Text and objects are JSON without
   * one, and objects of the type `application/x-www-form-urlencoded` are written as search parameters.
   * Left out, it is the type of a `Blob`, else `application/octet-stream`.
   */
  body?: unknown;
  /**
   * `true` when the answer is an event stream: the call gives a `Stream` of the parsed data of its
   * events, with the time limits and errors of all streams. It is not added to the body, which most
   * routes want it in as well. An answer that comes whole all the same is the only event.
   */
  stream?: boolean | undefined;
  /** `true` gives the `Response` as it came, whatever is in it. Files come as one anyway. */
  __binaryResponse?: boolean | undefined;
}

/** Options of a call whose answer is an event stream. */
export interface StreamedRequestOptions extends RawRequestOptions {
  stream: true;
}

/** A call of any route, whole. */
export interface RouteRequest extends RawRequestOptions {
  method: HTTPMethod;
  /** Below `baseURL`, for example `/v1/some/route`. */
  path: string;
}

/** Header values, whatever form they were given in. */
export function pairsOf(
  values: HeaderValues | null | undefined,
): Iterable<readonly [name: string, value: string | null | undefined]> {
  if (values instanceof Headers || Array.isArray(values)) return values;
  return Object.entries(values ?? {});
}

/** Adds a level of headers; `null` removes a header, `undefined` leaves it. */
export function applyHeaders(
  headers: Headers,
  values: HeaderValues | null | undefined,
  field: string,
): void {
  if (!values) return;
  for (const pair of pairsOf(values)) {
    const isPair = Array.isArray(pair) && pair.length === 2;
    check(isPair, field, 'must be an object, Headers, or a list of pairs.');
    const [name, value] = pair;
    if (value === undefined) continue;
    try {
      if (value === null) headers.delete(name);
      else headers.set(name, value);
    } catch {
      // The runtime's own message repeats the value, which may be a secret.
      throw new InvalidInputError(field, `"${name}" is not a valid header; check name and value.`);
    }
  }
}
