import { readErrorText } from '../answers/error-body.ts';
import { errorMessage, isObject, parseJSON, textOf } from '../answers/objects.ts';
import { isKeyUnknown } from '../http/classify.ts';
import { parseBaseURL } from '../http/url.ts';
import { APIError, Gateway, GatewayError, RateLimitError, type ModelPrice } from '../index.ts';
import type { JsonObject } from '../types.ts';
import { closeTo } from './report.ts';

/** The result of one check. */
export interface Finding {
  readonly id: string;
  readonly status: 'ok' | 'warn' | 'fail' | 'skip';
  readonly detail: string;
  /** What to do about it. */
  readonly fix?: string | undefined;
}

/** The gateway to examine. */
export interface Patient {
  /** As the user wrote it. */
  readonly baseURL: string;
  readonly key: string;
  readonly signal: AbortSignal;
  /** How long one request may take, in milliseconds. */
  readonly timeout: number;
  /** The model to look for. */
  readonly model?: string | undefined;
  /** Whether to chat with the model, which costs something. */
  readonly spend: boolean;
}

/** An answer as it came. */
interface Seen {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON, or `undefined`. */
  readonly json: unknown;
  /** Milliseconds to the headers. */
  readonly firstByte: number;
}

const found =
  (status: Finding['status']) =>
  (id: string, detail: string, fix?: string): Finding => ({ id, status, detail, fix });
const ok = found('ok');
const warn = found('warn');
const fail = found('fail');
const skip = found('skip');

const rootOf = (baseURL: string): string => parseBaseURL(baseURL)?.root ?? '';

const isHTML = ({ text }: Seen): boolean => /^\s*</.test(text);

async function look(
  patient: Patient,
  url: string,
  init: { method?: string; headers?: Record<string, string> } = {},
): Promise<Seen> {
  const { key, signal, timeout } = patient;
  const start = performance.now();
  const response = await fetch(url, {
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
    ...init,
    headers: { accept: 'application/json', authorization: `Bearer ${key}`, ...init.headers },
  });
  const firstByte = performance.now() - start;
  const text = await response.text();
  const { status, headers } = response;
  return { status, headers, text, json: parseJSON(text), firstByte };
}

/** The code of what a runtime throws when no answer comes, or the name of its innermost error. */
function failureCode(error: unknown): string {
  let name = String(error);
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
    ({ name } = cause);
  }
  return name;
}

/** What to do about a connection that fails, by its code. */
function connectionFinding(error: unknown, { baseURL, timeout }: Patient): Finding {
  const code = failureCode(error);
  const detail = `no answer from ${rootOf(baseURL)} (${code})`;
  if (/ENOTFOUND|EAI_AGAIN/.test(code)) {
    return fail('connection', detail, 'The host name is not known. Check the base URL and DNS.');
  }
  if (code === 'ECONNREFUSED') {
    return fail('connection', detail, 'Nothing listens there. Check host and port.');
  }
  if (/SSL|TLS|WRONG_VERSION|EPROTO/.test(code)) {
    return fail('connection', detail, 'The port speaks no TLS. Try http:// in place of https://.');
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO|ALTNAME/.test(code)) {
    const fix = 'Its certificate is not trusted. Give its authority in NODE_EXTRA_CA_CERTS.';
    return fail('connection', detail, fix);
  }
  if (code === 'TimeoutError') {
    const fix =
      'It accepts connections and does not answer. Is it overloaded, or behind a firewall?';
    return fail('connection', `no answer within ${timeout / 1_000} s`, fix);
  }
  const isPlain =
    baseURL.startsWith('http:') && /ECONNRESET|UND_ERR_SOCKET|HPE_|HTTPParserError/.test(code);
  const fix = isPlain
    ? 'The port may want TLS. Try https:// in place of http://.'
    : 'Check the network, the proxy and the base URL.';
  return fail('connection', detail, fix);
}

function proxyFinding(): Finding {
  const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY'];
  const set = names.filter((name) => (process.env[name] ?? '') !== '');
  if (set.length === 0) return ok('proxy', 'no proxy is set');
  if (process.env['NODE_USE_ENV_PROXY'] === '1') return ok('proxy', `${set.join(', ')} is used`);
  const fix = 'Set NODE_USE_ENV_PROXY=1 (Node 24), or pass a fetch with a ProxyAgent.';
  return warn('proxy', `${set.join(', ')} is set, but Node does not use it by itself`, fix);
}

