import { describe, expect, test } from 'vitest';
import {
  APIError,
  type Gateway,
  InvalidInputError,
  NotFoundError,
  UnexpectedResponseError,
} from '../../../src/index.ts';
import { ModelsPage } from '../../../src/resources/models/formats.ts';
import { emulated, failureOf, json, scripted } from '../../helpers/clients.ts';
import { intercepted } from '../../helpers/intercepted.ts';

describe('models.list()', () => {
  test('resolves to the whole list', async () => {
    const { client, emulator } = emulated();

    const page = await client.models.list();

    expect(page).toBeInstanceOf(ModelsPage);
    expect(page.object).toBe('list');
    expect(page.data.map(({ id }) => id)).toEqual(emulator.models.map(({ id }) => id));
    expect(page.data[0]).toEqual({
      id: 'm-large',
      object: 'model',
      created: 1626777600,
      owned_by: 'openai',
      supported_endpoint_types: [],
      type: 'text',
    });
    expect(page).toHaveProperty('_request_id', emulator.requests[0]?.id);
  });

  test("keeps OpenRouter's metadata, in any format", async () => {
    const known = {
      context_length: 200_000,
      pricing: { prompt: '0.000003', completion: '0.000015' },
      architecture: { input_modalities: ['text', 'image'], output_modalities: ['text'] },
      supported_parameters: ['tools', 'temperature'],
    };
    const other = { context_length: null, pricing: [{ price: 1 }], supported_parameters: 'all' };
    const { client, drifts } = scripted([
      json({
        data: [
          { id: 'a', ...known },
          { id: 'b', ...other },
        ],
      }),
    ]);

    const { data } = await client.models.list();

    expect(data).toMatchObject([known, other]);
    expect(drifts).toEqual([]);
  });

  test('yields one model after the other, with one request', async () => {
    const { client, emulator } = emulated();
    const ids: string[] = [];

    for await (const model of client.models.list()) ids.push(model.id);

    expect(ids).toEqual(emulator.models.map(({ id }) => id));
    expect(emulator.requests).toHaveLength(1);
  });

  test("resolves to a page like openai's", async () => {
    const { client } = emulated();
    const page = await client.models.list();
    const models: unknown[] = [];
    const pages: unknown[] = [];

    for await (const model of page) models.push(model);
    for await (const each of page.iterPages()) pages.push(each);

    expect(page.getPaginatedItems()).toBe(page.data);
    expect(models).toEqual(page.data);
    expect(pages).toEqual([page]);
    expect(page.hasNextPage()).toBe(false);
    await expect(page.getNextPage()).rejects.toThrow('hasNextPage()');
  });

  test('returns the raw response', async () => {
    const { client, emulator } = emulated();

    const { data, response, request_id: requestId } = await client.models.list().withResponse();
    const raw = await client.models.list().asResponse();

    expect(data).toBeInstanceOf(ModelsPage);
    expect(response.status).toBe(200);
    expect(requestId).toBe(emulator.requests[0]?.id);
    expect(await raw.json()).toMatchObject({ success: true });
  });

  test('sends one credential and no body', async () => {
    const { client, emulator } = emulated();

    await client.models.list();

    expect(emulator.requests[0]).toMatchObject({
      method: 'GET',
      path: '/v1/models',
      query: {},
      hasKey: true,
      body: { kind: 'none' },
    });
  });

  test('is retried after a failure, because it is free', async () => {
    const { client, emulator } = emulated();
    emulator.fail({ fault: { type: 'html', status: 502 } });

    await expect(client.models.list()).resolves.toBeInstanceOf(ModelsPage);

    expect(emulator.requests).toHaveLength(2);
  });
});

