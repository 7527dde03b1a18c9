import { Refusal, type ErrorDialect } from '../server/errors.ts';

/** Statuses that differ from new-api's, by its codes. */
const statuses: Readonly<Record<string, number>> = {
  insufficient_user_quota: 402,
  model_not_found: 400,
  task_not_exist: 404,
  task_origin_not_exist: 404,
  sensitive_words_detected: 403,
  convert_request_failed: 400,
  count_token_failed: 400,
};

/** Creates the error for a field that is missing, mistyped or not supported. */
export function invalidField(name: string, problem = 'Invalid input'): Refusal {
  return new Refusal(400, 'openrouter', { message: `${name}: ${problem}` });
}

/** Creates the error for an unknown resource. */
export function notFound(message: string): Refusal {
  return new Refusal(404, 'openrouter', { message });
}

/** `{ error: { code, message, metadata } }` with the status as the code. */
export const openRouterErrors: ErrorDialect = {
  envelope: 'openrouter',
  toResponse({ status, details }, requestId) {
    const known = statuses[String(details.code)] ?? status;
    const { message, metadata } = details;
    return new Refusal(known, 'openrouter', { message, metadata }).toResponse(requestId);
  },
};
