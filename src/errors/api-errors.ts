import { GatewayError, type GatewayErrorInit } from './gateway-error.ts';
import {
  type ConnectionArguments,
  fromConnection,
  fromStatus,
  type StatusArguments,
} from './constructors.ts';
import type { ResponseIssue } from '../types.ts';

/** Fields of an `APIError`. */
export interface APIErrorInit extends GatewayErrorInit {
  /** HTTP status. `undefined` if no status line was received. */
  readonly status?: number | undefined;
  /** Response headers. `undefined` when there was no response. */
  readonly headers?: Headers | undefined;
  /** The parsed error object, the text of the body, or `undefined` if it was empty. */
  readonly error?: unknown;
  readonly body?: string | undefined;
  readonly code?: string | number | null | undefined;
  readonly param?: string | null | undefined;
  readonly type?: string | undefined;
  readonly requestID?: string | null | undefined;
}

type OwnArguments<Init = APIErrorInit> = readonly [message: string, init: Init];

function isOwn(values: OwnArguments | StatusArguments): values is OwnArguments {
  return typeof values[0] === 'string';
}

function toOwn<Init extends APIErrorInit>(
  first: string | ConnectionArguments | undefined,
  init: Init | undefined,
  defaultMessage: string,
): OwnArguments<Init | APIErrorInit> {
  return typeof first === 'string' && init ? [first, init] : fromConnection(first, defaultMessage);
}

/**
 * A call to the gateway failed: the response was an error, unusable, or never arrived.
 *
 * `status`, `code`, `param`, `type`, `headers` and `requestID` are those of the `openai` package.
 */
export class APIError extends GatewayError {
  static override readonly kind: string = 'APIError';

  /**
   * Creates the error for a response, as in `openai`: the status selects the class, and the field `error` of
   * the parsed body becomes `error.error`.
   */
  static generate(
    status: number | undefined,
    answer: object | undefined,
    message: string | undefined,
    headers: Headers | undefined,
  ): APIError {
    if (!status || !headers) return new APIConnectionError({ message, cause: answer });
    const error: unknown = answer && Reflect.get(answer, 'error');
    return new (errorClassForStatus(status))(status, error, message, headers);
  }

  /** HTTP status, for example `429`; `undefined` when there was no response. */
  declare readonly status: number | undefined;
  /** Response headers; `undefined` when there was no response. */
  declare readonly headers: Headers | undefined;
  /**
   * The gateway's error object, the text of the body (cut to 64 KiB), or `undefined`. For a 2xx response, an
   * object or text is cut to 2,000 characters; `body` has all of it.
   */
  declare readonly error: unknown;
  /**
   * The text of the body of a 2xx response, up to `maxResponseBytes`, because it may be paid for. It is not
   * enumerable, so logs don't show it. `undefined` for other responses.
   */
  declare readonly body: string | undefined;
  /**
   * The gateway's error code as it was sent: text, a number, `null` or `""`. `undefined` if there is no code.
   */
  declare readonly code: string | number | null | undefined;
  /** The request field that caused the error. */
  declare readonly param: string | null | undefined;
  /** The gateway's error type, for example `invalid_request_error`. */
  declare readonly type: string | undefined;
  /**
   * The gateway's request id, from a header or the end of the message. `null` if the response has none,
   * `undefined` if there was no response.
   */
  declare readonly requestID: string | null | undefined;

  constructor(message: string, init: APIErrorInit);
  /** The constructor of the `openai` package, for tests and wrappers that create errors. */
  constructor(...values: StatusArguments);
  constructor(...values: OwnArguments | StatusArguments) {
    const [message, init]: OwnArguments = isOwn(values) ? values : fromStatus(values);
    super(message, init);
    this.status = init.status;
    this.headers = init.headers;
    this.error = init.error;
    Object.defineProperty(this, 'body', { value: init.body });
    this.code = init.code;
    this.param = init.param;
    this.type = init.type;
    this.requestID = init.requestID ?? (init.headers ? null : undefined);
  }

  /** The same as `requestID`. */
  get request_id(): string | null | undefined {
    return this.requestID;
  }
}

/** HTTP 400: the request is malformed, or refers to something that does not exist. */
export class BadRequestError extends APIError {
  static override readonly kind: string = 'BadRequestError';
}

/**
 * HTTP 401: the key was not accepted.
 *
 * `advice` distinguishes two cases: the gateway rejected your key, or the model's provider rejected the
 * gateway's key.
 */
export class AuthenticationError extends APIError {
  static override readonly kind: string = 'AuthenticationError';
}

/** HTTP 402: payment is required. */
export class PaymentRequiredError extends APIError {
  static override readonly kind: string = 'PaymentRequiredError';
}

/** HTTP 403: the key may not do this, or has no credit left (`insufficient_user_quota`). */
export class PermissionDeniedError extends APIError {
  static override readonly kind: string = 'PermissionDeniedError';
}

/** HTTP 404: the route or resource does not exist. */
export class NotFoundError extends APIError {
  static override readonly kind: string = 'NotFoundError';
}

/** HTTP 409: the request conflicts with another one. */
export class ConflictError extends APIError {
  static override readonly kind: string = 'ConflictError';
}

