import { readErrorText } from '../../../answers/failure.ts';
import { credit, means, providerCredit, invalidKey } from '../../../answers/error-codes.ts';
import { codeText, errorMessage, isObject, trimmedText } from '../../../answers/objects.ts';
import { endpoints } from '../../../endpoints.ts';
import { needsAPIVersion } from '../../../gateways/signs.ts';
import { classifyThrown, isKeyUnknown } from '../../../http/classify.ts';
import { findProxy } from '../../../http/node/proxy.ts';
import {
  APIError,
  AuthenticationError,
  type Gateway,
  GatewayError,
  RateLimitError,
  type ModelPrice,
} from '../../../index.ts';
import type { JsonObject } from '../../../types.ts';
import { closeTo } from '../../../answers/similar-names.ts';
import { mediaNames } from './calls/models.ts';
import {
  createClient,
  hasNoRoute,
  findRoute,
  isHTML,
  locate,
  type Probe,
  probeUnknown,
  rootURL,
  routeURL,
  send,
  type Target,
  withoutKey,
} from './probe.ts';

/** The result of one check. */
export interface Finding {
  readonly id: string;
  readonly status: 'ok' | 'warn' | 'fail' | 'skip';
  readonly detail: string;
  /** A suggestion for the user. */
  readonly fix?: string | undefined;
}

const toFinding =
  (status: Finding['status']) =>
  (id: string, detail: string, fix?: string): Finding => ({ id, status, detail, fix });
const ok = toFinding('ok');
const warn = toFinding('warn');
const fail = toFinding('fail');
const skip = toFinding('skip');

/** Returns the code of a network error of the runtime, or the name of its innermost cause. */
function failureCode(error: unknown): string {
  let name = String(error);
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
    ({ name } = cause);
  }
  return name;
}

/** Explains a failed connection by its error code. */
function connectionFinding(error: unknown, target: Target): Finding {
  const { baseURL, timeout } = target;
  const code = failureCode(error);
  const root = rootURL(target);
  const { proxy, address = 'that is set' } = classifyThrown(error, {
    url: root,
    proxy: findProxy(root, undefined),
    isTrusted: true,
  });
  if (proxy !== undefined) {
    const answer =
      proxy.status === undefined ? `cannot be reached (${code})` : `answered ${proxy.status}`;
    const fix =
      proxy.status === 407
        ? 'Check the credentials in HTTPS_PROXY.'
        : 'Check HTTPS_PROXY and HTTP_PROXY, and that the proxy allows the host of the gateway.';
    return fail('connection', `the proxy ${address} ${answer}`, fix);
  }
  const detail = `no response from ${root} (${code})`;
  if (/ENOTFOUND|EAI_AGAIN/.test(code)) {
    return fail('connection', detail, 'The host name is unknown. Check the base URL and DNS.');
  }
  if (code === 'ECONNREFUSED') {
    return fail('connection', detail, 'No server is listening there. Check the host and port.');
  }
  if (/SSL|TLS|WRONG_VERSION|EPROTO/.test(code)) {
    return fail(
      'connection',
      detail,
      'The port does not use TLS. Try http:// instead of https://.',
    );
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO|ALTNAME/.test(code)) {
    const fix = 'Its certificate is not trusted. Add its authority with NODE_EXTRA_CA_CERTS.';
    return fail('connection', detail, fix);
  }
  if (code === 'TimeoutError') {
    const fix =
      'It accepts connections but does not respond. It may be overloaded or behind a firewall.';
    return fail('connection', `no response within ${timeout / 1_000} s`, fix);
  }
  const isPlain =
    baseURL.startsWith('http:') && /ECONNRESET|UND_ERR_SOCKET|HPE_|HTTPParserError/.test(code);
  const fix = isPlain
    ? 'The port may require TLS. Try https:// instead of http://.'
    : 'Check the network, the proxy and the base URL.';
  return fail('connection', detail, fix);
}

