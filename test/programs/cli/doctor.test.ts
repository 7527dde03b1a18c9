import { createServer, type Server } from 'node:http';
import {
  connect,
  createServer as createSocketServer,
  type AddressInfo,
  type Server as NetServer,
} from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createEmulator, type Emulator, type EmulatorServer } from '../../../src/testing/index.ts';
import { modes } from '../../helpers/modes.ts';
import { serve, startProxy } from './proxy.ts';
import { Machine } from './run.ts';

interface Finding {
  readonly id: string;
  readonly status: string;
  readonly detail: string;
  readonly fix?: string;
}

let emulator: Emulator;
let gateway: EmulatorServer;
const open: (Server | NetServer)[] = [];

beforeEach(async () => {
  emulator = createEmulator();
  gateway = await emulator.listen();
});

afterEach(async () => {
  for (const server of open.splice(0)) {
    if ('closeAllConnections' in server) server.closeAllConnections();
    server.close();
  }
  await gateway.close();
});

function getPort(server: Server | NetServer): number {
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === 'string') throw new Error('It has no port.');
  return address.port;
}

/** A server that passes requests on to the emulator, and changes the answers. */
const proxy = (change: (response: Response, path: string) => Response | Promise<Response>) =>
  startProxy(emulator, (response, { path }) => change(response, path));

/**
 * @param profile - The kind of the gateway.
 * @param timeout - So long that it is over only where nothing ever comes, however busy the machine is.
 */
async function examine(
  url: string,
  words: readonly string[] = [],
  { key = emulator.apiKey, timeout = '30s', profile = 'auto', env = {} } = {},
) {
  const machine = new Machine({ url, key });
  const command = ['doctor', '--json', '--timeout', timeout, ...words];
  const settings = { GATEWAY_PROFILE: profile, ...env };
  // Node reads the settings of a proxy when it starts.
  const isAlone = 'NODE_USE_ENV_PROXY' in env;
  const { code, stdout } = await (isAlone
    ? machine.runAlone(command, '', settings)
    : machine.run(command, '', settings));
  const findings: Finding[] = JSON.parse(stdout);
  return { code, find: (id: string) => findings.find((finding) => finding.id === id), findings };
}

const models = (ids: readonly string[]): Response =>
  Response.json({ object: 'list', data: ids.map((id) => ({ id, object: 'model' })) });

const listing = (ids: string[]): Promise<string> =>
  proxy((response, path) => (path === '/v1/models' ? models(ids) : response));

test('a working gateway passes all checks without a charge', async () => {
  const { code, findings } = await examine(gateway.url);

  expect(code).toBe(0);
  // The latency depends on the load of the machine.
  const doubtful = findings.filter(({ id }) => id !== 'latency');
  expect(doubtful.filter(({ status }) => status !== 'ok' && status !== 'skip')).toEqual([]);
  expect(emulator.charges).toEqual([]);
});

/** Starts an emulator of a gateway and returns its base URL. */
async function startMode(mode: (typeof modes)[number], credit = Infinity): Promise<string> {
  await gateway.close();
  const names = [{ id: 'vendor/chat' }, { id: 'vendor/film' }];
  emulator = createEmulator({ gateway: mode, credit, models: names });
  gateway = await emulator.listen();
  return mode === 'openrouter' ? `${gateway.url}/api/v1` : gateway.url;
}

describe.each(modes)('%s', (profile) => {
  test('passes all checks, with one charge for the chat', async () => {
    const url = await startMode(profile, 5_000_000);
    const words = ['--spend', '-m', 'vendor/chat'];
    const { code, find, findings } = await examine(url, words, { profile });

    expect(code).toBe(0);
    const wrong = findings.filter(({ status, id }) => /warn|fail/.test(status) && id !== 'latency');
    expect(wrong).toEqual([]);
    for (const id of ['base-url', 'key', 'models', 'videos', 'model', 'chat', 'chat-usage']) {
      expect(find(id)).toMatchObject({ status: 'ok' });
    }
    const credit = { 'new-api': /5000000 quota/, openrouter: /10 USD/, litellm: /10 USD/ };
    const expected = profile === 'openai' ? /does not show/ : credit[profile];
    expect(find('credit')?.detail).toMatch(expected);
    expect(emulator.charges).toHaveLength(1);
  });

  test('names a wrong key and a model that the key may not use', async () => {
    const url = await startMode(profile);
    const wrongKey = await examine(url, [], { profile, key: 'sk-other' });
    const wrongModel = await examine(url, ['-m', 'vendor/chatt'], { profile });

    expect(wrongKey.find('key')?.status).toBe('fail');
    expect(wrongModel.find('model')).toMatchObject({
      status: 'fail',
      fix: expect.stringContaining('vendor/chat'),
    });
    expect(emulator.charges).toEqual([]);
  });
});

