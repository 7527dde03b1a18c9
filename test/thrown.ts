// Errors that runtimes throw when a request fails.

/** An error with fields, as runtimes throw them. */
const failure = (message: string, fields: object = {}): Error =>
  Object.assign(new Error(message), fields);

/** An error of Node's fetch. */
const node = (fields: object, message = ''): TypeError =>
  new TypeError('fetch failed', { cause: failure(message, fields) });

const deno = (text: string): TypeError =>
  new TypeError(`error sending request for url (https://gateway.test/): ${text}`);

const refused = failure('', { code: 'ECONNREFUSED', syscall: 'connect' });
const reset = failure('', { code: 'ECONNRESET', syscall: 'read' });
const slow = failure('', { code: 'ETIMEDOUT', syscall: 'connect' });
const several = (...errors: unknown[]): TypeError =>
  new TypeError('fetch failed', { cause: new AggregateError(errors) });

/** An error whose cause is itself. */
function endless(): Error {
  const error = failure('');
  error.cause = error;
  return error;
}

const hostile = new Proxy(failure('x'), {
  get(): never {
    throw new Error('No.');
  },
});

const withCodes = (syscall: string | undefined, ...codes: string[]): [string, unknown][] =>
  codes.map((code) => [
    `Node: ${code}${syscall === undefined ? '' : ` while it ${syscall}s`}`,
    node(syscall === undefined ? { code } : { code, syscall }),
  ]);

const unreachable = [
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'ETIMEDOUT',
];

/** Errors without the address of the request. */
export const thrown: readonly (readonly [name: string, error: unknown])[] = [
  ...withCodes('connect', ...unreachable),
  ...withCodes('read', ...unreachable, 'ECONNRESET'),
  ...withCodes('write', 'ENETUNREACH', 'ECONNRESET', 'EPIPE', 'EPROTO'),
  ...withCodes(undefined, ...unreachable, 'ECONNRESET', 'EAI_AGAIN', 'ENOTFOUND', 'ERR_UNHEARD_OF'),
  ...withCodes(
    undefined,
    'UND_ERR_CONNECT_TIMEOUT',
    'UND_ERR_PRX_CONN',
    'UND_ERR_PRX_TLS',
    'UND_ERR_SOCKS5_CONNECT',
    'UND_ERR_CLOSED',
    'UND_ERR_SOCKET',
    'UND_ERR_HEADERS_TIMEOUT',
    'UND_ERR_BODY_TIMEOUT',
    'UND_ERR_DESTROYED',
    'UND_ERR_ABORTED',
    'HPE_INVALID_CONSTANT',
  ),
  ...withCodes(
    undefined,
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'CERT_HAS_EXPIRED',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'HOSTNAME_MISMATCH',
    'ERR_SSL_UNSUPPORTED_PROTOCOL',
    'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
    'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
    'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE',
    'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE',
    'ERR_SSL_SSLV3_ALERT_BAD_RECORD_MAC',
  ),
  [
    'Node: https to http',
    node(
      { code: 'ERR_SSL_WRONG_VERSION_NUMBER' },
      'wrong version number:ssl/record/methods/tlsany_meth.c:77:',
    ),
  ],
  [
    'Node: a broken record after the request',
    node(
      { code: 'ERR_SSL_WRONG_VERSION_NUMBER' },
      'wrong version number:ssl/record/methods/tls_common.c:1001:',
    ),
  ],
  [
    'Node: a broken record in OpenSSL 3.0, which reports no time',
    node(
      { code: 'ERR_SSL_WRONG_VERSION_NUMBER' },
      'ssl3_get_record:wrong version number:ssl/record/ssl3_record.c:354:',
    ),
  ],
  ['Node: EPROTO with a late alert', node({ code: 'EPROTO' }, 'sslv3 alert handshake failure')],
  ['Node: a forbidden port', node({}, 'bad port')],
  ['Node: a header that it does not take', node({ code: 'UND_ERR_INVALID_ARG' })],
  ['Node: an option that it does not take', node({ code: 'UND_ERR_NOT_SUPPORTED' })],
  ['Node: nothing written', node({ code: 'UND_ERR_SOCKET', socket: { bytesWritten: 0 } })],
  ['Node: something written', node({ code: 'UND_ERR_SOCKET', socket: { bytesWritten: 230 } })],
  ['Node: a redirect of an upload', node({}, 'unexpected redirect')],
  ['Node: every address refused', several(refused, refused)],
  ['Node: one address refused, one slow', several(refused, slow)],
  ['Node: one address refused, one reset', several(refused, reset)],
  ['Node: one address refused, one odd', several(refused, 'odd')],
  ['Node: an aggregate of nothing', several()],
  [
    'Node: one address refused, one odd, with a code',
    new TypeError('fetch failed', {
      cause: Object.assign(new AggregateError([refused, failure('odd')]), {
        code: 'ECONNREFUSED',
        syscall: 'connect',
      }),
    }),
  ],
  ['Node: HTTP/2 REFUSED_STREAM', node({ code: 'UND_ERR_INFO', http2ErrorCode: 7 })],
  ['Node: HTTP/2 CANCEL', node({ code: 'UND_ERR_INFO', http2ErrorCode: 8 })],
  ['Node: HTTP/2 internal error', node({ http2ErrorCode: 2 })],
  ['Node: a reset caused by a refusal', node({ code: 'ECONNRESET', cause: refused })],
  ['Node: an unknown code caused by a refusal', node({ code: 'ERR_RETRIED', cause: refused })],
  ['node-fetch: timeout', failure('network timeout at: https://gateway.test')],
  ['Bun: refused', failure('Unable to connect', { code: 'ConnectionRefused' })],
  ['Bun: refused, since 1.2', failure('Unable to connect', { code: 'ECONNREFUSED' })],
  ['Bun: no such name', failure('', { code: 'ENOTFOUND' })],
  ['Bun: certificate', failure('', { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })],
  ['Bun: broken record', failure('EPROTO: The TLS handshake failed.', { code: 'EPROTO' })],
  ['Bun: reset', failure('The socket connection was closed', { code: 'ECONNRESET' })],
  ['Bun: parser', failure('', { code: 'Malformed_HTTP_Response' })],
  ['Bun: proxy', failure('', { code: 'ERR_PROXY_TUNNEL' })],
  [
    'Deno: refused',
    deno('client error (Connect): tcp connect error: Connection refused (os error 111)'),
  ],
  ['Deno: no such name', deno('client error (Connect): dns error: failed to lookup address')],
  ['Deno: certificate', deno('client error (Connect): invalid peer certificate: UnknownIssuer')],
  ['Deno: https to http', deno('client error (Connect): received corrupt message of type X')],
  ['Deno: reset', deno('client error (SendRequest): connection error: Connection reset by peer')],
  ['Deno: parser', deno('client error (SendRequest): invalid HTTP version parsed')],
  [
    'Deno: HTTP/2 REFUSED_STREAM',
    deno('stream error received: refused stream before processing any application logic'),
  ],
  ['Chrome', new TypeError('Failed to fetch')],
  ['Safari', new TypeError('Load failed')],
  ['Firefox', new TypeError('NetworkError when attempting to fetch resource.')],
  ["a runtime's abort", new DOMException('aborted', 'AbortError')],
  ["a runtime's time limit", new DOMException('timed out', 'TimeoutError')],
  ['a refusal in words only', failure('connect ECONNREFUSED 127.0.0.1:1')],
  ['an error that is its own cause', endless()],
  ['an error that throws when it is read', hostile],
  ['nothing', undefined],
  ['text', 'ECONNREFUSED'],
  ['a plain object', { code: 'ECONNREFUSED', syscall: 'connect' }],
];

