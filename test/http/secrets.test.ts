import { tracingChannel } from 'node:diagnostics_channel';
import { format, inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Gateway, GatewayPromise, InvalidInputError, memoryLedger } from '../../src/index.ts';
import { resolveSettings } from '../../src/calls/settings.ts';
import { Transport } from '../../src/calls/transport.ts';
import type { GatewayOptions } from '../../src/options/options.ts';
import { withoutQueries } from '../../src/http/redaction.ts';
import { failureOf, json, scripted } from '../helpers/clients.ts';
import { canaries, errorOf, situations } from '../helpers/every-error.ts';
import { cutResponse, fetchFailure } from '../helpers/failures.ts';
import { settle } from '../helpers/fake-time.ts';

const { key: canary, prompt } = canaries;

/** Everything that printing, logging and reporting tools show of a value. */
const ways: Readonly<Record<string, (value: unknown) => string>> = {
  'console.log': (value) => {
    const printed: string[] = [];
    const spy = vi.spyOn(console, 'log').mockImplementation((...parts) => {
      printed.push(format(...parts));
    });
    console.log(value);
    console.log('%s %o %O %j', value, value, value, value);
    spy.mockRestore();
    return printed.join('\n');
  },
  'util.inspect': (value) => inspect(value, { depth: Infinity, showHidden: true, getters: true }),
  'util.inspect, raw': (value) =>
    inspect(value, { depth: Infinity, showHidden: true, customInspect: false }),
  'JSON.stringify': (value) => JSON.stringify(value) ?? '',
  'String()': (value) => String(value),
  '.stack and .message': (value) =>
    value instanceof Error ? `${value.stack} ${value.message}` : '',
  'its properties, down to its causes': (value) => listKeysAndValues(value, 7),
};

/** Walks all properties, as error trackers do. */
function listKeysAndValues(value: unknown, levels: number): string {
  if (typeof value !== 'object' || value === null) return String(value);
  if (levels === 0) return '';
  if (value instanceof Headers) return JSON.stringify([...value]);
  const parts: string[] = [];
  for (const key of [...Reflect.ownKeys(value), ...listGetters(value)]) {
    // The key is readable by name, but not through enumerable properties.
    if (key === 'apiKey' && value instanceof Gateway) continue;
    let inner: unknown;
    try {
      inner = Reflect.get(value, key);
    } catch {
      continue;
    }
    parts.push(`${String(key)}=${listKeysAndValues(inner, levels - 1)}`);
  }
  return parts.join('\n');
}

/** Getters of the classes of a value. */
function listGetters(value: object): PropertyKey[] {
  const found: PropertyKey[] = [];
  let prototype: unknown = Object.getPrototypeOf(value);
  while (prototype instanceof Object && prototype !== Object.prototype) {
    for (const [key, own] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      if ('get' in own) found.push(key);
    }
    prototype = Object.getPrototypeOf(prototype);
  }
  return found;
}

function shown(value: unknown): string {
  return Object.values(ways)
    .map((show) => show(value))
    .join('\n');
}

/** A client, and all that hangs on it: every resource, and what belongs to those. */
function listParts(client: Gateway): [string, unknown][] {
  const found: [string, unknown][] = [['client', client]];
  for (const [path, owner] of found) {
    if (!(owner instanceof Object)) continue;
    for (const [name, part] of Object.entries(owner)) found.push([`${path}.${name}`, part]);
  }
  return found;
}

const idle = new Gateway({ apiKey: canary, baseURL: 'https://gateway.test', logLevel: 'off' });
const settings = resolveSettings({ apiKey: canary, baseURL: 'https://gateway.test' });

/** A client that is answered well. */
function answered(answer: unknown, type = 'application/json') {
  const body = typeof answer === 'string' ? answer : JSON.stringify(answer);
  const options = { apiKey: canary, defaultQuery: { signature: canaries.query } };
  return scripted([() => new Response(body, { headers: { 'content-type': type } })], options)
    .client;
}

