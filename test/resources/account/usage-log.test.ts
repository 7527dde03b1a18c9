import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  APIConnectionError,
  APIUserAbortError,
  UsageLogLimitError,
  InvalidInputError,
  UnsupportedByGatewayError,
} from '../../../src/index.ts';
import { emulated, failureOf, json, scripted } from '../../helpers/clients.ts';
import { logEntry } from '../../helpers/usage-log.ts';

const image = { model: 'm-image', prompt: 'A red circle' };
const video = { model: 'm-video', prompt: 'A boat', seconds: 4 };

const usd = (value: number) => ({ value, unit: 'USD' });

const limited = (headers: Record<string, string>) => (): Response =>
  new Response(null, { status: 429, headers });

const page = () =>
  new Response('<!doctype html><title>Console</title>', {
    headers: { 'content-type': 'text/html' },
  });

/** An answer that comes when it is given. */
class Held {
  declare give: (answer: Response) => void;
  readonly answer = new Promise<Response>((resolve) => {
    this.give = resolve;
  });
}

const countReads = (emulator: { requests: readonly { path: string }[] }): number =>
  emulator.requests.filter(({ path }) => path === '/api/log/token').length;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('charges', () => {
  test('charges list charged amounts by the request id of the response', async () => {
    const { client, emulator } = emulated();
    const answer = await client.images.generate(image);
    await client.embeddings.create({ model: 'm-embedding', input: 'two words' });

    const { data, asOf, oldestAt } = await client.account.charges({
      requestId: answer._request_id ?? '',
    });

    const [charge] = emulator.charges;
    expect(data).toMatchObject([
      {
        type: 'consume',
        amount: { value: 1000, unit: 'quota' },
        model: 'm-image',
        requestId: charge?.requestId,
        taskId: undefined,
        at: Math.floor((charge?.at ?? 0) / 1000) * 1000,
      },
    ]);
    expect(asOf).toBe(Date.now());
    expect(oldestAt).toBe(data[0]?.at);
    expect(Object.keys(data[0] ?? {})).not.toContain('raw');
    expect(data[0]?.raw['other']).toMatchObject({ request_path: '/v1/images/generations' });
  });

  test('charges of a refund have the task id and the reason, but no request id', async () => {
    const { client, emulator } = emulated();
    const task = await client.videos.create(video);
    emulator.videos.fail(task.id, 'No likeness');

    const { data } = await client.account.charges({ taskId: task.id });

    expect(data).toMatchObject([
      { type: 'refund', amount: { value: 4000 }, requestId: undefined, reason: 'No likeness' },
    ]);
  });

  test('charges are filtered by model, type and time', async () => {
    const { client } = emulated({}, { quirks: { usageLogErrors: true } });
    const types = async (query: Parameters<typeof client.account.charges>[0]) => {
      const { data } = await client.account.charges(query, { maxAge: 0 });
      return data.map(({ type }) => type);
    };
    await client.images.generate(image);
    vi.advanceTimersByTime(5_000);
    const later = new Date();
    await client.embeddings.create({ model: 'm-embedding', input: 'a' });
    await failureOf(client.images.generate({ ...image, size: '1x' }));

    expect(await types({})).toEqual(['error', 'consume', 'consume']);
    expect(await types({ model: 'm-image' })).toEqual(['error', 'consume']);
    expect(await types({ type: 'consume' })).toEqual(['consume', 'consume']);
    expect(await types({ since: later })).toEqual(['error', 'consume']);
    expect(await types({ since: later.getTime(), type: 'consume', model: 'm-image' })).toEqual([]);
  });

  test('charges share one request if requested together or within five seconds', async () => {
    const { client, emulator } = emulated();
    await client.images.generate(image);
    await Promise.all(Array.from({ length: 50 }, () => client.account.charges()));
    vi.advanceTimersByTime(5_000);
    await client.account.charges();
    expect(countReads(emulator)).toBe(1);

    vi.advanceTimersByTime(1);
    await client.account.charges();
    expect(countReads(emulator)).toBe(2);

    vi.advanceTimersByTime(1);
    await client.account.charges({}, { maxAge: 0 });
    await client.account.charges({}, { maxAge: 60_000 });
    expect(countReads(emulator)).toBe(3);
  });

  test('charges are requested again for another key', async () => {
    const { client, emulator } = emulated();
    await client.images.generate(image);
    await client.account.charges();
    client.apiKey = 'sk-other';

    expect(await failureOf(client.account.charges())).toMatchObject({ status: 401 });
    expect(countReads(emulator)).toBe(2);
  });

  test('charges use routes below the root, also when the base URL ends with /v1', async () => {
    const { client } = emulated({ baseURL: 'http://emulator.test/v1' });
    expect(await client.account.charges()).toMatchObject({ data: [] });
  });

  test('charges are delayed if the usage log is, and missing if the operator disables it', async () => {
    const { client, emulator } = emulated({}, { quirks: { usageLogDelay: 3_000 } });
    const count = async () => (await client.account.charges({}, { maxAge: 0 })).data.length;
    await client.images.generate(image);
    expect(await count()).toBe(0);
    vi.advanceTimersByTime(3_000);
    expect(await count()).toBe(1);

    emulator.quirks.usageLogCharges = false;
    await client.images.generate(image);
    vi.advanceTimersByTime(60_000);
    expect(await count()).toBe(1);
    expect(emulator.charges).toHaveLength(2);
  });

  test('charges contain only the newest entries, and the time of the oldest one', async () => {
    const { client } = emulated({}, { quirks: { usageLogEntries: 2 } });
    for (const model of ['a', 'b', 'c']) {
      await client.images.generate({ ...image, model });
      vi.advanceTimersByTime(10_000);
    }
    const { data, oldestAt } = await client.account.charges({ model: 'a' });
    expect(data).toEqual([]);
    expect(Date.now() - (oldestAt ?? 0)).toBeLessThan(21_000);
  });

  test('charges of a time range use whole seconds, as the gateway does', async () => {
    const { client } = emulated();
    const at = Math.ceil(Date.now() / 1_000) * 1_000;
    vi.setSystemTime(at + 300);
    for (const model of ['a', 'b', 'c']) {
      await client.images.generate({ ...image, model });
      vi.advanceTimersByTime(1_000);
    }
    const models = async (query: Parameters<typeof client.account.charges>[0]) => {
      const { data } = await client.account.charges(query);
      return data.map(({ model }) => model);
    };
    expect(await models({ from: at + 1_400 })).toEqual(['c', 'b']);
    expect(await models({ since: at + 1_400 })).toEqual(['c', 'b']);
    expect(await models({ to: new Date(at + 1_000) })).toEqual(['b', 'a']);
    expect(await models({ from: at + 1_000, to: at + 1_999 })).toEqual(['b']);
  });

  test('a failed request keeps the previous result', async () => {
    const entries = json({ data: [logEntry({ type: 2, quota: 1 })], success: true });
    const { client, requests } = scripted([entries, limited({})]);
    await client.account.charges();
    vi.advanceTimersByTime(1_000);
    const forced = failureOf(client.account.charges({}, { maxAge: 0 }));
    const shared = client.account.charges({}, { maxAge: 60_000 });
    expect(await forced).toBeInstanceOf(UsageLogLimitError);
    expect(await shared).toMatchObject({ data: [{ type: 'consume' }], asOf: Date.now() - 1_000 });
    vi.advanceTimersByTime(4_000);
    expect(await client.account.charges()).toMatchObject({ asOf: Date.now() - 5_000 });
    expect(requests).toHaveLength(2);

    vi.advanceTimersByTime(1);
    expect(await failureOf(client.account.charges())).toBeInstanceOf(UsageLogLimitError);
  });

  test('an abort does not abort the request that other calls share', async () => {
    const held = new Held();
    const { client, requests } = scripted([() => held.answer]);
    const controller = new AbortController();
    const left = client.account.charges({}, { signal: controller.signal });
    const stays = client.account.charges();
    await expect.poll(() => requests).toHaveLength(1);
    controller.abort(new Error('enough'));

    const error = await failureOf(left);
    expect(error).toBeInstanceOf(APIUserAbortError);
    expect(error).toMatchObject({ cause: { message: 'enough' } });
    held.give(Response.json({ data: [logEntry({ type: 2, quota: 1 })], success: true }));
    expect(await stays).toMatchObject({ data: [{ amount: { value: 1 } }] });
    expect(requests).toHaveLength(1);
  });

  test('charges with invalid input are rejected before anything is sent', async () => {
    const { client, requests } = scripted([json({ data: [] })]);
    const { account } = client;
    const refusals: readonly [Promise<unknown>, string][] = [
      [account.charges({ requestId: '' }), 'requestId'],
      [account.charges({ taskId: ' ' }), 'taskId'],
      [account.charges({ model: '' }), 'model'],
      [account.charges({ since: new Date('never') }), 'since'],
      [account.charges({ since: 1_795_310_076 }), 'since'],
      [account.charges({}, { maxAge: -1 }), 'maxAge'],
      [account.prices({ maxAge: Number.NaN }), 'maxAge'],
      // @ts-expect-error -- plain JavaScript can
      [account.charges('request'), 'query'],
      // @ts-expect-error -- plain JavaScript can
      [account.balance({ signal: 'stop' }), 'signal'],
    ];
    for (const [refused, field] of refusals) {
      const error = await failureOf(refused);
      expect(error).toBeInstanceOf(InvalidInputError);
      expect(error).toMatchObject({ field });
    }
    expect(requests).toEqual([]);
  });
});