/** Starts an HTTP proxy that sends every host to the emulator, and returns its variables. */
async function startTunnel(): Promise<Record<string, string>> {
  const server = createServer();
  open.push(server);
  server.on('connect', (_, socket) => {
    const upstream = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    socket.on('error', () => upstream.destroy());
    upstream.on('error', () => socket.destroy());
    upstream.pipe(socket).pipe(upstream);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: `http://127.0.0.1:${getPort(server)}` };
}

describe('OpenRouter', () => {
  const profile = 'openrouter';

  test('a bare host of OpenRouter is asked below /api/v1', async () => {
    await startMode(profile);
    const env = await startTunnel();
    const byHost = await examine('http://openrouter.ai', [], { env });
    const byName = await examine(gateway.url, [], { profile });

    for (const { code, find } of [byHost, byName]) {
      expect(code).toBe(0);
      expect(find('base-url')?.status).toBe('ok');
      expect(find('credit')?.status).toBe('ok');
    }
    const paths = emulator.requests.map(({ path }) => path);
    expect(paths.filter((path) => !path.startsWith('/api/v1/'))).toEqual([]);
  });

  test('names the path that was asked when it does not exist', async () => {
    await startMode(profile);
    const url = await serve((_, response) => response.writeHead(404).end('{}'));
    const { find } = await examine(url, [], { profile });

    expect(find('base-url')).toMatchObject({
      status: 'fail',
      detail: '/api/v1/models does not exist (404)',
    });
  });

  test('serves a model that is not in its list, by its own route', async () => {
    await startMode(profile);
    const url = await proxy((response, path) =>
      path === '/api/v1/models' ? models(['vendor/chat']) : response,
    );
    const { find } = await examine(`${url}/api/v1`, ['-m', 'vendor/film'], { profile });

    expect(find('model')).toMatchObject({ status: 'ok', detail: expect.stringMatching(/served/) });
  });

  test('lists its models without a key, so the account tells that a key is wrong', async () => {
    await startMode(profile);
    const url = await proxy((response, path) =>
      path === '/api/v1/models' ? models(['vendor/chat']) : response,
    );
    const right = await examine(`${url}/api/v1`, [], { profile });
    const wrong = await examine(`${url}/api/v1`, [], { profile, key: 'sk-other' });

    expect(right.code).toBe(0);
    expect(right.find('key')?.status).toBe('skip');
    expect(wrong.code).toBe(1);
    expect(wrong.find('key')?.status).toBe('skip');
    expect(wrong.find('credit')).toMatchObject({
      status: 'fail',
      detail: expect.stringMatching(/401/),
    });
  });
});

/** A gateway whose models have a list entry, and a price unless it publishes none. */
function selling(model: object, price?: object): Promise<string> {
  return proxy((response, path) => {
    if (path === '/v1/models') return Response.json({ object: 'list', data: [model] });
    if (path !== '/api/pricing') return response;
    return price === undefined
      ? Response.json({ error: { message: 'Invalid URL' } }, { status: 404 })
      : Response.json({ success: true, data: [price], group_ratio: {} });
  });
}

test('a base URL is examined with and without /v1', async () => {
  expect((await examine(`${gateway.url}/v1`)).code).toBe(0);
  expect((await examine(`${gateway.url}/v1/`)).code).toBe(0);
});

const withoutModels = (): Promise<string> =>
  proxy((response, path) =>
    path.startsWith('/v1/models') ? new Response(null, { status: 404 }) : response,
  );

describe('a gateway without a list of models', () => {
  test('a gateway without a list of models works, with a warning', async () => {
    const { code, find } = await examine(await withoutModels());

    expect(code).toBe(0);
    expect(find('base-url')?.status).toBe('ok');
    expect(find('models')).toMatchObject({ status: 'warn', detail: expect.stringMatching(/404/) });
    expect(find('key')?.status).toBe('skip');
  });

  test('a gateway without a list of models chats with --spend', async () => {
    const { code, find } = await examine(await withoutModels(), ['--spend', '-m', 'm-large']);

    expect(code).toBe(0);
    expect(find('chat')?.status).toBe('ok');
    expect(emulator.charges).toHaveLength(1);
  });

  test('a gateway without a list of models and without /v1 is named', async () => {
    const url = await serve((request, response) => {
      const isThere = request.url === '/models';
      response.writeHead(isThere ? 200 : 404, { 'content-type': 'application/json' });
      response.end(isThere ? '{"data":[{"id":"a"}]}' : '{}');
    });
    const { code, find } = await examine(url);

    expect(code).toBe(1);
    expect(find('base-url')).toMatchObject({ detail: expect.stringContaining('/models responds') });
  });

  test.each([
    {
      name: 'a route of Kong, which has no list',
      path: '/gpt-4',
      routes: ['/gpt-4/chat/completions'],
      finding: { status: 'ok', detail: expect.stringContaining('without /v1 and without a list') },
    },
    {
      name: 'a wrong path',
      path: '/gateway',
      routes: ['/api/v1/models'],
      finding: {
        status: 'fail',
        fix: expect.stringMatching(/^Use the address .*:\d+\/api\/v1\.$/),
      },
    },
  ])('the address that works is named for $name', async ({ path, routes, finding }) => {
    const url = await serve((request, response) => {
      const isThere = routes.includes(request.url ?? '');
      response.writeHead(isThere ? 200 : 404, { 'content-type': 'application/json' });
      response.end(isThere ? '{"data":[{"id":"a"}]}' : '{}');
    });

    expect((await examine(url + path)).find('base-url')).toMatchObject(finding);
  });
});

test.each([
  { status: 401, id: 'key', result: 'fail' },
  { status: 403, id: 'key', result: 'fail' },
  { status: 429, id: 'key', result: 'warn' },
  { status: 503, id: 'key', result: 'fail' },
])('a $status without JSON is reported as what it is', async ({ status, id, result }) => {
  const url = await proxy((response, path) =>
    path === '/v1/models' ? new Response(status === 429 ? null : 'no', { status }) : response,
  );
  const { find } = await examine(url);

  expect(find('base-url')?.status).toBe('ok');
  expect(find(id)).toMatchObject({ status: result, detail: expect.stringContaining(`${status}`) });
});

test('a 403 that names the key is a wrong key', async () => {
  const url = await proxy((response, path) =>
    path === '/v1/models'
      ? Response.json({ error: { message: 'no', code: 'invalid_api_key' } }, { status: 403 })
      : response,
  );
  const { find } = await examine(url);

  expect(find('key')).toMatchObject({
    status: 'fail',
    detail: 'the key is not accepted (403)',
    fix: expect.stringContaining('belongs to this gateway'),
  });
});

test.each([
  ['skipped if the key works for chat', 400, 'skip', 'only to its dashboard'],
  ['a wrong key if chat refuses it too', 401, 'fail', 'not accepted'],
])(
  'the credit of a dashboard with a public list of models is %s',
  async (_, chat, status, detail) => {
    const url = await serve((request, response) => {
      const path = request.url ?? '';
      const code = path === '/v1/models' ? 200 : path === '/v1/chat/completions' ? chat : 401;
      response.writeHead(code, { 'content-type': 'application/json' });
      response.end(code === 200 ? '{"data":[{"id":"a"}]}' : '{"error":{"message":"Unauthorized"}}');
    });

    const { find } = await examine(url);

    expect(find('credit')).toMatchObject({ status, detail: expect.stringContaining(detail) });
  },
);

test('checks that were not reached are in the JSON as skipped', async () => {
  const { findings } = await examine('http://no-such-host.invalid');

  expect(findings.map(({ id }) => id).join(' ')).toBe(
    'proxy connection base-url latency clock key cors credit models videos chat mcp',
  );
  expect(findings.at(-2)).toMatchObject({
    status: 'skip',
    detail: 'not checked, because connection failed',
  });
});

test.each([
  { name: 'a preflight that is refused', status: 401, origin: '*', detail: /401/ },
  {
    name: 'a preflight for another origin',
    status: 204,
    origin: 'https://a.test',
    detail: /may not/,
  },
])('$name is a warning', async ({ status, origin, detail }) => {
  const url = await serve((request, response) => {
    if (request.method !== 'OPTIONS') return void response.end('{"data":[{"id":"a"}]}');
    const allow = { 'access-control-allow-origin': origin };
    response.writeHead(status, {
      ...allow,
      'access-control-allow-headers': 'authorization,content-type',
    });
    return void response.end();
  });
  const { find } = await examine(url);

  expect(find('cors')).toMatchObject({ status: 'warn', detail: expect.stringMatching(detail) });
});

test('--spend streams one chat', async () => {
  const { code, find } = await examine(gateway.url, ['--spend', '-m', 'm-large']);

  expect(code).toBe(0);
  expect(find('chat')?.status).toBe('ok');
  expect(find('chat-finish')?.detail).toContain('stop');
  expect(emulator.charges).toHaveLength(1);
});

describe('doctor finds the problem and suggests a fix', () => {
  test.each<{ name: string; address: (url: string) => string; id: string; fix: RegExp }>([
    { name: '/v1 twice', address: (url) => `${url}/v1/v1`, id: 'base-url', fix: /twice/ },
    {
      name: 'a superfluous path segment',
      address: (url) => `${url}/api/gateway`,
      id: 'base-url',
      fix: /^Use the address http:\/\/[^/]+\/v1\.$/,
    },
    { name: 'no address', address: () => 'gateway.example', id: 'base-url', fix: /https:\/\// },
    {
      name: 'TLS on a port without',
      address: (url) => url.replace('http:', 'https:'),
      id: 'connection',
      fix: /http:\/\//,
    },
    {
      name: 'an unknown host',
      address: () => 'http://no-such-host.invalid',
      id: 'connection',
      fix: /DNS/,
    },
  ])('$name', async ({ address, id, fix }) => {
    const { code, find } = await examine(address(gateway.url));

    expect(code).toBe(1);
    expect(find(id)).toMatchObject({ status: 'fail', fix: expect.stringMatching(fix) });
  });

  test('a port without a server', async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const port = getPort(closed);
    await new Promise((resolve) => closed.close(resolve));

    const { find } = await examine(`http://127.0.0.1:${port}`);

    expect(find('connection')).toMatchObject({
      status: 'fail',
      fix: expect.stringMatching(/host and port/),
    });
  });

  test('a website in place of the API', async () => {
    const url = await serve((_, response) => response.end('<!doctype html><title>Console</title>'));

    expect((await examine(url)).find('base-url')).toMatchObject({
      status: 'fail',
      fix: expect.stringContaining('website'),
    });
  });

  test('a redirect', async () => {
    const url = await serve((_, response) => {
      response.writeHead(301, { location: 'https://elsewhere.example/v1/models' }).end();
    });

    expect((await examine(url)).find('base-url')?.fix).toContain('elsewhere.example');
  });

  test('a key that is wrong, and one that is refused', async () => {
    const forbidden = await proxy(() =>
      Response.json({ error: { message: 'no' } }, { status: 403 }),
    );

    const wrong = await examine(gateway.url, [], { key: 'sk-other' });
    const refused = await examine(forbidden);

    expect(wrong.find('key')).toMatchObject({
      status: 'fail',
      detail: expect.stringMatching(/401/),
    });
    expect(refused.find('key')).toMatchObject({
      status: 'fail',
      fix: expect.stringMatching(/permissions/),
    });
    expect(wrong.find('models')?.status).toBe('skip');
  });

  test('an empty list of models, and one with a model twice', async () => {
    const empty = await examine(await listing([]));
    const doubled = await examine(await listing(['a', 'b', 'a']));

    expect(empty.find('models')).toMatchObject({ status: 'fail' });
    expect(doubled.find('models')).toMatchObject({
      status: 'warn',
      detail: expect.stringMatching(/: a$/),
    });
  });

  test('a clock that is an hour off', async () => {
    const url = await proxy((response) => {
      const date = new Date(Date.now() - 3_600_000).toUTCString();
      return new Response(response.status === 204 ? null : response.body, {
        status: response.status,
        headers: { ...Object.fromEntries(response.headers), date },
      });
    });

    expect((await examine(url)).find('clock')).toMatchObject({
      status: 'warn',
      detail: expect.stringContaining('60 minutes'),
    });
  });

  test('pages may not call it: a warning', async () => {
    const url = await proxy((response) => {
      const headers = [...response.headers].filter(([name]) => !name.startsWith('access-control'));
      return new Response(response.status === 204 ? null : response.body, {
        status: response.status,
        headers,
      });
    });
    const { code, find } = await examine(url);

    expect(code).toBe(0);
    expect(find('cors')?.status).toBe('warn');
  });

  test('no route for videos: a warning', async () => {
    const url = await proxy((response, path) =>
      path.startsWith('/v1/videos')
        ? Response.json({ error: { message: `Invalid URL (GET ${path})` } }, { status: 404 })
        : response,
    );

    expect((await examine(url)).find('videos')?.status).toBe('warn');
  });

  test('a server that hangs', async () => {
    const silent = createSocketServer(() => {});
    open.push(silent);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));

    const url = `http://127.0.0.1:${getPort(silent)}`;
    const { code, find } = await examine(url, [], { timeout: '1s' });

    expect(code).toBe(1);
    expect(find('connection')?.detail).toContain('within 1 s');
  });

  test('plain HTTP on a port that wants TLS', async () => {
    const alert = Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x32]);
    const secure = createSocketServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end(alert));
    });
    open.push(secure);
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));

    const { code, find } = await examine(`http://127.0.0.1:${getPort(secure)}`);

    expect(code).toBe(1);
    expect(find('connection')?.fix).toContain('https://');
  });

  test('events that are labelled as text, and a proxy that keeps them back', async () => {
    const url = await proxy(async (response, path) => {
      // The preflight has no body.
      if (path !== '/v1/chat/completions' || response.status === 204) return response;
      const whole = await response.arrayBuffer();
      await new Promise((resolve) => setTimeout(resolve, 1_200));
      return new Response(whole, {
        status: response.status,
        headers: { 'content-type': 'text/plain' },
      });
    });
    const { find } = await examine(url, ['--spend', '-m', 'm-large']);

    expect(find('chat-type')).toMatchObject({ status: 'warn' });
    expect(find('chat-buffering')).toMatchObject({
      status: 'warn',
      fix: expect.stringContaining('proxy_buffering off'),
    });
  });
});

