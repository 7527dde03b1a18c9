import type { ChargeClass } from '../endpoints.ts';
import {
  errorClassForStatus,
  type APIError,
  type APIErrorInit,
  APIConnectionError,
  APIConnectionTimeoutError,
  APIUserAbortError,
  UnexpectedRedirectError,
  UnexpectedResponseError,
} from '../errors/api-errors.ts';
import { InvalidInputError, type AttemptEvidence, type Outcome } from '../errors/gateway-error.ts';
import { VideoSubmitUnknownError } from '../videos/errors.ts';
import type { ErrorBody } from '../answers/error-body.ts';
import { isObject } from '../answers/objects.ts';
import { adviceFor } from './advice.ts';
import { isSubmission } from './error-in-success.ts';
import type { Failure, FailureKind } from './failure.ts';
import { specialErrorOf } from './operation-errors.ts';
import { isBrowser } from './settings.ts';
import type { ResponseIssue } from '../types.ts';

/** A failure together with what was read of the answer. */
export interface FailedAttempt extends Failure {
  readonly headers?: Headers | undefined;
  readonly body?: ErrorBody | undefined;
  /** The text of a body that came with a success status. */
  readonly text?: string | undefined;
  /** The limit that was passed, in milliseconds. */
  readonly timeout?: number | undefined;
  /** What is wrong with the answer, for `unusable_answer`. */
  readonly problem?: string | undefined;
  /** Where the answer differs from what was expected, and the answer itself. */
  readonly issues?: readonly ResponseIssue[] | undefined;
  readonly data?: unknown;
}

/** What an error needs to know of the call. */
export interface ErrorContext {
  readonly operation: string;
  readonly method: string;
  /** The URL without query. */
  readonly url: string;
  readonly callId: string;
  readonly charge: ChargeClass;
  readonly outcome: Outcome;
  readonly attempts: readonly AttemptEvidence[];
}

const statusTexts: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Unauthorized',
  402: 'Payment required',
  403: 'Permission denied',
  404: 'Not found',
  408: 'Request timeout',
  409: 'Conflict',
  413: 'Request too large',
  422: 'Unprocessable entity',
  425: 'Too early',
  429: 'Too many requests',
  500: 'Internal server error',
  501: 'Not implemented',
  502: 'Bad gateway',
  503: 'Service unavailable',
  504: 'Gateway timeout',
  524: 'The proxy in front of the gateway timed out',
};

/** How much of an answer that cannot be used is shown in logs; all of it is kept as well. */
const shownLength = 2_000;

/** What logs show of a success answer: all of it may be what was paid for, and be large. */
export function shownOf(answer: unknown): unknown {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  return text.length > shownLength ? text.slice(0, shownLength) : answer;
}

function initOf(
  failed: FailedAttempt,
  context: ErrorContext,
  advice = adviceFor(failed, context),
): APIErrorInit {
  const { phase, code, status, requestId } = failed;
  return {
    outcome: context.outcome,
    evidence: { phase, code, status, requestId, attempts: context.attempts },
    callId: context.callId,
    advice,
    cause: failed.cause,
    status,
    headers: failed.headers,
    error:
      failed.text === undefined ? failed.body?.error : shownOf(failed.body?.error ?? failed.text),
    body: failed.text,
    code: failed.body?.code ?? undefined,
    param: failed.body?.param,
    type: failed.body?.type,
    requestID: requestId,
  };
}

function ofStatus(failed: FailedAttempt, status: number, context: ErrorContext): APIError {
  const text = failed.body?.message ?? statusTexts[status] ?? `HTTP status ${status}`;
  const special = specialErrorOf(context.operation, status, text);
  const ErrorClass = special?.errorClass ?? errorClassForStatus(status);
  // The title of a proxy's page often repeats the status.
  const full = text.startsWith(`${status}`) ? text : `${status} ${text}`;
  // Where a route or a channel is missing, the address is what is wrong most often.
  const isMissing = status === 404 || status === 503;
  const place = isMissing ? ` The request was ${context.method} ${context.url}.` : '';
  const init = initOf(failed, context, special?.advice);
  return new ErrorClass(asSentence(full) + place + attemptsOf(context), init);
}

/** Gateways end what they say as they like; the advice that follows needs an end. */
function asSentence(text: string): string {
  return text.replace(/([^.!?…)\u3002\uFF01\uFF1F])$/, '$1.');
}

