// Profiles describe which parts of an account a gateway exposes.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Account, createGateway } from '../../src/core.ts';
import {
  type AccountRules,
  type Gateway,
  type GatewayOptions,
  type GatewayProfile,
  InvalidInputError,
  UnsupportedByGatewayError,
} from '../../src/index.ts';
import { createEmulator } from '../../src/testing/index.ts';
import { failureOf, json, scripted } from '../helpers/clients.ts';

const tokens = { input: 3, output: 5 };

const account: AccountRules = {
  charge: {
    path: '/v1/calls/{id}',
    read: ({ id, price }) =>
      typeof id === 'string' && typeof price === 'number'
        ? {
            type: 'consume',
            amount: { value: price, unit: 'USD' },
            model: 'm-chat',
            at: 1_700_000_000_000,
            requestId: id,
            taskId: undefined,
            reason: undefined,
            tokens,
            raw: { id, price },
          }
        : 'the answer holds no price',
  },
  balance: [
    {
      paths: ['/v1/purse', '/v1/purse/spent'],
      read: (purse, spent) => {
        const [limit, used] = [Number(purse?.['limit']), Number(spent?.['used'])];
        return {
          used: { value: used, unit: 'USD' },
          limit: { value: limit, unit: 'USD' },
          available: { value: limit - used, unit: 'USD' },
          expiresAt: undefined,
        };
      },
    },
  ],
};

const gateway: GatewayProfile = { name: 'other', account };

describe('the account of a profile', () => {
  test('the account of a profile reads the balance from its routes', async () => {
    const { client, requests } = scripted([json({ limit: 10, used: 4 })], { gateway });

    expect(await client.account.balance()).toMatchObject({
      used: { value: 4, unit: 'USD' },
      available: { value: 6, unit: 'USD' },
    });
    expect(requests.map(({ url }) => url)).toEqual([
      'https://gateway.test/v1/purse',
      'https://gateway.test/v1/purse/spent',
    ]);
  });

  test('the account of a profile finds a charge by request id', async () => {
    const { client, requests } = scripted([json({ id: 'req/1', price: 0.25 })], { gateway });

    expect(await client.account.settle('req/1')).toMatchObject({
      verdict: 'charged',
      amount: { value: 0.25, unit: 'USD' },
      requestId: 'req/1',
    });
    const { data } = await client.account.charges({ requestId: 'req/1' });

    expect(data).toMatchObject([{ requestId: 'req/1', tokens }]);
    expect(JSON.stringify(data)).not.toContain('raw');
    expect(requests[0]?.url).toBe('https://gateway.test/v1/calls/req%2F1');
  });

  test('the account of a profile draws no conclusion from a missing request', async () => {
    const { client } = scripted([json({}, 404)], { gateway });

    expect(await client.account.settle('req-1')).toMatchObject({ verdict: 'unknowable' });
    expect((await client.account.charges({ requestId: 'req-1' })).data).toEqual([]);
  });

  test('the account of a profile requires a request id if that is the only key', async () => {
    const { client, requests } = scripted([json({})], { gateway });

    const error = await failureOf(client.account.charges({ model: 'm-chat' }));

    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error).toMatchObject({ field: 'requestId' });
    expect(requests).toHaveLength(0);
  });

  test('the account of a profile names missing fields of a response', async () => {
    const { client } = scripted([json({ id: 'req-1' })], { gateway });

    const error = await failureOf(client.account.charges({ requestId: 'req-1' }));

    expect(error).toBeInstanceOf(UnsupportedByGatewayError);
    expect(String(error)).toContain('the answer holds no price');
  });

  test('the account is rejected before anything is sent if the profile has none', async () => {
    for (const named of ['openai', { name: 'bare' }] as const) {
      const { client, requests } = scripted([json({})], { gateway: named });
      for (const call of [
        client.account.charges(),
        client.account.balance(),
        client.account.prices(),
        client.account.settle('20260101000000abc'),
        client.account.estimate({ model: 'm-chat' }),
      ]) {
        const error = await failureOf(call);
        expect(error).toBeInstanceOf(UnsupportedByGatewayError);
        expect(error).toMatchObject({ outcome: 'not_sent' });
      }
      expect(requests).toHaveLength(0);
    }
  });

  test("the account is new-api's without a profile", async () => {
    const { apiKey, baseURL, fetch } = createEmulator();
    const client = createGateway({ apiKey, baseURL, fetch }, { account: Account });

    expect((await client.account.prices()).models.length).toBeGreaterThan(0);
    expect((await client.account.charges()).data).toEqual([]);
  });
});

