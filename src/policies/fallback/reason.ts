import type { ErrorBody } from '../../answers/failure.ts';
import {
  credit,
  type Meaning,
  means,
  missingModel,
  namesModel,
  providerCredit,
  rateLimit,
  refusedContent,
  tooLong,
  unusableModel,
} from '../../answers/error-codes.ts';
import type { ChargeClass } from '../../endpoints.ts';
import type { Outcome } from '../../errors/gateway-error.ts';
import type { FallbackReason } from '../../options/options.ts';
import { isModelMissing, isProviderRefusal } from '../../http/classify.ts';
import { notAResponse } from '../../http/responses/foreign-response.ts';
import type { FailedAttempt } from '../../http/retry.ts';
import { namelessCall } from '../../structured/calls.ts';

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
  const has = (...meanings: readonly Meaning[]): boolean => means(body ?? {}, ...meanings);
  // Another model's response would be as large, or as unreadable.
  if (problem?.includes('maxResponseBytes') || code === notAResponse) return undefined;
  if (problem?.includes(namelessCall)) return undefined;
  if (has(credit) || status === 402) return undefined;
  if (kind === 'content_refused' || has(refusedContent)) return 'content';
  if (has(tooLong)) return 'context';
  if (status === 429 || has(providerCredit, rateLimit)) return 'limits';
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
  if (means(named, missingModel, unusableModel)) return true;
  if (status === 403 || status === 404) return means(body, namesModel);
  return status === 401 ? isProviderRefusal(body, headers) : isModelMissing(status, body);
}

const isUnknown = (kind: FailedAttempt['kind']): boolean =>
  /^(server_error|response_lost|interrupted|unusable_answer|undecided)$/.test(kind);

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
