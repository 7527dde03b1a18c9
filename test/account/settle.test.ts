import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { settleBy } from '../../src/account/settle.ts';
import { GatewayError, InvalidInputError, type GatewayOptions } from '../../src/index.ts';
import type { EmulatorOptions, Fault } from '../../src/testing/index.ts';
import { emulated, failureOf, misuse } from '../helpers/clients.ts';
import {
  chargesSince,
  endOf,
  faultIn,
  faults,
  operationNames,
  operations,
} from '../helpers/settling.ts';
import { patient } from '../helpers/patient.ts';

const video = { model: 'm-video', prompt: 'A boat', seconds: 4 };
const image = { model: 'm-image', prompt: 'A boat' };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** What a call is rejected with. */
async function ended(call: Promise<unknown>): Promise<unknown> {
  return (await endOf(call)).error;
}

interface Case {
  readonly operation: (typeof operationNames)[number];
  readonly fault: Fault;
}

const cases: readonly Case[] = operationNames.flatMap((operation) =>
  faults.map((fault) => ({ operation, fault })),
);

/** Makes one call that goes wrong, and asks the books what became of it. */
async function settleOne(
  { operation, fault }: Case,
  setup: EmulatorOptions,
  options: GatewayOptions = {},
) {
  const { client, emulator } = emulated({ timeout: 5_000, maxRetries: 0, ...options }, setup);
  const { id } = await client.videos.create(video);
  await vi.advanceTimersByTimeAsync(120_000);
  const before = emulator.charges.length;
  emulator.fail({ fault });
  const error = await ended(operations[operation](client, id));
  await vi.advanceTimersByTimeAsync(60_000);
  if (!GatewayError.isInstance(error)) return undefined;
  const settlement = await client.account.settle(error);
  const made = chargesSince(emulator, before);
  return { error, settlement, made, wrong: faultIn(settlement, made) };
}

describe.each([
  ['as it is', {}, 0.9],
  ['that writes errors down', { booksErrors: true }, 0.9],
  ['whose answers bring no request id', { requestIdHeader: false }, 0.6],
  ['that writes no charges down', { booksCharges: false }, 0],
  ['that names tasks', { booksNameTasks: true, booksErrors: true }, 0.9],
  ['that shows no more than its newest line', { booksLines: 1 }, 0.9],
] as const)('a gateway %s', (_, quirks, least) => {
  test('is never misunderstood, whatever goes wrong with whichever call', async () => {
    const wrong: string[] = [];
    let withLine = 0;
    let settled = 0;
    for (const one of cases) {
      const found = await settleOne(one, { quirks });
      if (found === undefined) continue;
      if (found.wrong !== undefined) wrong.push(`${JSON.stringify(one)}: ${found.wrong}`);
      if (found.made.length > 0) withLine += 1;
      if (found.made.length > 0 && found.settlement.verdict !== 'unknowable') settled += 1;
    }
    expect(wrong).toEqual([]);
    expect(withLine).toBeGreaterThan(15);
    expect(settled / withLine).toBeGreaterThanOrEqual(least);
    if (least === 0) expect(settled).toBe(0);
  });
});

