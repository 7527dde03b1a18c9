import type { Failure, FailureKind } from './failure.ts';

/** Codes that the runtimes use only before a connection stands. */
const connectCodes = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_PRX_CONN',
  'UND_ERR_PRX_TLS',
  'UND_ERR_CLOSED',
  'ConnectionRefused',
]);

const tlsCodes =
  /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_|ERR_SSL_|HOSTNAME_MISMATCH)/;

/** HTTP/2 `REFUSED_STREAM` guarantees that nothing was processed (RFC 9113, 8.7). */
const refusedStreamCode = 7;

interface Signs {
  readonly code: string | undefined;
  readonly syscall: string | undefined;
  readonly http2Code: number | undefined;
  readonly message: string;
  readonly errors: readonly unknown[];
  readonly bytesWritten: number | undefined;
}

function property(value: object, name: string): unknown {
  return name in value ? Reflect.get(value, name) : undefined;
}

function signsOf(error: object): Signs {
  const code = property(error, 'code');
  const syscall = property(error, 'syscall');
  const http2Code = property(error, 'http2ErrorCode');
  const message = property(error, 'message');
  const errors = property(error, 'errors');
  const socket = property(error, 'socket');
  const bytesWritten =
    typeof socket === 'object' && socket !== null ? property(socket, 'bytesWritten') : undefined;
  return {
    code: typeof code === 'string' ? code : undefined,
    syscall: typeof syscall === 'string' ? syscall : undefined,
    http2Code: typeof http2Code === 'number' ? http2Code : undefined,
    message: typeof message === 'string' ? message : '',
    errors: Array.isArray(errors) ? errors : [],
    bytesWritten: typeof bytesWritten === 'number' ? bytesWritten : undefined,
  };
}

/** The error itself and its causes, outermost first. */
function chainOf(error: unknown): object[] {
  const chain: object[] = [];
  let current = error;
  // Six is deeper than any runtime nests, and ends a chain that points at itself.
  while (typeof current === 'object' && current !== null && chain.length < 6) {
    chain.push(current);
    current = property(current, 'cause');
  }
  return chain;
}

/**
 * Deno gives no codes, only text: `client error (Connect): …`. If its wording changes, the failure
 * degrades to unknown, never the other way round.
 */
function kindFromDeno(message: string): FailureKind | undefined {
  if (message.includes('refused stream before processing any application logic')) {
    return 'refused_stream';
  }
  if (!message.includes('client error (Connect)')) return undefined;
  if (message.includes('dns error')) return 'host_not_found';
  if (/invalid peer certificate|received corrupt message|tls handshake/i.test(message)) {
    return 'tls_failed';
  }
  return 'cannot_connect';
}

function kindFromSigns(signs: Signs): FailureKind | undefined {
  const { code, syscall, message } = signs;
  if (signs.http2Code === refusedStreamCode) return 'refused_stream';
  if (signs.errors.length > 0) return kindOfAll(signs.errors);
  if (code !== undefined) {
    if (code === 'ENOTFOUND') return 'host_not_found';
    if (connectCodes.has(code) || code.startsWith('UND_ERR_SOCKS5')) return 'cannot_connect';
    if (code === 'ETIMEDOUT' && syscall === 'connect') return 'cannot_connect';
    // `EPROTO` proves nothing: Bun says "The TLS handshake failed" of a broken record after the request too.
    if (tlsCodes.test(code) && (signs.bytesWritten ?? 0) === 0) return 'tls_failed';
    // On a re-used socket the counter includes earlier requests, so only zero proves anything.
    if (code === 'UND_ERR_SOCKET' && signs.bytesWritten === 0) return 'cannot_connect';
    return undefined;
  }
  if (message === 'unexpected redirect') return 'redirected';
  return kindFromDeno(message);
}

/** Several addresses were tried: nothing was sent only if every one of them failed to connect. */
function kindOfAll(errors: readonly unknown[]): FailureKind | undefined {
  const kinds = errors.map((error) =>
    typeof error === 'object' && error !== null ? kindFromSigns(signsOf(error)) : undefined,
  );
  return kinds.every((kind) => kind === 'cannot_connect' || kind === 'host_not_found')
    ? 'cannot_connect'
    : undefined;
}

/**
 * Turns what a runtime threw into evidence.
 *
 * Everything that is not on the list counts as `connection_lost`, whose outcome is unknown.
 */
export function classifyThrown(error: unknown): Failure {
  const chain = chainOf(error);
  let code: string | undefined;
  for (const link of chain) {
    const signs = signsOf(link);
    code ??= signs.code;
    const kind = kindFromSigns(signs);
    if (kind !== undefined) {
      const phase = kind === 'redirected' ? 'headers' : 'connect';
      return { kind, phase, code: signs.code ?? code, cause: error };
    }
  }
  return { kind: 'connection_lost', phase: 'sent', code, cause: error };
}
