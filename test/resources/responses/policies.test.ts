import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  BudgetError,
  type CallObserver,
  InvalidOutputError,
  ResponseFailedError,
  responseFormat,
  StreamError,
  usageOf,
} from '../../../src/index.ts';
import * as z from 'zod';
import {
  bodyOf,
  collect,
  emulated,
  eventStream,
  failureOf,
  json,
  scripted,
} from '../../helpers/clients.ts';
import { error } from '../../helpers/transport.ts';

afterEach(() => void vi.useRealTimers());

const usage = { input_tokens: 30, output_tokens: 20, total_tokens: 50 };
const whole = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model: 'm',
  output: [
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] },
  ],
  usage,
};
const failed = { ...whole, status: 'failed', error: { code: 'server_error', message: 'no' } };
const ask = { model: 'm', input: 'Hello' };
const created = { type: 'response.created', response: { ...whole, status: 'in_progress' } };
const delta = { type: 'response.output_text.delta', delta: 'Hello' };

describe('spending', () => {
  test.each([
    ['a response', json(whole), false],
    ['a failed response', json(failed), false],
    ['a stream', eventStream(delta, { type: 'response.completed', response: whole }), true],
    ['a failed stream', eventStream(delta, { type: 'response.failed', response: failed }), true],
    ['a cut stream', eventStream(created), true],
  ])('spending has one line with the model and the tokens of %s', async (_, answer, stream) => {
    const { client } = scripted([answer], { maxRetries: 0 });

    for (let calls = 0; calls < 2; calls += 1) {
      if (stream) {
        await client.responses
          .create({ ...ask, stream: true })
          .then(collect, () => {})
          .catch(() => {});
      } else await client.responses.create(ask).catch(() => {});
    }

    expect((await client.account.spent()).lines).toMatchObject([
      { operation: 'responses.create', model: 'm', tokens: { input: 60, output: 40 } },
    ]);
  });

  test('spending has the tokens of a response that does not match its schema', async () => {
    const { client } = scripted([json(whole)]);
    const text = { format: responseFormat(z.object({ city: z.string() }), 'place') };

    const failure = await failureOf(client.responses.parse({ ...ask, text }));

    expect(failure).toBeInstanceOf(InvalidOutputError);
    expect((await client.account.spent()).lines).toMatchObject([
      { tokens: { input: 30, output: 20 } },
    ]);
  });

  test('spending has the cost that responses report, also of failed ones', async () => {
    const cost = { ...usage, cost: 0.25 };
    const { client } = scripted([json({ ...failed, usage: cost })]);

    await failureOf(client.responses.create(ask));
    await failureOf(client.responses.create(ask));

    const { estimate, lines } = await client.account.spent();
    expect(estimate.value).toBe(0.5);
    expect(lines).toMatchObject([{ reported: 2 }]);
  });

  test('spending is within a budget', async () => {
    const { client, emulator } = emulated({ budget: { limit: 0.000_001 } });

    const failure = await failureOf(
      client.responses.create({ model: 'm-chat', input: 'Hello', max_output_tokens: 1_000 }),
    );

    expect(failure).toBeInstanceOf(BudgetError);
    expect(emulator.charges).toHaveLength(0);
  });

  test('usageOf() reads responses, events and errors', async () => {
    const counts = { inputTokens: 30, outputTokens: 20, totalTokens: 50 };
    expect(usageOf(whole)).toMatchObject(counts);
    expect(usageOf({ type: 'response.completed', response: whole })).toMatchObject(counts);
    const { client } = scripted([json(failed)]);
    expect(usageOf(await failureOf(client.responses.create(ask)))).toMatchObject(counts);
  });
});

const city = (text: string) => ({
  ...whole,
  output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }],
});

