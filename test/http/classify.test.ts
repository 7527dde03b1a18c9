import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { classifyStatus, classifyThrown } from '../../src/http/classify.ts';
import { readErrorText } from '../../src/answers/error-body.ts';
import { failures, type FailureKind } from '../../src/http/retry.ts';

function kindOfStatus(status: number, text: string, headers: Record<string, string> = {}) {
  return classifyStatus(status, readErrorText(text), new Headers(headers));
}

function withCode(code: string | number | null): string {
  return JSON.stringify({ error: { message: 'no', type: 'new_api_error', code } });
}

/** An error that has a message, and no code unless one is passed. */
function saying(message: string, type: string | null = 'new_api_error', code?: string): string {
  return JSON.stringify({ error: { message, type, code } });
}

function taskError(code: string): string {
  return JSON.stringify({ code, message: 'no', data: null });
}

/** A task error that repeats what a provider said. */
function vendorSaid(said: object | string): string {
  const message = typeof said === 'string' ? said : JSON.stringify(said);
  return JSON.stringify({ code: 'fail_to_fetch_task', message, data: null });
}

describe('classifyStatus()', () => {
  test.each([
    'model_not_found',
    'invalid_request',
    'sensitive_words_detected',
    'count_token_failed',
    'model_price_error',
    'insufficient_user_quota',
    'pre_consume_token_quota_failed',
  ])('%s is not retried, whatever the status', (code) => {
    for (const status of [400, 403, 408, 429, 500, 502, 503]) {
      expect(kindOfStatus(status, withCode(code))).toBe('refused');
      expect(kindOfStatus(status, taskError(code))).toBe('refused');
    }
  });

  test.each(['prompt_blocked', 'violation_fee.grok.csam'])(
    '%s may be billed, whatever the status, except on a read',
    (code) => {
      for (const status of [400, 403, 408, 429, 500, 503]) {
        expect(kindOfStatus(status, withCode(code))).toBe('content_refused');
        const body = readErrorText(withCode(code));
        expect(classifyStatus(status, body, new Headers(), 'free')).toBe('refused');
      }
    },
  );

  test.each([
    ['{"error":{"message":"no","type":"insufficient_quota","code":null}}'],
    ['{"error":{"message":"no","type":"x","code":"insufficient_quota"}}'],
    ['{"error":{"message":"no","type":"x","code":"billing_hard_limit_reached"}}'],
  ])('treats a 429 about a quota as permanent: %s', (text) => {
    expect(kindOfStatus(429, text)).toBe('refused');
  });

  test.each<{ status: number; text: string; name: string; expected: FailureKind }>([
    { status: 400, text: '', name: 'an unparsable body', expected: 'refused' },
    {
      status: 400,
      text: taskError('task_not_exist'),
      name: 'an unknown task',
      expected: 'refused',
    },
    { status: 401, text: withCode(''), name: 'a bad key', expected: 'unauthorized' },
    {
      status: 401,
      text: withCode('invalid_api_key'),
      name: 'the key of the channel',
      expected: 'unauthorized',
    },
    {
      status: 402,
      text: withCode('blockrun_payment_rejected'),
      name: 'a rejected payment',
      expected: 'refused',
    },
    {
      status: 402,
      text: withCode('blockrun_settlement_unknown'),
      name: 'a payment of unknown fate',
      expected: 'unusable_answer',
    },
    {
      status: 500,
      text: withCode('blockrun_settlement_unknown'),
      name: 'a payment of unknown fate',
      expected: 'unusable_answer',
    },
    { status: 403, text: withCode('access_denied'), name: 'a refusal', expected: 'refused' },
    { status: 404, text: withCode(''), name: 'an unknown route', expected: 'refused' },
    { status: 408, text: '', name: 'a request timeout', expected: 'interrupted' },
    {
      status: 409,
      text: withCode('idempotency_conflict'),
      name: 'a conflict',
      expected: 'conflict',
    },
    {
      status: 413,
      text: withCode('read_request_body_failed'),
      name: 'a body too large',
      expected: 'refused',
    },
    { status: 422, text: '{"detail":"no"}', name: 'a refusal', expected: 'refused' },
    { status: 425, text: '', name: 'too early', expected: 'too_early' },
    { status: 429, text: withCode(''), name: 'the limit of a user', expected: 'rate_limited' },
    {
      status: 429,
      text: withCode('get_channel_failed'),
      name: 'the limit of a channel',
      expected: 'rate_limited',
    },
    {
      status: 429,
      text: taskError('get_channel_failed'),
      name: 'the limit of a task',
      expected: 'rate_limited',
    },
    { status: 429, text: '', name: 'a silent limit', expected: 'bare_rate_limited' },
    {
      status: 429,
      text: '<html>slow down</html>',
      name: 'the page of a middlebox',
      expected: 'bare_rate_limited',
    },
    {
      status: 429,
      text: 'Too many requests',
      name: 'the text of a middlebox',
      expected: 'bare_rate_limited',
    },
    {
      status: 500,
      text: withCode('do_request_failed'),
      name: 'an error of the gateway',
      expected: 'server_error',
    },
    {
      status: 500,
      text: withCode('bad_response_body'),
      name: 'a broken answer of the provider',
      expected: 'server_error',
    },
    {
      status: 400,
      text: withCode('bad_response_body'),
      name: 'the same under a remapped status',
      expected: 'unusable_answer',
    },
    {
      status: 400,
      text: withCode('read_response_body_failed'),
      name: 'the same under a remapped status',
      expected: 'unusable_answer',
    },
    {
      status: 500,
      text: '{"message":"Internal server error"}',
      name: 'JSON of no gateway',
      expected: 'interrupted',
    },
    { status: 500, text: '<html></html>', name: 'a page', expected: 'interrupted' },
    { status: 500, text: '', name: 'nothing', expected: 'interrupted' },
    {
      status: 501,
      text: withCode('api_not_implemented'),
      name: 'a missing route',
      expected: 'refused',
    },
    { status: 505, text: '', name: 'a missing version', expected: 'refused' },
    { status: 502, text: '<html></html>', name: 'a proxy', expected: 'interrupted' },
    {
      status: 502,
      text: withCode('bad_response_status_code'),
      name: 'a relayed status',
      expected: 'interrupted',
    },
    {
      status: 503,
      text: withCode('system_cpu_overloaded'),
      name: 'an overloaded gateway',
      expected: 'interrupted',
    },
    { status: 503, text: '<html></html>', name: 'a proxy', expected: 'interrupted' },
    {
      status: 503,
      text: saying(
        '当前分组 default 下对于模型 nope 无可用渠道 (request id: 2026)',
        'one_api_error',
      ),
      name: 'an unknown model at one-api',
      expected: 'refused',
    },
    {
      status: 503,
      text: saying('No available channel for model nope under group default (distributor)'),
      name: 'an unknown model at an older build',
      expected: 'refused',
    },
    {
      status: 503,
      text: saying('The model `nope` does not exist'),
      name: 'an unknown model',
      expected: 'refused',
    },
    {
      status: 503,
      text: saying('分组 default 下模型 nope 的可用渠道不存在（retry）'),
      name: 'no other channel after one that failed',
      expected: 'interrupted',
    },
    {
      status: 503,
      text: saying('The model is overloaded: unknown error'),
      name: 'an overloaded model',
      expected: 'interrupted',
    },
    {
      status: 503,
      text: saying('The model is not available, try again'),
      name: 'a busy model',
      expected: 'interrupted',
    },
    {
      status: 400,
      text: saying('No connected db.', 'no_db_connection', '400'),
      name: 'a key at LiteLLM',
      expected: 'unauthorized',
    },
    {
      status: 400,
      text: saying('No connected db.', null, '400'),
      name: 'a key at LiteLLM',
      expected: 'unauthorized',
    },
    {
      status: 400,
      text: saying('The page says: no connected db.'),
      name: 'a refusal',
      expected: 'refused',
    },
    { status: 504, text: '', name: 'a proxy', expected: 'interrupted' },
    { status: 524, text: 'error code: 524', name: 'Cloudflare', expected: 'interrupted' },
    {
      status: 529,
      text: withCode('bad_response_status_code'),
      name: 'a relayed status',
      expected: 'interrupted',
    },
    {
      status: 400,
      text: taskError('fail_to_fetch_task'),
      name: 'a provider that refused',
      expected: 'refused',
    },
    {
      status: 401,
      text: taskError('fail_to_fetch_task'),
      name: 'a provider that refused its key',
      expected: 'refused',
    },
    {
      status: 429,
      text: taskError('fail_to_fetch_task'),
      name: 'a provider that is busy',
      expected: 'rate_limited',
    },
    {
      status: 429,
      text: vendorSaid({ error: 'busy', request_id: 'r' }),
      name: 'a busy provider',
      expected: 'rate_limited',
    },
    {
      status: 429,
      text: vendorSaid({ error: 'busy', id: null }),
      name: 'a busy provider',
      expected: 'rate_limited',
    },
    {
      status: 429,
      text: vendorSaid({ data: { task_id: 'made' } }),
      name: 'a task that was made',
      expected: 'unusable_answer',
    },
    {
      status: 429,
      text: vendorSaid({ taskId: 7 }),
      name: 'a task that was made',
      expected: 'unusable_answer',
    },
    {
      status: 400,
      text: vendorSaid('{"id": "cut'),
      name: 'a task that was made, in cut words',
      expected: 'unusable_answer',
    },
    {
      status: 424,
      text: taskError('fail_to_fetch_task'),
      name: 'a provider that depends on others',
      expected: 'unusable_answer',
    },
    {
      status: 499,
      text: taskError('fail_to_fetch_task'),
      name: 'a provider that was left alone',
      expected: 'unusable_answer',
    },
    {
      status: 408,
      text: taskError('fail_to_fetch_task'),
      name: 'a provider that timed out',
      expected: 'unusable_answer',
    },
    {
      status: 500,
      text: taskError('fail_to_fetch_task'),
      name: 'a provider that broke',
      expected: 'unusable_answer',
    },
    { status: 304, text: '', name: 'not modified', expected: 'redirected_after_work' },
  ])('$status $text ($name): $expected', ({ status, text, expected }) => {
    expect(kindOfStatus(status, text)).toBe(expected);
  });

  test('a 429 with nothing but a hint is a rate limit', () => {
    expect(kindOfStatus(429, '', { 'retry-after': '3' })).toBe('rate_limited');
    expect(kindOfStatus(429, '', { 'retry-after-ms': '3' })).toBe('rate_limited');
    expect(kindOfStatus(429, '', { 'ratelimit-reset': '3' })).toBe('rate_limited');
    expect(kindOfStatus(429, '', { 'retry-after': 'soon' })).toBe('bare_rate_limited');
  });

  test('no 5xx but a missing route and a code that cannot heal says that nothing was charged', () => {
    const body = fc.oneof(
      fc.constantFrom('', '<html></html>', 'error', '{}'),
      fc.jsonValue().map((code) => JSON.stringify({ error: { message: 'no', code } })),
    );
    fc.assert(
      fc.property(fc.integer({ min: 500, max: 599 }), body, (status, text) => {
        const kind = kindOfStatus(status, text);
        const isMissing = status === 501 || status === 505;
        return failures[kind].outcome === (isMissing ? 'rejected' : 'unknown');
      }),
    );
  });
});

