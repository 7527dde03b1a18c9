// Models in steps of a durable engine, which stores a value by the methods of its class, as `@workflow/core` does.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText } from 'ai';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createModelGateway, modelGateway } from '../../../src/adapters/ai-sdk/index.ts';
import { Gateway, InvalidInputError, memoryLedger } from '../../../src/index.ts';
import { createEmulator } from '../../../src/testing/index.ts';

const serialize = Symbol.for('workflow-serialize');
const deserialize = Symbol.for('workflow-deserialize');

/** Stores a value as an engine does. */
function store(value: object): string {
  const method: unknown = Reflect.get(value.constructor, serialize);
  if (typeof method !== 'function') throw new Error('The class cannot be stored.');
  return JSON.stringify(Reflect.apply(method, value.constructor, [value]));
}

/** Reads it again, as another process does. */
function load<Model extends object>(original: Model, stored: string): Model {
  const method: unknown = Reflect.get(original.constructor, deserialize);
  if (typeof method !== 'function') throw new Error('The class cannot be restored.');
  return Reflect.apply(method, original.constructor, [JSON.parse(stored)]);
}

const apiKey = 'sk-secret-key-0123456789';
const baseURL = 'https://gateway.example.com';
const create = () => createModelGateway({ apiKey, baseURL, maxRetries: 1, timeout: 5000 });

afterEach(() => vi.unstubAllEnvs());

describe('a model in a durable step', () => {
  const provider = create();
  const models = {
    language: provider('m', { supportsStructuredOutputs: false }),
    embedding: provider.embeddingModel('m', { maxEmbeddingsPerCall: 10 }),
    image: provider.imageModel('m', { maxImagesPerCall: 2 }),
    video: provider.videoModel('m'),
  };

  test.each(Object.entries(models))(
    'a model in a durable step is stored without the key, and restored: %s',
    (_, model) => {
      const stored = store(model);
      expect(stored).toContain(baseURL);
      expect(stored).not.toContain(apiKey);

      const restored = load(model, stored);

      const { specificationVersion, provider: name, modelId } = restored;
      expect({ specificationVersion, provider: name, modelId }).toEqual({
        specificationVersion: model.specificationVersion,
        provider: model.provider,
        modelId: 'm',
      });
      expect(Object.keys(restored)).toEqual(Object.keys(model));
      expect(store(restored)).toBe(stored);
    },
  );

  test('a model in a durable step is stored by the names that models of openai-compatible have', () => {
    const theirs = createOpenAICompatible({ name: 'x', baseURL })('m').constructor;
    for (const name of [serialize, deserialize]) {
      expect(Reflect.get(theirs, name)).toBeTypeOf('function');
      expect(Reflect.get(models.language.constructor, name)).toBeTypeOf('function');
    }
  });

  test('a model in a durable step has the settings, and calls with the key of its process', async () => {
    const emulator = createEmulator();
    const server = await emulator.listen();
    onTestFinished(() => server.close());
    const model = createModelGateway({ apiKey, baseURL: server.url })('m-chat', {
      supportsStructuredOutputs: false,
    });
    const stored = store(model);
    expect(JSON.parse(stored)).toMatchObject({ settings: { supportsStructuredOutputs: false } });
    vi.stubEnv('GATEWAY_API_KEY', emulator.apiKey);

    const { text } = await generateText({ model: load(model, stored), prompt: 'Hello' });

    expect(text).not.toBe('');
    expect(emulator.charges).toHaveLength(1);
  });

  test('a model of the default provider is restored as one', () => {
    const model = modelGateway('m');
    expect(JSON.parse(store(model))).toEqual({
      kind: 'language',
      modelId: 'm',
      options: {},
      settings: {},
    });
    expect(store(load(model, store(model)))).toBe(store(model));
  });

  test('a model in a durable step keeps apiKey: null, which says that the gateway needs no key', () => {
    const model = createModelGateway({ apiKey: null, baseURL })('m');
    expect(JSON.parse(store(model))).toMatchObject({ options: { apiKey: null, baseURL } });
  });

  test.each([
    ['client', () => createModelGateway({ client: new Gateway({ apiKey, baseURL }) })('m')],
    ['fetch', () => createModelGateway({ apiKey, baseURL, fetch })('m')],
    ['headers', () => createModelGateway({ apiKey, baseURL, headers: { 'x-token': 't' } })('m')],
    ['defaultHeaders', () => createModelGateway({ apiKey, baseURL, defaultHeaders: {} })('m')],
    ['queryParams', () => createModelGateway({ apiKey, baseURL, queryParams: { a: 'b' } })('m')],
    ['transformRequestBody', () => create()('m', { transformRequestBody: (body) => body })],
    ['ledger', () => createModelGateway({ apiKey, baseURL, ledger: memoryLedger() }).video('m')],
  ])(
    'a model in a durable step cannot be stored with %s, which a step would not have',
    (field, make) => {
      const model = make();
      const storing = (): string => store(model);
      expect(storing).toThrow(InvalidInputError);
      expect(storing).toThrow(`${field}: cannot be stored for a durable step`);
    },
  );
});
