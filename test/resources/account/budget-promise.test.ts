import * as fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { BudgetError, Gateway, type Budget, type GatewayOptions } from '../../../src/index.ts';
import type { EmulatorOptions } from '../../../src/testing/index.ts';
import { collect, emulated, failureOf, scripted } from '../../helpers/clients.ts';

const image = { model: 'm-image', prompt: 'A red circle', size: '64x64' };
const chat = { model: 'm-large', messages: [{ role: 'user' as const, content: 'Hello' }] };
/** The price of one image, or one second of video, in the emulator. */
const price = 0.002;
const perDollar = 500_000;

function budgeted(budget: Budget, setup: EmulatorOptions = {}, options: GatewayOptions = {}) {
  const { client, emulator } = emulated({ budget, ...options }, setup);
  /** The charges of the emulator, in US dollars. */
  const charged = () => emulator.charges.reduce((sum, { amount }) => sum + amount, 0) / perDollar;
  const counted = async () => (await client.account.spent()).budget;
  return { client, emulator, charged, counted };
}

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Makes all calls at once and returns the errors of those that failed. */
async function failures(calls: readonly PromiseLike<unknown>[]): Promise<unknown[]> {
  const results = await Promise.allSettled(calls);
  return results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
}

type Fields = Record<string, string>;

/** A gateway with a price list; a function decides its charges and answers. */
function gateway(
  entries: readonly object[],
  work: (fields: Fields) => { cost: number; ratios?: string; body?: object },
  budget: Budget,
  groups: object = { default: 1 },
) {
  let charged = 0;
  let calls = 0;
  const { client, requests } = scripted(
    [
      async (request: Request) => {
        const { pathname } = new URL(request.url);
        if (pathname === '/api/pricing') {
          return Response.json({ data: entries, group_ratio: groups });
        }
        const isForm = request.headers.get('content-type')?.startsWith('multipart') === true;
        const fields: Fields = isForm
          ? Object.fromEntries(
              [...(await request.formData())].flatMap(([name, value]) =>
                typeof value === 'string' ? [[name, value]] : [],
              ),
            )
          : await request.json();
        const { cost, ratios, body } = work(fields);
        charged += cost;
        calls += 1;
        const headers = ratios === undefined ? {} : { 'x-new-api-other-ratios': ratios };
        return Response.json(body ?? { id: `task_${calls}`, status: 'queued' }, { headers });
      },
    ],
    { budget },
  );
  return {
    client,
    requests,
    charged: () => charged,
    calls: () => calls,
    counted: async () => (await client.account.spent()).budget,
  };
}

const video = { model: 'wan', prompt: 'A boat' };
const perVideo = { model_name: 'wan', quota_type: 1, model_price: 0.01 };

/** A gateway that bills the lengths of a list in turn. */
const billing = (seconds: readonly number[], budget: Budget) => {
  let at = 0;
  return gateway(
    [perVideo],
    () => {
      const billed = seconds[Math.min(at++, seconds.length - 1)] ?? 1;
      return { cost: 0.01 * billed, ratios: JSON.stringify({ seconds: billed }) };
    },
    budget,
  );
};

/** Returns what the emulator charges for one call. */
async function costOfOne(call: (client: Gateway) => Promise<unknown>): Promise<number> {
  const { client, charged } = budgeted({ limit: 1 });
  await call(client);
  return charged();
}

