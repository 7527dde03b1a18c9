import { type ErrorBody, isJSON } from '../answers/failure.ts';
import {
  afterWork,
  billedContent,
  credit,
  dailyLimit,
  lostResponse,
  means,
  missingModel,
  permanent,
  providerCredit,
  invalidKey,
  rateLimit,
  tooLong,
} from '../answers/error-codes.ts';
import { codeText, isObject, toFields } from '../answers/objects.ts';
import type { ChargeClass } from '../endpoints.ts';
import type { Phase } from '../errors/gateway-error.ts';
import {
  isRelayed,
  isResentEmpty,
  keyRefusals,
  quotesProvider,
  unknownKey,
} from '../gateways/signs.ts';
import type { JsonObject } from '../types.ts';
import { isForbiddenPort } from './node/proxy.ts';
import { failures, type FailedAttempt, type FailureKind } from './retry.ts';
import { longestRetryAfter, readRetryAfter } from './retry-after.ts';

/** The provider may have charged, whatever the HTTP status. */
const settlementUnknown = 'blockrun_settlement_unknown';

/** The provider rejected the task. Sent with the provider's status. */
const submissionFailed = 'fail_to_fetch_task';

/** Statuses that refuse a request before any work, from gateways and proxies alike (RFC 9110 and its extensions). */
const refusals: ReadonlySet<number> = new Set([
  400, // Bad Request
  402, // Payment Required
  403, // Forbidden
  404, // Not Found
  405, // Method Not Allowed
  406, // Not Acceptable
  407, // Proxy Authentication Required
  410, // Gone
  411, // Length Required
  412, // Precondition Failed
  413, // Content Too Large
  414, // URI Too Long
  415, // Unsupported Media Type
  416, // Range Not Satisfiable
  417, // Expectation Failed
  421, // Misdirected Request
  422, // Unprocessable Content
  423, // Locked
  426, // Upgrade Required
  428, // Precondition Required
  431, // Request Header Fields Too Large
  451, // Unavailable For Legal Reasons
  501, // Not Implemented
  505, // HTTP Version Not Supported
]);

/** Kinds of failures by other statuses, from gateways and proxies alike. */
const kindsByStatus: ReadonlyMap<number, FailureKind> = new Map([
  [401, 'unauthorized'],
  [408, 'interrupted'], // Request Timeout
  [409, 'conflict'],
  [424, 'undecided'], // Failed Dependency
  [425, 'too_early'],
  [444, 'undecided'], // nginx: closed without a response
  [460, 'interrupted'], // AWS load balancer: the client closed the connection
  [499, 'interrupted'], // nginx: the client closed the connection
]);

/** Statuses with which servers report a model that they do not have, in words. */
const missingStatus = /^(2\d\d|404|503)$/;

/**
 * Returns whether an error means that the server does not serve the model to this key. Gateways decide that
 * before any work, except for messages with "(retry)": these follow failed attempts on other channels.
 */
export function isModelMissing(status: number | undefined, body: ErrorBody | undefined): boolean {
  const { code, type, message = '' } = body ?? {};
  if (means({ code, type }, missingModel)) return true;
  const isWorded = missingStatus.test(`${status}`) && !/[(（]retry[)）]/i.test(message);
  return isWorded && means({ message }, missingModel);
}

/** A limit of Google for a day or longer. The wait that stands beside it is that of a minute. */
const longQuota = /"quotaId":"\w{0,80}Per(?:Day|Week|Month)/;

/** Returns whether a 429 means that no credit is left, or a limit that outlasts retries is used up. */
export function isUsedUp(
  status: number | undefined,
  body: ErrorBody | undefined,
  headers: Headers | undefined,
): boolean {
  if (status !== 429 || body === undefined) return false;
  if (means(body, credit, providerCredit)) return true;
  if (longQuota.test(JSON.stringify(body.error ?? null))) return true;
  const wait = readRetryAfter(headers, status, body) ?? Infinity;
  return wait > longestRetryAfter && means(body, dailyLimit);
}

