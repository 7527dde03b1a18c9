import { describe, expect, test, vi } from 'vitest';
import {
  AuthenticationError,
  InvalidInputError,
  UnexpectedResponseError,
} from '../../src/index.ts';
import { bodyOf, failureOf, json, scripted } from '../helpers/clients.ts';
import { untyped } from '../helpers/untyped.ts';
import {
  apiErrorOf,
  chat,
  completion,
  draw,
  error,
  html,
  list,
  messages,
  models,
  text,
} from '../helpers/transport.ts';
import { settle } from '../helpers/fake-time.ts';
import { mediaHeads } from '../helpers/media.ts';

describe('the key', () => {
  test('the key is requested for every attempt', async () => {
    vi.useFakeTimers();
    let count = 0;
    const { client, requests } = scripted([error('x', 500), error('x', 500), json(models)], {
      apiKey: () => `sk-${(count += 1)}`,
    });

    await settle(list(client));

    expect(requests.map(({ headers }) => headers.get('authorization'))).toEqual([
      'Bearer sk-1',
      'Bearer sk-2',
      'Bearer sk-3',
    ]);
    vi.useRealTimers();
  });

  test('the key is requested once more after a 401, also for a charged call and without retries', async () => {
    let count = 0;
    const { client, requests } = scripted([error('', 401)], {
      apiKey: () => Promise.resolve(`sk-${(count += 1)}`),
      maxRetries: 0,
    });

    const failure = await apiErrorOf(draw(client));

    expect(requests.map(({ headers }) => headers.get('authorization'))).toEqual([
      'Bearer sk-1',
      'Bearer sk-2',
    ]);
    expect(failure).toBeInstanceOf(AuthenticationError);
  });

  test('the key is not retried after a 401 if it is a string', async () => {
    const { client, requests } = scripted([error('', 401)]);

    const failure = await apiErrorOf(draw(client));

    expect(requests).toHaveLength(1);
    expect(failure.message).toContain('Check apiKey');
  });

  test("the key is not blamed for the provider's 401", async () => {
    const { client } = scripted([
      () =>
        Response.json(
          { error: { message: 'no', type: 'invalid_request_error', code: 'invalid_api_key' } },
          { status: 401, headers: { 'x-oneapi-request-id': 'relayed' } },
        ),
    ]);

    const { message } = await apiErrorOf(chat(client));

    expect(message).toContain('provider');
    expect(message).not.toContain('Check apiKey');
  });

  test('a key that is unavailable fails the call before anything is sent', async () => {
    const { client, requests } = scripted([json(completion)], {
      apiKey: () => Promise.reject(new Error('vault is sealed')),
    });

    const failure = await failureOf(chat(client));

    expect(requests).toHaveLength(0);
    expect(failure).toBeInstanceOf(InvalidInputError);
    expect(failure).toHaveProperty('outcome', 'not_sent');
    expect(failure).toHaveProperty('cause.message', 'vault is sealed');
  });

  test('the key is removed from an error that quotes it', async () => {
    const { client } = scripted(
      [
        (request) =>
          Response.json(
            { error: { message: `Invalid token ${request.headers.get('authorization')}` } },
            { status: 401 },
          ),
      ],
      { apiKey: 'sk-canary-1234' },
    );

    const failure = await apiErrorOf(chat(client));

    expect(failure.message).not.toContain('canary');
    expect(JSON.stringify(failure)).not.toContain('canary');
  });
});

