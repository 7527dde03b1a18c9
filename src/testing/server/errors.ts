import { present } from '../control/json.ts';

/**
 * The shapes in which gateways of this family wrap an error.
 *
 * - `openai`: `{ error: { message, type, param, code } }`, the form of all direct calls.
 * - `openai-routing`: `{ error: { code, message, type } }`, the form of what is refused before a model
 *   is asked: keys, unknown models, broken JSON.
 * - `openai-short`: `{ error: { message, type } }`, the form of the content route.
 * - `task`: `{ code, message, data: null }`, the form of the video routes.
 * - `console`: `{ success: false, message }`, the form of the model list.
 * - `bare`: `{ message, type, param, code }` without a wrapper.
 * - `google`: `{ error: { code, message, status } }`; `google-array` puts it into a list.
 * - `anthropic`: `{ type: "error", error: { type, message } }`.
 * - `string`: `{ error: "message" }`.
 */
export type ErrorEnvelope =
  | 'openai'
  | 'openai-routing'
  | 'openai-short'
  | 'task'
  | 'console'
  | 'bare'
  | 'google'
  | 'google-array'
  | 'anthropic'
  | 'string';

/** What an error body says. */
export interface ErrorDetails {
  readonly message: string;
  /** The code in the body. `null` sends `null`. */
  readonly code?: string | number | null | undefined;
  /** The `type` of the error; `new_api_error` marks the gateway's own errors. */
  readonly type?: string | undefined;
  readonly param?: string | null | undefined;
}

const googleStatus: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

/** The JSON value of an error in one of the shapes. */
export function errorBody(
  envelope: ErrorEnvelope,
  status: number,
  { message, code = '', type = 'new_api_error', param = '' }: ErrorDetails,
): unknown {
  switch (envelope) {
    case 'openai':
      return { error: { message, type, param, code } };
    case 'openai-routing':
      return { error: { code, message, type } };
    case 'openai-short':
      return { error: { message, type } };
    case 'task':
      return { code, message, data: null };
    case 'console':
      return { success: false, message };
    case 'bare':
      return { code, message, param, type };
    case 'google':
      return { error: { code: status, message, status: googleStatus[status] ?? 'INTERNAL' } };
    case 'google-array':
      return [errorBody('google', status, { message })];
    case 'anthropic':
      return { type: 'error', error: present({ type, message }) };
    case 'string':
      return { error: message };
  }
}

/**
 * The message as the gateway sends it. Its own words end with the request id, which browsers cannot
 * read elsewhere; those of a vendor, of tasks and of the content route do not.
 */
export function withRequestId(
  envelope: ErrorEnvelope,
  { message, type = 'new_api_error' }: ErrorDetails,
  requestId: string,
): string {
  const isOwn = type === 'new_api_error' && envelope !== 'task';
  return isOwn ? `${message} (request id: ${requestId})` : message;
}

/** Thrown by a handler that refuses the request; becomes the answer. */
export class Refusal extends Error {
  readonly status: number;
  readonly envelope: ErrorEnvelope;
  readonly details: ErrorDetails;

  constructor(status: number, envelope: ErrorEnvelope, details: ErrorDetails) {
    super(details.message);
    this.status = status;
    this.envelope = envelope;
    this.details = details;
  }

  /** The answer that says so. */
  toResponse(requestId: string): Response {
    const message = withRequestId(this.envelope, this.details, requestId);
    return Response.json(errorBody(this.envelope, this.status, { ...this.details, message }), {
      status: this.status,
    });
  }
}

/** A refusal in the form of the direct calls. */
export function refusal(status: number, code: string, message: string): Refusal {
  return new Refusal(status, 'openai', { code, message });
}

/** A refusal of a request that reaches no model: for its key, its model's name or broken JSON. */
export function routingRefusal(status: number, code: string, message: string): Refusal {
  return new Refusal(status, 'openai-routing', { code, message });
}

/** An error of the vendor, passed on in its own words. */
export function relayed(status: number, details: ErrorDetails): Refusal {
  return new Refusal(status, 'openai', details);
}

/** A refusal in the form of the video routes. */
export function taskRefusal(status: number, code: string, message: string): Refusal {
  return new Refusal(status, 'task', { code, message });
}

/** A refusal in the form of the content route. */
export function contentRefusal(status: number, message: string): Refusal {
  const type = status < 500 ? 'invalid_request_error' : 'server_error';
  return new Refusal(status, 'openai-short', { message, type });
}