describe('a limit on reads', () => {
  test("retryAfter is the time when the client's oldest read leaves the window", async () => {
    const { client, emulator } = emulated();
    await client.images.generate(image);
    const begun = Date.now();
    for (let read = 0; read < 20; read += 1) {
      await client.account.charges({}, { maxAge: 0 });
      vi.advanceTimersByTime(1_000);
    }
    const error = await failureOf(client.account.charges({}, { maxAge: 0 }));

    expect(error).toBeInstanceOf(UsageLogLimitError);
    const retryAt = begun + 20 * 60_000;
    expect(error).toMatchObject({ retryAt, status: 429, outcome: 'rejected' });
    expect(String(error)).toContain(new Date(retryAt).toISOString());
    // A limit that holds for minutes is not asked about again and again.
    expect(countReads(emulator)).toBe(21);

    vi.setSystemTime(retryAt);
    expect(await client.account.charges()).toMatchObject({ data: [{ model: 'm-image' }] });
  });

  test('used up by other clients reports the latest time, or Retry-After if it is sooner', async () => {
    const { client } = scripted([limited({})]);
    expect(await failureOf(client.account.charges())).toMatchObject({
      retryAt: Date.now() + 20 * 60_000,
    });
    const polite = scripted([limited({ 'retry-after': '90' })]).client;
    expect(await failureOf(polite.account.charges())).toMatchObject({
      retryAt: Date.now() + 90_000,
    });
  });

  test.each(['99999999999999999', '9'.repeat(400), '8640000000001'])(
    'ignores an invalid Retry-After: %.20s',
    async (seconds) => {
      const { client } = scripted([limited({ 'retry-after': seconds })]);
      const error = await failureOf(client.account.charges());
      expect(error).toBeInstanceOf(UsageLogLimitError);
      expect(error).toMatchObject({ retryAt: Date.now() + 20 * 60_000 });
    },
  );

  test('counts the usage log and usage routes together; the balance then uses another route', async () => {
    const { client, emulator } = emulated({}, { credit: 500_000 });
    await client.images.generate(image);
    for (let read = 0; read < 20; read += 1) {
      vi.advanceTimersByTime(1);
      await client.account.charges({}, { maxAge: 0 });
    }

    expect(await client.account.balance()).toMatchObject({
      used: { value: 0.002, unit: 'USD' },
      limit: { value: 1, unit: 'USD' },
    });
    emulator.quirks.accountRoutes = ['log', 'usage'];
    vi.advanceTimersByTime(1);
    expect(await failureOf(client.account.balance({ maxAge: 0 }))).toBeInstanceOf(
      UsageLogLimitError,
    );
  });
});

