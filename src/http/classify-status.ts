import { retryAfterFrom } from './backoff.ts';
import type { ErrorBody } from '../answers/error-body.ts';
import { isObject } from '../answers/objects.ts';
import { failures, type FailureKind } from './failure.ts';

/** Codes that the same request will meet again before any work, whatever the HTTP status says. */
const codesThatCannotHeal = new Set([
  'model_not_found',
  'invalid_request',
  'build_request_failed',
  'convert_request_failed',
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

/** Statuses that refuse a request, whoever answers so. */
const refusals = new Set([
  400, 402, 403, 404, 405, 406, 407, 410, 411, 412, 413, 414, 415, 416, 417, 421, 422, 423, 426,
  428, 431, 451, 501, 505,
]);

/** Statuses that mean something else, whoever answers so. */
const kindByStatus: Readonly<Record<number, FailureKind>> = {
  401: 'unauthorized',
  408: 'interrupted',
  409: 'conflict',
  424: 'undecided',
  425: 'too_early',
  444: 'undecided',
  460: 'interrupted',
  499: 'interrupted',
};

/** The kind of failure that an error answer stands for. */
export function classifyStatus(status: number, body: ErrorBody, headers: Headers): FailureKind {
  const { code, type } = body;
  if ([code, type].some((word) => codesThatCannotHeal.has(word ?? ''))) return 'refused';
  if (code === settlementUnknown) return 'task_refused';
  if (status < 500 && codesAfterWork.has(code ?? '')) return 'task_refused';
  const kind = ofStatus(status, body, headers);
  if (code !== 'fail_to_fetch_task') return kind;
  // The gateway repeats the provider's status here, whatever it was.
  const isMade = holdsId(body) || (status === 429 && tellsId(body));
  const isRefusal = status < 500 && failures[kind].outcome === 'rejected' && !isMade;
  if (!isRefusal) return 'task_refused';
  return status === 429 ? 'rate_limited' : 'refused';
}

/** Whether the id of anything but a request is in a body, also within JSON that it tells as text. */
export function holdsId({ error }: ErrorBody): boolean {
  const text = JSON.stringify(error ?? null).replaceAll('\\', '');
  const ids = text.replaceAll(/(?:request|trace|log)_?id"/gi, '');
  return /id"\s*:\s*(?:"[^"\s]|[1-9])/i.test(ids);
}

/**
 * Whether an error tells the id of a task in its words, or alone as its `data`. A refusal may tell one
 * too: that of a task that was not found.
 */
export function tellsId({ error, message }: ErrorBody): boolean {
  const { data = null } = isObject(error) ? error : {};
  const isId = (typeof data === 'string' && data.trim() !== '') || typeof data === 'number';
  return isId || /\btask_\w*\d|\b(?:task|video)[ _]?id["']? ?[:=] ?["']?\w/i.test(message ?? '');
}

function ofStatus(status: number, body: ErrorBody, headers: Headers): FailureKind {
  if (status < 400) return 'redirected_after_work';
  if (refusals.has(status)) return 'refused';
  if (status > 500) return 'interrupted';
  if (status === 429) {
    const hasHint = retryAfterFrom(headers, status, 0) !== undefined;
    return isJSON(body) || hasHint ? 'rate_limited' : 'bare_rate_limited';
  }
  const known = kindByStatus[status];
  if (known !== undefined) return known;
  // Proxies answer in JSON too; only the gateway's own envelopes are its word.
  const isOwn = isJSON(body) && body.envelope !== 'other';
  if (status === 500) return isOwn ? 'server_error' : 'interrupted';
  return isOwn ? 'refused' : 'undecided';
}

/** Whether the body is JSON, as the gateway answers, and not the page or the text of a proxy. */
function isJSON({ envelope }: ErrorBody): boolean {
  return envelope !== 'html' && envelope !== 'text' && envelope !== 'empty';
}