describe('videos, by the ratios of earlier responses', () => {
  test('videos reserve at least the seconds that the gateway charged for in place of the requested ones', async () => {
    const { client } = billing([10], { limit: 0.15 });

    await client.videos.create({ ...video, seconds: 4 });

    for (const seconds of [4, 2, 8]) {
      const error = await failureOf(client.videos.create({ ...video, seconds }));
      expect(error).toMatchObject({ reason: 'limit', cost: 0.1 });
    }
  });

  test('videos without seconds reserve the longest duration so far, not the latest', async () => {
    const { client } = billing([9, 3], { limit: 0.2 });

    await client.videos.create(video);
    await client.videos.create(video);

    const error = await failureOf(client.videos.create(video));
    expect(error).toMatchObject({ reason: 'limit', cost: 0.09 });
  });

  test('videos reserve the requested seconds if the gateway honours them', async () => {
    const { client } = billing([20, 4], { limit: 0.25 });

    await client.videos.create({ ...video, seconds: 20 });
    await client.videos.create({ ...video, seconds: 4 });

    expect((await client.account.spent()).budget?.spent).toBeCloseTo(0.24);
  });

  test('a vendor that charges per video is not rejected at five times its price', async () => {
    const entry = { model_name: 'kling-v1', quota_type: 1, model_price: 0.01 };
    const own = gateway([entry], () => ({ cost: 0.01, ratios: '{}' }), { limit: 0.05 });
    const params = { ...video, model: 'kling-v1' };

    const errors = await failures(times(20, () => own.client.videos.create(params)));

    expect(errors).toHaveLength(15);
    expect(own.charged()).toBeCloseTo(0.05);
  });

  test('the first of each size is sent alone', async () => {
    const ratios: Readonly<Record<string, number>> = { '1280x720': 2, '1920x1080': 10 / 3 };
    const own = gateway(
      [perVideo],
      ({ size = '' }) => ({
        cost: 0.05 * (ratios[size] ?? 1),
        ratios: JSON.stringify({ seconds: 5, [`resolution-${size}`]: ratios[size] ?? 1 }),
      }),
      { limit: 0.4 },
    );
    const sizes = ['832x480', '1280x720', '1920x1080'];

    const calls = times(10, (at) =>
      own.client.videos.create({ ...video, seconds: 5, size: sizes[at % 3] }),
    );
    await failures(calls);

    // The first of a size may cost more than what is reserved by the sizes before it.
    expect(own.charged()).toBeLessThan(0.4 + 0.17);
  });

  test('the first with a reference is sent alone', async () => {
    const own = gateway(
      [perVideo],
      ({ input_reference: reference }) => {
        const ratio = reference === undefined ? 1 : 4;
        return { cost: 0.05 * ratio, ratios: JSON.stringify({ seconds: 5, reference: ratio }) };
      },
      { limit: 0.6 },
    );
    const params = { ...video, seconds: 5 };
    await own.client.videos.create(params);

    const calls = times(10, (at) =>
      own.client.videos.create({ ...params, input_reference: `https://pictures.test/${at}.png` }),
    );
    await failures(calls);

    expect(own.charged()).toBeLessThanOrEqual(0.6);
  });

  test("concurrent remixes count by the charges of the model's videos", async () => {
    const { client, charged, counted } = budgeted({ limit: 20 * price });
    const task = await client.videos.create({ model: 'm-video', prompt: 'A boat', seconds: 4 });

    const errors = await failures(
      times(20, () => client.videos.remix(task, { prompt: 'At night' })),
    );

    expect(errors).toHaveLength(16);
    expect(charged()).toBeCloseTo(20 * price, 9);
    expect((await counted())?.spent).toBeCloseTo(20 * price, 9);
  });

  test('createAndWaitAll() submits as many videos as the limit allows', async () => {
    const { client, charged } = budgeted({ limit: 20 * price }, { videoDuration: 0 });
    const params = times(10, () => ({ model: 'm-video', prompt: 'A boat', seconds: 4 }));

    const results = await collect(client.videos.createAndWaitAll(params, { interval: 250 }));

    const refused = results.filter(({ error }) => BudgetError.isInstance(error));
    expect(refused).toHaveLength(5);
    expect(charged()).toBeCloseTo(20 * price, 9);
  });

  test.each([
    ['negative', '{"seconds":-5}'],
    ['zero', '{"seconds":5,"size":0}'],
    ['not JSON', 'seconds=5'],
    ['a list', '[5]'],
    ['text', '{"seconds":"five"}'],
    ['empty', ''],
  ])('ratios that are %s count as unknown, so the reservation stays', async (_, ratios) => {
    const own = gateway([perVideo], () => ({ cost: 0.05, ratios }), { limit: 1 });

    await own.client.videos.create({ ...video, seconds: 5 });

    expect(await own.counted()).toMatchObject({ spent: 0.05, reserved: 0 });
    const { unpriced, estimate } = await own.client.account.spent();
    expect([unpriced, estimate.value]).toEqual([1, 0]);
    const headers = new Headers({ 'x-new-api-other-ratios': ratios });
    const cost = await own.client.account.estimate({ model: 'wan', headers });
    expect(cost.reason).toMatch(/ratios that cannot be read/);
  });

  test('at most one call exceeds the limit, whatever parameters cost', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            seconds: fc.constantFrom(undefined, 2, 4, 8, 12),
            size: fc.constantFrom('480p', '720p', '1080p'),
          }),
          { minLength: 1, maxLength: 20 },
        ),
        fc.array(fc.integer({ min: 1, max: 15 }), { minLength: 5, maxLength: 5 }),
        fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 3, maxLength: 3 }),
        fc.integer({ min: 1, max: 60 }),
        async (orders, lengths, factors, limit) => {
          let dearest = 0;
          const own = gateway(
            [perVideo],
            ({ seconds, size = '' }) => {
              const at = ['undefined', '2', '4', '8', '12'].indexOf(seconds ?? 'undefined');
              const factor = factors[['480p', '720p', '1080p'].indexOf(size)] ?? 1;
              const billed = lengths[at] ?? 1;
              const cost = 0.01 * billed * factor;
              dearest = Math.max(dearest, cost);
              return { cost, ratios: JSON.stringify({ seconds: billed, size: factor }) };
            },
            { limit: limit / 100 },
          );

          await failures(orders.map((order) => own.client.videos.create({ ...video, ...order })));

          const budget = await own.counted();
          expect(budget?.spent).toBeCloseTo(own.charged(), 9);
          expect(budget?.reserved).toBe(0);
          expect(own.charged()).toBeLessThan(limit / 100 + dearest + 1e-9);
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe('images', () => {
  test.each([
    { quality: 'hd', size: '1792x1024', cost: 0.03 },
    { quality: 'hd', size: '1024x1024', cost: 0.02 },
    { quality: 'standard', size: '1024x1792', cost: 0.02 },
    { quality: undefined, size: '1024x1024', cost: 0.01 },
  ] as const)(
    'images of DALL-E 3 in $quality and $size cost $cost dollars',
    async ({ quality, size, cost }) => {
      const entry = { model_name: 'dall-e-3', quota_type: 1, model_price: 0.01 };
      const body = { created: 1, data: [{ url: 'https://pictures.test/a.png' }] };
      const own = gateway([entry], () => ({ cost, body }), { limit: 0.06 });
      const params = { model: 'dall-e-3', prompt: 'A boat', quality, size };

      const errors = await failures(times(10, () => own.client.images.generate(params)));

      expect(own.charged()).toBeCloseTo(0.06);
      expect(errors).toHaveLength(10 - Math.round(0.06 / cost));
      expect((await own.counted())?.spent).toBeCloseTo(0.06);
    },
  );

  test.each<[string, (client: Gateway) => Promise<unknown>]>([
    ['edits', (client) => client.images.edit({ ...image, image: 'https://pictures.test/a.png' })],
    ['a list', (client) => collect(client.images.generateMany([image, image]))],
    [
      'a stream',
      async (client) => collect(await client.images.generate({ ...image, stream: true })),
    ],
  ])('concurrent %s never exceed the limit', async (_, call) => {
    const { client, charged, counted } = budgeted({ limit: 5 * price });

    await failures(times(20, () => call(client)));

    expect(charged()).toBeCloseTo(5 * price, 9);
    expect(await counted()).toEqual({ limit: 5 * price, spent: 5 * price, reserved: 0 });
  });

  test('images read n from a numeric string', async () => {
    const { client, charged } = budgeted({ limit: 10 * price });
    const extraBody = { n: '11' };

    const error = await failureOf(client.images.generate(image, { extraBody }));

    expect(error).toMatchObject({ reason: 'limit', cost: 11 * price });
    expect(charged()).toBe(0);
  });

  test('images that cost more than perCall raise the reservation, also of pending calls', async () => {
    const entry = { model_name: 'gpt-image-1', quota_type: 0, model_ratio: 5, completion_ratio: 1 };
    const usage = { input_tokens: 0, output_tokens: 10_000, total_tokens: 10_000 };
    const body = { created: 1, data: [{ b64_json: 'aGVsbG8=' }], usage };
    let answer: (() => void) | undefined;
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    let images = 0;
    const { client } = scripted(
      [
        async (request: Request) => {
          if (request.method === 'GET') {
            return Response.json({ data: [entry], group_ratio: { default: 1 } });
          }
          images += 1;
          if (images > 1) await held;
          return Response.json(body);
        },
      ],
      // Each costs 0.1.
      { budget: { limit: 1, perCall: { 'gpt-image-1': 0.02 } } },
    );
    const params = { ...image, model: 'gpt-image-1' };
    await client.account.prices();

    const first = client.images.generate(params);
    const others = times(3, () => client.images.generate(params));
    await first;
    const during = (await client.account.spent()).budget;
    const error = await failureOf(client.images.generate({ ...params, n: 7 }));
    answer?.();
    await Promise.all(others);

    expect(during?.spent).toBeCloseTo(0.1);
    expect(during?.reserved).toBeCloseTo(0.3);
    expect(error).toMatchObject({ reason: 'limit' });
    expect(Reflect.get(Object(error), 'cost')).toBeCloseTo(0.7);
    expect((await client.account.spent()).budget?.spent).toBeCloseTo(0.4);
  });
});

describe('invalid prices', () => {
  const byToken = { model_name: 'wan', quota_type: 0, model_ratio: 1, completion_ratio: 1 };

  test.each<{ name: string; entry: object; groups?: object }>([
    { name: 'a negative price by call', entry: { ...perVideo, model_price: -1 } },
    { name: 'a negative ratio', entry: { ...byToken, model_ratio: -1 } },
    { name: 'a negative ratio of the answer', entry: { ...byToken, completion_ratio: -2 } },
    { name: 'a price that is text', entry: { ...perVideo, model_price: '0.01' } },
    { name: 'a negative ratio of its group', entry: perVideo, groups: { default: -1 } },
    {
      name: 'an expression',
      entry: { ...byToken, billing_mode: 'tiered_expr', billing_expr: 'tier(p * 3)' },
    },
  ])('invalid prices count as unknown: $name', async ({ entry, groups = { default: 1 } }) => {
    const own = gateway([entry], () => ({ cost: 1 }), { limit: 1 }, groups);

    const video1 = await failureOf(own.client.videos.create(video));
    const text = await failureOf(own.client.chat.completions.create({ ...chat, model: 'wan' }));
    const cost = await own.client.account.estimate({
      model: 'wan',
      usage: { prompt_tokens: 5, completion_tokens: 5 },
    });

    expect([video1, text]).toMatchObject([{ reason: 'price' }, { reason: 'price' }]);
    expect(cost.amount).toBeUndefined();
    expect(own.calls()).toBe(0);
  });

  test('invalid prices use perCall if it is set', async () => {
    const entry = { ...byToken, billing_mode: 'tiered_expr' };
    const choice = { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: '' } };
    const body = { id: 'x', choices: [choice], usage: { prompt_tokens: 9, completion_tokens: 9 } };
    const budget = { limit: 0.1, perCall: { wan: 0.02 } };
    const own = gateway([entry], () => ({ cost: 0.02, body }), budget);

    const call = () => own.client.chat.completions.create({ ...chat, model: 'wan' });
    const errors = await failures(times(20, call));

    expect(errors).toHaveLength(15);
    expect((await own.counted())?.spent).toBeCloseTo(0.1);
  });
});

