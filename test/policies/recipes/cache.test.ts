import * as z from 'zod';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  ChatWithRuns,
  createGateway,
  Embeddings,
  Generate,
  Images,
  Videos,
  withFallback,
} from '../../../src/core.ts';
import { type GatewayOptions, type RequestOptions, tool } from '../../../src/index.ts';
import { createEmulator } from '../../../src/testing/index.ts';
import { failureOf } from '../../helpers/clients.ts';
import { failFirst, requestedModels } from '../../helpers/requested-models.ts';
import { root } from '../../helpers/run-program.ts';
import { answers, cache } from './cache.ts';

const find = tool({
  name: 'find',
  description: 'Finds a city.',
  schema: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, found: true }),
});
const params = { model: 'm-chat', messages: [{ role: 'user' as const, content: 'Hello!' }] };
const resources = {
  chat: ChatWithRuns,
  embeddings: Embeddings,
  generate: Generate,
  images: Images,
  videos: Videos,
};

function connect(own: GatewayOptions = {}) {
  const emulator = createEmulator();
  const { apiKey, baseURL, fetch } = emulator;
  const options: GatewayOptions = {
    apiKey,
    baseURL,
    fetch,
    maxRetries: 0,
    logLevel: 'off',
    ...own,
  };
  const client = createGateway(options, resources, [cache, withFallback()]);
  const { completions } = client.chat;
  return { client, completions, emulator };
}