const ask = { model: 'm', messages: [{ role: 'user' as const, content: prompt }] };
const whole = { id: 'c', choices: [{ index: 0, message: {}, finish_reason: 'stop' }] };
const eventText = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n';
const answerEvents = () => answered(eventText, 'text/event-stream');
const queued = { id: 'task-1', status: 'queued' };
const film = { model: 'm', prompt };

const all = ['key', 'prompt', 'query', 'header', 'parameter'] as const;

/** Objects that a program can hold, and the secrets that they may not show; by default the key. */
const things: readonly {
  readonly name: string;
  readonly make: () => unknown;
  readonly secrets?: readonly (keyof typeof canaries)[];
}[] = [
  ...listParts(idle).map(([name, part]) => ({ name, make: () => part })),
  { name: 'client with other options', make: () => idle.withOptions({ timeout: 1 }) },
  {
    name: 'client with a function for its key',
    make: () => new Gateway({ apiKey: () => canary, baseURL: 'https://gateway.test' }),
  },
  { name: 'settings', make: () => settings },
  { name: 'credential', make: () => settings.credential },
  { name: 'transport', make: () => new Transport(settings) },
  { name: 'promise', make: () => answered(whole).chat.completions.create(ask) },
  { name: 'page promise', make: () => answered({ data: [] }).models.list() },
  { name: 'answer', make: async () => answered(whole).chat.completions.create(ask) },
  {
    name: 'answer with response',
    make: () => answered(whole).chat.completions.create(ask).withResponse(),
  },
  { name: 'raw answer', make: () => answered(whole).chat.completions.create(ask).asResponse() },
  { name: 'page', make: async () => answered({ data: [] }).models.list() },
  {
    name: 'file answer',
    make: async () =>
      answered('ID3', 'audio/mpeg').audio.speech.create({ model: 'm', input: prompt }),
  },
  {
    name: 'stream',
    make: async () => answerEvents().chat.completions.create({ ...ask, stream: true }),
  },
  {
    name: 'stream of generation',
    make: async () => answerEvents().generate.contentStream({ model: 'm', contents: prompt }),
  },
  {
    name: 'stream of images',
    make: async () => answerEvents().images.generate({ ...film, stream: true }),
  },
  { name: 'stream helper', make: () => answerEvents().chat.completions.stream(ask) },
  {
    name: 'tool runner',
    make: () => answered(whole).chat.completions.runTools({ ...ask, tools: [] }),
  },
  {
    name: 'video task',
    make: async () => answered(queued).videos.create(film),
    secrets: ['key', 'prompt', 'query'],
  },
  {
    name: 'video ref',
    make: async () => (await answered(queued).videos.create(film)).ref,
    secrets: ['key', 'prompt', 'query'],
  },
  { name: 'ledger', make: () => memoryLedger(), secrets: ['key', 'prompt', 'query'] },
  ...situations.map((situation) => ({
    name: `error ${situation.name}: ${situation.how}`,
    make: () => errorOf(situation, { logLevel: 'off' }),
    secrets: all,
  })),
  ...(['error', 'warn', 'info', 'debug'] as const).map((level) => ({
    name: `log lines at level ${level}`,
    make: () => logLinesAt(level),
    secrets: all,
  })),
];

/** Log lines at a level, of failures and of a success. */
async function logLinesAt(logLevel: 'error' | 'warn' | 'info' | 'debug'): Promise<unknown[]> {
  const lines: unknown[] = [];
  const write = (...parts: unknown[]): void => void lines.push(parts);
  const options: GatewayOptions = {
    logLevel,
    logger: { error: write, warn: write, info: write, debug: write },
    onTruncated: 'warn',
    maxRetries: 2,
  };
  for (const situation of situations) await errorOf(situation, options);
  const client = answered(whole).withOptions(options);
  await client.chat.completions.create({ ...ask });
  // There is nothing to say at level error yet.
  if (logLevel !== 'error' && lines.length === 0) throw new Error('Nothing was logged.');
  return lines;
}