function proxyFinding(): Finding {
  const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY'];
  const set = names.filter((name) => (process.env[name] ?? '') !== '');
  if (set.length === 0) return ok('proxy', 'no proxy is set');
  if (process.env['NODE_USE_ENV_PROXY'] === '1') return ok('proxy', `${set.join(', ')} is used`);
  const fix = 'Set NODE_USE_ENV_PROXY=1 (Node 24), or pass a fetch with a ProxyAgent.';
  return warn('proxy', `${set.join(', ')} is set, but Node does not use it by default`, fix);
}

function addressFinding(probe: Probe, target: Target): Finding {
  const { pathname } = new URL(routeURL(target, '/models'));
  if (probe.status >= 300 && probe.status < 400) {
    const location = probe.headers.get('location') ?? 'nowhere';
    const fix = `Use the address of the redirect, because paid requests are never redirected: ${location}`;
    return fail('base-url', `responds with a redirect (${probe.status}) to ${location}`, fix);
  }
  if (isHTML(probe)) {
    const fix =
      'This is a website, for example the console of the gateway. Use the address of the API.';
    return fail('base-url', `GET ${pathname} returns an HTML page (${probe.status})`, fix);
  }
  if (hasNoRoute(probe)) {
    const fix = hasDoubleVersion(target.baseURL)
      ? 'The base URL contains /v1 twice. Remove one.'
      : 'Check the path of the base URL: a segment may be missing or superfluous.';
    return fail('base-url', `${pathname} does not exist (${probe.status})`, fix);
  }
  // Proxies and gateways send these errors as text or without a body.
  const isRefusal = [401, 403, 429].includes(probe.status) || probe.status >= 500;
  if (probe.json === undefined && !isRefusal) {
    return fail('base-url', 'the response is not JSON', 'Check the base URL.');
  }
  return ok('base-url', `${rootURL(target)} responds`);
}

const hasDoubleVersion = (baseURL: string): boolean => /\/v1\/v1|\/v1beta\/v1/.test(baseURL);

/** Returns whether the routes of a gateway are not below `/v1`, although its base URL has no path. */
export async function servesWithoutVersion(target: Target): Promise<boolean> {
  const { root = '', api } = locate(target) ?? {};
  if (api !== '/v1') return false;
  const models = await send(target, `${root}/models`);
  return models.status === 200 && listedModels(models) !== undefined;
}

/** Returns whether a chat route exists. Free: a gateway rejects a request without a model and messages. */
async function hasChat(target: Target, url: string): Promise<boolean> {
  const chat = await askChat(target, url);
  return !hasNoRoute(chat) && !isHTML(chat);
}