describe('balance', () => {
  test('the balance of a key with a limit has the rest of the limit', async () => {
    const { client } = emulated({}, { credit: 500_000 });
    await client.images.generate(image);
    expect(await client.account.balance()).toEqual({
      used: { value: 1_000, unit: 'quota' },
      limit: { value: 500_000, unit: 'quota' },
      available: { value: 499_000, unit: 'quota' },
      expiresAt: undefined,
      asOf: Date.now(),
    });
  });

  test.each([['usage'], ['billing']] as const)(
    'the balance of a key without a limit has no rest, by %s',
    async (route) => {
      const { client, emulator } = emulated({}, { quirks: { accountRoutes: [route] } });
      const task = await client.videos.create(video);
      emulator.videos.fail(task.id);
      const balance = await client.account.balance();
      expect(balance).toMatchObject({ limit: undefined, available: undefined });
      expect(balance.used.value).toBe(0);
    },
  );

  test('the balance of a key that expires has the expiry date', async () => {
    const data = { total_used: 3, total_granted: 10, total_available: 7, unlimited_quota: false };
    const { client } = scripted([
      json({ code: true, data: { ...data, expires_at: 1_900_000_000 } }),
    ]);
    expect(await client.account.balance()).toMatchObject({
      available: { value: 7 },
      expiresAt: 1_900_000_000_000,
    });
  });
});

