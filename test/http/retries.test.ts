import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  APIConnectionTimeoutError,
  InternalServerError,
  RateLimitError,
  VideoSubmitUnknownError,
} from '../../src/index.ts';
import { bodyOf, emulated, json, scripted } from '../helpers/clients.ts';
import { cutResponse, fetchFailure, never } from '../helpers/failures.ts';
import {
  chat,
  completion,
  draw,
  error,
  film,
  html,
  limited,
  messages,
  models,
  slow,
  stuck,
  text,
  timesOf,
} from '../helpers/transport.ts';
import { settle } from '../helpers/fake-time.ts';

describe('the number of requests', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test.each([
    { name: 'no option', options: {}, count: 1 },
    { name: 'idempotency', options: { idempotency: { header: 'Idempotency-Key' } }, count: 3 },
  ])('with $name, a metered call that hits its timeout is sent $count times', async (row) => {
    const { client, requests } = scripted([never], { timeout: 1_000, ...row.options });

    const { error: failure } = await settle(chat(client));

    expect(requests).toHaveLength(row.count);
    expect(failure).toBeInstanceOf(APIConnectionTimeoutError);
    expect(failure).toMatchObject({ outcome: 'unknown', timeout: 1_000 });
  });

  test('maxRetries does not allow more retries', async () => {
    for (const [maxRetries, count] of [
      [0, 1],
      [1, 2],
      [4, 5],
    ] as const) {
      const { client, requests } = scripted([error('x', 500)]);
      await settle(client.models.list({ maxRetries }));
      expect(requests).toHaveLength(count);
    }
    const { client, requests } = scripted([html(502)], { maxRetries: 100 });
    await settle(film(client));
    expect(requests).toHaveLength(1);
  });

  test('a call that recovers returns its response', async () => {
    const { client, requests } = scripted([
      () => fetchFailure('ECONNREFUSED', 'connect'),
      error('', 429),
      json(completion),
    ]);

    const { value } = await settle(chat(client));

    expect(value).toMatchObject({ id: 'chatcmpl-1' });
    expect(requests).toHaveLength(3);
    expect(await bodyOf(requests[2])).toEqual({ model: 'm', messages });
  });

  test('a read with a cut body is requested again', async () => {
    const { client, requests } = scripted([
      () => cutResponse('{"data":[{', { headers: { 'x-request-id': 'first' } }),
      text(JSON.stringify(models), {
        headers: { 'content-type': 'application/json', 'x-request-id': 'second' },
      }),
    ]);

    const { value } = await settle(client.models.list().withResponse());

    expect(requests).toHaveLength(2);
    expect(value?.data.data).toEqual([]);
    expect(value?.response.headers.get('content-type')).toContain('json');
    expect(value?.request_id).toBe('second');
    expect(value?.data._request_id).toBe('second');
  });
});

const later = (seconds: number) => Date.now() / 1_000 + seconds;
const google = (retryDelay: string) => ({
  code: 429,
  status: 'RESOURCE_EXHAUSTED',
  details: [
    { '@type': 'type.googleapis.com/google.rpc.Help', links: [] },
    { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay },
  ],
});
const spoken = (message: string) => ({ message });
const routed = (fields: object) => ({ message: 'Limited', code: 429, metadata: fields });

