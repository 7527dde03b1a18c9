import { isObject, parseJSON } from '../answers/objects.ts';
import { parseBaseURL } from '../http/url.ts';
import { Gateway } from '../index.ts';

/** What one check found. */
export interface Finding {
  readonly id: string;
  readonly status: 'ok' | 'warn' | 'fail' | 'skip';
  /** What was seen. */
  readonly detail: string;
  /** What to do, when something is to be done. */
  readonly fix?: string | undefined;
}

/** What the checks work with. */
export interface Patient {
  /** As the user gave it. */
  readonly baseURL: string;
  readonly key: string;
  readonly signal: AbortSignal;
  /** How long one request may take, in milliseconds. */
  readonly timeout: number;
  /** The model for the chat that costs something, when it is asked for. */
  readonly model?: string | undefined;
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
function codeOf(error: unknown): string {
  let name = String(error);
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
    ({ name } = cause);
  }
  return name;
}

/** What to do about a connection that fails, by its code. */
function connectionFinding(error: unknown, { baseURL, timeout }: Patient): Finding {
  const code = codeOf(error);
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

function keyFinding({ status, json }: Seen): Finding {
  if (status === 401) {
    return fail('key', 'the key is not accepted (401)', 'Is it whole, and of this gateway?');
  }
  if (status === 403) {
    const fix = 'The key is known and may not do this: look at its rights, quota and addresses.';
    return fail('key', 'the key is refused (403)', fix);
  }
  if (status === 429) {
    return warn('key', 'too many requests (429)', 'Wait a minute and run it again.');
  }
  if (status >= 400) {
    const said = isObject(json) ? JSON.stringify(json['error'] ?? json).slice(0, 200) : '';
    return fail('key', `the gateway fails (${status}) ${said}`, 'Tell its operator.');
  }
  return ok('key', 'the key is accepted');
}

function modelsFinding({ json }: Seen): Finding {
  const data = isObject(json) ? (json['data'] ?? json['models']) : json;
  if (!Array.isArray(data)) {
    return fail('models', 'the list of models has no list in it', 'Tell its operator.');
  }
  const ids = data.map((model: unknown) => (isObject(model) ? (model['id'] ?? model['name']) : ''));
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
  const allowed = seen.headers.get('access-control-allow-headers')?.toLowerCase() ?? '';
  // A star does not cover the header of the key.
  const missing = ['authorization', 'content-type'].filter((name) => !allowed.includes(name));
  if (missing.length > 0) {
    return warn('cors', `pages may not send ${missing.join(' and ')}`, fix);
  }
  const exposed = seen.headers.get('access-control-expose-headers')?.toLowerCase() ?? '';
  const seesId = exposed.includes('request-id') || exposed === '*';
  return ok('cors', `pages may call it${seesId ? '' : '; they do not see the request id'}`);
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

/** Whether the pieces of a stream come as they are made. @param arrivals - In milliseconds. */
function bufferingFinding(arrivals: readonly number[]): Finding {
  const whole = arrivals.at(-1) ?? 0;
  if (whole < 1_000) return skip('chat-buffering', 'the answer came too quickly to tell');
  const detail = `the stream comes in ${arrivals.length} pieces`;
  if (whole - (arrivals[0] ?? 0) > whole / 20) return ok('chat-buffering', detail);
  const fix = 'A proxy keeps the answer back. For nginx: proxy_buffering off.';
  return warn('chat-buffering', 'the whole stream comes at once', fix);
}

/** One tiny chat, streamed. It costs a few tokens. */
async function chatFindings(patient: Patient, model: string): Promise<Finding[]> {
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
    text += choices[0]?.delta.content ?? '';
    finish = choices[0]?.finish_reason ?? finish;
    hasUsage ||= usage != null;
  }
  const findings = [ok('chat', `${model} answers: ${text.length} characters`)];
  findings.push(
    /text\/event-stream/i.test(type)
      ? ok('chat-type', 'the stream is labelled as one')
      : warn('chat-type', `the stream is labelled ${type || 'as nothing'}`, 'Tell its operator.'),
  );
  findings.push(bufferingFinding(pieces));
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
    const said = error instanceof Error ? error.message : String(error);
    return [
      fail(id, said === 'fetch failed' ? `no answer (${codeOf(error)})` : said, 'See above.'),
    ];
  }
}

/** Examines a gateway, check by check. Free, unless there is a model to chat with. */
export async function* examine(patient: Patient): AsyncGenerator<Finding, void, undefined> {
  const { baseURL, model } = patient;
  try {
    parseBaseURL(baseURL);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
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
  yield modelsFinding(seen);
  yield* await guarded('videos', () => videoFinding(patient));
  if (model === undefined) yield skip('chat', 'costs a few tokens; ask for it by --spend');
  else yield* await guarded('chat', () => chatFindings(patient, model));
}