describe('audio', () => {
  const speech = { model: 'm-speech', voice: 'alloy', input: 'x'.repeat(100) };
  const file = new File([new Uint8Array(2_000)], 'a.mp3');
  const recording = { model: 'm-translation', file };

  test('speech counts by characters', async () => {
    // A hundred characters cost 0.0002.
    const { client, charged, counted } = budgeted({ limit: 0.001 });

    const errors = await failures(
      times(20, async () => (await client.audio.speech.create(speech)).arrayBuffer()),
    );

    expect(errors).toHaveLength(15);
    expect(charged()).toBeCloseTo(0.001, 9);
    expect((await counted())?.spent).toBeCloseTo(charged(), 9);
  });

  test('speech with an audio price counts that too', async () => {
    const entry = {
      model_name: 'm-speech',
      quota_type: 0,
      model_ratio: 1,
      completion_ratio: 1,
      audio_ratio: 20,
    };
    const own = gateway([entry], () => ({ cost: 0 }), { limit: 1 });

    // An answer without sound was charged all the same.
    await failureOf(own.client.audio.speech.create(speech, { maxRetries: 0 }));

    // 100 characters at 2 dollars, and 125 tokens of sound at 40 dollars a million.
    expect((await own.counted())?.spent).toBeCloseTo(0.0052, 9);
  });

  test.each(['transcriptions', 'translations'] as const)(
    '%s without perCall are rejected with the reason, and counted with it',
    async (name) => {
      const without = budgeted({ limit: 1 });
      const withIt = budgeted({ limit: 0.1, perCall: { 'm-translation': 0.02 } });

      const error = await failureOf(without.client.audio[name].create(recording));
      const errors = await failures(times(20, () => withIt.client.audio[name].create(recording)));

      expect(error).toMatchObject({ reason: 'price', outcome: 'not_sent' });
      expect(without.emulator.charges).toHaveLength(0);
      expect(errors).toHaveLength(15);
      expect(withIt.emulator.charges).toHaveLength(5);
      expect((await withIt.counted())?.spent).toBeCloseTo(0.1);
    },
  );
});

