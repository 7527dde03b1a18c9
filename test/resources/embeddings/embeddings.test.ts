import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createModelGateway } from '../../../src/adapters/ai-sdk/index.ts';
import {
  APIError,
  InvalidInputError,
  PartialEmbeddingsError,
  UnexpectedResponseError,
} from '../../../src/index.ts';
import { bodyOf, emulated, failureOf, json, misuse, scripted } from '../../helpers/clients.ts';
import { intercepted } from '../../helpers/intercepted.ts';

const model = 'm-embedding';

/** Little-endian 32-bit floats in base64, written without the code under test. */
function base64(numbers: readonly number[]): string {
  const buffer = Buffer.alloc(numbers.length * 4);
  for (const [index, number] of numbers.entries()) buffer.writeFloatLE(number, index * 4);
  return buffer.toString('base64');
}

/** Bytes as providers send them for `base64_int8` and `base64_binary`. */
const bytes = (...values: number[]): string =>
  Buffer.from(Int8Array.from(values)).toString('base64');

/** An answer with these vectors, numbered in their order. */
function answerWith(...vectors: unknown[]) {
  const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }));
  return { object: 'list', data, model, usage: { prompt_tokens: 3, total_tokens: 3 } };
}

describe('embeddings.create()', () => {
  test('returns one vector for a text', async () => {
    const { client, emulator } = emulated();

    const response = await client.embeddings.create({ model, input: 'a text', dimensions: 16 });

    expect(response).toMatchObject({ object: 'list', model, data: [{ index: 0 }] });
    expect(response.data[0]?.embedding).toHaveLength(16);
    expect(response.usage.total_tokens).toBeGreaterThan(0);
    expect(response).toHaveProperty('_request_id', emulator.requests[0]?.id);
    expect(response.missing).toBeUndefined();
  });

  test('returns one vector per text, in any order of the response', async () => {
    const { client } = emulated({}, { quirks: { embeddingOrder: 'reversed' } });
    const alone = await client.embeddings.create({ model, input: 'first' });

    const { data } = await client.embeddings.create({ model, input: ['first', 'second', 'third'] });

    expect(data.map((item) => item.index)).toEqual([0, 1, 2]);
    expect(data[0]?.embedding).toEqual(alone.data[0]?.embedding);
  });

  test('accepts tokens of one text and of several', async () => {
    const { client } = emulated();

    const one = await client.embeddings.create({ model, input: [1, 2, 3] });
    const several = await client.embeddings.create({ model, input: [[1, 2, 3], [4]] });

    expect(one.data).toHaveLength(1);
    expect(several.data).toHaveLength(2);
    expect(several.data[0]?.embedding).toEqual(one.data[0]?.embedding);
  });

  test('sends the parameters unchanged and adds none', async () => {
    const { client, requests } = scripted([json(answerWith([0.5]))]);

    await client.embeddings.create({ model, input: 'a' }, { extraBody: { task: 'query' } });

    expect(await bodyOf(requests[0])).toEqual({ model, input: 'a', task: 'query' });
  });

  test('is retried after a failure, because it is metered', async () => {
    const { client, emulator } = emulated();
    emulator.fail({ fault: { type: 'error', status: 503 } });

    await expect(client.embeddings.create({ model, input: 'a' })).resolves.toBeDefined();

    expect(emulator.requests).toHaveLength(2);
  });

  test('returns the raw response and the request id', async () => {
    const { client, emulator } = emulated();
    const promise = client.embeddings.create({ model, input: 'a' });

    const { data, response, request_id: requestId } = await promise.withResponse();

    expect(data.data).toHaveLength(1);
    expect(response.status).toBe(200);
    expect(requestId).toBe(emulator.requests[0]?.id);
  });
});

