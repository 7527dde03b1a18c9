import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { toFields } from '../../../src/answers/objects.ts';
import type { RequestOptions } from '../../../src/index.ts';
import { bodyOf, emulated, failureOf, json, scripted } from '../../helpers/clients.ts';

const model = 'm-embedding';
const usage = { prompt_tokens: 3, total_tokens: 3 };
const numbers = json({
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding: [0.5, -0.25] }],
  model,
  usage,
});
const refusal = json(
  {
    error: {
      message: "UnsupportedParamsError: cohere does not support parameters: ['encoding_format']",
      type: 'invalid_request_error',
      param: null,
      code: '400',
    },
  },
  400,
);

function slowRefusal(): Response {
  vi.advanceTimersByTime(900);
  return refusal();
}

const stuck = () => new Promise<Response>(() => undefined);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('embeddings.create() without encoding_format', () => {
  test('requests base64 and returns numbers', async () => {
    const { client, emulator } = emulated();

    const { data } = await client.embeddings.create({ model, input: 'a', dimensions: 4 });

    const [sent] = emulator.requests;
    expect(sent?.body).toMatchObject({ value: { encoding_format: 'base64', dimensions: 4 } });
    expect(data[0]?.embedding).toEqual(expect.arrayContaining([expect.any(Number)]));
    expect(emulator.charges).toHaveLength(1);
  });

  test('returns the same numbers with and without validation', async () => {
    const strict = await emulated().client.embeddings.create(
      { model, input: ['a', 'b'] },
      { validation: 'strict' },
    );
    const off = await emulated().client.embeddings.create(
      { model, input: ['a', 'b'] },
      { validation: 'off' },
    );
    const numbersOnly = await emulated().client.embeddings.create({
      model,
      input: ['a', 'b'],
      encoding_format: 'float',
    });

    expect(strict.data).toEqual(off.data);
    const rounded = ({ data }: typeof off) =>
      data.map(({ embedding }) => embedding.map(Math.fround));
    expect(rounded(numbersOnly)).toEqual(rounded(off));
  });

  test.each<[string, object, RequestOptions | undefined, unknown]>([
    ['encoding_format', { encoding_format: 'float' }, undefined, 'float'],
    ['encoding_format in extraBody', {}, { extraBody: { encoding_format: 'float' } }, 'float'],
    ['a type of numbers', {}, { extraBody: { output_dtype: 'int8' } }, undefined],
    ['an unknown parameter', { embedding_types: ['ubinary'] }, undefined, undefined],
  ])('adds no format if the caller sets %s', async (_, params, options, expected) => {
    const { client, requests } = scripted([numbers]);

    await client.embeddings.create({ model, input: 'a', ...params }, options);

    expect(toFields(await bodyOf(requests[0]))['encoding_format']).toBe(expected);
  });

  test('sends the request again without base64 if the provider rejects it, and remembers that', async () => {
    const { client, requests } = scripted([refusal, numbers]);
    const input = ['a'];
    const promise = client.embeddings.create({ model, input });
    input.push('added later');

    const { data } = await promise;
    await client.withOptions({ maxRetries: 0 }).embeddings.create({ model, input: 'b' });
    await client.embeddings.create({ model: 'another', input: 'c' });

    expect(data[0]?.embedding).toEqual([0.5, -0.25]);
    const bodies = await Promise.all(requests.map(bodyOf));
    expect(bodies).toEqual([
      { model, input: ['a'], encoding_format: 'base64' },
      { model, input: ['a'] },
      { model, input: 'b' },
      { model: 'another', input: 'c', encoding_format: 'base64' },
    ]);
  });

  test('embeddings.create() without encoding_format is charged once if the provider rejects base64', async () => {
    const { client, emulator } = emulated();
    const message = 'encoding_format base64 is not supported';
    emulator.fail({ fault: { type: 'error', status: 400, message } });

    await client.embeddings.create({ model, input: 'a' });

    expect(emulator.requests).toHaveLength(2);
    expect(emulator.charges).toHaveLength(1);
    expect((await client.account.spent()).lines).toMatchObject([{ calls: 1, unknown: 0 }]);
  });

  test.each([
    ['another rejection', json({ error: { message: 'The model does not exist' } }, 404)],
    ['an error of another parameter', json({ error: { message: 'input is too long' } }, 400)],
    ['a failure that may have been charged', json({ error: { message: 'base64 failed' } }, 500)],
  ])(
    'embeddings.create() without encoding_format is not sent again after %s',
    async (_, response) => {
      const { client, requests } = scripted([response, numbers], { maxRetries: 0 });

      await failureOf(client.embeddings.create({ model, input: 'a' }));

      expect(requests).toHaveLength(1);
    },
  );

  test('sends the second request with an id and a key of its own, within the same time limit', async () => {
    const { client, requests } = scripted([slowRefusal, stuck], {
      idempotency: { header: 'X-Key' },
    });
    const options = { callId: 'job', idempotencyKey: 'key', totalTimeout: 1_000 };

    const error = await failureOf(client.embeddings.create({ model, input: 'a' }, options));

    expect(error).toMatchObject({ callId: 'job-2', outcome: 'unknown' });
    expect(requests.map(({ headers }) => headers.get('x-key'))).toEqual(['key', 'key-2']);
  });

  test('the raw response and the request id are those of the second request', async () => {
    const { client } = scripted([refusal, numbers]);

    const { response, data } = await client.embeddings.create({ model, input: 'a' }).withResponse();

    expect(response.status).toBe(200);
    expect(data.usage).toEqual(usage);
  });
});

test('a vector for each token stays as it is, because base64 cannot hold it', async () => {
  const embedding = [
    [0.5, 1],
    [2, 3],
  ];
  const { client } = scripted([json({ data: [{ index: 0, embedding }], model, usage })]);

  const { data } = await client.embeddings.create({ model, input: 'a', encoding_format: 'base64' });

  expect(data[0]?.embedding).toEqual(embedding);
});

test('createMany() sends a batch again without base64 if the provider rejects it', async () => {
  const { client, requests } = scripted([refusal, numbers]);

  const { vectors } = await client.embeddings.createMany(
    { model, input: ['a', 'b'] },
    { batchSize: 1, concurrency: 1 },
  );

  expect(vectors).toEqual([Float32Array.of(0.5, -0.25), Float32Array.of(0.5, -0.25)]);
  const bodies = await Promise.all(requests.map(bodyOf));
  expect(bodies.map((body) => toFields(body)['encoding_format'])).toEqual([
    'base64',
    undefined,
    undefined,
  ]);
});