describe('neither key, prompt nor URL query is visible', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test.each(things)(
    'neither key, prompt nor URL query is visible in $name',
    async ({ make, secrets = ['key'] }) => {
      const thing = await holding(make());

      for (const [way, show] of Object.entries(ways)) {
        const text = show(thing.value);
        for (const secret of secrets) {
          expect(text.includes(canaries[secret]), `the ${secret} in ${way}`).toBe(false);
        }
      }
    },
  );

  test.each(Object.entries(ways))('%s would show the secrets of a careless object', (_, show) => {
    class Careless {
      readonly request = { headers: { authorization: `Bearer ${canary}` } };
      toString(): string {
        return canary;
      }
    }
    const error = new Error(canary, { cause: new Careless() });

    expect(show(show === ways['.stack and .message'] ? error : new Careless())).toContain(canary);
    expect(show(Object.assign(error, { toJSON: () => new Careless() }))).toContain(canary);
  });
});

/** Wraps the result of a function in an object: promises are inspected, not awaited. */
async function holding(made: unknown): Promise<{ readonly value: unknown }> {
  if (!(made instanceof Promise) || made instanceof GatewayPromise) return { value: made };
  const value: unknown = await made;
  return { value };
}

/** A careless error of another HTTP library, which carries its request. */
function carelessError(request: Request): Error {
  const inner = Object.assign(new Error('inner'), { config: { headers: [...request.headers] } });
  return Object.assign(new TypeError('failed', { cause: inner }), {
    code: 'ECONNRESET',
    request,
    options: { headers: Object.fromEntries(request.headers) },
  });
}

const messages = [{ role: 'user' as const, content: 'hi' }];

const spread = (client: object): object => ({ ...client });

const copyClient = (client: object): object => {
  const prototype: unknown = Object.getPrototypeOf(client);
  return Object.assign(Object.create(prototype instanceof Object ? prototype : null), client);
};

const unclonable = (client: object): unknown => {
  try {
    return structuredClone(client);
  } catch (error) {
    return error;
  }
};

describe('a client shows its key only as a property', () => {
  const made: readonly (readonly [string, (client: Gateway) => unknown])[] = [
    ['itself', (client) => client],
    ['a spread copy', spread],
    ['a copy with its prototype', copyClient],
    ['a proxy', (client) => new Proxy(client, {})],
    ['a copy of a proxy', (client) => spread(new Proxy(client, {}))],
    ['a structured clone, which there is none of', unclonable],
    ['its entries', (client) => Object.entries(client)],
    ['a client with other options', (client) => client.withOptions({ timeout: 1 })],
  ];

  test.each(made)('%s shows no key', (_, make) => {
    const client = new Gateway({ apiKey: 'sk-first', baseURL: 'https://gateway.test' });
    client.apiKey = canary;
    const thing = make(client);

    expect(client.apiKey).toBe(canary);
    expect(shown(thing)).not.toContain(canary);
    expect(Object.keys(Object(thing))).not.toContain('apiKey');
    expect(
      inspect(thing, { depth: Infinity, showHidden: true, showProxy: true, customInspect: false }),
    ).not.toContain(canary);
  });

  test.each(made.slice(1, 4))('%s shows the base URL, without a key', (name, make) => {
    const thing: unknown = make(idle);

    expect(thing).toHaveProperty('baseURL', 'https://gateway.test');
    expect(Object(thing).apiKey).toBe(name === 'a proxy' ? canary : undefined);
  });
});

test('a client shows its base URL', () => {
  expect(inspect(idle)).toBe("Gateway { baseURL: 'https://gateway.test' }");
  expect(JSON.stringify({ client: idle })).toBe('{"client":{"baseURL":"https://gateway.test"}}');
});