describe('text', () => {
  const contents = [{ role: 'user', parts: [{ text: 'Hello' }] }];

  test.each<[string, (client: Gateway) => Promise<unknown>]>([
    ['chat', (client) => client.chat.completions.create(chat)],
    [
      'streams',
      async (client) =>
        collect(
          await client.chat.completions.create({
            ...chat,
            stream: true,
            stream_options: { include_usage: true },
          }),
        ),
    ],
    ['generations', (client) => client.generate.content({ model: 'm-large', contents })],
    [
      'streams of generations',
      async (client) =>
        collect(await client.generate.contentStream({ model: 'm-large', contents })),
    ],
    ['vectors', (client) => client.embeddings.create({ model: 'm-embedding', input: 'a b c d' })],
    ['parsed answers', (client) => client.chat.completions.parse(chat)],
    ['chat by its path', (client) => client.post('/v1/chat/completions', { body: chat })],
    [
      'generations by their path',
      (client) => client.post('/v1beta/models/m-large:generateContent', { body: { contents } }),
    ],
  ])('20 concurrent %s exceed the limit by less than one call', async (_, call) => {
    const one = await costOfOne(call);
    const { client, charged, counted } = budgeted({ limit: 3.5 * one });

    const errors = await failures(times(20, () => call(client)));

    expect(charged()).toBeCloseTo(4 * one, 9);
    expect(errors).toHaveLength(16);
    expect(errors).toMatchObject(errors.map(() => ({ reason: 'limit' })));
    expect(await counted()).toMatchObject({ reserved: 0 });
    expect((await counted())?.spent).toBeCloseTo(charged(), 9);
  });

  test('a request whose text alone exceeds the limit is rejected', async () => {
    const { client, emulator } = budgeted({ limit: 0.01 });
    const content = 'word '.repeat(10_000);

    const error = await failureOf(
      client.chat.completions.create({ ...chat, messages: [{ role: 'user', content }] }),
    );

    expect(error).toMatchObject({ reason: 'limit', outcome: 'not_sent' });
    expect(emulator.charges).toHaveLength(0);
  });

  test('each requested choice counts', async () => {
    const perToken = { model_name: 'm', quota_type: 0, model_ratio: 1, completion_ratio: 1 };
    const body = { choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' } }] };
    const reserved: (number | undefined)[] = [];
    const { client } = scripted(
      [
        async ({ url }) => {
          if (url.endsWith('/api/pricing')) {
            return Response.json({ data: [perToken], group_ratio: { default: 1 } });
          }
          reserved.push((await client.account.spent()).budget?.reserved);
          return Response.json(body);
        },
      ],
      { budget: { limit: 1 } },
    );
    const ask = (n: number) =>
      client.chat.completions.create({ ...chat, model: 'm', max_tokens: 100, n });

    await ask(1);
    await ask(11);

    // The price of an output token is $2 per million.
    const [one = 0, eleven = 0] = reserved;
    expect(eleven - one).toBeCloseTo(0.002, 6);
  });

  test('images in messages count as tokens, not as text', async () => {
    const { client, counted } = budgeted({ limit: 0.01 });
    const url = `data:image/png;base64,${'A'.repeat(400_000)}`;

    const picture = { type: 'image_url' as const, image_url: { url } };
    await client.chat.completions.create({
      ...chat,
      messages: [{ role: 'user', content: [picture] }],
    });

    expect((await counted())?.reserved).toBe(0);
  });

  test('lost responses count, even if no call has a known cost', async () => {
    const { client, emulator, charged, counted } = budgeted({ limit: 0.01 }, {}, { maxRetries: 0 });
    const operation = 'chat.completions.create';
    emulator.fail({ fault: { type: 'reset', when: 'after-charge' }, operation, times: 100 });

    const calls = times(100, () => client.chat.completions.create(chat));
    const errors = await failures(calls);

    const refused = errors.filter((error) => BudgetError.isInstance(error));
    expect(refused.length).toBeGreaterThan(80);
    const budget = await counted();
    expect(budget?.spent).toBeGreaterThanOrEqual(charged());
    expect(budget?.spent).toBeGreaterThanOrEqual(0.01);
  });

  test('every attempt that may have been charged counts', async () => {
    const { client, emulator, charged, counted } = budgeted({ limit: 1 });
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    await client.chat.completions.create(chat);
    const one = charged();
    const operation = 'chat.completions.create';
    emulator.fail({ fault: { type: 'reset', when: 'after-charge' }, operation, times: 2 });

    const again = client.chat.completions.create(chat);
    await vi.advanceTimersByTimeAsync(20_000);
    await again;

    expect(emulator.charges).toHaveLength(4);
    expect((await counted())?.spent).toBeCloseTo(4 * one, 9);
  });

  test('attempts that end with a 500 count one by one', async () => {
    const { client, emulator, charged, counted } = budgeted({ limit: 1 });
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    await client.chat.completions.create(chat);
    const one = charged();
    emulator.fail({ fault: { type: 'error', status: 500 }, times: 3 });

    const failed = failures([client.chat.completions.create(chat)]);
    await vi.advanceTimersByTimeAsync(20_000);

    expect(await failed).toMatchObject([{ status: 500, outcome: 'unknown' }]);
    expect(emulator.requests.filter(({ status }) => status === 500)).toHaveLength(3);
    expect((await counted())?.spent).toBeCloseTo(4 * one, 9);
  });

  test('a stream without usage counts as the most expensive call of its model', async () => {
    const { client, charged, counted } = budgeted({ limit: 1 });
    await client.chat.completions.create(chat);
    const one = charged();

    await collect(await client.chat.completions.create({ ...chat, stream: true }));

    expect((await counted())?.spent).toBeCloseTo(2 * one, 6);
  });

  test('runs of tools stop at the limit', async () => {
    const one = await costOfOne((client) => client.chat.completions.create(chat));
    const { client, charged } = budgeted({ limit: one });

    const runs = times(10, () =>
      client.chat.completions.runTools({ ...chat, tools: [] }).finalContent(),
    );
    await failures(runs);

    expect(charged()).toBeLessThan(2 * one + 1e-9);
  });

  test('a call waits at most 30 seconds for the stream of the first one', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { client, emulator } = budgeted({ limit: 1 });

    const stream = await client.chat.completions.create({ ...chat, stream: true });
    const within = client.chat.completions.create(chat);
    await vi.advanceTimersByTimeAsync(29_000);
    const before = emulator.charges.length;
    await vi.advanceTimersByTimeAsync(2_000);
    await within;
    await collect(stream);

    expect(before).toBe(1);
    expect(emulator.charges).toHaveLength(2);
  });

  test('all inputs of a list count', async () => {
    const { client, charged, counted } = budgeted({ limit: 1 });
    const input = times(50, (at) => `words of ${at}`);

    await client.embeddings.createMany({ model: 'm-embedding', input });

    expect(charged()).toBeGreaterThan(0);
    expect((await counted())?.spent).toBeCloseTo(charged(), 9);
  });
});

