import { describe, expect, test } from 'vitest';
import { APIUserAbortError, InternalServerError } from '../../../src/errors/api-errors.ts';
import { InvalidInputError } from '../../../src/errors/gateway-error.ts';
import type {
  ImagesGenerateManyOptions,
  ImagesGenerateManyResult,
} from '../../../src/resources/images/operations.ts';
import { collect, emulated, failureOf, scripted } from '../../helpers/clients.ts';
import { untyped } from '../../helpers/untyped.ts';

const model = 'm-image';

function paramsFor(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    model,
    prompt: `picture ${index}`,
    size: '64x64',
  }));
}

const failing = async (): Promise<void> => Promise.reject(new Error('disk full'));

const byIndex = (results: readonly ImagesGenerateManyResult[]) =>
  results.toSorted((one, other) => one.index - other.index);

describe('images.generateMany()', () => {
  test('makes one call per item, and yields each with its index and parameters', async () => {
    const { client, emulator } = emulated();
    const params = paramsFor(10);

    const results = await collect(client.images.generateMany(params, { concurrency: 3 }));

    expect(byIndex(results).map(({ params: own }) => own)).toEqual(params);
    expect(results.every(({ images }) => images?.data.length === 1)).toBe(true);
    expect(emulator.charges).toHaveLength(10);
  });

  test('keeps other results if some fail, and retries nothing that was charged', async () => {
    const { client, emulator } = emulated();
    emulator.fail({ fault: { type: 'reset', when: 'after-charge' }, times: 1 });
    emulator.fail({ fault: { type: 'error', status: 500 }, times: 1 });

    const results = await collect(
      client.images.generateMany(paramsFor(6), { concurrency: 1, maxRetries: 5 }),
    );

    expect(results.map(({ error }) => error !== undefined)).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
    expect(results[0]?.error).toMatchObject({ outcome: 'unknown' });
    expect(results[1]?.error).toBeInstanceOf(InternalServerError);
    // One request each: also the one that was charged without an answer.
    expect(emulator.requests).toHaveLength(6);
  });

  test('reports progress', async () => {
    const { client, emulator } = emulated();
    emulator.fail({ fault: { type: 'error', status: 400 }, times: 1 });
    const seen: string[] = [];
    const onProgress: ImagesGenerateManyOptions['onProgress'] = (progress) => {
      const { done, failed, total, result } = progress;
      seen.push(`${done} of ${total}, ${failed} failed, ${result.images ? 'fine' : 'error'}`);
    };

    await collect(client.images.generateMany(paramsFor(3), { concurrency: 1, onProgress }));

    expect(seen).toEqual([
      '1 of 3, 1 failed, error',
      '2 of 3, 1 failed, fine',
      '3 of 3, 1 failed, fine',
    ]);
  });

  test('an onProgress that throws starts no more calls, and loses nothing', async () => {
    const { client, emulator } = emulated();
    const results: ImagesGenerateManyResult[] = [];
    const options = { concurrency: 2, onProgress: failing };
    const run = async (): Promise<void> => {
      for await (const result of client.images.generateMany(paramsFor(6), options)) {
        results.push(result);
      }
    };

    expect(await failureOf(run())).toMatchObject({ message: 'disk full' });
    expect(emulator.charges).toHaveLength(2);
    expect(results.map(({ images }) => images?.data.length)).toEqual([1, 1]);
  });

  test('an abort sends no more calls, and is the result of all pending ones', async () => {
    const controller = new AbortController();
    const { client, requests } = scripted([
      () => {
        if (requests.length === 1) return Response.json({ data: [{ url: 'https://a.test/1' }] });
        controller.abort();
        return new Promise<never>(() => {});
      },
    ]);

    const results = await collect(
      client.images.generateMany(paramsFor(5), { concurrency: 1, signal: controller.signal }),
    );

    expect(requests).toHaveLength(2);
    expect(results).toHaveLength(5);
    expect(results[0]?.images?.data).toHaveLength(1);
    const errors = results.slice(1).map(({ error }) => error);
    expect(errors.every((error) => APIUserAbortError.isInstance(error))).toBe(true);
    expect(errors).toMatchObject([
      { outcome: 'unknown' },
      { outcome: 'not_sent' },
      { outcome: 'not_sent' },
      { outcome: 'not_sent' },
    ]);
  });

  test('leaving the loop starts no more calls, and onProgress reports those in flight', async () => {
    const { client, emulator } = emulated();
    const heard: number[] = [];
    const onProgress: ImagesGenerateManyOptions['onProgress'] = ({ result }) => {
      heard.push(result.index);
    };

    const results = client.images.generateMany(paramsFor(20), { concurrency: 4, onProgress });
    for await (const { images } of results) if (images !== undefined) break;
    const sent = emulator.requests.length;
    await expect.poll(() => heard.length).toBe(sent);

    expect(sent).toBeLessThanOrEqual(4);
    expect(emulator.charges).toHaveLength(sent);
  });

  test('each call has its own id', async () => {
    const { client, emulator } = emulated();
    emulator.fail({ fault: { type: 'error', status: 400 }, times: 3 });

    const results = await collect(
      client.images.generateMany(paramsFor(3), { callId: 'night', concurrency: 1 }),
    );

    expect(results.map(({ error }) => error)).toMatchObject([
      { callId: 'night-0' },
      { callId: 'night-1' },
      { callId: 'night-2' },
    ]);
  });

  test.each<{ field: string; params: unknown; options: object }>([
    { field: 'params', params: { model, prompt: 'one' }, options: {} },
    { field: 'params', params: 'a prompt', options: {} },
    { field: 'params[1]', params: [paramsFor(1)[0], 'a prompt'], options: {} },
    { field: 'params[1].prompt', params: [...paramsFor(1), { model, prompt: '' }], options: {} },
    { field: 'params[0].stream', params: [{ model, prompt: 'one', stream: true }], options: {} },
  ])('rejects an invalid $field before anything is sent', async ({ field, params, options }) => {
    const { client, emulator } = emulated();
    const given = untyped<ReturnType<typeof paramsFor>>(params);

    const ended = collect(client.images.generateMany(given, options)).then((results) => {
      const [first] = results;
      // An option of a request is refused by the call that has it.
      throw first?.error;
    });
    const error = await failureOf(ended);

    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error).toHaveProperty('field', field);
    expect(emulator.requests).toHaveLength(0);
  });

  test('returns nothing for an empty list', async () => {
    const { client } = emulated();

    expect(await collect(client.images.generateMany([]))).toEqual([]);
  });
});