function addressFinding(seen: Seen, baseURL: string): Finding {
  if (seen.status >= 300 && seen.status < 400) {
    const location = seen.headers.get('location') ?? 'nowhere';
    const fix = `Use the address that it leads to: a paid request is never sent on. (${location})`;
    return fail('base-url', `answers with a redirect (${seen.status}) to ${location}`, fix);
  }
  if (isHTML(seen)) {
    const fix = 'This is a website, such as the console. Ask for the address of the API.';
    return fail('base-url', `GET /v1/models answers with a page (${seen.status})`, fix);
  }
  if (seen.status === 404 || seen.status === 405) {
    const fix = /\/v1\/v1|\/v1beta\/v1/.test(baseURL)
      ? 'The base URL has /v1 twice. Take one away.'
      : 'Is there a part of the path missing, or one too many?';
    return fail('base-url', `there is no /v1/models (${seen.status})`, fix);
  }
  if (seen.json === undefined) {
    return fail('base-url', 'answers with something that is no JSON', 'Check the base URL.');
  }
  return ok('base-url', `${rootOf(baseURL)} answers in JSON`);
}

function keyFinding({ status, text }: Seen): Finding {
  const body = readErrorText(text);
  if (status === 401) {
    return fail('key', 'the key is not accepted (401)', 'Is it whole, and of this gateway?');
  }
  if (status === 400 && isKeyUnknown(body)) {
    const fix =
      'LiteLLM without a database accepts its master key alone, and answers so to others.';
    return fail('key', `the key is not accepted (400 ${body.message ?? ''})`, fix);
  }
  if (status === 403) {
    const fix = 'The key is known and may not do this: look at its rights, quota and addresses.';
    return fail('key', 'the key is refused (403)', fix);
  }
  if (status === 429) {
    return warn('key', 'too many requests (429)', 'Wait a minute and run it again.');
  }
  if (status >= 400) {
    const detail = `the gateway answers ${status} ${(body.message ?? '').slice(0, 200)}`.trimEnd();
    const fix = 'If its message does not help, ask its operator.';
    return fail('key', detail, status >= 500 ? 'Tell its operator.' : fix);
  }
  return ok('key', 'the key is accepted');
}

/** The entries of the list of models; `undefined` when the answer holds no list. */
function listedModels({ json }: Seen): JsonObject[] | undefined {
  const data = isObject(json) ? (json['data'] ?? json['models']) : json;
  return Array.isArray(data) ? data.filter(isObject) : undefined;
}

const idOf = ({ id, name }: JsonObject): string => textOf(id) ?? textOf(name) ?? '';

function modelsFinding(models: readonly JsonObject[] | undefined): Finding {
  if (models === undefined) {
    return fail('models', 'the list of models has no list in it', 'Tell its operator.');
  }
  const ids = models.map(idOf);
  if (ids.length === 0) {
    const fix = 'The group of the key has no models. Ask its operator, or use another key.';
    return fail('models', 'the key may use no model', fix);
  }
  const doubled = [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))];
  if (doubled.length > 0) {
    const names = doubled.slice(0, 3).join(', ');
    return warn('models', `${ids.length} models, some twice: ${names}`, 'Tell its operator.');
  }
  return ok('models', `${ids.length} models`);
}

function latencyFinding({ firstByte }: Seen): Finding {
  const detail = `first byte after ${Math.round(firstByte)} ms`;
  if (firstByte < 3_000) return ok('latency', detail);
  return warn('latency', detail, 'It is far away or overloaded. Time-outs should be generous.');
}

function clockFinding({ headers }: Seen): Finding {
  const date = Date.parse(headers.get('date') ?? '');
  if (Number.isNaN(date)) return skip('clock', 'the gateway does not tell its time');
  const apart = Math.abs(Date.now() - date);
  if (apart < 300_000) return ok('clock', 'both clocks agree');
  const fix = 'Set the clock of this machine: certificates and signed addresses depend on it.';
  return warn('clock', `the clocks are ${Math.round(apart / 60_000)} minutes apart`, fix);
}

