import { describe, expect, test } from 'vitest';
import { APIError, InvalidInputError } from '../../../src/index.ts';
import type { Quirks } from '../../../src/testing/index.ts';
import type { ChatCompletionTool } from '../../../src/resources/chat/params.ts';
import {
  bodyOf,
  collect,
  emulated,
  failureOf,
  json,
  misuse,
  scripted,
} from '../../helpers/clients.ts';
import { intercepted } from '../../helpers/intercepted.ts';

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

describe('chat.completions.create()', () => {
  test('returns a completion with usage and the request id', async () => {
    const { client, emulator } = emulated();

    const answer = await client.chat.completions.create({ model, messages });

    expect(answer.choices[0]?.message.content).toBe(answered);
    expect(answer.choices[0]?.finish_reason).toBe('stop');
    expect(answer.usage?.total_tokens).toBeGreaterThan(0);
    expect(answer._request_id).toBe(emulator.requests[0]?.id);
  });

  test('sends the parameters unchanged and adds none', async () => {
    const { client, requests } = scripted([json(completion)]);
    const params = { model, messages, temperature: 0.5, max_tokens: 9, stop: ['\n'] };

    await client.chat.completions.create(params, { extraBody: { min_p: 0.1 } });

    expect(await bodyOf(requests[0])).toEqual({ ...params, min_p: 0.1 });
    expect(requests[0]?.headers.get('content-type')).toBe('application/json');
  });

  test('calls a tool and receives its result', async () => {
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

  test.each<{ name: string; quirks: Partial<Quirks>; expected: object }>([
    { name: 'parts as content', quirks: { chatContent: 'parts' }, expected: { content: answered } },
    { name: 'a time with a fraction', quirks: { chatCreated: 'float' }, expected: {} },
    { name: 'a time in text', quirks: { chatCreated: 'string' }, expected: {} },
    { name: 'events', quirks: { chatMode: 'always-events' }, expected: {} },
  ])('reads $name', async ({ quirks, expected }) => {
    const { client } = emulated({}, { quirks });

    const answer = await client.chat.completions.create({ model, messages });

    expect(answer.choices[0]?.message).toMatchObject({ content: answered, ...expected });
    expect(answer.created).toBeGreaterThan(1_000_000_000);
  });

  test('choices may be empty', async () => {
    const { client } = scripted([json({ ...completion, choices: [] })]);

    const answer = await client.chat.completions.create({ model, messages });

    expect(answer.choices).toEqual([]);
  });

  test('keeps unknown fields and unknown enum values', async () => {
    const choice = { index: 0, message, finish_reason: 'eos_token', matched_stop: 5 };
    const { client, drifts } = scripted([
      json({ ...completion, choices: [choice], citations: [1] }),
    ]);

    const answer = await client.chat.completions.create({ model, messages });

    expect(answer).toMatchObject({ choices: [choice], citations: [1] });
    expect(drifts).toEqual([]);
  });

  test('an error with status 200 rejects', async () => {
    const { client, requests } = scripted([json({ error: { message: 'No.', type: 'x' } })]);

    const error = await failureOf(client.chat.completions.create({ model, messages }));

    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ type: 'x', outcome: 'unknown' });
    expect(requests).toHaveLength(1);
  });

  test.each([
    [undefined, 'params'],
    [{ messages }, 'model'],
    [{ model: ' ', messages }, 'model'],
    [{ model }, 'messages'],
    [{ model, messages: [] }, 'messages'],
    [{ model, messages: 'Hello' }, 'messages'],
  ])('rejects %j immediately', async (params, field) => {
    const { client, requests } = scripted([json(completion)]);

    const error = await failureOf(misuse(client.chat.completions, 'create', params));

    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error).toHaveProperty('field', field);
    expect(requests).toHaveLength(0);
  });
});

describe("with the runtime's fetch", () => {
  const { client, emulator } = intercepted();

  test('receives a whole response and a stream', async () => {
    const answer = await client.chat.completions.create({ model, messages });
    const stream = await client.chat.completions.create({ model, messages, stream: true });
    const chunks = await collect(stream);

    expect(answer.choices[0]?.message.content).toBe(answered);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(answered);
    expect(emulator.requests).toHaveLength(2);
  });
});
