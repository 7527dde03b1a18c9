// OpenRouter and new-api send the usage of a failed stream after its error.
import { streamText } from 'ai';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createModelGateway } from '../../src/adapters/ai-sdk/index.ts';
import {
  APIUserAbortError,
  type Gateway,
  type GatewayOptions,
  type ObservedEnd,
  StreamError,
  tool,
} from '../../src/index.ts';
import { emulated, eventStream, failureOf, scripted } from '../helpers/clients.ts';
import { chunk } from '../helpers/sse.ts';

globalThis.AI_SDK_LOG_WARNINGS = false;

const params = { model: 'm-large', messages: [{ role: 'user' as const, content: 'Hi' }] };
const look = tool({ name: 'look', execute: () => 'seen' });
const usage = {
  prompt_tokens: 8,
  completion_tokens: 3,
  total_tokens: 11,
  cost: 0.25,
};
const head = { id: 'gen-1', object: 'chat.completion.chunk', created: 1, model: 'm-large' };
const failure = {
  ...head,
  error: { code: 502, message: 'Provider disconnected' },
  choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
};
const usageAfter = { ...head, choices: [], usage };
const events = [chunk({ content: 'Hel' }), failure, usageAfter, '[DONE]'];

const drain = async (stream: AsyncIterable<unknown>): Promise<unknown[]> => {
  const items: unknown[] = [];
  for await (const item of stream) items.push(item);
  return items;
};

/** Ways to read a stream; each returns the error. */
const readers: Readonly<Record<string, (client: Gateway) => Promise<unknown>>> = {
  'a loop': async (client) =>
    failureOf(drain(await client.chat.completions.create({ ...params, stream: true }))),
  'the helper': (client) => failureOf(client.chat.completions.stream(params).finalChatCompletion()),
  'streamed runTools()': (client) =>
    failureOf(
      client.chat.completions
        .runTools({ ...params, tools: [look], stream: true })
        .finalChatCompletion(),
    ),
  'a whole answer': (client) => failureOf(client.chat.completions.create(params)),
  'runTools()': (client) =>
    failureOf(client.chat.completions.runTools({ ...params, tools: [look] }).finalContent()),
  'parse()': (client) => failureOf(client.chat.completions.parse(params)),
  'the AI SDK': async (client) => {
    let failed: unknown;
    const result = streamText({
      model: createModelGateway({ client })(params.model),
      prompt: 'Hi',
      maxRetries: 0,
      onError: ({ error }) => void (failed = error),
    });
    await result.consumeStream();
    return failed;
  },
};

describe.each(Object.entries(readers))('an error read by %s', (name, read) => {
  test('an error has the usage that follows it, and so do spent(), budgets and observers', async () => {
    const ended: ObservedEnd[] = [];
    const options: GatewayOptions = {
      budget: { limit: 5, perCall: { 'm-large': 0.1 } },
      observer: { start: () => ({ end: (end) => void ended.push(end) }) },
      maxRetries: 0,
    };
    const { client, requests } = scripted([eventStream(...events)], options);

    const error = await read(client);

    const shown = name === 'the AI SDK' ? (Reflect.get(Object(error), 'cause') ?? error) : error;
    expect(shown).toMatchObject({ usage, message: expect.stringContaining('disconnected') });
    const { lines, budget } = await client.account.spent();
    expect(lines).toMatchObject([{ estimate: { amount: { value: 0.25 } } }]);
    expect(budget).toMatchObject({ spent: 0.25, reserved: 0 });
    const costs = ended.filter((end) => end.usage !== undefined);
    expect(costs).toMatchObject([{ usage, cost: 0.25, outcome: 'unknown' }]);
    expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });
});

/** A stream whose events are sent, and which then stays open. */
function hanging(...data: unknown[]): () => Response {
  return () => {
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        const text = await eventStream(...data)().text();
        controller.enqueue(new TextEncoder().encode(text));
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };
}

/** A stream whose connection breaks after its events. */
function breaking(...data: unknown[]): () => Response {
  return () => {
    const reader = eventStream(...data)().body?.getReader();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { value } = (await reader?.read()) ?? {};
        if (value === undefined) controller.error(new TypeError('terminated'));
        else controller.enqueue(value);
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };
}

/** @param onTime - Milliseconds after which the stream must have ended. */
async function readToError(
  answer: () => Response,
  { onTime, ...options }: GatewayOptions & { onTime?: number } = {},
) {
  if (onTime !== undefined) {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
  }
  const { client } = scripted([answer], { maxRetries: 0, ...options });
  const texts: unknown[] = [];
  const stream = await client.chat.completions.create({ ...params, stream: true });
  const reading = failureOf(
    (async () => {
      for await (const { choices } of stream) texts.push(choices[0]?.delta.content);
    })(),
  );
  if (onTime !== undefined) await vi.advanceTimersByTimeAsync(onTime);
  const error = await (onTime === undefined
    ? reading
    : Promise.race([reading, Promise.resolve('still reading')]));
  return { error, texts, stream, client };
}

