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
  proves('response_lost', 'unknown', 3, 3, 1),
  proves('unusable_answer', 'unknown', 3, 1),
  proves('other_shape', 'unknown', 2, 1, 1, 1),
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
  lasts?: 'permanent' | undefined,
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

const errorNames: Readonly<Record<number, string>> = {
  200: 'APIError',
  400: 'BadRequestError',
  403: 'PermissionDeniedError',
  404: 'NotFoundError',
  413: 'RequestTooLargeError',
  422: 'UnprocessableEntityError',
  429: 'RateLimitError',
  500: 'InternalServerError',
  503: 'InternalServerError',
};

/** A rejection in the format of a vendor. */
const refusal = (
  name: string,
  status: number,
  body: unknown,
  reason: FallbackReason | undefined,
  text: string,
  lasts?: 'permanent',
): Row => [
  `${status} ${name}`,
  () => Response.json(body, { status }),
  'refused',
  reason,
  errorNames[status] ?? 'APIError',
  text,
  undefined,
  lasts,
];

/** An error about the account, which is not retried. */
const noCredit = (name: string, status: number, body: unknown): Row =>
  refusal(`without credit: ${name}`, status, body, 'limits', 'No credit is left', 'permanent');

/** A limit of a day or longer, which is not retried. */
const usedUp = (name: string, body: unknown): Row =>
  refusal(`for a long limit: ${name}`, 429, body, 'limits', 'A limit of a day', 'permanent');

/** A model that is missing at a vendor. */
const noModel = (name: string, status: number, body: unknown): Row =>
  refusal(`for the model: ${name}`, status, body, 'model', 'models.list()', 'permanent');

/** A model that cannot be used for this call. */
const otherModel = (name: string, status: number, body: unknown): Row =>
  refusal(`for another model: ${name}`, status, body, 'model', `${status}`);

/** A prompt that is too long for the model. */
const tooLong = (name: string, status: number, body: unknown): Row =>
  refusal(`for the length: ${name}`, status, body, 'context', `${status}`);

/** An error after which another model would fail too. */
const callers = (name: string, message: string): Row =>
  refusal(`for ${name}`, 400, { error: { message } }, undefined, message);

const vendorError = (message: string, fields: object = {}): object => ({
  error: { message, ...fields },
});

/** Google's error for a limit that is used up. */
const googleLimit = (quotaId: string): object => ({
  error: {
    code: 429,
    message:
      'You exceeded your current quota, please check your plan and billing details. Please retry in 1.5s.',
    status: 'RESOURCE_EXHAUSTED',
    details: [
      { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaId }] },
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '1s' },
    ],
  },
});