/** An error as runtimes make them: with fields next to its message. */
function failure(message: string, fields: object = {}): Error {
  return Object.assign(new Error(message), fields);
}

/** An error of Node's fetch. */
function fetchFailed(cause: unknown): TypeError {
  return new TypeError('fetch failed', { cause });
}

const refused = { code: 'ECONNREFUSED', syscall: 'connect' };

describe('classifyThrown()', () => {
  test('does not know which redirect it was that Node refused to follow with an upload', () => {
    const { kind, phase } = classifyThrown(fetchFailed(failure('unexpected redirect')));

    expect([kind, phase, failures[kind].outcome]).toEqual([
      'redirected_after_work',
      'headers',
      'unknown',
    ]);
  });

  test.each<{ name: string; error: unknown; expected: FailureKind }>([
    {
      name: 'refused',
      error: fetchFailed(failure('connect', refused)),
      expected: 'cannot_connect',
    },
    {
      name: 'unreachable',
      error: fetchFailed(failure('', { code: 'EHOSTUNREACH', syscall: 'connect' })),
      expected: 'cannot_connect',
    },
    {
      name: 'no route',
      error: fetchFailed(failure('', { code: 'ENETUNREACH', syscall: 'connect' })),
      expected: 'cannot_connect',
    },
    {
      name: 'network down',
      error: fetchFailed(failure('', { code: 'ENETDOWN', syscall: 'connect' })),
      expected: 'cannot_connect',
    },
    {
      name: 'no address',
      error: fetchFailed(failure('', { code: 'EADDRNOTAVAIL', syscall: 'connect' })),
      expected: 'cannot_connect',
    },
    {
      name: 'connect timed out',
      error: fetchFailed(failure('', { code: 'ETIMEDOUT', syscall: 'connect' })),
      expected: 'cannot_connect',
    },
    {
      name: 'connect timeout',
      error: fetchFailed(failure('', { code: 'UND_ERR_CONNECT_TIMEOUT' })),
      expected: 'cannot_connect',
    },
    {
      name: 'proxy refused',
      error: fetchFailed(failure('', { code: 'UND_ERR_PRX_CONN' })),
      expected: 'cannot_connect',
    },
    {
      name: 'proxy TLS',
      error: fetchFailed(failure('', { code: 'UND_ERR_PRX_TLS' })),
      expected: 'cannot_connect',
    },
    {
      name: 'SOCKS',
      error: fetchFailed(failure('', { code: 'UND_ERR_SOCKS5_CONNECT' })),
      expected: 'cannot_connect',
    },
    { name: 'forbidden port', error: fetchFailed(failure('bad port')), expected: 'invalid_input' },
    {
      name: 'bad header',
      error: fetchFailed(failure('', { code: 'UND_ERR_INVALID_ARG' })),
      expected: 'invalid_input',
    },
    {
      name: 'pool closed',
      error: fetchFailed(failure('', { code: 'UND_ERR_CLOSED' })),
      expected: 'cannot_connect',
    },
    {
      name: 'name server busy',
      error: fetchFailed(failure('', { code: 'EAI_AGAIN', syscall: 'getaddrinfo' })),
      expected: 'cannot_connect',
    },
    {
      name: 'no such name',
      error: fetchFailed(failure('', { code: 'ENOTFOUND', syscall: 'getaddrinfo' })),
      expected: 'host_not_found',
    },
    {
      name: 'nothing written',
      error: fetchFailed(failure('', { code: 'UND_ERR_SOCKET', socket: { bytesWritten: 0 } })),
      expected: 'cannot_connect',
    },
    {
      name: 'self-signed',
      error: fetchFailed(failure('', { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })),
      expected: 'tls_failed',
    },
    {
      name: 'self-signed in chain',
      error: fetchFailed(failure('', { code: 'SELF_SIGNED_CERT_IN_CHAIN' })),
      expected: 'tls_failed',
    },
    {
      name: 'expired',
      error: fetchFailed(failure('', { code: 'CERT_HAS_EXPIRED' })),
      expected: 'tls_failed',
    },
    {
      name: 'no issuer',
      error: fetchFailed(failure('', { code: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY' })),
      expected: 'tls_failed',
    },
    {
      name: 'other name',
      error: fetchFailed(failure('', { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })),
      expected: 'tls_failed',
    },
    {
      name: 'https to http',
      error: fetchFailed(
        failure('wrong version number:ssl/record/methods/tlsany_meth.c:77:', {
          code: 'ERR_SSL_WRONG_VERSION_NUMBER',
        }),
      ),
      expected: 'tls_failed',
    },
    {
      name: 'old TLS',
      error: fetchFailed(failure('', { code: 'ERR_SSL_UNSUPPORTED_PROTOCOL' })),
      expected: 'tls_failed',
    },
    {
      name: 'REFUSED_STREAM',
      error: fetchFailed(failure('', { code: 'UND_ERR_INFO', http2ErrorCode: 7 })),
      expected: 'cannot_connect',
    },
    {
      name: 'all addresses refused',
      error: fetchFailed(new AggregateError([failure('', refused), failure('', refused)])),
      expected: 'cannot_connect',
    },
    {
      name: 'some addresses slow',
      error: fetchFailed(
        new AggregateError([
          failure('', refused),
          failure('', { code: 'ETIMEDOUT', syscall: 'connect' }),
        ]),
      ),
      expected: 'cannot_connect',
    },
    {
      name: 'Bun: refused',
      error: failure('Unable to connect', { code: 'ConnectionRefused' }),
      expected: 'cannot_connect',
    },
    {
      name: 'Bun: refused, new',
      error: failure('Unable to connect', { code: 'ECONNREFUSED' }),
      expected: 'cannot_connect',
    },
    {
      name: 'Bun: no such name',
      error: failure('', { code: 'ENOTFOUND' }),
      expected: 'host_not_found',
    },
    {
      name: 'Bun: self-signed',
      error: failure('', { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }),
      expected: 'tls_failed',
    },
    {
      name: 'Deno: REFUSED_STREAM',
      error: fetchFailed(
        failure('stream error received: refused stream before processing any application logic'),
      ),
      expected: 'cannot_connect',
    },
    {
      name: 'Deno: refused',
      error: new TypeError(
        'error sending request for url (http://127.0.0.1:1/): client error (Connect): tcp connect error: Connection refused (os error 111)',
      ),
      expected: 'cannot_connect',
    },
    {
      name: 'Deno: no such name',
      error: new TypeError(
        'error sending request: client error (Connect): dns error: failed to lookup address information: Name or service not known',
      ),
      expected: 'host_not_found',
    },
    {
      name: 'Deno: certificate',
      error: new TypeError(
        'error sending request: client error (Connect): invalid peer certificate: UnknownIssuer',
      ),
      expected: 'tls_failed',
    },
    {
      name: 'Deno: https to http',
      error: new TypeError(
        'error sending request: client error (Connect): received corrupt message of type InvalidContentType',
      ),
      expected: 'tls_failed',
    },
  ])('proves that nothing was sent: $name', ({ error, expected }) => {
    const found = classifyThrown(error);

    expect(found.kind).toBe(expected);
    expect(found.cause).toBe(error);
  });

  test.each<[string, unknown]>([
    ['reset while reading', fetchFailed(failure('', { code: 'ECONNRESET', syscall: 'read' }))],
    ['reset while writing', fetchFailed(failure('', { code: 'ECONNRESET', syscall: 'write' }))],
    ['broken pipe', fetchFailed(failure('', { code: 'EPIPE', syscall: 'write' }))],
    [
      'closed',
      fetchFailed(
        failure('other side closed', { code: 'UND_ERR_SOCKET', socket: { bytesWritten: 230 } }),
      ),
    ],
    ['closed, not told how much', fetchFailed(failure('', { code: 'UND_ERR_SOCKET' }))],
    ['read timed out', fetchFailed(failure('', { code: 'ETIMEDOUT', syscall: 'read' }))],
    ['timed out, not told where', fetchFailed(failure('', { code: 'ETIMEDOUT' }))],
    [
      'unreachable while reading',
      fetchFailed(failure('', { code: 'EHOSTUNREACH', syscall: 'read' })),
    ],
    ['no route while writing', fetchFailed(failure('', { code: 'ENETUNREACH', syscall: 'write' }))],
    ['network down, not told where', fetchFailed(failure('', { code: 'ENETDOWN' }))],
    ['refused while reading', fetchFailed(failure('', { code: 'ECONNREFUSED', syscall: 'read' }))],
    ['parser', fetchFailed(failure('', { code: 'HPE_INVALID_CONSTANT' }))],
    ['destroyed', fetchFailed(failure('', { code: 'UND_ERR_DESTROYED' }))],
    ['aborted by undici', fetchFailed(failure('', { code: 'UND_ERR_ABORTED' }))],
    [
      'a late TLS alert: no client certificate',
      fetchFailed(failure('', { code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED' })),
    ],
    [
      'a late TLS alert: bad certificate',
      fetchFailed(failure('', { code: 'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE' })),
    ],
    [
      'a late TLS alert: handshake failure',
      fetchFailed(failure('', { code: 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE' })),
    ],
    ['TLS record', fetchFailed(failure('', { code: 'ERR_SSL_SSLV3_ALERT_BAD_RECORD_MAC' }))],
    ['EPROTO', fetchFailed(failure('write EPROTO', { code: 'EPROTO', syscall: 'write' }))],
    [
      'Bun: a broken record after the request',
      failure('EPROTO: The TLS handshake failed. Does the server speak TLS on this port?', {
        code: 'EPROTO',
      }),
    ],
    [
      'a broken record after the request, under TLS 1.2 in OpenSSL 3.5',
      fetchFailed(
        failure('wrong version number:ssl/record/methods/tls_common.c:1001:', {
          code: 'ERR_SSL_WRONG_VERSION_NUMBER',
        }),
      ),
    ],
    [
      'a broken record in OpenSSL 3.0, which does not tell when it came',
      fetchFailed(
        failure('ssl3_get_record:wrong version number:ssl/record/ssl3_record.c:354:', {
          code: 'ERR_SSL_WRONG_VERSION_NUMBER',
        }),
      ),
    ],
    ['EPROTO with a late alert', failure('sslv3 alert handshake failure', { code: 'EPROTO' })],
    [
      'some address connected',
      fetchFailed(
        new AggregateError(
          [failure('', refused), failure('', { code: 'ECONNRESET', syscall: 'read' })],
          'x',
        ),
      ),
    ],
    [
      'an aggregate with a code of its own',
      fetchFailed(
        Object.assign(new AggregateError([failure('', refused), failure('odd')]), refused),
      ),
    ],
    ['an aggregate of anything', fetchFailed(new AggregateError([1, null, 'ECONNREFUSED']))],
    [
      'a lost connection caused by a refused one',
      failure('', { code: 'ECONNRESET', cause: failure('', refused) }),
    ],
    [
      'an unknown code caused by a refused one',
      failure('', { code: 'ERR_RETRIED', cause: failure('', refused) }),
    ],
    ['HTTP/2 cancel', fetchFailed(failure('', { code: 'UND_ERR_INFO', http2ErrorCode: 8 }))],
    ['HTTP/2 internal error', fetchFailed(failure('', { http2ErrorCode: 2 }))],
    [
      'Bun: reset',
      failure('The socket connection was closed unexpectedly', { code: 'ECONNRESET' }),
    ],
    ['Bun: parser', failure('', { code: 'Malformed_HTTP_Response' })],
    [
      'Deno: reset',
      new TypeError(
        'error sending request: client error (SendRequest): connection error: Connection reset by peer (os error 104)',
      ),
    ],
    [
      'Deno: parser',
      new TypeError(
        'error sending request: client error (SendRequest): invalid HTTP version parsed',
      ),
    ],
    ['Chrome', new TypeError('Failed to fetch')],
    ['Safari', new TypeError('Load failed')],
    ['Firefox', new TypeError('NetworkError when attempting to fetch resource.')],
    ['nothing', undefined],
    ['text', 'ECONNREFUSED'],
    ['a number', 7],
    ['a text in the message', new Error('connect ECONNREFUSED 127.0.0.1:1')],
  ])('does not know what became of it: %s', (_, error) => {
    const found = classifyThrown(error);

    expect(found.kind).toBe('interrupted');
    expect(failures[found.kind].outcome).toBe('unknown');
  });

  test.each<[string, unknown]>([
    ['headers timeout', fetchFailed(failure('', { code: 'UND_ERR_HEADERS_TIMEOUT' }))],
    ['body timeout', fetchFailed(failure('', { code: 'UND_ERR_BODY_TIMEOUT' }))],
    ['Bun: timeout', new DOMException('The operation timed out.', 'TimeoutError')],
    ['an abort that is not of this client', new DOMException('aborted', 'AbortError')],
    ['node-fetch: timeout', failure('network timeout at: https://gateway.test')],
  ])('is a time limit of fetch: %s', (_, error) => {
    const found = classifyThrown(error);

    expect(found).toMatchObject({ kind: 'timed_out', phase: 'sent', cause: error });
    expect(failures[found.kind].outcome).toBe('unknown');
  });

  const ours = 'https://gateway.test/v1/images/generations';
  const local = 'http://127.0.0.1:8080/v1/images/generations';
  const odd = 'https://gateway.test:8443/v1/images/generations';

  test.each<{ name: string; url: string; error: unknown }>([
    {
      name: 'its own port',
      url: odd,
      error: failure('', { ...refused, address: '192.0.2.1', port: 8443 }),
    },
    {
      name: 'its address and port',
      url: local,
      error: failure('', { ...refused, address: '127.0.0.1', port: 8080 }),
    },
    {
      name: 'an address of IPv6',
      url: 'http://[::1]:8080/v1',
      error: failure('', { ...refused, address: '::1', port: 8080 }),
    },
    {
      name: 'its name',
      url: ours,
      error: failure('', { code: 'ENOTFOUND', hostname: 'gateway.test' }),
    },
    {
      name: 'its host',
      url: ours,
      error: failure('', { code: 'ERR_TLS_CERT_ALTNAME_INVALID', host: 'gateway.test' }),
    },
    {
      name: 'all of its addresses',
      url: odd,
      error: new AggregateError([
        failure('', { ...refused, address: '192.0.2.1', port: 8443 }),
        failure('', { ...refused, address: '192.0.2.2', port: 8443 }),
      ]),
    },
    {
      name: "its name in undici's words",
      url: ours,
      error: failure(
        'Connect Timeout Error (attempted address: gateway.test:443, timeout: 10000ms)',
        {
          code: 'UND_ERR_CONNECT_TIMEOUT',
        },
      ),
    },
    {
      name: "its URL in Bun's fields",
      url: local,
      error: failure('Unable to connect.', { code: 'ConnectionRefused', path: local }),
    },
    {
      name: "its URL in Deno's words",
      url: local,
      error: new TypeError(
        'error sending request for url (http://127.0.0.1:8080/v1): client error (Connect): tcp connect error: Connection refused (os error 111)',
      ),
    },
    {
      name: "its URL in node-fetch's words",
      url: ours,
      error: failure(`request to ${ours} failed, reason: refused`, { code: 'ECONNREFUSED' }),
    },
  ])("believes a caller's fetch when the error names $name", ({ url, error }) => {
    expect(failures[classifyThrown(fetchFailed(error), url).kind].outcome).toBe('not_sent');
  });

  test.each<{ name: string; url: string; error: unknown }>([
    { name: 'nothing', url: ours, error: failure('', refused) },
    {
      name: 'no more than an address',
      url: ours,
      error: failure('', { ...refused, address: '192.0.2.1' }),
    },
    {
      name: 'a port of another address',
      url: ours,
      error: failure('', { ...refused, address: '192.0.2.1', port: 443 }),
    },
    {
      name: 'another port',
      url: ours,
      error: failure('', { ...refused, address: '192.0.2.1', port: 8443 }),
    },
    {
      name: 'another port of its name',
      url: ours,
      error: failure('', { ...refused, hostname: 'gateway.test', port: 80 }),
    },
    {
      name: 'another address',
      url: local,
      error: failure('', { ...refused, address: '127.0.0.2', port: 8080 }),
    },
    {
      name: 'another name',
      url: ours,
      error: failure('', { code: 'ENOTFOUND', hostname: 'log.test' }),
    },
    {
      name: 'a longer name',
      url: ours,
      error: failure('', { code: 'ENOTFOUND', hostname: 'a.gateway.test' }),
    },
    {
      name: 'another URL beside its own',
      url: ours,
      error: failure(`${ours} was sent, http://log.test/ was not`, { code: 'ConnectionRefused' }),
    },
    {
      name: 'one address of others',
      url: odd,
      error: new AggregateError([
        failure('', { ...refused, address: '192.0.2.1', port: 8443 }),
        failure('', { ...refused, address: '192.0.2.2', port: 9200 }),
      ]),
    },
    {
      name: 'its own, for what another caused',
      url: ours,
      error: failure(`POST ${ours} failed`, {
        cause: failure('', { ...refused, address: '192.0.2.1', port: 9200 }),
      }),
    },
    {
      name: 'its own port, for what it says of another',
      url: odd,
      error: failure('The log https://log.test:8443/v1 failed', {
        cause: failure('', { ...refused, address: '192.0.2.1', port: 8443 }),
      }),
    },
    { name: 'an expired certificate', url: ours, error: failure('', { code: 'CERT_HAS_EXPIRED' }) },
    { name: 'a forbidden port', url: ours, error: failure('bad port') },
  ])("does not believe a caller's fetch when the error names $name", ({ url, error }) => {
    expect(classifyThrown(fetchFailed(error), url).kind).toBe('interrupted');
  });

  test('keeps the code of the runtime as evidence', () => {
    expect(classifyThrown(fetchFailed(failure('', refused))).code).toBe('ECONNREFUSED');
    expect(classifyThrown(fetchFailed(failure('', { code: 'ECONNRESET' }))).code).toBe(
      'ECONNRESET',
    );
    expect(classifyThrown(new TypeError('Failed to fetch')).code).toBeUndefined();
  });

  test('survives what is built to break it', () => {
    const loop = failure('', {});
    Object.assign(loop, { cause: loop });
    const ring = new AggregateError([]);
    ring.errors.push(ring, ring);
    const hostile = new Proxy(new Error('x'), {
      get() {
        throw new Error('no');
      },
      has() {
        throw new Error('no');
      },
    });

    for (const error of [loop, ring, hostile, fetchFailed(hostile)]) {
      expect(classifyThrown(error).kind).toBe('interrupted');
    }
  });

  test('nothing random proves that nothing was sent', () => {
    const field = fc.constantFrom(
      'name',
      'message',
      'code',
      'syscall',
      'cause',
      'errors',
      'socket',
      'http2ErrorCode',
    );
    const word = fc.oneof(
      fc.constantFrom(
        'connect',
        'ECONNRESET',
        'fetch failed',
        'read',
        'ERR_SSL_X',
        'UND_ERR_SOCKET',
        'EPROTO',
        'Connect',
      ),
      fc.string(),
      fc.integer({ min: 8 }),
      fc.constant(null),
    );
    const garbage = fc.letrec<{ node: unknown }>((tie) => ({
      node: fc.oneof(
        { depthSize: 'small' },
        word,
        fc.array(tie('node'), { maxLength: 3 }),
        fc.dictionary(field, tie('node'), { maxKeys: 5 }),
        fc.dictionary(field, tie('node'), { maxKeys: 5 }).map((fields) => failure('x', fields)),
      ),
    })).node;
    fc.assert(
      fc.property(fc.oneof(garbage, fc.anything()), (error) => {
        return failures[classifyThrown(error).kind].outcome === 'unknown';
      }),
      { numRuns: 1_000 },
    );
  });
});