describe('the key is not in errors', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test.each<[string, (request: Request) => Response | Error]>([
    ['400', json({ error: { message: 'no' } }, 400)],
    ['401', json({ error: { message: 'no', type: 'new_api_error' } }, 401)],
    [
      'an echo in the message',
      ({ headers }) =>
        Response.json(
          { error: { message: `Bad key ${headers.get('authorization')}` } },
          { status: 401 },
        ),
    ],
    [
      'an echo in the body',
      ({ headers }) => new Response(`<html>${headers.get('authorization')}`, { status: 502 }),
    ],
    [
      'an echo in fields',
      ({ headers }) =>
        Response.json({ error: { message: 'no', headers: [...headers] } }, { status: 400 }),
    ],
    ['500', json({ error: { message: 'no' } }, 500)],
    ['a page', () => new Response('<html>', { status: 200 })],
    ['a cut body', () => cutResponse('{')],
    ['a refused connection', () => fetchFailure('ECONNREFUSED', 'connect')],
    ['a lost connection', () => fetchFailure('ECONNRESET')],
    ['a careless fetch', carelessError],
    ['an error in a success', json({ error: { message: 'no' } })],
    ['a redirect', () => new Response(null, { status: 302, headers: { location: '/x' } })],
    ['JSON of a wrong shape', json([1])],
  ])('the key is not in errors of a call: %s', async (_, answer) => {
    for (const apiKey of [canary, () => canary]) {
      const { client } = scripted([answer], { apiKey });
      for (const call of [
        () => client.chat.completions.create({ model: 'm', messages }),
        () => client.chat.completions.create({ model: 'm', messages, stream: true }),
        () => client.videos.create({ model: 'm', prompt: 'x' }),
        () => client.audio.speech.create({ model: 'm', input: 'x', voice: 'v' }),
        () => client.post('/v1/x', { body: {} }),
        () => client.post('/v1/x', { body: {} }).asResponse(),
      ]) {
        const { error } = await settle<unknown>(call());
        expect(shown(error)).not.toContain(canary);
      }
    }
  });

  test("errors keep a runtime's error, and only the code of others", async () => {
    const lost = fetchFailure('ECONNRESET', 'read');
    const plain = scripted([lost], { maxRetries: 0 });
    const careless = scripted([carelessError], { maxRetries: 0 });

    const { error: first } = await settle(plain.client.models.list());
    const { error: second } = await settle(careless.client.models.list());

    expect(first).toHaveProperty('cause', lost);
    expect(second).toHaveProperty('cause.message', 'failed');
    expect(second).toHaveProperty('cause.name', 'TypeError');
    expect(second).toHaveProperty('cause.code', 'ECONNRESET');
    expect(second).toHaveProperty('cause.cause.message', 'inner');
  });

  test('the key is not in errors of aborts and time limits', async () => {
    const { client } = scripted([() => new Promise<Response>(() => {})], { apiKey: canary });
    const { error: timedOut } = await settle(client.models.list({ timeout: 5 }));
    const { error: aborted } = await settle(client.models.list({ signal: AbortSignal.abort() }));

    expect(shown(timedOut)).not.toContain(canary);
    expect(shown(aborted)).not.toContain(canary);
  });

  test('the key is not in errors of rejected options', async () => {
    const base = { baseURL: 'https://gateway.test', logLevel: 'off' } as const;
    const build = (options: GatewayOptions) => {
      try {
        return new Gateway({ ...base, ...options });
      } catch (error) {
        return error;
      }
    };
    const client = new Gateway({ ...base, apiKey: () => `${canary}\nx` });

    for (const value of [
      build({ apiKey: `${canary}\nx` }),
      build({ apiKey: `Bearer ${canary}\nx` }),
      build({ apiKey: canary, baseURL: `https://user:${canary}@gateway.test` }),
      build({ apiKey: canary, baseURL: `https://gateway.test?key=${canary}` }),
      build({ apiKey: canary, baseURL: `gateway.test?key=${canary}` }),
      build({ apiKey: canary, defaultHeaders: { 'x-a': `${canary}\nx` } }),
      await failureOf(client.models.list()),
    ]) {
      expect(value).toBeInstanceOf(InvalidInputError);
      expect(shown(value)).not.toContain(canary);
    }
  });
});