/** Sends a chat request without a model and messages, which no gateway charges for. */
function askChat(target: Target, url: string): Promise<Probe> {
  return send(target, url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
}

/** Returns the first of the usual addresses of an API on the same host that has a list of models. */
async function findAPI(target: Target): Promise<string | undefined> {
  const { origin } = new URL(rootURL(target));
  for (const path of ['/v1', '/api/v1', '/openai/v1']) {
    const url = origin + path;
    if (listedModels(await send(target, `${url}/models`)) !== undefined) return url;
  }
  return undefined;
}

/**
 * Checks a gateway without a list of models: looks for a chat route, for routes without `/v1`, and for the usual
 * addresses.
 */
async function addressWithoutModels(target: Target): Promise<Finding | undefined> {
  if (hasDoubleVersion(target.baseURL)) return undefined;
  const root = rootURL(target);
  const { api = '/v1', query = {} } = locate(target) ?? {};
  if (await hasChat(target, routeURL(target, '/chat/completions'))) {
    return ok('base-url', `${root} responds, without a list of models`);
  }
  if (await servesWithoutVersion(target)) {
    const fix =
      'Its routes are not below /v1. The client finds them with one more request; to avoid it, pass a profile with `basePath` in the option `gateway`.';
    return fail('base-url', `${root}/models responds, but ${root}/v1/models does not`, fix);
  }
  if (api === '/v1' && (await hasChat(target, `${root}/chat/completions`))) {
    return ok('base-url', `${root} responds, without /v1 and without a list of models`);
  }
  if (needsAPIVersion(routeURL(target, '/models')) && !('api-version' in query)) {
    const fix = 'Azure needs the parameter api-version: add ?api-version=… to the base URL.';
    return fail('base-url', `${root} has no such route`, fix);
  }
  const found = await findAPI(target);
  if (found === undefined) return undefined;
  return fail('base-url', `${root}${api}/models does not exist`, `Use the address ${found}.`);
}

const wrongKey = 'Check that it is complete and belongs to this gateway.';

function keyFinding({ status, text }: Probe): Finding {
  const body = readErrorText(text);
  // Some gateways answer a wrong key with 403, and name it in the code.
  if (status === 401 || (status === 403 && means(body, invalidKey))) {
    return fail('key', `the key is not accepted (${status})`, wrongKey);
  }
  if (status === 400 && isKeyUnknown(body)) {
    const fix =
      'LiteLLM without a database accepts only its master key and rejects others with this message.';
    return fail('key', `the key is not accepted (400 ${body.message ?? ''})`, fix);
  }
  if (status === 403) {
    const fix =
      'The key is valid but not allowed: check its permissions, quota and allowed addresses.';
    return fail('key', 'the key is rejected (403)', fix);
  }
  if (status === 429) {
    return warn('key', 'too many requests (429)', 'Wait a minute and run it again.');
  }
  if (status >= 400) {
    const detail = `the gateway responds ${status} ${(body.message ?? '').slice(0, 200)}`.trimEnd();
    const fix = 'If the message does not help, ask the operator of the gateway.';
    return fail('key', detail, status >= 500 ? 'Report it to the operator of the gateway.' : fix);
  }
  return ok('key', 'the key is accepted');
}

/** Returns whether the list of models needs no key, as on OpenRouter, and so cannot be used to check a key. */
async function hasPublicModels(target: Target): Promise<boolean> {
  const { status } = await send(withoutKey(target), routeURL(target, '/models'));
  return status === 200;
}

/** Returns the entries of the list of models, or `undefined` if the response does not contain a list. */
export function listedModels({ json }: Probe): JsonObject[] | undefined {
  const data = isObject(json) ? (json['data'] ?? json['models']) : json;
  return Array.isArray(data) ? data.filter(isObject) : undefined;
}

const modelId = ({ id, name }: JsonObject): string => trimmedText(id) ?? trimmedText(name) ?? '';

function modelsFinding(models: readonly JsonObject[] | undefined): Finding {
  if (models === undefined) {
    return fail(
      'models',
      'the response does not contain a list of models',
      'Report it to the operator of the gateway.',
    );
  }
  const ids = models.map(modelId);
  if (ids.length === 0) {
    const fix =
      'The group of the key has no models. Ask the operator of the gateway, or use another key.';
    return fail('models', 'the key may not use any model', fix);
  }
  const doubled = [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))];
  if (doubled.length > 0) {
    const names = doubled.slice(0, 3).join(', ');
    return warn(
      'models',
      `${ids.length} models, some twice: ${names}`,
      'Report it to the operator of the gateway.',
    );
  }
  return ok('models', `${ids.length} models`);
}

function latencyFinding({ firstByte }: Probe): Finding {
  const detail = `first byte after ${Math.round(firstByte)} ms`;
  if (firstByte < 3_000) return ok('latency', detail);
  return warn('latency', detail, 'The gateway is far away or overloaded. Set long time-outs.');
}

function clockFinding({ headers }: Probe): Finding {
  const date = Date.parse(headers.get('date') ?? '');
  if (Number.isNaN(date)) return skip('clock', 'the gateway does not report its time');
  const apart = Math.abs(Date.now() - date);
  if (apart < 300_000) return ok('clock', 'both clocks agree');
  const fix = 'Set the clock of this machine: certificates and signed addresses depend on it.';
  return warn('clock', `the clocks are ${Math.round(apart / 60_000)} minutes apart`, fix);
}