describe('pauses', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    vi.spyOn(Math, 'random').mockReturnValue(1);
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('pauses grow from 0.5 seconds', async () => {
    const { times } = await timesOf([error('x', 500)], { maxRetries: 5 });

    expect(times).toEqual([0, 500, 1_500, 3_500, 7_500, 15_500]);
  });

  test('pauses are as long as Retry-After requires', async () => {
    vi.mocked(Math.random).mockReturnValue(0);
    const { times } = await timesOf([
      limited({ 'retry-after': '7' }),
      limited({ 'retry-after-ms': '20' }),
      json(models),
    ]);

    expect(times).toEqual([0, 7_000, 7_020]);
  });

  test.each([
    ['a date', () => ({ 'retry-after': new Date(Date.now() + 9_000).toUTCString() })],
    ['the reset of a rate limit', () => ({ 'ratelimit-reset': '9' })],
    ['a reset at a point in time', () => ({ 'ratelimit-reset': `${Date.now() / 1_000 + 9}` })],
  ])('pauses are as long as %s requires', async (_, headers) => {
    vi.mocked(Math.random).mockReturnValue(0);
    vi.setSystemTime('2026-09-01T12:00:00Z');

    const { times } = await timesOf([limited(headers()), json(completion)], {}, draw);

    expect(times).toEqual([0, 9_000]);
  });

  test.each<[string, (seconds: number) => object]>([
    ["Google's RetryInfo", (seconds) => ({ body: { error: google(`${seconds}s`) } })],
    ["Google's RetryInfo in a list", (seconds) => ({ body: [{ error: google(`${seconds}s`) }] })],
    [
      "RetryInfo in OpenRouter's JSON text",
      (seconds) => ({
        body: { error: routed({ raw: JSON.stringify({ error: google(`${seconds}s`) }) }) },
      }),
    ],
    [
      'RetryInfo in a message',
      (seconds) => ({
        body: { error: spoken(`RateLimitError: ${JSON.stringify(google(`${seconds}s`))}`) },
      }),
    ],
    [
      'Please retry in',
      (seconds) => ({ body: { error: spoken(`Quota exceeded.\nPlease retry in ${seconds}s.`) } }),
    ],
    ['try again in', (seconds) => ({ body: { error: spoken(`try again in ${seconds}s.`) } })],
    [
      'a wait in words',
      (seconds) => ({ body: { error: spoken(`Please retry after ${seconds} seconds.`) } }),
    ],
    [
      'a wait in milliseconds',
      (seconds) => ({ body: { error: spoken(`Try again in ${seconds * 1_000}ms`) } }),
    ],
    ['plain text', (seconds) => ({ body: `Too many requests, try again in ${seconds}s` })],
    ['x-ratelimit-reset', (seconds) => ({ headers: { 'x-ratelimit-reset': `${seconds}` } })],
    [
      'x-ratelimit-reset at a time',
      (seconds) => ({ headers: { 'x-ratelimit-reset': `${later(seconds)}` } }),
    ],
    [
      'x-ratelimit-reset at a time in milliseconds',
      (seconds) => ({ headers: { 'x-ratelimit-reset': `${later(seconds) * 1_000}` } }),
    ],
    [
      "x-ratelimit-reset in OpenRouter's body",
      (seconds) => ({
        body: {
          error: routed({ headers: { 'X-RateLimit-Reset': `${later(seconds) * 1_000}` } }),
        },
      }),
    ],
    [
      'x-ratelimit-reset-requests without what remains',
      (seconds) => ({ headers: { 'x-ratelimit-reset-requests': `${seconds}s` } }),
    ],
    [
      'x-ratelimit-reset-requests with nothing remaining',
      (seconds) => ({
        headers: {
          'x-ratelimit-remaining-requests': '0',
          'x-ratelimit-reset-requests': `${seconds}s`,
        },
      }),
    ],
  ])('pauses are as long as %s requires, and end the call after a minute', async (_, limit) => {
    vi.mocked(Math.random).mockReturnValue(0);
    vi.setSystemTime('2026-09-01T12:00:00Z');
    const refused = (seconds: number) => {
      const { body = { error: { message: 'no' } }, headers = {} } = Object(limit(seconds));
      const content: string = typeof body === 'string' ? body : JSON.stringify(body);
      return () => new Response(content, { status: 429, headers });
    };

    const { times } = await timesOf([refused(9), json(completion)], {}, draw);
    const { times: long, failure } = await timesOf([refused(61)], {}, draw);

    expect(times).toEqual([0, 9_000]);
    expect(long).toEqual([0]);
    expect(failure).toBeInstanceOf(RateLimitError);
  });

  test.each<[string, object, Record<string, string>?]>([
    ['a text without a number', spoken('Please retry in a few seconds.')],
    ['a text with another unit', spoken('Do not retry after 3 attempts.')],
    ['another number', spoken('Limit 20, used 19.')],
    ['an unreadable delay', google('soon')],
    [
      'a reset with something remaining',
      {},
      { 'x-ratelimit-reset': '9', 'x-ratelimit-remaining': '1' },
    ],
    [
      'a reset of requests with something remaining',
      {},
      { 'x-ratelimit-reset-requests': '9s', 'x-ratelimit-remaining-requests': '1' },
    ],
  ])('pauses are the usual ones after %s', async (_, body, headers = {}) => {
    const limit = () => Response.json({ error: body }, { status: 429, headers });

    const { times } = await timesOf([limit, json(completion)], {}, draw);

    expect(times).toEqual([0, 500]);
  });

  test.each(['message', 'retry-info', 'reset'] as const)(
    'pauses are as long as the emulator says in its %s',
    async (place) => {
      vi.mocked(Math.random).mockReturnValue(0);
      const { client, emulator } = emulated();
      emulator.fail({ fault: { type: 'rate-limit', retryAfter: 7, place }, times: 1 });
      const start = performance.now();

      const { value } = await settle(chat(client));

      expect(value?.choices).toHaveLength(1);
      expect(Math.floor((performance.now() - start) / 1_000)).toBe(7);
      expect(emulator.charges).toHaveLength(1);
    },
  );

  test('pauses of more than a minute end the call', async () => {
    const { times, failure, elapsed } = await timesOf([limited({ 'retry-after': '61' })]);

    expect(times).toEqual([0]);
    expect(elapsed).toBe(0);
    expect(failure).toBeInstanceOf(RateLimitError);
  });

  test('last at least a second after a 429 without Retry-After', async () => {
    const { times } = await timesOf([text('', { status: 429 })], {}, draw);

    expect(times).toEqual([0, 1_000]);
  });

  test("pauses end with totalTimeout, and don't start if they would exceed it", async () => {
    const { times, failure, elapsed } = await timesOf([slow], { totalTimeout: 1_000 });

    expect(times).toEqual([0, 900]);
    expect(elapsed).toBe(1_000);
    expect(failure).toBeInstanceOf(APIConnectionTimeoutError);
    expect(failure).toHaveProperty('timeout', 1_000);
  });

  test("don't start if totalTimeout leaves no time", async () => {
    const { times, failure, elapsed } = await timesOf([error('x', 500)], { totalTimeout: 400 });

    expect(times).toEqual([0]);
    expect(elapsed).toBe(0);
    expect(failure).toBeInstanceOf(InternalServerError);
  });
});

