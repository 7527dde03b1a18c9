import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Gateway, InvalidInputError } from '../../src/index.ts';
import type { GatewayOptions } from '../../src/options/options.ts';
import { createEmulator } from '../../src/testing/index.ts';
import { failureOf } from '../helpers/clients.ts';
import { chat, draw, film, list, translate } from '../helpers/transport.ts';

beforeEach(() => {
  vi.stubEnv('GATEWAY_API_KEY', undefined);
  vi.stubEnv('GATEWAY_BASE_URL', undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

function stubPage(address = 'https://app.example/shop/cart?id=7') {
  const document = { baseURI: address };
  vi.stubGlobal('window', { document });
  vi.stubGlobal('document', document);
  vi.stubGlobal('navigator', { userAgent: 'Mozilla/5.0' });
}

/** A client that records its requests. */
function recorded(options: GatewayOptions) {
  const requests: Request[] = [];
  const fetch = (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    requests.push(new Request(input, init));
    return Promise.resolve(Response.json({ object: 'list', data: [] }));
  };
  return { client: new Gateway({ logLevel: 'off', fetch, ...options }), requests };
}

describe('a missing key or base URL', () => {
  test.each([
    { field: 'apiKey', options: { baseURL: 'https://gateway.test' }, words: 'GATEWAY_API_KEY' },
    {
      field: 'apiKey',
      options: { apiKey: '', baseURL: 'https://gateway.test' },
      words: 'GATEWAY_API_KEY',
    },
    { field: 'baseURL', options: { apiKey: 'sk-test' }, words: 'GATEWAY_BASE_URL' },
    { field: 'baseURL', options: { apiKey: 'sk-test', baseURL: '' }, words: 'GATEWAY_BASE_URL' },
    { field: 'baseURL', options: { apiKey: 'sk-test', baseURL: null }, words: 'GATEWAY_BASE_URL' },
    {
      field: 'baseURL',
      options: { apiKey: 'sk-test', baseURL: '/api' },
      words: 'works only in a page',
    },
  ])(
    '$field is reported by the first call, before anything is sent',
    async ({ field, options, words }) => {
      const { client, requests } = recorded(options);

      for (const call of [list, chat, draw, film, translate]) {
        const failure = await failureOf(call(client));

        expect(failure).toBeInstanceOf(InvalidInputError);
        expect(failure).toMatchObject({ field, outcome: 'not_sent' });
        expect(failure).toHaveProperty('message', expect.stringContaining(words));
      }
      expect(requests).toHaveLength(0);
    },
  );

  test('a missing key or base URL is read again, because the environment may be loaded later', async () => {
    const { client, requests } = recorded({});
    expect(client.baseURL).toBe('');
    expect(client.apiKey).toBeNull();
    vi.stubEnv('GATEWAY_API_KEY', 'sk-late');
    vi.stubEnv('GATEWAY_BASE_URL', 'https://late.example/v1');

    await list(client);

    expect(requests[0]?.url).toBe('https://late.example/v1/models');
    expect(requests[0]?.headers.get('authorization')).toBe('Bearer sk-late');
    expect(client.baseURL).toBe('https://late.example/v1');
  });

  test('a missing key or base URL can be set, and passed to a copy', async () => {
    const { client, requests } = recorded({});

    client.apiKey = 'sk-set';
    client.baseURL = 'https://set.example';
    await list(client);
    await list(client.withOptions({ baseURL: 'https://copy.example' }));

    expect(requests.map(({ url }) => url)).toEqual([
      'https://set.example/v1/models',
      'https://copy.example/v1/models',
    ]);
  });

  test('a missing key or base URL does not prevent printing, copying or inspecting the client', () => {
    const client = new Gateway();

    expect(JSON.stringify(client)).toBe('{"baseURL":""}');
    expect(Object.assign({}, client).baseURL).toBe('');
    expect(client.withOptions({}).baseURL).toBe('');
  });

  test('an invalid value throws immediately', () => {
    for (const options of [
      { apiKey: ' ' },
      { apiKey: 'sk\nx' },
      { baseURL: 'gateway.test' },
      { baseURL: '//gateway.test' },
      { maxRetries: -1 },
    ]) {
      expect(() => new Gateway(options)).toThrow(InvalidInputError);
    }
  });
});

describe('your own server as a proxy', () => {
  test('apiKey: null sends no key, whatever the environment contains', async () => {
    vi.stubEnv('GATEWAY_API_KEY', 'sk-env');
    const { client, requests } = recorded({ apiKey: null, baseURL: 'https://own.example/api' });

    await list(client);
    await draw(client).catch(() => undefined);

    expect(requests.map(({ headers }) => headers.has('authorization'))).toEqual([false, false]);
    expect(client.apiKey).toBeNull();
  });

  test('a 401 is not retried, because the key cannot change', async () => {
    const emulator = createEmulator();
    const { baseURL, fetch } = emulator;
    const client = new Gateway({ apiKey: null, baseURL, fetch, logLevel: 'off' });

    await expect(list(client)).rejects.toMatchObject({ status: 401 });
    expect(emulator.requests).toHaveLength(1);
  });

  test.each([
    ['/api', 'https://app.example/api/v1/models'],
    ['/api/v1', 'https://app.example/api/v1/models'],
    ['/', 'https://app.example/v1/models'],
    ['./llm', 'https://app.example/shop/llm/v1/models'],
    ['../llm/', 'https://app.example/llm/v1/models'],
  ])('in a page, baseURL %j is a path of its server', async (baseURL, url) => {
    stubPage();
    const { client, requests } = recorded({ apiKey: null, baseURL });

    await list(client);

    expect(requests[0]?.url).toBe(url);
    expect(client.baseURL).toBe(
      url.replace(baseURL.endsWith('/v1') ? '/models' : '/v1/models', ''),
    );
  });

  test('in a worker of a page, baseURL is relative to the script', async () => {
    vi.stubGlobal('location', { href: 'https://app.example/assets/worker.js' });
    const { client, requests } = recorded({ apiKey: null, baseURL: '/api' });

    await list(client);

    expect(requests[0]?.url).toBe('https://app.example/api/v1/models');
  });

  test('a module loaded on a server first finds its page later', async () => {
    const { client, requests } = recorded({ apiKey: null, baseURL: '/api' });
    expect(client.baseURL).toBe('');
    stubPage();

    await list(client);

    expect(requests[0]?.url).toBe('https://app.example/api/v1/models');
  });

  test('messages in a page describe options of a page', async () => {
    stubPage();
    const keyless = await failureOf(list(recorded({ baseURL: '/api' }).client));
    const homeless = await failureOf(list(recorded({ apiKey: null }).client));

    for (const failure of [keyless, homeless]) {
      expect(failure).toBeInstanceOf(InvalidInputError);
      expect(failure).toHaveProperty('message', expect.not.stringMatching(/environment|GATEWAY_/));
    }
    expect(keyless).toHaveProperty('message', expect.stringContaining('apiKey: null'));
    expect(homeless).toHaveProperty('message', expect.stringContaining('"/api"'));
    expect(() => new Gateway({ apiKey: 'sk-test', baseURL: '/api' })).toThrow('apiKey: null');
  });
});
