import type { ErrorBody } from '../../answers/failure.ts';
import {
  hasCode,
  mentionsModel,
  missingModel,
  reports,
  unusableModel,
} from '../../answers/model-errors.ts';
import type { ChargeClass } from '../../endpoints.ts';
import type { Outcome } from '../../errors/gateway-error.ts';
import type { FallbackReason } from '../../options/options.ts';
import { isModelMissing, isProviderRefusal } from '../../http/classify.ts';
import { notAResponse } from '../../http/foreign-response.ts';
import type { FailedAttempt } from '../../http/retry.ts';

/** Codes of the gateway for a key or an account without credit. */
const noCredit = /^(insufficient_user_quota|pre_consume_token_quota_failed)$/;

/** Messages for a key or an account without credit. */
const noCreditText = /quota is not enough|额度不足/i;

/** Codes of a provider's account without credit. */
const providerLimit = /^(rate_limit_exceeded|insufficient_quota|billing_hard_limit_reached)$/;

const contentCode =
  /^(sensitive_words_detected|content_filter|content_policy_violation|moderation_blocked|data_inspection_failed|prompt_blocked|violation_fee.*)$/;
const contentText =
  /content[ _](policy|filter|management)|safety (system|filter|polic)|moderation|inappropriate content|敏感/i;

const contextCode = /^context_(length|window)_exceeded$/;
/** Most servers report a prompt that is too long only in the message. */
const contextText =
  /maximum (context|prompt|model) length|(prompt|input) (is |exceeds? |.{0,40}\b)(too long|max(imum)? length)|input (token count|tokens|length)[^.]{0,80}exceed|(exceed|longer|larger|too (long|large))[^.]{0,80}context (length|window|limit|size)|context (length|window|limit|size)[^.]{0,60}(exceed|too)|reduce the length of|model token limit|range of input length/i;

/** Messages about the caller's parameters, which may mention the model too. */
const parameterText = /parameter|\bvalue\b/i;

/** Failures that say nothing about the model. */
const elsewhere =
  /^(invalid_input|cannot_connect|host_not_found|tls_failed|aborted|redirected.*|conflict|too_early)$/;

/** Returns the reason to request another model after a failure, or `undefined` if that would fail too. */
export function reasonFor(failed: FailedAttempt): FallbackReason | undefined {
  const { kind, phase, code, status, headers, body, issues, problem } = failed;
  // A response that only fails validation is still a response.
  if (elsewhere.test(kind) || phase === 'local' || issues !== undefined) return undefined;
  const has = (pattern: RegExp, text?: RegExp): boolean =>
    body !== undefined && (hasCode(pattern, body) || text?.test(body.message ?? '') === true);
  // Another model's response would be as large, or as unreadable.
  if (problem?.includes('maxResponseBytes') || code === notAResponse) return undefined;
  if (has(noCredit, noCreditText) || status === 402) return undefined;
  if (kind === 'content_refused' || has(contentCode, contentText)) return 'content';
  if (has(contextCode, contextText)) return 'context';
  if (status === 429 || has(providerLimit)) return 'limits';
  if (kind === 'timed_out') return 'timeout';
  if (status === 501 || (body && isAboutModel(status, body, headers))) return 'model';
  return isUnknown(kind) ? 'overload' : undefined;
}

/** Returns whether an error response means that this key cannot use the model. */
function isAboutModel(
  status: number | undefined,
  body: ErrorBody,
  headers: Headers | undefined,
): boolean {
  const { message = '' } = body;
  const isAboutParameters = (status === 400 || status === 422) && parameterText.test(message);
  const named = isAboutParameters ? { ...body, message: undefined } : body;
  if (reports(missingModel, named) || reports(unusableModel, named)) return true;
  if (status === 403 || status === 404) return mentionsModel.test(message);
  return status === 401 ? isProviderRefusal(body, headers) : isModelMissing(status, body);
}

const isUnknown = (kind: FailedAttempt['kind']): boolean =>
  /^(server_error|interrupted|unusable_answer|undecided)$/.test(kind);

/** The facts of a failed call that decide whether the next model is requested. */
export interface FailedWithModel {
  readonly reason: FallbackReason | undefined;
  /** The worst outcome of all attempts. */
  readonly outcome: Outcome;
  readonly charge: ChargeClass;
  readonly retryUnknownOutcome: boolean | undefined;
  readonly fallbackOn: readonly FallbackReason[];
}

/** Returns whether another model may be requested even if the previous one may be billed. */
export function mayPayTwice(
  charge: ChargeClass,
  retryUnknownOutcome: boolean | undefined,
): boolean {
  return charge === 'metered' && retryUnknownOutcome !== false;
}

/** Decides whether the next model is requested. A pure function. */
export function asksNextModel(failed: FailedWithModel): boolean {
  const { reason, outcome, charge, retryUnknownOutcome, fallbackOn } = failed;
  if (outcome === 'unknown' && !mayPayTwice(charge, retryUnknownOutcome)) return false;
  return reason !== undefined && fallbackOn.includes(reason);
}