describe('routes by their path', () => {
  test('routes count as the operation that their path calls', async () => {
    const { client, emulator, charged, counted } = budgeted({ limit: 20 * price });
    const body = { ...image, n: 4 };

    await client.post('/v1/images/generations', { body });
    await client.post('/v1/videos', { body: { model: 'm-video', prompt: 'A boat', seconds: '6' } });
    const error = await failureOf(
      client.post('/v1/videos', { body: { model: 'm-video', prompt: 'A boat', seconds: '12' } }),
    );

    expect(charged()).toBeCloseTo(10 * price, 9);
    expect((await counted())?.spent).toBeCloseTo(10 * price, 9);
    expect(error).toMatchObject({ reason: 'limit', cost: 12 * price });
    expect(emulator.charges).toHaveLength(2);
  });

  test('undocumented routes are rejected with the reason, or count perCall', async () => {
    const answer = { cost: 0.02, body: { ok: true } };
    const entry = { model_name: 'm', quota_type: 0, model_ratio: 1, completion_ratio: 1 };
    const without = gateway([entry], () => answer, { limit: 1 });
    const withIt = gateway([entry], () => answer, { limit: 0.1, perCall: { m: 0.02 } });
    const send = ({ client }: typeof without, body: object) => client.post('/v1/rerank', { body });

    const errors = [
      await failureOf(send(without, { model: 'm' })),
      await failureOf(send(without, {})),
    ];
    const refused = await failures(times(20, () => send(withIt, { model: 'm' })));

    expect(errors).toMatchObject([{ reason: 'price' }, { reason: 'price' }]);
    expect(refused).toHaveLength(15);
    expect(withIt.charged()).toBeCloseTo(0.1);
  });
});

