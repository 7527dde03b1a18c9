import { inspect } from 'node:util';
import { expect, test, vi } from 'vitest';
import { Gateway, InvalidInputError } from '../../src/index.ts';
import type { GatewayOptions } from '../../src/options/options.ts';
import { failureOf, json, misuse, scripted } from '../helpers/clients.ts';
import { chat, completion, error, film, models } from '../helpers/transport.ts';
import { settle } from '../helpers/fake-time.ts';

const base = { apiKey: 'sk-test', baseURL: 'https://gateway.test', logLevel: 'off' } as const;
const key = (): string => 'sk-1';
const queued = { id: 'task-1', status: 'queued' };

test('a client exposes its options and defaults', () => {
  expect(new Gateway(base)).toMatchObject({
    ...base,
    maxRetries: 2,
    timeout: 600_000,
    organization: null,
    project: null,
  });
  const options: GatewayOptions = {
    apiKey: key,
    baseURL: new URL('https://other.test/v1/'),
    maxRetries: 0,
    timeout: 5,
    logLevel: 'error',
    organization: 'org-1',
    project: 'proj-1',
  };
  const client = new Gateway(options);
  expect(client).toMatchObject({ ...options, baseURL: 'https://other.test/v1' });
  expect(client.apiKey).toBe(key);
});

test('options from the environment too', () => {
  vi.stubEnv('GATEWAY_API_KEY', 'sk-env');
  vi.stubEnv('GATEWAY_BASE_URL', 'https://env.test/v1');
  vi.stubEnv('GATEWAY_LOG', 'debug');

  const client = new Gateway();

  expect(client.apiKey).toBe('sk-env');
  expect(client).toMatchObject({ baseURL: 'https://env.test/v1', logLevel: 'debug' });
});

test('calls use the options set before them', async () => {
  const { client, requests } = scripted([json(models)]);

  client.apiKey = 'sk-second';
  client.baseURL = 'https://second.test/v1/';
  await client.models.list();
  await client.get('/x');
  client.apiKey = () => 'sk-third';
  await client.models.list();

  expect(client.baseURL).toBe('https://second.test/v1');
  expect(requests.map(({ url, headers }) => [url, headers.get('authorization')])).toEqual([
    ['https://second.test/v1/models', 'Bearer sk-second'],
    ['https://second.test/v1/x', 'Bearer sk-second'],
    ['https://second.test/v1/models', 'Bearer sk-third'],
  ]);
});

test('a pending call keeps the options that it started with', async () => {
  const { client, requests } = scripted([
    () => {
      client.apiKey = 'sk-second';
      client.baseURL = 'https://second.test';
      client.maxRetries = 0;
      return Response.json({}, { status: 500, headers: { 'retry-after-ms': '1' } });
    },
    json(completion),
  ]);

  await chat(client);

  const sent = ['https://gateway.test/v1/chat/completions', 'Bearer sk-test'];
  expect(requests.map(({ url, headers }) => [url, headers.get('authorization')])).toEqual([
    sent,
    sent,
  ]);
});

test('the handle of a video names its gateway, and its wait stays there', async () => {
  const { client, requests } = scripted([
    () => {
      client.baseURL = 'https://second.test';
      return Response.json(queued);
    },
    json({ ...queued, status: 'completed' }),
  ]);

  vi.useFakeTimers();
  const made = client.videos.createAndWait({ model: 'm', prompt: 'a cat' });
  const { value: done } = await settle(made);
  vi.useRealTimers();

  expect(done?.ref.baseURL).toBe('https://gateway.test');
  expect(requests.map(({ url }) => new URL(url).host)).toEqual(['gateway.test', 'gateway.test']);
  expect((await film(client)).ref.baseURL).toBe('https://second.test');
});

test('retries, time limits and log lines use the new options', async () => {
  const lines: string[] = [];
  const write = (message: string): void => void lines.push(message);
  const logger = { error: write, warn: write, info: write, debug: write };
  const { client, requests } = scripted([error('x', 500)], { logger });

  client.maxRetries = 0;
  await failureOf(chat(client));
  expect(requests).toHaveLength(1);
  expect(lines).toEqual([]);
  client.logLevel = 'debug';
  await failureOf(chat(client));
  expect(lines.length).toBeGreaterThan(1);

  const { client: silent } = scripted([() => new Promise<Response>(() => {})], { maxRetries: 0 });
  silent.timeout = 5;
  expect(await failureOf(chat(silent))).toHaveProperty('name', 'APIConnectionTimeoutError');
});