describe('the format of a vector', () => {
  test.each([
    ['a list of numbers', [0.5, -0.25]],
    ['base64 that was not requested', base64([0.5, -0.25])],
    ['a typed array written as an object', { 0: 0.5, 1: -0.25 }],
  ])('%s becomes numbers', async (_, wire) => {
    const { client, drifts } = scripted([json(answerWith(wire))]);

    const { data } = await client.embeddings.create({ model, input: 'a' });

    expect(data).toEqual([{ object: 'embedding', index: 0, embedding: [0.5, -0.25] }]);
    expect(drifts).toEqual([]);
  });

  test('each vector is read separately', async () => {
    const { client } = scripted([json(answerWith([0.5], base64([0.25])))]);

    const { data } = await client.embeddings.create({ model, input: ['a', 'b'] });

    expect(data.map((item) => item.embedding)).toEqual([[0.5], [0.25]]);
  });

  test('base64 stays base64 if requested, as in openai', async () => {
    const { client, emulator } = emulated();

    const asked = await client.embeddings.create({ model, input: 'a', encoding_format: 'base64' });
    const plain = await client.embeddings.create({ model, input: 'a' });

    expect(asked.data[0]?.embedding).toBe(base64(plain.data[0]?.embedding ?? []));
    expect(emulator.requests[0]?.body).toMatchObject({ value: { encoding_format: 'base64' } });
  });

  test('encodes numbers as base64 when the provider ignored the encoding', async () => {
    const { client } = scripted([json(answerWith([0.5, -0.25], base64([1])))]);

    const { data } = await client.embeddings.create({
      model,
      input: ['a', 'b'],
      encoding_format: 'base64',
    });

    expect(data.map((item) => item.embedding)).toEqual([base64([0.5, -0.25]), base64([1])]);
  });

  test('every 32-bit float survives base64', async () => {
    const number = fc.float({ noNaN: true, min: -1_000_000, max: 1_000_000 });
    const vectors = fc.array(number, { minLength: 1, maxLength: 50 });
    await fc.assert(
      fc.asyncProperty(vectors, async (vector) => {
        const { client } = scripted([json(answerWith(base64(vector)))]);
        const { data } = await client.embeddings.create({ model, input: 'a' });
        expect(data[0]?.embedding).toEqual(vector);
      }),
    );
  });

  test.each([['not base64!'], ['YWJj'], [{ values: [1] }], [['a']], [[[1]]]])(
    'reports items that are not vectors, and keeps them as received: %j',
    async (wire) => {
      const { client, drifts } = scripted([json(answerWith(wire, [1]))]);

      const { data } = await client.embeddings.create({ model, input: ['a', 'b'] });

      expect(data.map((item) => item.embedding)).toEqual([wire, [1]]);
      expect(drifts).toMatchObject([{ path: 'data[0].embedding' }]);
    },
  );
});

describe('a broken vector', () => {
  const broken = [[null, null], [0.5, null], null, '', [], {}, { 0: 0.5, 1: null }];

  test.each(broken)('%j is an error, which has the good ones', async (wire) => {
    for (const encoding_format of [undefined, 'float', 'base64'] as const) {
      const { client, requests } = scripted([json(answerWith([0.5], wire, [1]))]);
      const params = { model, input: ['a', 'b', 'c'] };

      const error = await failureOf(
        client.embeddings.create(encoding_format ? { ...params, encoding_format } : params),
      );

      const vectors = [[0.5], [1]].map((vector) =>
        encoding_format === 'base64' ? base64(vector) : vector,
      );
      expect(error).toBeInstanceOf(UnexpectedResponseError);
      expect(error).toMatchObject({
        message: expect.stringContaining('has 1 broken vector; the others are in error.data'),
        issues: [{ path: 'data[1].embedding' }],
        data: {
          missing: 1,
          data: [
            { index: 0, embedding: vectors[0] },
            { index: 2, embedding: vectors[1] },
          ],
        },
      });
      expect(requests).toHaveLength(1);
    }
  });

  test.each(broken)('%j leaves those of its request to createMany()', async (wire) => {
    const { client } = scripted([json(answerWith([0.5], wire, base64([1])))]);

    const error = await failureOf(
      client.embeddings.createMany(
        { model, input: ['a', 'b', 'c', 'd'] },
        { batchSize: 3, concurrency: 1 },
      ),
    );

    expect(error).toBeInstanceOf(PartialEmbeddingsError);
    expect(error).toMatchObject({
      vectors: [Float32Array.of(0.5), undefined, Float32Array.of(1), undefined],
      failed: [{ start: 0, end: 3 }],
    });
  });

  test('a broken vector is an error of the AI SDK, whose cause has the good ones', async () => {
    const { client } = scripted([json(answerWith([0.5], [null]))]);

    const embedder = createModelGateway({ client }).embeddingModel(model);
    const error = await failureOf(embedder.doEmbed({ values: ['a', 'b'] }));

    expect(error).toMatchObject({ cause: { data: { data: [{ embedding: [0.5] }] } } });
  });
});

test('a broken vector of the emulator is charged once, and no other request is sent', async () => {
  const { client, emulator } = emulated({}, { quirks: { embeddingBroken: true } });

  const error = await failureOf(client.embeddings.create({ model, input: ['a', 'b'] }));

  expect(error).toMatchObject({ data: { missing: 1, data: [{ index: 1 }] } });
  expect(emulator.charges).toHaveLength(1);
});

test('numbers as text are numbers', async () => {
  const { client } = scripted([json(answerWith(['0.5', '1']))]);

  const { data } = await client.embeddings.create({ model, input: 'a' });

  expect(data[0]?.embedding).toEqual([0.5, 1]);
});