describe('requests', () => {
  test('requests carry one credential, a type and an accept header', async () => {
    const { client, requests } = scripted([json(completion), json(models)]);

    await chat(client);
    await list(client);

    expect(Object.fromEntries(requests[0]?.headers.entries() ?? [])).toEqual({
      accept: 'application/json',
      authorization: 'Bearer sk-test',
      'content-type': 'application/json',
    });
    expect(Object.fromEntries(requests[1]?.headers.entries() ?? [])).toEqual({
      accept: 'application/json',
      authorization: 'Bearer sk-test',
    });
    expect(requests.map(({ url }) => url)).toEqual([
      'https://gateway.test/v1/chat/completions',
      'https://gateway.test/v1/models',
    ]);
  });

  test('headers of a call override those of the client, and null removes them', async () => {
    const { client, requests } = scripted([json(models)], {
      defaultHeaders: { 'x-a': '1', 'x-b': '2', 'X-C': '3' },
    });

    await client.models.list({
      headers: { 'X-A': null, 'x-b': '4', 'x-c': undefined, authorization: null },
    });

    expect(Object.fromEntries(requests[0]?.headers.entries() ?? [])).toEqual({
      accept: 'application/json',
      'x-b': '4',
      'x-c': '3',
    });
  });

  test('callers cannot change the content type of a body', async () => {
    const { client, requests } = scripted([json(completion), json({ data: [{ url: 'x' }] })], {
      defaultHeaders: { 'content-type': 'text/plain' },
    });

    await chat(client);
    await client.images.edit(
      {
        model: 'm',
        prompt: 'x',
        image: new File([mediaHeads.png], 'a.png', { type: 'image/png' }),
      },
      { headers: { 'content-type': null } },
    );
    await client.images.edit({
      model: 'm',
      prompt: 'x',
      image: new File([mediaHeads.png], 'a.png', { type: 'image/png' }),
    });

    expect(requests[0]?.headers.get('content-type')).toBe('application/json');
    for (const request of requests.slice(1)) {
      expect(request.headers.get('content-type')).toMatch(/^multipart\/form-data; *boundary=/);
    }
  });

  test('an invalid header is named without its value', async () => {
    const { client, requests } = scripted([json(models)]);

    const failure = await failureOf(client.models.list({ headers: { 'x-a': 'se\ncret' } }));

    expect(requests).toHaveLength(0);
    expect(failure).toBeInstanceOf(InvalidInputError);
    expect(failure).toHaveProperty('field', 'headers');
    expect(String(failure)).not.toContain('cret');
  });

  test.each([{ path: '/other' }, { method: 'put' }, { body: { model: 'm' } }])(
    'an operation rejects %j among its options, and sends nothing',
    async (options) => {
      const { client, requests } = scripted([]);

      const failure = await failureOf(client.models.list(untyped(options)));

      expect(failure).toBeInstanceOf(InvalidInputError);
      expect(failure).toMatchObject({ field: Object.keys(options)[0] });
      expect(String(failure)).toContain('client.request({ method, path, body })');
      expect(requests).toHaveLength(0);
    },
  );

  test('query parameters of the client, the operation and the call are merged', async () => {
    const { client, requests } = scripted([json({ candidates: [] }), json(models)], {
      defaultQuery: { tenant: 'a', trace: true },
    });

    await client.generate
      .contentStream({ model: 'm', contents: 'hi' }, { query: { trace: null, tag: ['x', 'y'] } })
      .asResponse();
    await client.models.list({ query: { tenant: 'b' } });

    expect(new URL(requests[0]?.url ?? '').search).toBe(
      '?tenant=a&alt=sse&tag%5B%5D=x&tag%5B%5D=y',
    );
    expect(new URL(requests[1]?.url ?? '').search).toBe('?tenant=b&trace=true');
  });

  test('extraBody adds and overrides fields', async () => {
    const { client, requests } = scripted([json(completion)]);

    await client.chat.completions.create(
      { model: 'm', messages: [...messages] },
      { extraBody: { model: 'n', seed: 7, nothing: undefined } },
    );

    expect(await bodyOf(requests[0])).toEqual({ model: 'n', messages, seed: 7 });
  });

  test('rejects extraBody for requests without a body', async () => {
    const { client, requests } = scripted([json(models)]);

    for (const call of [
      client.models.list(untyped({ extraBody: { a: 1 } })),
      client.get('/v1/x', { extraBody: { a: 1 } }),
      client.post('/v1/x', { body: [1], extraBody: { a: 1 } }),
      client.post('/v1/x', { body: 'text', extraBody: { a: 1 } }),
    ]) {
      expect(await failureOf(call)).toHaveProperty('field', 'extraBody');
    }
    expect(requests).toHaveLength(0);
  });

  test('a body that is not JSON is rejected before anything is sent', async () => {
    const { client, requests } = scripted([json({})]);
    const loop: { self?: unknown } = {};
    loop.self = loop;

    const errors = [loop, { n: 1n }, () => 1].map((body) =>
      failureOf(client.post('/v1/x', { body })),
    );
    const fields = (await Promise.all(errors)).map((failed) =>
      Reflect.get(Object(failed), 'field'),
    );
    expect(fields).toEqual(['body.self', 'body.n', 'body']);
    expect(requests).toHaveLength(0);
  });

  test('fetchOptions reach fetch, and cannot change what is sent', async () => {
    const inits: (RequestInit | undefined)[] = [];
    const dispatcher = {};
    const { client } = scripted([], {
      fetch: (_, init) => {
        inits.push(init);
        return Promise.resolve(Response.json(models));
      },
      fetchOptions: { dispatcher, cache: 'no-store', credentials: 'omit', priority: 'low' },
    });

    await client.models.list({
      fetchOptions: {
        keepalive: false,
        priority: 'high',
        method: 'POST',
        body: 'x',
        redirect: 'follow',
        headers: { authorization: 'x' },
        hooks: { beforeRequest: [() => Response.json({ data: ['hooked'] })] },
        searchParams: { a: 1 },
        retry: 5,
        timeout: 1,
      },
    });

    expect(inits).toHaveLength(1);
    expect(inits[0]).toMatchObject({
      dispatcher,
      cache: 'no-store',
      credentials: 'omit',
      keepalive: false,
      priority: 'high',
      method: 'GET',
      redirect: 'manual',
    });
    expect(inits[0]?.body).toBeNull();
    expect(new Headers(inits[0]?.headers).get('authorization')).toBe('Bearer sk-test');
  });

  test('an error about invalid call options names them', async () => {
    const { client, requests } = scripted([json(models)]);

    for (const [field, value] of [
      ['timeout', 0],
      ['maxRetries', -1],
      ['retryUnknownOutcome', 'true'],
      ['signal', {}],
      ['headers', 'x: y'],
      ['query', 'a=1'],
      ['extraBody', [1]],
      ['fetchOptions', 1],
    ] as const) {
      const options = JSON.parse(JSON.stringify({ [field]: value }));
      expect(await failureOf(client.models.list(options))).toHaveProperty('field', field);
    }
    expect(requests).toHaveLength(0);
  });
});

