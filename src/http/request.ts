import { isObject } from '../answers/objects.ts';
import { check } from '../options/check.ts';
import {
  type BodyKind,
  type ChargeClass,
  type Endpoint,
  type Operation,
  type PathParameter,
  type ResponseKind,
  endpoints,
  type TaskRole,
} from '../endpoints.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';
import type { DescribedFailure } from '../errors/operation-errors.ts';
import type { DefinedGateway, WrittenRequest } from '../options/gateway-profile.ts';
import type {
  FetchOptions,
  FixedModelOptions,
  ForeignResponse,
  HeaderValues,
  OutputMode,
  QueryValues,
  RequestOptions,
} from '../options/options.ts';
import type { JsonObject } from '../types.ts';
import type { CallScope } from './abort.ts';
import { chargeFor } from './outputs.ts';
import type { FailedAttempt } from './retry.ts';
import { halfBegins, withoutHalves, writeJSON } from './json.ts';
import { withRegisteredTypes } from './media-types.ts';
import { fillPath } from './url.ts';

export interface PreparedBody {
  readonly body: string | Blob | ReadableStream<Uint8Array> | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** `true` if it can be sent again. Streams can't. */
  readonly replayable: boolean;
  /** Logged once. */
  readonly warning?: string | undefined;
  /**
   * Releases the source of the body. Called when the call ends for any reason, because a response may arrive
   * before the body is read, and a failed connection reads nothing.
   */
  release?(reason?: unknown): void;
  /**
   * The error of the source of the body, if it failed. The gateway then never received a complete request.
   */
  sourceError?(): unknown;
}

/** A body in an encoding other than JSON. */
export interface BodyEncoding {
  /** The fields of the body, for observers. */
  readonly fields?: readonly (readonly [name: string, value: unknown, ...more: unknown[]])[];
  /**
   * Encodes the body, once per call.
   *
   * @param extra - Fields of the caller that override fields of the body.
   * @param signal - Stops the encoding, and later the upload.
   * @param onProgress - Called as the files of a form are read.
   */
  encode(
    extra: Readonly<Record<string, unknown>> | undefined,
    signal: AbortSignal,
    onProgress?: RequestOptions['onUploadProgress'],
  ): Promise<PreparedBody>;
}

// Gateways ignore a JSON body unless its type begins with exactly this text.
const jsonHeaders: Readonly<Record<string, string>> = { 'content-type': 'application/json' };

function addExtraBody(
  method: string,
  json: unknown,
  extra: Readonly<Record<string, unknown>>,
): object {
  if (method === 'GET') {
    throw new InvalidInputError('extraBody', 'cannot be sent with GET; use query instead.');
  }
  if (json === undefined) return extra;
  if (isObject(json)) return { ...json, ...extra };
  throw new InvalidInputError('extraBody', 'can only be added to a body that is an object.');
}

/**
 * Prepares a JSON body, or none.
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
  const value = extra === undefined ? json : addExtraBody(method, json, extra);
  const written = writeJSON(field, value);
  const { text, warning } = written.includes(halfBegins)
    ? withoutHalves(written, field, value)
    : { text: written, warning: undefined };
  return { body: withRegisteredTypes(text), headers: jsonHeaders, replayable: true, warning };
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

/** A request that is ready to be sent. */
export interface OutgoingRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: PreparedBody['body'];
  readonly redirect: RequestRedirect;
  readonly scope: CallScope;
  readonly fetch: (url: string, init: object) => Promise<ForeignResponse>;
  readonly fetchOptions: FetchOptions | undefined;
  readonly log: { warnOnce(messages: readonly string[]): void };
  /** `true` once it may have been sent. */
  isSent: boolean;
}

/** Rules of a download for sending and retrying. */
export interface SendingRules {
  begin(signal: AbortSignal): Promise<void>;
  /** Called when the content is received. */
  succeeded(): void;
  /**
   * Returns the pause after a failure. `Infinity` means that it is not retried, `undefined` that the general
   * retry rules apply.
   */
  pauseAfter(failed: FailedAttempt, maxRetries: number): number | undefined;
}

/** Rules of a resource for its calls. */
interface ResourceRules {
  readonly download?: SendingRules | undefined;
  /** Builds a more specific error for a failed request, if there is one. */
  readonly explain?: ((failure: DescribedFailure) => Error | undefined) | undefined;
  /** Returns whether a response holds a result, which is paid for even if an error is beside it. */
  readonly holdsResult?: ((value: unknown) => boolean) | undefined;
  /** Reads the file that a redirect leads to, if that is the result of the request. */
  readonly readFile?:
    | ((
        redirect: Response,
        request: OutgoingRequest,
      ) => Promise<Response | FailedAttempt> | undefined)
    | undefined;
  /** `true` if the parameters are already in the gateway's format. */
  readonly isWritten?: boolean | undefined;
  /**
   * The URL of a file, which replaces `path`. The key, and the headers and query of the client, are not sent to
   * it.
   */
  readonly fileURL?: string | undefined;
  /** Trace of the call that submitted the video task; see `ObservedCall.trace`. */
  readonly trace?: string | undefined;
}