/** Checks that the gateway serves a model: by the list, and for models that are not in it by name. */
async function modelFinding(
  patient: Patient,
  model: string,
  models: readonly JsonObject[],
): Promise<Finding> {
  const ids = models.map(idOf);
  if (ids.includes(model)) return ok('model', `${model} is in the list of models`);
  const url = `${rootOf(patient.baseURL)}/v1/models/${encodeURIComponent(model)}`;
  const { status, json } = await look(patient, url);
  const isServed = status === 200 && isObject(json) && json['error'] === undefined;
  if (isServed && idOf(json) !== '') return ok('model', `${model} is served, and not in the list`);
  const close = closeTo(model, ids);
  const fix =
    close.length === 0
      ? 'See the list: model-gateway models'
      : `Did you mean ${close.join(' or ')}?`;
  return fail('model', `the key may not use a model named ${model}`, fix);
}

/** Less credit than this is worth a warning, in US dollars: a picture or a video often costs more. */
const littleCredit = 0.01;

/** What one US dollar is in the gateway's own unit, unless its operator has set another rate. */
const quotaPerDollar = 500_000;

/** A key or account without a limit has this limit on the billing routes, in US dollars. */
const unlimited = 100_000_000;

/** The credit of the account, which only some gateways show to its keys; in US dollars. */
async function accountCredit(patient: Patient): Promise<number | undefined> {
  const route = `${rootOf(patient.baseURL)}/v1/dashboard/billing`;
  const [subscription, usage] = await Promise.all([
    look(patient, `${route}/subscription`),
    look(patient, `${route}/usage`),
  ]);
  const limit = isObject(subscription.json) ? subscription.json['hard_limit_usd'] : undefined;
  const hundredths = isObject(usage.json) ? usage.json['total_usage'] : undefined;
  if (typeof limit !== 'number' || typeof hundredths !== 'number') return undefined;
  return limit >= unlimited ? undefined : limit - hundredths / 100;
}

/** Checks the credit that is left, as far as the gateway shows it to the key. */
async function creditFinding(patient: Patient, gateway: Gateway): Promise<Finding> {
  let left: number | undefined;
  let shown = '';
  let owner = 'key';
  try {
    const { available } = await gateway.account.balance({ signal: patient.signal });
    if (available === undefined) {
      owner = 'account';
      left = await accountCredit(patient);
      shown = `${left} USD`;
    } else {
      left = available.unit === 'USD' ? available.value : available.value / quotaPerDollar;
      shown = `${available.value} ${available.unit}`;
    }
  } catch (error) {
    if (!GatewayError.isInstance(error) || patient.signal.aborted) throw error;
    return RateLimitError.isInstance(error)
      ? skip('credit', 'the gateway limits how often it shows what is left; run it again later')
      : skip('credit', 'the gateway does not show what is left');
  }
  if (left === undefined) {
    return skip('credit', 'the key has no limit, and does not see what the account has left');
  }
  if (left <= 0) {
    const fix = owner === 'key' ? 'Let its limit be raised, or use another key.' : 'Top it up.';
    return fail('credit', `the ${owner} has no credit left (${shown})`, fix);
  }
  if (left < littleCredit) {
    const fix = 'A picture or a video may cost more, and is then refused.';
    return warn('credit', `the ${owner} has only ${shown} left`, fix);
  }
  return ok('credit', `the ${owner} has ${shown} left`);
}

/** Routes of chat in the endpoint types of a model. */
const chatRoutes = /^(openai|openai-response|anthropic|gemini)$/;

/** Names of models that make pictures, videos or sound, whose list entry does not say so. */
const mediaNames =
  /(?:^|[^a-z])(?:dall-?e|image|imagen|flux|stable-?diffusion|midjourney|mj|seedream|sora|veo|kling|vidu|hailuo|jimeng|seedance|runway|luma|pika|wan|t2i|t2v|i2v|suno|tts|speech|whisper)(?:[^a-z]|$)|viduq|wanx/i;

