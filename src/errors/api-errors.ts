import { GatewayError, type GatewayErrorInit } from './gateway-error.ts';
import type { ResponseIssue } from '../types.ts';

/** What an `APIError` is made from. */
export interface APIErrorInit extends GatewayErrorInit {
  /** HTTP status. `undefined` when no status line was read. */
  readonly status?: number | undefined;
  /** Response headers. `undefined` when there was no response. */
  readonly headers?: Headers | undefined;
  /** The parsed error object, the text of the body, or `undefined` when it was empty. */
  readonly error?: unknown;
  readonly body?: string | undefined;
  readonly code?: string | number | null | undefined;
  readonly param?: string | null | undefined;
  readonly type?: string | undefined;
  readonly requestID?: string | null | undefined;
}

/** What errors of the `openai` package are made from: an answer with an error in it. */
type StatusArguments = [
  status: number | undefined,
  error: unknown,
  message: string | undefined,
  headers: Headers | undefined,
];

/** What its errors without an answer are made from. */
interface ConnectionArguments {
  readonly message?: string | undefined;
  readonly cause?: unknown;
}

/** What the error of an answer says, if it says anything. */
interface Said {
  readonly message: unknown;
  readonly code: string | number | null;
  readonly param: string | null;
  readonly type: string;
}

type OwnArguments<Init = APIErrorInit> = [message: string, init: Init];

function isOwn(values: OwnArguments | StatusArguments): values is OwnArguments {
  return typeof values[0] === 'string';
}

/** What it would be made from here. Of what became of the request nothing is known, and nothing advised. */
function fromStatus([status, error, message, headers]: StatusArguments): OwnArguments {
  const { message: said, code, param, type }: Partial<Said> = Object(error);
  const nothing = status ? 'status code (no body)' : '(no status code or body)';
  const text = said || error || message || nothing;
  return [
    `${status ?? ''} ${typeof text === 'string' ? text : JSON.stringify(text)}`.trim(),
    {
      outcome: 'unknown',
      advice: '',
      status,
      headers,
      error,
      code,
      param,
      type,
      requestID: headers?.get('x-request-id') ?? undefined,
    },
  ];
}

function fromConnection<Init extends APIErrorInit>(
  first: string | ConnectionArguments | undefined,
  own: Init | undefined,
  defaultMessage: string,
): OwnArguments<Init | APIErrorInit> {
  if (typeof first === 'string' && own) return [first, own];
  const { message = defaultMessage, cause }: ConnectionArguments = Object(first);
  return [message, { outcome: 'unknown', advice: '', cause }];
}

/**
 * A call to the gateway failed: it answered with an error, or gave no usable answer.
 *
 * Status, code, param, type, headers and request id keep the names of the `openai` package.
 */
export class APIError extends GatewayError {
  static override readonly kind: string = 'APIError';

  /**
   * Creates the error for a response, as `openai` does: of the class for its status, with the field
   * `error` of the parsed body.
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
   * The gateway's error object, or the text of the body, or `undefined`. The text is cut to 64 KiB.
   * When the status was a success, a longer object or text than 2,000 characters is cut to these;
   * `body` has all of it.
   */
  declare readonly error: unknown;
  /**
   * The text of a body that came with a success status, up to `maxResponseBytes`, or `undefined` when
   * there was none. It is not enumerable, so logs do not show it: whatever was paid for is here.
   */
  declare readonly body: string | undefined;
  /** The gateway's error code as it was sent: text, a number, `null` or `""`. `undefined` without one. */
  declare readonly code: string | number | null | undefined;
  /** The request field that the gateway complains of. */
  declare readonly param: string | null | undefined;
  /** The gateway's error type, for example `invalid_request_error`. */
  declare readonly type: string | undefined;
  /**
   * The gateway's request id, from a header or from the end of the message. `null` if the response has
   * none, `undefined` if there was no response.
   */
  declare readonly requestID: string | null | undefined;