describe('time limits', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    vi.spyOn(Math, 'random').mockReturnValue(0);
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('timeout ends an attempt, also if fetch ignores the abort', async () => {
    const { client, requests } = scripted([never]);
    const start = performance.now();
    const call = client.models.list({ timeout: 2_000, maxRetries: 1 });
    const elapsed = call.then(String, () => performance.now() - start);

    const { error: failure } = await settle(call);

    expect(await elapsed).toBeCloseTo(4_000, -1);
    expect(requests).toHaveLength(2);
    expect(failure).toBeInstanceOf(APIConnectionTimeoutError);
    expect(failure).toHaveProperty('timeout', 2_000);
    expect(failure).toHaveProperty('message', expect.stringContaining('2000 ms'));
  });

  test('an attempt after a timeout has its full time and a new signal', async () => {
    const signals: (AbortSignal | null | undefined)[] = [];
    const { client } = scripted([], {
      fetch: async (_, init) => {
        signals.push(init?.signal);
        if (signals.length === 1) return never();
        await new Promise((resolve) => setTimeout(resolve, 1_900));
        return Response.json(models);
      },
    });

    const { value } = await settle(client.models.list({ timeout: 2_000 }));

    expect(value).toMatchObject({ data: [] });
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, false]);
  });

  test('timeout covers the body of a whole response', async () => {
    const { client, requests } = scripted([stuck]);

    const { error: failure } = await settle(
      client.images.generate({ model: 'm', prompt: 'x' }, { timeout: 3_000 }),
    );

    expect(requests).toHaveLength(1);
    expect(failure).toBeInstanceOf(APIConnectionTimeoutError);
    expect(failure).toHaveProperty('outcome', 'unknown');
    expect(failure).toHaveProperty('evidence.status', 200);
  });

  test('a read with a late body is retried', async () => {
    const { client, requests } = scripted([stuck, json(models)]);

    const { value } = await settle(client.models.list({ timeout: 3_000 }));

    expect(value).toMatchObject({ data: [] });
    expect(requests).toHaveLength(2);
  });

  test('timeout covers the apiKey function, and then nothing was sent', async () => {
    const { client, requests } = scripted([json(completion)], { apiKey: never });

    const { error: failure } = await settle(chat(client.withOptions({ timeout: 5_000 })));

    expect(requests).toHaveLength(0);
    expect(failure).toBeInstanceOf(APIConnectionTimeoutError);
    expect(failure).toHaveProperty('outcome', 'not_sent');
    expect(failure).toHaveProperty('evidence.attempts', []);
  });

  test('totalTimeout covers all attempts, also if fetch ignores the abort', async () => {
    const { client, requests } = scripted([never]);
    const start = performance.now();

    const { error: failure } = await settle(
      client.models.list({ timeout: 2_000, totalTimeout: 5_000, maxRetries: 9 }),
    );

    expect(performance.now() - start).toBe(5_000);
    expect(requests).toHaveLength(3);
    expect(failure).toHaveProperty('timeout', 5_000);
  });

  test('a video submission that times out has an unknown outcome', async () => {
    const { client, requests } = scripted([never]);

    const { error: failure } = await settle(film(client));

    expect(requests).toHaveLength(1);
    expect(failure).toBeInstanceOf(VideoSubmitUnknownError);
    expect(failure).toHaveProperty('cause', expect.any(APIConnectionTimeoutError));
  });
});
