import { asSentence, quote, quoteValue } from '../answers/failure.ts';
import { credit, means, providerCredit } from '../answers/error-codes.ts';
import { toFields } from '../answers/objects.ts';
import { type ChargeClass, findEndpoint } from '../endpoints.ts';
import {
  APIConnectionError,
  APIConnectionTimeoutError,
  APIUserAbortError,
  UnexpectedRedirectError,
  UnexpectedResponseError,
  errorClassForStatus,
} from '../errors/api-errors.ts';
import {
  defaultAdvice,
  InvalidInputError,
  type AttemptEvidence,
  type Outcome,
} from '../errors/gateway-error.ts';
import { buildError, type DescribedFailure, type FailureInit } from '../errors/operation-errors.ts';
import { needsAPIVersion, unknownKey } from '../gateways/signs.ts';
import {
  badPort,
  isKeyUnknown,
  isModelMissing,
  isProviderRefusal,
  isTimeout,
  isUsedUp,
  isWrongKey,
} from '../http/classify.ts';
import type { Redaction } from '../http/redaction.ts';
import type { CallSpec } from '../http/request.ts';
import { failures, getOutcome, type FailedAttempt } from '../http/retry.ts';
import { isForbiddenPort } from '../http/node/proxy.ts';
import { notAResponse } from '../http/responses/foreign-response.ts';
import { requireBase, type ClientSettings, isBrowser } from './settings.ts';
import { withoutQueries } from '../http/redaction.ts';
import { displayURL } from '../http/url.ts';

interface FailedCall {
  readonly client: Pick<ClientSettings, 'findBase'>;
  readonly id: string;
  readonly spec: CallSpec;
  readonly url: string;
  readonly redaction: Pick<Redaction, 'withoutKeys'>;
  readonly history: { evidence(): readonly AttemptEvidence[] };
}

