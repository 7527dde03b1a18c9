// Base URLs as providers document them, and as people paste them: where calls go.
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { endpoints } from '../../src/endpoints.ts';
import { Gateway, type GatewayOptions } from '../../src/index.ts';
import { failureOf, json, scripted } from '../helpers/clients.ts';
import { untyped } from '../helpers/untyped.ts';
import { addresses, pasted } from './addresses.ts';

const messages = [{ role: 'user' as const, content: 'Hi' }];
const completion = {
  id: 'c',
  choices: [{ index: 0, message: { role: 'assistant', content: '!' } }],
};

const generation = {
  candidates: [{ content: { role: 'model', parts: [{ text: '!' }] }, finishReason: 'STOP' }],
};

const azure = 'https://name.openai.azure.com/openai';

/** The URL that a chat call requested. */
async function chatURL(baseURL: string, options: GatewayOptions = {}): Promise<string | undefined> {
  const { client, requests } = scripted([json(completion)], { baseURL, ...options });
  await client.chat.completions.create({ model: 'm', messages });
  return requests[0]?.url;
}

/** What a server of OpenAI's routes returns, whatever the route. */
const anything = {
  ...completion,
  object: 'list',
  output: [],
  status: 'completed',
  data: [{ id: 'm', embedding: [1], url: 'https://cdn.test/a.png' }],
};

/** Calls of both clients, and their routes. */
const operations = {
  '/chat/completions': ({ chat }: Pick<OpenAI, 'chat'>) =>
    chat.completions.create({ model: 'm', messages }),
  '/responses': ({ responses }: Pick<OpenAI, 'responses'>) =>
    responses.create({ model: 'm', input: 'Hi' }),
  '/embeddings': ({ embeddings }: Pick<OpenAI, 'embeddings'>) =>
    embeddings.create({ model: 'm', input: 'Hi', encoding_format: 'float' }),
  '/models': ({ models }: Pick<OpenAI, 'models'>) => models.list(),
  '/images/generations': ({ images }: Pick<OpenAI, 'images'>) =>
    images.generate({ model: 'm', prompt: 'A fox' }),
} as const;

/** A server that has routes only directly below an address. */
function serverAt(base: string) {
  const requests: string[] = [];
  const fetch = async (input: string | URL | globalThis.Request): Promise<Response> => {
    const url = input instanceof Request ? input.url : String(input);
    requests.push(url.split('?')[0] ?? '');
    const isServed = Object.keys(operations).some((route) => url.split('?')[0] === base + route);
    const missing = { error: { message: 'no Route matched with those values' } };
    return isServed ? Response.json(anything) : Response.json(missing, { status: 404 });
  };
  return { requests, fetch };
}

describe('base URLs that providers document', () => {
  test.each(addresses)('%s, as %s prints it, like openai', async (address) => {
    const base = address.replace(/\/$/, '');
    for (const [route, call] of Object.entries(operations)) {
      // Images of OpenRouter are chats.
      if (address.includes('openrouter') && route.startsWith('/images')) continue;
      const theirs = serverAt(base);
      await untyped<(client: unknown) => Promise<unknown>>(call)(
        new OpenAI({ apiKey: 'k', baseURL: address, fetch: theirs.fetch, maxRetries: 0 }),
      );
      expect(theirs.requests).toEqual([base + route]);

      const ours = serverAt(base);
      const options = { apiKey: 'k', baseURL: address, fetch: ours.fetch, maxRetries: 0 } as const;
      const client = new Gateway({ ...options, logLevel: 'off' });
      await untyped<(client: unknown) => Promise<unknown>>(call)(client);
      await untyped<(client: unknown) => Promise<unknown>>(call)(client);

      // At most one request to find the address, which is remembered.
      expect(ours.requests.slice(-2)).toEqual([base + route, base + route]);
      expect(ours.requests.length).toBeLessThanOrEqual(3);
    }
  });

  test.each([
    // Bare hosts, and paths without a version, get /v1.
    ['https://gateway.example.com', 'https://gateway.example.com/v1'],
    ['https://gateway.example.com/team', 'https://gateway.example.com/team/v1'],
    ['http://localhost:3000', 'http://localhost:3000/v1'],
    ['https://openrouter.ai', 'https://openrouter.ai/api/v1'],
    ['https://openrouter.ai/api', 'https://openrouter.ai/api/v1'],
  ])('%s', async (baseURL, base) => {
    expect(await chatURL(baseURL)).toBe(`${base}/chat/completions`);
  });

  test('a profile with the base path "/" has its routes directly below the host', async () => {
    const gateway = { name: 'mine', basePath: '/' };

    expect(await chatURL('https://gw.example', { gateway })).toBe(
      'https://gw.example/chat/completions',
    );
  });

  test.each([
    {
      baseURL: `${azure}/deployments/gpt?api-version=2024-10-21`,
      base: `${azure}/deployments/gpt`,
      version: '2024-10-21',
    },
    {
      baseURL: 'https://name.services.ai.azure.com/models?api-version=2024-05-01-preview',
      base: 'https://name.services.ai.azure.com/models',
      version: '2024-05-01-preview',
    },
  ])('$baseURL', async ({ baseURL, base, version }) => {
    const expected = `${base}/chat/completions?api-version=${version}`;

    expect(await chatURL(baseURL)).toBe(expected);
  });

  test.each(pasted)('the pasted route %s means its base', async (address, base) => {
    const url = await chatURL(address);

    expect(url?.split('?')[0]).toBe(`${base}/chat/completions`);
    expect(url?.split('?')[1]).toBe(address.split('?')[1]);
  });

  test('each pasted route of an operation means its base', async () => {
    for (const { path } of Object.values(endpoints)) {
      if (!path.startsWith('/v1')) continue;
      const route = path.replaceAll(/\{\w+\}/g, 'x');
      const { client, requests } = scripted([json(completion)], {
        baseURL: `https://gw.example${route}`,
      });
      await client.chat.completions.create({ model: 'm', messages });

      expect(requests[0]?.url).toBe('https://gw.example/v1/chat/completions');
    }
  });
});

