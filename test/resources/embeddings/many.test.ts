import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  PartialEmbeddingsError,
  type EmbeddingsCreateManyParams,
  type ManyEmbeddings,
} from '../../../src/resources/embeddings/types.ts';
import {
  APIUserAbortError,
  InvalidInputError,
  UnexpectedResponseError,
} from '../../../src/index.ts';
import { emulated, failureOf, json, misuse, scripted } from '../../helpers/clients.ts';

const model = 'm-embedding';

/** The inputs of a request, each the text of a number. */
async function readInputs(request: Request): Promise<string[]> {
  const { input }: { input: string[] } = JSON.parse(await request.clone().text());
  return input;
}

/** Answers each input with a vector that holds its number. */
async function numbered(request: Request, change: (data: object[]) => object[] = (data) => data) {
  const inputs = await readInputs(request);
  const data = inputs.map((text, index) => ({
    object: 'embedding',
    index,
    embedding: [Number(text), 1],
  }));
  const usage = { prompt_tokens: inputs.length, total_tokens: inputs.length };
  return Response.json({ object: 'list', model, data: change(data), usage });
}

function texts(count: number): string[] {
  return Array.from({ length: count }, (_, index) => String(index));
}

/** The first number of each vector. */
function firstNumbers(vectors: ManyEmbeddings['vectors'] | PartialEmbeddingsError['vectors']) {
  return vectors.map((vector) => vector?.[0]);
}

const usageFor = (tokens: number) => ({ prompt_tokens: tokens, total_tokens: tokens });

const failing = (): never => {
  throw new Error('disk full');
};

async function catchPartial(promise: Promise<unknown>): Promise<PartialEmbeddingsError> {
  const error = await failureOf(promise);
  if (error instanceof PartialEmbeddingsError) return error;
  throw error;
}