test('--spend requires a model', async () => {
  const { code, stderr } = await new Machine({ url: gateway.url, key: 'k' }).run([
    'doctor',
    '--spend',
  ]);

  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('-m') });
});

const ofType = (id: string, type: string) => ({ id, object: 'model', type });

const usage = (data: object): Response => Response.json({ code: true, data, message: 'ok' });
const limited = (left: number): Response =>
  usage({
    total_available: left,
    total_granted: 9_000_000,
    total_used: 9_000_000 - left,
    unlimited_quota: false,
  });
const unlimited = usage({
  total_available: -4_000,
  total_granted: 0,
  total_used: 4_000,
  unlimited_quota: true,
});

/** A gateway that shows the credit of a key, and that of its account in US dollars. */
const showing = (key: Response, account = 100_000_000): Promise<string> =>
  proxy((response, path) => {
    if (path === '/api/usage/token/') return key.clone();
    return path === '/v1/dashboard/billing/subscription'
      ? Response.json({ object: 'billing_subscription', hard_limit_usd: account })
      : response;
  });

const allowing = (names: string): Promise<string> =>
  proxy((response) => {
    const headers = new Headers(response.headers);
    headers.set('access-control-allow-headers', names);
    return new Response(response.status === 204 ? null : response.body, {
      status: response.status,
      headers,
    });
  });