describe('fallback', () => {
  test.each([
    ['an error status', error('x', 503)],
    ['a failed response', json(failed)],
  ])('requests the next model after %s', async (_, answer) => {
    const { client, requests } = scripted([answer, json({ ...whole, model: 'b' })], {
      maxRetries: 0,
    });

    const response = await client.responses.create(ask, {
      fallback: [{ model: 'b', reasoning: { effort: 'low' } }],
      retryUnknownOutcome: true,
    });

    expect(response.model).toBe('b');
    expect(await bodyOf(requests[1])).toEqual({ ...ask, model: 'b', reasoning: { effort: 'low' } });
  });

  test('changes the model of a stream only before its content', async () => {
    const end = { type: 'response.failed', response: failed };
    const done = eventStream(delta, { type: 'response.completed', response: whole });
    const options = { fallback: ['b'], retryUnknownOutcome: true };
    const params = { ...ask, stream: true } as const;

    const early = scripted([eventStream(created, end), done], { maxRetries: 0 });
    const events = await collect(await early.client.responses.create(params, options));
    expect(events.map(({ type }) => type)).toEqual([delta.type, 'response.completed']);
    expect(early.requests).toHaveLength(2);

    const late = scripted([eventStream(created, delta, end), done], { maxRetries: 0 });
    const failure = await failureOf(late.client.responses.create(params, options).then(collect));
    expect(failure).toBeInstanceOf(StreamError);
    expect(late.requests).toHaveLength(1);
  });

  test('parses by the format of the model that answered', async () => {
    const { client } = scripted([error('x', 503), json(city('{"town":"Lisbon"}'))], {
      maxRetries: 0,
    });

    const response = await client.responses.parse(
      { ...ask, text: { format: responseFormat(z.object({ city: z.string() }), 'place') } },
      {
        fallback: [
          { model: 'b', text: { format: responseFormat(z.object({ town: z.string() }), 'town') } },
        ],
        retryUnknownOutcome: true,
      },
    );

    expect(response.output_parsed).toEqual({ town: 'Lisbon' });
  });
});

test('an idempotency key is the same for each attempt', async () => {
  const { client, requests } = scripted([error('x', 503), json(whole)], {
    idempotency: { header: 'idempotency-key' },
    maxRetries: 1,
  });

  await client.responses.create(ask);

  const [first, second] = requests.map(({ headers }) => headers.get('idempotency-key'));
  expect(first).toEqual(expect.any(String));
  expect(second).toBe(first);
});

test('limits count responses as they count chats, with the tokens that each reports', async () => {
  vi.useFakeTimers();
  const { client, emulator } = emulated({ limits: { concurrency: 2, requestsPerMinute: 3 } });
  const starts: string[] = [];
  let running = 0;
  let most = 0;
  const observed = client.withOptions({
    fetch: async (input, init) => {
      starts.push(`${Date.now()}`);
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 10));
      running -= 1;
      return emulator.fetch(input, init);
    },
  });
  const params = { model: 'm-chat', input: 'Hello' };
  const call = (stream: boolean) =>
    stream
      ? observed.responses.create({ ...params, stream: true }).then(collect)
      : observed.responses.create(params);
  const calls = Promise.all([call(false), call(true), call(false), call(true), call(false)]);

  await vi.advanceTimersByTimeAsync(59_000);
  expect(starts).toHaveLength(3);
  await vi.advanceTimersByTimeAsync(60_000);
  await calls;

  expect(starts).toHaveLength(5);
  expect(most).toBe(2);
  expect(emulator.charges).toHaveLength(5);
});

test('observers receive usage, model and the reason of the end', async () => {
  const ends: unknown[] = [];
  const observer: CallObserver = {
    end({ usage: counted, responseId, responseModel, finishReasons, outcome }) {
      ends.push({ counted, responseId, responseModel, finishReasons, outcome });
    },
  };
  const cut = {
    ...whole,
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
  };
  const completed = { type: 'response.completed', response: whole };
  const { client } = scripted([json(whole), json(cut), eventStream(delta, completed)], {
    observer: { start: () => observer },
  });

  await client.responses.create(ask);
  await client.responses.create(ask);
  await collect(await client.responses.create({ ...ask, stream: true }));

  const end = { counted: usage, responseId: 'resp_1', responseModel: 'm', outcome: 'completed' };
  expect(ends).toEqual([
    { ...end, finishReasons: ['completed'] },
    { ...end, finishReasons: ['max_output_tokens'] },
    { ...end, finishReasons: ['completed'] },
  ]);
});

test('a gateway may have another path', async () => {
  const { client, requests } = scripted([json(failed)], {
    gateway: { name: 'own', paths: { 'responses.create': '/v2/responses' } },
    maxRetries: 0,
  });

  expect(await failureOf(client.responses.create(ask))).toBeInstanceOf(ResponseFailedError);
  expect(requests[0]?.url).toBe('https://gateway.test/v2/responses');
});
