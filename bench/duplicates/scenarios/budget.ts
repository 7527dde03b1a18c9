import { createRequire } from 'node:module';
import type * as library from '../../lib/model-gateway.ts';
import { Gateway, type Budget } from '../../lib/model-gateway.ts';
import { images, json, video } from '../answers.ts';
import { describeEnd, type Counts, type Scenario } from './scenario.ts';
import { priceList, Service, type Reply } from './service.ts';

const model = 'video-model';
const prompt = 'A lighthouse';
const apiKey = 'benchmark';
const logLevel = 'off';

/** The CommonJS copy of the package. */
const commonJS: typeof library = createRequire(import.meta.url)('../../../dist/index.cjs');

/** The response to a video submission that lists price ratios. */
const videoReply = (ratios: string, cost: number): Reply => ({
  answer: video,
  cost,
  headers: { 'x-new-api-other-ratios': ratios },
});

async function readSpent(client: Gateway): Promise<number> {
  const { budget } = await client.account.spent();
  return Math.round((budget?.spent ?? 0) * 1_000) / 1_000;
}

/** Submits one video after the other, then many at once, for $0.10 a second. */
async function videosAtOnce(seconds: readonly number[], asked?: number): Promise<Counts> {
  await using service = await Service.open({
    prices: priceList(model, 0.1),
    reply: ({ index }) => {
      const made = seconds[index] ?? seconds[0] ?? 0;
      return videoReply(JSON.stringify({ seconds: made, size: 1 }), made * 0.1);
    },
  });
  const { origin: baseURL } = service;
  const client = new Gateway({ apiKey, baseURL, logLevel, budget: { limit: 8 } });
  const submit = () =>
    describeEnd(client.videos.create({ model, prompt, ...(asked && { seconds: asked }) }));
  for (const _ of seconds) await submit();
  await Promise.all(Array.from({ length: 20 }, submit));
  return service.counts({ spent: service.spent, counted: await readSpent(client) });
}

/** Submits 20 videos that cost $4 each and whose responses list unusable ratios. */
async function unusableRatios(ratios: string): Promise<Counts> {
  await using service = await Service.open({
    prices: priceList(model, 1),
    reply: () => videoReply(ratios, 4),
  });
  const { origin: baseURL } = service;
  const client = new Gateway({ apiKey, baseURL, logLevel, budget: { limit: 8 } });
  for (let count = 0; count < 20; count += 1) {
    await describeEnd(client.videos.create({ model, prompt, seconds: 4 }));
  }
  return service.counts({ spent: service.spent, counted: await readSpent(client) });
}

interface Images {
  readonly prices: object | 'never';
  readonly budget: Budget;
  readonly times: number;
  /** `true` to show the duration in the table. */
  readonly isTimed?: true;
  readonly timeout?: number;
  readonly n?: string;
}

/** Requests images for $1 each. */
async function buyImages({ prices, budget, times, isTimed, timeout, n }: Images): Promise<Counts> {
  const count = Number(n ?? 1);
  await using service = await Service.open({
    prices,
    reply: () => ({ answer: images, cost: count }),
  });
  const client = new Gateway({ apiKey, baseURL: service.origin, logLevel, budget });
  const began = performance.now();
  const options = { ...(timeout && { timeout }), ...(n && { extraBody: { n } }) };
  let ended = '';
  for (let call = 0; call < times; call += 1) {
    ended = await describeEnd(client.images.generate({ model: 'image-model', prompt }, options));
  }
  const seconds = Math.round((performance.now() - began) / 500) / 2;
  const counted = await readSpent(client);
  return service.counts({ ...(isTimed ? { seconds } : { spent: service.spent, counted }), ended });
}

