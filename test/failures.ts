import type { ChargeClass, FallbackReason, Outcome } from '../src/index.ts';
import type { FailureKind } from '../src/http/retry.ts';
import { cutResponse, fetchFailure, never } from './helpers/failures.ts';

/** What a kind of failure proves, and how often a call is sent with `maxRetries: 2`, by its charge class. */
interface Kind {
  readonly kind: FailureKind;
  readonly outcome: Outcome;
  readonly free: number;
  readonly metered: number;
  readonly charged: number;
  /** With `retryUnknownOutcome: true`. */
  readonly allowed: number;
}

const proves = (
  kind: FailureKind,
  outcome: Outcome,
  free: number,
  metered = free,
  charged = metered,
  allowed = metered,
): Kind => ({ kind, outcome, free, metered, charged, allowed });

/** Every kind of failure. */
export const kinds: readonly Kind[] = [
  proves('invalid_input', 'not_sent', 1),
  proves('cannot_connect', 'not_sent', 3),
  proves('host_not_found', 'not_sent', 2),
  proves('tls_failed', 'not_sent', 1),
  proves('proxy_refused', 'not_sent', 1),
  proves('aborted', 'unknown', 1),
  proves('timed_out', 'unknown', 3, 1, 1, 3),
  proves('interrupted', 'unknown', 3, 3, 1),
  proves('server_error', 'unknown', 3, 3, 1),
  proves('unusable_answer', 'unknown', 3, 1),
  proves('undecided', 'unknown', 1),
  proves('content_refused', 'unknown', 1),
  proves('redirected_after_work', 'unknown', 1),
  proves('redirected', 'rejected', 1),
  proves('refused', 'rejected', 1),
  proves('conflict', 'rejected', 1),
  proves('unauthorized', 'rejected', 1),
  proves('too_early', 'rejected', 3, 3, 2),
  proves('rate_limited', 'rejected', 3),
  proves('bare_rate_limited', 'rejected', 3, 3, 2),
];

/** Returns what a kind of failure proves. */
export function provenBy(kind: FailureKind): Kind {
  const found = kinds.find((row) => row.kind === kind);
  if (found === undefined) throw new Error(`The table has no kind ${kind}.`);
  return found;
}

/** A failure on the wire, and what it means. */
export interface Failure {
  /** What happened, as the guide names it. */
  readonly name: string;
  /** What `fetch` returns or throws. */
  readonly wire: () => Response | Error | Promise<Response>;
  readonly kind: FailureKind;
  /** Why another model is requested; `undefined` if none is. */
  readonly reason: FallbackReason | undefined;
  /** The class of the error. */
  readonly error: string;
  /** A part of its message. */
  readonly text: string;
  /** The kind for a read, if it differs; `undefined` if reads go on. */
  readonly free: FailureKind | undefined;
  /** `true` if the same request fails again, so that `x-should-retry: true` is ignored. */
  readonly isPermanent: boolean;
}

type Row = readonly [
  name: string,
  wire: Failure['wire'],
  kind: FailureKind,
  reason: FallbackReason | undefined,
  error: string,
  text: string,
  free?: FailureKind | 'none' | undefined,
  lasts?: 'permanent',
];

const lost = 'lost its connection';
const says = 'no';

/** An error of the gateway. */
const gatewayError =
  (status: number, fields: object = {}): (() => Response) =>
  () =>
    Response.json({ error: { message: 'no', type: 'new_api_error', ...fields } }, { status });

/** A task error whose message is the provider's response. */
const taskError = (status: number, message: string) => (): Response =>
  Response.json({ code: 'fail_to_fetch_task', message, data: null }, { status });

/** An error with status 200, in the format of a gateway or a provider. */
const inSuccess = (name: string, body: unknown): Row => [
  `200 with an error: ${name}`,
  () => Response.json(body),
  'undecided',
  'overload',
  'APIError',
  says,
  'refused',
];