/** A client that has sent a call. */
async function connectAndSend(own: GatewayOptions = {}) {
  const { fetch, apiKey } = createEmulator();
  const sent = vi.fn(fetch);
  const { client, completions } = connect({ apiKey, ...own, fetch: sent });
  await completions.create(params);
  expect(sent).toHaveBeenCalledTimes(1);
  return { client, completions, sent };
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

describe('the recipe for a cache', () => {
  test('answers a repeated call from memory for a minute, with its response', async () => {
    const { completions, emulator } = connect();
    const first = await completions.create(params).withResponse();

    const second = await completions.create(params).withResponse();
    const raw = await completions.create(params).asResponse();

    expect(second.data).toEqual(first.data);
    expect(second.data).not.toBe(first.data);
    expect(second.request_id).toBe(first.request_id);
    expect(second.response.status).toBe(200);
    await expect(raw.json()).resolves.toHaveProperty('id', first.data.id);
    expect(emulator.charges).toHaveLength(1);
    vi.advanceTimersByTime(60_000);
    await completions.create(params);
    expect(emulator.charges).toHaveLength(2);
  });

  test('stores a response that is parsed after asResponse()', async () => {
    const { completions, emulator } = connect();
    const call = completions.create(params);
    await call.asResponse();
    const first = await call;

    const second = await completions.create(params);

    expect(second).toEqual(first);
    expect(emulator.charges).toHaveLength(1);
  });

  test('leaves a raw response to the caller, who may read or cancel it', async () => {
    const { completions, emulator } = connect();
    const read = await completions.create(params).asResponse();
    await expect(read.json()).resolves.toHaveProperty('choices');

    const cancelled = await completions.create(params).asResponse();
    await cancelled.body?.cancel();

    expect(emulator.charges).toHaveLength(2);
    await completions.create(params);
    const stored = await completions.create(params).asResponse();
    await stored.body?.cancel();
    await completions.create(params);
    expect(emulator.charges).toHaveLength(3);
  });

  test.for<{ what: string; make: (client: ReturnType<typeof connect>['client']) => unknown }>([
    {
      what: 'embeddings',
      make: ({ embeddings }) => embeddings.create({ model: 'm-embed', input: 'A boat' }),
    },
    {
      what: 'content',
      make: ({ generate }) => generate.content({ model: 'm-chat', contents: 'Hello!' }),
    },
  ])('stores $what', async ({ make }) => {
    const { client, emulator } = connect();

    const first = await make(client);
    const second = await make(client);

    expect(second).toEqual(first);
    expect(emulator.charges).toHaveLength(1);
  });

  test('stores neither images nor videos, each of which is another one', async () => {
    const { client, emulator } = connect();
    const image = { model: 'm-image', prompt: 'A boat' };
    const video = { model: 'm-video', prompt: 'A boat' };

    for (const { images, videos } of [client, client]) {
      await images.generate(image);
      await videos.create(video);
    }

    expect(emulator.charges).toHaveLength(4);
  });

  test('stores neither other parameters, nor streams, nor errors', async () => {
    const { completions, emulator } = connect();
    emulator.fail({ fault: { type: 'error', status: 400 } });

    await failureOf(completions.create(params));
    await completions.create(params);
    await completions.create({ ...params, temperature: 1 });
    await completions.create(params, { extraBody: { temperature: 0 } });
    for await (const _ of await completions.create({ ...params, stream: true }));

    expect(emulator.charges).toHaveLength(4);
  });

  test('stores the answer of another model as that of the other model', async () => {
    const { completions, emulator } = connect();
    failFirst(emulator, { type: 'error', status: 429 });
    const fallback = ['model-b'];

    await completions.create({ ...params, model: 'model-a' }, { fallback });
    await completions.create({ ...params, model: 'model-a' }, { fallback });
    await completions.create({ ...params, model: 'model-b' });
    await failureOf(completions.create({ ...params, model: 'model-a' }));

    expect(requestedModels(emulator)).toEqual({
      requests: ['model-a', 'model-b', 'model-a', 'model-a'],
      charges: ['model-b'],
    });
  });

  test('answers the later turns of a run from memory, as those of the same model', async () => {
    const { client, emulator } = connect();
    failFirst(emulator, { type: 'error', status: 429 });
    const { completions } = client.chat;
    const run = () =>
      completions
        .runTools({ ...params, model: 'model-a', tools: [find] }, { fallback: ['model-b'] })
        .finalContent();

    const first = await run();
    const second = await run();

    expect(second).toBe(first);

    expect(requestedModels(emulator)).toEqual({
      requests: ['model-a', 'model-b', 'model-b', 'model-a'],
      charges: ['model-b', 'model-b'],
    });
  });

  test('stores the response to a repeated request, and not the one that was cut off', async () => {
    const { fetch, apiKey } = createEmulator();
    const type = { 'content-type': 'application/json' };
    const failing: (() => Response)[] = [
      () => new Response('{"id":', { headers: { 'retry-after-ms': '1', ...type } }),
    ];
    const { completions } = connect({
      maxRetries: 1,
      idempotency: { header: 'idempotency-key' },
      fetch: async (url, init) => failing.shift()?.() ?? fetch(url, init),
      apiKey,
    });

    const first = await completions.create(params);
    const second = await completions.create(params);

    expect(second).toEqual(first);
    expect(failing).toHaveLength(0);
  });

  test('the recipe for a cache does not wait for the end of an event stream that is sent instead of JSON', async () => {
    const chunk = { id: 'x', choices: [{ index: 0, delta: { content: 'Hi' } }] };
    const done = { id: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
    const data = [JSON.stringify(chunk), JSON.stringify(done), '[DONE]'];
    const fetch = vi.fn(() => {
      const body = new ReadableStream({
        start: (controller) =>
          controller.enqueue(
            new TextEncoder().encode(data.map((line) => `data: ${line}\n\n`).join('')),
          ),
      });
      const headers = { 'content-type': 'text/event-stream' };
      return Promise.resolve(new Response(body, { headers }));
    });
    const { completions } = connect({ fetch });

    await expect(completions.create(params)).resolves.toHaveProperty(
      'choices.0.message.content',
      'Hi',
    );
    await completions.create(params);

    expect(fetch).toHaveBeenCalledTimes(2);
  });

  test('deletes what is older than a minute', async () => {
    const { client, completions } = connect();
    await completions.create(params);
    await completions.create({ ...params, temperature: 1 });
    const stored = answers.get(client.transport().client);
    expect(stored?.size).toBe(2);
    vi.advanceTimersByTime(60_000);

    await completions.create({ ...params, temperature: 0 });

    expect(stored?.size).toBe(1);
  });

  test('reports parameters that cannot be sent like a client without it', async () => {
    const { completions } = connect();
    const messages = Object.assign([...params.messages], [{ role: 'user', content: 1n }]);

    const failed = await failureOf(completions.create({ ...params, messages }));

    expect(failed).toMatchObject({ name: 'InvalidInputError', field: 'messages[0].content' });
  });
});

describe('the answers of one tenant are not those of another', () => {
  test.for<{ what: string; own: GatewayOptions }>([
    { what: 'key', own: { apiKey: 'sk-other' } },
    { what: 'address', own: { baseURL: 'https://other.test' } },
    { what: 'header', own: { defaultHeaders: { 'x-tenant': 'other' } } },
    { what: 'query', own: { defaultQuery: { tenant: 'other' } } },
    { what: 'organization', own: { organization: 'other' } },
  ])(
    'the answers of one tenant are not those of a copy of the client with another $what',
    async ({ own }) => {
      const { client, sent } = await connectAndSend();

      await Promise.allSettled([client.withOptions(own).chat.completions.create(params)]);

      expect(sent).toHaveBeenCalledTimes(2);
    },
  );

  test('the answers of one tenant are not those of the client once it has another key', async () => {
    const { client, completions, sent } = await connectAndSend();

    client.apiKey = 'sk-other';
    await Promise.allSettled([completions.create(params)]);

    expect(sent).toHaveBeenCalledTimes(2);
  });

  test('the answers of one tenant are not those of a client whose function returns the key', async () => {
    const { apiKey } = createEmulator();
    const { completions, sent } = await connectAndSend({ apiKey: () => apiKey });

    await completions.create(params);

    expect(sent).toHaveBeenCalledTimes(2);
  });

  test.for<{ what: string; own: RequestOptions }>([
    { what: 'headers', own: { headers: { authorization: 'Bearer sk-other' } } },
    { what: 'query', own: { query: { tenant: 'other' } } },
    { what: 'fetchOptions', own: { fetchOptions: { credentials: 'include' } } },
  ])('the answers of one tenant are not those of a call with its own $what', async ({ own }) => {
    const { completions, sent } = await connectAndSend();

    await Promise.allSettled([completions.create(params, own)]);
    await completions.create(params);

    expect(sent).toHaveBeenCalledTimes(2);
  });
});

test('the recipe for a cache is the code in CONTRIBUTING.md, in at most 40 lines', () => {
  const code = readFileSync(join(root, 'test/policies/recipes/cache.ts'), 'utf8');
  const guide = readFileSync(join(root, 'docs/CONTRIBUTING.md'), 'utf8');
  const shown = code.slice(code.indexOf('type Stored')).trim();

  expect(guide).toContain(shown);
  expect(shown.split('\n').length).toBeLessThanOrEqual(40);
});