const statusTexts: Readonly<Record<number, string>> = {
  200: 'The gateway reports a failure without a reason',
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

/** Returns the likely fix for an error with a common cause, or `undefined`. */
function fixFor(
  { body, status, headers, kind }: FailedAttempt,
  { spec, url, client }: FailedCall,
): string | undefined {
  const isRefused = kind === 'refused' && body !== undefined;
  if (status === 402 || (isRefused && means(body, credit, providerCredit))) {
    return 'No credit is left: add credit to the account of the key. At a gateway it may be the account at the provider: tell its operator.';
  }
  if (isUsedUp(status, body, headers)) {
    return 'A limit of a day or longer is used up: wait until it is reset, or use another model or key.';
  }
  if (isRefused && isModelMissing(status, body)) {
    return 'No channel of the gateway serves this model for your key; models.list() returns the models that the key can use.';
  }
  if (status !== 404) return undefined;
  if (/\/v1(beta)?\/v1(beta)?\//.test(url)) {
    return 'The path names its version twice: take it off the end of baseURL or off the path.';
  }
  const endpoint = findEndpoint(spec.operation);
  if (endpoint?.task !== undefined && endpoint.path.includes('{'))
    return 'Check the id, and that baseURL is the gateway that issued it.';
  if (needsAPIVersion(url)) {
    return 'Azure needs the parameter api-version: add ?api-version=… to baseURL, or set defaultQuery.';
  }
  const { root, gateway } = requireBase(client);
  const isHost = new URL(root).pathname === '/';
  const alternative = isHost ? ` Routes may be below ${root}/api/v1, or` : ' Routes';
  return `Check baseURL: the gateway has no such route.${alternative} differ by kind: set the option gateway (now "${gateway?.profile.name ?? 'auto'}").`;
}

/** Advice if an earlier attempt had an unknown outcome, but the last one a known one. */
export const earlierUnknown =
  'An earlier attempt may have been accepted and charged; check the account before sending it again.';

/** Returns advice for a failure of a proxy. */
function proxyAdvice(status: number | undefined, outcome: Outcome): string {
  if (outcome !== 'not_sent') {
    return `${defaultAdvice.unknown} If fetch only sends this request, nothing was sent: check the proxy.`;
  }
  if (status === 407) return 'Nothing was sent. Check the credentials of the proxy.';
  if (status === 403) return 'Nothing was sent. Check that the proxy allows the host of baseURL.';
  return 'Nothing was sent. Check the proxy.';
}

/** Returns advice for a failure, or `undefined` if the advice for its outcome suffices. */
function adviceFor(
  failed: FailedAttempt,
  charge: ChargeClass,
  outcome: Outcome,
): string | undefined {
  const { kind, body, headers } = failed;
  if (outcome === 'unknown' && charge === 'free') {
    return 'The call only reads, so it is safe to repeat.';
  }
  if (outcome === 'unknown' && getOutcome(failed) !== 'unknown') {
    return earlierUnknown;
  }
  if (failed.proxy !== undefined) return proxyAdvice(failed.proxy.status, outcome);
  if (!isWrongKey(failed)) return failures[kind].advice;
  if (body !== undefined && isKeyUnknown(body)) {
    return unknownKey.advice;
  }
  return body !== undefined && isProviderRefusal(body, headers)
    ? "The model's provider probably rejected the gateway's own key: tell its operator. If every model fails like this, check apiKey."
    : 'Check apiKey: the gateway did not accept it.';
}

/** Returns the usual cause of an error code that proves nothing by itself. */
function hintFor(failed: FailedAttempt): string | undefined {
  const { kind, status, code = '', problem, timeout } = failed;
  const isLost = kind === 'interrupted' || (kind === 'timed_out' && timeout === undefined);
  if (!isLost || status !== undefined || problem !== undefined) return undefined;
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
    return "Node's fetch stops waiting after 300 s; stream the response, or pass a fetch with a longer limit (undici's Agent with headersTimeout: 0 and bodyTimeout: 0).";
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) {
    return 'If the port does not speak TLS, the scheme of baseURL is wrong.';
  }
  if (code === '' && (isBrowser() || 'WorkerGlobalScope' in globalThis)) {
    return 'See the console of the browser for the cause, which pages cannot read: a lost connection, a rejected preflight (CORS), a missing network, or a request that the browser or an extension blocked (mixed content, content security policy).';
  }
  return undefined;
}

/** Characters of an unusable response that logs show. The error has all of it. */
const shownLength = 2_000;

/** Shortens a large success response for the log. */
function toLoggable(value: unknown): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > shownLength ? text.slice(0, shownLength) : value;
}

/**
 * Creates the error for a redacted failure.
 *
 * @param outcome - Outcome of the whole call. Its last attempt may have failed for another reason than the
 *   first.
 */
export function makeError(failed: FailedAttempt, call: FailedCall, outcome: Outcome): Error {
  const { kind, phase, code, cause, body, text, status, headers, requestId, address } = failed;
  if (kind === 'invalid_input') {
    if (InvalidInputError.isInstance(cause)) return cause;
    const { port } = new URL(call.url, 'http://localhost');
    if (isForbiddenPort(port) && toFields(toFields(cause)['cause'])['message'] === badPort) {
      const forbidden = `has the port ${port}, which fetch refuses to call (port blocking of the Fetch standard); use another port.`;
      return new InvalidInputError('baseURL', forbidden, { cause });
    }
    const problem =
      'cannot be sent; check the port of baseURL, the headers, fetchOptions (a dispatcher of undici needs the fetch of the same undici), the body and its source.';
    return new InvalidInputError('request', problem, { cause });
  }
  const { spec, id: callId, url } = call;
  const attempts = call.history.evidence();
  // A task id in the path may contain the key.
  const request = call.redaction.withoutKeys(`${spec.method} ${displayURL(url)}`);
  const attemptsNote = attempts.length > 1 ? ` ${attempts.length} attempts were made.` : '';
  const [ErrorType, summary] = describeFailure(failed, request);
  const fix = fixFor(failed, call) ?? hintFor(failed);
  const advice = adviceFor(failed, spec.charge, outcome) ?? defaultAdvice[outcome];
  const { timeout, issues, data } = failed;
  const init: FailureInit = {
    outcome,
    evidence: {
      phase,
      code,
      status,
      requestId,
      ...(address !== undefined && { address }),
      attempts,
    },
    callId,
    advice: fix === undefined ? advice : `${fix} ${advice}`,
    cause,
    status,
    headers,
    error: text === undefined ? body?.error : toLoggable(body?.error ?? text),
    body: text,
    code: body?.sentCode,
    param: body?.param,
    type: body?.type,
    requestID: requestId,
    timeout,
    issues,
    data,
  };
  const failure = { ErrorType, summary: summary + attemptsNote, init };
  return spec.explain?.(failure) ?? buildError(failure);
}

