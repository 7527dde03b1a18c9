import * as fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { BudgetError, Gateway, InvalidInputError, type Budget } from '../../../src/index.ts';
import type { EmulatorOptions, Fault } from '../../../src/testing/index.ts';
import { collect, emulated, failureOf, scripted } from '../../helpers/clients.ts';
import { untyped } from '../../helpers/untyped.ts';

const image = { model: 'm-image', prompt: 'A red circle', size: '64x64' };
const chat = { model: 'm-large', messages: [{ role: 'user' as const, content: 'Hello' }] };
/** The emulator's price of one image, or of one second of video. */
const price = 0.002;

function budgeted(budget: Budget, setup: EmulatorOptions = {}) {
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  const logger = { warn, error: warn, info: () => {}, debug: () => {} };
  const { client, emulator } = emulated({ budget, logger, logLevel: 'warn' }, setup);
  const paid = (): number => emulator.charges.filter(({ amount }) => amount >= 1_000).length;
  return { client, emulator, warnings, paid };
}

const ask = (params: object) => (client: Gateway) =>
  client.chat.completions.create({ ...chat, ...params });
const generate = (generationConfig: object) => (client: Gateway) =>
  client.generate.content({
    model: 'm-large',
    contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
    generationConfig,
  });

/** Answers the price list, and everything else as told. */
function priced(entries: readonly object[], answer: (path: string) => Response) {
  return (request: Request): Response => {
    const { pathname } = new URL(request.url);
    if (pathname !== '/api/pricing') return answer(pathname);
    return Response.json({ data: entries, group_ratio: { default: 1 } });
  };
}