/** HTTP 413: the body is too large for the gateway. */
export class RequestTooLargeError extends APIError {
  static override readonly kind: string = 'RequestTooLargeError';
}

/** HTTP 422: the request is well formed but cannot be processed. */
export class UnprocessableEntityError extends APIError {
  static override readonly kind: string = 'UnprocessableEntityError';
}

/** HTTP 429: too many requests, or a quota is used up. */
export class RateLimitError extends APIError {
  static override readonly kind: string = 'RateLimitError';
}

/** HTTP 500 and above. */
export class InternalServerError extends APIError {
  static override readonly kind: string = 'InternalServerError';
}

/**
 * No response arrived: the connection was refused, reset or cut.
 *
 * `outcome` is `not_sent` only if the runtime's error proves it; see `evidence`.
 */
export class APIConnectionError extends APIError {
  static override readonly kind: string = 'APIConnectionError';

  constructor(message: string, init: APIErrorInit);
  /** The constructor of the `openai` package. */
  constructor(init: ConnectionArguments);
  constructor(first: string | ConnectionArguments, init?: APIErrorInit) {
    super(...toOwn(first, init, 'Connection error.'));
  }
}

type TimeoutErrorInit = APIErrorInit & { readonly timeout?: number | undefined };

/**
 * An attempt took longer than `timeout` or the time limit of `fetch`, or the call longer than `totalTimeout`, before the
 * response or the headers of a stream. The gateway may still be working on the request.
 */
export class APIConnectionTimeoutError extends APIConnectionError {
  static override readonly kind: string = 'APIConnectionTimeoutError';

  /** The exceeded limit in milliseconds; `undefined` for the time limit of `fetch`. */
  declare readonly timeout: number | undefined;

  constructor(message: string, init: TimeoutErrorInit);
  /** The constructor of the `openai` package. */
  constructor(init?: ConnectionArguments);
  constructor(first?: string | ConnectionArguments, init?: TimeoutErrorInit) {
    super(...toOwn(first, init, 'Request timed out.'));
    this.timeout = init?.timeout;
  }
}

/** Fields of an error of a stream. */
export interface StreamErrorInit extends APIErrorInit {
  readonly partial?: unknown;
  readonly usage?: unknown;
}

/** The caller's `signal` was aborted. `cause` is the signal's reason. */
export class APIUserAbortError extends APIError {
  static override readonly kind: string = 'APIUserAbortError';

  /** The response so far, as on `StreamError`; `undefined` if the call was not a stream. */
  declare readonly partial: unknown;
  /** The last token usage that the stream reported, or `undefined`. */
  declare readonly usage: unknown;

  constructor(message: string, init: StreamErrorInit);
  /** The constructor of the `openai` package. */
  constructor(init?: ConnectionArguments);
  constructor(first?: string | ConnectionArguments, init?: StreamErrorInit) {
    super(...toOwn(first, init, 'Request was aborted.'));
    this.partial = init?.partial;
    this.usage = init?.usage;
  }
}

/**
 * The gateway does not have a route or an operation. `outcome` is `not_sent` if the profile of the gateway
 * excludes it, so that nothing was sent.
 */
export class UnsupportedByGatewayError extends APIError {
  static override readonly kind: string = 'UnsupportedByGatewayError';
}

/**
 * The gateway responded with a redirect. The client follows redirects only for `GET` requests, because a paid
 * request must not be sent twice, and reads the file that a redirect of speech leads to. The usual cause is a wrong
 * `baseURL`.
 *
 * `outcome` is `rejected` for a 307 or 308, and for a 301 or 302 that only changes the origin. Otherwise it is
 * `unknown`, because the redirect may lead to the result of the work.
 */
export class UnexpectedRedirectError extends APIError {
  static override readonly kind: string = 'UnexpectedRedirectError';
}

/** Fields of an `UnexpectedResponseError`. */
export interface UnexpectedResponseErrorInit extends APIErrorInit {
  readonly issues?: readonly ResponseIssue[] | undefined;
  readonly data?: unknown;
}

/**
 * The response had a 2xx status, but its body is unusable: HTML, empty, cut, or of another shape. A paid request
 * was probably accepted.
 */
export class UnexpectedResponseError extends APIError {
  static override readonly kind: string = 'UnexpectedResponseError';

  /** The differences that `validation: "strict"` found; empty otherwise. */
  declare readonly issues: readonly ResponseIssue[];
  /** The parsed body if it was JSON, because it may be paid for. Not enumerable. */
  declare readonly data: unknown;

  constructor(message: string, init: UnexpectedResponseErrorInit) {
    super(message, init);
    this.issues = init.issues ?? [];
    Object.defineProperty(this, 'data', { value: init.data });
  }
}

const classByStatus: Readonly<Record<number, typeof APIError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  402: PaymentRequiredError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  413: RequestTooLargeError,
  422: UnprocessableEntityError,
  429: RateLimitError,
};

/** Returns the error class for an HTTP status. */
export function errorClassForStatus(status: number): typeof APIError {
  return classByStatus[status] ?? (status >= 500 ? InternalServerError : APIError);
}