describe('credentials that the caller adds are removed', () => {
  test.each([
    {
      name: 'a header by its name',
      options: { defaultHeaders: { 'x-goog-api-key': 'abcdefgh' } },
      said: 'abcdefgh',
    },
    {
      name: 'a header by its looks',
      options: { defaultHeaders: { 'x-b': 'q1w2e3r4t5z6u7i8o9p0' } },
      said: 'q1w2e3r4t5z6u7i8o9p0',
    },
    {
      name: 'one cookie of several',
      options: { defaultHeaders: { cookie: 'a=b; sid=c0ffee1234' } },
      said: 'c0ffee1234',
    },
    {
      name: 'a key after its scheme',
      options: { defaultHeaders: { authorization: 'Basic dXNlcjpwYXNz' } },
      said: 'dXNlcjpwYXNz',
    },
    { name: 'a query', options: { defaultQuery: { key: 'abc/def+gh' } }, said: 'abc/def+gh' },
    {
      name: 'a query that is escaped',
      options: { defaultQuery: { key: 'abc/def+gh' } },
      said: 'abc%2Fdef%2Bgh',
    },
  ])('$name', async ({ options, said }) => {
    const answers = [json({ error: { message: `No: ${said}.` } }, 400)];
    const { client } = scripted(answers, { ...options, logLevel: 'off' });

    expect(String(await failureOf(client.models.list()))).toMatch(
      /^BadRequestError: 400 No: \[key\]\./,
    );
  });

  test.each([
    ['x-tenant', 'production'],
    ['x-request-id', '0f8fad5b-d9cb-469f-a165-70867728950e'],
    ['x-short-key', 'abc'],
  ])('the header %s: %s stays', async (name, value) => {
    const answers = [json({ error: { message: `No: ${value}.` } }, 400)];
    const { client } = scripted(answers, { defaultHeaders: { [name]: value } });

    expect(String(await failureOf(client.models.list()))).toContain(`No: ${value}.`);
  });

  test('credentials that the caller adds are removed for one call and for all', async () => {
    const answers = [json({ error: { message: 'No: abcdefgh and ijklmnop.' } }, 400)];
    const { client } = scripted(answers);
    const given = { headers: { 'x-api-key': 'abcdefgh' }, query: { token: 'ijklmnop' } };

    expect(String(await failureOf(client.models.list(given)))).toContain('No: [key] and [key].');
  });
});

test.each([
  "https://b.test/v?a=(1)&b=[2]&c=`'&sig=S3CRET x",
  'https://b.test/v#token=S3CRET',
  'oss://b.test/v?k=S3CRET',
  'wss://b.test/v?k=S3CRET',
  'b.test/v?X-Amz-Signature=S3CRET',
  'GET /v.mp4?a=1&Signature=S3CRET',
  'GET /v.mp4?a=1\\u0026Signature=S3CRET',
  'url_https://b.test/v?k=S3CRET',
  'https://user:S3CRET@b.test/v',
  String.raw`https:\/\/user:S3CRET@b.test\/v`,
])('credentials are removed from %s', (text) => {
  const clean = withoutQueries(text);

  expect(clean).not.toContain('S3CRET');
  expect(withoutQueries(clean)).toBe(clean);
});

test.each(['https://b.test/v#part', 'why? a=1&b=2', 'https://b.test/@user/v', 'a: // b'])(
  '%s stays unchanged',
  (text) => {
    expect(withoutQueries(text)).toBe(text);
  },
);

const inner = { headers: { authorization: canary } };

test.each([
  { errors: [{ config: inner }] },
  { code: inner },
  { reason: inner },
  { socket: { _httpMessage: { _header: `authorization: ${canary}` } } },
])("fields of another library's error are not kept: %j", async (fields) => {
  const error = Object.assign(new Error('failed'), fields);
  const { client } = scripted([error], { apiKey: canary, maxRetries: 0 });

  const failure = await failureOf(client.models.list());
  expect(shown(failure)).not.toContain(canary);
  expect(failure).toHaveProperty('cause.message', 'failed');
});

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

describe('an error with a proxy that throws', () => {
  test('an error can be printed if the function for the key throws a proxy', async () => {
    const { client } = scripted([json({})], { apiKey: async () => Promise.reject(revoked()) });

    expect(shown(await failureOf(client.models.list()))).toContain('apiKey');
  });

  test('an error can be printed if the reason of an abort is a proxy that throws', async () => {
    const { client } = scripted([json({})]);
    const signal = AbortSignal.abort(revoked());

    expect(shown(await failureOf(client.models.list({ signal })))).toContain('aborted');
  });
});

