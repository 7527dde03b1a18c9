import type { JsonObject } from '../../types.ts';
import { present } from '../control/json.ts';

/**
 * Error formats of gateways of this family.
 *
 * - `openai`: `{ error: { message, type, param, code } }`, for all direct calls.
 * - `openai-routing`: `{ error: { code, message, type } }`, for requests rejected before they reach a
 *   model: invalid keys, unknown models, invalid JSON.
 * - `openai-short`: `{ error: { message, type } }`, for the content route.
 * - `task`: `{ code, message, data: null }`, for the video routes.
 * - `console`: `{ success: false, message }`, for the model list.
 * - `bare`: `{ message, type, param, code }` without a wrapper.
 * - `google`: `{ error: { code, message, status } }`; `google-array` wraps it in an array.
 * - `anthropic`: `{ type: "error", error: { type, message } }`.
 * - `string`: `{ error: "message" }`.
 * - `openai-plain`: like `openai`, with OpenAI's types and `null` for missing fields.
 * - `litellm`: `{ error: { message, type, param, code } }`, where the code is the status as text.
 * - `fastapi`: `{ detail: [{ type, loc, msg }] }`.
 * - `openrouter`: `{ error: { code, message, metadata } }`, where the code is the status.
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
  | 'string'
  | 'openai-plain'
  | 'litellm'
  | 'fastapi'
  | 'openrouter';

/** Fields of an error body. */
export interface ErrorDetails {
  readonly message: string;
  /** The code of the error. `null` is sent as `null`. */
  readonly code?: string | number | null | undefined;
  /** The `type` of the error; `new_api_error` marks the gateway's own errors. */
  readonly type?: string | undefined;
  readonly param?: string | null | undefined;
  /** Details of OpenRouter's errors, for example `{ provider_name: "Emulator" }`. */
  readonly metadata?: JsonObject | undefined;
}

const googleStatus: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

const openAITypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
};

/** Returns OpenAI's type of an error in place of new-api's. */
function vendorType(status: number, type: string): string {
  if (type !== 'new_api_error') return type;
  return openAITypes[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error');
}

/** Returns the JSON value of an error in one of the formats. */
export function errorBody(
  envelope: ErrorEnvelope,
  status: number,
  { message, code = '', type = 'new_api_error', param = '', metadata }: ErrorDetails,
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
    case 'openai-plain':
      return {
        error: {
          message,
          type: vendorType(status, type),
          param: param || null,
          code: code || null,
        },
      };
    case 'litellm':
      return {
        error: { message, type: vendorType(status, type), param: null, code: String(status) },
      };
    case 'fastapi':
      return { detail: [{ type, loc: ['body', ...(param ?? '').split('.')], msg: message }] };
    case 'openrouter': {
      const errorCode = typeof code === 'number' ? code : status;
      return { error: present({ code: errorCode, message, metadata }) };
    }
  }
}

/**
 * Adds the request id to the gateway's own messages, where browsers can read it. Messages of vendors,
 * tasks and the content route do not have it.
 */
export function withRequestId(
  envelope: ErrorEnvelope,
  { message, type = 'new_api_error' }: ErrorDetails,
  requestId: string,
): string {
  const isOwn =
    type === 'new_api_error' && !/^(task|openrouter|openai-plain|litellm|fastapi)$/.test(envelope);
  return isOwn ? `${message} (request id: ${requestId})` : message;
}

/** Thrown by a handler to reject a request; converted to a response. */
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

  /** Converts the error to a response. */
  toResponse(requestId: string): Response {
    const message = withRequestId(this.envelope, this.details, requestId);
    return Response.json(errorBody(this.envelope, this.status, { ...this.details, message }), {
      status: this.status,
    });
  }
}

/** The error format of a kind of gateway. */
export interface ErrorDialect {
  /** The format of all errors, if there is only one. */
  readonly envelope: ErrorEnvelope | undefined;
  readonly toResponse: (refusal: Refusal, requestId: string) => Response;
}

/** Creates an error in the format of direct calls. */
export function refusal(status: number, code: string, message: string): Refusal {
  return new Refusal(status, 'openai', { code, message });
}

/** Creates an error for a request that reaches no model: invalid key, unknown model or invalid JSON. */
export function routingRefusal(status: number, code: string, message: string): Refusal {
  return new Refusal(status, 'openai-routing', { code, message });
}

/** Creates an error of the vendor, passed on unchanged. */
export function relayed(status: number, details: ErrorDetails): Refusal {
  return new Refusal(status, 'openai', details);
}

/** Creates an error in the format of the video routes. */
export function taskRefusal(status: number, code: string, message: string): Refusal {
  return new Refusal(status, 'task', { code, message });
}

/** Creates an error in the format of the content route. */
export function contentRefusal(status: number, message: string): Refusal {
  const type = status < 500 ? 'invalid_request_error' : 'server_error';
  return new Refusal(status, 'openai-short', { message, type });
}
