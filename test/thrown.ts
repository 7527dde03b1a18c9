// The table of errors that runtimes throw when a request fails; `failures.ts` has that of responses.
import type { FailureKind } from '../src/http/retry.ts';

/** An error, and the kind of failure that it proves if the runtime's own `fetch` throws it. */
type Thrown = readonly [name: string, error: unknown, kind: FailureKind];

/** An error, and the kind that it proves if a `fetch` of the caller throws it for a request to `url`. */
type Naming = readonly [name: string, error: unknown, kind: FailureKind, url?: string];

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

/** An aggregate that contains itself. */
function ring(): AggregateError {
  const error = new AggregateError([]);
  error.errors.push(error, error);
  return error;
}

const hostile = new Proxy(failure('x'), {
  get(): never {
    throw new Error('No.');
  },
});

const withCodes = (
  kind: FailureKind,
  syscall: string | undefined,
  ...codes: readonly string[]
): Thrown[] =>
  codes.map((code) => [
    `Node: ${code}${syscall === undefined ? '' : ` while it ${syscall}s`}`,
    node(syscall === undefined ? { code } : { code, syscall }),
    kind,
  ]);

const unreachable = [
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'ETIMEDOUT',
];

/** Errors without the address of the request, except for those of Deno. */
export const thrown: readonly Thrown[] = [
  ...withCodes('cannot_connect', 'connect', ...unreachable),
  ...withCodes(
    'cannot_connect',
    'connect',
    'EMFILE',
    'ENFILE',
    'ENOBUFS',
    'ENOMEM',
    'EACCES',
    'EPERM',
  ),
  ...withCodes('interrupted', 'read', 'EMFILE', 'ENOBUFS', 'ENOMEM', 'EPERM'),
  ...withCodes('interrupted', 'connect', 'ECONNRESET', 'EPIPE'),
  ...withCodes('cannot_connect', 'getaddrinfo', 'EMFILE', 'EAI_FAIL'),
  ...withCodes('interrupted', 'read', ...unreachable, 'ECONNRESET'),
  ...withCodes('interrupted', 'write', 'ENETUNREACH', 'ECONNRESET', 'EPIPE', 'EPROTO'),
  ...withCodes('cannot_connect', undefined, 'ECONNREFUSED'),
  ...withCodes('interrupted', undefined, ...unreachable.slice(1), 'ECONNRESET'),
  ...withCodes('cannot_connect', undefined, 'EAI_AGAIN'),
  ...withCodes('host_not_found', undefined, 'ENOTFOUND'),
  ...withCodes('interrupted', undefined, 'ERR_UNHEARD_OF'),
  ...withCodes(
    'cannot_connect',
    undefined,
    'UND_ERR_CONNECT_TIMEOUT',
    'UND_ERR_PRX_CONN',
    'UND_ERR_PRX_TLS',
    'UND_ERR_SOCKS5_CONNECT',
    'UND_ERR_CLOSED',
  ),
  ...withCodes('interrupted', undefined, 'UND_ERR_SOCKET'),
  ...withCodes('timed_out', undefined, 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'),
  ...withCodes(
    'interrupted',
    undefined,
    'UND_ERR_DESTROYED',
    'UND_ERR_ABORTED',
    'HPE_INVALID_CONSTANT',
  ),
  ...withCodes(
    'tls_failed',
    undefined,
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'CERT_HAS_EXPIRED',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'HOSTNAME_MISMATCH',
    'ERR_SSL_UNSUPPORTED_PROTOCOL',
    'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
  ),
  ...withCodes(
    'interrupted',
    undefined,
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
    'tls_failed',
  ],
  [
    'Node: a broken record after the request',
    node(
      { code: 'ERR_SSL_WRONG_VERSION_NUMBER' },
      'wrong version number:ssl/record/methods/tls_common.c:1001:',
    ),
    'interrupted',
  ],
  [
    'Node: a broken record in OpenSSL 3.0, which reports no time',
    node(
      { code: 'ERR_SSL_WRONG_VERSION_NUMBER' },
      'ssl3_get_record:wrong version number:ssl/record/ssl3_record.c:354:',
    ),
    'interrupted',
  ],
  [
    'Node: EPROTO with a late alert',
    node({ code: 'EPROTO' }, 'sslv3 alert handshake failure'),
    'interrupted',
  ],
  ['Node: a forbidden port', node({}, 'bad port'), 'invalid_input'],
  ['Node: a header that it does not take', node({ code: 'UND_ERR_INVALID_ARG' }), 'invalid_input'],
  [
    'Node: an option that it does not take',
    node({ code: 'UND_ERR_NOT_SUPPORTED' }),
    'invalid_input',
  ],
  [
    'Node: nothing written',
    node({ code: 'UND_ERR_SOCKET', socket: { bytesWritten: 0 } }),
    'cannot_connect',
  ],
  [
    'Node: something written',
    node({ code: 'UND_ERR_SOCKET', socket: { bytesWritten: 230 } }),
    'interrupted',
  ],
  ['Node: a redirect of an upload', node({}, 'unexpected redirect'), 'redirected_after_work'],
  ['Node: every address refused', several(refused, refused), 'cannot_connect'],
  ['Node: one address refused, one slow', several(refused, slow), 'cannot_connect'],
  ['Node: one address refused, one reset', several(refused, reset), 'interrupted'],
  ['Node: one address refused, one odd', several(refused, 'odd'), 'interrupted'],
  ['Node: an aggregate of nothing', several(), 'interrupted'],
  [
    'Node: one address refused, one odd, with a code',
    new TypeError('fetch failed', {
      cause: Object.assign(new AggregateError([refused, failure('odd')]), {
        code: 'ECONNREFUSED',
        syscall: 'connect',
      }),
    }),
    'interrupted',
  ],
  [
    'Node: HTTP/2 REFUSED_STREAM',
    node({ code: 'UND_ERR_INFO', http2ErrorCode: 7 }),
    'cannot_connect',
  ],
  ['Node: HTTP/2 CANCEL', node({ code: 'UND_ERR_INFO', http2ErrorCode: 8 }), 'interrupted'],
  ['Node: HTTP/2 internal error', node({ http2ErrorCode: 2 }), 'interrupted'],
  [
    'Node: a reset caused by a refusal',
    node({ code: 'ECONNRESET', cause: refused }),
    'interrupted',
  ],
  [
    'Node: an unknown code caused by a refusal',
    node({ code: 'ERR_RETRIED', cause: refused }),
    'interrupted',
  ],
  ['node-fetch: timeout', failure('network timeout at: https://gateway.test'), 'timed_out'],
  ['Bun: refused', failure('Unable to connect', { code: 'ConnectionRefused' }), 'cannot_connect'],
  [
    'Bun: refused, since 1.2',
    failure('Unable to connect', { code: 'ECONNREFUSED' }),
    'cannot_connect',
  ],
  ['Bun: no such name', failure('', { code: 'ENOTFOUND' }), 'host_not_found'],
  ['Bun: certificate', failure('', { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }), 'tls_failed'],
  [
    'Bun: broken record',
    failure('EPROTO: The TLS handshake failed.', { code: 'EPROTO' }),
    'interrupted',
  ],
  [
    'Bun: reset',
    failure('The socket connection was closed', { code: 'ECONNRESET' }),
    'interrupted',
  ],
  ['Bun: parser', failure('', { code: 'Malformed_HTTP_Response' }), 'interrupted'],
  ['Bun: proxy', failure('', { code: 'ERR_PROXY_TUNNEL' }), 'cannot_connect'],
  [
    'Deno: refused',
    deno('client error (Connect): tcp connect error: Connection refused (os error 111)'),
    'cannot_connect',
  ],
  [
    'Deno: no such name',
    deno('client error (Connect): dns error: failed to lookup address'),
    'host_not_found',
  ],
  [
    'Deno: certificate',
    deno('client error (Connect): invalid peer certificate: UnknownIssuer'),
    'tls_failed',
  ],
  [
    'Deno: https to http',
    deno('client error (Connect): received corrupt message of type X'),
    'tls_failed',
  ],
  [
    'Deno: reset',
    deno('client error (SendRequest): connection error: Connection reset by peer'),
    'interrupted',
  ],
  ['Deno: parser', deno('client error (SendRequest): invalid HTTP version parsed'), 'interrupted'],
  [
    'Deno: HTTP/2 REFUSED_STREAM',
    deno('stream error received: refused stream before processing any application logic'),
    'cannot_connect',
  ],
  ['Chrome', new TypeError('Failed to fetch'), 'interrupted'],
  ['Safari', new TypeError('Load failed'), 'interrupted'],
  ['Firefox', new TypeError('NetworkError when attempting to fetch resource.'), 'interrupted'],
  ["a runtime's abort", new DOMException('aborted', 'AbortError'), 'timed_out'],
  ["a runtime's time limit", new DOMException('timed out', 'TimeoutError'), 'timed_out'],
  ['a refusal in words only', failure('connect ECONNREFUSED 127.0.0.1:1'), 'interrupted'],
  ['an error that is its own cause', endless(), 'interrupted'],
  ['an aggregate that contains itself', ring(), 'interrupted'],
  ['an error that throws when it is read', hostile, 'interrupted'],
  ['nothing', undefined, 'interrupted'],
  ['text', 'ECONNREFUSED', 'interrupted'],
  ['a plain object', { code: 'ECONNREFUSED', syscall: 'connect' }, 'cannot_connect'],
];

const host = 'gateway.test';
const refusedAt = (place: object) =>
  failure('', { code: 'ECONNREFUSED', syscall: 'connect', ...place });

/** Errors that name an address. Requests go to https://gateway.test. */
export const naming: readonly Naming[] = [
  ['its port', refusedAt({ address: '192.0.2.1', port: 443 }), 'interrupted'],
  ['its port as text', refusedAt({ port: '443' }), 'interrupted'],
  ['its name', node({ code: 'ENOTFOUND', hostname: host }), 'host_not_found'],
  [
    'its name in capitals',
    node({ code: 'ENOTFOUND', hostname: host.toUpperCase() }),
    'host_not_found',
  ],
  [
    'its host, of a certificate',
    node({ code: 'ERR_TLS_CERT_ALTNAME_INVALID', host }),
    'tls_failed',
  ],
  [
    'its name in words',
    node({ code: 'UND_ERR_CONNECT_TIMEOUT' }, `timeout (attempted address: ${host}:443)`),
    'cannot_connect',
  ],
  [
    'its URL in a field',
    failure('', { code: 'ConnectionRefused', path: `https://${host}/v1` }),
    'cannot_connect',
  ],
  [
    'its URL in words',
    failure(`request to https://${host}/ failed`, { code: 'ECONNREFUSED' }),
    'cannot_connect',
  ],
  [
    'its ports',
    several(
      refusedAt({ address: '192.0.2.1', port: 443 }),
      refusedAt({ address: '192.0.2.2', port: 443 }),
    ),
    'interrupted',
  ],
  ['its port, of a lost connection', node({ code: 'ECONNRESET', port: 443 }), 'interrupted'],
  ['an address only', refusedAt({ address: '192.0.2.1' }), 'interrupted'],
  ['another port', refusedAt({ address: '192.0.2.1', port: 8443 }), 'interrupted'],
  ['another port of its name', refusedAt({ hostname: host, port: 80 }), 'interrupted'],
  ['another name', node({ code: 'ENOTFOUND', hostname: 'log.test' }), 'interrupted'],
  ['a longer name', node({ code: 'ENOTFOUND', hostname: `a.${host}` }), 'interrupted'],
  [
    'another URL beside its own',
    failure(`https://${host} was sent, http://log.test was not`, { code: 'ConnectionRefused' }),
    'interrupted',
  ],
  [
    'one port of others',
    several(refusedAt({ address: '192.0.2.1', port: 443 }), refusedAt({ port: 9200 })),
    'interrupted',
  ],
  [
    'its own, for what another caused',
    failure(`POST https://${host}/ failed`, { cause: refusedAt({ port: 9200 }) }),
    'interrupted',
  ],
  [
    'another URL in words, its own port in the cause',
    failure('The log https://log.test/v1 failed', {
      cause: refusedAt({ address: '192.0.2.1', port: 443 }),
    }),
    'interrupted',
  ],
];

const onLoopback = 'http://127.0.0.1:8080/v1/images/generations';
const onPort = 'https://gateway.test:8443/v1/images/generations';
const loopback = (fields: object) => node({ code: 'ECONNREFUSED', syscall: 'connect', ...fields });

/** The same for requests to other addresses. */
export const elsewhere: readonly Naming[] = [
  [
    'its port, which is not a default',
    refusedAt({ address: '192.0.2.1', port: 8443 }),
    'cannot_connect',
    onPort,
  ],
  [
    'its address and port',
    loopback({ address: '127.0.0.1', port: 8080 }),
    'cannot_connect',
    onLoopback,
  ],
  [
    'its IPv6 address',
    loopback({ address: '::1', port: 8080 }),
    'cannot_connect',
    'http://[::1]:8080/v1',
  ],
  [
    'its URL, in a field of Bun',
    failure('Unable to connect.', { code: 'ConnectionRefused', path: onLoopback }),
    'cannot_connect',
    onLoopback,
  ],
  [
    'its URL, in the message of Deno',
    new TypeError(
      'error sending request for url (http://127.0.0.1:8080/v1): client error (Connect): tcp connect error: Connection refused (os error 111)',
    ),
    'cannot_connect',
    onLoopback,
  ],
  ['another address', loopback({ address: '127.0.0.2', port: 8080 }), 'interrupted', onLoopback],
  [
    'its port in the cause, and another URL in the message',
    failure('The log https://log.test:8443/v1 failed', {
      cause: refusedAt({ address: '192.0.2.1', port: 8443 }),
    }),
    'interrupted',
    onPort,
  ],
];