test('a client reports each kind of drift once', async () => {
  const { client, drifts } = scripted([json({ ...completion, created: 'now' })]);

  await chat(client);
  client.maxRetries = 1;
  await chat(client);

  expect(drifts).toHaveLength(1);
});

test('withOptions() starts with the changed options', async () => {
  const { client, requests } = scripted([json(models)]);
  client.apiKey = 'sk-second';
  client.timeout = 7;

  const copy = client.withOptions({ maxRetries: 1 });
  client.apiKey = 'sk-third';
  await copy.models.list();

  expect(copy).toMatchObject({ timeout: 7, maxRetries: 1 });
  expect(client.maxRetries).toBe(2);
  expect(requests[0]?.headers.get('authorization')).toBe('Bearer sk-second');
});

test.each([
  ['apiKey', 'line\nbreak'],
  ['baseURL', 'nowhere'],
  ['maxRetries', -1],
  ['timeout', 'soon'],
  ['logLevel', 'loud'],
])('%s cannot be set to an invalid value, and stays unchanged', async (name, value) => {
  const { client, requests } = scripted([json(models)]);
  const before: unknown = Reflect.get(client, name);

  expect(() => Reflect.set(client, name, value)).toThrow(InvalidInputError);

  expect(Reflect.get(client, name)).toBe(before);
  await client.models.list();
  expect(requests[0]?.headers.get('authorization')).toBe('Bearer sk-test');
});

test('undefined sets the default, which may be no key', () => {
  const client = new Gateway({ ...base, maxRetries: 7 });

  Reflect.set(client, 'maxRetries', undefined);

  expect(client.maxRetries).toBe(2);
  Reflect.set(client, 'apiKey', undefined);
  expect(client.apiKey).toBeNull();
});

test('options can be read and set through a proxy', async () => {
  const { client, requests } = scripted([json(models)]);
  const proxy = new Proxy(client, {});

  proxy.baseURL = 'https://second.test';
  await proxy.models.list();

  expect(proxy.baseURL).toBe('https://second.test');
  expect(requests[0]?.url).toBe('https://second.test/v1/models');
});

test('organization and project are sent as headers, and can be set', async () => {
  vi.stubEnv('OPENAI_ORG_ID', 'org-env');
  vi.stubEnv('OPENAI_PROJECT_ID', 'proj-env');
  const options = { organization: 'org-1', project: 'proj-1' };
  const { client, requests } = scripted([json(models)], options);

  await client.models.list();
  client.organization = null;
  client.project = 'proj-2';
  await client.models.list();
  await client.withOptions({ project: '' }).models.list();
  await client.models.list({ headers: { 'OpenAI-Project': 'proj-3' } });
  await client
    .withOptions({ defaultHeaders: { 'openai-project': null, 'openai-organization': 'org-4' } })
    .models.list();

  const names = ['openai-organization', 'openai-project'];
  expect(requests.map(({ headers }) => names.map((name) => headers.get(name)))).toEqual([
    ['org-1', 'proj-1'],
    [null, 'proj-2'],
    [null, null],
    [null, 'proj-3'],
    ['org-4', null],
  ]);
});

test.each(['organization', 'project'])('%s must be a valid header value', (name) => {
  for (const value of [7, {}, true, 'line\nbreak']) {
    const { client } = scripted([json(models)]);
    expect(() => Reflect.set(client, name, value)).toThrow(new RegExp(`^${name}`));
    expect(() => {
      Reflect.construct(Gateway, [{ ...base, [name]: value }]);
    }).toThrow(InvalidInputError);
  }
});

test('withOptions() keeps the class', async () => {
  class Mine extends Gateway {
    readonly mine = true;
  }
  const { client } = scripted([json(models)]);
  const copy = new Mine({ ...base, fetch: async () => Promise.resolve(Response.json(models)) })
    .withOptions({ timeout: 1_000 })
    .withOptions({ maxRetries: 0 });

  expect(copy).toBeInstanceOf(Mine);
  expect(copy.mine).toBe(true);
  expect(copy).toMatchObject({ timeout: 1_000, maxRetries: 0 });
  expect((await copy.models.list()).data).toEqual([]);
  expect(client.withOptions({}).constructor).toBe(Gateway);
  expect(Gateway.name).toBe('Gateway');
});

