import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Budget, GatewayOptions, GatewayProfile } from '../../../src/index.ts';
import type { Quirks } from '../../../src/testing/index.ts';
import {
  collect,
  emulated,
  eventStream,
  failureOf,
  json,
  scripted,
} from '../../helpers/clients.ts';
import { resolved } from '../../helpers/fake-time.ts';

const messages = [{ role: 'user' as const, content: 'Hello' }];
const chat = { model: 'm-large', messages };
const image = { model: 'm-image', prompt: 'A red circle', size: '64x64' };
const video = { model: 'm-video', prompt: 'A boat', seconds: 4 };
const usd = (value: number) => ({ value, unit: 'USD' });

const completion = (usage: object) => ({
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm-large',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage,
});

/** A gateway without a price list, whose other answers are these, one after the other. */
function unpriced(...answers: (() => Response)[]) {
  const others = [...answers];
  return (request: Request): Response => {
    const { pathname } = new URL(request.url);
    if (/pricing|\/model/.test(pathname)) return new Response('Not found', { status: 404 });
    const [answer] = others.length > 1 ? others.splice(0, 1) : others;
    return answer?.() ?? new Response(null, { status: 500 });
  };
}

/** A gateway whose price list has one price by call. */
function priced(perCall: number, answer: () => Response) {
  return (request: Request): Response => {
    if (new URL(request.url).pathname !== '/api/pricing') return answer();
    const entry = { model_name: 'm-image', quota_type: 1, model_price: perCall };
    return Response.json({ data: [entry], group_ratio: { default: 1 } });
  };
}

const imageBody = { created: 1, data: [{ b64_json: 'aGVsbG8=' }] };
const images = (usage?: object) => json({ ...imageBody, usage });
/** Answers with a cost in a header. */
const header = (name: string) => (cost: number) => () =>
  Response.json(imageBody, { headers: { [name]: String(cost) } });

/** Makes an image, and returns what the budget counts. */
async function spentAfter(
  budget: Budget,
  gateway: (request: Request) => Response,
  options: GatewayOptions = {},
) {
  const { client, requests } = scripted([gateway], { budget, ...options });
  await client.images.generate(image);
  const { budget: after } = await client.account.spent();
  return { spent: after?.spent, client, requests };
}