/** Checks that the gateway serves a model: in the list, or by its name if the list does not have it. */
async function modelFinding(
  { signal }: Target,
  gateway: Gateway,
  model: string,
  models: readonly JsonObject[],
): Promise<Finding> {
  const ids = models.map(modelId);
  if (ids.includes(model)) return ok('model', `${model} is in the list of models`);
  try {
    const { id } = await gateway.models.retrieve(model, { signal });
    if (id !== '') return ok('model', `${model} is served but not listed`);
  } catch (error) {
    if (!GatewayError.isInstance(error) || signal.aborted) throw error;
  }
  const close = closeTo(model, ids);
  const fix =
    close.length === 0
      ? 'List the models: model-gateway models'
      : `Did you mean ${close.join(' or ')}?`;
  return fail('model', `the key may not use a model named ${model}`, fix);
}

/** The credit below which a warning is printed, in US dollars. An image or a video often costs more. */
const lowCredit = 0.01;

/** One US dollar in the gateway's own unit. Operators can set another rate. */
const quotaPerDollar = 500_000;

/** The limit that billing routes report for unlimited keys and accounts, in US dollars. */
const unlimited = 100_000_000;

/** Returns the credit of the account in US dollars. Only some gateways show it to keys. */
async function accountCredit(target: Target): Promise<number | undefined> {
  const route = routeURL(target, '/dashboard/billing');
  const [subscription, usage] = await Promise.all([
    send(target, `${route}/subscription`),
    send(target, `${route}/usage`),
  ]);
  const limit = isObject(subscription.json) ? subscription.json['hard_limit_usd'] : undefined;
  const cents = isObject(usage.json) ? usage.json['total_usage'] : undefined;
  if (typeof limit !== 'number' || typeof cents !== 'number') return undefined;
  return limit >= unlimited ? undefined : limit - cents / 100;
}

/** Checks the remaining credit, if the gateway shows it to the key. */
async function creditFinding(
  target: Target,
  gateway: Gateway,
  isPublic: boolean,
): Promise<Finding> {
  let left: number | undefined;
  let shown = '';
  let owner = 'key';
  try {
    const { available } = await gateway.account.balance({ signal: target.signal });
    if (available === undefined) {
      owner = 'account';
      left = await accountCredit(target);
      shown = `${left} USD`;
    } else {
      left = available.unit === 'USD' ? available.value : available.value / quotaPerDollar;
      shown = `${available.value} ${available.unit}`;
    }
  } catch (error) {
    if (!GatewayError.isInstance(error) || target.signal.aborted) throw error;
    if (isPublic && AuthenticationError.isInstance(error)) {
      // The route may belong to a dashboard with a login of its own: chat proves whether the key works.
      const chat = await askChat(target, routeURL(target, '/chat/completions'));
      return chat.status === 400 || chat.status === 422
        ? skip('credit', 'the gateway shows the remaining credit only to its dashboard')
        : fail('credit', 'the key is not accepted (401)', wrongKey);
    }
    return RateLimitError.isInstance(error)
      ? skip('credit', 'the gateway limits requests for the credit; run it again later')
      : skip('credit', 'the gateway does not show the remaining credit');
  }
  if (left === undefined) {
    return skip(
      'credit',
      'the key has no limit, and the gateway does not show the credit of the account',
    );
  }
  if (left <= 0) {
    const fix = owner === 'key' ? 'Ask for a higher limit, or use another key.' : 'Add credit.';
    return fail('credit', `the ${owner} has no credit left (${shown})`, fix);
  }
  if (left < lowCredit) {
    const fix = 'An image or a video that costs more is rejected.';
    return warn('credit', `the ${owner} has only ${shown} left`, fix);
  }
  return ok('credit', `the ${owner} has ${shown} left`);
}