test.each([
  ['sk-0123456789abcdef', '0123456789abcdef'],
  ['key+with/sign=s', encodeURIComponent('key+with/sign=s')],
])('the key %s is removed if it is returned as %s', async (apiKey, echo) => {
  const { client } = scripted([json({ error: { message: `Bad ${echo}.` } }, 401)], { apiKey });

  expect(shown(await failureOf(client.models.list()))).not.toContain(echo);
});

test.each(['x-jwt', 'x-pin', 'x-access', 'x-bearer'])('the header %s too', async (name) => {
  const { client } = scripted([json({ error: { message: 'Bad plainword.' } }, 400)], {
    defaultHeaders: { [name]: 'plainword' },
  });

  expect(shown(await failureOf(client.models.list()))).not.toContain('plainword');
});

test.each([
  { status: 503, message: '无可用渠道（distributor）', fix: 'models.list()' },
  { status: 503, message: '可用渠道不存在', fix: 'models.list()' },
  { status: 404, message: 'The model `m` does not exist', fix: 'models.list()' },
])('a $status with $message has advice', async ({ status, message, fix }) => {
  const { client } = scripted([json({ error: { message } }, status)], { maxRetries: 0 });

  const { message: text } = Object(await failureOf(client.chat.completions.create(ask)));
  expect(text).toContain(fix);
  expect(text).not.toContain('no such route');
});

test('logs the browser warning in a worker', async () => {
  vi.stubGlobal('WorkerGlobalScope', Object);
  const { client } = scripted([new TypeError('Failed to fetch')], { maxRetries: 0 });

  const error = await failureOf(client.models.list());
  vi.unstubAllGlobals();
  expect(error).toHaveProperty('message', expect.stringContaining('CORS'));
});

function brokenStream(): Response {
  const headers = { 'content-type': 'text/event-stream' };
  return new Response('data: {"error":{"message":"broken"}}\n\n', { headers });
}

test('an error of a stream contains the number of attempts', async () => {
  vi.useFakeTimers();
  const { client } = scripted([fetchFailure('ECONNREFUSED', 'connect'), brokenStream], {
    maxRetries: 1,
  });

  const read = async () => {
    const stream = await client.chat.completions.create({ ...ask, stream: true });
    for await (const chunk of stream) expect(chunk).toBeUndefined();
  };
  const { error } = await settle(read());
  vi.useRealTimers();
  expect(error).toHaveProperty('message', expect.stringContaining('2 attempts were made.'));
});

test.each([
  ['model', 'No models for model; [key]s', 'No models for [key]; [key]s'],
  ['sk-test', 'sk-test was rejected, sk-tests was not', '[key] was rejected, sk-tests was not'],
  ['abc', 'abc and abcd', 'abc and abcd'],
])(
  'a short key (%s) is removed from messages only as a whole word',
  async (apiKey, message, expected) => {
    const { client } = scripted([json({ error: { message, type: 'model' } }, 400)], { apiKey });

    const error = await failureOf(client.models.list());

    expect(String(error)).toContain(expected);
  },
);

test('a short key does not change a response', async () => {
  const task = { id: 'task_1', status: 'queued', model: 'model' };
  const { client } = scripted([json(task)], { apiKey: 'model' });

  expect(await client.videos.retrieve('task_1')).toMatchObject({ model: 'model' });
});

const inBody = (id: string) => JSON.stringify({ error: { message: 'no', request_id: id } });

