import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { findCalls } from '../../../src/resources/account/calls.ts';
import type { Gateway } from '../../../src/index.ts';
import { emulated, failureOf, json, scripted } from '../../helpers/clients.ts';
import { untyped } from '../../helpers/untyped.ts';

// Nine thousand calls take half a minute on a busy machine.
vi.setConfig({ testTimeout: 300_000 });

const image = { model: 'm-image', prompt: 'A boat', size: '64x64' };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Makes a number of calls; the older ones are then forgotten. */
async function makeMany(client: Gateway): Promise<void> {
  for (let made = 0; made < 3_000; made += 100) {
    await Promise.allSettled(Array.from({ length: 100 }, () => client.images.generate(image)));
  }
  const calls = findCalls(client.transport());
  await vi.waitFor(() => expect(calls.records.length).toBeLessThan(2_000), { timeout: 10_000 });
}

test.each([true, false])(
  'counts all calls when the oldest are forgotten; responses have request ids: %j',
  async (requestIdHeader) => {
    const { client, emulator } = emulated({ maxRetries: 0 }, { quirks: { requestIdHeader } });
    emulator.fail({ fault: { type: 'cut', bytes: 5 } });
    const forgotten = await failureOf(client.images.generate(image));
    await makeMany(client);
    emulator.fail({ fault: { type: 'cut', bytes: 5 } });
    const error = await failureOf(client.images.generate(image));
    vi.advanceTimersByTime(70_000);

    const verdict = requestIdHeader ? 'charged' : 'unknowable';
    expect(await client.account.settle(untyped(error))).toMatchObject({ verdict });
    // Its entry is not among the newest any more.
    expect(await client.account.settle(untyped(forgotten))).toMatchObject({
      verdict: 'unknowable',
    });
    const { lines } = await client.account.spent();
    expect(lines).toMatchObject([{ calls: 3_000, unknown: 2 }]);
  },
);

test('counts a call that ends after its record was dropped', async () => {
  let respond: ((response: Response) => void) | undefined;
  const slow = new Promise<Response>((resolve) => {
    respond = resolve;
  });
  const picture = json({ data: [{ url: 'https://pictures.test/a.png' }] });
  const { client } = scripted([() => slow, picture]);
  const first = client.images.generate({ ...image, model: 'm-slow' });
  await makeMany(client);
  expect(await client.account.spent()).toMatchObject({ lines: [{ model: 'm-image' }] });

  respond?.(Response.json({ data: [{ url: 'https://pictures.test/b.png' }] }));
  await first;

  const { lines } = await client.account.spent();
  expect(lines).toMatchObject([
    { model: 'm-image', calls: 3_000 },
    { model: 'm-slow', calls: 1 },
  ]);
});

test('the client does not keep a record of each call', async () => {
  const { client } = scripted([json({ data: [{ url: 'https://pictures.test/a.png' }] })]);
  for (let round = 0; round < 3; round += 1) await makeMany(client);

  expect(findCalls(client.transport()).records.length).toBeLessThan(3_000);
  expect((await client.account.spent()).lines).toMatchObject([{ calls: 9_000 }]);
});

test('counts the usage that was received, whatever the caller does with the result', async () => {
  const { client } = emulated();
  const { usage } = await client.chat.completions.create({
    model: 'm-large',
    messages: [{ role: 'user', content: 'Hello' }],
  });
  const received = { input: usage?.prompt_tokens, output: usage?.completion_tokens };
  Object.assign(usage ?? {}, { prompt_tokens: 1e6, prompt_tokens_details: null });

  const { lines } = await client.account.spent();

  expect(lines).toMatchObject([{ tokens: received }]);
});

const entry = (id: string, type: number, quota: number) => ({
  type,
  quota,
  request_id: id,
  model_name: 'm-large',
  created_at: Math.floor(Date.now() / 1_000) - 60,
});

describe('settle() of a call that succeeded at once', () => {
  const chat = { model: 'm-large', messages: [{ role: 'user' as const, content: 'Hello' }] };
  /** Usages of responses; the last is more than input and output tokens. */
  const usages = [
    { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 },
    { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30, cost: 0.5 },
    {
      prompt_tokens: 10,
      completion_tokens: 20,
      total_tokens: 30,
      prompt_tokens_details: { cached_tokens: 4 },
    },
  ];
  const price = { model_name: 'm-large', quota_type: 0, model_ratio: 1, completion_ratio: 2 };

  /** A gateway that charges 0 for the calls that it is told. */
  function gateway(free: ReadonlySet<string>) {
    let calls = 0;
    return (request: Request): Response => {
      const { pathname } = new URL(request.url);
      const headers = { date: new Date().toUTCString() };
      if (pathname === '/api/pricing') {
        return Response.json({ success: true, data: [price], group_ratio: { default: 1 } });
      }
      if (request.method === 'GET') {
        const data = [...free].map((id) => entry(id, 2, 0));
        return Response.json({ success: true, data }, { headers });
      }
      calls += 1;
      const choices = [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }];
      const usage = usages[(calls - 1) % usages.length];
      return Response.json({ choices, usage }, { headers: { 'x-oneapi-request-id': `r${calls}` } });
    };
  }

  test.each([0, 1, 2])('stops counting it, usage %d', async (index) => {
    const id = `r${index + 1}`;
    const { client } = scripted([gateway(new Set([id]))]);
    await client.account.prices();
    for (let call = 0; call < 3; call += 1) await client.chat.completions.create(chat);
    const before = await client.account.spent();

    const settlement = await client.account.settle(id);
    const [line] = (await client.account.spent()).lines;

    expect(settlement).toMatchObject({ verdict: 'not_charged', isFinal: true });
    expect(line).toMatchObject({ calls: 2, tokens: { input: 20, output: 40 } });
    // A client that never made this call has the same sum.
    const rest = usages.filter((_, at) => at !== index);
    const other = scripted([gateway(new Set())]).client;
    await other.account.prices();
    const expected = rest.reduce(
      (sum, usage) => sum + ('cost' in usage ? 0.5 : (10 + 40) * 0.000_002),
      0,
    );
    expect(line?.estimate.amount?.value).toBeCloseTo(expected, 9);
    expect(before.lines[0]).toMatchObject({ calls: 3, tokens: { input: 30, output: 60 } });

    await client.account.settle(id, { maxAge: 0 });

    expect((await client.account.spent()).lines).toEqual([line]);
  });

  test('knows the last 1,500 of them', async () => {
    const free = new Set(['r1', 'r1600', 'r3000']);
    const { client } = scripted([gateway(free)]);
    for (let call = 0; call < 3_000; call += 1) await client.chat.completions.create(chat);
    expect(findCalls(client.transport()).records).toHaveLength(0);

    for (const id of free) await client.account.settle(id);

    expect((await client.account.spent()).lines).toMatchObject([{ calls: 2_998 }]);
  });
});
