import type { Phase } from '../errors/gateway-error.ts';
import { failures, type Failure, type FailureKind } from './failure.ts';

/** Codes that the runtimes use only before a connection stands. */
const connectCodes =
  /^(EAI_AGAIN|UND_ERR_(CONNECT_TIMEOUT|PRX_CONN|PRX_TLS|CLOSED|SOCKS5.*)|ConnectionRefused|ERR_PROXY_TUNNEL)$/;

/** Codes that prove it only where the runtime says that it was connecting. */
const connectCallCodes =
  /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|ETIMEDOUT)$/;

/**
 * We refused the certificate of the gateway, or none of our TLS versions is spoken there, so nothing
 * was written. Other `ERR_SSL_` codes may be alerts or broken records, which also come after the
 * request was written.
 */
const handshakeCodes =
  /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_|HOSTNAME_MISMATCH|ERR_SSL_(UNSUPPORTED_PROTOCOL|UNKNOWN_PROTOCOL|NO_PROTOCOLS_AVAILABLE|TLSV1_ALERT_PROTOCOL_VERSION)$)/;

/** The part of OpenSSL (3.2 and later) that reads records until a TLS version is agreed on. */
const beforeVersion = 'tlsany_meth';

/** Node's fetch takes the request for wrong, and does not send it. */
const inputCodes = /^UND_ERR_(INVALID_ARG|NOT_SUPPORTED)$/;

/** HTTP/2 `REFUSED_STREAM` guarantees that nothing was processed (RFC 9113, 8.7). */
const refusedStreamCode = 7;

/** Deeper than any runtime nests causes or errors; ends a chain that points at itself. */
const deepest = 6;

function property(value: unknown, name: string): unknown {
  try {
    return typeof value === 'object' && value !== null && name in value
      ? Reflect.get(value, name)
      : undefined;
  } catch {
    // A getter that throws says nothing.
    return undefined;
  }
}

function textOf(error: object, name: string): string | undefined {
  const value = property(error, name);
  return typeof value === 'string' ? value : undefined;
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
function kindFromCode(code: string, error: object): FailureKind {
  const syscall = textOf(error, 'syscall');
  if (code === 'ENOTFOUND') return 'host_not_found';
  if (
    connectCodes.test(code) ||
    (connectCallCodes.test(code) && syscall === 'connect') ||
    // Bun names no system call, but nothing that is connected can still be refused.
    (code === 'ECONNREFUSED' && syscall === undefined) ||
    // On a re-used socket the counter includes earlier requests, so only zero proves anything.
    (code === 'UND_ERR_SOCKET' && property(property(error, 'socket'), 'bytesWritten') === 0)
  ) {
    return 'cannot_connect';
  }
  // `EPROTO` proves nothing: Bun names a broken record after the request a failed handshake, too.
  const isBeforeVersion =
    code.startsWith('ERR_SSL_') && textOf(error, 'message')?.includes(beforeVersion);
  if (handshakeCodes.test(code) || isBeforeVersion) return 'tls_failed';
  return inputCodes.test(code) ? 'invalid_input' : 'connection_lost';
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

/** Nearly everything else listens there too. */
const usualPorts = /^(?:80|443)$/;

/** Whether a place is that of the request; `undefined` when it proves neither. */
function isOwn({ host, port }: Place, own: Place): boolean | undefined {
  // A name may stand for any address.
  const isKnown = host !== '' && (isAddress(own.host) || !isAddress(host));
  if ((isKnown && host !== own.host) || (port !== '' && port !== own.port)) return false;
  return isKnown || (port !== '' && !usualPorts.test(port)) ? true : undefined;
}

/**
 * Whether an error names the place of a request and no other: its host, or its port when that is no
 * usual one. `false` when it names another, `undefined` when it names none.
 */
function isAbout(error: object, url: string): boolean | undefined {
  const own = placeOf(new URL(url));
  const named = placesIn(error).map((place) => isOwn(place, own));
  if (named.includes(false)) return false;
  return named.includes(true) ? true : undefined;
}

function kindFromSigns(error: object): FailureKind | undefined {
  if (property(error, 'http2ErrorCode') === refusedStreamCode) return 'cannot_connect';
  const code = textOf(error, 'code');
  if (code !== undefined) return kindFromCode(code, error);
  const message = textOf(error, 'message') ?? '';
  // Node's word for the ports that the Fetch standard forbids.
  if (message === 'bad port') return 'invalid_input';
  // Node hides which redirect it was when an upload may not be followed.
  if (message === 'unexpected redirect') return 'redirected_after_work';
  return kindFromDeno(message);
}

/** What one link of the chain proves, or `undefined` when it says nothing and its cause may. */
function kindOf(link: object, levels: number, url: string | undefined): FailureKind | undefined {
  const errors = property(link, 'errors');
  if (Array.isArray(errors) && errors.length > 0) return kindOfAll(errors, levels, url);
  const kind = kindFromSigns(link);
  if (kind === undefined || failures[kind].outcome !== 'not_sent') return kind;
  return url === undefined || isAbout(link, url) === true ? kind : 'connection_lost';
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
    // The error itself and its causes, outermost first.
    const chain: object[] = [];
    let link = error;
    while (typeof link === 'object' && link !== null && chain.length < deepest) {
      chain.push(link);
      link = property(link, 'cause');
    }
    const isOfAnother = url !== undefined && chain.some((part) => isAbout(part, url) === false);
    for (const part of isOfAnother ? [] : chain) {
      const kind = kindOf(part, deepest, url);
      if (kind === undefined) continue;
      return { kind, phase: phases[kind] ?? 'connect', code: textOf(part, 'code'), cause: error };
    }
  } catch {
    // A proxy may throw whatever it is asked.
  }
  return { kind: 'connection_lost', phase: 'sent', code: undefined, cause: error };
}
