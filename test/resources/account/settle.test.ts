import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { GatewayError, InvalidInputError } from '../../../src/index.ts';
import type { EmulatorOptions, Fault } from '../../../src/testing/index.ts';
import { collect, emulated, failureOf, misuse } from '../../helpers/clients.ts';
import {
  chargesSince,
  faultIn,
  faults,
  operationNames,
  operations,
} from '../../helpers/charge-faults.ts';
import { logEntry, withFailedChannels, withLogEntries } from '../../helpers/usage-log.ts';
import { settle } from '../../helpers/fake-time.ts';

const video = { model: 'm-video', prompt: 'A boat', seconds: 4 };
const image = { model: 'm-image', prompt: 'A boat' };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** The rejection of a call. */
async function ended(call: Promise<unknown>): Promise<unknown> {
  return (await settle(call)).error;
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
  hasFailedChannels = false,
) {
  const { emulator, ...alone } = emulated({ timeout: 5_000, maxRetries: 0 }, setup);
  const client = hasFailedChannels
    ? alone.client.withOptions({ fetch: withFailedChannels(emulator) })
    : alone.client;
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
  { name: 'as it is', quirks: {}, least: 0.75 },
  { name: 'that writes errors down', quirks: { usageLogErrors: true }, least: 0.75 },
  { name: 'whose answers bring no request id', quirks: { requestIdHeader: false }, least: 0.1 },
  { name: 'that writes no charges down', quirks: { usageLogCharges: false }, least: 0 },
  {
    name: 'that names tasks',
    quirks: { usageLogTaskIds: true, usageLogErrors: true },
    least: 0.75,
  },
  { name: 'that shows no more than its newest line', quirks: { usageLogEntries: 1 }, least: 0.75 },
] as const)('a gateway $name', ({ quirks, least }) => {
  test('never leads to a wrong verdict, whichever call fails in whichever way', async () => {
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

test('a gateway that tries a second channel never leads to a wrong verdict', async () => {
  const wrong: string[] = [];
  const verdicts = new Set<string>();
  for (const one of cases) {
    const found = await settleOne(one, {}, true);
    if (found === undefined) continue;
    verdicts.add(found.settlement.verdict);
    if (found.wrong !== undefined) wrong.push(`${JSON.stringify(one)}: ${found.wrong}`);
  }
  expect(wrong).toEqual([]);
  expect([...verdicts].toSorted()).toEqual(['charged', 'not_charged', 'unknowable']);
});

describe('settle', () => {
  test('returns the charge and its evidence', async () => {
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
      model: image.model,
      asOf: Date.now(),
      isFinal: false,
      reason: expect.stringContaining('has a charge for it'),
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
    expect(byRequest.reason).toContain('task.ref');
  });

  test('recognizes a failed task by its error', async () => {
    const { client, emulator } = emulated();
    const task = await client.videos.create(video);
    emulator.videos.fail(task.id, 'The content was rejected by moderation.');
    const error = await ended(client.videos.wait(task));
    expect(error).toMatchObject({ name: 'VideoFailedError' });
    if (!GatewayError.isInstance(error)) return;
    expect(await client.account.settle(error)).toMatchObject({ verdict: 'refunded' });
  });

  test('proves nothing without a log entry', async () => {
    const { client } = emulated();
    const settled = await client.account.settle('20261122011636');
    expect(settled).toMatchObject({ verdict: 'unknowable' });
    expect(settled.amount).toBeUndefined();
    expect(settled.reason).toContain('proves nothing');
  });

  test('does not read the usage log for a call that was never sent', async () => {
    const { client, emulator } = emulated({ baseURL: 'http://emulator.test:1' });
    const refused = await failureOf(client.images.generate({ ...image, prompt: '' }));
    if (!GatewayError.isInstance(refused)) throw refused;
    expect(await client.account.settle(refused)).toMatchObject({ verdict: 'unknowable' });
    expect(emulator.requests).toEqual([]);
  });

  test('reads the usage log again for a call that ended after the last read', async () => {
    const { client, emulator } = emulated({ maxRetries: 0 });
    await client.account.charges();
    vi.advanceTimersByTime(100);
    emulator.fail({ fault: { type: 'cut', bytes: 5 } });
    const error = await ended(client.images.generate(image));
    if (!GatewayError.isInstance(error)) throw error;
    expect(await client.account.settle(error)).toMatchObject({ verdict: 'charged' });
  });

  test('settles a hundred calls with one request', async () => {
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

  test('looks up the request id of a response, and rejects a copy without it', async () => {
    const { client, emulator } = emulated();
    const messages = [{ role: 'user' as const, content: 'Hello' }];
    const completion = await client.chat.completions.create({ model: 'm-large', messages });
    const images = await client.images.generate(image);

    const speech = await client.audio.speech.create({ model: 'm', voice: 'alloy', input: 'Hi' });
    const whole = await client.images.generate(image).withResponse();

    for (const response of [completion, images, speech, whole, whole.response]) {
      expect(await client.account.settle(response)).toMatchObject({ verdict: 'charged' });
    }
    const reads = emulator.requests.length;
    const copy = JSON.parse(JSON.stringify(completion));
    expect(await failureOf(client.account.settle(copy))).toMatchObject({
      name: 'InvalidInputError',
      field: 'question',
      message: expect.stringContaining('_request_id is lost in copies'),
    });
    expect(emulator.requests).toHaveLength(reads);
  });

  test('rejects input that it cannot settle', async () => {
    const { client } = emulated();
    const { account } = client;
    const odd = [undefined, null, 3, {}, '', [], new Error('x'), { id: '' }, { model: 'm' }];
    const ofAnother = { kind: 'video', id: 'task_1', baseURL: 'https://other.test' };
    for (const question of [...odd, { since: new Date(), model: 'm' }, ofAnother]) {
      expect(await failureOf(misuse(account, 'settle', question))).toBeInstanceOf(
        InvalidInputError,
      );
    }
  });
});

const lost: Fault = { type: 'reset', when: 'after-charge' };
const unsent: Fault = { type: 'reset', when: 'before-charge' };

/** The error that a call rejects with. */
async function catchGatewayError(call: PromiseLike<unknown>): Promise<GatewayError> {
  const error = await failureOf(call);
  if (!GatewayError.isInstance(error)) throw error;
  return error;
}

describe('settlements without an id of the log entry', () => {
  test('a settlement without an id does not use an entry of another call with the same model and time', async () => {
    const { client, emulator } = emulated();
    emulator.fail({ fault: lost });
    const error = await catchGatewayError(client.images.generate(image));
    vi.advanceTimersByTime(60_000);
    expect(emulator.charges).toHaveLength(1);
    expect((await client.account.settle(error)).verdict).toBe('unknowable');

    const { data } = await client.account.charges({
      model: 'm-image',
      from: Date.now() - 61_000,
      to: Date.now() - 59_000,
    });
    expect(data).toMatchObject([{ amount: { value: 1_000 } }]);
  });

  test.each([0, 2_000])(
    'a settlement without an id does not use the charge of another client, %i ms earlier',
    async (age) => {
      const { client, emulator } = emulated();
      await client.images.generate(image);
      vi.advanceTimersByTime(age);
      const other = emulated({ fetch: emulator.fetch, baseURL: emulator.baseURL }).client;
      emulator.fail({ fault: unsent });
      const error = await catchGatewayError(other.images.generate(image));
      vi.advanceTimersByTime(60_000);
      expect((await other.account.settle(error)).verdict).toBe('unknowable');
      expect((await client.account.settle(error)).verdict).toBe('unknowable');
    },
  );
});

/** A body that breaks off after its first bytes. */
const broken = (text: string): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode(text)),
    pull: (controller) => controller.error(new TypeError('terminated')),
  });

const loseConnection = (): Response => {
  throw new TypeError('terminated');
};

describe('a failure in the log', () => {
  const id = '20261122011636252929985abc';
  const failure = logEntry({ type: 5, quota: 0, request_id: id });
  const named = { 'x-oneapi-request-id': id };

  const problem = JSON.stringify({ error: { message: 'Upstream failed', type: 'new_api_error' } });
  const events = { ...named, 'content-type': 'text/event-stream' };

  test.each([
    {
      name: 'a stream cut behind its headers',
      status: 200,
      headers: events,
      body: () => broken(''),
    },
    {
      name: 'a stream cut behind a heartbeat',
      status: 200,
      headers: events,
      body: () => broken(': PING\n\n'),
    },
    {
      name: 'a success that is cut',
      status: 200,
      headers: named,
      body: () => broken('{"data": ['),
    },
    {
      name: 'an error that is cut',
      status: 500,
      headers: named,
      body: () => broken(problem.slice(0, 20)),
    },
    {
      name: 'an error that ends too early',
      status: 500,
      headers: named,
      body: () => problem.slice(0, 20),
    },
    { name: 'an error without a body', status: 502, headers: named, body: () => null },
  ])(
    'a failure in the log proves nothing after $name, and a later charge counts',
    async ({ status, headers, body }) => {
      const entries = [failure];
      const respond = () => new Response(body(), { status, headers });
      const { client, requests } = withLogEntries(respond, () => entries);
      const stream = headers === events;
      const error = await catchGatewayError(
        stream
          ? client.chat.completions
              .create({ model: 'm', messages: [{ role: 'user', content: 'A' }], stream })
              .then(collect)
          : client.images.generate(image),
      );
      expect(error.outcome).toBe('unknown');
      for (const question of [error, id]) {
        const settled = await client.account.settle(question);
        expect(settled).toMatchObject({ verdict: 'unknowable', isFinal: false });
        expect(settled.reason).toContain('another channel');
      }
      // Another channel did the work.
      vi.advanceTimersByTime(6_000);
      entries.unshift(logEntry({ type: 2, quota: 3_000, request_id: id }));
      expect(await client.account.settle(error)).toMatchObject({
        verdict: 'charged',
        amount: { value: 3_000 },
      });
      expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
    },
  );

  const respondWithError = () => new Response(problem, { status: 500, headers: named });

  test('a failure in the log proves that nothing was charged if the error response was complete', async () => {
    const { client } = withLogEntries(respondWithError, () => [failure]);
    const error = await catchGatewayError(client.images.generate(image));
    expect(error.evidence.attempts).toEqual([
      { phase: 'headers', code: undefined, status: 500, requestId: id, isErrorComplete: true },
    ]);
    for (const question of [error, id]) {
      expect(await client.account.settle(question)).toMatchObject({
        verdict: 'not_charged',
        amount: { value: 0 },
      });
    }
    // Another client knows only the id.
    const other = withLogEntries(respondWithError, () => [failure]).client;
    expect((await other.account.settle(id)).verdict).toBe('unknowable');
    expect((await other.account.settle(error)).verdict).toBe('not_charged');
  });

  const second = `${id}2`;
  const otherFailure = logEntry({ type: 5, quota: 0, request_id: second });
  const rejectSecond = (body: string | ReadableStream<Uint8Array>) => () =>
    new Response(body, { status: 500, headers: { 'x-oneapi-request-id': second } });
  const rejectFirst = () => new Response(problem, { status: 500, headers: named });

  test.each([
    {
      state: 'was cut',
      responses: [rejectFirst, rejectSecond(broken('{'))],
      entries: [otherFailure, failure],
    },
    {
      state: 'has no entry',
      responses: [rejectFirst, rejectSecond(problem)],
      entries: [failure],
    },
    {
      state: 'got no response',
      responses: [loseConnection, rejectFirst],
      entries: [failure],
    },
  ])(
    'a failure in the log proves nothing if another request of the call $state',
    async ({ responses, entries }) => {
      const left = [...responses];
      const { client } = withLogEntries(
        () => left.shift()?.() ?? Response.error(),
        () => entries,
        { retryUnknownOutcome: true, maxRetries: 1 },
      );
      const call = client.images.generate(image);
      const error = await settle(call).then((end) => end.error);
      if (!GatewayError.isInstance(error)) throw error;
      expect(error.evidence.attempts).toHaveLength(2);
      expect((await client.account.settle(error)).verdict).toBe('unknowable');
    },
  );

  test.each([
    ['a type that only forks have', { type: 7, quota: 100 }],
    ['a fork’s type without an amount', { type: 7, quota: 0 }],
    ['a top-up', { type: 1, quota: 100 }],
    ['a note of the system', { type: 4, quota: 0 }],
    ['a type as text', { type: '2', quota: 100 }],
    ['no type', { quota: 100 }],
    ['a failure that costs something', { type: 5, quota: 100 }],
  ])('a failure in the log does not hide %s', async (_, fields) => {
    const strange = logEntry({ ...fields, request_id: id });
    for (const entries of [[strange], [strange, failure], [failure, strange]]) {
      const { client } = withLogEntries(respondWithError, () => entries);
      const error = await catchGatewayError(client.images.generate(image));
      const settled = await client.account.settle(error);
      expect(settled).toMatchObject({ verdict: 'unknowable', isFinal: false });
      expect(settled.amount).toBeUndefined();
    }
  });

  test('a failure of a task in the log proves nothing on its own', async () => {
    const other = JSON.stringify({ task_id: 'task_1' });
    const { client } = withLogEntries(
      () => Response.error(),
      () => [logEntry({ type: 5, quota: 0, other })],
    );
    for (const question of ['task_1', { kind: 'video', id: 'task_1' }] as const) {
      expect((await client.account.settle(question)).verdict).toBe('unknowable');
    }
  });

  test('a video accepted for 0 may be charged when it completes', async () => {
    const other = JSON.stringify({ is_task: true });
    const { client } = withLogEntries(
      () => Response.error(),
      () => [logEntry({ type: 2, quota: 0, request_id: id, other })],
    );
    vi.advanceTimersByTime(60_000);
    expect((await client.account.settle(id)).verdict).toBe('unknowable');
  });

  test('a submission with an entry of 0 may be charged later, also if the entry names no task', async () => {
    const { client } = withLogEntries(
      () => new Response(problem, { status: 500, headers: named }),
      () => [logEntry({ type: 2, quota: 0, request_id: id })],
    );
    const error = await catchGatewayError(client.videos.create(video));
    vi.advanceTimersByTime(60_000);
    const ref = { kind: 'video', id: 'task_1', requestId: id } as const;
    for (const question of [error, id, ref]) {
      expect((await client.account.settle(question)).verdict).toBe('unknowable');
    }
    // Another client has the error alone.
    const other = withLogEntries(
      () => Response.error(),
      () => [logEntry({ type: 2, quota: 0, request_id: id })],
    ).client;
    expect((await other.account.settle(error)).verdict).toBe('unknowable');
  });

  test('an amount of 0 counts once no more entries can follow', async () => {
    const entries = [logEntry({ type: 2, quota: 0, request_id: id })];
    const { client } = withLogEntries(
      () => Response.error(),
      () => entries,
    );
    expect((await client.account.settle(id)).verdict).toBe('unknowable');
    vi.advanceTimersByTime(10_000);
    expect(await client.account.settle(id)).toMatchObject({
      verdict: 'not_charged',
      isFinal: true,
    });
  });
});

describe('an amount', () => {
  const ids = ['1', '2', '3'].map((end) => `20261122011636252929985${end}`);
  const messages = [{ role: 'user' as const, content: 'A' }];

  test('the amount of a retried call is not final until every request has its entry', async () => {
    const left = [...ids];
    const entries: object[] = [];
    const { client } = withLogEntries(
      () => {
        const headers = { 'x-oneapi-request-id': left.shift() ?? '' };
        return new Response('<html>Bad gateway</html>', { status: 502, headers });
      },
      () => entries,
      { maxRetries: 2 },
    );
    const call = client.chat.completions.create({ model: 'm', messages });
    const { error } = await settle<unknown>(call);
    if (!GatewayError.isInstance(error)) throw error;
    expect(error.evidence.attempts.map(({ requestId }) => requestId)).toEqual(ids);

    const found: unknown[] = [];
    for (const requestId of ids) {
      entries.unshift(logEntry({ type: 2, quota: 1_000, request_id: requestId }));
      const { verdict, amount, isFinal } = await client.account.settle(error, { maxAge: 0 });
      found.push([verdict, amount?.value, isFinal]);
      vi.advanceTimersByTime(6_000);
    }
    const { verdict, amount, isFinal } = await client.account.settle(error);
    found.push([verdict, amount?.value, isFinal]);
    expect(found).toEqual([
      ['charged', 1_000, false],
      ['charged', 2_000, false],
      ['charged', 3_000, false],
      ['charged', 3_000, true],
    ]);
  });

  test('the amount of a video is not final until it has ended', async () => {
    const { client, emulator } = emulated();
    const task = await client.videos.create(video);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await client.account.settle(task)).toMatchObject({ verdict: 'charged', isFinal: false });
    emulator.videos.fail(task.id);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await client.account.settle(task)).toMatchObject({ verdict: 'refunded', isFinal: true });
  });

  test('the refund of one request does not apply to another request of the call', async () => {
    const [first = '', second = ''] = ids;
    const other = JSON.stringify({ is_task: true, task_id: 'task_1' });
    const entries = [
      logEntry({ type: 6, quota: 1_000, other }),
      logEntry({ type: 2, quota: 1_000, request_id: first, other }),
    ];
    const left = [first, second];
    const { client } = withLogEntries(
      () => {
        const headers = { 'x-oneapi-request-id': left.shift() ?? '' };
        return new Response(null, { status: 502, headers });
      },
      () => entries,
      { retryUnknownOutcome: true, maxRetries: 1 },
    );
    const { error } = await settle<unknown>(client.videos.create(video));
    if (!GatewayError.isInstance(error)) throw error;
    expect((await client.account.settle(error)).verdict).toBe('unknowable');
    vi.advanceTimersByTime(6_000);
    entries.unshift(logEntry({ type: 2, quota: 1_000, request_id: second, other: '{}' }));
    expect(await client.account.settle(error)).toMatchObject({
      verdict: 'charged',
      amount: { value: 1_000 },
    });
  });
});
