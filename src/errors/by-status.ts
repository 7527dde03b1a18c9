import {
  APIConnectionError,
  APIError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  InternalServerError,
  NotFoundError,
  PaymentRequiredError,
  PermissionDeniedError,
  RateLimitError,
  RequestTooLargeError,
  UnprocessableEntityError,
} from './api-errors.ts';

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

/** The error class that stands for an HTTP status. */
export function errorClassForStatus(status: number): typeof APIError {
  return classByStatus[status] ?? (status >= 500 ? InternalServerError : APIError);
}

APIError.generate = (status, answer, message, headers) => {
  if (!status || !headers) return new APIConnectionError({ message, cause: answer });
  const error: unknown = answer && Reflect.get(answer, 'error');
  return new (errorClassForStatus(status))(status, error, message, headers);
};
