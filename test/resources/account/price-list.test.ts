import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  APIConnectionTimeoutError,
  APIUserAbortError,
  type Budget,
  type GatewayOptions,
} from '../../../src/index.ts';
import { emulated, failureOf, scripted } from '../../helpers/clients.ts';

const image = { model: 'm-image', prompt: 'A red circle', size: '64x64' };

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Answers everything but the price list, which hangs until it is aborted. */
function hanging(budget: Budget, options: GatewayOptions = {}) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let paid = 0;
  let reads = 0;
  let aborts = 0;
  const answer = (request: Request): Response | Promise<Response> => {
    if (request.method !== 'GET') {
      paid += 1;
      return Response.json({ created: 1, data: [{ b64_json: 'aGVsbG8=' }] });
    }
    reads += 1;
    return new Promise((_, reject) => {
      request.signal.addEventListener('abort', () => {
        aborts += 1;
        reject(request.signal.reason);
      });
    });
  };
  const { client } = scripted([answer], { budget, ...options });
  return { client, paid: () => paid, reads: () => reads, aborts: () => aborts };
}

describe('the price list of a budget', () => {
  test('reads one price list for all copies of a client', async () => {
    const { client, emulator } = emulated({ budget: { limit: 1 } });
    const reads = () => emulator.requests.filter(({ path }) => path === '/api/pricing').length;

    for (const at of times(30, (index) => index)) {
      await client.withOptions({ timeout: 1_000 + at }).images.generate(image);
    }
    await Promise.all(times(5, () => client.withOptions({ maxRetries: 0 }).images.generate(image)));
    client.maxRetries = 1;
    await client.images.generate(image);

    expect(reads()).toBe(1);
  });

  test('reads another list for another gateway', async () => {
    const { client, emulator } = emulated({ budget: { limit: 1 } });
    const other = emulated({}, { baseURL: 'http://other.test' });

    await client.images.generate(image);
    client.baseURL = 'http://other.test';
    const { apiKey, fetch } = other.emulator;
    const moved = client.withOptions({ apiKey, fetch });
    await moved.images.generate(image);

    const reads = [emulator, other.emulator].map(
      ({ requests }) => requests.filter(({ path }) => path === '/api/pricing').length,
    );
    expect(reads).toEqual([1, 1]);
  });
});

describe('a price list that hangs', () => {
  test('refuses a call after 10 seconds, with the reason', async () => {
    const { client, paid, reads, aborts } = hanging({ limit: 1 });

    const errors = Promise.all(times(5, () => failureOf(client.images.generate(image))));
    await vi.advanceTimersByTimeAsync(10_000);

    expect(await errors).toMatchObject(
      times(5, () => ({
        reason: 'price',
        outcome: 'not_sent',
        cause: expect.any(APIConnectionTimeoutError),
      })),
    );
    expect([paid(), reads(), aborts()]).toEqual([0, 1, 1]);
  });

  test('applies perCall after 10 seconds without a price list', async () => {
    const { client, paid } = hanging({ limit: 1, perCall: { 'm-image': 0.1 } });

    const sent = client.images.generate(image);
    await vi.advanceTimersByTimeAsync(9_000);
    const before = paid();
    await vi.advanceTimersByTimeAsync(1_000);
    await sent;

    expect([before, paid()]).toEqual([0, 1]);
    expect((await client.account.spent()).budget).toMatchObject({ spent: 0.1, reserved: 0 });
  });

  test.each([
    ['timeout', { timeout: 2_000 }],
    ['totalTimeout', { totalTimeout: 2_000 }],
  ])('ends at the %s of the call', async (_, options) => {
    const { client, paid } = hanging({ limit: 1, perCall: { 'm-image': 0.1 } });

    const failed = failureOf(client.images.generate(image, options));
    await vi.advanceTimersByTimeAsync(2_000);
    const error = await failed;
    await vi.advanceTimersByTimeAsync(60_000);

    expect(error).toBeInstanceOf(APIConnectionTimeoutError);
    expect(error).toMatchObject({ outcome: 'not_sent' });
    expect(paid()).toBe(0);
    expect((await client.account.spent()).budget).toMatchObject({ spent: 0, reserved: 0 });
  });

  test("ends when the call's signal is aborted", async () => {
    const { client, paid } = hanging({ limit: 1, perCall: { 'm-image': 0.1 } });
    const controller = new AbortController();

    const failed = failureOf(client.images.generate(image, { signal: controller.signal }));
    await vi.advanceTimersByTimeAsync(1_000);
    controller.abort();
    const error = await failed;
    await vi.advanceTimersByTimeAsync(60_000);

    expect(error).toBeInstanceOf(APIUserAbortError);
    expect(error).toMatchObject({ outcome: 'not_sent' });
    expect(paid()).toBe(0);
  });

  test('keeps the previous list in use', async () => {
    let hangs = false;
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const entry = { model_name: 'm-image', quota_type: 1, model_price: 0.1 };
    const { client } = scripted(
      [
        (request: Request) => {
          if (request.method !== 'GET') return Response.json({ data: [{ b64_json: 'aGVsbG8=' }] });
          if (hangs) return new Promise<Response>(() => {});
          return Response.json({ data: [entry], group_ratio: { default: 1 } });
        },
      ],
      { budget: { limit: 1 } },
    );
    await client.images.generate(image);
    hangs = true;
    await vi.advanceTimersByTimeAsync(3_600_000);

    const sent = client.images.generate(image);
    await vi.advanceTimersByTimeAsync(10_000);
    await sent;

    expect((await client.account.spent()).budget?.spent).toBeCloseTo(0.2);
  });
});
