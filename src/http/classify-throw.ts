import type { Phase } from '../errors/gateway-error.ts';
import { failures, type Failure, type FailureKind } from './failure.ts';

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

/** Node's fetch takes the request for wrong, and does not send it. */
const inputCodes = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED']);

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
  if (inputCodes.has(code)) return 'invalid_input';
  // On a re-used socket the counter includes earlier requests, so only zero proves anything.
  if (code === 'UND_ERR_SOCKET' && bytesWritten === 0) return 'cannot_connect';
  return 'connection_lost';
}

/** A host, or a port, or both; `""` for what is not said. */
interface Place {
  readonly host: string;
  readonly port: string;
}

function withoutBrackets(host: string): string {
  return host.toLowerCase().replaceAll(/[[\]]/g, '');
}

function placeOf({ hostname, port, protocol }: URL): Place {
  const usual = protocol === 'https:' ? '443' : '80';
  return { host: withoutBrackets(hostname), port: port || usual };
}

function placeIn(word: string): Place | undefined {
  const isURL = /^https?:\/\//i.test(word);
  if (!isURL && !/^[^/]+:\d+$/.test(word)) return undefined;
  const url = isURL ? word : `http://${word}`;
  return URL.canParse(url) ? placeOf(new URL(url)) : undefined;
}

/** The first of these fields that holds text or a number, as text. */
function textIn(error: object, ...names: readonly string[]): string {
  const values = names.map((name) => property(error, name));
  return String(
    values.find((value) => typeof value === 'string' || typeof value === 'number') ?? '',
  );
}

/** The places that an error names: in its fields or, if there are none, in its text. */
function placesIn(error: object): readonly Place[] {
  const host = textIn(error, 'hostname', 'host', 'address');
  const port = textIn(error, 'port');
  if (host !== '' || port !== '') return [{ host: withoutBrackets(host), port }];
  const text = `${textIn(error, 'path')} ${textIn(error, 'message')}`;
  return text.split(/[\s()'",;]+/).flatMap((word) => placeIn(word) ?? []);
}

const isAddress = (host: string): boolean => /^[\d.]+$|:/.test(host);

/** Whether an error names the host or the port of a request, and no other. */
function isAbout(error: object, url: string): boolean {
  const own = placeOf(new URL(url));
  const places = placesIn(error);
  return (
    places.length > 0 &&
    places.every(({ host, port }) => {
      // A name may stand for any address.
      const isKnown = host !== '' && (isAddress(own.host) || !isAddress(host));
      if (isKnown && host !== own.host) return false;
      return port === '' ? isKnown : port === own.port;
    })
  );
}

function kindFromSigns(signs: Signs): FailureKind | undefined {
  if (signs.http2Code === refusedStreamCode) return 'cannot_connect';
  if (signs.code !== undefined) return kindFromCode(signs.code, signs);
  // Node's word for the ports that the Fetch standard forbids.
  if (signs.message === 'bad port') return 'invalid_input';
  // Node hides which redirect it was when an upload may not be followed.
  if (signs.message === 'unexpected redirect') return 'redirected_after_work';
  return kindFromDeno(signs.message);
}

/** What one link of the chain proves, or `undefined` when it says nothing and its cause may. */
function kindOf(link: object, levels: number, url: string | undefined): FailureKind | undefined {
  const signs = signsOf(link);
  if (signs.errors.length > 0) return kindOfAll(signs.errors, levels, url);
  const kind = kindFromSigns(signs);
  if (kind === undefined || failures[kind].outcome !== 'not_sent') return kind;
  return url === undefined || isAbout(link, url) ? kind : 'connection_lost';
}

/** Several addresses were tried: nothing was sent only if every one of them failed to connect. */
function kindOfAll(
  errors: readonly unknown[],
  levels: number,
  url: string | undefined,
): FailureKind {
  if (levels === 0) return 'connection_lost';
  const kinds = errors.map((error) =>
    typeof error === 'object' && error !== null ? kindOf(error, levels - 1, url) : undefined,
  );
  return kinds.every((kind) => kind === 'cannot_connect' || kind === 'host_not_found')
    ? 'cannot_connect'
    : 'connection_lost';
}

const phases: Partial<Record<FailureKind, Phase>> = {
  invalid_input: 'local',
  redirected_after_work: 'headers',
  connection_lost: 'sent',
};

/**
 * Turns what `fetch` threw into evidence.
 *
 * Everything that is not on the list counts as `connection_lost`, whose outcome is unknown.
 *
 * @param url - What was asked for, when the caller's own `fetch` threw. It may have sent the request and
 * then failed on something else, so only an error that names this place proves anything.
 */
export function classifyThrown(error: unknown, url?: string): Failure {
  try {
    for (const link of chainOf(error)) {
      const kind = kindOf(link, deepest, url);
      if (kind !== undefined) {
        return { kind, phase: phases[kind] ?? 'connect', code: signsOf(link).code, cause: error };
      }
    }
  } catch {
    // A proxy may throw whatever it is asked.
  }
  return { kind: 'connection_lost', phase: 'sent', code: undefined, cause: error };
}