describe('a budget', () => {
  test('a budget rejects a call that would exceed the limit before it is sent', async () => {
    const { client, emulator, paid } = budgeted({ limit: 2.5 * price });

    await client.images.generate(image);
    await client.images.generate(image);
    const sent = emulator.requests.length;
    const error = await failureOf(client.images.generate(image));

    expect(error).toBeInstanceOf(BudgetError);
    expect(error).toMatchObject({
      outcome: 'not_sent',
      reason: 'limit',
      limit: 0.005,
      cost: price,
    });
    expect(String(error)).toContain(
      'images.generate() with m-image would exceed the budget of 0.005 USD: it may cost 0.002 USD; 0.004 USD is spent.',
    );
    expect(emulator.requests).toHaveLength(sent);
    expect(paid()).toBe(2);
  });

  test('a budget reads the price list once', async () => {
    const { client, emulator } = budgeted({ limit: 1 });

    await Promise.all([1, 2, 3].map(() => client.images.generate(image)));

    expect(emulator.requests.filter(({ path }) => path === '/api/pricing')).toHaveLength(1);
  });

  test('a budget applies to concurrent calls, and to several images of one call', async () => {
    const { client, paid, emulator } = budgeted({ limit: 5 * price });
    const params = Array.from({ length: 20 }, () => image);

    const results = await collect(client.images.generateMany(params, { concurrency: 8 }));

    expect(paid()).toBe(5);
    expect(results.filter(({ error }) => BudgetError.isInstance(error))).toHaveLength(15);
    const { client: other } = budgeted({ limit: 5 * price });
    expect(await failureOf(other.images.generate({ ...image, n: 6 }))).toBeInstanceOf(BudgetError);
    expect(emulator.charges).toHaveLength(5);
  });

  test('a budget is shared by withOptions() copies and by clients with the same object', async () => {
    const budget: Budget = { limit: 3 * price };
    const { client, emulator, paid } = budgeted(budget);
    const { apiKey, baseURL, fetch } = emulator;
    const other = new Gateway({ apiKey, baseURL, fetch, budget, logLevel: 'off' });

    await client.images.generate(image);
    await client.withOptions({ timeout: 1_000 }).images.generate(image);
    await other.images.generate(image);
    client.maxRetries = 1;

    for (const each of [client, client.withOptions({}), other]) {
      expect(await failureOf(each.images.generate(image))).toBeInstanceOf(BudgetError);
    }
    await client.withOptions({ budget: null }).images.generate(image);
    expect(paid()).toBe(4);
  });

  test('a budget does not count a call that is aborted before its price is requested', async () => {
    const { client } = budgeted({ limit: 1.5 * price });
    const controller = new AbortController();
    const aborted = failureOf(client.images.generate(image, { signal: controller.signal }));
    controller.abort();
    await aborted;
    await failureOf(client.images.generate(image, { signal: controller.signal }));

    await client.images.generate(image);

    const { budget } = await client.account.spent();
    expect(budget).toMatchObject({ spent: price, reserved: 0 });
  });

  test('a budget counts calls with an unknown outcome as spent, and rejected ones as free', async () => {
    const { client, emulator } = budgeted({ limit: 2 * price });
    const spent = async (): Promise<number | undefined> =>
      (await client.account.spent()).budget?.spent;

    emulator.fail({
      fault: { type: 'error', status: 400 },
      times: 1,
      operation: 'images.generate',
    });
    await failureOf(client.images.generate(image));
    expect(await spent()).toBe(0);

    emulator.fail({
      fault: { type: 'reset', when: 'before-charge' },
      operation: 'images.generate',
    });
    await failureOf(client.images.generate(image));
    expect(await spent()).toBe(price);

    await client.images.generate(image);
    expect(await failureOf(client.images.generate(image))).toBeInstanceOf(BudgetError);
    expect(emulator.charges).toHaveLength(1);
    expect((await client.account.spent()).budget).toEqual({
      limit: 2 * price,
      spent: 2 * price,
      reserved: 0,
    });
  });

  test('a call that is aborted before it is sent releases its reservation', async () => {
    const { client, paid } = budgeted({ limit: price });
    const early = AbortSignal.abort();
    const controller = new AbortController();

    await failureOf(client.images.generate(image, { signal: early }));
    const under = client.images.generate(image, { signal: controller.signal });
    controller.abort();
    await failureOf(under);

    expect((await client.account.spent()).budget).toMatchObject({ reserved: 0 });
    expect(paid()).toBe(0);
  });

  test('a call that is aborted while its price is requested is not counted', async () => {
    let answer: (() => void) | undefined;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { client, requests } = scripted(
      [
        async (request: Request) => {
          await answered;
          return priced([], () => Response.json({}))(request);
        },
      ],
      { budget: { limit: 1, perCall: { 'm-image': price } } },
    );
    const controller = new AbortController();

    const failed = failureOf(client.images.generate(image, { signal: controller.signal }));
    await vi.waitFor(() => expect(requests).toHaveLength(1), { timeout: 10_000 });
    controller.abort();
    const error = await failed;
    answer?.();
    await client.account.prices();

    expect(error).toMatchObject({ outcome: 'not_sent' });
    expect((await client.account.spent()).budget).toMatchObject({ reserved: 0, spent: 0 });
  });

  test('a call that is retried after a cut response is reserved once, and waits for no other call', async () => {
    const { client, emulator } = budgeted({ limit: 5 * price });
    const video = { model: 'm-video', prompt: 'A boat', seconds: 4 };
    emulator.fail({ fault: { type: 'cut', bytes: 5 }, operation: 'videos.create', times: 1 });

    const idempotency = { header: 'idempotency-key', honored: true };
    const again = client.withOptions({ idempotency, maxRetries: 2 });
    await again.videos.create(video).catch(() => undefined);

    expect((await client.account.spent()).budget).toMatchObject({ reserved: 0, spent: 4 * price });
  });

  test('videos reserve their seconds, and count by their response', async () => {
    const { client, paid } = budgeted({ limit: 12 * price });
    const video = { model: 'm-video', prompt: 'A boat' };
    const spent = async () => (await client.account.spent()).budget?.spent;

    await client.videos.create({ ...video, seconds: 4 });
    expect(await spent()).toBeCloseTo(4 * price);
    expect(await failureOf(client.videos.create({ ...video, seconds: 10 }))).toMatchObject({
      cost: 10 * price,
    });
    const task = await client.videos.create({ ...video, seconds: 4 });
    await client.videos.remix(task, { prompt: 'At night' });

    expect(await failureOf(client.videos.remix(task, { prompt: 'At night' }))).toMatchObject({
      reason: 'limit',
    });
    expect(await spent()).toBeCloseTo(12 * price);
    expect(paid()).toBe(3);
  });

  test("a budget learns the multiplier of a model's videos from a response", async () => {
    const ratios = { seconds: 5, 'resolution-1080P': 3 };
    const entry = { model_name: 'wan', quota_type: 1, model_price: 0.01 };
    const { client } = scripted(
      [
        priced([entry], () =>
          Response.json(
            { id: 'task_1', status: 'queued' },
            { headers: { 'x-new-api-other-ratios': JSON.stringify(ratios) } },
          ),
        ),
      ],
      { budget: { limit: 0.44 } },
    );
    const video = { model: 'wan', prompt: 'A boat', seconds: 5 };

    await client.videos.create(video);
    await client.videos.create(video);

    expect((await client.account.spent()).budget?.spent).toBeCloseTo(0.3);
    expect(await failureOf(client.videos.create(video))).toMatchObject({ cost: 0.15 });
  });

  describe('videos with an unknown multiplier', () => {
    const patience = { timeout: 10_000 };
    const video = { model: 'wan', prompt: 'A boat', seconds: 5 };
    const entry = { model_name: 'wan', quota_type: 1, model_price: 0.01 };

    /** Each costs 0.15 where 0.05 could be expected. */
    function wan(budget: Budget, isTold = true) {
      const ratios = { 'x-new-api-other-ratios': '{"seconds":5,"resolution-1080P":3}' };
      const headers = isTold ? ratios : {};
      const task = (): Response => Response.json({ id: 'task_1', status: 'queued' }, { headers });
      let answer: (() => void) | undefined;
      let answered: Promise<void> | undefined;
      const serve = async (request: Request): Promise<Response> => {
        await answered;
        return priced([entry], task)(request);
      };
      const { client, requests } = scripted([serve], { budget });
      return {
        client,
        posts: () => requests.filter(({ method }) => method === 'POST').length,
        hold: () => {
          answered = new Promise((resolve) => {
            answer = resolve;
          });
        },
        answer: () => answer?.(),
      };
    }

    test('the first may exceed the limit, and the second is then rejected', async () => {
      const { client, posts } = wan({ limit: 0.12 });

      await client.videos.create(video);

      expect(await failureOf(client.videos.create(video))).toMatchObject({ reason: 'limit' });
      expect((await client.account.spent()).budget).toMatchObject({ spent: 0.15, reserved: 0 });
      expect(posts()).toBe(1);
    });

    test('the first is sent alone, and concurrent ones count by its response', async () => {
      const { client, posts } = wan({ limit: 0.31 });

      const sent = Array.from({ length: 6 }, () => client.videos.create(video));
      const results = await Promise.allSettled(sent);

      const failed = results.filter(({ status }) => status === 'rejected');
      expect(posts()).toBe(2);
      expect(failed).toHaveLength(4);
      expect(failed).toMatchObject(failed.map(() => ({ reason: { reason: 'limit' } })));
    });

    test.each([
      { name: 'perCall is given', budget: { limit: 1, perCall: { wan: 0.05 } }, before: 0 },
      { name: 'an answer has told nothing', budget: { limit: 1 }, before: 1 },
    ])('all are sent at once if $name', async ({ budget, before }) => {
      const { client, posts, hold, answer } = wan(budget, false);
      for (let made = 0; made < before; made += 1) await client.videos.create(video);
      await client.account.prices();
      hold();

      const sent = [1, 2, 3].map(() => client.videos.create(video));
      await vi.waitFor(() => expect(posts()).toBe(before + 3), patience);
      answer();

      expect(await Promise.all(sent)).toHaveLength(3);
    });

    test('a waiting call can be aborted, and does not block others', async () => {
      const { client, posts, hold, answer } = wan({ limit: 1 });
      const controller = new AbortController();
      await client.account.prices();
      hold();

      const first = client.videos.create(video);
      await vi.waitFor(() => expect(posts()).toBe(1), patience);
      const aborted = failureOf(client.videos.create(video, { signal: controller.signal }));
      const last = client.videos.create(video);
      controller.abort();
      const error = await aborted;
      answer();
      await Promise.all([first, last]);

      expect(error).toMatchObject({ name: 'APIUserAbortError', outcome: 'not_sent' });
      expect(posts()).toBe(2);
      expect((await client.account.spent()).budget?.reserved).toBe(0);
    });

    test('an unread answer does not block other calls', async () => {
      vi.useFakeTimers();
      onTestFinished(() => void vi.useRealTimers());
      const { client, posts } = wan({ limit: 1 });

      await client.videos.create(video).asResponse();
      const next = client.videos.create(video, { timeout: 5_000 });
      await vi.advanceTimersByTimeAsync(5_000);

      expect(await next).toMatchObject({ id: 'task_1' });
      expect(posts()).toBe(2);
    });
  });

  test('a budget counts chat by its usage, and rejects it once the limit is reached', async () => {
    const { client, emulator } = budgeted({ limit: 1e-9 });

    await client.chat.completions.create(chat);
    const error = await failureOf(client.chat.completions.create(chat));

    expect(error).toMatchObject({ reason: 'limit', outcome: 'not_sent' });
    expect(emulator.charges).toHaveLength(1);
    const { estimate, budget } = await client.account.spent();
    expect(budget?.spent).toBeCloseTo(estimate.value, 12);
    expect(estimate.value).toBeGreaterThan(0);
  });

  test('a budget counts streams by the usage at their end', async () => {
    const { client } = budgeted({ limit: 1 });

    const stream = await client.chat.completions.create({
      ...chat,
      stream: true,
      stream_options: { include_usage: true },
    });
    await collect(stream);

    const { lines, unpriced } = await client.account.spent();
    expect(lines).toMatchObject([{ operation: 'chat.completions.create', calls: 1 }]);
    expect(lines[0]?.estimate.amount?.value).toBeGreaterThan(0);
    expect(unpriced).toBe(0);
  });

  test('a budget warns once at 80 %', async () => {
    const { client, warnings } = budgeted({ limit: 5 * price });

    for (let call = 0; call < 3; call += 1) await client.images.generate(image);
    expect(warnings).toEqual([]);
    for (let call = 0; call < 2; call += 1) await client.images.generate(image);

    expect(warnings).toEqual(['[model-gateway] 80 % of the budget is used: 0.008 USD of 0.01 USD']);
  });

  describe('perCall', () => {
    test('perCall is the least that a call with a listed price counts as', async () => {
      const { client, paid } = budgeted({ limit: 0.5, perCall: { 'm-image': 0.1 } });
      const sent: unknown[] = [];
      for (let call = 0; call < 30; call += 1) {
        sent.push(await failureOf(client.images.generate(image)).catch(() => 'answered'));
      }

      expect(paid()).toBe(5);
      expect(sent.slice(5)).toMatchObject(
        sent.slice(5).map(() => ({ reason: 'limit', cost: 0.1 })),
      );
      expect((await client.account.spent()).budget).toMatchObject({ spent: 0.5, reserved: 0 });
    });

    test('perCall does not lower a listed price', async () => {
      const { client, paid } = budgeted({ limit: 5 * price, perCall: { 'm-image': price / 2 } });

      const error = await failureOf(client.images.generate({ ...image, n: 6 }));
      await client.images.generate({ ...image, n: 5 });

      expect(error).toMatchObject({ reason: 'limit', cost: 6 * price });
      expect(paid()).toBe(1);
      expect((await client.account.spent()).budget?.spent).toBeCloseTo(5 * price, 12);
    });

    test.each(['videos', 'chats'])('perCall is the least that %s count as', async (kind) => {
      const perCall = { 'm-video': 0.2, 'm-large': 0.2 };
      const { client, paid, emulator } = budgeted({ limit: 0.5, perCall });
      const send = () =>
        kind === 'videos'
          ? client.videos.create({ model: 'm-video', prompt: 'A boat', seconds: 4 })
          : client.chat.completions.create(chat);

      await send();
      await send();

      expect(await failureOf(send())).toMatchObject({ reason: 'limit', cost: 0.2 });
      expect(emulator.charges).toHaveLength(2);
      expect(paid()).toBeLessThanOrEqual(2);
      expect((await client.account.spent()).budget?.spent).toBeCloseTo(0.4, 12);
    });
  });

  describe('a response that its request bounds', () => {
    // $10,000 per million tokens of input and output.
    const dear = { model_name: 'm-large', quota_type: 0, model_ratio: 5_000, completion_ratio: 1 };
    const usage = { prompt_tokens: 1, completion_tokens: 500, total_tokens: 501 };
    const completion = {
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm-large',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
      usage,
    };
    const generation = {
      candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 500, totalTokenCount: 501 },
    };
    const response = { id: 'r', object: 'response', status: 'completed', output: [], usage };
    const answer = (path: string): Response => {
      if (path.includes('generateContent')) return Response.json(generation);
      return Response.json(path.endsWith('/responses') ? response : completion);
    };
    const cases: [string, (client: Gateway) => PromiseLike<unknown>, tokens: number][] = [
      ['max_tokens', ask({ max_tokens: 500 }), 500],
      ['max_completion_tokens', ask({ max_completion_tokens: 500 }), 500],
      ['the larger of both', ask({ max_tokens: 5, max_completion_tokens: 500 }), 500],
      ['n', ask({ max_tokens: 500, n: 8 }), 4_000],
      ['more than 1,000 tokens', ask({ max_tokens: 9_000 }), 9_000],
      ['maxOutputTokens', generate({ maxOutputTokens: 500 }), 500],
      ['candidateCount', generate({ maxOutputTokens: 500, candidateCount: 2 }), 1_000],
      [
        'max_output_tokens',
        (client) =>
          client.responses.create({ model: 'm-large', input: 'Hi', max_output_tokens: 500 }),
        500,
      ],
      [
        'a raw route',
        (client) => client.post('/v1/chat/completions', { body: { ...chat, max_tokens: 500 } }),
        500,
      ],
      [
        'extraBody',
        (client) => client.chat.completions.create(chat, { extraBody: { max_tokens: 500 } }),
        500,
      ],
    ];

    test.each(cases)('the bound is reserved: %s', async (_name, send, tokens) => {
      const bound = tokens * 0.01;
      const { client, requests } = scripted([priced([dear], answer)], {
        budget: { limit: bound - 0.01 },
      });
      const error = await failureOf(send(client));

      expect(error).toMatchObject({ name: 'BudgetError', reason: 'limit', outcome: 'not_sent' });
      expect(BudgetError.isInstance(error) && error.cost).toBeGreaterThan(bound);
      expect(requests).toHaveLength(1);
      expect((await client.account.spent()).budget).toMatchObject({ spent: 0, reserved: 0 });
    });

    test('without a bound, a call may be sent although it may cost more', async () => {
      const { client } = scripted([priced([dear], answer)], { budget: { limit: 1 } });

      await client.chat.completions.create(chat);

      expect((await client.account.spent()).budget?.spent).toBeCloseTo(5.01, 9);
    });

    test('a call that costs more than its bound raises the next reservation', async () => {
      const { client } = scripted([priced([dear], answer)], { budget: { limit: 8 } });

      await client.chat.completions.create({ ...chat, max_tokens: 100 });

      expect(
        await failureOf(client.chat.completions.create({ ...chat, max_tokens: 100 })),
      ).toMatchObject({ reason: 'limit' });
    });
  });

  describe('without a price', () => {
    const entries = [
      { model_name: 'gpt-image-1', quota_type: 0, model_ratio: 2.5, completion_ratio: 8 },
    ];
    const usage = { input_tokens: 50, output_tokens: 50, total_tokens: 100 };
    const answer = (): Response =>
      Response.json({ created: 1, data: [{ b64_json: 'aGVsbG8=' }], usage });
    const cost = (450 * 2.5) / 500_000;
    const client = (budget: Budget) => scripted([priced(entries, answer)], { budget });

    test('a call is rejected, and the error names the option to set', async () => {
      const { client: own, requests } = client({ limit: 1 });

      const byToken = await failureOf(own.images.generate({ ...image, model: 'gpt-image-1' }));
      const unlisted = await failureOf(own.images.generate({ ...image, model: 'other' }));

      expect(byToken).toMatchObject({ reason: 'price', outcome: 'not_sent', cost: undefined });
      expect(String(byToken)).toMatch(/priced per token.*budget\.perCall/);
      expect(String(unlisted)).toMatch(/has no model "other"/);
      expect(requests).toHaveLength(1);
    });

    test('perCall is reserved, and counted if the usage costs less', async () => {
      const { client: own } = client({ limit: 0.1, perCall: { 'gpt-image-1': 0.06 } });

      await own.images.generate({ ...image, model: 'gpt-image-1' });

      expect(cost).toBeLessThan(0.06);
      expect((await own.account.spent()).budget?.spent).toBeCloseTo(0.06, 12);
      expect(
        await failureOf(own.images.generate({ ...image, model: 'gpt-image-1', n: 2 })),
      ).toMatchObject({ reason: 'limit', cost: 0.12 });
    });

    test('"allow" sends it, and counts it if its price is known', async () => {
      const { client: own } = client({ limit: 1.5 * cost, onMissingPrice: 'allow' });
      const params = { ...image, model: 'gpt-image-1' };

      await own.images.generate({ ...image, model: 'other' });
      await own.images.generate(params);
      await own.images.generate(params);

      expect((await own.account.spent()).budget?.spent).toBeCloseTo(2 * cost, 12);
      expect(await failureOf(own.images.generate(params))).toMatchObject({ reason: 'limit' });
    });

    test('warns about a gateway without a price list', async () => {
      const { client: own, emulator } = budgeted({ limit: 1 }, { quirks: { accountRoutes: [] } });

      const error = await failureOf(own.images.generate(image));

      expect(error).toMatchObject({
        reason: 'price',
        cause: { name: 'UnsupportedByGatewayError' },
      });
      expect(emulator.charges).toHaveLength(0);
    });
  });

  test('never exceeds the limit, whatever fails, and releases every reservation', async () => {
    const faults: readonly (Fault | undefined)[] = [
      undefined,
      undefined,
      { type: 'error', status: 400 },
      { type: 'error', status: 429 },
      { type: 'error', status: 500 },
      { type: 'reset', when: 'before-charge' },
      { type: 'reset', when: 'after-charge' },
      { type: 'error-in-200' },
      { type: 'cut', bytes: 20 },
      { type: 'empty' },
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(...faults), fc.integer({ min: 1, max: 3 })), {
          minLength: 1,
          maxLength: 12,
        }),
        fc.integer({ min: 0, max: 9 }),
        fc.integer({ min: 1, max: 5 }),
        async (calls, limit, concurrency) => {
          const { client, emulator } = budgeted({ limit: limit * price });
          for (const [fault] of calls) {
            if (fault) emulator.fail({ fault, operation: 'images.generate', times: 1 });
          }
          const params = calls.map(([, n]) => ({ ...image, n }));

          const results = await collect(
            client.images.generateMany(params, { concurrency, maxRetries: 0 }),
          );

          const charged = emulator.charges.reduce((sum, { amount }) => sum + amount, 0);
          expect(charged).toBeLessThanOrEqual(limit * 1_000);
          const { budget } = await client.account.spent();
          expect(budget?.reserved).toBeCloseTo(0, 12);
          expect(budget?.spent).toBeGreaterThanOrEqual(charged / 500_000 - 1e-9);
          expect(results).toHaveLength(calls.length);
        },
      ),
      { numRuns: 40 },
    );
  });

  test.each<[string, unknown]>([
    ['budget', 5],
    ['budget.limit', {}],
    ['budget.limit', { limit: -1 }],
    ['budget.limit', { limit: '5' }],
  ])('an invalid %s is rejected by the constructor', (field, budget) => {
    expect(() => emulated({ budget: untyped<Budget>(budget) })).toThrow(
      expect.objectContaining({ field, constructor: InvalidInputError }),
    );
  });

  test.each<[string, unknown]>([
    ['budget.onMissingPrice', { limit: 5, onMissingPrice: 'ask' }],
    ['budget.perCall', { limit: 5, perCall: 0.1 }],
    ['budget.perCall["m"]', { limit: 5, perCall: { m: '0.1' } }],
  ])('an invalid %s is rejected before anything is sent', async (field, budget) => {
    const { client, emulator } = emulated({ budget: untyped<Budget>(budget) });

    const error = await failureOf(client.images.generate(image));

    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error).toMatchObject({ field });
    expect(emulator.requests).toHaveLength(0);
  });
});