describe('after an error', () => {
  test('no content is yielded or kept', async () => {
    const late = chunk({ content: 'lo' });
    const { error, texts } = await readToError(
      eventStream(chunk({ content: 'Hel' }), failure, late, usageAfter, '[DONE]'),
    );

    expect(texts).toEqual(['Hel']);
    expect(error).toMatchObject({
      usage,
      partial: { choices: [{ message: { content: 'Hel' } }], usage },
    });
  });

  test('a second error does not replace the first, but its usage counts', async () => {
    const second = { error: { message: 'Another error' }, usage };
    const { error } = await readToError(eventStream(chunk({ content: 'a' }), failure, second));

    expect(error).toMatchObject({ usage, message: expect.stringContaining('disconnected') });
  });

  test.each([
    ['a comment', ': PING'],
    ['text', 'not JSON'],
    ['a heartbeat', { type: 'ping' }],
    ['an empty list', []],
    ['usage that is null', { choices: [], usage: null }],
  ])('%s is ignored', async (_, event) => {
    const { error } = await readToError(eventStream(failure, event, usageAfter, '[DONE]'));

    expect(error).toMatchObject({ usage, message: expect.stringContaining('disconnected') });
  });

  test('the stream is read for two seconds', async () => {
    const { error, stream } = await readToError(hanging(chunk({ content: 'a' }), failure), {
      onTime: 2_000,
    });

    expect(error).toBeInstanceOf(StreamError);
    expect(String(error)).toContain('disconnected');
    expect(stream.controller.signal.aborted).toBe(true);
  });

  test('a shorter time limit still ends with the error', async () => {
    const { error } = await readToError(hanging(failure), { onTime: 500, idleTimeout: 500 });

    expect(String(error)).toContain('disconnected');
  });

  test('the stream is read for 16 events', async () => {
    const pings = Array.from({ length: 16 }, () => ({ type: 'ping' }));
    const { error } = await readToError(hanging(failure, ...pings), { onTime: 100 });

    expect(String(error)).toContain('disconnected');
    expect(error).toHaveProperty('usage', undefined);
  });

  test('nothing is read if the error has its usage', async () => {
    const answer = hanging(chunk({ content: 'a' }), { ...failure, usage });
    const { error } = await readToError(answer, { onTime: 100 });

    expect(error).toMatchObject({ usage });
  });

  test('the connection may break', async () => {
    const { error } = await readToError(breaking(failure, usageAfter));

    expect(error).toMatchObject({ usage, message: expect.stringContaining('disconnected') });
  });

  test('the caller can abort', async () => {
    const { client } = scripted([hanging(failure)], { maxRetries: 0 });
    const controller = new AbortController();
    const { signal } = controller;
    const stream = await client.chat.completions.create({ ...params, stream: true }, { signal });
    const reading = failureOf(drain(stream));
    await new Promise((resolve) => void setImmediate(resolve));
    controller.abort();

    expect(await reading).toBeInstanceOf(APIUserAbortError);
  });
});

test('bare JSON between events is an error with the usage after it, the first of two', async () => {
  const text = [
    `data: ${JSON.stringify(chunk({ content: 'a' }))}\n\n`,
    `${JSON.stringify({ error: { message: 'Provider disconnected' } })}\n`,
    `${JSON.stringify({ error: { message: 'Another error' } })}\n\n`,
    `data: ${JSON.stringify(usageAfter)}\n\ndata: [DONE]\n\n`,
  ].join('');
  const headers = { 'content-type': 'text/event-stream' };
  const { error } = await readToError(() => new Response(text, { headers }));

  expect(error).toMatchObject({ usage, message: expect.stringContaining('disconnected') });
});

test("Gemini's streams", async () => {
  const usageMetadata = { promptTokenCount: 8, candidatesTokenCount: 3, totalTokenCount: 11 };
  const answer = eventStream(
    { candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'Hel' }] } }] },
    { error: { code: 503, message: 'Provider disconnected', status: 'UNAVAILABLE' } },
    { usageMetadata },
  );
  const { client } = scripted([answer], { maxRetries: 0 });

  const stream = await client.generate.contentStream({ model: 'm', contents: 'Hi' });

  expect(await failureOf(drain(stream))).toMatchObject({ usage: usageMetadata });
});

test('streams of the Responses API', async () => {
  const counts = { input_tokens: 8, output_tokens: 3, total_tokens: 11 };
  const response = {
    id: 'resp_1',
    object: 'response',
    status: 'failed',
    output: [],
    usage: counts,
  };
  const answer = eventStream(
    {
      type: 'response.output_text.delta',
      item_id: 'm',
      output_index: 0,
      content_index: 0,
      delta: 'a',
    },
    { type: 'error', message: 'Provider disconnected', code: null, param: null },
    { type: 'response.failed', response },
  );
  const { client } = scripted([answer], { maxRetries: 0 });

  const stream = await client.responses.create({ model: 'm', input: 'Hi', stream: true });

  expect(await failureOf(drain(stream))).toMatchObject({
    usage: counts,
    message: expect.stringContaining('disconnected'),
  });
});

test('streams of a route', async () => {
  const { client } = scripted([eventStream(...events)], { maxRetries: 0 });

  const stream = await client.post('/chat/completions', {
    body: { ...params, stream: true },
    stream: true,
  });

  expect(await failureOf(drain(stream as AsyncIterable<unknown>))).toMatchObject({ usage });
});

test.each(['openrouter', 'new-api'] as const)('the emulator of %s', async (gateway) => {
  const { client, emulator } = emulated({ gateway, maxRetries: 0 }, { gateway });
  emulator.fail({ fault: { type: 'stream-error', after: 1, shape: 'error-data' } });
  const [model = ''] = emulator.models.map(({ id }) => id).filter((id) => /large|gpt/.test(id));

  const stream = await client.chat.completions.create({ ...params, model, stream: true });

  expect(await failureOf(drain(stream))).toMatchObject({
    usage: { total_tokens: expect.any(Number) },
  });
});