/** Returns a sentence with what was received. */
const quoted = (received: string | undefined): string =>
  received === undefined ? '' : ` It received: ${asSentence(withoutQueries(received))}`;

/** Returns the class and the message of an error. */
function describeFailure(
  { kind, phase, code, status, body, text, problem, timeout, cause, proxy, address }: FailedAttempt,
  request: string,
): [DescribedFailure['ErrorType'], string] {
  if (kind === 'aborted') return [APIUserAbortError, `${request} was aborted.`];
  if (kind === 'timed_out' && timeout !== undefined) {
    const what =
      phase === 'local'
        ? `was not sent within ${timeout} ms: the key, the body, a free download slot or a turn within limits was not available in time.`
        : `took longer than ${timeout} ms.`;
    return [APIConnectionTimeoutError, `${request} ${what}`];
  }
  if (kind === 'redirected' || kind === 'redirected_after_work') {
    const shown = status === undefined ? '' : ` (${status})`;
    const what = `received a redirect${shown}, which is not followed; check baseURL.`;
    return [UnexpectedRedirectError, `${request} ${what}`];
  }
  if (problem !== undefined) {
    // What caused it is quoted by its own error.
    const received = text === undefined || cause !== undefined ? '' : quoted(quote(text));
    return [UnexpectedResponseError, `${request}: ${problem}${received}`];
  }
  if (status === undefined) {
    const isLost = kind === 'interrupted' || kind === 'timed_out';
    const isLate = isLost && proxy === undefined && isTimeout(cause);
    const through = address === undefined ? 'the proxy' : `the proxy ${address}`;
    if (proxy?.status !== undefined) {
      const refusal = `could not connect: ${through} answered ${proxy.status} to CONNECT.`;
      return [APIConnectionError, `${request} ${refusal}`];
    }
    let what = isLost ? 'lost its connection' : 'could not connect';
    if (proxy !== undefined)
      what = isLost ? `${what} to ${through}` : `could not connect to ${through}`;
    if (kind === 'tls_failed') what = 'could not open a TLS connection';
    if (isLate) what = 'took longer than fetch waits';
    if (code === notAResponse) what = 'got no Response from fetch';
    const place = proxy === undefined ? address : undefined;
    const facts = [code, place].filter((fact) => fact !== undefined).join(' ');
    const shown = facts === '' ? '.' : ` (${facts}).`;
    const ErrorType = isLate ? APIConnectionTimeoutError : APIConnectionError;
    return [ErrorType, `${request} ${what}${shown}`];
  }
  const quoteOfBody = body?.message === undefined ? quoted(quoteValue(body?.error)) : '';
  const message = body?.message ?? statusTexts[status] ?? `HTTP status ${status}`;
  // The title of a proxy's page often repeats the status.
  const sentence = asSentence(message.startsWith(`${status}`) ? message : `${status} ${message}`);
  // A missing route or channel is usually caused by a wrong address.
  const location = status === 404 || status === 503 ? ` The request was ${request}.` : '';
  return [errorClassForStatus(status), sentence + quoteOfBody + location];
}
