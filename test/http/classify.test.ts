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

  test.each<[number, string, string, FailureKind]>([
    [400, '', 'an unparsable body', 'refused'],
    [400, taskError('task_not_exist'), 'an unknown task', 'refused'],
    [401, withCode(''), 'a bad key', 'unauthorized'],
    [401, withCode('invalid_api_key'), 'the key of the channel', 'unauthorized'],
    [402, withCode('blockrun_payment_rejected'), 'a rejected payment', 'refused'],
    [402, withCode('blockrun_settlement_unknown'), 'a payment of unknown fate', 'unusable_answer'],
    [500, withCode('blockrun_settlement_unknown'), 'a payment of unknown fate', 'unusable_answer'],
    [403, withCode('access_denied'), 'a refusal', 'refused'],
    [404, withCode(''), 'an unknown route', 'refused'],
    [408, '', 'a request timeout', 'interrupted'],
    [409, withCode('idempotency_conflict'), 'a conflict', 'conflict'],
    [413, withCode('read_request_body_failed'), 'a body too large', 'refused'],
    [422, '{"detail":"no"}', 'a refusal', 'refused'],
    [425, '', 'too early', 'too_early'],
    [429, withCode(''), 'the limit of a user', 'rate_limited'],
    [429, withCode('get_channel_failed'), 'the limit of a channel', 'rate_limited'],
    [429, taskError('get_channel_failed'), 'the limit of a task', 'rate_limited'],
    [429, '', 'a silent limit', 'bare_rate_limited'],
    [429, '<html>slow down</html>', 'the page of a middlebox', 'bare_rate_limited'],
    [429, 'Too many requests', 'the text of a middlebox', 'bare_rate_limited'],
    [500, withCode('do_request_failed'), 'an error of the gateway', 'server_error'],
    [500, withCode('bad_response_body'), 'a broken answer of the provider', 'server_error'],
    [400, withCode('bad_response_body'), 'the same under a remapped status', 'unusable_answer'],
    [
      400,
      withCode('read_response_body_failed'),
      'the same under a remapped status',
      'unusable_answer',
    ],
    [500, '{"message":"Internal server error"}', 'JSON of no gateway', 'interrupted'],
    [500, '<html></html>', 'a page', 'interrupted'],
    [500, '', 'nothing', 'interrupted'],
    [501, withCode('api_not_implemented'), 'a missing route', 'refused'],
    [505, '', 'a missing version', 'refused'],
    [502, '<html></html>', 'a proxy', 'interrupted'],
    [502, withCode('bad_response_status_code'), 'a relayed status', 'interrupted'],
    [503, withCode('system_cpu_overloaded'), 'an overloaded gateway', 'interrupted'],
    [503, '<html></html>', 'a proxy', 'interrupted'],
    [
      503,
      saying('当前分组 default 下对于模型 nope 无可用渠道 (request id: 2026)', 'one_api_error'),
      'an unknown model at one-api',
      'refused',
    ],
    [
      503,
      saying('No available channel for model nope under group default (distributor)'),
      'an unknown model at an older build',
      'refused',
    ],
    [503, saying('The model `nope` does not exist'), 'an unknown model', 'refused'],
    [
      503,
      saying('分组 default 下模型 nope 的可用渠道不存在（retry）'),
      'no other channel after one that failed',
      'interrupted',
    ],
    [503, saying('The model is overloaded: unknown error'), 'an overloaded model', 'interrupted'],
    [503, saying('The model is not available, try again'), 'a busy model', 'interrupted'],
    [
      400,
      saying('No connected db.', 'no_db_connection', '400'),
      'a key at LiteLLM',
      'unauthorized',
    ],
    [400, saying('No connected db.', null, '400'), 'a key at LiteLLM', 'unauthorized'],
    [400, saying('The page says: no connected db.'), 'a refusal', 'refused'],
    [504, '', 'a proxy', 'interrupted'],
    [524, 'error code: 524', 'Cloudflare', 'interrupted'],
    [529, withCode('bad_response_status_code'), 'a relayed status', 'interrupted'],
    [400, taskError('fail_to_fetch_task'), 'a provider that refused', 'refused'],
    [401, taskError('fail_to_fetch_task'), 'a provider that refused its key', 'refused'],
    [429, taskError('fail_to_fetch_task'), 'a provider that is busy', 'rate_limited'],
    [429, vendorSaid({ error: 'busy', request_id: 'r' }), 'a busy provider', 'rate_limited'],
    [429, vendorSaid({ error: 'busy', id: null }), 'a busy provider', 'rate_limited'],
    [429, vendorSaid({ data: { task_id: 'made' } }), 'a task that was made', 'unusable_answer'],
    [429, vendorSaid({ taskId: 7 }), 'a task that was made', 'unusable_answer'],
    [400, vendorSaid('{"id": "cut'), 'a task that was made, in cut words', 'unusable_answer'],
    [424, taskError('fail_to_fetch_task'), 'a provider that depends on others', 'unusable_answer'],
    [499, taskError('fail_to_fetch_task'), 'a provider that was left alone', 'unusable_answer'],
    [408, taskError('fail_to_fetch_task'), 'a provider that timed out', 'unusable_answer'],
    [500, taskError('fail_to_fetch_task'), 'a provider that broke', 'unusable_answer'],
    [304, '', 'not modified', 'redirected_after_work'],
  ])('%i %s (%s): %s', (status, text, _, expected) => {
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

  test.each<[string, unknown, FailureKind]>([
    ['refused', fetchFailed(failure('connect', refused)), 'cannot_connect'],
    [
      'unreachable',
      fetchFailed(failure('', { code: 'EHOSTUNREACH', syscall: 'connect' })),
      'cannot_connect',
    ],
    [
      'no route',
      fetchFailed(failure('', { code: 'ENETUNREACH', syscall: 'connect' })),
      'cannot_connect',
    ],
    [
      'network down',
      fetchFailed(failure('', { code: 'ENETDOWN', syscall: 'connect' })),
      'cannot_connect',
    ],
    [
      'no address',
      fetchFailed(failure('', { code: 'EADDRNOTAVAIL', syscall: 'connect' })),
      'cannot_connect',
    ],
    [
      'connect timed out',
      fetchFailed(failure('', { code: 'ETIMEDOUT', syscall: 'connect' })),
      'cannot_connect',
    ],
    [
      'connect timeout',
      fetchFailed(failure('', { code: 'UND_ERR_CONNECT_TIMEOUT' })),
      'cannot_connect',
    ],
    ['proxy refused', fetchFailed(failure('', { code: 'UND_ERR_PRX_CONN' })), 'cannot_connect'],
    ['proxy TLS', fetchFailed(failure('', { code: 'UND_ERR_PRX_TLS' })), 'cannot_connect'],
    ['SOCKS', fetchFailed(failure('', { code: 'UND_ERR_SOCKS5_CONNECT' })), 'cannot_connect'],
    ['forbidden port', fetchFailed(failure('bad port')), 'invalid_input'],
    ['bad header', fetchFailed(failure('', { code: 'UND_ERR_INVALID_ARG' })), 'invalid_input'],
    ['pool closed', fetchFailed(failure('', { code: 'UND_ERR_CLOSED' })), 'cannot_connect'],
    [
      'name server busy',
      fetchFailed(failure('', { code: 'EAI_AGAIN', syscall: 'getaddrinfo' })),
      'cannot_connect',
    ],
    [
      'no such name',
      fetchFailed(failure('', { code: 'ENOTFOUND', syscall: 'getaddrinfo' })),
      'host_not_found',
    ],
    [
      'nothing written',
      fetchFailed(failure('', { code: 'UND_ERR_SOCKET', socket: { bytesWritten: 0 } })),
      'cannot_connect',
    ],
    [
      'self-signed',
      fetchFailed(failure('', { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })),
      'tls_failed',
    ],
    [
      'self-signed in chain',
      fetchFailed(failure('', { code: 'SELF_SIGNED_CERT_IN_CHAIN' })),
      'tls_failed',
    ],
    ['expired', fetchFailed(failure('', { code: 'CERT_HAS_EXPIRED' })), 'tls_failed'],
    [
      'no issuer',
      fetchFailed(failure('', { code: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY' })),
      'tls_failed',
    ],
    [
      'other name',
      fetchFailed(failure('', { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })),
      'tls_failed',
    ],
    [
      'https to http',
      fetchFailed(
        failure('wrong version number:ssl/record/methods/tlsany_meth.c:77:', {
          code: 'ERR_SSL_WRONG_VERSION_NUMBER',
        }),
      ),
      'tls_failed',
    ],
    ['old TLS', fetchFailed(failure('', { code: 'ERR_SSL_UNSUPPORTED_PROTOCOL' })), 'tls_failed'],
    [
      'REFUSED_STREAM',
      fetchFailed(failure('', { code: 'UND_ERR_INFO', http2ErrorCode: 7 })),
      'cannot_connect',
    ],
    [
      'all addresses refused',
      fetchFailed(new AggregateError([failure('', refused), failure('', refused)])),
      'cannot_connect',
    ],
    [
      'some addresses slow',
      fetchFailed(
        new AggregateError([
          failure('', refused),
          failure('', { code: 'ETIMEDOUT', syscall: 'connect' }),
        ]),
      ),
      'cannot_connect',
    ],
    ['Bun: refused', failure('Unable to connect', { code: 'ConnectionRefused' }), 'cannot_connect'],
    ['Bun: refused, new', failure('Unable to connect', { code: 'ECONNREFUSED' }), 'cannot_connect'],
    ['Bun: no such name', failure('', { code: 'ENOTFOUND' }), 'host_not_found'],
    ['Bun: self-signed', failure('', { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }), 'tls_failed'],
    [
      'Deno: REFUSED_STREAM',
      fetchFailed(
        failure('stream error received: refused stream before processing any application logic'),
      ),
      'cannot_connect',
    ],
    [
      'Deno: refused',
      new TypeError(
        'error sending request for url (http://127.0.0.1:1/): client error (Connect): tcp connect error: Connection refused (os error 111)',
      ),
      'cannot_connect',
    ],
    [
      'Deno: no such name',
      new TypeError(
        'error sending request: client error (Connect): dns error: failed to lookup address information: Name or service not known',
      ),
      'host_not_found',
    ],
    [
      'Deno: certificate',
      new TypeError(
        'error sending request: client error (Connect): invalid peer certificate: UnknownIssuer',
      ),
      'tls_failed',
    ],
    [
      'Deno: https to http',
      new TypeError(
        'error sending request: client error (Connect): received corrupt message of type InvalidContentType',
      ),
      'tls_failed',
    ],
  ])('proves that nothing was sent: %s', (_, error, expected) => {
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
    ['headers timeout', fetchFailed(failure('', { code: 'UND_ERR_HEADERS_TIMEOUT' }))],
    ['body timeout', fetchFailed(failure('', { code: 'UND_ERR_BODY_TIMEOUT' }))],
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
    ['abort', new DOMException('aborted', 'AbortError')],
    ['timeout', new DOMException('timed out', 'TimeoutError')],
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

  const ours = 'https://gateway.test/v1/images/generations';
  const local = 'http://127.0.0.1:8080/v1/images/generations';
  const odd = 'https://gateway.test:8443/v1/images/generations';

  test.each<[string, string, unknown]>([
    ['its own port', odd, failure('', { ...refused, address: '192.0.2.1', port: 8443 })],
    ['its address and port', local, failure('', { ...refused, address: '127.0.0.1', port: 8080 })],
    [
      'an address of IPv6',
      'http://[::1]:8080/v1',
      failure('', { ...refused, address: '::1', port: 8080 }),
    ],
    ['its name', ours, failure('', { code: 'ENOTFOUND', hostname: 'gateway.test' })],
    ['its host', ours, failure('', { code: 'ERR_TLS_CERT_ALTNAME_INVALID', host: 'gateway.test' })],
    [
      'all of its addresses',
      odd,
      new AggregateError([
        failure('', { ...refused, address: '192.0.2.1', port: 8443 }),
        failure('', { ...refused, address: '192.0.2.2', port: 8443 }),
      ]),
    ],
    [
      "its name in undici's words",
      ours,
      failure('Connect Timeout Error (attempted address: gateway.test:443, timeout: 10000ms)', {
        code: 'UND_ERR_CONNECT_TIMEOUT',
      }),
    ],
    [
      "its URL in Bun's fields",
      local,
      failure('Unable to connect.', { code: 'ConnectionRefused', path: local }),
    ],
    [
      "its URL in Deno's words",
      local,
      new TypeError(
        'error sending request for url (http://127.0.0.1:8080/v1): client error (Connect): tcp connect error: Connection refused (os error 111)',
      ),
    ],
    [
      "its URL in node-fetch's words",
      ours,
      failure(`request to ${ours} failed, reason: refused`, { code: 'ECONNREFUSED' }),
    ],
  ])("believes a caller's fetch when the error names %s", (_, url, error) => {
    expect(failures[classifyThrown(fetchFailed(error), url).kind].outcome).toBe('not_sent');
  });

  test.each<[string, string, unknown]>([
    ['nothing', ours, failure('', refused)],
    ['no more than an address', ours, failure('', { ...refused, address: '192.0.2.1' })],
    [
      'a port of another address',
      ours,
      failure('', { ...refused, address: '192.0.2.1', port: 443 }),
    ],
    ['another port', ours, failure('', { ...refused, address: '192.0.2.1', port: 8443 })],
    [
      'another port of its name',
      ours,
      failure('', { ...refused, hostname: 'gateway.test', port: 80 }),
    ],
    ['another address', local, failure('', { ...refused, address: '127.0.0.2', port: 8080 })],
    ['another name', ours, failure('', { code: 'ENOTFOUND', hostname: 'log.test' })],
    ['a longer name', ours, failure('', { code: 'ENOTFOUND', hostname: 'a.gateway.test' })],
    [
      'another URL beside its own',
      ours,
      failure(`${ours} was sent, http://log.test/ was not`, { code: 'ConnectionRefused' }),
    ],
    [
      'one address of others',
      odd,
      new AggregateError([
        failure('', { ...refused, address: '192.0.2.1', port: 8443 }),
        failure('', { ...refused, address: '192.0.2.2', port: 9200 }),
      ]),
    ],
    [
      'its own, for what another caused',
      ours,
      failure(`POST ${ours} failed`, {
        cause: failure('', { ...refused, address: '192.0.2.1', port: 9200 }),
      }),
    ],
    [
      'its own port, for what it says of another',
      odd,
      failure('The log https://log.test:8443/v1 failed', {
        cause: failure('', { ...refused, address: '192.0.2.1', port: 8443 }),
      }),
    ],
    ['an expired certificate', ours, failure('', { code: 'CERT_HAS_EXPIRED' })],
    ['a forbidden port', ours, failure('bad port')],
  ])("does not believe a caller's fetch when the error names %s", (_, url, error) => {
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