describe('account.spent() with reported costs', () => {
  test.each<Quirks['reportedCost']>(['usage', 'header'])(
    'counts the cost in the %s, without a price list',
    async (reportedCost) => {
      const { client, emulator } = emulated({}, { quirks: { reportedCost, accountRoutes: [] } });
      await client.chat.completions.create(chat);
      await client.images.generate({ ...image, n: 2 });
      await client.embeddings.create({ model: 'm-embedding', input: 'two words' });

      const { lines, estimate, unpriced: missing } = await client.account.spent();

      const charged = emulator.charges.map(({ amount }) => amount / 500_000);
      expect(lines.map((line) => line.estimate.amount?.value)).toEqual(charged);
      expect(lines.map(({ reported }) => reported)).toEqual([1, 1, 1]);
      expect(estimate.value).toBeCloseTo(
        charged.reduce((sum, cost) => sum + cost, 0),
        12,
      );
      expect(missing).toBe(0);
    },
  );

  test('counts the cost in the last chunks of a stream, also before a chunk without one', async () => {
    const { client, emulator } = emulated({}, { quirks: { reportedCost: 'usage' } });
    await collect(await client.chat.completions.create({ ...chat, stream: true }));

    const { estimate } = await client.account.spent();

    expect(estimate.value).toBeCloseTo((emulator.charges[0]?.amount ?? 0) / 500_000, 12);
  });

  test('takes precedence over the price list, which prices other responses', async () => {
    const answers = [{ cost: 0.01 }, { cost: 0 }, undefined].map((usage) => images(usage));
    const [first = images(), second = images(), third = images()] = answers;
    const others = [first, second, third];
    const { client } = scripted([priced(0.05, () => others.shift()?.() ?? images()())]);
    await client.account.prices();
    for (let call = 0; call < 3; call += 1) await client.images.generate(image);

    const { lines, estimate, unpriced: missing } = await client.account.spent();

    expect(lines).toMatchObject([{ calls: 3, reported: 2 }]);
    expect(estimate.value).toBeCloseTo(0.06, 12);
    expect(missing).toBe(0);
  });

  test('calls without a price and a reported cost are unpriced', async () => {
    const { client } = scripted([
      unpriced(json(completion({ prompt_tokens: 9, completion_tokens: 1, cost: 0.2 })), () =>
        Response.json(completion({ prompt_tokens: 9, completion_tokens: 1, cost: -5 })),
      ),
    ]);
    await client.chat.completions.create(chat);
    await client.chat.completions.create(chat);

    const { lines, unpriced: missing } = await client.account.spent();

    expect(lines).toMatchObject([
      { calls: 2, reported: 1, estimate: { amount: usd(0.2) }, tokens: { input: 18, output: 2 } },
    ]);
    expect(missing).toBe(1);
  });

  test('a stream that breaks after its usage counts its reported cost', async () => {
    const delta = { index: 0, delta: { content: 'Hi' }, finish_reason: null };
    const usage = { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10, cost: 0.3 };
    const chunks = [{ choices: [delta] }, { choices: [], usage }];
    const { client } = scripted([unpriced(eventStream(...chunks))]);
    const stream = await client.chat.completions.create({ ...chat, stream: true });
    await failureOf(collect(stream));

    const { lines, possible, unpriced: missing } = await client.account.spent();

    expect(lines).toMatchObject([
      { calls: 0, unknown: 1, reported: 1, estimate: { amount: usd(0.3) } },
    ]);
    expect(possible).toEqual(usd(0));
    expect(missing).toBe(0);
  });

  test('the cost of a video is that of its last poll, counted once', async () => {
    const { client, emulator } = emulated({}, { quirks: { reportedCost: 'usage' } });
    await client.account.prices();
    const task = await client.videos.create(video);
    const before = await client.account.spent();
    emulator.clock.advance(60_000);
    await client.withOptions({ maxRetries: 0 }).videos.retrieve(task);
    await client.videos.retrieve(task);

    const after = await client.account.spent();

    expect(before.lines).toMatchObject([{ calls: 1, reported: 0 }]);
    const cost = (emulator.charges[0]?.amount ?? 0) / 500_000;
    expect(after.lines).toMatchObject([{ calls: 1, reported: 1, estimate: { amount: usd(cost) } }]);
    expect(after.lines).toHaveLength(1);
  });

  test('the cost of an image task is that of its poll, counted once', async () => {
    vi.useFakeTimers();
    try {
      const polled = {
        id: 'task_1',
        status: 'succeeded',
        data: [{ url: 'https://cdn.test/a.png' }],
        usage: { cost: 0.04 },
      };
      const answers = unpriced(
        json({ task_id: 'task_1', status: 'submitted' }),
        json({ task_id: 'task_1', status: 'running', usage: { cost: 0.01 } }),
        json(polled),
      );
      const { client } = scripted([answers]);
      const { data } = await resolved(client.images.generate(image));
      const { lines } = await resolved(client.account.spent());

      expect(data).toHaveLength(1);
      expect(lines).toMatchObject([{ calls: 1, reported: 1, estimate: { amount: usd(0.04) } }]);
    } finally {
      vi.useRealTimers();
    }
  });

  describe('several image tasks', () => {
    beforeEach(() => void vi.useFakeTimers());
    afterEach(() => void vi.useRealTimers());

    const tasks = { data: [{ task_id: 'task_1' }, { task_id: 'task_2' }] };
    const done = { status: 'succeeded', data: [{ url: 'https://cdn.test/a.png' }] };

    /** A gateway that bills by token, whose polls return these responses. */
    function gateway(polls: Readonly<Record<string, object>>) {
      const entry = { model_name: 'm-image', quota_type: 0, model_ratio: 5, completion_ratio: 1 };
      return (request: Request): Response => {
        const { pathname } = new URL(request.url);
        if (request.method === 'POST') return Response.json(tasks);
        const id = pathname.split('/').at(-1) ?? '';
        const list = { data: [entry], group_ratio: { default: 1 } };
        return Response.json(pathname === '/api/pricing' ? list : polls[id]);
      };
    }

    async function spentOn(polls: Readonly<Record<string, object>>) {
      const budget: Budget = { limit: 10, onMissingPrice: 'allow' };
      const { client } = scripted([gateway(polls)], { budget });
      await resolved(client.account.prices());
      const made = resolved(client.images.generate({ ...image, n: 2 }));
      await made;
      return resolved(client.account.spent());
    }

    const cost = (amount: number, id: string) => ({ ...done, id, usage: { cost: amount } });

    test('each cost is counted, whatever ids the polls name', async () => {
      const { lines } = await spentOn({
        task_1: cost(0.04, 'task_1'),
        task_2: cost(0.03, 'other'),
      });
      expect(lines).toMatchObject([{ calls: 1, reported: 1, estimate: { amount: usd(0.07) } }]);
    });

    test('a task without a cost counts as much as the others', async () => {
      const { lines } = await spentOn({ task_1: { ...done, usage: { cost: 0.04 } }, task_2: done });
      expect(lines).toMatchObject([{ reported: 1, estimate: { amount: usd(0.08) } }]);
    });

    test('tokens are counted at their price, in budgets too', async () => {
      const usage = { input_tokens: 1_000, output_tokens: 4_000, total_tokens: 5_000 };
      const polled = { ...done, usage };
      const {
        lines,
        budget,
        unpriced: missing,
      } = await spentOn({ task_1: polled, task_2: polled });
      // 10 USD per million tokens.
      expect(lines).toMatchObject([
        { calls: 1, tokens: { input: 2_000, output: 8_000 }, estimate: { amount: usd(0.1) } },
      ]);
      expect(budget).toMatchObject({ spent: 0.1, reserved: 0 });
      expect(missing).toBe(0);
    });
  });

  test('a poll of a task that another client submitted adds nothing', async () => {
    const { client, emulator } = emulated({}, { quirks: { reportedCost: 'usage' } });
    const { id } = await client.videos.create(video);
    emulator.clock.advance(60_000);
    const { client: other } = emulated({ fetch: emulator.fetch });
    await other.videos.retrieve(id);

    expect((await other.account.spent()).lines).toEqual([]);
  });
});

