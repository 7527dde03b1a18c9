import { describe, expect, test } from 'vitest';
import { APIError } from '../src/errors/api-error.ts';
import { InvalidInputError } from '../src/errors/gateway-error.ts';
import { StreamTruncatedError } from '../src/errors/stream-error.ts';
import type { Quirks } from '../src/testing/index.ts';
import type { ChatCompletionCreateParamsBase } from '../src/types/chat-params.ts';
import type { ChatCompletionTool } from '../src/types/chat-tools.ts';
import {
  bodyOf,
  collect,
  emulated,
  eventStream,
  failureOf,
  json,
  misuse,
  scripted,
} from './helpers/clients.ts';
import { intercepted } from './helpers/intercepted.ts';
import { chunk, usageChunk } from './helpers/sse.ts';

const model = 'm-large';
const messages = [{ role: 'user' as const, content: 'What is tea?' }];
const answered = 'You said: "What is tea?" This is the answer of m-large.';
const message = { role: 'assistant', content: 'ok' };
const completion = {
  id: 'chat-1',
  object: 'chat.completion',
  created: 1_790_000_000,
  model,
  choices: [{ index: 0, message, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
const whole = eventStream(chunk({ content: 'ok' }, 'stop'), usageChunk, '[DONE]');

describe('chat.completions.create()', () => {
  test('answers, with usage and the request id', async () => {
    const { client, emulator } = emulated();

    const answer = await client.chat.completions.create({ model, messages });

    expect(answer.choices[0]?.message.content).toBe(answered);
    expect(answer.choices[0]?.finish_reason).toBe('stop');
    expect(answer.usage?.total_tokens).toBeGreaterThan(0);
    expect(answer._request_id).toBe(emulator.requests[0]?.id);
  });

  test('sends what it is given and nothing else', async () => {
    const { client, requests } = scripted([json(completion)]);
    const params = { model, messages, temperature: 0.5, max_tokens: 9, stop: ['\n'] };

    await client.chat.completions.create(params, { extraBody: { min_p: 0.1 } });

    expect(await bodyOf(requests[0])).toEqual({ ...params, min_p: 0.1 });
    expect(requests[0]?.headers.get('content-type')).toBe('application/json');
  });

  test('calls a tool and takes its result', async () => {
    const { client } = emulated();
    const parameters = { type: 'object', properties: { city: { type: 'string' } } };
    const tools: ChatCompletionTool[] = [
      { type: 'function', function: { name: 'weather', parameters } },
    ];
    const ask = [{ role: 'user' as const, content: 'The weather in Paris' }];

    const first = await client.chat.completions.create({ model, messages: ask, tools });
    const call = first.choices[0]?.message;
    const [wanted] = call?.tool_calls ?? [];
    if (call === undefined || wanted === undefined) throw new Error('No tool was called.');
    const result = { role: 'tool' as const, tool_call_id: wanted.id, content: '21' };
    const final = await client.chat.completions.create({
      model,
      messages: [...ask, call, result],
      tools,
    });

    expect(first.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: null },
    });
    expect(wanted).toMatchObject({ type: 'function', function: { name: 'weather' } });
    expect(final.choices[0]?.message.content).toBe('weather says: 21');
  });

  test.each<[name: string, quirks: Partial<Quirks>, expected: object]>([
    ['parts as content', { chatContent: 'parts' }, { content: answered }],
    ['a time with a fraction', { chatCreated: 'float' }, {}],
    ['a time in text', { chatCreated: 'string' }, {}],
    ['events', { chatMode: 'always-events' }, {}],
  ])('rules 20 to 22 and 25: reads %s', async (_, quirks, expected) => {
    const { client } = emulated({}, { quirks });

    const answer = await client.chat.completions.create({ model, messages });

    expect(answer.choices[0]?.message).toMatchObject({ content: answered, ...expected });
    expect(answer.created).toBeGreaterThan(1_000_000_000);
  });

  test.each([[[]], [null], [undefined]])('rule 20: choices may be %j', async (choices) => {
    const { client } = scripted([json({ ...completion, choices })]);

    const answer = await client.chat.completions.create({ model, messages });

    expect(answer.choices).toEqual([]);
  });

  test('rule 13: unknown fields and words are kept', async () => {
    const choice = { index: 0, message, finish_reason: 'eos_token', matched_stop: 5 };
    const { client, drifts } = scripted([
      json({ ...completion, choices: [choice], citations: [1] }),
    ]);

    const answer = await client.chat.completions.create({ model, messages });

    expect(answer).toMatchObject({ choices: [choice], citations: [1] });
    expect(drifts).toEqual([]);
  });

  test('rule 2: an error with status 200 rejects', async () => {
    const { client, requests } = scripted([json({ error: { message: 'No.', type: 'x' } })]);

    const error = await failureOf(client.chat.completions.create({ model, messages }));

    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ type: 'x', outcome: 'rejected' });
    expect(requests).toHaveLength(1);
  });

  test.each([
    [undefined, 'params'],
    [{ messages }, 'model'],
    [{ model: ' ', messages }, 'model'],
    [{ model }, 'messages'],
    [{ model, messages: [] }, 'messages'],
    [{ model, messages: 'Hello' }, 'messages'],
  ])('refuses %j at once', async (params, field) => {
    const { client, requests } = scripted([json(completion)]);

    const error = await failureOf(misuse(client.chat.completions, 'create', params));

    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error).toHaveProperty('field', field);
    expect(requests).toHaveLength(0);
  });
});

