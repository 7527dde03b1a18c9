import { type ErrorBody, isJSON } from '../answers/error-body.ts';
import { isObject } from '../answers/objects.ts';
import type { ChargeClass } from '../endpoints.ts';
import type { Phase } from '../errors/gateway-error.ts';
import type { JsonObject } from '../types.ts';
import { failures, retryAfterFrom, type FailedAttempt, type FailureKind } from './retry.ts';

/** Codes of refusals before any work that repeat with the same request, whatever the HTTP status. */
const lasting =
  /^(model_not_found|invalid_request|(build|convert)_request_failed|sensitive_words_detected|count_token_failed|model_price_error|insufficient(_user)?_quota|pre_consume_token_quota_failed|billing_hard_limit_reached)$/;

/** Codes of refused content. The provider has read it, and gateways bill for that. */
const blocked = /^(prompt_blocked$|violation_fee)/;

/** Codes that say that the provider had done the work. Operators can remap the status they come with. */
const afterWork = /^(read_response_body_failed|bad_response_body)$/;

/** The provider may have been paid, whatever the HTTP status says. */
const settlementUnknown = 'blockrun_settlement_unknown';

/** A task that the provider did not take. It comes with the provider's status, whatever that was. */
const submissionFailed = 'fail_to_fetch_task';

/** The first row whose pattern fits. */
function kindIn(
  rows: readonly (readonly [RegExp, FailureKind])[],
  text: string | number,
): FailureKind | undefined {
  return rows.find(([pattern]) => pattern.test(`${text}`))?.[1];
}

/** What statuses mean, whoever answers so. */
const kindsByStatus: readonly (readonly [RegExp, FailureKind])[] = [
  [/^[123]/, 'redirected_after_work'],
  [/^(40[02-7]|41[0-7]|42[12368]|431|451|50[15])$/, 'refused'],
  [/^401$/, 'unauthorized'],
  [/^409$/, 'conflict'],
  [/^4(24|44)$/, 'undecided'],
  [/^425$/, 'too_early'],
  [/^(408|460|499|5(?!00)|[6-9])/, 'interrupted'],
];

/** Returns whether the code of an error, or its type, which some gateways send in its place, matches. */
const hasCode = (pattern: RegExp, { code, type }: ErrorBody): boolean =>
  pattern.test(code ?? '') || pattern.test(type ?? '');