/** Returns whether an error precedes any work and recurs for the same request. */
function isPermanent(status: number | undefined, body: ErrorBody, headers?: Headers): boolean {
  return means(body, permanent) || isModelMissing(status, body) || isUsedUp(status, body, headers);
}

/**
 * Returns whether the gateway itself rejected the key. Its own errors have a type or a request id in the message;
 * a provider's rejection of the gateway's key has neither.
 */
function isKeyRefused(body: ErrorBody): boolean {
  const { type, message = '' } = body;
  if (quotesProvider(body)) return false;
  return type === undefined || keyRefusals.test(type) || /\(request id: \S/i.test(message);
}

/**
 * Returns whether a 401 is a provider's rejection of the gateway's own key. Without a sign that a gateway relayed
 * it, the server rejected the caller's key.
 */
export function isProviderRefusal(body: ErrorBody, headers: Headers | undefined): boolean {
  if (body.code === submissionFailed || quotesProvider(body)) return true;
  return isRelayed(headers) && !isKeyUnknown(body) && !isKeyRefused(body);
}

/** Returns whether the error is the gateway's standard response to unknown keys. */
export function isKeyUnknown({ type, message }: ErrorBody): boolean {
  return type === unknownKey.type || unknownKey.message.test(message ?? '');
}

/** Returns whether an error says that a key is wrong: by its status, or by its code and text. */
export function isWrongKey({ kind, body }: FailedAttempt): boolean {
  return kind === 'unauthorized' || (kind === 'refused' && means(body ?? {}, invalidKey));
}

/** Returns the value of `x-should-retry`. A permanent error overrides `true`. */
export function readShouldRetry({ headers, body, status }: FailedAttempt): boolean | undefined {
  const value = headers?.get('x-should-retry');
  if (value === 'false') return false;
  if (value !== 'true') return undefined;
  const isFinal =
    body !== undefined && (means(body, billedContent) || isPermanent(status, body, headers));
  return isFinal ? undefined : true;
}

/** Classifies an error response. */
export function classifyStatus(
  status: number,
  body: ErrorBody,
  headers: Headers,
  charge: ChargeClass = 'charged',
): FailureKind {
  const { code, type } = body;
  if (means(body, billedContent)) return charge === 'free' ? 'refused' : 'content_refused';
  if (isPermanent(status, body, headers)) return 'refused';
  // After the work, storage may reject a key too, but has other codes.
  if (status >= 500 && means({ code, type }, invalidKey)) return 'refused';
  if (status === 400 && isKeyUnknown(body)) return 'unauthorized';
  if (charge !== 'free' && isResentEmpty(body.message ?? '')) return 'undecided';
  const isDone = code === settlementUnknown || (status < 500 && means({ code }, afterWork));
  if (isDone) return 'unusable_answer';
  const kind = classifyByStatus(status, body, headers);
  if (code !== submissionFailed) return kind;
  const hasTask = containsId(body) || (status === 429 && mentionsTaskId(body));
  if (hasTask || status >= 500 || failures[kind].outcome !== 'rejected') return 'unusable_answer';
  return status === 429 ? 'rate_limited' : 'refused';
}

function classifyByStatus(status: number, body: ErrorBody, headers: Headers): FailureKind {
  if (status >= 100 && status < 400) return 'redirected_after_work';
  if (refusals.has(status)) return 'refused';
  const kind = status > 500 ? 'interrupted' : kindsByStatus.get(status);
  if (kind !== undefined) return kind;
  if (status === 429) {
    const hasHint = readRetryAfter(headers, status, body) !== undefined;
    return isJSON(body) || hasHint ? 'rate_limited' : 'bare_rate_limited';
  }
  // Proxies respond with JSON too; only the gateway's error format proves that it is the gateway.
  const isFromGateway = isJSON(body) && body.envelope !== 'other';
  if (status === 500 && isFromGateway) {
    return means(body, lostResponse) ? 'response_lost' : 'server_error';
  }
  if (status === 500) return 'interrupted';
  return isFromGateway ? 'refused' : 'undecided';
}

/**
 * Classifies an error with a success status. Gateways charge for most of them, but refund tasks that were not
 * created, and what precedes any work is not charged either.
 *
 * @param hasId - `true` if an id is next to the error, which may be that of a task.
 */
export function classifyErrorInSuccess(
  body: ErrorBody,
  charge: ChargeClass,
  createsTask: boolean,
  hasId = false,
): FailureKind {
  // With a success status, `fail_to_fetch_task` means that the provider created the task.
  const hasTask = body.code === submissionFailed || containsId(body) || mentionsTaskId(body);
  const isTaskError = createsTask && body.envelope === 'task' && !hasTask;
  if (charge === 'free' || isTaskError) return 'refused';
  if (means(body, billedContent)) return 'content_refused';
  const mayBeTask = charge === 'charged' && (hasTask || hasId);
  const isRefused = isPermanent(200, body) || means(body, invalidKey);
  return isRefused && !mayBeTask ? 'refused' : 'undecided';
}

/** Returns the status that an error names as its code. */
export function findStatus({ code }: ErrorBody): number | undefined {
  return /^[45]\d\d$/.test(code ?? '') ? Number(code) : undefined;
}

/** Types of errors that precede any work, in the formats of OpenAI and Anthropic. */
const refusalTypes = /^(invalid_request|rate_limit|authentication|permission|not_found)_error$/;

/** Returns whether an error has a status that rejects a request before any work, although it does not name it. */
function precedesWork(body: ErrorBody, charge: ChargeClass): boolean {
  // A charged call may have been billed, whatever the type says.
  const isTyped = charge === 'metered' && refusalTypes.test(body.type ?? '');
  return isTyped || means(body, tooLong, rateLimit);
}

/** Classifies an error that a stream begins with: as the same error with the status that it names or implies. */
export function classifyEvent(body: ErrorBody, headers: Headers, charge: ChargeClass): FailureKind {
  const status = findStatus(body) ?? (precedesWork(body, charge) ? 400 : undefined);
  if (status === undefined) return classifyErrorInSuccess(body, charge, false, false);
  return classifyStatus(status, body, headers, charge);
}

/** Returns whether a body contains an id other than a request id, also in nested JSON text. */
function containsId({ error }: ErrorBody): boolean {
  const text = JSON.stringify(error ?? null).replaceAll('\\', '');
  const ids = text.replaceAll(/(?:request|trace|log)_?id"/gi, '');
  return /id"\s*:\s*(?:"[^"\s]|[1-9])/i.test(ids);
}

/**
 * Returns whether the message of an error contains a task id, or its `data` is only an id. A rejection may
 * contain one too, for example if a task was not found.
 */
function mentionsTaskId({ error, message }: ErrorBody): boolean {
  const { data = null } = toFields(error);
  const isId = (typeof data === 'string' && data.trim() !== '') || typeof data === 'number';
  return isId || /\btask_\w*\d|\b(?:task|video)[ _]?id["']? ?[:=] ?["']?\w/i.test(message ?? '');
}

const toText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

/** Kinds of failures by the runtime's error code: `system call, code, bytes written`. */
const kindsByCode: readonly (readonly [RegExp, FailureKind])[] = [
  [/ ENOTFOUND /, 'host_not_found'],
  // Used only before a connection is established.
  [
    / (EAI_AGAIN|UND_ERR_(CONNECT_TIMEOUT|PRX_CONN|PRX_TLS|CLOSED|SOCKS5\S*)|ConnectionRefused|ERR_PROXY_TUNNEL) /,
    'cannot_connect',
  ],
  // Bun omits the system call, but an established connection can't be refused.
  [
    /^(connect (ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|ETIMEDOUT)| ECONNREFUSED) /,
    'cannot_connect',
  ],
  // The system has no descriptor or memory left for a connection, or forbids it, or cannot look up the host.
  [/^(connect (E[MN]FILE|ENOBUFS|ENOMEM|EACCES|EPERM)|getaddrinfo \S*) /, 'cannot_connect'],
  // On a reused socket the counter includes earlier requests, so only zero is proof.
  [/ UND_ERR_SOCKET 0$/, 'cannot_connect'],
  // The client rejected the certificate, or there is no common TLS version, so nothing was written. Other
  // `ERR_SSL_` codes may be alerts or broken records, which also occur after the request was written, as does
  // `EPROTO`, Bun's code for a broken record.
  [
    / (CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_|HOSTNAME_MISMATCH|ERR_SSL_(UNSUPPORTED_PROTOCOL|UNKNOWN_PROTOCOL|NO_PROTOCOLS_AVAILABLE|TLSV1_ALERT_PROTOCOL_VERSION) )/,
    'tls_failed',
  ],
  // Node's fetch rejects the request as invalid without sending it.
  [/ UND_ERR_(INVALID_ARG|NOT_SUPPORTED) /, 'invalid_input'],
];

/** Classifies an error code; `interrupted` if it proves nothing. */
function classifyCode(code: string, { syscall, socket, message }: JsonObject): FailureKind {
  // The function of OpenSSL (3.2 and later) that reads records until a TLS version is agreed on.
  const isBeforeVersion = code.startsWith('ERR_SSL_') && toText(message).includes('tlsany_meth');
  if (isBeforeVersion) return 'tls_failed';
  const written = isObject(socket) ? toText(socket['bytesWritten']) : '';
  const failure = `${toText(syscall)} ${code} ${written}`;
  return kindsByCode.find(([pattern]) => pattern.test(failure))?.[1] ?? 'interrupted';
}

/** Node's message for a port that the Fetch standard forbids. */
export const badPort = 'bad port';

/** Returns the status with which a proxy refused a tunnel to the gateway, so that nothing was sent. */
function readTunnelStatus({ message }: JsonObject): number | undefined {
  const [, status] =
    /^Proxy response \((\d{3})\) !== 200 when HTTP Tunneling/.exec(toText(message)) ?? [];
  return status === undefined ? undefined : Number(status);
}

/** Classifies the message of an error without a code. */
function classifyMessage(message: string): FailureKind | undefined {
  if (message === badPort) return 'invalid_input';
  // Node does not reveal the redirect if the upload can't be replayed.
  if (message === 'unexpected redirect') return 'redirected_after_work';
  // Deno has messages but no codes. If its messages change, failures degrade to unknown, never the other way
  // round.
  if (message.includes('refused stream before processing any application logic')) {
    return 'cannot_connect';
  }
  if (!message.includes('client error (Connect)')) return undefined;
  if (message.includes('dns error')) return 'host_not_found';
  const isTLS = /invalid peer certificate|received corrupt message|tls handshake/i.test(message);
  return isTLS ? 'tls_failed' : 'cannot_connect';
}

/** More than any runtime nests causes or errors; ends circular chains. */
const maxDepth = 6;

/** HTTP/2 `REFUSED_STREAM` guarantees that nothing was processed (RFC 9113, 8.7). */
const refusedStream = 7;

/** Classifies one error of the chain; `undefined` if only its cause can tell. */
function classifyLink(
  link: JsonObject,
  levels: number,
  targets?: readonly Endpoint[],
): FailureKind | undefined {
  const { errors, code, http2ErrorCode, message } = link;
  if (Array.isArray(errors) && errors.length > 0) {
    // Several addresses were tried; nothing was sent only if all of them failed to connect.
    const failedToConnect = (error: unknown): boolean =>
      isObject(error) &&
      /^(cannot_connect|host_not_found)$/.test(classifyLink(error, levels - 1, targets) ?? '');
    return levels > 0 && errors.every(failedToConnect) ? 'cannot_connect' : 'interrupted';
  }
  let kind: FailureKind | undefined;
  const tunnelStatus = readTunnelStatus(link);
  // A proxy that is busy or failed may recover; one that refuses the tunnel or its credentials does not.
  if (tunnelStatus !== undefined) {
    kind = /^(5|408|429)/.test(`${tunnelStatus}`) ? 'cannot_connect' : 'proxy_refused';
  } else if (http2ErrorCode === refusedStream) kind = 'cannot_connect';
  else if (typeof code === 'string') kind = classifyCode(code, link);
  else if (typeof message === 'string') kind = classifyMessage(message);
  if (targets === undefined || kind === undefined || failures[kind].outcome !== 'not_sent')
    return kind;
  const isOwnPort = message === badPort && isForbiddenPort(targets[0]?.port ?? '');
  return isOwnPort || isAbout(link, targets) ? kind : 'interrupted';
}

/** A host, a port or both; `""` if unknown. */
interface Endpoint {
  readonly host: string;
  readonly port: string;
}

const withoutBrackets = (host: string): string => host.toLowerCase().replaceAll(/[[\]]/g, '');

function toEndpoint(text: string): Endpoint {
  const { hostname, port, protocol } = new URL(text);
  return {
    host: withoutBrackets(hostname),
    port: port || (protocol === 'https:' ? '443' : '80'),
  };
}

/** Returns the endpoints that an error names: in its fields or, if they are absent, in its message. */
function findEndpoints(error: JsonObject): readonly Endpoint[] {
  const { hostname, host: name, address, port: number, path, message } = error;
  const host = toText(hostname) || toText(name) || toText(address);
  const port = toText(number);
  if (host !== '' || port !== '') return [{ host: withoutBrackets(host), port }];
  return `${toText(path)} ${toText(message)}`.split(/[\s()'",;]+/).flatMap((word) => {
    const isURL = /^https?:\/\//i.test(word);
    const url = isURL ? word : `http://${word}`;
    const isEndpoint = (isURL || /^[^/]+:\d+$/.test(word)) && URL.canParse(url);
    return isEndpoint ? [toEndpoint(url)] : [];
  });
}

const isAddress = (host: string): boolean => /^[\d.]+$|:/.test(host);

/**
 * Returns `true` if an endpoint in an error is the target: its host, or its port unless that is 80 or 443.
 * `false` if it is another one, `undefined` if that is uncertain.
 */
function isTarget({ host, port }: Endpoint, target: Endpoint): boolean | undefined {
  // A host name may resolve to any address.
  const isKnown = host !== '' && (isAddress(target.host) || !isAddress(host));
  if ((isKnown && host !== target.host) || (port !== '' && port !== target.port)) return false;
  // The default ports are too common to identify the endpoint.
  return isKnown || !/^(80|443)?$/.test(port) ? true : undefined;
}

/**
 * Returns `true` if an error names only the targets: the gateway, or the proxy of the request. `false` if it
 * names another endpoint, `undefined` if none.
 */
function isAbout(error: JsonObject, targets: readonly Endpoint[]): boolean | undefined {
  let isNamed: true | undefined;
  for (const endpoint of findEndpoints(error)) {
    const matches = targets.map((target) => isTarget(endpoint, target));
    if (matches.every((match) => match === false)) return false;
    if (matches.includes(true)) isNamed = true;
  }
  return isNamed;
}

const phases: Partial<Record<FailureKind, Phase>> = {
  invalid_input: 'local',
  redirected_after_work: 'headers',
  interrupted: 'sent',
};

/**
 * Returns whether `fetch` exceeded a time limit of its own. An abort by something other than this client
 * counts too.
 */
export function isTimeout(cause: unknown, levels = 3): boolean {
  if (!isObject(cause) || levels === 0) return false;
  const text = ['name', 'code', 'message'].map((field) => codeText(cause[field]) ?? '').join(' ');
  return /^AbortError|time[d_]?[ _]?out/i.test(text) || isTimeout(cause['cause'], levels - 1);
}

/** Codes of connections that were lost or not opened, although they contain the word "timeout". */
const connectionTimeout = /^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/;

/** The route of a request. */
export interface Route {
  readonly url: string;
  readonly proxy?: URL | undefined;
  /**
   * `false` if a custom `fetch` threw. It may have sent the request and then failed on another one, so only an
   * error that names the gateway or the proxy is proof.
   */
  readonly isTrusted: boolean;
}

/**
 * Classifies an exception thrown by `fetch`.
 *
 * Unrecognized errors are `interrupted`, with an unknown outcome.
 */
export function classifyThrown(cause: unknown, route?: Route): FailedAttempt {
  try {
    const failed = classifyChain(cause, route);
    const isLost = failed.kind !== 'interrupted' || connectionTimeout.test(failed.code ?? '');
    const isAtProxy = failed.proxy !== undefined;
    return isLost || isAtProxy || !isTimeout(cause) ? failed : { ...failed, kind: 'timed_out' };
  } catch {
    // Any property access may throw if the error is a proxy.
    return { kind: 'interrupted', phase: 'sent', cause };
  }
}

const codeOf = ({ code }: JsonObject): string | undefined =>
  typeof code === 'string' ? code : undefined;

const shownEndpoint = ({ host, port }: Endpoint): string =>
  [host.includes(':') ? `[${host}]` : host, port].filter(Boolean).join(':');

/** Returns the proxy that refused a request, or that could not be reached. */
function findProxyFailure(
  chain: readonly JsonObject[],
  route: Route | undefined,
): Pick<FailedAttempt, 'proxy' | 'address'> {
  const proxy = route?.proxy && toEndpoint(route.proxy.href);
  const address = proxy && shownEndpoint(proxy);
  const status = chain.map(readTunnelStatus).find((found) => found !== undefined);
  if (status !== undefined) return { proxy: { status }, address };
  const target = route && toEndpoint(route.url);
  if (proxy === undefined || target === undefined) return {};
  const isAtProxy = chain.some(
    (link) => isAbout(link, [proxy]) === true && isAbout(link, [target]) !== true,
  );
  return isAtProxy ? { proxy: {}, address } : {};
}

/** Classifies an error by the first of its causes that has a known code or message. */
function classifyChain(cause: unknown, route: Route | undefined): FailedAttempt {
  // The error and its causes, outermost first.
  const chain: JsonObject[] = [];
  for (let link = cause; isObject(link) && chain.length < maxDepth; link = link['cause']) {
    chain.push(link);
  }
  const proxy = findProxyFailure(chain, route);
  const targets =
    route === undefined || route.isTrusted
      ? undefined
      : [route.url, ...(route.proxy ? [route.proxy.href] : [])].map(toEndpoint);
  const isForOtherTarget =
    targets !== undefined && chain.some((link) => isAbout(link, targets) === false);
  for (const link of isForOtherTarget ? [] : chain) {
    const kind = classifyLink(link, maxDepth, targets);
    if (kind === undefined) continue;
    return { kind, phase: phases[kind] ?? 'connect', code: codeOf(link), cause, ...proxy };
  }
  // It proves nothing, but its code and address tell what failed.
  const known = chain.find((link) => codeOf(link) !== undefined) ?? {};
  const [endpoint] = isForOtherTarget ? findEndpoints(known) : [];
  const address = endpoint && shownEndpoint(endpoint);
  return { kind: 'interrupted', phase: 'sent', code: codeOf(known), cause, address, ...proxy };
}