describe('a budget with reported costs', () => {
  test('a budget with reported costs counts a cost above the price list, and reserves it from then on', async () => {
    const budget = { limit: 0.25 };
    const { spent, client, requests } = await spentAfter(
      budget,
      priced(0.05, images({ cost: 0.15 })),
    );
    expect(spent).toBeCloseTo(0.15, 12);

    const error = await failureOf(client.images.generate(image));

    expect(error).toMatchObject({ reason: 'limit', cost: 0.15, outcome: 'not_sent' });
    expect(requests.filter(({ url }) => url.includes('/images/'))).toHaveLength(1);
  });

  test.each([
    {
      name: 'the price list',
      budget: { limit: 1 },
      gateway: priced(0.05, images({ cost: 0.01 })),
      counted: 0.05,
    },
    {
      name: 'the price list',
      budget: { limit: 1 },
      gateway: priced(0.05, images({ cost: 0 })),
      counted: 0.05,
    },
    {
      name: 'perCall',
      budget: { limit: 1, perCall: { 'm-image': 0.06 } },
      gateway: unpriced(images({ cost: 0.01 })),
      counted: 0.06,
    },
    {
      name: 'perCall',
      budget: { limit: 1, perCall: { 'm-image': 0.06 } },
      gateway: unpriced(images({ cost: 0 })),
      counted: 0.06,
    },
  ])('a lower cost than that of $name releases nothing', async ({ budget, gateway, counted }) => {
    const { spent } = await spentAfter(budget, gateway);

    expect(spent).toBeCloseTo(counted, 12);
  });

  const ownProfile: GatewayProfile = {
    name: 'mine',
    readCost: (_, headers) => Number(headers.get('x-cost')),
  };

  const trusted: [GatewayOptions['gateway'], (cost: number) => () => Response][] = [
    ['openrouter', (cost) => images({ cost })],
    ['litellm', header('x-litellm-response-cost')],
    [ownProfile, header('x-cost')],
  ];

  test.each(trusted)('a gateway that reports its charges is trusted: %j', async (gateway, cost) => {
    const budget: Budget = { limit: 1, onMissingPrice: 'allow' };
    const answers = unpriced(cost(0.06), cost(0.01));
    const { client, requests } = await spentAfter(budget, answers, { gateway });

    // It reserves 0.06.
    await client.images.generate(image);

    expect(requests.filter(({ url }) => url.includes('/images'))).toHaveLength(2);
    expect((await client.account.spent()).budget?.spent).toBeCloseTo(0.07, 12);
  });

  test.each(trusted)('perCall is the least that a call counts as: %j', async (gateway, cost) => {
    const budget = { limit: 1, perCall: { 'm-image': 0.06 } };
    const answers = unpriced(cost(0.01), cost(0.2));
    const { client, spent } = await spentAfter(budget, answers, { gateway });
    expect(spent).toBeCloseTo(0.06, 12);

    await client.images.generate(image);

    expect((await client.account.spent()).budget?.spent).toBeCloseTo(0.26, 12);
  });

  test('a reported 0 counts only for a model that is known to be free', async () => {
    const budget: Budget = { limit: 1, onMissingPrice: 'allow' };
    for (const [model, counted] of [
      ['vendor/m:free', 0.06],
      ['m-image', 0.12],
    ] as const) {
      const answers = unpriced(images({ cost: 0.06 }), images({ cost: 0 }));
      const { client } = scripted([answers], { budget: { ...budget }, gateway: 'openrouter' });

      for (let call = 0; call < 2; call += 1) await client.images.generate({ ...image, model });

      expect((await client.account.spent()).budget?.spent).toBeCloseTo(counted, 12);
    }
  });

  test('a profile function that throws or returns an invalid cost reports nothing', async () => {
    for (const readCost of [
      () => -1,
      () => Number.NaN,
      (): number => {
        throw new Error('A mistake');
      },
    ]) {
      const budget = { limit: 1, perCall: { 'm-image': 0.06 } };
      const options = { gateway: { name: 'mine', readCost } };
      const { spent } = await spentAfter(budget, unpriced(images({ cost: 0.01 })), options);
      expect(spent).toBeCloseTo(0.06, 12);
    }
  });

  test('a free model of the price list costs nothing', async () => {
    const { spent } = await spentAfter({ limit: 1 }, priced(0, images({ cost: 0 })));

    expect(spent).toBe(0);
  });

  test('a call without a price counts its reported cost, and reserves it from then on', async () => {
    const budget: Budget = { limit: 0.5, onMissingPrice: 'allow' };
    const { spent, client } = await spentAfter(budget, unpriced(images({ cost: 0.3 })));
    expect(spent).toBeCloseTo(0.3, 12);

    const [second, third] = [client.images.generate(image), client.images.generate(image)];

    await second;
    expect(await failureOf(third)).toMatchObject({ reason: 'limit' });
  });

  test('a low cost of a chat without usage does not lower the next reservation', async () => {
    const prices = {
      data: [{ model_name: 'm-large', quota_type: 0, model_ratio: 1, completion_ratio: 1 }],
      group_ratio: { default: 1 },
    };
    const reserved = async (cost: number | undefined) => {
      const answer = completion(cost === undefined ? {} : { cost });
      const gate = new EventTarget();
      const held = new Promise<Response>((resolve) => {
        gate.addEventListener('open', () => resolve(Response.json(answer)));
      });
      const answers = [Promise.resolve(Response.json(answer)), held];
      const { client } = scripted(
        [
          (request) =>
            new URL(request.url).pathname === '/api/pricing'
              ? Response.json(prices)
              : (answers.shift() ?? Response.json(answer)),
        ],
        { budget: { limit: 1 } },
      );
      await client.chat.completions.create(chat);
      const second = client.chat.completions.create(chat).then((done) => done);
      await new Promise(setImmediate);
      const { budget } = await client.account.spent();
      gate.dispatchEvent(new Event('open'));
      await second;
      return budget?.reserved ?? 0;
    };

    expect(await reserved(undefined)).toBeGreaterThan(0);
    expect(await reserved(0.000_001)).toBe(await reserved(undefined));
  });

  test('a budget with reported costs counts a higher cost of a video when its poll reports it, once', async () => {
    const body = { id: 'v1', status: 'completed', url: 'https://files.test/v.mp4' };
    const { client } = scripted(
      [
        unpriced(
          json({ id: 'v1', status: 'queued' }),
          json({ id: 'v1', status: 'in_progress', usage: { cost: null } }),
          json({ ...body, usage: { cost: 0.5 } }),
        ),
      ],
      { budget: { limit: 0.9, perCall: { 'm-video': 0.2 } } },
    );
    const task = await client.videos.create(video);
    const spent = async () => (await client.account.spent()).budget?.spent;
    expect(await spent()).toBeCloseTo(0.2, 12);

    await client.videos.retrieve(task);
    expect(await spent()).toBeCloseTo(0.2, 12);
    await client.videos.retrieve(task);
    await client.videos.retrieve(task);

    expect(await spent()).toBeCloseTo(0.5, 12);
    const error = await failureOf(
      client.withOptions({ maxRetries: 0 }).videos.create({ ...video, seconds: 8 }),
    );
    expect(error).toMatchObject({ outcome: 'not_sent', cost: 0.5 });
  });
});