describe('prices', () => {
  test('prices are per call or per million tokens, in US dollars', async () => {
    const { client, emulator } = emulated();
    const { models, groupRatios } = await client.account.prices();

    expect(models.find(({ model }) => model === 'm-image')).toMatchObject({
      billedPer: 'call',
      perCall: usd(0.002),
      input: undefined,
    });
    expect(models.find(({ model }) => model === 'm-large')).toMatchObject({
      billedPer: 'token',
      perCall: undefined,
      input: usd(2),
      output: usd(2),
      cachedInput: usd(2),
      groups: ['default'],
    });
    expect(groupRatios).toEqual({ default: 1, vip: 1 });
    vi.advanceTimersByTime(600_000);
    await client.account.prices();
    expect(emulator.requests).toHaveLength(1);
  });

  test('prices match the list of a real gateway', async () => {
    const data = [
      {
        model_name: 'gpt-4o-mini',
        quota_type: 0,
        model_ratio: 0.075,
        model_price: 0,
        completion_ratio: 4,
      },
      { model_name: 'by something else', quota_type: 7, model_ratio: 1 },
      { quota_type: 0, model_ratio: 1 },
      null,
    ];
    const { client } = scripted([
      json({ data, group_ratio: { default: 1, odd: 'x' }, success: true }),
    ]);
    const { models, groupRatios } = await client.account.prices();
    expect(models).toMatchObject([
      {
        model: 'gpt-4o-mini',
        input: { value: 0.15 },
        output: { value: 0.6 },
        cachedInput: undefined,
      },
    ]);
    expect(groupRatios).toEqual({ default: 1 });
  });
});

