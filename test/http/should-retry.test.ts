import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { decide, failures, type FailureKind } from '../../src/http/retry.ts';
import type { GatewayOptions } from '../../src/options/options.ts';
import { scripted } from '../helpers/clients.ts';
import { chat, draw, list, text } from '../helpers/transport.ts';
import { settle } from '../helpers/fake-time.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Counts the requests of a call with this answer. */
async function sends(
  call: (client: ReturnType<typeof scripted>['client']) => PromiseLike<unknown>,
  status: number,
  asked: string | undefined,
  { code = 'some_code', ...options }: GatewayOptions & { code?: string } = {},
): Promise<number> {
  const headers: Record<string, string> = asked === undefined ? {} : { 'x-should-retry': asked };
  const answer = text(JSON.stringify({ error: { message: 'no', code } }), { status, headers });
  const { client, requests } = scripted([answer], options);
  await settle(call(client));
  return requests.length;
}

describe('x-should-retry', () => {
  test('false ends every call at its first response', async () => {
    for (const status of [408, 409, 425, 429, 500, 502, 503]) {
      for (const call of [list, chat, draw]) expect(await sends(call, status, 'false')).toBe(1);
    }
  });

  test('true retries free calls and rejected calls that were not charged', async () => {
    for (const status of [400, 404, 409, 422]) {
      expect(await sends(list, status, 'true')).toBe(3);
      expect(await sends(chat, status, 'true')).toBe(3);
      expect(await sends(chat, status, undefined)).toBe(1);
    }
    expect(await sends(chat, 409, 'true', { maxRetries: 0 })).toBe(1);
  });

  test('true never adds a retry to a charged call', async () => {
    for (const status of [400, 408, 409, 424, 429, 499, 500, 502, 503, 504, 524]) {
      const usual = await sends(draw, status, undefined);

      expect(await sends(draw, status, 'true')).toBe(usual);
      // Under the strict rule a metered call is like one.
      const strict = { retryUnknownOutcome: false };
      expect(await sends(chat, status, 'true', strict)).toBe(usual);
    }
  });

  test('true retries no permanent error and nothing that may have been charged', async () => {
    expect(await sends(chat, 429, 'true', { code: 'insufficient_quota' })).toBe(1);
    expect(await sends(chat, 503, 'true', { code: 'model_not_found' })).toBe(1);
    expect(await sends(chat, 424, 'true')).toBe(1);
  });

  test('other values are ignored', async () => {
    expect(await sends(chat, 500, 'maybe')).toBe(3);
    expect(await sends(chat, 400, '1')).toBe(1);
  });

  test('a new key is still requested after a 401', async () => {
    let keys = 0;
    const options = { apiKey: () => `sk-${(keys += 1)}` };

    expect(await sends(draw, 401, 'false', options)).toBe(2);
    expect(keys).toBe(2);
  });

  test('no failure allows more retries of a charged call', () => {
    const kinds = Object.keys(failures).filter((name): name is FailureKind => name in failures);
    fc.assert(
      fc.property(
        fc.constantFrom(...kinds),
        fc.constantFrom('headers', 'body', 'sent'),
        fc.nat(3),
        (kind, phase, retries) => {
          const state = {
            charge: 'charged',
            retryUnknownOutcome: undefined,
            maxRetries: 2,
            retries,
            canRefresh: true,
            replayable: true,
          } as const;
          const failed = { kind, phase } as const;
          return decide(failed, { ...state, shouldRetry: true }) === decide(failed, state);
        },
      ),
    );
  });
});
