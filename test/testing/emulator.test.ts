import { expect, test, describe } from 'vitest';
import { endpoints } from '../../src/index.ts';
import { createEmulator, missingModel, type EmulatorModel } from '../../src/testing/index.ts';
import { newClient } from '../helpers/emulator-client.ts';

const embedding = { model: 'm-embedding', input: 'tea' };

describe('an emulator', () => {
  test('works with a fetch that needs no this', async () => {
    const { apiKey, baseURL, fetch, ...emulator } = createEmulator();

    const response = await fetch(`${baseURL}/v1/models`, {
      headers: { authorization: `Bearer ${apiKey}` },
    });

    expect(response.status).toBe(200);
    expect(response.url).toBe('http://emulator.test/v1/models');
    expect(emulator).toBeDefined();
  });

  test('returns the same response for the same request', async () => {
    const [first, second] = [newClient(), newClient()];
    for (const { emulator } of [first, second]) emulator.clock.hold();
    second.emulator.clock.advance(first.emulator.clock.now() - second.emulator.clock.now());

    const order = { model: 'm-video', prompt: 'a cat' };

    expect(await first.ask('/v1/videos', order)).toEqual(await second.ask('/v1/videos', order));
  });

  test('sends no network request', async () => {
    const { emulator } = newClient();

    await expect(emulator.fetch('https://gateway.example.com/v1/models')).rejects.toMatchObject({
      name: 'TypeError',
      message: 'fetch failed',
      cause: { code: 'ENOTFOUND' },
    });
  });

  test('records requests without the key', async () => {
    const { emulator, post } = newClient();

    await post('/v1/embeddings?key=sk-other', embedding);

    expect(emulator.requests).toHaveLength(1);
    expect(emulator.requests[0]).toMatchObject({
      method: 'POST',
      path: '/v1/embeddings',
      operation: 'embeddings.create',
      hasKey: true,
      status: 200,
      body: { kind: 'json', value: embedding },
    });
    expect(JSON.stringify(emulator.requests)).not.toContain('sk-');
  });

  test('records the fields and files of a form', async () => {
    const { emulator, post } = newClient();
    const form = new FormData();
    form.append('model', 'm-image');
    form.append('tag', 'a');
    form.append('tag', 'b');
    form.append('image', new File(['abc'], 'a.png', { type: 'image/png' }));

    await post('/v1/images/edits', form);

    expect(emulator.requests[0]?.body).toMatchObject({
      kind: 'multipart',
      fields: { model: 'm-image', tag: ['a', 'b'] },
      files: [{ field: 'image', filename: 'a.png', type: 'image/png', size: 3 }],
    });
  });

  test('returns the request id in a header, or only in the message', async () => {
    const { emulator, post } = newClient();

    const shown = await post('/v1/embeddings', embedding);
    emulator.quirks.requestIdHeader = false;
    const hidden = await post('/v1/embeddings', {});

    expect(shown.headers.get('x-oneapi-request-id')).toBe(emulator.requests[0]?.id);
    expect(hidden.headers.get('x-oneapi-request-id')).toBeNull();
    expect(await hidden.text()).toContain(`(request id: ${emulator.requests[1]?.id})`);
  });

  test('records charges', async () => {
    const { emulator, post, get } = newClient();

    const response = await post('/v1/embeddings', embedding);
    await get('/v1/models');

    expect(emulator.charges).toEqual([
      {
        id: 'charge_1',
        operation: 'embeddings.create',
        model: 'm-embedding',
        amount: 1,
        requestId: response.headers.get('x-oneapi-request-id'),
        taskId: undefined,
        at: expect.any(Number),
      },
    ]);
  });

  test('charges nothing for a rejected request', async () => {
    const { emulator, post } = newClient();

    await post('/v1/embeddings', { model: 'm-embedding' });
    await post('/v1/images/generations', { model: 'm-image', prompt: 'x', size: 'big' });
    await post('/v1/videos', { model: 'm-video', prompt: 'x', seconds: 8 });

    expect(emulator.requests.map(({ status }) => status)).toEqual([400, 400, 400]);
    expect(emulator.charges).toEqual([]);
  });

  test('rejects requests once the credit is used up', async () => {
    const { emulator, post } = newClient({ credit: 1500 });
    const order = { model: 'm-image', prompt: 'x', size: '16x16' };

    await post('/v1/images/generations', order);
    const refused = await post('/v1/images/generations', order);

    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ error: { code: 'insufficient_user_quota' } });
    expect(emulator.charges).toHaveLength(1);
  });

  test('an emulator is empty after a reset', async () => {
    const { emulator, post, ask } = newClient({ quirks: { lineEnding: 'crlf' } });
    await ask('/v1/videos', { model: 'm-video', prompt: 'a cat' });
    emulator.quirks.lineEnding = 'cr';
    emulator.fail({ fault: { type: 'html', status: 502 } });

    emulator.reset();

    expect([emulator.charges, emulator.requests, emulator.videos.list]).toEqual([[], [], []]);
    expect(emulator.faults).toEqual([]);
    expect(emulator.quirks.lineEnding).toBe('crlf');
    expect((await post('/v1/embeddings', embedding)).status).toBe(200);
  });

  test('an emulator has a clock that can be stopped, advanced and accelerated', () => {
    const { clock } = createEmulator();

    clock.hold();
    const before = clock.now();
    clock.advance(1000);

    expect(clock.now()).toBe(before + 1000);
    clock.speed = 1000;
    clock.release();
    expect(clock.now()).toBeGreaterThanOrEqual(before + 1000);
    clock.reset();
    expect(Math.abs(clock.now() - Date.now())).toBeLessThan(1_000);
  });

  test('returns a prepared response once', async () => {
    const { emulator, post } = newClient();
    emulator.respondOnce('embeddings.create', ({ operation }) => new Response(operation));

    const [first, second] = [
      await post('/v1/embeddings', embedding),
      await post('/v1/embeddings', embedding),
    ];

    expect(await first.text()).toBe('embeddings.create');
    expect(second.headers.get('content-type')).toBe('application/json');
    expect(emulator.charges).toHaveLength(1);
  });

  test('an emulator can be inspected and controlled over HTTP', async () => {
    const { emulator, post, get, ask } = newClient();
    const fault = { type: 'html', status: 502 };

    await ask('/__emulator/faults', { operation: 'embeddings.create', times: 1, fault });
    await ask('/__emulator/clock', { hold: true, advance: 1000 });
    await ask('/__emulator/quirks', { embeddingOrder: 'reversed' });

    expect((await post('/v1/embeddings', embedding)).status).toBe(502);
    expect(emulator.clock.held).toBe(true);
    await post('/v1/embeddings', embedding);
    const charges = await get('/__emulator/charges');
    expect(await charges.json()).toMatchObject([{ operation: 'embeddings.create' }]);
    expect(emulator.quirks.embeddingOrder).toBe('reversed');
    expect(emulator.requests).toHaveLength(2);
  });
});