/** Requests images through both copies of the package, with one budget object. */
async function twoCopies(): Promise<Counts> {
  await using service = await Service.open({
    prices: priceList('image-model', 0.1),
    reply: () => ({ answer: images, cost: 0.1 }),
  });
  const options = { apiKey, baseURL: service.origin, logLevel, budget: { limit: 1 } } as const;
  const clients = [new Gateway(options), new commonJS.Gateway(options)];
  await Promise.all(
    clients.flatMap((client) =>
      Array.from({ length: 15 }, () =>
        describeEnd(client.images.generate({ model: 'image-model', prompt })),
      ),
    ),
  );
  return service.counts({ spent: service.spent });
}

/** Makes each call with a copy of the client. */
async function manyCopies(): Promise<Counts> {
  await using service = await Service.open({
    prices: priceList('image-model', 0.1),
    reply: () => ({ answer: images, cost: 0.1 }),
  });
  const budget = { limit: 10 };
  const client = new Gateway({ apiKey, baseURL: service.origin, logLevel, budget });
  for (let copy = 0; copy < 30; copy += 1) {
    await client.withOptions({ maxRetries: 1 }).images.generate({ model: 'image-model', prompt });
  }
  return service.counts({ priceReads: service.priceReads });
}

/** Calls until the budget rejects a call, at most 20 times. @returns how the last call before that ended */
async function callUntilRejected(call: () => PromiseLike<unknown>): Promise<string> {
  let ended = '';
  for (let count = 0; count < 20; count += 1) {
    const end = await describeEnd(call());
    if (end.startsWith('BudgetError')) break;
    ended = end;
  }
  return ended;
}

/** Requests images for $0.10 that become tasks, which fail and are not refunded. */
async function failedTasks(): Promise<Counts> {
  const accepted = json({
    created: 1_760_000_000,
    data: [{ task_id: 'task_1', status: 'queued' }],
  });
  await using service = await Service.open({
    prices: priceList('image-model', 0.1),
    poll: { task_id: 'task_1', status: 'failed', error: { message: 'No picture was made.' } },
    reply: () => ({ answer: accepted, cost: 0.1 }),
  });
  const { origin: baseURL } = service;
  const client = new Gateway({ apiKey, baseURL, logLevel, budget: { limit: 0.5 } });
  const ended = await callUntilRejected(() =>
    client.images.generate({ model: 'image-model', prompt }),
  );
  return service.counts({ spent: service.spent, counted: await readSpent(client), ended });
}

/** Requests images for $0.10 with an idempotency key that the gateway ignores; three of four attempts time out. */
async function ignoredKeys(): Promise<Counts> {
  await using service = await Service.open({
    prices: priceList('image-model', 0.1),
    reply: ({ index }) => ({ answer: images, cost: 0.1, status: index % 4 === 3 ? 200 : 504 }),
  });
  const client = new Gateway({
    apiKey,
    baseURL: service.origin,
    logLevel,
    maxRetries: 3,
    idempotency: { header: 'Idempotency-Key' },
    budget: { limit: 0.5 },
  });
  await callUntilRejected(() => client.images.generate({ model: 'image-model', prompt }));
  return service.counts({ spent: service.spent, counted: await readSpent(client) });
}

const number = (value: string | number | undefined): number => Number(value ?? Number.NaN);

/** Checks that the limit was not exceeded and the budget counted all charges. */
const isWithin =
  (limit: number) =>
  ({ notes: { spent, counted } }: Counts): boolean =>
    number(spent) <= limit && number(counted) >= number(spent);

