/** An error in OpenAI's format. `APIError.error` holds the error that the gateway sent. */
export interface ErrorObject {
  code: string | null;
  message: string;
  param: string | null;
  type: string;
  misalignment?: ErrorMisalignment | undefined;
}
export declare namespace ErrorObject {
  export { ErrorMisalignment as Misalignment };
}

/** Misalignment that a review of a rejected request detected. */
export interface ErrorMisalignment {
  detailed_explanation?: string | undefined;
  error_type?: string | undefined;
  review_target?: string | null | undefined;
  steer?: ErrorMisalignment.Steer | undefined;
}
export declare namespace ErrorMisalignment {
  type Steer = { message: string };
}
