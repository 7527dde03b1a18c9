import { describe, expect, test, vi } from 'vitest';
import type { GatewayOptions } from '../../../src/index.ts';
import { findCalls } from '../../../src/resources/account/calls.ts';
import { collect, emulated, failureOf, json, scripted } from '../../helpers/clients.ts';
import { fakeWaitingTime, resolved as settled, settle } from '../../helpers/fake-time.ts';

const image = { model: 'm-image', prompt: 'A red circle', size: '64x64' };
const chat = { model: 'm-large', messages: [{ role: 'user' as const, content: 'Hello' }] };
const usd = (value: number) => ({ value, unit: 'USD' });

describe('account.estimate()', () => {
  test('the estimate of a completion equals the usage log', async () => {
    const { client, emulator } = emulated();
    const { usage } = await client.chat.completions.create(chat);

    const { amount } = await client.account.estimate({ model: chat.model, usage });

    expect((amount?.value ?? 0) * 500_000).toBeCloseTo(emulator.charges[0]?.amount ?? 0, 6);
  });

  test('the estimates of embeddings, a generation, images and a video equal the usage log', async () => {
    const { client, emulator } = emulated();
    const { account } = client;
    const contents = [{ role: 'user', parts: [{ text: 'Hello' }] }];
    const generated = await client.generate.content({ model: 'm-large', contents });
    const vectors = await client.embeddings.create({ model: 'm-embedding', input: 'two words' });
    await client.images.generate({ ...image, n: 3 });
    const { response } = await client.videos
      .create({ model: 'm-video', prompt: 'A boat', seconds: 6 })
      .withResponse();

    const costs = await Promise.all([
      account.estimate({ model: 'm-large', usage: generated.usageMetadata }),
      account.estimate({ model: 'm-embedding', usage: vectors.usage }),
      account.estimate({ model: 'm-image', images: 3 }),
      account.estimate({ model: 'm-video', headers: response.headers }),
    ]);

    const quotas = costs.map(({ amount }) => Math.round((amount?.value ?? 0) * 500_000));
    expect(quotas).toEqual(emulator.charges.map(({ amount }) => amount));
  });

  test('an estimate is undefined, with the reason, if a price is missing', async () => {
    const { client } = emulated();

    const unknown = await client.account.estimate({ model: 'nobody' });
    const unused = await client.account.estimate({ model: 'm-large' });

    expect(unknown).toEqual({ reason: 'the price list has no model "nobody"' });
    expect(unused.amount).toBeUndefined();
    expect(unused.reason).toMatch(/number of tokens/);
  });

  test.each([
    ['model', { model: '' }],
    ['images', { model: 'm', images: 0 }],
    ['usage', { model: 'm', usage: [] }],
  ])('rejects an invalid %s', async (field, query) => {
    const { client, emulator } = emulated();

    expect(await failureOf(client.account.estimate(query))).toMatchObject({ field });
    expect(emulator.requests).toHaveLength(0);
  });
});