// Texts as vendors document them, or as their users report them.
const vendorRows: readonly Row[] = [
  noCredit('MiniMax', 429, {
    type: 'error',
    error: { type: 'insufficient_balance_error', message: 'insufficient balance (1008)' },
    request_id: '06',
  }),
  noCredit('MiniMax, by number', 429, { base_resp: { status_code: 1008, status_msg: 'no' } }),
  noCredit('MiniMax', 500, {
    base_resp: { status_code: 1008, status_msg: 'insufficient balance' },
  }),
  noCredit('Zhipu', 429, vendorError('余额不足或无可用资源包,请充值。', { code: '1113' })),
  noCredit('Zhipu, by number', 429, vendorError('no', { code: 1309 })),
  noCredit(
    'Z.ai',
    429,
    vendorError('Insufficient balance or no resource package. Please recharge.', { code: '1113' }),
  ),
  noCredit(
    'Moonshot',
    429,
    vendorError(
      'Your account org-1 <ak-1> is suspended due to insufficient balance, please recharge your account or check your plan and billing details',
      { type: 'exceeded_current_quota_error' },
    ),
  ),
  noCredit(
    'Moonshot, inactive',
    403,
    vendorError('Your account is not active, organization <org-1> exceeded current quota', {
      type: 'exceeded_current_quota_error',
    }),
  ),
  noCredit(
    'Ark',
    429,
    vendorError(
      'Your account 1 has reached the set inference limit for the m model, and the model service has been paused.',
      { code: 'SetLimitExceeded', type: 'TooManyRequests' },
    ),
  ),
  noCredit(
    'DashScope, of the free tier',
    429,
    vendorError('The free tier of the model has been exhausted.', {
      code: 'AllocationQuota.FreeTierOnly',
    }),
  ),
  noCredit('a limit of spending', 429, vendorError('You have reached your spending limit.')),
  noCredit(
    'Ark, overdue',
    403,
    vendorError('The request failed because your account has an overdue balance.', {
      code: 'AccountOverdueError',
    }),
  ),
  noCredit(
    'Anthropic',
    400,
    vendorError('Your credit balance is too low to access the Anthropic API.', {
      type: 'invalid_request_error',
    }),
  ),
  noCredit('in a success', 200, vendorError('no', { code: 'insufficient_quota' })),
  usedUp('Cohere', {
    message: 'You are using a Trial key, which is limited to 1000 API calls / month.',
  }),
  usedUp('GitHub', {
    error: {
      code: 'RateLimitReached',
      message:
        'Rate limit of 50 per 86400s exceeded for UserByModelByDay. Please wait 41234 seconds before retrying.',
    },
  }),
  usedUp('Google', googleLimit('GenerateRequestsPerDayPerProjectPerModel-FreeTier')),
  usedUp('OpenRouter', vendorError('Rate limit exceeded: free-models-per-day', { code: 429 })),
  [
    '429 for a limit of a minute, of Google',
    () =>
      Response.json(googleLimit('GenerateRequestsPerMinutePerProjectPerModel'), { status: 429 }),
    'rate_limited',
    'limits',
    'RateLimitError',
    'exceeded',
  ],
  [
    '429 for a limit of a day that is reset soon',
    () =>
      Response.json(
        vendorError('Rate limit reached on tokens per day (TPD). Please try again in 8.64s.'),
        { status: 429 },
      ),
    'rate_limited',
    'limits',
    'RateLimitError',
    'TPD',
  ],
  [
    '429 for a limit of a minute, of Cohere',
    () =>
      Response.json(
        { message: 'You are using a Trial key, which is limited to 40 API calls / minute.' },
        { status: 429 },
      ),
    'rate_limited',
    'limits',
    'RateLimitError',
    'minute',
  ],
  noModel(
    'One Hub',
    503,
    vendorError('当前分组 default 下对于模型 m 无可用渠道', { code: 'one_hub_error' }),
  ),
  noModel('One Hub, in English', 503, vendorError('no channel', { code: 'one_hub_error' })),
  [
    '503 without another channel, with a code of its own',
    gatewayError(503, { message: 'No available channel (retry)', code: 'one_hub_error' }),
    'interrupted',
    'model',
    'InternalServerError',
    'retry',
  ],
  noModel('in a success', 200, vendorError('no available channel for model m', { code: 'x' })),
  noModel(
    'Ark',
    404,
    vendorError('The model or endpoint m does not exist or you do not have access to it.', {
      code: 'InvalidEndpointOrModel.NotFound',
    }),
  ),
  noModel(
    'Ark, not activated',
    404,
    vendorError('Your account 1 has not activated the model m.', { code: 'ModelNotOpen' }),
  ),
  noModel('in another region', 404, vendorError('Model m is not available in your region')),
  noModel('in other words', 404, vendorError('Could not find model m')),
  noModel('GitHub', 404, vendorError('Unknown model: m', { code: 'unknown_model' })),
  noModel('Databricks', 404, {
    error_code: 'RESOURCE_DOES_NOT_EXIST',
    message:
      'The given endpoint does not exist, please retry after checking the specified model and version deployment exists.',
  }),
  noModel(
    'Google',
    404,
    vendorError(
      'models/m is not found for API version v1beta, or is not supported for generateContent.',
      { code: 404, status: 'NOT_FOUND' },
    ),
  ),
  noModel(
    'Fireworks',
    404,
    vendorError('Model not found, inaccessible, and/or not deployed', { code: 'NOT_FOUND' }),
  ),
  [
    '404 for the model: Envoy',
    raw(
      404,
      'No matching route found. It is likely because the model specified in your request is not configured in the Gateway.',
    ),
    'refused',
    'model',
    'NotFoundError',
    'models.list()',
    undefined,
    'permanent',
  ],
  noModel('NVIDIA', 404, {
    status: 404,
    title: 'Not Found',
    detail: "Function '1': Not found for account '2'",
  }),
  otherModel(
    'Azure',
    400,
    vendorError(
      'The chatCompletion operation does not work with the specified model, m. Please choose different model and try again.',
      { code: 'OperationNotSupported' },
    ),
  ),
  otherModel(
    'Together',
    400,
    vendorError(
      'Unable to access non-serverless model m. Please create a new dedicated endpoint.',
      { code: 'model_not_available' },
    ),
  ),
  otherModel('a route', 400, vendorError("m isn't supported on this route")),
  otherModel('Bedrock', 400, { message: 'The provided model identifier is invalid.' }),
  otherModel('GitHub', 400, vendorError('Unavailable model: m', { code: 'unavailable_model' })),
  [
    '410 for another model: NVIDIA',
    () =>
      Response.json(
        { status: 410, title: 'Gone', detail: "The model 'm' has reached its end of life." },
        { status: 410 },
      ),
    'refused',
    'model',
    'APIError',
    'end of life',
  ],
  tooLong('Text Generation Inference', 422, {
    error: 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096.',
  }),
  tooLong('TabbyAPI', 400, vendorError('Prompt length 5000 is greater than max_seq_len 4096')),
  tooLong('Cohere', 400, { message: 'too many tokens: size limit exceeded by 3 tokens' }),
  tooLong(
    'GitHub',
    413,
    vendorError('Request body too large for m. Max size: 8000 tokens.', {
      code: 'tokens_limit_reached',
    }),
  ),
  tooLong(
    'LM Studio',
    400,
    vendorError(
      'Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.',
    ),
  ),
  tooLong(
    'Ark',
    400,
    vendorError('Total tokens of image and text exceed max message tokens.', {
      code: 'InvalidParameter',
    }),
  ),
  tooLong('Snowflake', 400, { message: 'max tokens of 4096 exceeded' }),
  callers('the number of tokens', 'max_tokens is too large: 5000. It must be at most 4096.'),
  callers('a missing field', "Missing required parameter: 'messages'."),
  callers('a wrong image', 'Failed to download the image at this URL.'),
  callers('a wrong tool', "Invalid 'tools[0].function.name': string does not match pattern."),
  callers('a wrong role', "Invalid value: 'bot'. Supported values are: 'system' and 'user'."),
  refusal(
    'for the key, in words',
    403,
    { message: 'Invalid access token' },
    undefined,
    'Check apiKey',
  ),
  refusal(
    'for a token',
    403,
    vendorError('The token is invalid or expired'),
    undefined,
    'Check apiKey',
  ),
  refusal(
    'for the key, in other words',
    403,
    vendorError('Forbidden, please make sure your API Key is valid'),
    undefined,
    'Check apiKey',
  ),
  refusal(
    'for the key',
    500,
    vendorError('no', { code: 'invalid_api_key' }),
    undefined,
    'Check apiKey',
  ),
  refusal(
    'for the key',
    200,
    vendorError('no', { code: 'invalid_api_key' }),
    undefined,
    'Check apiKey',
  ),
  refusal('for the request', 200, vendorError('no', { code: 'invalid_request' }), undefined, says),
  refusal(
    'for the format: llama.cpp',
    500,
    vendorError(
      'response_format type must be one of "text" or "json_object", but got: json_schema',
      {
        type: 'server_error',
        code: 500,
      },
    ),
    undefined,
    'json_schema',
    'permanent',
  ),
  refusal(
    'for the format: llama-cpp-python',
    500,
    vendorError(
      "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be 'text' or 'json_object'\"}]",
      { type: 'internal_server_error' },
    ),
    undefined,
    'literal_error',
    'permanent',
  ),
  ...[
    gatewayError(500, { code: 'unmarshal_response_body_failed' }),
    gatewayError(500, { code: 'read_response_body_failed' }),
    gatewayError(500, { code: 'do_request_failed' }),
    gatewayError(500, { message: 'Post: unexpected EOF, no more' }),
  ].map((wire, at): Row => [
    `500 after a lost response, ${at}`,
    wire,
    'response_lost',
    'overload',
    'InternalServerError',
    says,
  ]),
];

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
    'other_shape',
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
    'No credit is left',
    undefined,
    'permanent',
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
    '500 for a missing model, which may follow work',
    gatewayError(500, { message: 'The model `a` does not exist' }),
    'server_error',
    'model',
    'InternalServerError',
    'does not exist',
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
  ...vendorRows,
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