describe('its HTTP control', () => {
  test('the HTTP control requires the key', async () => {
    const { emulator, post, get } = newClient();
    await post('/v1/embeddings', embedding);

    for (const authorization of ['', 'Bearer sk-wrong']) {
      const refused = await get('/__emulator/charges', { authorization });
      const reset = await post('/__emulator/reset', {}, { headers: { authorization } });

      expect([refused.status, reset.status]).toEqual([401, 401]);
    }
    expect(emulator.charges).toHaveLength(1);
    expect((await post('/__emulator/reset', {})).status).toBe(200);
    expect(emulator.charges).toEqual([]);
  });

  test.each([
    { origin: 'https://evil.test', status: 403, isReadable: false },
    { origin: 'null', status: 403, isReadable: false },
    { origin: 'http://localhost.evil.test', status: 403, isReadable: false },
    { origin: 'http://localhost:5173', status: 200, isReadable: true },
    { origin: 'http://emulator.test', status: 200, isReadable: true },
  ])(
    'a page of $origin receives $status from the HTTP control, readable: $isReadable',
    async ({ origin, status, isReadable }) => {
      const { emulator, get } = newClient();
      const url = `${emulator.baseURL}/__emulator/reset`;

      const preflight = await emulator.fetch(url, { method: 'OPTIONS', headers: { origin } });
      const answer = await get('/__emulator/charges', { origin });

      expect(answer.status).toBe(status);
      for (const { headers } of [preflight, answer]) {
        expect(headers.has('access-control-allow-origin')).toBe(isReadable);
      }
      expect(emulator.preflights).toEqual([]);
    },
  );
});

