import { APICallError, embed, embedMany } from 'ai';
import { expect, test } from 'vitest';
import { UnexpectedResponseError } from '../../../src/index.ts';
import { failureOf, json } from '../../helpers/clients.ts';
import { emulatedProvider, scriptedProvider } from './support.ts';

const model = 'm-embedding';

test('one text becomes one vector', async () => {
  const { provider, emulator } = emulatedProvider();

  const result = await embed({
    model: provider.embeddingModel(model),
    value: 'a cat',
    providerOptions: { modelGateway: { user: 'me' } },
  });

  expect(result.embedding).toHaveLength(256);
  expect(result).toMatchObject({ usage: { tokens: 2 }, warnings: [] });
  const value = { model, input: ['a cat'], user: 'me' };
  expect(emulator.requests[0]?.body).toMatchObject({ value });
});

test("many texts become as many vectors, in requests of the model's size", async () => {
  const { provider, emulator } = emulatedProvider();
  const values = ['a', 'b', 'c', 'd', 'e'];
  const small = provider.embeddingModel(model, { maxEmbeddingsPerCall: 2 });

  const { embeddings } = await embedMany({ model: small, values });
  const whole = await embedMany({ model: provider.embeddingModel(model), values });

  expect(embeddings).toEqual(whole.embeddings);
  expect(emulator.charges).toHaveLength(4);
  expect(small).toMatchObject({ supportsParallelCalls: true });
  expect(provider.embeddingModel(model).maxEmbeddingsPerCall).toBe(100);
});

test('dimensions set the length of the vectors', async () => {
  const { provider } = emulatedProvider();

  const { embeddings } = await provider
    .embeddingModel(model)
    .doEmbed({ values: ['a'], dimensions: 8 });

  expect(embeddings[0]).toHaveLength(8);
});

test('more texts than the limit of a request are rejected before anything is sent', async () => {
  const { provider, emulator } = emulatedProvider();
  const small = provider.embeddingModel(model, { maxEmbeddingsPerCall: 2 });

  const error = await failureOf(small.doEmbed({ values: ['a', 'b', 'c'] }));

  expect(error).toMatchObject({ name: 'AI_TooManyEmbeddingValuesForCallError' });
  expect(emulator.requests).toEqual([]);
});

test('vectors that cannot be matched to their texts are an error with the response', async () => {
  const data = [{ object: 'embedding', index: 1, embedding: [1, 2] }];
  const { provider, requests } = scriptedProvider([json({ object: 'list', data })]);

  const error = await failureOf(
    embedMany({ model: provider.embeddingModel(model), values: ['a', 'b'] }),
  );

  expect(APICallError.isInstance(error)).toBe(true);
  expect(Object(error).message).toMatch(/^The gateway sent 1 vectors for 2 texts/);
  expect(UnexpectedResponseError.isInstance(Object(error).cause)).toBe(true);
  expect(Object(error).cause.data.data).toMatchObject(data);
  expect(requests).toHaveLength(1);
});
