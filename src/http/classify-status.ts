import type { ErrorBody } from './error-body.ts';
import type { FailureKind } from './failure.ts';

/** Codes that the same request will meet again, whatever the HTTP status says. */
const codesThatCannotHeal = new Set([
  'model_not_found',
  'invalid_request',
  'sensitive_words_detected',
  'count_token_failed',
  'model_price_error',
  'prompt_blocked',
  'insufficient_user_quota',
  'insufficient_quota',
  'pre_consume_token_quota_failed',
  'billing_hard_limit_reached',
]);

/** The kind of failure that an error answer stands for. */
export function classifyStatus(status: number, body: ErrorBody, headers: Headers): FailureKind {
  if (typeof body.code === 'string' && codesThatCannotHeal.has(body.code)) return 'cannot_heal';
  // The gateway repeats the provider's status here, whatever it was.
  if (body.code === 'fail_to_fetch_task') return status < 500 ? 'refused' : 'task_refused';
  if (status === 401) return 'unauthorized';
  if (status === 408) return 'request_timeout';
  if (status === 425) return 'too_early';
  if (status === 429) {
    const hasHint = headers.has('retry-after') || headers.has('retry-after-ms');
    return body.envelope === 'empty' && !hasHint ? 'bare_rate_limited' : 'rate_limited';
  }
  if (status === 501 || status === 505) return 'not_implemented';
  if (status >= 500) {
    const isJSON =
      body.envelope !== 'html' && body.envelope !== 'text' && body.envelope !== 'empty';
    if (status === 500) return isJSON ? 'server_error' : 'bad_gateway';
    return status === 503 && isJSON ? 'unavailable' : 'bad_gateway';
  }
  if (status >= 300 && status < 400) return 'redirected';
  return 'refused';
}