describe('a query of the base URL', () => {
  test('a query of the base URL is sent with every request, and is overridden by other levels', async () => {
    const baseURL = `${azure}/deployments/gpt?api-version=1&tenant=a`;
    const { client, requests } = scripted([json({ data: [] })], {
      baseURL,
      defaultQuery: { tenant: 'b' },
    });

    await client.models.list();
    await client.get('/files', { query: { 'api-version': '2' } });
    await client.withOptions({ maxRetries: 0 }).models.list();

    expect(requests.map(({ url }) => url)).toEqual([
      `${azure}/deployments/gpt/models?api-version=1&tenant=b`,
      `${azure}/deployments/gpt/files?api-version=2&tenant=b`,
      `${azure}/deployments/gpt/models?api-version=1&tenant=b`,
    ]);
    expect(client.toJSON()).toEqual({ baseURL: `${azure}/deployments/gpt` });
  });

  test('a query of the base URL works with a key in another header', async () => {
    const { client, requests } = scripted([json(completion)], {
      baseURL: `${azure}/deployments/gpt?api-version=1`,
      apiKey: null,
      defaultHeaders: { 'api-key': 'azure-key' },
    });

    await client.chat.completions.create({ model: 'gpt', messages });

    expect(requests[0]?.headers.get('api-key')).toBe('azure-key');
    expect(requests[0]?.headers.has('authorization')).toBe(false);
  });
});

describe("Gemini's own routes", () => {
  test.each([
    ['https://generativelanguage.googleapis.com', 'https://generativelanguage.googleapis.com'],
    [
      'https://generativelanguage.googleapis.com/v1beta',
      'https://generativelanguage.googleapis.com',
    ],
    [
      'https://generativelanguage.googleapis.com/v1beta/openai',
      'https://generativelanguage.googleapis.com',
    ],
    ['https://gw.example/v1', 'https://gw.example'],
    ['https://gw.example/gemini/openai', 'https://gw.example/gemini'],
  ])("Gemini's routes of %s are next to OpenAI's", async (baseURL, root) => {
    const { client, requests } = scripted([json(generation)], { baseURL });

    await client.generate.content({ model: 'gemini', contents: 'Hi' });

    expect(requests[0]?.url).toBe(`${root}/v1beta/models/gemini:generateContent`);
  });
});

describe('paths of undocumented routes', () => {
  const baseURL = 'https://api.z.ai/api/paas/v4';

  test.each([
    { base: 'https://api.z.ai/api/paas/v4', path: 'files', expected: `${baseURL}/files` },
    { base: 'https://api.z.ai/api/paas/v4', path: '/v1/files', expected: `${baseURL}/files` },
    { base: 'https://api.z.ai/api/paas/v4', path: '/v1', expected: baseURL },
    { base: 'https://gw.example/v1', path: 'files', expected: 'https://gw.example/v1/files' },
    { base: 'https://gw.example', path: '/api/status', expected: 'https://gw.example/api/status' },
    {
      base: 'https://gw.example/v1beta',
      path: 'files',
      expected: 'https://gw.example/v1beta/files',
    },
  ])('paths of undocumented routes are below $base: $path', async ({ base, path, expected }) => {
    const { client, requests } = scripted([json({})], { baseURL: base });

    await client.get(path);

    expect(requests[0]?.url).toBe(expected);
  });

  test('paths of undocumented routes are charged as their operation', async () => {
    const { client, requests } = scripted([json({}, 502)], { baseURL, maxRetries: 1 });

    await failureOf(client.post('images/generations', { body: { prompt: 'A fox' } }));
    expect(requests).toHaveLength(1);

    await failureOf(client.post('/chat/completions', { body: { model: 'm', messages } }));
    expect(requests).toHaveLength(3);
  });
});