export const budgetScenarios: readonly Scenario[] = [
  {
    id: 'budget-longer-videos',
    label: 'Budget of $8; a video is longer than requested, then 20 at once',
    ours: () => videosAtOnce([8], 4),
    promise: 'at most $8 spent',
    isKept: (counts) => isWithin(8)(counts) && counts.charges > 1,
  },
  {
    id: 'budget-highest-video',
    label: 'Budget of $8; a long video, a short one, then 20 long ones at once',
    ours: () => videosAtOnce([8, 4]),
    promise: 'at most $8 spent',
    isKept: (counts) => isWithin(8)(counts) && counts.charges > 2,
  },
  {
    id: 'budget-price-list-hangs',
    label: 'The price list hangs; a call with a timeout of 0.5 s',
    ours: () =>
      buyImages({ prices: 'never', budget: { limit: 8 }, times: 1, isTimed: true, timeout: 500 }),
    promise: 'ends in time, nothing sent',
    isKept: ({ requests, notes }) => requests === 0 && number(notes['seconds']) < 3,
  },
  {
    id: 'budget-price-list-limit',
    label: 'The price list hangs; a call with `perCall` and no timeout',
    ours: () =>
      buyImages({
        prices: 'never',
        budget: { limit: 8, perCall: { 'image-model': 1 } },
        times: 1,
        isTimed: true,
      }),
    promise: 'uses `perCall` within 15 s',
    isKept: ({ charges, notes }) => charges === 1 && number(notes['seconds']) < 15,
  },
  {
    id: 'budget-negative-price',
    label: 'A negative price, then 20 images',
    ours: () =>
      buyImages({ prices: priceList('image-model', -1), budget: { limit: 8 }, times: 20 }),
    promise: 'at most $8 spent',
    isKept: isWithin(8),
  },
  {
    id: 'budget-negative-group',
    label: 'A negative group ratio, then 20 images',
    ours: () =>
      buyImages({ prices: priceList('image-model', 1, -1), budget: { limit: 8 }, times: 20 }),
    promise: 'at most $8 spent',
    isKept: isWithin(8),
  },
  {
    id: 'budget-negative-ratio',
    label: 'Budget of $8; 20 videos for $4 with negative price ratios',
    ours: () => unusableRatios('{"seconds":-4,"size":1}'),
    promise: 'at most $8 spent',
    isKept: (counts) => isWithin(8)(counts) && counts.charges > 0,
  },
  {
    id: 'budget-unreadable-ratio',
    label: 'Budget of $8; 20 videos for $4 with unreadable price ratios',
    ours: () => unusableRatios('{"seconds":'),
    promise: 'at most $8 spent',
    isKept: (counts) => isWithin(8)(counts) && counts.charges > 0,
  },
  {
    id: 'budget-two-copies',
    label: 'Budget of $1 shared by the ESM and the CommonJS copy; 30 images for $0.10',
    ours: twoCopies,
    promise: 'at most $1 spent',
    isKept: ({ charges, notes }) => number(notes['spent']) <= 1 && charges > 1,
  },
  {
    id: 'budget-copied-clients',
    label: '30 calls, each with a copy made by `withOptions()`',
    ours: manyCopies,
    promise: 'one read of the price list',
    isKept: ({ charges, notes }) => charges === 30 && notes['priceReads'] === 1,
  },
  {
    id: 'budget-count-as-text',
    label: 'Budget of $8; 11 images as text in `extraBody`',
    ours: () =>
      buyImages({
        prices: priceList('image-model', 1),
        budget: { limit: 8 },
        times: 1,
        n: '11',
      }),
    promise: 'rejected before it is sent',
    isKept: ({ requests }) => requests === 0,
  },
  {
    id: 'budget-failed-tasks',
    label: 'Budget of $0.50; image tasks for $0.10 fail without a refund, 20 times',
    ours: failedTasks,
    promise: 'at most $0.50 spent, unknown',
    isKept: (counts) =>
      isWithin(0.5)(counts) &&
      counts.charges === 5 &&
      counts.notes['ended'] === 'ImageFailedError, unknown',
  },
  {
    id: 'budget-ignored-keys',
    label:
      'Budget of $0.50; a gateway ignores idempotency keys and three of four attempts end with 504',
    ours: ignoredKeys,
    promise: 'each attempt is counted; at most the retries of one call above $0.50',
    isKept: (counts) => isWithin(0.8)(counts) && counts.charges > 4,
  },
];
