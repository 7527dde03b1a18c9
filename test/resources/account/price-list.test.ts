import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  APIConnectionTimeoutError,
  APIUserAbortError,
  type Budget,
  Gateway,
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
  test('a budget reads one price list for all copies of a client', async () => {
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

  test('a budget reads another list for another gateway', async () => {
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
  test('a price list that hangs refuses a call after 10 seconds, with the reason', async () => {
    const { client, paid, reads, aborts } = hanging({ limit: 1 });

    const errors = Promise.all(times(5, () => failureOf(client.images.generate(image))));
    await vi.advanceTimersByTimeAsync(10_000);

    expect(await errors).toMatchObject(
      times(5, () => ({
        name: 'APIConnectionTimeoutError',
        outcome: 'not_sent',
        cause: expect.any(APIConnectionTimeoutError),
      })),
    );
    expect([paid(), reads(), aborts()]).toEqual([0, 1, 1]);
  });

  test('perCall applies after 10 seconds if the price list hangs', async () => {
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
  ])('a price list that hangs ends at the %s of the call', async (_, options) => {
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

  test("a price list that hangs ends when the call's signal is aborted", async () => {
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

  test('a price list that hangs keeps the previous list in use', async () => {
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

const lost = () =>
  Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } });
const failing = (code: number) => () =>
  Response.json({ error: { message: 'down' } }, { status: code });
const page = () => new Response('<!doctype html><title>Console</title>');

describe('a price list that cannot be read', () => {
  test.each([
    ['a refused connection', lost, 'APIConnectionError'],
    ['a 503', failing(503), 'InternalServerError'],
    ['a 429', failing(429), 'RateLimitError'],
  ])(
    'a price list that cannot be read is the error of the call, which was not sent: %s',
    async (_, answer, name) => {
      const { client, requests } = scripted([answer], { budget: { limit: 1 }, maxRetries: 0 });

      const error = await failureOf(client.images.generate(image));

      expect(error).toMatchObject({ name, outcome: 'not_sent', callId: expect.any(String) });
      expect(String(error)).toContain(
        'images.generate() with m-image was not sent, because the price list',
      );
      expect(requests.every(({ method }) => method === 'GET')).toBe(true);
      expect((await client.account.spent()).budget).toMatchObject({ spent: 0, reserved: 0 });
    },
  );

  test.each([
    ['a 404', failing(404)],
    ['a 403', failing(403)],
    ['a page', page],
  ])(
    'a price list that cannot be read is an unknown price if the gateway has none: %s',
    async (_, answer) => {
      const { client } = scripted([answer], { budget: { limit: 1 }, maxRetries: 0 });

      const error = await failureOf(client.images.generate(image));

      expect(error).toMatchObject({ name: 'BudgetError', reason: 'price', outcome: 'not_sent' });
      expect(String(error)).not.toContain('..');
    },
  );

  test('a price list that cannot be read is the error of an address that fetch refuses to call', async () => {
    const client = new Gateway({
      apiKey: 'sk-test',
      baseURL: 'http://127.0.0.1:9',
      budget: { limit: 1 },
    });

    const error = await failureOf(client.images.generate(image));

    expect(error).toMatchObject({ name: 'InvalidInputError', field: 'baseURL' });
  });

  test('a price list that cannot be read does not matter with perCall, or with onMissingPrice: "allow"', async () => {
    for (const budget of [
      { limit: 1, perCall: { 'm-image': 0.1 } },
      { limit: 1, onMissingPrice: 'allow' as const },
    ]) {
      const answer = (request: Request) =>
        request.method === 'GET' ? lost() : Response.json({ data: [{ b64_json: 'aGVsbG8=' }] });
      const { client } = scripted([answer], { budget, maxRetries: 0 });

      expect((await client.images.generate(image)).data).toHaveLength(1);
    }
  });
});

describe('a fallback without a price', () => {
  const chat = { model: 'm-large', messages: [{ role: 'user' as const, content: 'Hello' }] };

  test.each<[string, Partial<Budget>, number]>([
    ['is named in one warning', {}, 1],
    ['has the price of perCall', { perCall: { 'not-listed': 0.1 } }, 0],
    ['may be allowed', { onMissingPrice: 'allow' }, 0],
  ])('%s', async (_, own, count) => {
    const warnings: string[] = [];
    const warn = (message: string) => void warnings.push(message);
    const logger = { warn, error: warn, info: () => {}, debug: () => {} };
    const { client } = emulated({
      budget: { limit: 1, ...own },
      fallback: ['m-reasoning', 'not-listed'],
      logger,
      logLevel: 'warn',
    });

    for (let call = 0; call < 3; call += 1) await client.chat.completions.create(chat);

    expect(warnings).toHaveLength(count);
    for (const warning of warnings) {
      expect(warning).toContain(
        'The fallback not-listed has no known price, so the budget rejects it: the price list has no model "not-listed". Set budget.perCall["not-listed"]',
      );
    }
  });
});

describe('budget.spent', () => {
  const price = 0.002;

  test('budget.spent is what was spent before, for all clients with the budget', async () => {
    const budget = { limit: 5 * price, spent: 3 * price };
    const { client, emulator } = emulated({ budget });
    const { apiKey, baseURL, fetch } = emulator;
    const other = client.withOptions({ apiKey, baseURL, fetch, timeout: 1_000 });
    expect((await client.account.spent()).budget?.spent).toBeCloseTo(3 * price, 12);

    await client.images.generate(image);
    await other.images.generate(image);

    expect(await failureOf(client.images.generate(image))).toMatchObject({ reason: 'limit' });
    expect((await other.account.spent()).budget?.spent).toBeCloseTo(5 * price, 12);
  });

  test('budget.spent may be a function, which is called once for concurrent calls', async () => {
    let calls = 0;
    const spent = async () => {
      calls += 1;
      return Promise.resolve(4 * price);
    };
    const { client, emulator } = emulated({ budget: { limit: 6 * price, spent } });

    const results = await Promise.allSettled(times(5, () => client.images.generate(image)));
    await failureOf(client.images.generate(image));

    expect(calls).toBe(1);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    expect(emulator.charges).toHaveLength(2);
  });

  test('budget.spent is read from the usage log, as the guide shows', async () => {
    const { client, emulator } = emulated();
    await client.images.generate(image);
    const { apiKey, baseURL, fetch } = emulator;
    const next: Gateway = new Gateway({
      apiKey,
      baseURL,
      fetch,
      logLevel: 'off',
      budget: {
        limit: 1.5 * price,
        spent: async () => {
          const { data } = await next.account.charges();
          const quota = data.reduce(
            (sum, { type, amount }) => sum + (type === 'refund' ? -amount.value : amount.value),
            0,
          );
          return quota / 500_000;
        },
      },
    });

    expect(await failureOf(next.images.generate(image))).toMatchObject({ reason: 'limit' });
    expect(emulator.charges).toHaveLength(1);
  });

  test.each([
    ['throws', () => Promise.reject(new Error('the database is down'))],
    ['returns no amount', () => Number.NaN],
    ['returns a negative amount', () => -1],
  ])('a function that %s rejects the call, and is called again', async (_, first) => {
    let calls = 0;
    const spent = () => {
      calls += 1;
      return calls === 1 ? first() : 0;
    };
    const { client, emulator } = emulated({ budget: { limit: 1, spent } });

    const error = await failureOf(client.images.generate(image));
    await client.images.generate(image);

    expect(error).toMatchObject({ name: 'BudgetError', reason: 'spent', outcome: 'not_sent' });
    expect(calls).toBe(2);
    expect(emulator.charges).toHaveLength(1);
  });

  test('budget.spent must be an amount', async () => {
    const { client, emulator } = emulated({ budget: { limit: 1, spent: -1 } });

    expect(await failureOf(client.images.generate(image))).toMatchObject({ field: 'budget.spent' });
    expect(emulator.requests).toHaveLength(0);
  });
});