/** A chunk of a chat stream, as an event. */
function chunkEvent(delta: object, finish_reason: string | null = null): string {
  const chunk = {
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason }],
  };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

/** A gateway that sends a whole stream of so many pieces of text after more than a second. */
const atOnce = (pieces: number): Promise<string> =>
  proxy(async (response, path) => {
    if (path !== '/v1/chat/completions' || response.status === 204) return response;
    await response.arrayBuffer();
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    const text = Array.from({ length: pieces }, () => chunkEvent({ content: 'one ' })).join('');
    return new Response(`${text}${chunkEvent({}, 'stop')}data: [DONE]\n\n`, {
      headers: { 'content-type': 'text/event-stream' },
    });
  });

describe('a model', () => {
  test('a listed model is found and another one is not, without a charge', async () => {
    const listed = await examine(gateway.url, ['-m', 'm-large']);
    const wrong = await examine(gateway.url, ['-m', 'm-larg']);
    const spent = await examine(gateway.url, ['--spend', '-m', 'no-such-model']);

    expect(listed.code).toBe(0);
    expect(listed.find('model')?.status).toBe('ok');
    expect(listed.find('chat')?.status).toBe('skip');
    expect(wrong.code).toBe(1);
    expect(wrong.find('model')).toMatchObject({
      status: 'fail',
      fix: expect.stringContaining('m-large'),
    });
    expect(spent.code).toBe(1);
    expect(spent.find('chat')?.status).toBe('skip');
    expect(emulator.charges).toEqual([]);
  });

  test('a model that the gateway serves without listing it is found', async () => {
    const { find } = await examine(await listing(['other']), ['-m', 'gpt-4o']);

    expect(find('model')).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining('gpt-4o'),
    });
  });

  test.each<{ name: string; model: object; price: object | undefined; reason: RegExp }>([
    {
      name: 'the type of its entry',
      model: ofType('m', 'video'),
      price: undefined,
      reason: /type "video"/,
    },
    {
      name: 'the routes of its entry',
      model: { id: 'm', supported_endpoint_types: ['openai-video'] },
      price: undefined,
      reason: /openai-video/,
    },
    {
      name: 'the routes of its price',
      model: ofType('m', 'text'),
      price: { model_name: 'm', quota_type: 1, supported_endpoint_types: ['image-generation'] },
      reason: /image-generation/,
    },
    {
      name: 'its price',
      model: ofType('m', 'text'),
      price: {
        model_name: 'm',
        quota_type: 1,
        model_price: 0.002,
        supported_endpoint_types: ['openai'],
      },
      reason: /\$0\.002 per call/,
    },
    { name: 'its name', model: { id: 'sora-2' }, price: undefined, reason: /has the name/ },
    {
      name: 'its name',
      model: { id: 'openai/dall-e-3' },
      price: undefined,
      reason: /has the name/,
    },
    {
      name: 'its name',
      model: { id: 'wan2.5-t2v-preview' },
      price: undefined,
      reason: /has the name/,
    },
  ])('a model of media is not called by --spend, by $name', async ({ model, price, reason }) => {
    const url = await selling(model, price);
    const id = 'id' in model ? String(model.id) : '';

    const { find } = await examine(url, ['--spend', '-m', id]);

    expect(find('chat')).toMatchObject({ status: 'warn', detail: expect.stringMatching(reason) });
    expect(emulator.charges).toEqual([]);
    const sent = emulator.requests.map(({ operation }) => operation);
    expect(sent).not.toContain('chat.completions.create');
  });

  test.each(['gpt-4o-mini', 'swan-7b', 'sonora', 'gemini-2.5-flash', 'pikachu-chat'])(
    '%s is called by --spend where the gateway publishes no prices',
    async (id) => {
      const { find } = await examine(await selling({ id }), ['--spend', '-m', id]);

      expect(find('chat')?.status).toBe('ok');
      expect(emulator.charges).toHaveLength(1);
    },
  );
});

