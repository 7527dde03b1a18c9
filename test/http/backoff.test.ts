import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { pauseBefore, retryAfterFrom } from '../../src/http/retry.ts';

const now = Date.UTC(2026, 8, 1, 12, 0, 0);

beforeEach(() => void vi.useFakeTimers({ now }));
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

function waitAsked(headers: Record<string, string>, status = 429): number | undefined {
  return retryAfterFrom(new Headers(headers), status);
}

/** The pause before a retry, with this much luck. */
function pauseWith(luck: number, retries: number): number | undefined {
  vi.spyOn(Math, 'random').mockReturnValue(luck);
  return pauseBefore({ kind: 'interrupted', phase: 'headers', status: 502 }, retries);
}

describe('pauseBefore()', () => {
  test('doubles from half a second to eight seconds', () => {
    const longest = [0, 1, 2, 3, 4, 5, 99].map((retry) => pauseWith(1, retry));
    const middle = [0, 1, 2, 3, 4, 5, 99].map((retry) => pauseWith(0.5, retry));

    expect(longest).toEqual([500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
    expect(middle).toEqual([250, 500, 1_000, 2_000, 4_000, 4_000, 4_000]);
  });

  test('stays between zero and eight seconds for any retry and any luck', () => {
    fc.assert(
      fc.property(fc.nat(100), fc.double({ min: 0, max: 1, noNaN: true }), (retry, luck) => {
        const pause = pauseWith(luck, retry) ?? -1;
        return Number.isInteger(pause) && pause >= 0 && pause <= 8_000;
      }),
    );
  });

  test('is what the server asks for, up to a minute', () => {
    const pauses = [0, 7, 60, 61].map((seconds) => {
      const headers = new Headers({ 'retry-after': `${seconds}` });
      return pauseBefore({ kind: 'rate_limited', phase: 'headers', headers }, 0);
    });

    expect(pauses).toEqual([0, 7_000, 60_000, undefined]);
  });
});

describe('retryAfterFrom()', () => {
  test.each([
    ['retry-after in seconds', { 'retry-after': '7' }, 7_000],
    ['retry-after with a fraction', { 'retry-after': '0.25' }, 250],
    ['retry-after of zero', { 'retry-after': '0' }, 0],
    ['retry-after with blanks', { 'retry-after': ' 3 ' }, 3_000],
    ['an IMF date', { 'retry-after': 'Tue, 01 Sep 2026 12:00:09 GMT' }, 9_000],
    ['an RFC 850 date', { 'retry-after': 'Tuesday, 01-Sep-26 12:00:09 GMT' }, 9_000],
    ['an asctime date, which is UTC', { 'retry-after': 'Tue Sep  1 12:00:09 2026' }, 9_000],
    ['an ISO date', { 'retry-after': '2026-09-01T12:00:09Z' }, 9_000],
    ['a date in the past', { 'retry-after': 'Tue, 01 Sep 2026 11:00:00 GMT' }, 0],
    ['a Unix time', { 'retry-after': String(now / 1_000 + 4) }, 4_000],
    ['retry-after-ms', { 'retry-after-ms': '1500' }, 1_500],
    ['retry-after-ms before retry-after', { 'retry-after-ms': '20', 'retry-after': '9' }, 20],
    [
      'garbage in retry-after-ms, then retry-after',
      { 'retry-after-ms': 'x', 'retry-after': '9' },
      9_000,
    ],
    ["a provider's hint behind LiteLLM", { 'llm_provider-retry-after': '7' }, 7_000],
    [
      "the gateway's own before that",
      { 'llm_provider-retry-after': '7', 'retry-after': '2' },
      2_000,
    ],
    ['ratelimit-reset in seconds', { 'ratelimit-reset': '30' }, 30_000],
    ['ratelimit-reset as a Unix time', { 'ratelimit-reset': String(now / 1_000 + 12) }, 12_000],
    ['ratelimit-reset as a date', { 'ratelimit-reset': '2026-09-01T12:00:05Z' }, 5_000],
    ['retry-after before ratelimit-reset', { 'ratelimit-reset': '30', 'retry-after': '2' }, 2_000],
  ])('reads %s', (_, headers, expected) => {
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

  test('looks at ratelimit-reset only after a rate limit, as it is sent with every answer', () => {
    expect(waitAsked({ 'ratelimit-reset': '3600' }, 500)).toBeUndefined();
    expect(waitAsked({ 'retry-after': '3' }, 503)).toBe(3_000);
  });

  test('never gives anything but a whole number of milliseconds', () => {
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
        const asked = retryAfterFrom(headers, 429);
        return asked === undefined || (Number.isInteger(asked) && asked >= 0);
      }),
    );
  });
});