/** Endpoint types of chat models. */
const chatRoutes = /^(openai|openai-response|anthropic|gemini)$/;

/** Returns the reason why a chat with a model would cost more than a few tokens, if there is one. */
function mediaReason(
  model: string,
  listed: JsonObject | undefined,
  price: ModelPrice | undefined,
): string | undefined {
  const type = trimmedText(listed?.['type']) ?? 'text';
  if (/^(image|video|audio)$/.test(type)) return `${model} is a model of the type "${type}"`;
  const routes = [listed, price?.raw].flatMap((entry): unknown[] => {
    const types = entry?.['supported_endpoint_types'];
    return Array.isArray(types) ? types : [];
  });
  const isChat = routes.some((route) => typeof route === 'string' && chatRoutes.test(route));
  if (routes.length > 0 && !isChat) return `${model} is served only on ${routes.join(', ')}`;
  if (price?.billedPer === 'call') {
    return `${model} costs $${price.perCall?.value ?? '?'} per call instead of a few tokens`;
  }
  if (price?.billedPer === 'second' || price?.billedPer === 'character') {
    return `${model} is priced per ${price.billedPer} instead of per token`;
  }
  return mediaNames.test(model)
    ? `${model} has the name of an image, video or audio model`
    : undefined;
}

/** Returns the price of a model, if the gateway publishes it. */
async function findPrice(
  gateway: Gateway,
  model: string,
  signal: AbortSignal,
): Promise<ModelPrice | undefined> {
  try {
    const { models } = await gateway.account.prices({ signal });
    return models.find((price) => price.model === model);
  } catch (error) {
    if (GatewayError.isInstance(error) && !signal.aborted) return undefined;
    throw error;
  }
}

/** Checks whether pages of other origins may call the gateway. Servers don't need this. */
async function corsFinding(target: Target): Promise<Finding> {
  const fix =
    'Only pages need this: call the gateway from your server, or ask its operator to allow it.';
  const probe = await send(target, routeURL(target, '/chat/completions'), {
    method: 'OPTIONS',
    headers: {
      origin: 'https://example.com',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    },
  });
  const { status, headers } = probe;
  const origin = headers.get('access-control-allow-origin');
  if (origin !== '*' && origin !== 'https://example.com') {
    return warn('cors', 'pages of other origins may not call it', fix);
  }
  // Browsers require a 2xx response (Fetch standard, "CORS-preflight fetch").
  if (status < 200 || status > 299) {
    return warn('cors', `pages may not call it: the response to preflights is ${status}`, fix);
  }
  const allowed = splitNames(probe.headers.get('access-control-allow-headers'));
  const hasStar = allowed.includes('*');
  const missing = ['authorization', 'content-type'].filter((name) => !allowed.includes(name));
  if (missing.length > 0 && !hasStar) {
    return warn('cors', `pages may not send ${missing.join(' and ')}`, fix);
  }
  if (missing.includes('authorization')) {
    return warn(
      'cors',
      'pages may call it, but Access-Control-Allow-Headers is "*", which does not include "authorization" (Fetch standard)',
      'Chromium, Firefox and Safari still send the key, but browsers that follow the standard do not. Ask the operator to add "authorization".',
    );
  }
  const exposed = splitNames(probe.headers.get('access-control-expose-headers'));
  const seesId = exposed.some((name) => name === '*' || name.endsWith('request-id'));
  return ok('cors', `pages may call it${seesId ? '' : '; they cannot read the request id'}`);
}

/** Splits a header that lists names. */
function splitNames(list: string | null): string[] {
  return (list ?? '').split(',').map((name) => name.trim().toLowerCase());
}