describe('its fetch', () => {
  test('rejects with the reason of a signal, before and during the exchange', async () => {
    const { emulator, post } = newClient({ quirks: { eventDelay: 1 } });
    const reason = new Error('enough');

    const early = post('/v1/embeddings', embedding, { signal: AbortSignal.abort(reason) });
    await expect(early).rejects.toBe(reason);
    expect(emulator.requests).toEqual([]);

    const late = new AbortController();
    const body = { model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi' }] };
    const response = await post('/v1/chat/completions', body, { signal: late.signal });
    const text = response.text();
    late.abort(reason);
    await expect(text).rejects.toBe(reason);
    expect(emulator.requests[0]?.disconnected).toBe(true);
  });

  test.each([
    { status: 307, method: 'POST', body: { kind: 'json', value: embedding } },
    { status: 303, method: 'GET', body: { kind: 'none' } },
  ] as const)('follows a $status with $method', async ({ status, method, body }) => {
    const { emulator, post } = newClient();
    const location = '/v1/models';
    emulator.fail({ fault: { type: 'redirect', status, location } });

    const response = await post('/v1/embeddings', embedding);

    expect([response.url, response.redirected]).toEqual(['http://emulator.test/v1/models', true]);
    expect(emulator.requests[1]).toMatchObject({ path: location, method, hasKey: true, body });
  });

  test('fails after too many redirects', async () => {
    const { emulator, post } = newClient();
    const fault = { type: 'redirect', status: 307, location: '/v1/embeddings' } as const;
    emulator.fail({ fault, times: Infinity });

    await expect(post('/v1/embeddings', embedding)).rejects.toThrow('fetch failed');
    expect(emulator.requests).toHaveLength(21);
  });

  test('accepts a Request too', async () => {
    const { emulator } = newClient();
    const headers = { authorization: 'Bearer sk-emulator' };

    const response = await emulator.fetch(
      new Request(`${emulator.baseURL}/v1/models`, { headers }),
    );

    expect(response.status).toBe(200);
  });
});

describe('authentication', () => {
  test.each(['Bearer sk-emulator', 'bearer sk-emulator', 'Bearer emulator', 'sk-emulator'])(
    'accepts "%s"',
    async (authorization) => {
      const { emulator } = newClient();

      const response = await emulator.fetch('/v1/models', { headers: { authorization } });

      expect(response.status).toBe(200);
    },
  );

  test.each([{}, { authorization: 'Bearer sk-wrong' }, { authorization: 'Bearer ' }])(
    "rejects %j with the gateway's message",
    async (headers) => {
      const { emulator } = newClient();

      const response = await emulator.fetch('/v1/models', { headers: { ...headers } });

      expect(response.status).toBe(401);
      const id = response.headers.get('x-oneapi-request-id');
      expect(id).toMatch(/^\d{17}\w{16}$/);
      expect(await response.json()).toEqual({
        error: {
          message: expect.stringContaining(`(request id: ${id})`),
          type: 'new_api_error',
          code: '',
        },
      });
    },
  );

  test('a key in another header takes precedence over the bearer token', async () => {
    const { get, post } = newClient();
    const body = { contents: [{ parts: [{ text: 'x' }] }] };

    const list = await get('/v1/models', { 'x-api-key': 'sk-wrong' });
    const generated = await post('/v1beta/models/m-flash:generateContent?key=sk-wrong', body);

    expect([list.status, generated.status]).toEqual([401, 401]);
  });
});

describe('routing', () => {
  test.each(Object.entries(endpoints))('%s has a route', async (operation, { method, path }) => {
    const { emulator } = newClient();
    const filled = path.replace('{vendor_prefix}', 'kling').replaceAll(/\{\w+\}/g, 'some%20id');

    await emulator.fetch(filled, { method });

    expect(emulator.requests[0]?.operation).toBe(operation);
  });

  test("returns the console's page for a path outside of the API, for every method", async () => {
    const { emulator, get, post } = newClient();

    const answers = [
      await get('/models'),
      await post('//v1/videos', {}),
      await get('/klng/v1/videos/text2video/x'),
    ];

    for (const answer of answers) {
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toMatch('text/html');
      expect(await answer.text()).toMatch(/^<!doctype html>/);
    }
    expect(emulator.charges).toEqual([]);
  });

  test('an unknown path or a wrong method below /v1 is a 404 in JSON', async () => {
    const { get, post } = newClient();

    const answers = [await post('/v1/v1/chat/completions', {}), await get('/v1/chat/completions')];

    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
    expect(await answers[0]?.json()).toEqual({
      error: {
        message: 'Invalid URL (POST /v1/v1/chat/completions)',
        type: 'invalid_request_error',
        param: '',
        code: '',
      },
    });
  });

  test('routes that exist elsewhere are not implemented', async () => {
    const { get } = newClient();

    const response = await get('/v1/files/x');

    expect(response.status).toBe(501);
    expect(await response.json()).toMatchObject({ error: { code: 'api_not_implemented' } });
  });

  test.each([true, false])(
    'a preflight has the headers of other responses: %s',
    async (isShown) => {
      const { emulator } = newClient({ quirks: { requestIdHeader: isShown } });

      const { headers } = await emulator.fetch('/v1/chat/completions', { method: 'OPTIONS' });

      expect(headers.has('x-oneapi-request-id')).toBe(isShown);
      expect(headers.get('x-new-api-version')).toBe('emulator');
      expect(headers.get('access-control-allow-credentials')).toBe('true');
    },
  );

  test('a preflight is allowed for every origin and recorded', async () => {
    const { emulator } = newClient();

    const response = await emulator.fetch('/v1/chat/completions', {
      method: 'OPTIONS',
      headers: {
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,Content-Type',
      },
    });

    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-allow-headers')).toContain('authorization');
    expect(emulator.preflights).toMatchObject([
      { method: 'POST', headers: ['authorization', 'content-type'] },
    ]);
    expect(emulator.requests).toEqual([]);
  });
});

describe('bodies', () => {
  test('JSON under another content type is not read', async () => {
    const { emulator, post } = newClient();

    const response = await post('/v1/embeddings', embedding, {
      headers: { authorization: 'Bearer sk-emulator', 'content-type': 'text/plain;charset=UTF-8' },
    });

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringContaining('Model name not specified') },
    });
    expect(emulator.requests[0]?.body.kind).toBe('unread');
  });

  test('invalid JSON is rejected', async () => {
    const { post } = newClient();

    expect((await post('/v1/embeddings', {}, { body: '{' })).status).toBe(400);
  });

  test('returns 503 for an unknown model, and 500 for a filtered word', async () => {
    const { post } = newClient();

    const unknown = await post('/v1/embeddings', { ...embedding, model: missingModel });
    const stopped = await post('/v1/embeddings', { ...embedding, input: 'x [sensitive]' });

    expect(unknown.status).toBe(503);
    expect(await unknown.json()).toMatchObject({ error: { code: 'model_not_found' } });
    expect(stopped.status).toBe(500);
    expect(await stopped.json()).toMatchObject({ error: { code: 'sensitive_words_detected' } });
  });

  test('an old build rejects with 500', async () => {
    const { post } = newClient({ quirks: { invalidRequestStatus: 500 } });

    const response = await post('/v1/chat/completions', { model: 'm-large', messages: 'x' });

    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ error: { code: 'invalid_request' } });
  });
});