/** Request of an operation: path parameters and body as its endpoint defines them. */
export type OperationRequest<Name extends Operation> = ParametersOf<Name> &
  BodyOf<Name> &
  ResourceRules;

/** How a request of a call differs from the caller's. */
export interface Change {
  /** Parameters that replace those of the caller, also in `extraBody`. */
  readonly params: Readonly<JsonObject>;
  /** How the request asks for JSON; default: `json_schema`. */
  readonly output?: OutputMode | undefined;
}

/** The change of the first request. */
export const unchanged: Change = { params: {} };

/** A logical call, for any number of attempts. */
export interface CallSpec extends ResourceRules {
  /** Converts a response to OpenAI's format. */
  readonly adapt?: WrittenRequest['adapt'];
  /** The operation, or `METHOD path` of an undocumented route. */
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly query: QueryValues | undefined;
  readonly charge: ChargeClass;
  readonly task: TaskRole | undefined;
  readonly accept: string;
  readonly json?: unknown;
  /** The name of the JSON body in error messages; absent if its fields are the parameters of the call. */
  readonly jsonField?: string | undefined;
  readonly form?: BodyEncoding | undefined;
  /** Path parameters. */
  readonly params?: Readonly<Record<string, string>> | undefined;
  readonly options: RequestOptions | undefined;
}

/** The call of a route by its path, whose options are added later. */
export type RouteSpec = Omit<CallSpec, 'options'>;

const accepted: Readonly<Record<ResponseKind, string>> = {
  json: 'application/json',
  text: '*/*',
  binary: '*/*',
  events: 'text/event-stream',
};

export function createSpec<Name extends Operation>(
  operation: Name,
  request: OperationRequest<Name>,
  kind: ResponseKind,
  options: RequestOptions | undefined,
  gateway: DefinedGateway | undefined,
  isMedia: (model: string) => boolean,
): CallSpec {
  const endpoint: Endpoint = endpoints[operation];
  const { method, query } = endpoint;
  const { json, params } = request;
  const charge = chargeFor(operation, endpoint.charge, isMedia, json, options?.extraBody, params);
  const written = gateway?.write(operation, request);
  return {
    ...request,
    method,
    ...written,
    operation,
    path: fillPath((written ?? endpoint).path, request.params),
    query,
    charge,
    task: endpoint.task,
    accept: accepted[kind],
    options,
  };
}

/** Removes the fields of `extraBody` that a change replaces. */
export function withoutChanged<Options extends RequestOptions | undefined>(
  options: Options,
  { params }: Change,
): Options {
  if (!options?.extraBody || params === unchanged.params) return options;
  const fields = Object.entries(options.extraBody).filter(([name]) => !Object.hasOwn(params, name));
  return { ...options, extraBody: Object.fromEntries(fields) };
}

type UpperCaseMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The methods that `request` takes. */
export type HTTPMethod = UpperCaseMethod | Lowercase<UpperCaseMethod>;

/** Options of a call to a route by its path. */
export interface RawRequestOptions extends FixedModelOptions {
  /**
   * The body. Text and objects are sent as JSON. These are sent unchanged: a `FormData`, a `URLSearchParams`,
   * a `Blob`, an `ArrayBuffer`, a typed array, and a stream (a web `ReadableStream`, a Node `Readable`, any
   * async iterable of bytes or text), which is never sent twice. `null` sends no body.
   *
   * A `content-type` in `headers` applies to all of them except forms. With one, text is sent unchanged.
   * Without one, the type is that of a `Blob`, else `application/octet-stream`.
   */
  body?: unknown;
  /**
   * `true` if the response is an event stream. The call then returns a `Stream` of the parsed data of its
   * events, with the time limits and errors of all streams. `stream` is not added to the body, where most
   * routes require it too. A response that is not an event stream is returned as the only event.
   */
  stream?: boolean | undefined;
  /** `true` returns the `Response` unchanged, whatever its content. Files are always returned so. */
  __binaryResponse?: boolean | undefined;
}

/** Options of a call that returns an event stream. */
export interface StreamedRequestOptions extends RawRequestOptions {
  stream: true;
}

/** A call of any route, with method and path. */
export interface RouteRequest extends RawRequestOptions {
  method: HTTPMethod;
  /** Path below `baseURL`, for example `/v1/some/route`. */
  path: string;
}

/** Returns the entries of headers in any accepted form. */
export function headerPairs(
  values: HeaderValues | null | undefined,
): Iterable<readonly [name: string, value: string | null | undefined]> {
  if (values instanceof Headers || Array.isArray(values)) return values;
  return Object.entries(values ?? {});
}

/** Adds headers, which override existing ones. `null` removes a header, `undefined` keeps it. */
export function applyHeaders(
  headers: Headers,
  values: HeaderValues | null | undefined,
  field: string,
): void {
  if (!values) return;
  for (const pair of headerPairs(values)) {
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