describe('chat.completions.create() with a stream', () => {
  test.each<[name: string, quirks: Partial<Quirks>]>([
    ['as it usually comes', {}],
    ['with an empty first chunk', { chatEmptyFirstChunk: true }],
    ['with bare chunks', { chatBareChunks: true }],
    ['with two finish chunks', { chatFinishTwice: true }],
    ['with choices that are null', { chatNullChoices: true }],
    ['with usage in a choice', { chatUsage: 'in-choice' }],
    ['with usage on the finish chunk', { chatUsage: 'finish-chunk' }],
    ['without [DONE]', { chatDone: false }],
    ['with heartbeats', { heartbeatEvery: 1 }],
    ['in small pieces with CR', { pieceBytes: 3, lineEnding: 'cr' }],
    ['with content in parts', { chatContent: 'parts' }],
    ['as JSON', { chatMode: 'always-json' }],
  ])('rules 18 and 20 to 25: is read %s', async (_, quirks) => {
    const { client } = emulated({}, { quirks });

    const stream = await client.chat.completions.create({ model, messages, stream: true });
    const chunks = await collect(stream);

    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(answered);
    expect(stream.verdict).toBe('complete');
    expect(stream.usage?.total_tokens).toBeGreaterThan(0);
  });

  test('throws when it ends without a finish reason', async () => {
    const { client } = scripted([eventStream(chunk({ content: 'Tea is' }), '[DONE]')]);

    const stream = await client.chat.completions.create({ model, messages, stream: true });
    const error = await failureOf(collect(stream));

    expect(error).toBeInstanceOf(StreamTruncatedError);
    expect(error).toMatchObject({
      verdict: 'no_finish_reason',
      partial: { choices: [{ message: { content: 'Tea is' } }] },
    });
  });

  test.each<
    [name: string, given: Pick<ChatCompletionCreateParamsBase, 'stream_options'>, sent: unknown]
  >([
    ['nothing', {}, undefined],
    ['null', { stream_options: null }, null],
    [
      'other options',
      { stream_options: { include_obfuscation: false } },
      { include_obfuscation: false },
    ],
    ['true', { stream_options: { include_usage: true } }, { include_usage: true }],
    ['false', { stream_options: { include_usage: false } }, { include_usage: true }],
    [
      'false beside others',
      { stream_options: { include_usage: false, include_obfuscation: true } },
      { include_usage: true, include_obfuscation: true },
    ],
  ])('rule 24, trap 3: never sends include_usage: false, given %s', async (_, given, sent) => {
    const { client, requests } = scripted([whole]);
    const params = { model, messages, ...given };

    await collect(await client.chat.completions.create({ ...params, stream: true }));
    await client.chat.completions.stream(params).done();

    for (const request of requests) {
      const body = await bodyOf(request);
      expect(body).toMatchObject({ model, stream: true });
      expect(Object(body).stream_options).toEqual(sent);
    }
    expect(requests).toHaveLength(2);
  });

  test('trap 3: the finish reason comes although the caller wants no usage', async () => {
    const { client } = emulated({}, { quirks: { chatUsage: 'finish-chunk' } });
    const quiet = { stream_options: { include_usage: false } };

    const stream = await client.chat.completions.create({
      model,
      messages,
      ...quiet,
      stream: true,
    });
    await collect(stream);

    expect(stream.verdict).toBe('complete');
  });

  test('is repeated before its first byte, and never after it', async () => {
    const { client, emulator } = emulated({ maxRetries: 1 });
    emulator.fail({ fault: { type: 'error', status: 503 }, times: 1 });

    await collect(await client.chat.completions.create({ model, messages, stream: true }));
    expect(emulator.requests).toHaveLength(2);

    emulator.fail({ fault: { type: 'cut-events', after: 1 }, times: 1 });
    const stream = await client.chat.completions.create({ model, messages, stream: true });
    await failureOf(collect(stream));
    expect(emulator.requests).toHaveLength(3);
  });
});

describe('through the runtime', () => {
  const { client, emulator } = intercepted();

  test('a whole answer and a stream arrive', async () => {
    const answer = await client.chat.completions.create({ model, messages });
    const stream = await client.chat.completions.create({ model, messages, stream: true });
    const chunks = await collect(stream);

    expect(answer.choices[0]?.message.content).toBe(answered);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(answered);
    expect(emulator.requests).toHaveLength(2);
  });
});