describe('undocumented routes', () => {
  test('undocumented routes return JSON of any type, or text', async () => {
    const label = { headers: { 'content-type': 'application/json' } };
    for (const [answer, expected] of [
      [json({ a: 1 }), { a: 1 }],
      [json([1, 2]), [1, 2]],
      [text('7', label), 7],
      [text('"x"', label), 'x'],
      [text('null', label), null],
      [text('{"a":1}'), { a: 1 }],
      [text('OK', label), 'OK'],
      [text('[Music] la la'), '[Music] la la'],
      [text('plain'), 'plain'],
      [text(''), ''],
      [text(null, { status: 204 }), null],
    ] as const) {
      const { client } = scripted([answer]);
      expect(await client.get('/api/x')).toEqual(expected);
    }
  });

  test('undocumented routes reject truncated JSON and HTML pages', async () => {
    const { client } = scripted(
      [text('{"a":', { headers: { 'content-type': 'application/json' } }), html(200)],
      { maxRetries: 0 },
    );

    expect(await apiErrorOf(client.get('/api/x'))).toBeInstanceOf(UnexpectedResponseError);
    expect((await apiErrorOf(client.get('/api/x'))).message).toContain('baseURL');
  });

  test('undocumented routes are below the base URL and its version', async () => {
    const { client, requests } = scripted([json({})], { baseURL: 'https://gateway.test/v1' });

    await client.get('/coupons', { query: { a: 1 } });
    await client.get('/v1beta/models');
    await client.request('DELETE', 'v1/coupons/7?b=2', { query: { a: 1 } });

    expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET https://gateway.test/v1/coupons?a=1',
      'GET https://gateway.test/v1beta/models',
      'DELETE https://gateway.test/v1/coupons/7?b=2&a=1',
    ]);
  });

  test('undocumented routes count as charged if they are sent with POST or PATCH', async () => {
    vi.useFakeTimers();
    for (const [method, count] of [
      ['GET', 3],
      ['PUT', 3],
      ['DELETE', 3],
      ['POST', 1],
      ['PATCH', 1],
    ] as const) {
      const { client, requests } = scripted([error('x', 500)]);
      await settle(client.request(method, '/api/x'));
      expect(requests).toHaveLength(count);
    }
    vi.useRealTimers();
  });

  test('undocumented routes reject invalid paths', async () => {
    const { client, requests } = scripted([json({})]);

    for (const [call, field] of [
      [client.get('https://elsewhere.test/'), 'path'],
      [client.get('/v1/../x'), 'path'],
      [client.get(JSON.parse('7')), 'path'],
      [client.get('/v1/x', { body: {} }), 'body'],
      [client.request(JSON.parse('"TRACE"'), '/v1/x'), 'method'],
    ] as const) {
      expect(await failureOf(call)).toHaveProperty('field', field);
    }
    expect(requests).toHaveLength(0);
  });
});