/** Returns why a chat with a model would cost more than a few tokens, if it would. */
function mediaReason(
  model: string,
  listed: JsonObject | undefined,
  price: ModelPrice | undefined,
): string | undefined {
  const type = textOf(listed?.['type']) ?? 'text';
  if (/^(image|video|audio)$/.test(type)) return `${model} is a model of the type "${type}"`;
  const routes = [listed, price?.raw].flatMap((entry): unknown[] => {
    const types = entry?.['supported_endpoint_types'];
    return Array.isArray(types) ? types : [];
  });
  const isChat = routes.some((route) => typeof route === 'string' && chatRoutes.test(route));
  if (routes.length > 0 && !isChat) return `${model} is served on ${routes.join(', ')} alone`;
  if (price?.paidBy === 'call') {
    return `${model} costs ${price.perCall?.value ?? '?'} USD a call, and not a few tokens`;
  }
  return mediaNames.test(model)
    ? `${model} is named as a model of pictures, videos or sound`
    : undefined;
}

/** The price of a model, if the gateway publishes it. */
async function priceOf(
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

/** Whether pages of other sites may call it, which servers do not need. */
async function corsFinding(patient: Patient): Promise<Finding> {
  const fix =
    'Only pages need it: call the gateway from your server, or let its operator allow it.';
  const seen = await look(patient, `${rootOf(patient.baseURL)}/v1/chat/completions`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://example.com',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    },
  });
  const origin = seen.headers.get('access-control-allow-origin');
  if (origin === null) return warn('cors', 'pages of other sites may not call it', fix);
  const allowed = namesIn(seen.headers.get('access-control-allow-headers'));
  const hasStar = allowed.includes('*');
  const missing = ['authorization', 'content-type'].filter((name) => !allowed.includes(name));
  if (missing.length > 0 && !hasStar) {
    return warn('cors', `pages may not send ${missing.join(' and ')}`, fix);
  }
  if (missing.includes('authorization')) {
    return warn(
      'cors',
      'pages may call it, but Access-Control-Allow-Headers is "*", which by the Fetch standard does not cover "authorization"',
      'Chromium, Firefox and Safari send the header all the same, and some warn in the console that they will stop; browsers that follow the standard, such as Servo, refuse. Let the operator add "authorization" to the list.',
    );
  }
  const exposed = namesIn(seen.headers.get('access-control-expose-headers'));
  const seesId = exposed.some((name) => name === '*' || name.endsWith('request-id'));
  return ok('cors', `pages may call it${seesId ? '' : '; they do not see the request id'}`);
}

/** The names in a header that lists them. */
function namesIn(list: string | null): string[] {
  return (list ?? '').split(',').map((name) => name.trim().toLowerCase());
}

