import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { decideRetry, failures, type FailureKind } from '../../src/http/retry.ts';
import type { GatewayOptions } from '../../src/options/options.ts';
import { scripted } from '../helpers/clients.ts';
import { chat, draw, text } from '../helpers/transport.ts';
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
          return (
            decideRetry(failed, { ...state, shouldRetry: true }) === decideRetry(failed, state)
          );
        },
      ),
    );
  });
});