describe('a key that a gateway repeats in its request id', () => {
  const key = 'sk-Abcd/efgh+1234567890';
  const forms = {
    'as it is': key,
    'with Bearer': `Bearer ${key}`,
    'with other text': `req-${key}-7`,
    'without its prefix': key.slice(3),
    'URL-encoded': encodeURIComponent(key),
    'with Bearer, URL-encoded': encodeURIComponent(`Bearer ${key}`),
  };
  const body = JSON.stringify({ error: { message: 'no' } });
  const cutEvents = 'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n';
  const answers: Readonly<
    Record<string, (id: string, headers: Record<string, string>) => Response>
  > = {
    success: (_, headers) => Response.json(whole, { headers }),
    error: (_, headers) => new Response(body, { status: 400, headers }),
    'error in a 200': (_, headers) => new Response(body, { headers }),
    'unusable answer': (_, headers) => new Response('<html>', { headers }),
    'read before': (_, headers) => {
      const response = new Response(body, { headers });
      void response.text();
      return response;
    },
    'id in the body': (id) => new Response(inBody(id), { status: 400 }),
    'id in the body of a 200': (id) => new Response(inBody(id)),
    stream: (_, headers) =>
      new Response(eventText, { headers: { ...headers, 'content-type': 'text/event-stream' } }),
    'cut stream': (_, headers) =>
      new Response(cutEvents, { headers: { ...headers, 'content-type': 'text/event-stream' } }),
  };
  const rows = Object.entries(answers).flatMap(([answer, make]) =>
    Object.entries(forms).flatMap(([form, id]) =>
      [true, false].map((isPlain) => ({ answer, make, form, id, isPlain })),
    ),
  );

  test.each(rows)(
    'a key that a gateway repeats in its request id is hidden from errors, logs, events and results: $answer, $form, without headers: $isPlain',
    async ({ answer, make, id, isPlain }) => {
      const seen: unknown[] = [];
      const see = (...parts: unknown[]): void => void seen.push(parts);
      const header = encodeURIComponent(id) === id ? 'x-oneapi-request-id' : 'x-request-id';
      const { client } = scripted([() => make(id, { [header]: id })], {
        apiKey: key,
        logLevel: 'debug',
        logger: { error: see, warn: see, info: see, debug: see },
        observer: { start: () => ({ attempt: () => see, end: see }) },
        onRequest: see,
        onResponse: see,
        ...(!isPlain && { defaultHeaders: { 'x-tenant': 'a' } }),
      });
      const call = async () => {
        if (!answer.includes('stream')) {
          const { data, request_id: given } = await client.chat.completions
            .create({ ...ask })
            .withResponse();
          return [given, data._request_id];
        }
        const stream = await client.chat.completions.create({ ...ask, stream: true });
        for await (const chunk of stream) see(chunk);
        return [];
      };

      seen.push(await call().catch((error: unknown) => error));

      const text = seen.map((value) => shown(value)).join('\n');
      expect(text).toContain('[key]');
      for (const secret of [key, key.slice(3), encodeURIComponent(key)]) {
        expect(text.includes(secret), secret).toBe(false);
      }
    },
  );
});

const fail = (): never => {
  throw new Error('no');
};

const draw = (client: Gateway) => client.images.generate(film, { totalTimeout: 60_000 });

const soon = (): AbortSignal => {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 20_000);
  return controller.signal;
};

const broken = () => ({
  ...memoryLedger(),
  accept: () => Promise.reject(new Error('The disk is full.')),
});