/** Whether there is a route for videos: an unknown task is refused in JSON. */
async function videoFinding(patient: Patient): Promise<Finding> {
  const seen = await look(patient, `${rootOf(patient.baseURL)}/v1/videos/doctor-asks-for-no-task`);
  const fix = 'Videos cannot be made here. Everything else works without it.';
  const isRoute = isObject(seen.json) && !/invalid url|not found \(get/i.test(seen.text);
  if (!isRoute || isHTML(seen)) {
    return warn('videos', `there is no route for videos (${seen.status})`, fix);
  }
  return ok('videos', 'there is a route for videos');
}

const prompt = 'Count from one to thirty in words, one word a line.';

/**
 * Checks that the pieces of a stream arrive as they are made.
 *
 * @param arrivals - When bytes arrived, in milliseconds.
 * @param deltas - How many chunks have text. From one or two, nothing can be concluded.
 */
function bufferingFinding(arrivals: readonly number[], deltas: number): Finding {
  const whole = arrivals.at(-1) ?? 0;
  if (whole < 1_000) return skip('chat-buffering', 'the answer came too quickly to tell');
  const detail = `the stream comes in ${arrivals.length} pieces`;
  if (whole - (arrivals[0] ?? 0) > whole / 20) return ok('chat-buffering', detail);
  if (deltas <= 2) return skip('chat-buffering', 'the model sends its answer in one piece');
  return warn(
    'chat-buffering',
    'the whole stream comes at once',
    "Either a proxy holds it back (nginx: proxy_buffering off), or the model's provider sends it so: try a model of another provider.",
  );
}

/** One tiny chat, streamed. It costs a few tokens, so models that are paid otherwise are not called. */
async function chatFindings(
  patient: Patient,
  model: string,
  notCalled: string | undefined,
): Promise<Finding[]> {
  if (notCalled !== undefined) {
    const fix = `Choose a chat model that is paid by the token. To call it all the same: model-gateway chat -m ${model}`;
    return [warn('chat', `not called: ${notCalled}`, fix)];
  }
  const start = performance.now();
  const pieces: number[] = [];
  let type = '';
  const gateway = new Gateway({
    baseURL: patient.baseURL,
    apiKey: patient.key,
    maxRetries: 0,
    totalTimeout: patient.timeout * 6,
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
    { signal: patient.signal },
  );
  for await (const { choices, usage } of stream) {
    const piece = choices[0]?.delta.content ?? '';
    if (piece !== '') deltas += 1;
    text += piece;
    finish = choices[0]?.finish_reason ?? finish;
    hasUsage ||= usage != null;
  }
  const findings = [ok('chat', `${model} answers: ${text.length} characters`)];
  findings.push(
    /text\/event-stream/i.test(type)
      ? ok('chat-type', 'the stream is labelled as one')
      : warn('chat-type', `the stream is labelled ${type || 'as nothing'}`, 'Tell its operator.'),
  );
  findings.push(bufferingFinding(pieces, deltas));
  findings.push(
    finish == null
      ? warn('chat-finish', 'the stream ends without a finish reason', 'Set onTruncated: "warn".')
      : ok('chat-finish', `it ends with "${finish}"`),
    hasUsage
      ? ok('chat-usage', 'it tells the tokens')
      : warn('chat-usage', 'it does not tell the tokens', 'Count them yourself.'),
  );
  return findings;
}

/** A check that fails by itself tells that, and the others go on. */
async function guarded(id: string, check: () => Promise<Finding | Finding[]>): Promise<Finding[]> {
  try {
    return [await check()].flat();
  } catch (error) {
    const message = errorMessage(error);
    const isEmpty = APIError.isInstance(error) && `${error.code ?? ''}`.startsWith('insufficient_');
    return [
      fail(
        id,
        message === 'fetch failed' ? `no answer (${failureCode(error)})` : message,
        isEmpty ? 'The key or its account has no credit left: top it up.' : 'See above.',
      ),
    ];
  }
}

/** Examines a gateway, check by check. Free, except for the chat of `spend`. */
export async function* examine(patient: Patient): AsyncGenerator<Finding, void, undefined> {
  const { baseURL, key: apiKey, model, signal, spend, timeout } = patient;
  try {
    parseBaseURL(baseURL);
  } catch (error) {
    const said = errorMessage(error);
    yield fail('base-url', `${baseURL} is no address of a gateway`, said);
    return;
  }
  yield proxyFinding();
  let seen: Seen;
  try {
    seen = await look(patient, `${rootOf(baseURL)}/v1/models`);
  } catch (error) {
    if (patient.signal.aborted) throw error;
    yield connectionFinding(error, patient);
    return;
  }
  yield ok('connection', `connected to ${new URL(baseURL).host}`);
  const address = addressFinding(seen, baseURL);
  yield address;
  yield latencyFinding(seen);
  yield clockFinding(seen);
  if (address.status === 'fail') return;
  const key = keyFinding(seen);
  yield key;
  yield* await guarded('cors', () => corsFinding(patient));
  if (key.status === 'fail') {
    yield skip('models', 'needs a key that is accepted');
    return;
  }
  const gateway = new Gateway({ baseURL, apiKey, maxRetries: 0, totalTimeout: timeout });
  yield* await guarded('credit', () => creditFinding(patient, gateway));
  const models = listedModels(seen);
  yield modelsFinding(models);
  yield* await guarded('videos', () => videoFinding(patient));
  if (model === undefined) {
    yield skip('chat', 'costs a few tokens; to run it: --spend -m <model>');
    return;
  }
  const [served] = await guarded('model', () => modelFinding(patient, model, models ?? []));
  if (served !== undefined) yield served;
  if (served?.status === 'fail') {
    yield skip('chat', 'needs a model that the key may use');
  } else if (spend) {
    const price = await priceOf(gateway, model, signal);
    const listed = models?.find((entry) => idOf(entry) === model);
    const notCalled = mediaReason(model, listed, price);
    yield* await guarded('chat', () => chatFindings(patient, model, notCalled));
  } else {
    yield skip('chat', 'costs a few tokens; to run it: --spend');
  }
}