/** Checks for the routes that create and read videos: they respond otherwise than unknown routes do. */
async function videoFinding(target: Target): Promise<Finding> {
  let unproven: Finding | undefined;
  for (const operation of ['videos.create', 'videos.retrieve'] as const) {
    const { method, path: usual } = endpoints[operation];
    const path = locate(target)?.gateway?.profile.paths?.[operation] ?? usual;
    const absent = await probeUnknown(target, method, path);
    const { served, probe } = await findRoute(target, method, path, absent);
    if (served === 'no') {
      const fix = 'This gateway cannot create videos. Everything else works.';
      return warn('videos', `${method} ${path} does not exist (${probe.status})`, fix);
    }
    const detail = `the response to a probe (${method} ${path}: ${probe.status}) proves no video route`;
    if (served === 'unknown') unproven ??= skip('videos', detail);
  }
  return unproven ?? ok('videos', 'the routes for videos exist');
}

const prompt = 'Count from one to thirty in words, one word a line.';

/**
 * Checks that a stream arrives while it is generated.
 *
 * @param arrivals - The arrival times of bytes, in milliseconds.
 * @param deltas - The number of chunks with text. One or two are too few for a conclusion.
 */
export function bufferingFinding(arrivals: readonly number[], deltas: number): Finding {
  const whole = arrivals.at(-1) ?? 0;
  if (whole < 1_000) return skip('chat-buffering', 'the response arrived too quickly to tell');
  const detail = `the stream arrives in ${arrivals.length} pieces`;
  if (whole - (arrivals[0] ?? 0) > whole / 20) return ok('chat-buffering', detail);
  if (deltas <= 2) return skip('chat-buffering', 'the model sends its response in one piece');
  return warn(
    'chat-buffering',
    'the whole stream arrives at once',
    "Either a proxy buffers it (nginx: proxy_buffering off), or the model's provider sends it at once: try a model of another provider.",
  );
}

/** Streams a short chat. Only models billed per token are called, so it costs a few tokens. */
async function chatFindings(
  target: Target,
  model: string,
  skipReason: string | undefined,
): Promise<Finding[]> {
  if (skipReason !== undefined) {
    const fix = `Choose a chat model billed by the token. To call it anyway: model-gateway chat -m ${model}`;
    return [warn('chat', `not called: ${skipReason}`, fix)];
  }
  const start = performance.now();
  const pieces: number[] = [];
  let type = '';
  const gateway = createClient(target, {
    totalTimeout: target.timeout * 6,
    onTruncated: 'allow',
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      type = response.headers.get('content-type') ?? '';
      const arrivals = new TransformStream<Uint8Array, Uint8Array>({
        transform(bytes, controller) {
          pieces.push(performance.now() - start);
          controller.enqueue(bytes);
        },
      });
      return new Response(response.body?.pipeThrough(arrivals) ?? null, response);
    },
  });
  let text = '';
  let finish: string | null | undefined;
  let hasUsage = false;
  let deltas = 0;
  const stream = await gateway.chat.completions.create(
    {
      model,
      messages: [{ role: 'user', content: prompt }],
      stream: true,
      stream_options: { include_usage: true },
    },
    { signal: target.signal },
  );
  for await (const { choices, usage } of stream) {
    const piece = choices[0]?.delta.content ?? '';
    if (piece !== '') deltas += 1;
    text += piece;
    finish = choices[0]?.finish_reason ?? finish;
    hasUsage ||= usage != null;
  }
  const findings = [ok('chat', `${model} responds: ${text.length} characters`)];
  findings.push(
    /text\/event-stream/i.test(type)
      ? ok('chat-type', 'the content type of the stream is correct')
      : warn(
          'chat-type',
          `the content type of the stream is ${type || 'missing'}`,
          'Report it to the operator of the gateway.',
        ),
  );
  findings.push(bufferingFinding(pieces, deltas));
  findings.push(
    finish == null
      ? warn('chat-finish', 'the stream ends without a finish reason', 'Set onTruncated: "warn".')
      : ok('chat-finish', `the stream ends with "${finish}"`),
    hasUsage
      ? ok('chat-usage', 'the stream reports token usage')
      : warn('chat-usage', 'the stream does not report token usage', 'Count tokens yourself.'),
  );
  return findings;
}