describe('the format of the list', () => {
  test('keeps success, unknown and missing fields', async () => {
    const wire = {
      success: true,
      data: [
        { id: 'k-video', supported_endpoint_types: null, type: 'video', price: 3 },
        { id: 'late', created: '1626777600', owned_by: null },
      ],
      extra: { kept: true },
    };
    const { client, drifts } = scripted([json(wire)]);

    const page = await client.models.list();

    expect(page).toEqual({
      success: true,
      object: 'list',
      extra: { kept: true },
      data: [
        {
          id: 'k-video',
          object: 'model',
          created: 0,
          owned_by: '',
          supported_endpoint_types: [],
          type: 'video',
          price: 3,
        },
        {
          id: 'late',
          object: 'model',
          created: 1626777600,
          owned_by: '',
          supported_endpoint_types: [],
        },
      ],
    });
    expect(drifts).toEqual([]);
  });

  test("Gemini's list becomes OpenAI's", async () => {
    const { client, emulator } = emulated({}, { quirks: { modelList: 'gemini' } });

    const page = await client.models.list();

    expect(page.object).toBe('list');
    expect(page.data.map(({ id }) => id)).toEqual(emulator.models.map(({ id }) => id));
    expect(page.data[0]).toMatchObject({
      object: 'model',
      created: 0,
      owned_by: '',
      supported_endpoint_types: [],
      displayName: 'm-large',
    });
    expect(page).not.toHaveProperty('models');
  });

  test("drops the prefix of Google's model names", async () => {
    const { client } = scripted([json({ models: [{ name: 'models/gemini-pro' }] })]);
    const page = await client.models.list();
    expect(page.data[0]?.id).toBe('gemini-pro');
  });

  test.each<[string, object]>([
    ['null', { data: null }],
    ['an empty list', { object: 'list', data: [] }],
    ['nothing', {}],
  ])("Gemini's list is read next to data that is %s", async (_, more) => {
    const wire = {
      ...more,
      models: [
        {
          name: 'models/gemini-2.5-flash',
          version: '001',
          displayName: 'Gemini 2.5 Flash',
          inputTokenLimit: 1_048_576,
          supportedGenerationMethods: ['generateContent'],
        },
        { name: 'publishers/google/models/veo-3' },
      ],
      nextPageToken: 'next',
    };
    const { client } = scripted([json(wire)], { validation: 'strict' });

    const page = await client.models.list();

    expect(page.data.map(({ id }) => id)).toEqual(['gemini-2.5-flash', 'veo-3']);
    expect(page).toHaveProperty('nextPageToken', 'next');
    expect(page).not.toHaveProperty('models');
  });

  test.each([
    {
      vendor: 'Workers AI',
      wire: { success: true, errors: [], result: [{ id: '7912', name: '@cf/meta/llama-3.1-8b' }] },
      id: '@cf/meta/llama-3.1-8b',
    },
    { vendor: 'Databricks', wire: { endpoints: [{ name: 'dbrx' }] }, id: 'dbrx' },
  ])("the list of $vendor becomes OpenAI's", async ({ wire, id }) => {
    const { client } = scripted([json(wire)]);

    const page = await client.models.list();

    expect(page.object).toBe('list');
    expect(page.data.map((model) => model.id)).toEqual([id]);
  });

  test("Together's bare array becomes OpenAI's list", async () => {
    const wire = [
      { id: 'a/b', object: 'model', created: 7, type: 'chat', pricing: { input: 1 } },
      { id: 'c/d', object: 'model', created: 0, type: 'image' },
    ];
    const { client, drifts } = scripted([json(wire)], { validation: 'strict' });

    const page = await client.models.list();

    expect(page.object).toBe('list');
    expect(page.data).toMatchObject(wire);
    expect(page.data[0]).toMatchObject({ owned_by: '', supported_endpoint_types: [] });
    expect(drifts).toEqual([]);
  });

  test.each([[[{ id: 'a' }]], [[{ name: 'models/a' }]]])(
    '%j is a list with one model',
    async (wire) => {
      const { client } = scripted([json(wire)]);
      const { data } = await client.models.list();
      expect(data).toMatchObject([{ id: 'a', object: 'model' }]);
    },
  );

  test.each([
    [[{ error: { message: 'No key.', code: 'x' } }], 'No key.'],
    [['nothing of a model'], 'no model'],
    [[{}], 'no model'],
  ])('%j is not a list of models', async (wire, message) => {
    const { client } = scripted([json(wire)], { maxRetries: 0 });
    expect(String(await failureOf(client.models.list()))).toContain(message);
  });

  test("Anthropic's list becomes OpenAI's", async () => {
    const wire = {
      data: [
        { id: 'claude', created_at: '2025-02-19T00:00:00Z', display_name: 'C', type: 'model' },
      ],
      first_id: 'claude',
      has_more: false,
      last_id: 'claude',
    };
    const { client } = scripted([json(wire)]);

    const page = await client.models.list();

    expect(page.data).toMatchObject([{ id: 'claude', object: 'model', created: 1_739_923_200 }]);
    expect(page).toMatchObject({ object: 'list', first_id: 'claude' });
  });

  test('an emulated list in the form of Anthropic has every id', async () => {
    const { client, emulator } = emulated({}, { quirks: { modelList: 'anthropic' } });
    const { data } = await client.models.list();
    expect(data.map(({ id }) => id)).toEqual(emulator.models.map(({ id }) => id));
  });

  test.each([[{ data: [] }], [{ data: null, object: 'list' }], [{ models: [] }]])(
    '%j is an empty list',
    async (wire) => {
      const { client } = scripted([json(wire)]);
      const { data } = await client.models.list();
      expect(data).toEqual([]);
    },
  );
});