describe('credit', () => {
  test.each<{ name: string; url: () => Promise<string>; status: string; detail: RegExp }>([
    {
      name: 'a key with enough',
      url: () => showing(limited(5_000_000)),
      status: 'ok',
      detail: /5000000 quota left/,
    },
    {
      name: 'a key with 1 unit',
      url: () => showing(limited(1)),
      status: 'warn',
      detail: /only 1 quota left/,
    },
    {
      name: 'an empty key',
      url: () => showing(limited(0)),
      status: 'fail',
      detail: /key has no credit left/,
    },
    {
      name: 'an overdrawn key',
      url: () => showing(limited(-4_000)),
      status: 'fail',
      detail: /key has no credit left/,
    },
    {
      name: 'a key without a limit',
      url: () => showing(unlimited),
      status: 'skip',
      detail: /does not show/,
    },
    {
      name: 'an account with enough',
      url: () => showing(unlimited, 5),
      status: 'ok',
      detail: /account has 5 USD left/,
    },
    {
      name: 'an empty account',
      url: () => showing(unlimited, 0),
      status: 'fail',
      detail: /account has no credit left/,
    },
  ])('doctor reports the credit of $name', async ({ url, status, detail }) => {
    const { code, find } = await examine(await url());

    expect(find('credit')).toMatchObject({ status, detail: expect.stringMatching(detail) });
    expect(code).toBe(status === 'fail' ? 1 : 0);
  });

  test('credit that the gateway does not show is no failure', async () => {
    emulator.quirks.accountRoutes = [];
    const absent = await examine(gateway.url);
    const refused = await examine(
      await proxy((response, path) =>
        /usage|billing/.test(path)
          ? Response.json({ error: { message: 'session key only' } }, { status: 401 })
          : response,
      ),
    );

    for (const { code, find } of [absent, refused]) {
      expect(code).toBe(0);
      expect(find('credit')?.status).toBe('skip');
    }
  });

  test('credit of an account that the gateway hides is found by --spend', async () => {
    emulator.fail({
      fault: { type: 'error', status: 403, code: 'insufficient_user_quota', message: 'none' },
      operation: 'chat.completions.create',
    });

    const { code, find } = await examine(gateway.url, ['--spend', '-m', 'm-large']);

    expect(code).toBe(1);
    expect(find('chat')).toMatchObject({ status: 'fail', fix: expect.stringContaining('credit') });
  });
});

