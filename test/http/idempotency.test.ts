import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { InvalidInputError } from '../../src/index.ts';
import { RetryBudget } from '../../src/http/retry.ts';
import { failureOf, json, scripted } from '../helpers/clients.ts';
import { settle } from '../helpers/fake-time.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const image = { created: 1, data: [{ url: 'https://files.test/a.png' }] };
const params = { model: 'm-image', prompt: 'A fox' };
const lost = (): Error => new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } });
const idempotency = { header: 'Idempotency-Key' };

describe('idempotency', () => {
  test('no key is sent, and no charged call is retried, without the option', async () => {
    const { client, requests } = scripted([lost(), json(image)]);

    const { error } = await settle(client.images.generate(params));

    expect(error).toMatchObject({ outcome: 'unknown' });
    expect(requests).toHaveLength(1);
    expect([...(requests[0]?.headers.keys() ?? [])].toSorted()).toEqual([
      'accept',
      'authorization',
      'content-type',
    ]);
  });

  test.each([
    ['a lost connection', lost()],
    ['a 502', () => new Response('<html>bad gateway</html>', { status: 502 })],
    ['a 500', json({ error: { message: 'broken', type: 'server_error' } }, 500)],
    ['a cut answer', () => new Response('{"created":1,"da')],
    ['a conflict: the first attempt is still at work', json({ error: { message: 'busy' } }, 409)],
  ])('%s is retried with the same key', async (_, answer) => {
    const { client, requests } = scripted([answer, json(image)], { idempotency });

    const { value: result } = await settle(client.images.generate(params));

    const keys = requests.map(({ headers }) => headers.get('idempotency-key'));
    expect(result?.data).toHaveLength(1);
    expect(keys).toHaveLength(2);
    expect(keys[0]).toMatch(/^call_\w+$/);
    expect(keys[1]).toBe(keys[0]);
  });

  test('every call has its own key, and reads have none', async () => {
    const { client, requests } = scripted([json(image), json(image), json({ data: [] })], {
      idempotency,
    });

    await settle(client.images.generate(params));
    await settle(client.images.generate(params));
    await settle(client.models.list());

    const keys = requests.map(({ headers }) => headers.get('idempotency-key'));
    expect(new Set(keys).size).toBe(3);
    expect(keys[2]).toBeNull();
  });

  test("the caller's key is sent, and null disables the option for a call", async () => {
    const { client, requests } = scripted([json(image)], { idempotency });

    await settle(client.images.generate(params, { idempotencyKey: 'order-1' }));
    await settle(client.images.generate(params, { idempotency: null }));

    expect(requests.map(({ headers }) => headers.get('idempotency-key'))).toEqual([
      'order-1',
      null,
    ]);
  });

  test('an error may contain the idempotency key, which gives no access', async () => {
    const message = 'order-12345678 was used for another image';
    const { client } = scripted([json({ error: { message } }, 422)], { idempotency });

    const { error } = await settle(
      client.images.generate(params, { idempotencyKey: 'order-12345678' }),
    );

    expect(error).toMatchObject({ status: 422, message: expect.stringContaining(message) });
  });

  test('a rejected call is not retried', async () => {
    const { client, requests } = scripted([json({ error: { message: 'no' } }, 400)], {
      idempotency,
    });

    const { error } = await settle(client.images.generate(params));

    expect(error).toMatchObject({ status: 400, outcome: 'rejected' });
    expect(requests).toHaveLength(1);
  });

  test.each([
    {
      name: 'an invalid header name',
      options: { idempotency: { header: 'a b' } },
      field: 'idempotency.header',
    },
    {
      name: 'a header with another meaning',
      options: { idempotency: { header: 'Authorization' } },
      field: 'idempotency.header',
    },
    {
      name: 'a key without the option',
      options: { idempotencyKey: 'order-1' },
      field: 'idempotencyKey',
    },
    {
      name: 'a key that no header can carry',
      options: { idempotency, idempotencyKey: 'a\nb' },
      field: 'idempotencyKey',
    },
  ])('$name is rejected before anything is sent', async ({ options, field }) => {
    const { client, requests } = scripted([json(image)]);

    const error = await failureOf(client.images.generate(params, options));

    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error).toMatchObject({ field });
    expect(requests).toHaveLength(0);
  });
});

describe('the retry budget', () => {
  test('an outage does not multiply the load: after 100 retries each call fails at once', async () => {
    const { client, requests } = scripted([lost()], { maxRetries: 2 });

    for (let call = 0; call < 100; call += 1) await settle(client.models.list());

    expect(requests).toHaveLength(100 + 100);
  });

  test('five successful calls allow one more retry', async () => {
    let isDown = true;
    const list = json({ object: 'list', data: [] });
    const { client, requests } = scripted([() => (isDown ? lost() : list())], { maxRetries: 1 });
    for (let call = 0; call < 101; call += 1) await settle(client.models.list());
    isDown = false;
    for (let call = 0; call < 5; call += 1) await client.models.list();
    isDown = true;
    const before = requests.length;

    await settle(client.models.list());
    await settle(client.models.list());

    expect(requests).toHaveLength(before + 2 + 1);
  });

  test('the retry budget is an option of the client, shared by its copies, and named once it is used up', async () => {
    const { client, requests } = scripted([lost()], { maxRetries: 2, retryBudget: 3 });
    const copy = client.withOptions({ timeout: 5_000 });

    await settle(client.models.list());
    const { error: second } = await settle(copy.models.list());
    const { error: third } = await settle(client.models.list());
    const { error: own } = await settle(client.withOptions({ retryBudget: 1 }).models.list());

    expect(requests).toHaveLength(3 + 2 + 1 + 2);
    for (const error of [second, third, own]) {
      expect(String(error)).toContain('no retry is left: too many calls of this client fail');
      expect(error).toMatchObject({ name: 'APIConnectionError', outcome: 'unknown' });
    }
  });

  test('with null, retries have no common limit', async () => {
    const { client, requests } = scripted([lost()], { maxRetries: 1, retryBudget: null });

    for (let call = 0; call < 150; call += 1) await settle(client.models.list());

    expect(requests).toHaveLength(300);
  });

  test('a retry after a timeout costs twice as much', () => {
    const budget = new RetryBudget(100);
    let retries = 0;
    while (budget.take(true)) retries += 1;

    expect(retries).toBe(50);
  });
});