describe('a 404', () => {
  const image = { model: 'm', prompt: 'A fox' };
  const missing = json({ error: { message: 'Not here' } }, 404);

  test.each([
    {
      baseURL: 'https://gw.example',
      urls: ['https://gw.example/v1', 'https://gw.example'],
      fix: 'Routes may be below https://gw.example/api/v1, or differ by kind',
    },
    {
      baseURL: 'http://localhost:8000/gpt-4',
      urls: ['http://localhost:8000/gpt-4/v1', 'http://localhost:8000/gpt-4'],
      fix: 'the gateway has no such route. Routes differ by kind',
    },
    { baseURL: 'https://gw.example/v1', urls: ['https://gw.example/v1'], fix: 'Check baseURL' },
    { baseURL: 'https://gw.example/v4', urls: ['https://gw.example/v4'], fix: 'Check baseURL' },
    {
      baseURL: `${azure}/deployments/gpt`,
      urls: [`${azure}/deployments/gpt`],
      fix: 'Azure needs the parameter api-version',
    },
  ])('a 404 below $baseURL names the URL and the fix', async ({ baseURL, urls, fix }) => {
    const { client, requests } = scripted([missing], { baseURL });

    const error = await failureOf(client.images.generate(image));

    expect(error).toMatchObject({ status: 404, outcome: 'rejected' });
    expect(String(error)).toContain(`POST ${urls[0]}/images/generations`);
    expect(String(error)).toContain(fix);
    expect(requests.map(({ url }) => url)).toEqual(urls.map((url) => `${url}/images/generations`));

    // The next call does not look for another address again.
    await failureOf(client.images.generate(image));
    expect(requests).toHaveLength(urls.length + 1);
  });

  test('a 404 is followed by a request without the added /v1 at most once, with the same key', async () => {
    const lines: string[] = [];
    const log = (line: unknown): number => lines.push(String(line));
    const { client, requests } = scripted([missing, json(anything)], {
      baseURL: 'http://localhost:8000/gpt-4',
      maxRetries: 0,
      logLevel: 'info',
      logger: { error: log, warn: log, info: log, debug: log },
      idempotency: { header: 'idempotency-key' },
    });

    await client.images.generate(image);
    await client.withOptions({ timeout: 1_000 }).models.list();

    expect(requests.map(({ url }) => new URL(url).pathname)).toEqual([
      '/gpt-4/v1/images/generations',
      '/gpt-4/images/generations',
      '/gpt-4/models',
    ]);
    const keys = requests.slice(0, 2).map(({ headers }) => headers.get('idempotency-key'));
    expect(keys[0]).toBe(keys[1]);
    expect(lines.filter((line) => line.includes('not below /v1'))).toHaveLength(1);
  });

  test.each([
    ['of the model', { error: { message: 'The model `m` does not exist', code: 'x' } }],
    ['of a task', { code: 'fail_to_fetch_task', message: 'Not here', data: null }],
  ])('%s is not followed by another address', async (_, body) => {
    const { client, requests } = scripted([json(body, 404)], { baseURL: 'https://gw.example' });

    await failureOf(client.images.generate(image));

    expect(requests).toHaveLength(1);
  });

  test.each([
    ['a page', () => new Response('<html></html>', { headers: { 'content-type': 'text/html' } })],
    ['405', () => new Response('', { status: 405 })],
    ['text', () => new Response('no', { status: 400 })],
  ])('a 404 is the error of the call if the other address returns %s', async (_, other) => {
    const { client, requests } = scripted([missing, other], { baseURL: 'https://gw.example' });

    expect(await failureOf(client.images.generate(image))).toMatchObject({
      status: 404,
      outcome: 'rejected',
    });
    expect(requests).toHaveLength(2);
  });

  test('a 404 is followed by the error of the other address, if it has the route', async () => {
    const refused = json({ error: { message: 'Invalid size', code: 'x' } }, 400);
    const { client, requests } = scripted([missing, refused], { baseURL: 'https://gw.example' });

    expect(await failureOf(client.images.generate(image))).toMatchObject({ status: 400 });
    await failureOf(client.images.generate(image));
    expect(requests.map(({ url }) => new URL(url).pathname)).toEqual([
      '/v1/images/generations',
      '/images/generations',
      '/images/generations',
    ]);
  });

  test('a 404 after a success is not followed by another address', async () => {
    const { client, requests } = scripted([json(anything), missing], {
      baseURL: 'https://gw.example',
    });
    await client.models.list();

    await failureOf(client.images.generate(image));

    expect(requests).toHaveLength(2);
  });

  test('a lost connection after a 404 has the outcome unknown, and is sent once', async () => {
    const lost = new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } });
    const { client, requests } = scripted([missing, lost], { baseURL: 'https://gw.example' });

    expect(await failureOf(client.images.generate(image))).toMatchObject({ outcome: 'unknown' });
    expect(requests).toHaveLength(2);
  });
});
