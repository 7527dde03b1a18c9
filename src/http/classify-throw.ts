import type { Phase } from '../errors/gateway-error.ts';
import type { Failure, FailureKind } from './failure.ts';

/** Codes that the runtimes use only before a connection stands. */
const connectCodes = new Set([
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_PRX_CONN',
  'UND_ERR_PRX_TLS',
  'UND_ERR_CLOSED',
  'ConnectionRefused',
  'ERR_PROXY_TUNNEL',
]);

/** Codes that prove it only where the runtime says that it was connecting. */
const connectCallCodes = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'ETIMEDOUT',
]);

/** We refused the certificate of the gateway, so nothing was written. */
const certificateCodes =
  /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_|HOSTNAME_MISMATCH)/;

/**
 * None of our TLS versions is spoken there. Other `ERR_SSL_` codes may be alerts or broken records,
 * which also come after the request was written.
 */
const versionCodes = new Set([
  'ERR_SSL_UNSUPPORTED_PROTOCOL',
  'ERR_SSL_UNKNOWN_PROTOCOL',
  'ERR_SSL_NO_PROTOCOLS_AVAILABLE',
  'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
]);

/** The part of OpenSSL (3.2 and later) that reads records until a TLS version is agreed on. */
const beforeVersion = 'tlsany_meth';

/** HTTP/2 `REFUSED_STREAM` guarantees that nothing was processed (RFC 9113, 8.7). */
const refusedStreamCode = 7;

/** Deeper than any runtime nests causes or errors; ends a chain that points at itself. */
const deepest = 6;

interface Signs {
  readonly code: string | undefined;
  readonly syscall: string | undefined;
  readonly http2Code: number | undefined;
  readonly message: string;
  readonly errors: readonly unknown[];
  readonly bytesWritten: number | undefined;
}

function property(value: object, name: string): unknown {
  try {
    return name in value ? Reflect.get(value, name) : undefined;
  } catch {
    // A getter that throws says nothing.
    return undefined;
  }
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
  while (typeof current === 'object' && current !== null && chain.length < deepest) {
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
    return 'cannot_connect';
  }
  if (!message.includes('client error (Connect)')) return undefined;
  if (message.includes('dns error')) return 'host_not_found';
  if (/invalid peer certificate|received corrupt message|tls handshake/i.test(message)) {
    return 'tls_failed';
  }
  return 'cannot_connect';
}

/** What a code proves; `connection_lost` when it proves nothing. */
function kindFromCode(code: string, { syscall, message, bytesWritten }: Signs): FailureKind {
  if (code === 'ENOTFOUND') return 'host_not_found';
  if (connectCodes.has(code) || code.startsWith('UND_ERR_SOCKS5')) return 'cannot_connect';
  if (connectCallCodes.has(code) && syscall === 'connect') return 'cannot_connect';
  // Bun names no system call, but nothing that is connected can still be refused.
  if (code === 'ECONNREFUSED' && syscall === undefined) return 'cannot_connect';
  if (certificateCodes.test(code) || versionCodes.has(code)) return 'tls_failed';
  // `EPROTO` proves nothing: Bun names a broken record after the request a failed handshake, too.
  if (code.startsWith('ERR_SSL_') && message.includes(beforeVersion)) return 'tls_failed';
  // On a re-used socket the counter includes earlier requests, so only zero proves anything.
  if (code === 'UND_ERR_SOCKET' && bytesWritten === 0) return 'cannot_connect';
  return 'connection_lost';
}

/** What one link of the chain proves, or `undefined` when it says nothing and its cause may. */
function kindFromSigns(signs: Signs, levels: number): FailureKind | undefined {
  if (signs.http2Code === refusedStreamCode) return 'cannot_connect';
  if (signs.errors.length > 0) return kindOfAll(signs.errors, levels);
  if (signs.code !== undefined) return kindFromCode(signs.code, signs);
  // Node hides which redirect it was when an upload may not be followed.
  if (signs.message === 'unexpected redirect') return 'redirected_after_work';
  return kindFromDeno(signs.message);
}

/** Several addresses were tried: nothing was sent only if every one of them failed to connect. */
function kindOfAll(errors: readonly unknown[], levels: number): FailureKind {
  if (levels === 0) return 'connection_lost';
  const kinds = errors.map((error) =>
    typeof error === 'object' && error !== null
      ? kindFromSigns(signsOf(error), levels - 1)
      : undefined,
  );
  return kinds.every((kind) => kind === 'cannot_connect' || kind === 'host_not_found')
    ? 'cannot_connect'
    : 'connection_lost';
}

const phases: Partial<Record<FailureKind, Phase>> = {
  redirected_after_work: 'headers',
  connection_lost: 'sent',
};

/**
 * Turns what a runtime threw into evidence.
 *
 * Everything that is not on the list counts as `connection_lost`, whose outcome is unknown.
 */
export function classifyThrown(error: unknown): Failure {
  try {
    for (const link of chainOf(error)) {
      const signs = signsOf(link);
      const kind = kindFromSigns(signs, deepest);
      if (kind !== undefined) {
        return { kind, phase: phases[kind] ?? 'connect', code: signs.code, cause: error };
      }
    }
  } catch {
    // A proxy may throw whatever it is asked.
  }
  return { kind: 'connection_lost', phase: 'sent', code: undefined, cause: error };
}
