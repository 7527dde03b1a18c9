import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { pauseBefore } from '../../src/http/retry.ts';
import { readRetryAfter } from '../../src/http/retry-after.ts';
import { json, scripted } from '../helpers/clients.ts';
import { settle } from '../helpers/fake-time.ts';
import { completion } from '../helpers/transport.ts';
import { now, rateLimits } from './rate-limits.ts';

beforeEach(() => void vi.useFakeTimers({ now }));
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

function waitAsked(headers: Record<string, string>, status = 429): number | undefined {
  return readRetryAfter(new Headers(headers), status);
}

/** The pause before a retry, with this much luck. */
function pauseWith(luck: number, retries: number): number | undefined {
  vi.spyOn(Math, 'random').mockReturnValue(luck);
  return pauseBefore({ kind: 'interrupted', phase: 'headers', status: 502 }, retries);
}

describe('pauseBefore()', () => {
  test('doubles from 0.5 to 8 seconds', () => {
    const longest = [0, 1, 2, 3, 4, 5, 99].map((retry) => pauseWith(1, retry));
    const middle = [0, 1, 2, 3, 4, 5, 99].map((retry) => pauseWith(0.5, retry));

    expect(longest).toEqual([500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
    expect(middle).toEqual([250, 500, 1_000, 2_000, 4_000, 4_000, 4_000]);
  });

  test('stays between 0 and 8 seconds for any retry and random number', () => {
    fc.assert(
      fc.property(fc.nat(100), fc.double({ min: 0, max: 1, noNaN: true }), (retry, luck) => {
        const pause = pauseWith(luck, retry) ?? -1;
        return Number.isInteger(pause) && pause >= 0 && pause <= 8_000;
      }),
    );
  });

  test.each([
    [0, [0, 1_000, 7_000, 60_000, undefined]],
    [0.5, [0, 1_250, 7_500, 60_500, undefined]],
    [1, [0, 1_500, 8_000, 61_000, undefined]],
  ])(
    'a pause is as long as the server requires, and up to a second longer: %d',
    (luck, expected) => {
      vi.spyOn(Math, 'random').mockReturnValue(luck);
      const pauses = [0, 1, 7, 60, 61].map((seconds) => {
        const headers = new Headers({ 'retry-after': `${seconds}` });
        return pauseBefore({ kind: 'rate_limited', phase: 'headers', headers }, 0);
      });

      expect(pauses).toEqual(expected);
    },
  );
});

describe('readRetryAfter()', () => {
  test.each([
    { name: 'retry-after in seconds', headers: { 'retry-after': '7' }, expected: 7_000 },
    { name: 'retry-after with a fraction', headers: { 'retry-after': '0.25' }, expected: 250 },
    { name: 'retry-after of zero', headers: { 'retry-after': '0' }, expected: 0 },
    { name: 'retry-after with blanks', headers: { 'retry-after': ' 3 ' }, expected: 3_000 },
    {
      name: 'an IMF date',
      headers: { 'retry-after': 'Tue, 01 Sep 2026 12:00:09 GMT' },
      expected: 9_000,
    },
    {
      name: 'an RFC 850 date',
      headers: { 'retry-after': 'Tuesday, 01-Sep-26 12:00:09 GMT' },
      expected: 9_000,
    },
    {
      name: 'an asctime date, which is UTC',
      headers: { 'retry-after': 'Tue Sep  1 12:00:09 2026' },
      expected: 9_000,
    },
    { name: 'an ISO date', headers: { 'retry-after': '2026-09-01T12:00:09Z' }, expected: 9_000 },
    {
      name: 'a date in the past',
      headers: { 'retry-after': 'Tue, 01 Sep 2026 11:00:00 GMT' },
      expected: 0,
    },
    { name: 'a Unix time', headers: { 'retry-after': String(now / 1_000 + 4) }, expected: 4_000 },
    { name: 'retry-after-ms', headers: { 'retry-after-ms': '1500' }, expected: 1_500 },
    {
      name: 'retry-after-ms before retry-after',
      headers: { 'retry-after-ms': '20', 'retry-after': '9' },
      expected: 20,
    },
    {
      name: 'garbage in retry-after-ms, then retry-after',
      headers: { 'retry-after-ms': 'x', 'retry-after': '9' },
      expected: 9_000,
    },
    {
      name: "a provider's hint behind LiteLLM",
      headers: { 'llm_provider-retry-after': '7' },
      expected: 7_000,
    },
    {
      name: "the gateway's own before that",
      headers: { 'llm_provider-retry-after': '7', 'retry-after': '2' },
      expected: 2_000,
    },
    { name: 'ratelimit-reset in seconds', headers: { 'ratelimit-reset': '30' }, expected: 30_000 },
    {
      name: 'ratelimit-reset as a Unix time',
      headers: { 'ratelimit-reset': String(now / 1_000 + 12) },
      expected: 12_000,
    },
    {
      name: 'ratelimit-reset as a date',
      headers: { 'ratelimit-reset': '2026-09-01T12:00:05Z' },
      expected: 5_000,
    },
    {
      name: 'retry-after before ratelimit-reset',
      headers: { 'ratelimit-reset': '30', 'retry-after': '2' },
      expected: 2_000,
    },
  ])('reads $name', ({ headers, expected }) => {
    expect(waitAsked(headers)).toBe(expected);
  });

  test.each([
    ['nothing', {}],
    ['an empty retry-after', { 'retry-after': '' }],
    ['an empty retry-after-ms', { 'retry-after-ms': '' }],
    ['words', { 'retry-after': 'soon' }],
    ['a negative number', { 'retry-after': '-5' }],
    ['a negative retry-after-ms', { 'retry-after-ms': '-5' }],
    ['infinity', { 'retry-after': 'Infinity' }],
    ['a number in another notation', { 'retry-after': '0x10' }],
    ['an exponent', { 'retry-after': '1e3' }],
    ['a bare year', { 'retry-after': 'Sep 2026' }],
    ['several numbers', { 'retry-after': '3, 4' }],
    ['garbage in ratelimit-reset', { 'ratelimit-reset': 'later' }],
  ])('falls back to the backoff for %s', (_, headers) => {
    expect(waitAsked(headers)).toBeUndefined();
  });

  test('reads ratelimit-reset only after a 429, because every response has it', () => {
    expect(waitAsked({ 'ratelimit-reset': '3600' }, 500)).toBeUndefined();
    expect(waitAsked({ 'retry-after': '3' }, 503)).toBe(3_000);
  });

  test('always returns a whole number of milliseconds', () => {
    const text = fc.oneof(fc.string(), fc.integer().map(String), fc.double().map(String));
    fc.assert(
      fc.property(text, text, text, (exact, after, reset) => {
        const headers = new Headers();
        for (const [name, value] of Object.entries({
          'retry-after-ms': exact,
          'retry-after': after,
          'ratelimit-reset': reset,
        })) {
          if (/^[\x20-\x7E]*$/.test(value)) headers.set(name, value);
        }
        const asked = readRetryAfter(headers, 429);
        return asked === undefined || (Number.isInteger(asked) && asked >= 0);
      }),
    );
  });
});

describe('a 429', () => {
  beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0));

  test.each(rateLimits)('a 429 of $name waits $wait ms', async ({ headers = {}, body, wait }) => {
    const times: number[] = [];
    const noteTime = (answer: () => Response) => (): Response => {
      times.push(performance.now());
      return answer();
    };
    const refused = (): Response =>
      Response.json(body ?? { error: { message: 'Too many requests' } }, { status: 429, headers });
    const { client } = scripted([noteTime(refused), noteTime(json(completion))]);
    const messages = [{ role: 'user' as const, content: 'Hi' }];

    const { error } = await settle<unknown>(
      client.chat.completions.create({ model: 'm', messages }),
    );

    expect(times).toHaveLength(wait === undefined ? 1 : 2);
    if (wait === undefined) expect(error).toMatchObject({ status: 429, outcome: 'rejected' });
    else expect((times[1] ?? 0) - (times[0] ?? 0)).toBe(wait);
  });

  test('a 429 with counters that have something left is retried with a pause of the client', () => {
    const headers = { 'x-ratelimit-remaining-tokens': '10', 'x-ratelimit-reset-tokens': '50s' };

    expect(waitAsked(headers)).toBeUndefined();
    expect(waitAsked({ 'x-ratelimit-reset': '7', 'x-ratelimit-remaining': '3' })).toBeUndefined();
  });
});
