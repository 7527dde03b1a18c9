// The emulator as LiteLLM and as plain OpenAI. test/litellm runs the real proxy.
import { describe, expect, test } from 'vitest';
import type { Gateway } from '../../src/index.ts';
import { createEmulator } from '../../src/testing/index.ts';
import { collect, emulated } from '../helpers/clients.ts';
import { newClient, plainClient } from '../helpers/emulator-client.ts';
import { mediaHeads } from '../helpers/media.ts';

const chat = { model: 'm-large', messages: [{ role: 'user', content: 'Hello' }] };
const path = '/v1/chat/completions';
const unitsPerDollar = 500_000;

describe('an emulator of LiteLLM', () => {
  const gateway = 'litellm';

  test("uses the client's request id, and reports its cost in a header", async () => {
    const { post, emulator } = newClient({ gateway });
    const headers = {
      authorization: `Bearer ${emulator.apiKey}`,
      'content-type': 'application/json',
      'x-litellm-call-id': 'call_1-1',
    };

    const named = await post(path, chat, { headers });
    const unnamed = await post(path, chat);

    const [charge] = emulator.charges;
    expect(charge?.requestId).toBe('call_1-1');
    expect(named.headers.get('x-litellm-call-id')).toBe('call_1-1');
    expect(named.headers.get('x-litellm-response-cost')).toBe(
      String((charge?.amount ?? 0) / unitsPerDollar),
    );
    expect(unnamed.headers.get('x-litellm-call-id')).toMatch(/^call-\w{32}$/);
    expect(named.headers.has('x-oneapi-request-id')).toBe(false);
  });

  test('allows browsers to send the id of a call', async () => {
    const { emulator } = newClient({ gateway });

    const { headers } = await emulator.fetch(path, { method: 'OPTIONS' });

    const allowed = headers.get('access-control-allow-headers')?.split(', ');
    expect(allowed).toEqual(expect.arrayContaining(['authorization', 'x-litellm-call-id']));
  });

  test('takes the model of embeddings from the path of an engine', async () => {
    const { post, emulator } = newClient({ gateway });

    const response = await post('/engines/m-embedding/embeddings', { model: 'm-2', input: 'Hi' });

    expect(response.status).toBe(200);
    expect(emulator.charges).toMatchObject([{ model: 'm-embedding' }]);
  });

  const image = new File([mediaHeads.png], 'fox.png', { type: 'image/png' });
  const text = { contents: 'Hello' };
  const speech = { input: 'Good morning', voice: 'alloy' };
  const speak = async ({ audio }: Gateway, model: string) =>
    (await audio.speech.create({ model, ...speech })).arrayBuffer();
  test.each<[string, string, boolean, (client: Gateway, model: string) => PromiseLike<unknown>]>([
    [
      'embeddings',
      'm-1',
      true,
      ({ embeddings }, model) => embeddings.create({ model, input: 'x' }),
    ],
    ['images', 'm-1', true, ({ images }, model) => images.generate({ model, prompt: 'x' })],
    ['a generation', 'm-1', false, ({ generate }, model) => generate.content({ model, ...text })],
    ['a generation', 'gpt-4o', true, ({ generate }, model) => generate.content({ model, ...text })],
    ['speech', 'm-1', false, speak],
    ['speech', 'tts-1', true, speak],
    ['an edit', 'm-1', false, ({ images }, model) => images.edit({ model, prompt: 'x', image })],
    [
      'an edit',
      'gpt-image-1',
      true,
      ({ images }, model) => images.edit({ model, prompt: 'x', image }),
    ],
    ['a video', 'm-1', false, ({ videos }, model) => videos.create({ model, prompt: 'x' })],
    ['a video', 'sora-2', true, ({ videos }, model) => videos.create({ model, prompt: 'x' })],
  ])('reports the cost of %s of %s: %s', async (_, model, isReported, call) => {
    const { client, emulator } = emulated({ gateway }, { gateway });

    await call(client, model);

    const { lines } = await client.account.spent();
    expect(lines.map(({ reported }) => reported)).toEqual([isReported ? 1 : 0]);
    expect(emulator.charges).toHaveLength(1);
  });

  test.each([
    ['a model', '/v1/models/nope', 404, { detail: expect.stringContaining('`nope`') }],
    ['a video', '/v1/videos/nope', 500, { error: { type: 'internal_server_error', code: '500' } }],
    ['content', '/v1/videos/nope/content', 500, { error: { type: 'internal_server_error' } }],
  ])('rejects the id of %s that it does not know', async (_, url, status, body) => {
    const { get } = newClient({ gateway });

    const response = await get(url);

    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject(body);
  });

  test('rejects an unknown model of speech, and a request without a key', async () => {
    const { post, emulator } = newClient({ gateway });

    const model = 'missing-model';
    const unknown = await post('/v1/audio/speech', { ...speech, model });
    const keyless = await emulator.fetch(path, { method: 'POST', body: '{}' });

    expect(unknown.status).toBe(400);
    expect(await unknown.json()).toEqual({ detail: { error: expect.stringContaining(model) } });
    expect(keyless.status).toBe(401);
    expect(await keyless.json()).toMatchObject({ error: { type: 'auth_error', code: '401' } });
  });

  test('reports the cost of a stream in its last chunk', async () => {
    const { client, emulator } = emulated({ gateway }, { gateway });
    const { post } = plainClient(emulator);
    const stream = await client.chat.completions.create({
      model: 'm-large',
      messages: [{ role: 'user', content: 'Hello' }],
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await collect(stream);
    const withoutUsage = { stream: true, stream_options: { include_usage: false } };
    const other = await post(path, { ...chat, ...withoutUsage });

    const cost = (emulator.charges[0]?.amount ?? 0) / unitsPerDollar;
    expect(cost).toBeGreaterThan(0);
    expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 4, cost });
    expect(chunks.filter(({ usage }) => usage != null)).toHaveLength(1);
    expect((await client.account.spent()).estimate.value).toBeCloseTo(cost, 12);
    expect(await other.text()).not.toContain('"cost"');
  });

  test('an emulator of LiteLLM has the charge in its log, after the delay of the log', async () => {
    const { get, post, emulator } = newClient({ gateway, quirks: { usageLogDelay: 5_000 } });
    emulator.clock.hold();
    const { headers } = await post(path, chat);
    const id = headers.get('x-litellm-call-id');

    const early = await get(`/spend/logs?request_id=${id}`);
    emulator.clock.advance(5_000);
    const late = await get(`/spend/logs?request_id=${id}`);

    expect(await early.json()).toEqual([]);
    expect(await late.json()).toMatchObject([
      { litellm_call_id: id, status: 'success', model_group: 'm-large', prompt_tokens: 4 },
    ]);
  });

  test('reports what the key has spent', async () => {
    const { get, post, emulator } = newClient({ gateway, credit: unitsPerDollar });
    await post(path, chat);

    const answer: unknown = await (await get('/key/info')).json();

    const spend = (emulator.charges[0]?.amount ?? 0) / unitsPerDollar;
    expect(answer).toMatchObject({ info: { spend, max_budget: 1 } });
  });

  test.each([
    {
      name: 'an unknown model',
      options: {},
      fields: { model: 'missing-model' },
      status: 400,
      type: 'invalid_request_error',
    },
    {
      name: 'a spent budget',
      options: { credit: 0 },
      fields: {},
      status: 422,
      type: 'budget_exceeded',
    },
  ])('rejects $name like the proxy', async ({ options, fields, status, type }) => {
    const { post } = newClient({ gateway, ...options });

    const response = await post(path, { ...chat, ...fields });

    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({
      error: { message: expect.any(String), type, param: null, code: String(status) },
    });
  });

  test('rejects an unknown key', async () => {
    const { fetch, baseURL } = createEmulator({ gateway });
    const response = await fetch(`${baseURL}/key/info`, { headers: { authorization: 'Bearer x' } });

    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({
      error: { type: 'token_not_found_in_db', code: '401' },
    });
  });

  test('an emulator of LiteLLM has no routes of other gateways', async () => {
    const { get, post } = newClient({ gateway });

    expect((await get('/api/pricing')).status).toBe(404);
    expect(await (await post('/v1/audio/translations', {})).json()).toEqual({
      detail: 'Not Found',
    });
  });
});

describe('an emulator of plain OpenAI', () => {
  const gateway = 'openai';

  test('serves only OpenAI’s routes, with its request ids', async () => {
    const { get, post } = newClient({ gateway });

    const answer = await post(path, chat);

    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/);
    for (const other of ['/api/pricing', '/v1/dashboard/billing/usage', '/v1beta/models']) {
      expect((await get(other)).status).toBe(404);
    }
  });

  test.each([
    {
      name: 'an unknown model',
      options: {},
      fields: { model: 'missing-model' },
      status: 404,
      code: 'model_not_found',
    },
    {
      name: 'a spent budget',
      options: { credit: 0 },
      fields: {},
      status: 429,
      code: 'insufficient_quota',
    },
  ])('rejects $name like OpenAI', async ({ options, fields, status, code }) => {
    const { post } = newClient({ gateway, ...options });

    const response = await post(path, { ...chat, ...fields });

    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code, param: null } });
  });
});