const reads = (client: Gateway) => [
  () => client.account.balance(),
  () => client.account.charges(),
  () => client.account.prices(),
  () => client.account.estimate({ model: 'm-chat' }),
  () => client.account.settle('20260101000000abc'),
];

describe('a host that is no new-api', () => {
  afterEach(() => void vi.useRealTimers());

  const missing: readonly (readonly [string, () => Response])[] = [
    ['a 404 of Kong', json({ message: 'no Route matched with those values' }, 404)],
    ['a 404 of OpenAI', json({ error: { message: 'Unknown request URL', code: null } }, 404)],
    ['a 404 page', () => new Response('<html>Not found', { status: 404 })],
    ['a page', () => new Response('<!doctype html><title>Home', { status: 200 })],
    ['a 405', json({ detail: 'Method Not Allowed' }, 405)],
    ['a 501', () => new Response(null, { status: 501 })],
  ];
  test.each(missing)(
    'a host that is not new-api is asked with the key once for its account: %s',
    async (_, answer) => {
      const { client, requests } = scripted([answer]);

      const errors: unknown[] = [];
      for (const read of reads(client)) errors.push(await failureOf(read()).catch(() => undefined));
      errors.push(await failureOf(client.withOptions({ timeout: 9_000 }).account.balance()));

      expect(requests).toHaveLength(1);
      const unsupported = errors.filter((error) => UnsupportedByGatewayError.isInstance(error));
      expect(unsupported.length).toBeGreaterThanOrEqual(5);
      expect(String(errors.at(-1))).toContain(
        'GET /api/usage/token/ has shown that the host is no',
      );
    },
  );

  test('a host that is not new-api is asked again after ten minutes, as it may have been starting', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { client, requests } = scripted([json({}, 404)]);
    await failureOf(client.account.balance());

    vi.setSystemTime(Date.now() + 600_000);
    await failureOf(client.account.balance());

    expect(requests).toHaveLength(2);
  });

  test('is asked again once its kind is named', async () => {
    const { client, requests } = scripted([json({}, 404)]);
    await failureOf(client.account.balance());

    await failureOf(client.withOptions({ gateway: 'new-api' }).account.charges());

    expect(requests.map(({ url }) => new URL(url).pathname)).toEqual([
      '/api/usage/token/',
      '/api/log/token',
    ]);
  });

  test.each<[string, GatewayOptions, () => Response]>([
    ['named new-api', { gateway: 'new-api' }, json({}, 404)],
    [
      'that answers as one',
      {},
      json({ error: { message: 'Invalid URL (GET /api/usage/token/)', type: 'x' } }, 404),
    ],
    [
      'whose headers are those of one',
      {},
      () => new Response('<html>', { status: 404, headers: { 'x-oneapi-request-id': '2026' } }),
    ],
  ])('a host %s is asked all', async (_, options, answer) => {
    const { client, requests } = scripted([answer], options);

    await failureOf(client.account.balance());

    expect(requests.map(({ url }) => new URL(url).pathname)).toEqual([
      '/api/usage/token/',
      '/v1/dashboard/billing/subscription',
      '/v1/dashboard/billing/usage',
      // A 404 of a route with /v1 is asked for once without it.
      '/dashboard/billing/subscription',
      '/dashboard/billing/usage',
    ]);
  });
});