/** Gateways word "no channel serves this model" in English or Chinese, and mostly without a code. */
const noChannel = /no available channel|无可用渠道|可用渠道不存在/i;
const noModel =
  /\b(?:unknown|no such) model\b|\bmodel\b.{0,200}\b(?:not exist|not found|doesn't exist)|模型.{0,200}不存在/is;

/**
 * Returns whether a 404 or 503 means that the gateway does not serve the model to this key. It decides
 * that before any work, except for the last channel it looks for after others failed: "(retry)".
 */
export function isModelMissing(status: number | undefined, body: ErrorBody | undefined): boolean {
  if (body === undefined || (status !== 404 && status !== 503)) return false;
  const { code, message = '' } = body;
  if (code === 'model_not_found') return true;
  const isNamed = noChannel.test(message) || noModel.test(message);
  return isNamed && !/[(（]retry[)）]/i.test(message) && (!code || code === `${status}`);
}

/**
 * Returns whether the gateway itself refused the key. It signs its own refusals with a type or a
 * request id; a provider's refusal of the gateway's key has neither.
 */
export function isKeyRefused({ type, requestId }: ErrorBody): boolean {
  const own = /^((new|one)_api_error|auth_error|token_not_found_in_db|no_db_connection)$/;
  return type === undefined || own.test(type) || requestId !== undefined;
}

/** LiteLLM without a database answers 400 "No connected db." to every key but its master key. */
export function isKeyUnknown({ type, message }: ErrorBody): boolean {
  return (
    type === 'no_db_connection' ||
    /^(authentication error, )?no connected db\b/i.test(message ?? '')
  );
}

/**
 * Returns what `x-should-retry` asks for. A refusal that repeats with the same request overrides `true`.
 */
export function asksToRetry({ headers, body, status }: FailedAttempt): boolean | undefined {
  const asked = headers?.get('x-should-retry');
  if (asked === 'false') return false;
  if (asked !== 'true') return undefined;
  const isLasting = body !== undefined && (hasCode(lasting, body) || hasCode(blocked, body));
  return isLasting || isModelMissing(status, body) ? undefined : true;
}

/** The kind of failure that an error answer stands for. */
export function classifyStatus(
  status: number,
  body: ErrorBody,
  headers: Headers,
  charge: ChargeClass = 'charged',
): FailureKind {
  const { code } = body;
  if (hasCode(blocked, body)) return charge === 'free' ? 'refused' : 'content_refused';
  if (hasCode(lasting, body) || isModelMissing(status, body)) return 'refused';
  if (status === 400 && isKeyUnknown(body)) return 'unauthorized';
  const isDone = code === settlementUnknown || (status < 500 && afterWork.test(code ?? ''));
  if (isDone) return 'unusable_answer';
  const kind = kindOfStatus(status, body, headers);
  if (code !== submissionFailed) return kind;
  const isMade = holdsId(body) || (status === 429 && tellsId(body));
  if (isMade || status >= 500 || failures[kind].outcome !== 'rejected') return 'unusable_answer';
  return status === 429 ? 'rate_limited' : 'refused';
}

function kindOfStatus(status: number, body: ErrorBody, headers: Headers): FailureKind {
  const kind = kindIn(kindsByStatus, status);
  if (kind !== undefined) return kind;
  if (status === 429) {
    const hasHint = retryAfterFrom(headers, status) !== undefined;
    return isJSON(body) || hasHint ? 'rate_limited' : 'bare_rate_limited';
  }
  // Proxies answer in JSON too; what has the form of the gateway's errors is surely from it.
  const isOwn = isJSON(body) && body.envelope !== 'other';
  if (status === 500) return isOwn ? 'server_error' : 'interrupted';
  return isOwn ? 'refused' : 'undecided';
}

/**
 * The kind of failure that an error with a success status stands for. Gateways charge for most of them.
 * They give back what a task cost that was not made.
 */
export function classifyErrorInSuccess(
  body: ErrorBody,
  charge: ChargeClass,
  makesTask: boolean,
): FailureKind {
  // That code repeats a success of the provider here, who has made the task.
  const isMade = body.code === submissionFailed || holdsId(body) || tellsId(body);
  const isTaskError = makesTask && body.envelope === 'task' && !isMade;
  if (charge === 'free' || isTaskError) return 'refused';
  return hasCode(blocked, body) ? 'content_refused' : 'undecided';
}

/** Whether the id of anything but a request is in a body, also within JSON that it tells as text. */
function holdsId({ error }: ErrorBody): boolean {
  const text = JSON.stringify(error ?? null).replaceAll('\\', '');
  const ids = text.replaceAll(/(?:request|trace|log)_?id"/gi, '');
  return /id"\s*:\s*(?:"[^"\s]|[1-9])/i.test(ids);
}

/**
 * Whether an error tells the id of a task in its words, or alone as its `data`. A refusal may tell one
 * too: that of a task that was not found.
 */
function tellsId({ error, message }: ErrorBody): boolean {
  const { data = null } = isObject(error) ? error : {};
  const isId = (typeof data === 'string' && data.trim() !== '') || typeof data === 'number';
  return isId || /\btask_\w*\d|\b(?:task|video)[ _]?id["']? ?[:=] ?["']?\w/i.test(message ?? '');
}

const shown = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

/** What codes of runtimes prove: `system call, code, bytes written`. */
const kindsByCode: readonly (readonly [RegExp, FailureKind])[] = [
  [/ ENOTFOUND /, 'host_not_found'],
  // These are used only before a connection stands.
  [
    / (EAI_AGAIN|UND_ERR_(CONNECT_TIMEOUT|PRX_CONN|PRX_TLS|CLOSED|SOCKS5\S*)|ConnectionRefused|ERR_PROXY_TUNNEL) /,
    'cannot_connect',
  ],
  // Bun names no system call, but nothing that is connected can still be refused.
  [
    /^(connect (ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|ETIMEDOUT)| ECONNREFUSED) /,
    'cannot_connect',
  ],
  // On a re-used socket the counter includes earlier requests, so only zero proves anything.
  [/ UND_ERR_SOCKET 0$/, 'cannot_connect'],
  // We refused the certificate of the gateway, or none of our TLS versions is spoken there, so nothing
  // was written. Other `ERR_SSL_` codes may be alerts or broken records, which also come after the
  // request was written; so does `EPROTO`, by which Bun names a broken record.
  [
    / (CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_|HOSTNAME_MISMATCH|ERR_SSL_(UNSUPPORTED_PROTOCOL|UNKNOWN_PROTOCOL|NO_PROTOCOLS_AVAILABLE|TLSV1_ALERT_PROTOCOL_VERSION) )/,
    'tls_failed',
  ],
  // Node's fetch takes the request for wrong, and does not send it.
  [/ UND_ERR_(INVALID_ARG|NOT_SUPPORTED) /, 'invalid_input'],
];

/** What a code proves; `interrupted` when it proves nothing. */
function kindOfCode(code: string, { syscall, socket, message }: JsonObject): FailureKind {
  // The part of OpenSSL (3.2 and later) that reads records until a TLS version is agreed on.
  const isBeforeVersion = code.startsWith('ERR_SSL_') && shown(message).includes('tlsany_meth');
  if (isBeforeVersion) return 'tls_failed';
  const written = isObject(socket) ? shown(socket['bytesWritten']) : '';
  return kindIn(kindsByCode, `${shown(syscall)} ${code} ${written}`) ?? 'interrupted';
}

/** What a text proves, where there is no code. */
function kindOfText(message: string): FailureKind | undefined {
  // What Node says of a port that the Fetch standard forbids.
  if (message === 'bad port') return 'invalid_input';
  // Node hides which redirect it was when an upload may not be followed.
  if (message === 'unexpected redirect') return 'redirected_after_work';
  // Deno gives no codes, only text. If its wording changes, the failure degrades to unknown, never the
  // other way round.
  if (message.includes('refused stream before processing any application logic')) {
    return 'cannot_connect';
  }
  if (!message.includes('client error (Connect)')) return undefined;
  if (message.includes('dns error')) return 'host_not_found';
  const isTLS = /invalid peer certificate|received corrupt message|tls handshake/i.test(message);
  return isTLS ? 'tls_failed' : 'cannot_connect';
}

/** Deeper than any runtime nests causes or errors; ends a chain that points at itself. */
const deepest = 6;

/** HTTP/2 `REFUSED_STREAM` guarantees that nothing was processed (RFC 9113, 8.7). */
const refusedStream = 7;

/** What one link of the chain proves, or `undefined` when it says nothing and its cause may. */
function kindOfLink(link: JsonObject, levels: number, own?: Place): FailureKind | undefined {
  const { errors, code, http2ErrorCode, message } = link;
  if (Array.isArray(errors) && errors.length > 0) {
    // Several addresses were tried: nothing was sent only if every one of them failed to connect.
    const failedToConnect = (error: unknown): boolean =>
      isObject(error) &&
      /^(cannot_connect|host_not_found)$/.test(kindOfLink(error, levels - 1, own) ?? '');
    return levels > 0 && errors.every(failedToConnect) ? 'cannot_connect' : 'interrupted';
  }
  let kind: FailureKind | undefined;
  if (http2ErrorCode === refusedStream) kind = 'cannot_connect';
  else if (typeof code === 'string') kind = kindOfCode(code, link);
  else if (typeof message === 'string') kind = kindOfText(message);
  const isProof = kind !== undefined && failures[kind].outcome === 'not_sent';
  return isProof && own !== undefined && !isAbout(link, own) ? 'interrupted' : kind;
}

/** A host, or a port, or both; `""` for what is not said. */
interface Place {
  readonly host: string;
  readonly port: string;
}

const withoutBrackets = (host: string): string => host.toLowerCase().replaceAll(/[[\]]/g, '');

function placeOf(text: string): Place {
  const { hostname, port, protocol } = new URL(text);
  return {
    host: withoutBrackets(hostname),
    port: port || (protocol === 'https:' ? '443' : '80'),
  };
}

/** The places that an error names: in its fields or, if there are none, in its text. */
function placesIn(error: JsonObject): readonly Place[] {
  const { hostname, host: name, address, port: number, path, message } = error;
  const host = shown(hostname) || shown(name) || shown(address);
  const port = shown(number);
  if (host !== '' || port !== '') return [{ host: withoutBrackets(host), port }];
  return `${shown(path)} ${shown(message)}`.split(/[\s()'",;]+/).flatMap((word) => {
    const isURL = /^https?:\/\//i.test(word);
    const url = isURL ? word : `http://${word}`;
    const isPlace = (isURL || /^[^/]+:\d+$/.test(word)) && URL.canParse(url);
    return isPlace ? [placeOf(url)] : [];
  });
}

const isAddress = (host: string): boolean => /^[\d.]+$|:/.test(host);

/**
 * Whether an error names the place of a request and no other: its host, or its port when that is no
 * usual one. `false` when it names another, `undefined` when it names none.
 */
function isAbout(error: JsonObject, own: Place): boolean | undefined {
  let isNamed: true | undefined;
  for (const { host, port } of placesIn(error)) {
    // A name may stand for any address.
    const isKnown = host !== '' && (isAddress(own.host) || !isAddress(host));
    if ((isKnown && host !== own.host) || (port !== '' && port !== own.port)) return false;
    // Nearly everything else listens at the usual ports too.
    if (isKnown || !/^(80|443)?$/.test(port)) isNamed = true;
  }
  return isNamed;
}

const phases: Partial<Record<FailureKind, Phase>> = {
  invalid_input: 'local',
  redirected_after_work: 'headers',
  interrupted: 'sent',
};

/**
 * Turns what `fetch` threw into evidence.
 *
 * Everything that is not on the list counts as `interrupted`, whose outcome is unknown.
 *
 * @param url - What was asked for, when the caller's own `fetch` threw. It may have sent the request and
 * then failed on something else, so only an error that names this place proves anything.
 */
export function classifyThrown(cause: unknown, url?: string): FailedAttempt {
  try {
    // The error itself and its causes, outermost first.
    const chain: JsonObject[] = [];
    for (let link = cause; isObject(link) && chain.length < deepest; link = link['cause']) {
      chain.push(link);
    }
    const own = url === undefined ? undefined : placeOf(url);
    const isOfAnother = own !== undefined && chain.some((link) => isAbout(link, own) === false);
    for (const link of isOfAnother ? [] : chain) {
      const kind = kindOfLink(link, deepest, own);
      const { code } = link;
      if (kind === undefined) continue;
      const phase = phases[kind] ?? 'connect';
      return { kind, phase, code: typeof code === 'string' ? code : undefined, cause };
    }
  } catch {
    // A proxy may throw whatever it is asked.
  }
  return { kind: 'interrupted', phase: 'sent', code: undefined, cause };
}