/** How often it was tried, if more than once. */
function attemptsOf({ attempts }: ErrorContext): string {
  return attempts.length > 1 ? ` ${attempts.length} attempts were made.` : '';
}

/** What could not be opened, so that nothing was sent. */
const notOpened: Partial<Record<FailureKind, string>> = {
  cannot_connect: 'could not connect',
  host_not_found: 'could not connect',
  tls_failed: 'could not open a TLS connection',
};

function withoutAnswer(failed: FailedAttempt, context: ErrorContext): APIError {
  const init = initOf(failed, context);
  const { kind, code, timeout = 0, status } = failed;
  const say = (what: string): string =>
    `${context.method} ${context.url} ${what}${attemptsOf(context)}`;
  if (kind.startsWith('aborted')) return new APIUserAbortError(say('was aborted.'), init);
  if (kind.startsWith('timed_out')) {
    const what =
      kind === 'timed_out'
        ? `took longer than ${timeout} ms.`
        : `was not sent within ${timeout} ms: its key, its body or its turn to download did not come.`;
    return new APIConnectionTimeoutError(say(what), { ...init, timeout });
  }
  if (kind.startsWith('redirected')) {
    const shown = status === undefined ? '' : ` (${status})`;
    const what = `was answered with a redirect${shown}, which is not followed; check baseURL.`;
    return new UnexpectedRedirectError(say(what), init);
  }
  const shown = code === undefined ? '.' : ` (${code}).`;
  const what = notOpened[kind];
  const text = what === undefined ? `lost its connection${shown}${hintFor(code)}` : what + shown;
  return new APIConnectionError(say(text), init);
}

/** What usually lies behind a code that proves nothing by itself. */
function hintFor(code = ''): string {
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
    return " Node's fetch stops waiting after 300 s; stream the answer, or pass a fetch with a longer limit (undici's Agent with headersTimeout: 0 and bodyTimeout: 0).";
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) {
    return ' If the port does not speak TLS, the scheme of baseURL is wrong.';
  }
  if (code === '' && (isBrowser() || 'WorkerGlobalScope' in globalThis)) {
    return ' A browser does not tell a lost connection from a refused preflight (CORS), a request that it or an extension blocks (mixed content, content security policy) and a network that is off; its console does.';
  }
  return '';
}

function ofAnswer(failed: FailedAttempt, context: ErrorContext): APIError {
  const target = `${context.method} ${context.url}`;
  const said = failed.body?.message;
  const words = said === undefined ? '' : ` It says: ${asSentence(said)}`;
  return new UnexpectedResponseError(`${target}: ${failed.problem}${words}${attemptsOf(context)}`, {
    ...initOf(failed, context),
    issues: failed.issues,
    data: failed.data,
  });
}

/** Makes the error that the caller gets of a failure from which keys and queries were taken out. */
export function toError(
  failed: FailedAttempt,
  context: ErrorContext,
): APIError | InvalidInputError {
  if (failed.kind === 'invalid_input') {
    return InvalidInputError.isInstance(failed.cause)
      ? failed.cause
      : new InvalidInputError(
          'request',
          'cannot be sent; check the port of baseURL, the headers, fetchOptions, the body and whatever the body is read from.',
          {
            cause: failed.cause,
          },
        );
  }
  const error = makeError(failed, context);
  // An answer that is only too odd for strict mode is there, with its task.
  const hasAnswer = isObject(failed.data);
  const isUnknown = context.outcome === 'unknown' && failed.kind !== 'aborted' && !hasAnswer;
  if (!isUnknown || !isSubmission(context.operation)) return error;
  return new VideoSubmitUnknownError(
    `It is not known whether the video task was created: ${error.message.replace(` ${error.advice}`, '')}`,
    {
      ...initOf(failed, context),
      advice:
        'It may exist and may be charged, and the gateway cannot be asked. Submitting again may pay twice.',
      cause: error,
    },
  );
}

function makeError(failed: FailedAttempt, context: ErrorContext): APIError {
  const { kind, status, problem } = failed;
  if (status === undefined || /^(redirected|timed_out$|aborted$)/.test(kind)) {
    return withoutAnswer(failed, context);
  }
  return problem === undefined ? ofStatus(failed, status, context) : ofAnswer(failed, context);
}
