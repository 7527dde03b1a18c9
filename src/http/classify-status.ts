import { retryAfterFrom } from './backoff.ts';
import type { ErrorBody } from '../schemas/error-body.ts';
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

/** Codes that say that the provider had done the work. Operators can remap the status they come with. */
const codesAfterWork = new Set(['read_response_body_failed', 'bad_response_body']);

/** The provider may have been paid, whatever the HTTP status says. */
const settlementUnknown = 'blockrun_settlement_unknown';

/** The kind of failure that an error answer stands for. */
export function classifyStatus(status: number, body: ErrorBody, headers: Headers): FailureKind {
  const { code, type } = body;
  const isHopeless = [code, type].some((word) => codesThatCannotHeal.has(word ?? ''));
  if (isHopeless) return 'cannot_heal';
  if (code === settlementUnknown) return 'task_refused';
  if (status < 500 && codesAfterWork.has(code ?? '')) return 'task_refused';
  // The gateway repeats the provider's status here, whatever it was.
  if (code === 'fail_to_fetch_task') {
    return status < 500 && status !== 408 ? 'refused' : 'task_refused';
  }
  if (status >= 500) return ofServerError(status, body);
  if (status === 429) return ofRateLimit(body, headers);
  if (status === 401) return 'unauthorized';
  if (status === 408) return 'request_timeout';
  if (status === 425) return 'too_early';
  return status >= 300 && status < 400 ? 'redirected_after_work' : 'refused';
}

/** Whether the body is JSON, as the gateway answers, and not the page or the text of a proxy. */
function isJSON({ envelope }: ErrorBody): boolean {
  return envelope !== 'html' && envelope !== 'text' && envelope !== 'empty';
}

function ofRateLimit(body: ErrorBody, headers: Headers): FailureKind {
  const hasHint = retryAfterFrom(headers, 429, 0) !== undefined;
  return isJSON(body) || hasHint ? 'rate_limited' : 'bare_rate_limited';
}

function ofServerError(status: number, body: ErrorBody): FailureKind {
  if (status === 501 || status === 505) return 'not_implemented';
  if (status === 500) {
    // Proxies answer in JSON too; only the gateway's own envelopes are its word.
    return isJSON(body) && body.envelope !== 'other' ? 'server_error' : 'bad_gateway';
  }
  return status === 503 && isJSON(body) ? 'unavailable' : 'bad_gateway';
}
