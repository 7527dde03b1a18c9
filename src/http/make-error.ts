import { asSentence } from '../answers/error-body.ts';
import { isObject } from '../answers/objects.ts';
import type { ChargeClass } from '../endpoints.ts';
import {
  APIConnectionError,
  APIConnectionTimeoutError,
  APIUserAbortError,
  UnexpectedRedirectError,
  UnexpectedResponseError,
  errorClassForStatus,
  type APIError,
  type UnexpectedResponseErrorInit,
} from '../errors/api-errors.ts';
import {
  defaultAdvice,
  InvalidInputError,
  type AttemptEvidence,
  type Outcome,
} from '../errors/gateway-error.ts';
import { isKeyRefused, isKeyUnknown, isModelMissing } from './classify.ts';
import type { CallSpec } from './request.ts';
import { failures, outcomeOf, type FailedAttempt } from './retry.ts';
import { notAResponse } from './send.ts';
import { isBrowser } from './settings.ts';
import { displayURL } from './url.ts';

interface FailedCall {
  readonly id: string;
  readonly spec: CallSpec;
  readonly url: string;
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

/** The likely fix after a status that often has one cause, or `undefined`. */
function fixFor({ body, status }: FailedAttempt, { spec, url }: FailedCall): string | undefined {
  const { operation } = spec;
  if (status !== 404 && status !== 503) return undefined;
  if (isModelMissing(status, body)) {
    return 'No channel of the gateway serves this model for your key; models.list() tells which ones it can use.';
  }
  if (status === 503) return undefined;
  if (/\/v1(beta)?\/v1(beta)?\//.test(url)) {
    return 'The path names its version twice: take it off the end of baseURL or off the path.';
  }
  return operation.startsWith('videos.') && operation !== 'videos.create'
    ? 'Check the id, and that baseURL is the gateway that gave it.'
    : 'Check baseURL: the gateway has no such route.';
}

/** What to do about a failure, or `undefined` for what its outcome says by itself. */
function adviceFor(
  failed: FailedAttempt,
  charge: ChargeClass,
  outcome: Outcome,
): string | undefined {
  const { kind, body } = failed;
  if (outcome === 'unknown' && charge === 'free') {
    return 'The call only reads, so it is safe to repeat.';
  }
  if (outcome === 'unknown' && outcomeOf(failed) !== 'unknown') {
    return 'An earlier attempt may have been accepted and charged; check the account before sending it again.';
  }
  if (kind !== 'unauthorized') return failures[kind].advice;
  if (body !== undefined && isKeyUnknown(body)) {
    return 'Check apiKey: LiteLLM without a database gives this answer to every key but its master key.';
  }
  return body === undefined || isKeyRefused(body)
    ? 'Check apiKey: the gateway did not accept it.'
    : "The model's provider probably refused the gateway's own key: tell its operator. If every model fails like this, check apiKey.";
}

/** Whether `fetch` gave a request up by a limit of its own. An abort that is not ours is one too. */
function isTimeout(cause: unknown, levels = 3): boolean {
  if (!isObject(cause) || levels === 0) return false;
  const words = ['name', 'code', 'message'].map((field) => String(cause[field])).join(' ');
  return /^AbortError|time[d_]?[ _]?out/i.test(words) || isTimeout(cause['cause'], levels - 1);
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

/** How much of an answer that cannot be used is shown in logs; all of it is kept as well. */
const shownLength = 2_000;

/** What logs show of a success answer: all of it may be what was paid for, and be large. */
export function shownOf(answer: unknown): unknown {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  return text.length > shownLength ? text.slice(0, shownLength) : answer;
}

/**
 * Makes the error that the caller gets of a failure from which keys and queries were taken out.
 *
 * @param outcome - Of the whole call: its last attempt may have failed for another reason than the first.
 */
export function makeError(failed: FailedAttempt, call: FailedCall, outcome: Outcome): Error {
  const { kind, phase, code, cause, body, text, status, headers, requestId } = failed;
  if (kind === 'invalid_input') {
    if (InvalidInputError.isInstance(cause)) return cause;
    const problem =
      'cannot be sent; check the port of baseURL, the headers, fetchOptions (a dispatcher of undici needs the fetch of the same undici), the body and whatever the body is read from.';
    return new InvalidInputError('request', problem, { cause });
  }
  const { spec, id: callId, url } = call;
  const attempts = [...call.attempts];
  const tried = attempts.length > 1 ? ` ${attempts.length} attempts were made.` : '';
  const [OwnClass, what] = wordsFor(failed, `${spec.method} ${displayURL(url)}`);
  const fix = fixFor(failed, call);
  const advice = adviceFor(failed, spec.charge, outcome);
  const { timeout, issues, data } = failed;
  const error = new OwnClass(what + tried, {
    outcome,
    evidence: { phase, code, status, requestId, attempts },
    callId,
    advice: fix === undefined ? advice : `${fix} ${advice ?? defaultAdvice[outcome]}`,
    cause,
    status,
    headers,
    error: text === undefined ? body?.error : shownOf(body?.error ?? text),
    body: text,
    code: body?.sentCode,
    param: body?.param,
    type: body?.type,
    requestID: requestId,
    timeout,
    issues,
    data,
  });
  return spec.explain?.(error) ?? error;
}

type ErrorClass = new (
  message: string,
  init: UnexpectedResponseErrorInit & { readonly timeout?: number | undefined },
) => APIError;

/** The class of an error, and what has happened. */
function wordsFor(
  { kind, phase, code, status, body, problem, timeout, cause }: FailedAttempt,
  request: string,
): [ErrorClass, string] {
  if (kind === 'aborted') return [APIUserAbortError, `${request} was aborted.`];
  if (kind === 'timed_out') {
    const what =
      phase === 'local'
        ? `was not sent within ${timeout} ms: its key, its body or its turn to download did not come.`
        : `took longer than ${timeout} ms.`;
    return [APIConnectionTimeoutError, `${request} ${what}`];
  }
  if (kind === 'redirected' || kind === 'redirected_after_work') {
    const shown = status === undefined ? '' : ` (${status})`;
    const what = `was answered with a redirect${shown}, which is not followed; check baseURL.`;
    return [UnexpectedRedirectError, `${request} ${what}`];
  }
  if (problem !== undefined) {
    const words = body?.message === undefined ? '' : ` It says: ${asSentence(body.message)}`;
    return [UnexpectedResponseError, `${request}: ${problem}${words}`];
  }
  if (status === undefined) {
    const isLost = kind === 'interrupted';
    const isLate = isLost && isTimeout(cause);
    let what = isLost ? 'lost its connection' : 'could not connect';
    if (kind === 'tls_failed') what = 'could not open a TLS connection';
    if (isLate) what = 'took longer than fetch waits';
    if (code === notAResponse) what = 'got no Response from fetch';
    const shown = code === undefined ? '.' : ` (${code}).`;
    const hint = isLost ? hintFor(code) : '';
    const OwnClass = isLate ? APIConnectionTimeoutError : APIConnectionError;
    return [OwnClass, `${request} ${what}${shown}${hint}`];
  }
  const said = body?.message ?? statusTexts[status] ?? `HTTP status ${status}`;
  // The title of a proxy's page often repeats the status.
  const full = asSentence(said.startsWith(`${status}`) ? said : `${status} ${said}`);
  // Where a route or a channel is missing, the address is what is wrong most often.
  const place = status === 404 || status === 503 ? ` The request was ${request}.` : '';
  return [errorClassForStatus(status), full + place];
}