const raw =
  (status: number, body: string | null, headers: Record<string, string> = {}): (() => Response) =>
  () =>
    new Response(body, { status, headers });

const page = (status: number): (() => Response) =>
  raw(status, '<html><title>nginx</title></html>', { 'content-type': 'text/html' });

const rows: readonly Row[] = [
  [
    'a refused connection',
    () => fetchFailure('ECONNREFUSED', 'connect'),
    'cannot_connect',
    undefined,
    'APIConnectionError',
    'could not connect',
  ],
  [
    'a connect timeout',
    () => fetchFailure('UND_ERR_CONNECT_TIMEOUT'),
    'cannot_connect',
    undefined,
    'APIConnectionError',
    'could not connect',
  ],
  [
    'an unknown host',
    () => fetchFailure('ENOTFOUND', 'getaddrinfo'),
    'host_not_found',
    undefined,
    'APIConnectionError',
    'ENOTFOUND',
  ],
  [
    'an expired certificate',
    () => fetchFailure('CERT_HAS_EXPIRED'),
    'tls_failed',
    undefined,
    'APIConnectionError',
    'CERT_HAS_EXPIRED',
  ],
  [
    'a lost connection',
    () => fetchFailure('ECONNRESET', 'read'),
    'interrupted',
    'overload',
    'APIConnectionError',
    lost,
  ],
  [
    'a connection that the system gave up',
    () => fetchFailure('ETIMEDOUT', 'read'),
    'interrupted',
    'overload',
    'APIConnectionTimeoutError',
    'ETIMEDOUT',
  ],
  [
    'a time limit of the client',
    never,
    'timed_out',
    'timeout',
    'APIConnectionTimeoutError',
    'took longer than 600000 ms',
  ],
  [
    "a time limit of Node's fetch",
    () => fetchFailure('UND_ERR_HEADERS_TIMEOUT'),
    'timed_out',
    'timeout',
    'APIConnectionTimeoutError',
    'UND_ERR_HEADERS_TIMEOUT',
  ],
  [
    "a time limit of Bun's fetch",
    () => new DOMException('The operation timed out.', 'TimeoutError'),
    'timed_out',
    'timeout',
    'APIConnectionTimeoutError',
    'took longer than fetch waits',
  ],
  [
    'a redirect',
    raw(307, null, { location: 'https://other.test/' }),
    'redirected',
    undefined,
    'UnexpectedRedirectError',
    '307',
    'none',
  ],
  [
    '300, which may follow the work',
    gatewayError(300),
    'redirected_after_work',
    undefined,
    'UnexpectedRedirectError',
    '300',
  ],
  ['200 with a page', page(200), 'unusable_answer', 'overload', 'UnexpectedResponseError', 'HTML'],
  [
    '200 with an empty body',
    raw(200, ''),
    'unusable_answer',
    'overload',
    'UnexpectedResponseError',
    'the response is',
  ],
  [
    '200 with a body that is cut',
    () => cutResponse('{"id":'),
    'unusable_answer',
    'overload',
    'UnexpectedResponseError',
    'ended before it was complete',
  ],
  [
    '200 with {}',
    raw(200, '{}', { 'content-type': 'application/json' }),
    'unusable_answer',
    'overload',
    'UnexpectedResponseError',
    'the response is JSON',
    'undecided',
  ],
  ['200 with an error', gatewayError(200), 'undecided', 'overload', 'APIError', says, 'refused'],
  inSuccess('a task error', { code: 'ali_api_error', message: says, data: null }),
  inSuccess('success: false', { success: false, message: says }),
  inSuccess('no wrapper', { code: null, type: 'x', param: null, message: says }),
  inSuccess('Google', { error: { code: 503, status: 'UNAVAILABLE', message: says } }),
  inSuccess('Google in a list', [{ error: { code: 503, status: 'UNAVAILABLE', message: says } }]),
  inSuccess('a price', { error: { code: 502, message: says }, usage: { total_tokens: 17 } }),
  inSuccess('an id', { id: 'chatcmpl-1', choices: [], error: { message: says } }),
  ['400', gatewayError(400), 'refused', undefined, 'BadRequestError', says],
  [
    '400 for content',
    gatewayError(400, { code: 'content_policy_violation' }),
    'refused',
    'content',
    'BadRequestError',
    says,
  ],
  [
    '400 for content, with a fee',
    gatewayError(400, { code: 'violation_fee.grok' }),
    'content_refused',
    'content',
    'BadRequestError',
    says,
    'refused',
    'permanent',
  ],
  [
    '400 for a long prompt',
    gatewayError(400, { message: 'prompt is too long: 9 tokens > 5 maximum' }),
    'refused',
    'context',
    'BadRequestError',
    'too long',
  ],
  [
    '400 for the context of a model',
    gatewayError(400, { message: "This model's maximum context length is 10 tokens." }),
    'refused',
    'context',
    'BadRequestError',
    'context length',
  ],
  [
    '400 for an invalid model',
    gatewayError(400, { message: 'Invalid model: gpt-9' }),
    'refused',
    'model',
    'BadRequestError',
    'gpt-9',
  ],
  [
    '400 for a deprecated model',
    gatewayError(400, { message: 'The model `a` has been deprecated.' }),
    'refused',
    'model',
    'BadRequestError',
    'deprecated',
  ],
  [
    '400 for a parameter of a model',
    gatewayError(400, { message: 'Invalid model parameters: temperature must be <= 2' }),
    'refused',
    undefined,
    'BadRequestError',
    'temperature',
  ],
  [
    '400 for an unsupported parameter',
    gatewayError(400, {
      message: 'The model `a` was called with a parameter "logit_bias" that is not supported',
    }),
    'refused',
    undefined,
    'BadRequestError',
    'logit_bias',
  ],
  [
    '400 for a value',
    gatewayError(400, { message: "For this model, the value 'required' is not supported." }),
    'refused',
    undefined,
    'BadRequestError',
    'required',
  ],
  [
    '400 of LiteLLM for a key',
    gatewayError(400, { message: 'No connected db.', type: 'no_db_connection' }),
    'unauthorized',
    undefined,
    'BadRequestError',
    'No connected db',
  ],
  [
    '400 of LiteLLM for a key, without a type',
    gatewayError(400, { message: 'No connected db.', type: null }),
    'unauthorized',
    undefined,
    'BadRequestError',
    'No connected db',
  ],
  [
    '400 that quotes LiteLLM',
    gatewayError(400, { message: 'The page says: no connected db.' }),
    'refused',
    undefined,
    'BadRequestError',
    'The page says',
  ],
  [
    '400 after a task was created',
    taskError(400, '{"id": "cut'),
    'unusable_answer',
    'overload',
    'BadRequestError',
    '400 {',
  ],
  ['401', gatewayError(401), 'unauthorized', undefined, 'AuthenticationError', says],
  [
    "401 for a provider's key",
    () =>
      Response.json(
        { error: { message: 'no', type: 'upstream_error' } },
        { status: 401, headers: { 'x-oneapi-request-id': 'r' } },
      ),
    'unauthorized',
    'model',
    'AuthenticationError',
    says,
  ],
  ['402', gatewayError(402), 'refused', undefined, 'PaymentRequiredError', says],
  [
    '403 for credit',
    gatewayError(403, { code: 'insufficient_user_quota' }),
    'refused',
    undefined,
    'PermissionDeniedError',
    says,
    undefined,
    'permanent',
  ],
  [
    '403 for credit, in words',
    gatewayError(403, { message: 'Your quota is not enough to call model a' }),
    'refused',
    undefined,
    'PermissionDeniedError',
    'quota',
  ],
  [
    '403 for the key',
    gatewayError(403, { message: 'This token is disabled' }),
    'refused',
    undefined,
    'PermissionDeniedError',
    'token',
  ],
  [
    '403 for the model',
    gatewayError(403, { message: 'This token has no access to model a' }),
    'refused',
    'model',
    'PermissionDeniedError',
    'no access',
  ],
  [
    '403 for a channel',
    gatewayError(403, { message: '该渠道已被禁用' }),
    'refused',
    'model',
    'PermissionDeniedError',
    '该渠道',
  ],
  [
    "403 for a provider's quota",
    gatewayError(403, { code: 'insufficient_quota' }),
    'refused',
    'limits',
    'PermissionDeniedError',
    says,
    undefined,
    'permanent',
  ],
  [
    '404 for a wrong URL',
    gatewayError(404, { message: 'Invalid URL (POST /v1/models/x)' }),
    'refused',
    undefined,
    'NotFoundError',
    'Invalid URL',
  ],
  [
    '404 of a host',
    raw(404, 'The deployment could not be found on Vercel.'),
    'refused',
    undefined,
    'NotFoundError',
    'Vercel',
  ],
  [
    '404 for the model',
    gatewayError(404, { code: 'model_not_found', message: 'No such model' }),
    'refused',
    'model',
    'NotFoundError',
    'models.list()',
    undefined,
    'permanent',
  ],
  [
    '404 for the model, in words',
    gatewayError(404, {
      message: 'The model `gpt-9` does not exist or you do not have access to it.',
    }),
    'refused',
    'model',
    'NotFoundError',
    'models.list()',
    undefined,
    'permanent',
  ],
  [
    '404 for the model, of Ollama',
    gatewayError(404, { message: 'model "llama9" not found, try pulling it first' }),
    'refused',
    'model',
    'NotFoundError',
    'models.list()',
    undefined,
    'permanent',
  ],
  ['408', gatewayError(408), 'interrupted', 'overload', 'APIError', says],
  [
    '408 with text',
    raw(408, 'Request Timeout'),
    'interrupted',
    'overload',
    'APIError',
    'Request Timeout',
  ],
  ['409', gatewayError(409), 'conflict', undefined, 'ConflictError', says],
  ['413', gatewayError(413), 'refused', undefined, 'RequestTooLargeError', says],
  ['422', gatewayError(422), 'refused', undefined, 'UnprocessableEntityError', says],
  ['424', gatewayError(424), 'undecided', 'overload', 'APIError', says],
  ['425', gatewayError(425), 'too_early', undefined, 'APIError', says],
  ['429', gatewayError(429), 'rate_limited', 'limits', 'RateLimitError', says],
  [
    '429 with Retry-After',
    () =>
      Response.json(
        { error: { message: 'no', code: 'rate_limit_exceeded' } },
        { status: 429, headers: { 'retry-after': '1' } },
      ),
    'rate_limited',
    'limits',
    'RateLimitError',
    says,
  ],
  [
    '429 for credit',
    gatewayError(429, { code: 'insufficient_user_quota' }),
    'refused',
    undefined,
    'RateLimitError',
    says,
    undefined,
    'permanent',
  ],
  [
    "429 for a provider's quota",
    gatewayError(429, { code: 'insufficient_quota' }),
    'refused',
    'limits',
    'RateLimitError',
    says,
    undefined,
    'permanent',
  ],
  ['429 without a body', raw(429, ''), 'bare_rate_limited', 'limits', 'RateLimitError', '429'],
  [
    '429 without a body, with Retry-After',
    raw(429, '', { 'retry-after': '3' }),
    'rate_limited',
    'limits',
    'RateLimitError',
    '429',
  ],
  [
    '429 without a body, with an unreadable Retry-After',
    raw(429, '', { 'retry-after': 'soon' }),
    'bare_rate_limited',
    'limits',
    'RateLimitError',
    '429',
  ],
  [
    '429 of a provider of tasks',
    taskError(429, '{"error":"busy","id":null,"request_id":"r"}'),
    'rate_limited',
    'limits',
    'RateLimitError',
    'busy',
  ],
  [
    '429 after a task was created',
    taskError(429, '{"data":{"task_id":"made"}}'),
    'unusable_answer',
    'limits',
    'RateLimitError',
    'made',
  ],
  [
    '429 after a task with a number was created',
    taskError(429, '{"taskId":7}'),
    'unusable_answer',
    'limits',
    'RateLimitError',
    '7',
  ],
  ['460', raw(460, ''), 'interrupted', 'overload', 'APIError', '460'],
  ['444', raw(444, ''), 'undecided', 'overload', 'APIError', '444'],
  ['499', gatewayError(499), 'interrupted', 'overload', 'APIError', says],
  ['500', gatewayError(500), 'server_error', 'overload', 'InternalServerError', says],
  [
    '500 for a conversion',
    gatewayError(500, { code: 'convert_request_failed' }),
    'refused',
    'model',
    'InternalServerError',
    says,
    undefined,
    'permanent',
  ],
  ['500 with a page', page(500), 'interrupted', 'overload', 'InternalServerError', 'nginx'],
  ['501', gatewayError(501), 'refused', 'model', 'InternalServerError', says],
  ['502 with a page', page(502), 'interrupted', 'overload', 'InternalServerError', 'nginx'],
  ['503', gatewayError(503), 'interrupted', 'overload', 'InternalServerError', says],
  [
    '503 with text',
    raw(503, 'Service Unavailable'),
    'interrupted',
    'overload',
    'InternalServerError',
    'Service Unavailable',
  ],
  [
    '503 without a channel',
    gatewayError(503, {
      message: 'No available channel for model a under group default (distributor)',
    }),
    'refused',
    'model',
    'InternalServerError',
    'models.list()',
    undefined,
    'permanent',
  ],
  [
    '503 without a channel, in Chinese',
    gatewayError(503, {
      message: '当前分组 default 下对于模型 a 无可用渠道 (request id: 2026)',
      type: 'one_api_error',
    }),
    'refused',
    'model',
    'InternalServerError',
    'models.list()',
    undefined,
    'permanent',
  ],
  [
    '503 for a missing model',
    gatewayError(503, { message: 'The model `a` does not exist' }),
    'refused',
    'model',
    'InternalServerError',
    'models.list()',
    undefined,
    'permanent',
  ],
  [
    '503 without another channel',
    gatewayError(503, { message: '分组 default 下模型 a 的可用渠道不存在（retry）' }),
    'interrupted',
    'model',
    'InternalServerError',
    'retry',
  ],
  [
    '503 of an overloaded model',
    gatewayError(503, { message: 'The model is overloaded: unknown error' }),
    'interrupted',
    'overload',
    'InternalServerError',
    'overloaded',
  ],
  [
    '503 of a busy model',
    gatewayError(503, { message: 'The model is not available, try again' }),
    'interrupted',
    'model',
    'InternalServerError',
    'try again',
  ],
  ['505', gatewayError(505), 'refused', undefined, 'InternalServerError', says],
  ['504 of a proxy', page(504), 'interrupted', 'overload', 'InternalServerError', 'nginx'],
];

/** What failures on the wire mean for calls: a new failure gets its row here. */
export const failures: readonly Failure[] = rows.map(
  ([name, wire, kind, reason, error, text, free = kind, lasts]) => ({
    name,
    wire,
    kind,
    reason,
    error,
    text,
    free: free === 'none' ? undefined : free,
    isPermanent: lasts === 'permanent',
  }),
);

/** Returns the kind of a failure for a call of this charge class; `undefined` if such calls go on. */
export const kindFor = ({ kind, free }: Failure, charge: ChargeClass): FailureKind | undefined =>
  charge === 'free' ? free : kind;