describe('failures of models.list()', () => {
  test('success: false with status 200 rejects with the message', async () => {
    const { client, emulator } = emulated({}, { quirks: { modelList: 'failure' } });

    const error = await failureOf(client.models.list());

    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ status: 200, outcome: 'rejected' });
    expect(String(error)).toMatch(/group/);
    expect(emulator.requests).toHaveLength(1);
  });

  test('an HTML page with status 200 points at baseURL', async () => {
    const { client } = scripted([() => new Response('<!doctype html><title>Console</title>')], {
      maxRetries: 0,
    });

    const error = await failureOf(client.models.list());

    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(String(error)).toContain('baseURL');
  });

  test('a failure rejects the iteration too', async () => {
    const { client } = scripted([json({ error: { message: 'no such key' } }, 401)]);
    const iterate = async (): Promise<void> => {
      for await (const model of client.models.list()) expect(model).toBeUndefined();
    };
    await expect(iterate()).rejects.toMatchObject({ status: 401 });
  });
});

/** JSON that a gateway sends with status 200 although it lacks what was requested. */
const unrelated = { greeting: 'Hello from the proxy', version: '1.0' };

test.each<[string, (client: Gateway) => PromiseLike<unknown>]>([
  ['models.list()', (client) => client.models.list()],
  ['models.retrieve()', (client) => client.models.retrieve('x')],
])('%s is repeated once if the response lacks the result', async (_, read) => {
  const { client, requests } = scripted([json(unrelated)]);
  const single = scripted([json(unrelated)], { maxRetries: 0 });

  expect(await failureOf(read(client))).toBeInstanceOf(UnexpectedResponseError);
  expect(await failureOf(read(single.client))).toBeInstanceOf(UnexpectedResponseError);
  expect(requests).toHaveLength(2);
  expect(single.requests).toHaveLength(1);
});

test('the list that follows a response without one is returned', async () => {
  const { client, requests } = scripted([json(unrelated), json({ data: [{ id: 'x' }] })]);

  expect(await client.models.list()).toMatchObject({ data: [{ id: 'x' }] });
  expect(requests).toHaveLength(2);
});

test('a paid call is requested once if the response lacks the result', async () => {
  const { client, requests } = scripted([json(unrelated)]);

  const call = client.embeddings.create({ model: 'm', input: 'Hello' });
  expect(await failureOf(call)).toBeInstanceOf(UnexpectedResponseError);
  expect(requests).toHaveLength(1);
});

test('a model as data is the model', async () => {
  const { client } = scripted([json({ success: true, data: { id: 'x', owned_by: 'me' } })]);

  expect(await client.models.retrieve('x')).toMatchObject({ id: 'x', owned_by: 'me' });
});