describe('a task id that contains the key', () => {
  const key = 'sk-Abcd/efgh+1234567890';
  const id = `task-${key}`;
  const path = `/task-${encodeURIComponent(key)}`;
  const submitted = json({ id, status: 'queued', task_id: id });
  const polled = (fields: object) => [submitted, json({ id, ...fields })];
  const options = { timeout: 60_000 };
  const make = (client: Gateway) => client.videos.createAndWait(film, options);
  const running = polled({ status: 'queued' });
  const failed = polled({ status: 'failed', error: { message: `No: ${key}`, code: key } });
  const missing = [submitted, json({ error: { message: `No task ${id}` } }, 404)];
  const urlless = [submitted, json({ id, status: 'completed' }), json({}, 404)];
  const rows: readonly {
    readonly name: string;
    readonly answers: Parameters<typeof scripted>[0];
    readonly call: (client: Gateway) => PromiseLike<unknown>;
    readonly polls?: false;
  }[] = [
    { name: 'a failure', answers: failed, call: make },
    { name: 'a time limit', answers: running, call: make },
    { name: 'words beside no status', answers: polled({ note: `See ${key}` }), call: make },
    { name: 'a task that is missing', answers: missing, call: make },
    { name: 'a page', answers: [submitted, () => new Response(`<p>${key}`)], call: make },
    {
      name: 'an abort',
      answers: running,
      call: (client) => client.videos.createAndWait(film, { ...options, signal: soon() }),
    },
    {
      name: 'onUpdate',
      answers: running,
      call: (client) => client.videos.createAndWait(film, { ...options, onUpdate: fail }),
    },
    {
      name: 'onSubmitted',
      answers: running,
      call: (client) => client.videos.createAndWait(film, { ...options, onSubmitted: fail }),
      polls: false,
    },
    {
      name: 'strict validation',
      answers: [json({ id, status: 'queued', progress: {} })],
      call: (client) => client.videos.create(film, { validation: 'strict' }),
      polls: false,
    },
    {
      name: 'a ledger that fails',
      answers: failed,
      call: (client) =>
        client.videos.createAndWait(film, { ...options, ledger: broken(), callId: 'a' }),
    },
    {
      name: 'content without a URL',
      answers: urlless,
      call: async (client) => client.videos.downloadContent(await make(client)),
    },
    {
      name: 'content of a failed task',
      answers: [
        submitted,
        json({ error: { message: 'Task is not completed, current status: FAILURE' } }, 400),
      ],
      call: async (client) => client.videos.downloadContent(await client.videos.create(film)),
    },
    { name: 'failed images', answers: failed, call: draw },
    { name: 'late images', answers: running, call: draw },
    { name: 'no images', answers: polled({ status: 'completed', note: key }), call: draw },
    {
      name: 'onSubmitted of images',
      answers: running,
      call: (client) => client.images.generate(film, { onSubmitted: fail }),
      polls: false,
    },
  ];

  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test.each(rows)(
    'a task id that contains the key is polled as it is, and hidden in words: $name',
    async ({ answers, call, polls = true }) => {
      for (const apiKey of [key, () => key]) {
        const logged: unknown[] = [];
        const log = (...parts: unknown[]): void => void logged.push(parts);
        const { client, requests } = scripted(answers, {
          apiKey,
          logLevel: 'warn',
          logger: { error: log, warn: log, info: log, debug: log },
        });

        const { error } = await settle(Promise.resolve(call(client)));

        const { message, advice, stack, ref, cause } = Object(error);
        const fields = Object.assign({}, error, { ref: undefined });
        const words = [message, advice, stack, fields, cause, logged].map(shown).join('\n');
        expect(message).toBeTruthy();
        for (const secret of [key, key.slice(3)]) expect(words).not.toContain(secret);
        expect(ref?.id ?? id).toBe(id);
        expect(requests.slice(1).every(({ url }) => url.includes(path))).toBe(true);
        expect(requests.length > 1).toBe(polls);
      }
    },
  );

  test('a task id that contains the key does not change the URL of its result', async () => {
    const url = `https://files.test/${key}/film.mp4?key=${key}`;
    const { client } = scripted(polled({ status: 'completed', url, note: `${key} is used` }));

    const { value } = await settle(make(client.withOptions({ apiKey: key })));

    expect(value).toMatchObject({ id, url, note: '[key] is used' });
  });

  test('does not change the URLs of its images', async () => {
    const url = `https://files.test/${key}/a.png?key=${key}`;
    const answers = polled({ status: 'completed', data: [{ url }], message: `${key} is used` });
    const { client } = scripted(answers, { apiKey: key });

    const { value } = await settle(draw(client));

    expect(value?.data).toMatchObject([{ url }]);
  });
});

test('the tracing channel shows no key', async () => {
  const seen: unknown[] = [];
  const see = (message: unknown): void => void seen.push(message);
  const channel = tracingChannel('model-gateway:call');
  const subscribers = { start: see, end: see, asyncStart: see, asyncEnd: see, error: see };
  channel.subscribe(subscribers);
  vi.useFakeTimers();
  for (const situation of situations) await errorOf(situation, { logLevel: 'off' });
  await settle(answered(whole).chat.completions.create({ ...ask }));
  vi.useRealTimers();
  channel.unsubscribe(subscribers);

  // The answer of a success is the content that the gateway sent.
  const text = seen
    .map((message) => Object(message))
    .map((message) => shown({ ...message, result: 0, end: { ...message.end, answer: 0 } }))
    .join('\n');
  expect(text).toContain('chat.completions.create');
  for (const name of ['key', 'header', 'parameter'] as const) {
    expect(text.includes(canaries[name]), name).toBe(false);
  }
});