test('a wrong key at LiteLLM without a database', async () => {
  const problem = { message: 'No connected db.', type: 'no_db_connection', code: '400' };
  const url = await proxy(() => Response.json({ error: problem }, { status: 400 }));

  const { code, find } = await examine(url);

  expect(code).toBe(1);
  expect(find('key')).toMatchObject({
    status: 'fail',
    detail: expect.stringContaining('not accepted'),
    fix: expect.stringContaining('master key'),
  });
});

describe('pages', () => {
  test.each<{ names: string; status: string; detail: RegExp }>([
    { names: '*, Authorization', status: 'ok', detail: /may call it/ },
    { names: 'Content-Type,Authorization', status: 'ok', detail: /may call it/ },
    { names: '*', status: 'warn', detail: /may call it, but .* does not include "authorization"/ },
    {
      names: 'x-authorization, content-type',
      status: 'warn',
      detail: /may not send authorization$/,
    },
    { names: 'authorization', status: 'warn', detail: /may not send content-type$/ },
  ])(
    'Access-Control-Allow-Headers: $names decides whether a page can call',
    async ({ names, status, detail }) => {
      const { find } = await examine(await allowing(names));

      expect(find('cors')).toMatchObject({ status, detail: expect.stringMatching(detail) });
    },
  );

  test('a star in Access-Control-Allow-Headers names the browsers that send the key', async () => {
    const { find } = await examine(await allowing('*'));

    expect(find('cors')?.fix).toMatch(/Chromium, Firefox and Safari still send the key/);
  });
});

describe('a stream that arrives at once after a second', () => {
  test('a stream that arrives at once after a second may be buffered by a proxy, or sent at once by the provider', async () => {
    const { find } = await examine(await atOnce(30), ['--spend', '-m', 'm-large']);

    expect(find('chat-buffering')).toMatchObject({
      status: 'warn',
      fix: expect.stringMatching(/Either a proxy .* or the model's provider/),
    });
  });

  test('a stream that arrives at once after a second proves nothing if it is a single piece of text', async () => {
    const { find } = await examine(await atOnce(1), ['--spend', '-m', 'm-large']);

    expect(find('chat-buffering')?.status).toBe('skip');
  });
});