describe('text that is not base64 floats is kept as received', () => {
  test.each([
    {
      name: 'bytes that would be too large as floats',
      params: { model, input: 'a' },
      wire: bytes(3, -2, 7, -4, 1, 1, 2, -1),
    },
    {
      name: 'bytes above zero',
      params: { model, input: 'a' },
      wire: bytes(1, 2, 3, 21, 9, 20, 4, 77),
    },
    {
      name: 'bytes that would be no number',
      params: { model, input: 'a' },
      wire: bytes(0, 0, -64, 127),
    },
    {
      name: 'one byte per dimension',
      params: { model, input: 'a', dimensions: 4 },
      wire: bytes(1, 2, 3, 4),
    },
    {
      name: 'one bit per dimension',
      params: { model, input: 'a', dimensions: 32 },
      wire: bytes(1, 2, 3, 4),
    },
  ])('$name', async ({ params, wire }) => {
    const { client } = scripted([json(answerWith(wire))]);

    const { data } = await client.embeddings.create(params);

    expect(data[0]?.embedding).toBe(wire);
  });

  test('text that is not base64 floats is kept if another format was requested, without drift', async () => {
    const wire = base64([0.5]);
    const { client, drifts } = scripted([json(answerWith(wire))]);

    const { data } = await client.embeddings.create(
      { model, input: 'a' },
      { extraBody: { encoding_format: 'base64_int8' } },
    );

    expect(data[0]?.embedding).toBe(wire);
    expect(drifts).toEqual([]);
  });

  test("dimensions that the provider ignored don't prevent reading", async () => {
    const { client } = scripted([json(answerWith(base64([0.5, 1, 2])))]);

    const { data } = await client.embeddings.create({ model, input: 'a', dimensions: 2 });

    expect(data[0]?.embedding).toEqual([0.5, 1, 2]);
  });

  test('text that is not base64 floats is an error for createMany()', async () => {
    const { client } = scripted([json(answerWith(bytes(1, 2, 3, 4)))]);

    const many = client.embeddings.createMany({ model, input: ['a'], dimensions: 4 });

    await expect(many).rejects.toMatchObject({ name: 'PartialEmbeddingsError' });
  });
});

describe('the number of vectors', () => {
  test('embeddings report fewer vectors than inputs, and keep those vectors', async () => {
    const { client, drifts } = scripted([json(answerWith([0.5]))]);

    const response = await client.embeddings.create({ model, input: ['a', 'b', 'c'] });

    expect(response.missing).toBe(2);
    expect(response.data).toHaveLength(1);
    expect(drifts).toMatchObject([
      { operation: 'embeddings.create', path: 'data', expected: 'one item per input' },
    ]);
  });

  test('skipped token arrays are reported', async () => {
    const { client } = emulated({}, { quirks: { embeddingTokens: 'skipped' } });

    const error = await failureOf(client.embeddings.create({ model, input: [[1, 2], [3]] }));

    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error).toHaveProperty('outcome', 'unknown');
  });

  test('the index shows a gap', async () => {
    const body = answerWith([1], [2]);
    const data = body.data.map((item) => ({ ...item, index: item.index * 2 })).toReversed();
    const { client } = scripted([json({ ...body, data })]);

    const response = await client.embeddings.create({ model, input: ['a', 'b', 'c'] });

    expect(response.data.map((item) => item.index)).toEqual([0, 2]);
    expect(response.missing).toBe(1);
  });

  test.each([
    ['all items have index 0', [0, 0, 0]],
    ['the first index is 1', [1, 2, 3]],
    ['no item has an index', [undefined, null, undefined]],
  ])('a full response is numbered by its order: %s', async (_, indexes) => {
    const body = answerWith([1], [2], [3]);
    const data = body.data.map((item, position) => ({ ...item, index: indexes[position] }));
    const { client } = scripted([json({ ...body, data })]);

    const response = await client.embeddings.create({ model, input: ['a', 'b', 'c'] });

    expect(response.data.map(({ index, embedding }) => [index, embedding[0]])).toEqual([
      [0, 1],
      [1, 2],
      [2, 3],
    ]);
    expect(response.missing).toBeUndefined();
  });

  test('a wrong number of vectors is an error with the vectors, with validation: "strict"', async () => {
    const { client } = scripted([json(answerWith([0.5]))], { validation: 'strict' });

    const error = await failureOf(client.embeddings.create({ model, input: ['a', 'b'] }));

    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error).toMatchObject({ data: { data: [{ embedding: [0.5] }] } });
  });

  test('embeddings fill in usage and model, and report a missing vector', async () => {
    const { client } = scripted([json({ object: 'list', data: [{ embedding: [1] }] })]);

    const response = await client.embeddings.create({ model, input: ['a', 'b'] });

    expect(response).toEqual({
      object: 'list',
      model: '',
      data: [{ object: 'embedding', index: 0, embedding: [1] }],
      usage: { prompt_tokens: 0, total_tokens: 0 },
      missing: 1,
    });
  });
});