describe('settle', () => {
  test('says what was charged, and from what it is known', async () => {
    const { client, emulator } = emulated({ maxRetries: 0 });
    emulator.fail({ fault: { type: 'cut', bytes: 5 } });
    const error = await ended(client.images.generate(image));
    const [charge] = emulator.charges;

    expect(error).toMatchObject({ outcome: 'unknown' });
    if (!GatewayError.isInstance(error)) return;
    expect(await client.account.settle(error)).toEqual({
      verdict: 'charged',
      amount: { value: 1_000, unit: 'quota' },
      requestId: charge?.requestId,
      taskId: undefined,
      asOf: Date.now(),
      why: expect.stringContaining('names it'),
    });
    expect(await client.account.settle(charge?.requestId ?? '')).toMatchObject({
      verdict: 'charged',
    });
  });

  test('joins the charge and the refund of a task by its handle', async () => {
    const { client, emulator } = emulated();
    const task = await client.videos.create(video);
    expect(task.ref.requestId).toBe(emulator.charges[0]?.requestId);
    expect(await client.account.settle(task)).toMatchObject({
      verdict: 'charged',
      amount: { value: 4_000 },
      taskId: task.id,
    });

    vi.advanceTimersByTime(1_000);
    emulator.videos.fail(task.id);
    for (const question of [task, task.ref, JSON.parse(JSON.stringify(task.ref)), task.id]) {
      expect(await client.account.settle(question, { maxAge: 0 })).toMatchObject({
        verdict: 'refunded',
        amount: { value: 4_000 },
      });
      vi.advanceTimersByTime(1);
    }
    // By the request alone it cannot be told whose refund that is.
    const byRequest = await client.account.settle(task.ref.requestId ?? '');
    expect(byRequest).toMatchObject({ verdict: 'unknowable' });
    expect(byRequest.why).toContain('task.ref');
  });

  test('tells a failed task from its error', async () => {
    const { client, emulator } = emulated();
    const task = await client.videos.create(video);
    emulator.videos.fail(task.id, 'The content was rejected by moderation.');
    const error = await ended(client.videos.wait(task));
    expect(error).toMatchObject({ name: 'VideoFailedError' });
    if (!GatewayError.isInstance(error)) return;
    expect(await client.account.settle(error)).toMatchObject({ verdict: 'refunded' });
  });

  test('takes nothing for proof where there is no line', async () => {
    const { client } = emulated();
    const settled = await client.account.settle('20261122011636');
    expect(settled).toMatchObject({ verdict: 'unknowable' });
    expect(settled.amount).toBeUndefined();
    expect(settled.why).toContain('proves nothing');
  });

  test('asks no books about what was never sent', async () => {
    const { client, emulator } = emulated({ baseURL: 'http://emulator.test:1' });
    const refused = await failureOf(client.images.generate({ ...image, prompt: '' }));
    if (!GatewayError.isInstance(refused)) throw refused;
    expect(await client.account.settle(refused)).toMatchObject({ verdict: 'unknowable' });
    expect(emulator.requests).toEqual([]);
  });

  test('reads the books again for a call that ended after they were read', async () => {
    const { client, emulator } = emulated({ maxRetries: 0 });
    await client.account.charges();
    vi.advanceTimersByTime(100);
    emulator.fail({ fault: { type: 'cut', bytes: 5 } });
    const error = await ended(client.images.generate(image));
    if (!GatewayError.isInstance(error)) throw error;
    expect(await client.account.settle(error)).toMatchObject({ verdict: 'charged' });
  });

  test('settles a hundred calls with one reading', async () => {
    const { client, emulator } = emulated({ maxRetries: 0 });
    emulator.fail({ fault: { type: 'cut', bytes: 5 }, times: 100 });
    const errors = await Promise.all(
      Array.from({ length: 100 }, () => failureOf(client.images.generate(image))),
    );
    const known = errors.filter((error) => GatewayError.isInstance(error));
    const settled = await Promise.all(known.map((error) => client.account.settle(error)));
    expect(settled).toHaveLength(100);
    expect(settled.every(({ verdict }) => verdict === 'charged')).toBe(true);
    expect(emulator.requests.filter(({ method }) => method === 'GET')).toHaveLength(1);
  });

  test('refuses what it cannot settle', async () => {
    const { client } = emulated();
    const { account } = client;
    const odd = [undefined, null, 3, {}, '', [], new Error('x'), { id: '' }, { model: 'm' }];
    const ofAnother = { kind: 'video', id: 'task_1', baseURL: 'https://other.test' };
    for (const question of [...odd, { since: 'today', model: 'm' }, ofAnother]) {
      expect(await failureOf(misuse(account, 'settle', question))).toBeInstanceOf(
        InvalidInputError,
      );
    }
  });
});