const host = 'gateway.test';
const refusedAt = (place: object) =>
  failure('', { code: 'ECONNREFUSED', syscall: 'connect', ...place });

/** Errors that name an address. Requests go to https://gateway.test. */
export const naming: readonly (readonly [name: string, error: unknown])[] = [
  ['its port', refusedAt({ address: '192.0.2.1', port: 443 })],
  ['its port as text', refusedAt({ port: '443' })],
  ['its name', node({ code: 'ENOTFOUND', hostname: host })],
  ['its name in capitals', node({ code: 'ENOTFOUND', hostname: host.toUpperCase() })],
  ['its host, of a certificate', node({ code: 'ERR_TLS_CERT_ALTNAME_INVALID', host })],
  [
    'its name in words',
    node({ code: 'UND_ERR_CONNECT_TIMEOUT' }, `timeout (attempted address: ${host}:443)`),
  ],
  ['its URL in a field', failure('', { code: 'ConnectionRefused', path: `https://${host}/v1` })],
  ['its URL in words', failure(`request to https://${host}/ failed`, { code: 'ECONNREFUSED' })],
  [
    'its ports',
    several(
      refusedAt({ address: '192.0.2.1', port: 443 }),
      refusedAt({ address: '192.0.2.2', port: 443 }),
    ),
  ],
  ['its port, of a lost connection', node({ code: 'ECONNRESET', port: 443 })],
  ['an address only', refusedAt({ address: '192.0.2.1' })],
  ['another port', refusedAt({ address: '192.0.2.1', port: 8443 })],
  ['another port of its name', refusedAt({ hostname: host, port: 80 })],
  ['another name', node({ code: 'ENOTFOUND', hostname: 'log.test' })],
  ['a longer name', node({ code: 'ENOTFOUND', hostname: `a.${host}` })],
  [
    'another URL beside its own',
    failure(`https://${host} was sent, http://log.test was not`, { code: 'ConnectionRefused' }),
  ],
  [
    'one port of others',
    several(refusedAt({ address: '192.0.2.1', port: 443 }), refusedAt({ port: 9200 })),
  ],
  [
    'its own, for what another caused',
    failure(`POST https://${host}/ failed`, { cause: refusedAt({ port: 9200 }) }),
  ],
  [
    'another URL in words, its own port in the cause',
    failure('The log https://log.test/v1 failed', {
      cause: refusedAt({ address: '192.0.2.1', port: 443 }),
    }),
  ],
];