describe('account.spent()', () => {
  test('counts a lost video by its seconds', async () => {
    const { client, emulator } = emulated({ maxRetries: 0 });
    await client.account.prices();
    const fault = { type: 'reset', when: 'after-charge' } as const;
    emulator.fail({ fault, operation: 'videos.create', times: 1 });

    await failureOf(client.videos.create({ model: 'm-video', prompt: 'A boat', seconds: 10 }));

    const { possible } = await client.account.spent();
    expect(possible.value).toBeCloseTo(10 * price);
  });
});

describe('one budget', () => {
  test('a budget is shared by two copies of the package in one process', async () => {
    const budget: Budget = { limit: 5 * price };
    const { client, emulator, charged } = budgeted(budget);
    vi.resetModules();
    const { Gateway: Copy } = await import('../../../src/index.ts');
    const { apiKey, baseURL, fetch } = emulator;
    const copy = new Copy({ apiKey, baseURL, fetch, budget, logLevel: 'off' });
    expect(Copy).not.toBe(Gateway);

    const errors = await failures(
      times(20, (at) => (at % 2 === 0 ? client : copy).images.generate(image)),
    );

    expect(errors).toHaveLength(15);
    expect(charged()).toBeCloseTo(5 * price);
    const views = [await client.account.spent(), await copy.account.spent()];
    expect(views.map(({ budget: view }) => view?.spent)).toEqual([5 * price, 5 * price]);
  });
});