describe('by model and time', () => {
  const lost: Fault = { type: 'reset', when: 'after-charge' };
  const quiet: Fault = { type: 'reset', when: 'before-charge' };

  test('a charge is concluded when one line and one open call fit', async () => {
    const { client, emulator } = emulated();
    const since = new Date();
    await client.images.generate(image);
    emulator.fail({ fault: lost });
    const error = await failureOf(client.images.generate(image));
    if (!GatewayError.isInstance(error)) throw error;

    for (const question of [error, { since, model: 'm-image' }]) {
      const settled = await client.account.settle(question);
      expect(settled).toMatchObject({ verdict: 'charged', amount: { value: 1_000 } });
      expect(settled.why).toContain('nobody else uses the key');
    }
    expect((await client.account.settle({ since, model: 'm-video' })).verdict).toBe('unknowable');
  });

  test.each([
    ['two calls are open', [lost, quiet]],
    ['two lines fit', [lost, lost]],
    ['nothing was charged', [quiet]],
  ])('nothing is concluded when %s', async (_, wrongs) => {
    const { client, emulator } = emulated();
    const since = Date.now();
    const errors: unknown[] = [];
    for (const fault of wrongs) {
      emulator.fail({ fault });
      errors.push(await failureOf(client.images.generate(image)));
    }
    for (const error of errors) {
      if (!GatewayError.isInstance(error)) throw error;
      expect((await client.account.settle(error)).verdict).toBe('unknowable');
    }
    const settled = await client.account.settle({ since, model: 'm-image' });
    expect(settled.verdict).toBe('unknowable');
  });

  test('nothing is concluded while another call is under way, or made by a copy of the client', async () => {
    const { client, emulator } = emulated();
    emulator.fail({ fault: lost });
    const error = await failureOf(client.images.generate(image));
    if (!GatewayError.isInstance(error)) throw error;
    emulator.fail({ fault: { type: 'hang' } });
    const controller = new AbortController();
    const running = failureOf(
      client.withOptions({ timeout: 1_000 }).images.generate(image, { signal: controller.signal }),
    );
    await vi.waitFor(() => expect(emulator.requests).toHaveLength(2), patient);
    expect((await client.account.settle(error)).verdict).toBe('unknowable');
    controller.abort();
    await running;
    expect((await client.account.settle(error, { maxAge: 0 })).verdict).toBe('unknowable');
  });

  test('nothing is concluded when somebody else uses the key', async () => {
    const { client, emulator } = emulated();
    const other = emulated({ fetch: emulator.fetch, baseURL: emulator.baseURL }).client;
    emulator.fail({ fault: lost });
    const error = await failureOf(client.images.generate(image));
    if (!GatewayError.isInstance(error)) throw error;
    await other.embeddings.create({ model: 'm-embedding', input: 'a' });
    const settled = await client.account.settle(error);
    expect(settled.verdict).toBe('unknowable');
    expect(settled.why).toContain('somebody else');
  });

  test('a line from before the call is not its own, also when the clocks differ by an hour', async () => {
    const { client, emulator } = emulated();
    emulator.clock.advance(-3_600_000);
    await client.images.generate(image);
    vi.advanceTimersByTime(10_000);
    const later = emulated({ fetch: emulator.fetch, baseURL: emulator.baseURL }).client;
    emulator.fail({ fault: quiet });
    const error = await failureOf(later.images.generate(image));
    if (!GatewayError.isInstance(error)) throw error;
    expect((await later.account.settle(error)).verdict).toBe('unknowable');

    emulator.fail({ fault: lost });
    const own = emulated({ fetch: emulator.fetch, baseURL: emulator.baseURL }).client;
    vi.advanceTimersByTime(10_000);
    const paid = await failureOf(own.images.generate(image));
    if (!GatewayError.isInstance(paid)) throw paid;
    expect((await own.account.settle(paid)).verdict).toBe('charged');
  });
});

test('a line may be of an attempt that was given up long ago, though its call was answered at last', () => {
  const chat = { operation: 'chat.completions.create', model: 'm-large', n: undefined };
  const end = { callId: undefined, outcome: undefined, usage: undefined, model: undefined };
  const again = {
    ...chat,
    attempts: [{ phase: 'sent' } as const],
    sentAt: 1_000,
    answer: { requestId: '20260101000000000abc', ratios: null },
    end: { ...end, at: 20_000, isWhole: true },
  };
  const call = {
    ...chat,
    attempts: [{ phase: 'sent' } as const],
    sentAt: 100_000,
    end: { ...end, at: 101_000, isWhole: undefined, outcome: 'unknown' as const },
  };
  const line = {
    type: 'consume',
    amount: { value: 500, unit: 'quota' as const },
    model: 'm-large',
    at: 102_000,
    requestId: '20260101000100000def',
    taskId: undefined,
    reason: undefined,
    tokens: { input: 1, output: 1 },
    isTask: false,
    finalQuota: undefined,
    raw: {},
  };
  const question = { requestIds: [], taskIds: [], isWhole: false, call, heardAt: 0 };
  const books = { lines: [line], clockAhead: 0 };

  const ofBoth = settleBy(question, books, { records: [again, call], lost: 0 });
  const ofOne = settleBy(question, books, { records: [call], lost: 0 });

  expect(ofBoth.verdict).toBe('unknowable');
  expect(ofOne.verdict).toBe('charged');
});