  constructor(message: string, init: APIErrorInit);
  /** As errors of the `openai` package are made, for tests and wrappers that make them. */
  constructor(...values: StatusArguments);
  constructor(...values: OwnArguments | StatusArguments) {
    const [message, init] = isOwn(values) ? values : fromStatus(values);
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

  /** The same as `requestID`, in the spelling of the response headers. */
  get request_id(): string | null | undefined {
    return this.requestID;
  }
}

/** HTTP 400: the request is malformed or names something that does not exist. */
export class BadRequestError extends APIError {
  static override readonly kind: string = 'BadRequestError';
}

/**
 * HTTP 401: the key was not accepted.
 *
 * `advice` distinguishes the two cases: the gateway refused your key, or the model's provider refused
 * the key of the gateway.
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

/** HTTP 404: no such route or resource. */
export class NotFoundError extends APIError {
  static override readonly kind: string = 'NotFoundError';
}

/** HTTP 409: the request conflicts with another one. */
export class ConflictError extends APIError {
  static override readonly kind: string = 'ConflictError';
}

/** HTTP 413: the body is larger than the gateway takes. */
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
 * No answer came: the connection was refused, reset or cut.
 *
 * `outcome` is `not_sent` only where the runtime proves it; see `evidence`.
 */
export class APIConnectionError extends APIError {
  static override readonly kind: string = 'APIConnectionError';

  constructor(message: string, init: APIErrorInit);
  /** As the `openai` package makes it. */
  constructor(init: ConnectionArguments);
  constructor(first: string | ConnectionArguments, init?: APIErrorInit) {
    super(...fromConnection(first, init, 'Connection error.'));
  }
}

type TimeoutErrorInit = APIErrorInit & { readonly timeout?: number | undefined };

/**
 * An attempt took longer than `timeout`, or than `fetch` itself waits. The gateway may still be working
 * on it.
 */
export class APIConnectionTimeoutError extends APIConnectionError {
  static override readonly kind: string = 'APIConnectionTimeoutError';

  /** The limit that was passed, in milliseconds; `undefined` when it was one of `fetch` itself. */
  declare readonly timeout: number | undefined;

  constructor(message: string, init: TimeoutErrorInit);
  /** As the `openai` package makes it. */
  constructor(init?: ConnectionArguments);
  constructor(first?: string | ConnectionArguments, init?: TimeoutErrorInit) {
    super(...fromConnection(first, init, 'Request timed out.'));
    this.timeout = init?.timeout;
  }
}

/** What an error of a stream is made from. */
export interface StreamErrorInit extends APIErrorInit {
  readonly partial?: unknown;
  readonly usage?: unknown;
}

/** The caller's `signal` was aborted. `cause` is the signal's reason. */
export class APIUserAbortError extends APIError {
  static override readonly kind: string = 'APIUserAbortError';

  /** What a stream had received, as on `StreamError`; `undefined` when it was no stream. */
  declare readonly partial: unknown;
  /** The last token usage that the stream reported, or `undefined`. */
  declare readonly usage: unknown;

  constructor(message: string, init: StreamErrorInit);
  /** As the `openai` package makes it. */
  constructor(init?: ConnectionArguments);
  constructor(first?: string | ConnectionArguments, init?: StreamErrorInit) {
    super(...fromConnection(first, init, 'Request was aborted.'));
    this.partial = init?.partial;
    this.usage = init?.usage;
  }
}

/**
 * The gateway answered with a redirect that this client does not follow: a paid request is never
 * sent on to another place. The usual cause is a wrong `baseURL`.
 *
 * `outcome` is `rejected` after a 307 or 308, and after a 301 or 302 that only names another origin;
 * it is `unknown` after any other, because a redirect may also lead to the result of the work.
 */
export class UnexpectedRedirectError extends APIError {
  static override readonly kind: string = 'UnexpectedRedirectError';
}

/** What an `UnexpectedResponseError` is made from. */
export interface UnexpectedResponseErrorInit extends APIErrorInit {
  readonly issues?: readonly ResponseIssue[] | undefined;
  readonly data?: unknown;
}

/**
 * The gateway answered with success, but the body is not usable: HTML, empty, cut, or not of the
 * promised shape. A paid request was probably accepted.
 */
export class UnexpectedResponseError extends APIError {
  static override readonly kind: string = 'UnexpectedResponseError';

  /** The differences that `validation: "strict"` found; empty otherwise. */
  declare readonly issues: readonly ResponseIssue[];
  /** The parsed answer, where there was one, so that nothing paid for is lost. Not enumerable either. */
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