/** Returns whether the key or its account has no credit left. */
function hasNoCredit({ code, type, message }: APIError): boolean {
  return means({ code: codeText(code), type, message }, credit, providerCredit);
}

/** Runs a check. An error becomes a finding, so the other checks continue. */
async function guarded(id: string, check: () => Promise<Finding | Finding[]>): Promise<Finding[]> {
  try {
    return [await check()].flat();
  } catch (error) {
    const message = errorMessage(error);
    const isEmpty = APIError.isInstance(error) && hasNoCredit(error);
    return [
      fail(
        id,
        message === 'fetch failed' ? `no response (${failureCode(error)})` : message,
        isEmpty ? 'The key or its account has no credit left: add credit.' : 'See above.',
      ),
    ];
  }
}

/** The ids of the checks, in their order of execution. */
const checks =
  'proxy connection base-url latency clock key cors credit models videos model chat'.split(' ');

/** Runs the checks one by one. Free, except for the chat of `spend`. */
export async function* examine(target: Target): AsyncGenerator<Finding, void, undefined> {
  const remaining = new Set(checks);
  let failed = '';
  for await (const finding of runChecks(target)) {
    remaining.delete(finding.id);
    if (finding.status === 'fail') failed ||= finding.id;
    yield finding;
  }
  if (target.model === undefined) remaining.delete('model');
  for (const id of remaining) yield skip(id, `not checked, because ${failed} failed`);
}

async function* runChecks(target: Target): AsyncGenerator<Finding, void, undefined> {
  const { baseURL, model, signal, spend } = target;
  try {
    locate(target);
  } catch (error) {
    const reason = errorMessage(error);
    yield fail('base-url', `${baseURL} is not a valid address`, reason);
    return;
  }
  yield proxyFinding();
  let probe: Probe;
  try {
    probe = await send(target, routeURL(target, '/models'));
  } catch (error) {
    if (target.signal.aborted) throw error;
    yield connectionFinding(error, target);
    return;
  }
  yield ok('connection', `connected to ${new URL(baseURL).host}`);
  const hasModels = !hasNoRoute(probe) || isHTML(probe);
  const found = hasModels ? undefined : await addressWithoutModels(target);
  const address = found ?? addressFinding(probe, target);
  yield address;
  yield latencyFinding(probe);
  yield clockFinding(probe);
  if (address.status === 'fail') return;
  const key = hasModels ? keyFinding(probe) : skip('key', 'requires a list of models, or --spend');
  const isPublic = hasModels && key.status === 'ok' && (await hasPublicModels(target));
  yield isPublic ? skip('key', 'the list of models needs no key; to check it: --spend') : key;
  yield* await guarded('cors', () => corsFinding(target));
  if (key.status === 'fail') return;
  const gateway = createClient(target);
  yield* await guarded('credit', () => creditFinding(target, gateway, isPublic));
  const models = listedModels(probe);
  if (hasModels) yield modelsFinding(models);
  else
    yield warn(
      'models',
      `the list of models does not exist (${probe.status})`,
      'Ask the operator of the gateway for the names of the models.',
    );
  yield* await guarded('videos', () => videoFinding(target));
  if (model === undefined) {
    yield skip('chat', 'costs a few tokens; to run it: --spend -m <model>');
    return;
  }
  const [served] = hasModels
    ? await guarded('model', () => modelFinding(target, gateway, model, models ?? []))
    : [skip('model', 'requires a list of models')];
  if (served !== undefined) yield served;
  if (served?.status === 'fail') {
    yield skip('chat', 'requires a model that the key may use');
  } else if (spend) {
    const price = await findPrice(gateway, model, signal);
    const listed = models?.find((entry) => modelId(entry) === model);
    const skipReason = mediaReason(model, listed, price);
    yield* await guarded('chat', () => chatFindings(target, model, skipReason));
  } else {
    yield skip('chat', 'costs a few tokens; to run it: --spend');
  }
}