describe('account.spent()', () => {
  test('sums calls by operation and model, without a request', async () => {
    const { client, emulator } = emulated();
    await client.account.prices();
    await client.images.generate({ ...image, n: 2 });
    await client.withOptions({ maxRetries: 0 }).images.generate(image);
    await client.images.edit({ ...image, image: 'https://pictures.test/a.png' });
    await client.chat.completions.create(chat);
    await client.videos.create({ model: 'm-video', prompt: 'A boat', seconds: 4 });
    await client.models.list();
    const sent = emulator.requests.length;

    const { lines, estimate, unpriced, possible, budget } = await client.account.spent();

    expect(emulator.requests).toHaveLength(sent);
    expect(lines).toMatchObject([
      {
        operation: 'images.generate',
        model: 'm-image',
        calls: 2,
        estimate: { amount: usd(0.006) },
      },
      { operation: 'images.edit', model: 'm-image', calls: 1, estimate: { amount: usd(0.002) } },
      { operation: 'chat.completions.create', model: 'm-large', calls: 1 },
      { operation: 'videos.create', model: 'm-video', calls: 1, estimate: { amount: usd(0.008) } },
    ]);
    const charged = emulator.charges.reduce((sum, { amount }) => sum + amount, 0);
    expect(estimate.value * 500_000).toBeCloseTo(charged, 3);
    expect(possible).toEqual(usd(0));
    expect(unpriced).toBe(0);
    expect(budget).toBeUndefined();
  });

  // new-api charges one unit of quota for a call that would cost less.
  test('counts at least one unit of quota for each call with few tokens', async () => {
    const cheap = { model_name: 'small', quota_type: 0, model_ratio: 0.01, completion_ratio: 1 };
    const prices = { success: true, data: [cheap], group_ratio: { default: 1 } };
    const embedding = { object: 'embedding', index: 0, embedding: [0.5] };
    const usage = { prompt_tokens: 1, total_tokens: 1 };
    const { client } = scripted([
      json(prices),
      json({ object: 'list', model: 'small', data: [embedding], usage }),
    ]);
    await client.account.prices();
    for (let call = 0; call < 5; call += 1) {
      await client.embeddings.create({ model: 'small', input: 'word' });
    }

    const { estimate } = await client.account.spent();

    expect(estimate.value * 500_000).toBeCloseTo(5, 6);
  });

  test('reports that prices have not been read yet', async () => {
    const { client } = emulated();
    await client.images.generate(image);

    const before = await client.account.spent();
    await client.account.prices();
    const after = await client.account.spent();

    expect(before.lines[0]?.estimate.reason).toMatch(/call account\.prices\(\) once/);
    expect(before.unpriced).toBe(1);
    expect(after.estimate).toEqual(usd(0.002));
  });

  test('counts possible charges separately, and rejected calls not at all', async () => {
    const { client, emulator } = emulated();
    await client.account.prices();
    const operation = 'images.generate';
    emulator.fail({ fault: { type: 'reset', when: 'after-charge' }, operation, times: 1 });
    await failureOf(client.images.generate(image));
    emulator.fail({ fault: { type: 'error', status: 400 }, operation, times: 1 });
    await failureOf(client.images.generate(image));
    await failureOf(client.images.generate({ ...image, prompt: '' }));

    const { lines, estimate, possible } = await client.account.spent();

    expect(lines).toMatchObject([{ calls: 0, unknown: 1, estimate: { amount: usd(0) } }]);
    expect([estimate, possible]).toEqual([usd(0), usd(0.002)]);
  });

  describe('attempts that were lost and repeated', () => {
    fakeWaitingTime();

    /** Makes ten chats, and loses the first two attempts of each after their charge. */
    async function chatTenTimes(options: GatewayOptions = {}) {
      const { client, emulator } = emulated({ maxRetries: 2, ...options });
      await client.account.prices();
      for (let call = 0; call < 10; call += 1) {
        emulator.fail({ fault: { type: 'reset', when: 'after-charge' }, times: 2, operation });
        await settled(client.chat.completions.create(chat));
      }
      const charged = emulator.charges.reduce((sum, { amount }) => sum + amount, 0) / 500_000;
      return { client, emulator, charged };
    }
    const operation = 'chat.completions.create';

    test('lost attempts count as possible', async () => {
      const { client, emulator, charged } = await chatTenTimes();

      const { lines, estimate, possible, unpriced } = await client.account.spent();

      expect(emulator.charges).toHaveLength(30);
      expect(lines).toMatchObject([{ calls: 10, unknown: 0, lost: 20 }]);
      expect(estimate.value).toBeCloseTo(charged / 3, 12);
      expect(possible.value).toBeCloseTo((charged * 2) / 3, 12);
      expect(unpriced).toBe(0);
    });

    test('lost attempts do not count if the gateway honours the key', async () => {
      const idempotency = { header: 'Idempotency-Key', honored: true };
      const { client } = await chatTenTimes({ idempotency });

      const { lines, possible } = await client.account.spent();

      expect(lines).toMatchObject([{ calls: 10, lost: 0 }]);
      expect(possible).toEqual(usd(0));
    });

    test('each attempt of a call that failed counts', async () => {
      const { client, emulator } = emulated({ maxRetries: 2, budget: { limit: 1 } });
      emulator.fail({ fault: { type: 'reset', when: 'after-charge' }, operation, times: 3 });
      await settle(client.chat.completions.create(chat));

      const { lines, estimate, possible, budget } = await client.account.spent();

      expect(lines).toMatchObject([{ calls: 0, unknown: 1, lost: 2 }]);
      expect(estimate).toEqual(usd(0));
      expect(possible.value).toBeCloseTo(budget?.spent ?? 0, 12);
      expect(possible.value).toBeGreaterThan(0);
    });

    test('settle() of the response covers all attempts', async () => {
      const { client, emulator } = emulated({ maxRetries: 2 });
      const fault = { type: 'error', status: 503, charged: true } as const;
      emulator.fail({ fault, times: 1, operation });
      const { data, response, attempts } = await settled(
        client.chat.completions.create(chat).withResponse(),
      );
      await vi.advanceTimersByTimeAsync(10_000);

      const settlements = [
        await client.account.settle(data),
        await client.account.settle(response),
      ];

      const [first, second] = emulator.charges.map(({ amount }) => amount);
      expect(attempts).toMatchObject([{ phase: 'headers', status: 503 }]);
      for (const { verdict, amount, isFinal } of settlements) {
        expect({ verdict, isFinal }).toEqual({ verdict: 'charged', isFinal: true });
        expect(amount?.value).toBe((first ?? 0) + (second ?? 0));
      }
    });

    test('settle() of the response covers the models before a fallback', async () => {
      const { client, emulator } = emulated({ maxRetries: 0, fallback: ['m-reasoning'] });
      const fault = { type: 'error', status: 503, charged: true } as const;
      emulator.fail({ fault, times: 1, operation });
      const { data, attempts } = await settled(client.chat.completions.create(chat).withResponse());
      await vi.advanceTimersByTimeAsync(10_000);

      const { verdict, amount } = await client.account.settle(data);

      const [first, second] = emulator.charges.map(({ amount: charged }) => charged);
      expect(attempts).toMatchObject([{ status: 503, model: 'm-large' }]);
      expect(verdict).toBe('charged');
      expect(amount?.value).toBe((first ?? 0) + (second ?? 0));
    });
  });

  test('assumes the tokens of a stream that was left, as the budget does', async () => {
    const { client } = emulated({ budget: { limit: 1 } });
    for (const bound of [{}, { max_tokens: 40, n: 2 }]) {
      const stream = await client.chat.completions.create({ ...chat, ...bound, stream: true });
      for await (const _ of stream) break;
    }

    const { lines, estimate, possible, budget, unpriced } = await client.account.spent();

    expect(lines).toMatchObject([{ calls: 2, unknown: 0, tokens: { input: 0, output: 0 } }]);
    expect(estimate.value).toBeGreaterThan(0);
    expect(estimate.value).toBeCloseTo(budget?.spent ?? 0, 12);
    expect([possible.value, unpriced]).toEqual([0, 0]);
  });

  test('assumes the tokens of a stream whose outcome is unknown', async () => {
    const { client, emulator } = emulated({ budget: { limit: 1 } });
    emulator.fail({ fault: { type: 'cut-events', after: 1 } });
    const stream = client.chat.completions.stream({ ...chat, max_tokens: 40 });
    await failureOf(stream.finalCompletion());

    const { lines, estimate, possible, budget, unpriced } = await client.account.spent();

    expect(lines).toMatchObject([{ calls: 0, unknown: 1 }]);
    expect(estimate).toEqual(usd(0));
    expect(possible.value).toBeCloseTo(budget?.spent ?? 0, 12);
    expect(possible.value).toBeGreaterThan(0);
    expect(unpriced).toBe(0);
  });

  test('reports how many calls had no usage', async () => {
    const { client } = emulated();
    await client.account.prices();
    await (await client.audio.speech.create({ model: 'm-speech', voice: 'a', input: 'Hi' })).text();
    await client.chat.completions.create(chat);

    const { lines, unpriced } = await client.account.spent();

    expect(unpriced).toBe(1);
    expect(lines[0]?.estimate.reason).toMatch(/number of tokens is unknown/);
    expect(lines[1]?.estimate.amount?.value).toBeGreaterThan(0);
  });

  test('counts each call of a helper, a stream and a form once', async () => {
    const { client } = emulated();
    await collect(client.images.generateMany([image, image]));
    const stream = client.chat.completions.stream(chat);
    await stream.finalCompletion();
    await client.chat.completions.create(chat).withResponse();
    const raw = await client.chat.completions.create(chat).asResponse();
    await raw.text();

    const { lines } = await client.account.spent();

    expect(lines.map(({ operation, calls }) => [operation, calls])).toEqual([
      ['images.generate', 2],
      ['chat.completions.create', 3],
    ]);
  });

  test('counts all calls but stores few, including one that ends late', async () => {
    const { client } = scripted([() => Response.json({ ok: true })]);
    const send = () => client.post('/v1/things', { body: {} });
    const late = await send().asResponse();
    await send();
    for (let times = 0; times < 3_200; times += 1) await send();

    const before = await client.account.spent();
    await late.text();
    const { lines, unpriced } = await client.account.spent();

    expect(findCalls(client.transport()).records.length).toBeLessThan(2_000);
    expect(before.lines).toMatchObject([{ operation: 'POST', calls: 3_201 }]);
    expect(lines).toMatchObject([{ operation: 'POST', calls: 3_202 }]);
    expect(unpriced).toBe(3_202);
  });

  test('works beside observers and the budget on the same calls', async () => {
    const ended: unknown[] = [];
    const start = () => ({ end: ({ usage }: { usage?: unknown }) => void ended.push(usage) });
    const { client } = emulated({ observer: { start }, budget: { limit: 1 } });

    await client.account.spent();
    const { usage } = await client.chat.completions.create(chat);
    const { budget, estimate } = await client.account.spent();

    expect(ended.at(-1)).toEqual(usage);
    expect(estimate.value).toBeGreaterThan(0);
    expect(budget?.spent).toBeCloseTo(estimate.value, 12);
  });

  test('counts the original response, even if the caller changes it', async () => {
    const { client } = emulated();
    const first = await client.chat.completions.create(chat);
    const { usage } = await client.chat.completions.create(chat);
    if (first.usage && usage) first.usage.prompt_tokens += usage.prompt_tokens;

    const { lines } = await client.account.spent();

    expect(lines[0]?.tokens.input).toBe((usage?.prompt_tokens ?? 0) * 2);
  });

  test('does not grow with ids in routes', async () => {
    const { client } = scripted([() => Response.json({ ok: true })]);
    for (let id = 0; id < 1_010; id += 1) await client.post(`/v1/things/${id}`, { body: {} });

    const { lines } = await client.account.spent();

    expect(lines).toMatchObject([{ operation: 'POST', model: undefined, calls: 1_010 }]);
  });
});