describe('models', () => {
  const models: EmulatorModel[] = [{ id: 'mine', supported_endpoint_types: ['openai'] }];

  test('models are listed with their operations', async () => {
    const { get } = newClient({ models });

    expect(await (await get('/v1/models')).json()).toEqual({
      success: true,
      object: 'list',
      data: [
        {
          id: 'mine',
          object: 'model',
          created: 1626777600,
          owned_by: 'custom',
          supported_endpoint_types: ['openai'],
        },
      ],
    });
  });

  test('models that are not listed are rejected if the list is set', async () => {
    const { post } = newClient({ models });

    expect((await post('/v1/embeddings', embedding)).status).toBe(503);
  });

  test('models are listed in the other formats too', async () => {
    const { emulator, get } = newClient({ models });
    const list = async (): Promise<unknown> => (await get('/v1/models')).json();

    emulator.quirks.modelList = 'gemini';
    expect(await list()).toMatchObject({ models: [{ name: 'mine' }], nextPageToken: null });
    emulator.quirks.modelList = 'anthropic';
    expect(await list()).toMatchObject({ data: [{ id: 'mine', type: 'model' }], has_more: false });
    emulator.quirks.modelList = 'failure';
    expect(await list()).toEqual({ success: false, message: 'get user group failed' });
  });

  test('models can be retrieved', async () => {
    const { get } = newClient({ models });

    const [found, missing] = [await get('/v1/models/mine'), await get('/v1/models/other')];

    expect(await found.json()).toMatchObject({ id: 'mine' });
    expect(missing.status).toBe(200);
    expect(await missing.json()).toMatchObject({ error: { code: 'model_not_found' } });
  });
});