test('headers may be a list of pairs', async () => {
  const { client, requests } = scripted([json(models)], {
    defaultHeaders: [
      ['x-a', '1'],
      ['X-B', '2'],
      ['x-c', undefined],
    ],
  });

  await client.models.list({
    headers: [
      ['x-b', null],
      ['x-d', '3'],
      ['x-d', '4'],
    ],
  });

  const sent = requests[0]?.headers;
  expect(['x-a', 'x-b', 'x-c', 'x-d'].map((name) => sent?.get(name))).toEqual([
    '1',
    null,
    null,
    '4',
  ]);
  for (const pairs of [['x-a: 1'], [1], [[]], [['bad name', 'x']]]) {
    expect(() => {
      Reflect.construct(Gateway, [{ ...base, defaultHeaders: pairs }]);
    }).toThrow(/^defaultHeaders/);
    const failure = await failureOf(misuse(client.models, 'list', { headers: pairs }));
    expect(failure).toMatchObject({ field: 'headers', outcome: 'not_sent' });
  }
});

test('put(), patch() and delete() are request() with their method', async () => {
  const { client, requests } = scripted([json({ ok: true })]);

  for (const name of ['put', 'patch', 'delete'] as const) {
    expect(await client[name]('/v1/x', { body: { a: 1 } })).toEqual({ ok: true });
  }

  expect(requests.map(({ method }) => method)).toEqual(['PUT', 'PATCH', 'DELETE']);
  expect(await requests[2]?.json()).toEqual({ a: 1 });
});

test.each([
  ['https://g.test', 'https://g.test'],
  ['https://g.test/', 'https://g.test'],
  ['https://g.test/v1', 'https://g.test/v1'],
  ['https://g.test/v1//', 'https://g.test/v1'],
  [' https://g.test/v1 ', 'https://g.test/v1'],
  ['https://G.test/api/v1/chat/completions', 'https://G.test/api/v1/chat/completions'],
  ['https://g.test/openai/deployments/x?v=1', 'https://g.test/openai/deployments/x?v=1'],
])('baseURL %j reads as it was set', async (baseURL, shown) => {
  const { client } = scripted([], { baseURL });
  const copy = client.withOptions({ maxRetries: 0 });
  const changed = client.withOptions({ baseURL: 'https://other.test/v1' });
  changed.baseURL = baseURL;

  expect([client, copy, changed].map((one) => one.baseURL)).toEqual([shown, shown, shown]);
});

test('frameworks read fetch and defaultHeaders from _options, as in openai', () => {
  const defaultHeaders = { 'x-tenant': 'a' };
  const defaultQuery = { signature: 'query-secret' };
  const { client } = scripted([], { apiKey: 'sk-secret-key', defaultHeaders, defaultQuery });
  const options: unknown = Reflect.get(client, '_options');

  expect(options).toMatchObject({ fetch: expect.any(Function) });
  expect(options).toMatchObject({ defaultHeaders });
  expect(Object.keys(client)).not.toContain('_options');
  expect(JSON.stringify(options)).not.toContain('secret');
  expect(inspect(options, { showHidden: true, getters: true })).not.toContain('secret');
  const copy = client.withOptions({ defaultHeaders: { 'x-tenant': 'b' } });
  expect(Reflect.get(copy, '_options')).toMatchObject({ defaultHeaders: { 'x-tenant': 'b' } });
});

test('variables may be in quotes, which Docker keeps in --env-file', async () => {
  vi.stubEnv('GATEWAY_API_KEY', '"sk-env"');
  vi.stubEnv('GATEWAY_BASE_URL', "'https://env.test/v1'");
  vi.stubEnv('GATEWAY_PROFILE', '"litellm"');
  vi.stubEnv('GATEWAY_LOG', '"warn"');
  const warnings: string[] = [];
  const warn = (message: string): void => void warnings.push(message);
  const logger = { error: warn, warn, info: () => {}, debug: () => {} };
  const sent: Request[] = [];
  const client = new Gateway({
    logger,
    fetch: async (input, init) => {
      sent.push(new Request(input, init));
      return Response.json({ object: 'list', data: [] });
    },
  });

  await client.models.list();

  expect(client).toMatchObject({ apiKey: 'sk-env', logLevel: 'warn' });
  expect(sent[0]?.url).toBe('https://env.test/v1/models');
  expect(sent[0]?.headers.get('authorization')).toBe('Bearer sk-env');
  expect(warnings).toEqual([expect.stringContaining('in quotes')]);
});