describe('embeddings.createMany()', () => {
  test('returns the same vectors as create(), as 32-bit floats', async () => {
    const { client, emulator } = emulated();
    const input = ['first', 'second', 'third'];
    const { data } = await client.embeddings.create({ model, input, dimensions: 8 });

    const { vectors, ...rest } = await client.embeddings.createMany({
      model,
      input,
      dimensions: 8,
    });

    expect(vectors).toEqual(data.map(({ embedding }) => Float32Array.from(embedding)));
    expect(rest).toEqual({ model, usage: { prompt_tokens: 3, total_tokens: 3 } });
    expect(emulator.requests).toHaveLength(2);
  });

  test('reads numbers from providers that ignore base64', async () => {
    const { client } = emulated();
    const other = emulated({}, { quirks: { embeddingEncoding: 'ignored' } }).client;

    const { vectors } = await client.embeddings.createMany({ model, input: ['a', 'b'] });
    const same = await other.embeddings.createMany({ model, input: ['a', 'b'] });

    expect(same.vectors).toEqual(vectors);
  });

  test('keeps the order of the inputs, for any sizes and order of responses', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          count: fc.integer({ min: 1, max: 40 }),
          batchSize: fc.integer({ min: 1, max: 12 }),
          concurrency: fc.integer({ min: 1, max: 6 }),
        }),
        async ({ count, batchSize, concurrency }) => {
          let running = 0;
          let most = 0;
          const sizes: number[] = [];
          const { client, requests } = scripted([
            async (request) => {
              most = Math.max(most, ++running);
              sizes.push((await readInputs(request)).length);
              // Later requests are answered first.
              for (let turn = 0; turn < 20 - requests.length; turn++) await Promise.resolve();
              running -= 1;
              return numbered(request, (data) => data.toReversed());
            },
          ]);

          const { vectors, usage } = await client.embeddings.createMany(
            { model, input: texts(count) },
            { batchSize, concurrency },
          );

          expect(firstNumbers(vectors)).toEqual(texts(count).map(Number));
          expect(usage.total_tokens).toBe(count);
          expect(requests).toHaveLength(Math.ceil(count / batchSize));
          expect(Math.max(...sizes)).toBeLessThanOrEqual(batchSize);
          expect(most).toBeLessThanOrEqual(concurrency);
        },
      ),
      { numRuns: 30 },
    );
  });

  test('keeps paid vectors if request 3 of 5 fails', async () => {
    const { client, requests } = scripted([
      async (request) =>
        (await readInputs(request)).includes('4')
          ? Response.json({ error: { message: 'no', code: 'invalid_request' } }, { status: 400 })
          : numbered(request),
    ]);

    const error = await catchPartial(
      client.embeddings.createMany({ model, input: texts(10) }, { batchSize: 2, concurrency: 1 }),
    );

    expect(requests).toHaveLength(3);
    const nothing = texts(6).map(() => undefined);
    expect(firstNumbers(error.vectors)).toEqual([0, 1, 2, 3, ...nothing]);
    expect(error.usage.total_tokens).toBe(4);
    expect(error.failed).toMatchObject([{ start: 4, end: 6, error: { status: 400 } }]);
    expect(error.outcome).toBe('rejected');
    expect(error.cause).toBe(error.failed[0]?.error);
    expect(error.message).toContain('inputs 4 to 5');
    expect(error.message).toContain('4 of 10 vectors');
  });

  test('awaits pending requests after a failure, and starts no more', async () => {
    const { client, requests } = scripted([
      async (request) => {
        const [first] = await readInputs(request);
        if (first === '0') return Response.json({ error: { message: 'no' } }, { status: 400 });
        for (let turn = 0; turn < 50; turn++) await Promise.resolve();
        return numbered(request);
      },
    ]);

    const error = await catchPartial(
      client.embeddings.createMany({ model, input: texts(9) }, { batchSize: 1, concurrency: 3 }),
    );

    expect(requests).toHaveLength(3);
    expect(firstNumbers(error.vectors).slice(0, 3)).toEqual([undefined, 1, 2]);
  });

  test('aborts all requests with the signal', async () => {
    const controller = new AbortController();
    const { client, requests } = scripted([
      (request) => {
        if (requests.length === 1) return numbered(request);
        controller.abort();
        return new Promise<never>(() => {});
      },
    ]);

    const error = await catchPartial(
      client.embeddings.createMany(
        { model, input: texts(6) },
        { batchSize: 2, concurrency: 1, signal: controller.signal },
      ),
    );

    expect(requests).toHaveLength(2);
    expect(error.cause).toBeInstanceOf(APIUserAbortError);
    expect(firstNumbers(error.vectors).slice(0, 3)).toEqual([0, 1, undefined]);
  });

  test('does not guess which inputs a provider skipped', async () => {
    const { client } = scripted([(request) => numbered(request, (data) => data.slice(1))]);

    const error = await catchPartial(client.embeddings.createMany({ model, input: texts(3) }));

    expect(error.cause).toBeInstanceOf(UnexpectedResponseError);
    expect(error.outcome).toBe('unknown');
    expect(error.failed[0]?.error).toHaveProperty('data.data.length', 2);
  });

  test.each([['!no base64!'], ['AAA='], [['a']]])(
    'rejects an unreadable vector: %j',
    async (embedding) => {
      const { client } = scripted([json({ data: [{ index: 0, embedding }] })]);

      const error = await catchPartial(client.embeddings.createMany({ model, input: ['a'] }));

      expect(error.cause).toHaveProperty('issues[0].path', 'data[0].embedding');
    },
  );

  test.each([{}, null])('rejects a response with vectors %j', async (embedding) => {
    const { client } = scripted([json({ data: [{ index: 0, embedding }] })]);

    const error = await catchPartial(client.embeddings.createMany({ model, input: ['a'] }));

    expect(error.cause).toMatchObject({ body: expect.stringContaining('embedding') });
  });

  test.each([
    ['one vector is broken', (data: object[]) => [{ ...data[0], embedding: [null] }, data[1]], 3],
    ['one vector is missing', (data: object[]) => [{ ...data[0], embedding: null }, data[1]], 3],
    [
      'no vector is whole',
      (data: object[]) => data.map((item) => ({ ...item, embedding: null })),
      2,
    ],
  ])('counts the tokens of a request of which %s', async (_, change, received) => {
    const { client } = scripted([
      (request) => numbered(request),
      (request) => numbered(request, (data) => change(data).flatMap((item) => item ?? [])),
    ]);

    const error = await catchPartial(
      client.embeddings.createMany({ model, input: texts(4) }, { batchSize: 2, concurrency: 1 }),
    );

    expect(error.usage).toEqual(usageFor(4));
    expect(error.vectors.filter((vector) => vector !== undefined)).toHaveLength(received);
  });

  test('retries each request as create() does', async () => {
    const { client, emulator } = emulated();
    emulator.fail({ fault: { type: 'error', status: 503 } });

    await client.embeddings.createMany({ model, input: texts(4) }, { batchSize: 2 });

    expect(emulator.requests).toHaveLength(3);
  });

  test('reports progress', async () => {
    const { client } = scripted([(request) => numbered(request)]);
    const seen: unknown[] = [];

    await client.embeddings.createMany(
      { model, input: texts(5) },
      { batchSize: 2, concurrency: 1, onProgress: (progress) => seen.push(progress) },
    );

    expect(seen).toEqual([
      { done: 2, total: 5, usage: usageFor(2) },
      { done: 4, total: 5, usage: usageFor(4) },
      { done: 5, total: 5, usage: usageFor(5) },
    ]);
  });

  test('an onProgress that throws starts no more requests, and loses no vector', async () => {
    const { client, requests } = scripted([(request) => numbered(request)]);
    const error = await catchPartial(
      client.embeddings.createMany(
        { model, input: texts(9) },
        { batchSize: 1, concurrency: 2, onProgress: failing },
      ),
    );

    expect(requests).toHaveLength(2);
    expect(firstNumbers(error.vectors).slice(0, 3)).toEqual([0, 1, undefined]);
    expect(error.message).toContain('onProgress failed: disk full');
    expect(error.failed).toEqual([]);
  });

  test('each request has its own call id and idempotency key', async () => {
    const { client, requests } = scripted([(request) => numbered(request)], {
      idempotency: { header: 'idempotency-key' },
    });

    await client.embeddings.createMany(
      { model, input: texts(3) },
      { batchSize: 1, concurrency: 1, callId: 'library' },
    );

    const keys = requests.map(({ headers }) => headers.get('idempotency-key'));
    expect(keys).toEqual(['library-0', 'library-1', 'library-2']);
  });

  test.each<{ field: string; params: unknown; options: object }>([
    { field: 'input', params: { model, input: [] }, options: {} },
    { field: 'input', params: { model, input: [1, 2] }, options: {} },
    { field: 'input', params: { model, input: 'a text' }, options: {} },
    { field: 'input[2]', params: { model, input: ['a', 'b', ''] }, options: { batchSize: 1 } },
    { field: 'model', params: { model: '', input: ['a'] }, options: {} },
  ])('rejects an invalid $field before anything is sent', async ({ field, params, options }) => {
    const { client, requests } = scripted([numbered]);
    const embeddings = {
      createMany: (given: EmbeddingsCreateManyParams) =>
        client.embeddings.createMany(given, options),
    };

    const error = await failureOf(misuse(embeddings, 'createMany', params));

    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error).toHaveProperty('field', field);
    expect(requests).toHaveLength(0);
  });
});
