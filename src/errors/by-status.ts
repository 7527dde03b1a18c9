import {
  APIConnectionError,
  APIError as AnyAPIError,
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

const classByStatus: Readonly<Record<number, typeof AnyAPIError>> = {
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
export function errorClassForStatus(status: number): typeof AnyAPIError {
  return classByStatus[status] ?? (status >= 500 ? InternalServerError : AnyAPIError);
}

/** What `APIError.generate()` does. */
const generate: typeof AnyAPIError.generate = (status, answer, message, headers) => {
  if (!status || !headers) return new APIConnectionError({ message, cause: answer });
  const error: unknown = answer && Reflect.get(answer, 'error');
  return new (errorClassForStatus(status))(status, error, message, headers);
};

/**
 * A call to the gateway failed: the class of all such errors, with `generate()`.
 *
 * That is added here and not in the class, so that a program that only tells errors apart, or only reads
 * streams, does not load the classes for every status.
 */
export const APIError: typeof AnyAPIError = /* @__PURE__ */ Object.assign(AnyAPIError, {
  generate,
});
export type APIError = AnyAPIError;