describe('embeddings.createForEngine()', () => {
  test('puts the escaped model into the path, and keeps it in the body', async () => {
    const { client, requests } = scripted([json(answerWith([0.5]))]);

    await client.embeddings.createForEngine({ model: 'BAAI/bge m3', input: 'a' });

    expect(requests[0]?.url).toBe('https://gateway.test/v1/engines/BAAI%2Fbge%20m3/embeddings');
    expect(await bodyOf(requests[0])).toEqual({ model: 'BAAI/bge m3', input: 'a' });
  });

  test('returns the same vectors as create()', async () => {
    const { client } = emulated({}, { quirks: { enginePath: 'embeddings' } });

    const engine = await client.embeddings.createForEngine({ model, input: ['a', 'b'] });
    const general = await client.embeddings.create({ model, input: ['a', 'b'] });

    expect(engine).toEqual(general);
  });

  test.each([400, 500] as const)(
    '"contents is required" with status %i names the working path and is not retried',
    async (invalidRequestStatus) => {
      const quirks = { enginePath: 'contents-required', invalidRequestStatus } as const;
      const { client, emulator } = emulated({}, { quirks });

      const error = await failureOf(client.embeddings.createForEngine({ model, input: 'a' }));

      expect(error).toBeInstanceOf(APIError);
      expect(String(error)).toContain('use embeddings.create() instead');
      expect(emulator.requests).toHaveLength(1);
    },
  );
});

describe('bad input', () => {
  test.each([
    ['model', { model: '', input: 'a' }],
    ['input', { model, input: [] }],
    ['input[1]', { model, input: [[1], []] }],
    ['input[0]', { model, input: [-1] }],
    ['input[0]', { model, input: [0.5] }],
    ['dimensions', { model, input: 'a', dimensions: 0 }],
    ['dimensions', { model, input: 'a', dimensions: 1.5 }],
  ])('%s in %j is rejected before anything is sent', async (field, params) => {
    const { client, requests } = scripted([]);

    for (const call of [
      client.embeddings.create(params),
      client.embeddings.createForEngine(params),
    ]) {
      const error = await failureOf(call);
      expect(error).toBeInstanceOf(InvalidInputError);
      expect(error).toMatchObject({ field, outcome: 'not_sent' });
    }

    expect(requests).toHaveLength(0);
  });

  test.each(['', ['a', '']])(
    'an empty text is sent, for the gateway to reject: %j',
    async (input) => {
      const { client, requests } = scripted([json(answerWith([1], [1]))]);

      await client.embeddings.create({ model, input });

      expect(await bodyOf(requests[0])).toMatchObject({ model, input });
    },
  );

  test('texts and tokens in one list are rejected, because providers skip one of them', async () => {
    const { client, requests } = scripted([]);
    const params: unknown = { model, input: ['a', [1]] };

    const call = misuse(client.embeddings, 'create', params);

    await expect(call).rejects.toMatchObject({ field: 'input[1]' });
    expect(requests).toHaveLength(0);
  });

  test.each([undefined, null, 'text', [], { model }])('%j is rejected', async (params) => {
    const { client } = scripted([]);
    const call = misuse(client.embeddings, 'create', params);
    await expect(call).rejects.toBeInstanceOf(InvalidInputError);
  });
});

test('decodes 256 base64 vectors of 3,072 numbers', async () => {
  const numbers = Array.from({ length: 3_072 }, (_, index) => Math.fround(Math.sin(index)));
  const vectors = Array.from({ length: 256 }, () => base64(numbers));
  const { client } = scripted([json(answerWith(...vectors))]);

  const { data } = await client.embeddings.create({ model, input: vectors.map(() => 'a') });

  expect(data).toHaveLength(256);
  expect(data[255]?.embedding).toEqual(numbers);
});

describe("with the runtime's fetch", () => {
  const { client, emulator } = intercepted();

  test('both paths of vectors work', async () => {
    emulator.quirks.enginePath = 'embeddings';
    const general = await client.embeddings.create({ model, input: 'a' });
    const engine = await client.embeddings.createForEngine({ model, input: 'a' });

    expect(engine.data).toEqual(general.data);
    expect(emulator.charges).toHaveLength(2);
  });
});