describe('a gateway without account routes', () => {
  const ways: Readonly<Record<string, () => Response>> = {
    'JSON with 404': json(
      { error: { message: 'Invalid URL', type: 'invalid_request_error' } },
      404,
    ),
    'a bare 404': () => new Response(null, { status: 404 }),
    '405': () => new Response(null, { status: 405 }),
    '501': json({ error: { message: 'API not implemented' } }, 501),
    'its console': page,
    text: () => new Response('hello'),
    'an empty object': json({}),
    'a list': json([]),
    'lines without an amount': json({ success: true, data: [{ type: 2, created_at: 1 }] }),
    'lines without a time': json({ success: true, data: [{ type: 2, quota: 1 }] }),
    'amounts below zero': json({ success: true, data: [{ type: 2, quota: -1, created_at: 1 }] }),
  };
  test.each(Object.entries(ways))(
    'a gateway that answers %s has no account routes',
    async (_, answer) => {
      const { client, requests } = scripted([answer]);
      const error = await failureOf(client.account.charges());
      expect(error).toBeInstanceOf(UnsupportedByGatewayError);
      expect(String(error)).toContain('/api/log/token');
      expect(requests).toHaveLength(1);
    },
  );

  test('a gateway without account routes is reported for each route separately', async () => {
    const { client, emulator } = emulated({}, { quirks: { accountRoutes: [] } });
    const { account } = client;
    for (const asked of [account.charges(), account.balance(), account.prices()]) {
      expect(await failureOf(asked)).toBeInstanceOf(UnsupportedByGatewayError);
    }
    emulator.quirks.accountRoutes = ['pricing'];
    expect((await account.prices()).models).not.toEqual([]);
  });

  test('a gateway that takes the key only in the URL, and returns an empty log without it, has no account routes', async () => {
    for (const data of [[], null]) {
      const { client, requests } = scripted([json({ data, message: '', success: true })]);
      for (const question of [client.account.charges(), client.account.settle('20261122')]) {
        const error = await failureOf(question);
        expect(error).toBeInstanceOf(UnsupportedByGatewayError);
        expect(String(error)).toContain('without a key');
      }
      expect(requests.map(({ headers }) => headers.has('authorization'))).toEqual([true, false]);
      expect(requests.every(({ url }) => !url.includes('sk-'))).toBe(true);
    }
  });

  test.each([
    {
      name: 'refuses a request without a key',
      answer: json({ success: false, message: 'No token' }, 401),
      count: 3,
    },
    {
      name: 'refuses it with a success status',
      answer: json({ success: false, message: 'No token' }),
      count: 4,
    },
    { name: 'limits it', answer: limited({}), count: 4 },
    { name: 'shows its console', answer: page, count: 4 },
    { name: 'is lost', answer: new TypeError('fetch failed'), count: 4 },
  ])(
    'gateways without account routes do not include one with an empty log that $name',
    async ({ answer, count }) => {
      const empty = json({ data: [], message: '', success: true });
      const { client, requests } = scripted([empty, answer, empty, answer]);
      expect(await client.account.charges()).toMatchObject({ data: [] });
      vi.advanceTimersByTime(1);
      expect(await client.account.charges({}, { maxAge: 0 })).toMatchObject({ data: [] });
      expect(requests).toHaveLength(count);
    },
  );

  test('a gateway without account routes checks an empty log once, and only with a key', async () => {
    const { client, emulator } = emulated();
    for (let read = 0; read < 3; read += 1) {
      expect(await client.account.charges({}, { maxAge: 0 })).toMatchObject({ data: [] });
      vi.advanceTimersByTime(1);
    }
    expect(countReads(emulator)).toBe(4);

    // A server in between adds the key.
    const empty = json({ data: [], message: '', success: true });
    const keyless = scripted([empty], { apiKey: null });
    expect(await keyless.client.account.charges()).toMatchObject({ data: [] });
    expect(keyless.requests).toHaveLength(1);
  });

  test('gateways without account routes do not include one that is unreachable or rejects the key', async () => {
    const lost = scripted([new TypeError('fetch failed')], { maxRetries: 0 }).client;
    expect(await failureOf(lost.account.charges())).toBeInstanceOf(APIConnectionError);
    const { client } = emulated({ apiKey: 'sk-wrong' });
    expect(await failureOf(client.account.charges())).toMatchObject({
      status: 401,
      message: expect.stringContaining('Invalid token'),
    });
  });

  test('a temporary failure of an account route is retried, and not cached', async () => {
    vi.useRealTimers();
    const { client, requests } = scripted([
      () => new Response(null, { status: 502 }),
      json({ data: null, success: true }),
      json({ message: 'Token not provided', success: false }, 401),
    ]);
    expect(await client.account.charges()).toMatchObject({ data: [], oldestAt: undefined });
    expect(requests).toHaveLength(3);
  });
});

test('requests use the key and the values at the time of the call', async () => {
  const { client } = emulated();
  const usage = { prompt_tokens: 1_000, completion_tokens: 0 };
  const once = await client.account.estimate({ model: 'm-large', usage: { ...usage } });

  const estimate = client.account.estimate({ model: 'm-large', usage });
  usage.prompt_tokens = 5_000;
  const balance = client.account.balance();
  client.apiKey = 'sk-of-somebody-else';

  expect(await estimate).toEqual(once);
  expect(await balance).toBeDefined();
});
