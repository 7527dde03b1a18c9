/** Arguments of the constructors of errors in `openai`, converted to those of this package. */

/** Arguments of an error with a status. */
export type StatusArguments = [
  status: number | undefined,
  error: unknown,
  message: string | undefined,
  headers: Headers | undefined,
];

/** The argument of a connection error. */
export interface ConnectionArguments {
  readonly message?: string | undefined;
  readonly cause?: unknown;
}

/** The error object of a response. */
interface ErrorFields {
  readonly message: unknown;
  readonly code: string | number | null;
  readonly param: string | null;
  readonly type: string;
}

/** For errors that the caller creates, nothing is known about a request. */
const unknown = { outcome: 'unknown', advice: '' } as const;

export function fromStatus([status, error, message, headers]: StatusArguments) {
  const { message: detail, code, param, type }: Partial<ErrorFields> = Object(error);
  const fallback = status ? 'status code (no body)' : '(no status code or body)';
  const text = detail || error || message || fallback;
  const line = `${status ?? ''} ${typeof text === 'string' ? text : JSON.stringify(text)}`;
  const requestID = headers?.get('x-request-id') ?? undefined;
  const init = { ...unknown, status, headers, error, code, param, type, requestID };
  return [line.trim(), init] as const;
}

export function fromConnection(
  given: string | ConnectionArguments | undefined,
  defaultMessage: string,
) {
  const { message = defaultMessage, cause }: ConnectionArguments = Object(given);
  return [message, { ...unknown, cause }] as const;
}