describe("with the runtime's fetch", () => {
  const { client, emulator } = intercepted();

  test('the list is complete', async () => {
    const { data } = await client.models.list();
    expect(data).toHaveLength(emulator.models.length);
  });
});

test('fields of a list replace no method or prototype of the page', async () => {
  const text =
    '{"__proto__":{"polluted":1},"hasNextPage":1,"constructor":1,"more":2,"data":[{"id":"__proto__","__proto__":{"id":"x"}}]}';
  const { client } = scripted([() => new Response(text)]);

  const page = await client.models.list();

  expect(page).toBeInstanceOf(ModelsPage);
  expect(page).not.toHaveProperty('polluted');
  expect(page.hasNextPage()).toBe(false);
  expect(page).toHaveProperty('more', 2);
  expect(page.data.map(({ id }) => id)).toEqual(['__proto__']);
  expect(Object.prototype).not.toHaveProperty('polluted');
});

describe('models.retrieve()', () => {
  test('returns one model', async () => {
    const { client, emulator } = emulated();

    const model = await client.models.retrieve('m-large');

    expect(model).toMatchObject({ id: 'm-large', object: 'model', supported_endpoint_types: [] });
    expect(model).toHaveProperty('_request_id', emulator.requests[0]?.id);
    expect(emulator.requests).toMatchObject([{ operation: 'models.retrieve' }]);
    expect(emulator.charges).toEqual([]);
  });

  test('a model with a slash in its name is one segment', async () => {
    const { client, requests } = scripted([json({ id: 'meta/llama' })]);

    await client.models.retrieve('meta/llama');

    expect(requests[0]?.url).toBe('https://gateway.test/v1/models/meta%2Fllama');
  });

  test.each([
    {
      name: 'Gemini',
      body: { name: 'models/gemini-2.5-flash' },
      expected: { id: 'gemini-2.5-flash', created: 0 },
    },
    {
      name: 'Anthropic',
      body: { id: 'c', created_at: '2025-01-01T00:00:00Z' },
      expected: { created: 1_735_689_600 },
    },
  ])("is read in $name's format", async ({ body, expected }) => {
    const { client } = scripted([json(body)]);

    expect(await client.models.retrieve('x')).toMatchObject(expected);
  });

  test('an unknown model is a NotFoundError, also with status 200', async () => {
    const { client } = emulated();
    const missing = { error: { message: "The model 'x' does not exist", code: 'model_not_found' } };
    const plain = scripted([json(missing, 404)]);

    for (const promise of [client.models.retrieve('nope'), plain.client.models.retrieve('x')]) {
      const failure = await failureOf(promise);

      expect(failure).toBeInstanceOf(NotFoundError);
      expect(failure).toMatchObject({ code: 'model_not_found', outcome: 'rejected' });
      expect(failure).toHaveProperty('message', expect.stringContaining('models.list()'));
    }
  });

  test.each([
    { detail: 'Not Found' },
    { message: '404 page not found' },
    { error: 'Cannot GET /v1/models/x' },
    { error: { message: 'Invalid URL (GET /v1/models/x)', type: 'invalid_request_error' } },
  ])('a missing route (%j) proves nothing about the model', async (body) => {
    const { client } = scripted([json(body, 404)]);

    expect(await failureOf(client.models.retrieve('x'))).toMatchObject({
      name: 'NotFoundError',
      advice: expect.stringMatching(/no route for a single model, which proves nothing/),
    });
  });

  test('rejects an empty name, and responses that are not a model', async () => {
    const { client, requests } = scripted([json({ data: [] })]);

    expect(await failureOf(client.models.retrieve(' '))).toBeInstanceOf(InvalidInputError);
    expect(requests).toHaveLength(0);
    expect(await failureOf(client.models.retrieve('x'))).toBeInstanceOf(UnexpectedResponseError);
  });
});

test('a list is a single page', async () => {
  const { client } = emulated();
  const pages = [];

  for await (const page of (await client.models.list()).iterPages()) pages.push(page);

  expect(pages.map(({ data }) => data.length)).toEqual([8]);
  expect(pages[0]?.hasNextPage()).toBe(false);
});
