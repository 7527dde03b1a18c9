import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { zodResponseFormat } from '../../src/adapters/helpers/zod.ts';
import { collect, emulated, failureOf } from '../helpers/clients.ts';

const model = 'gpt-4o-mini';
const messages = [{ role: 'user' as const, content: 'What is the capital of France?' }];
const contents = [{ role: 'user', parts: [{ text: 'What is the capital of France?' }] }];

test('a schema in the prompt is filled in every format', async () => {
  const { client } = emulated();
  const schema = JSON.stringify({ type: 'object', properties: { city: { type: 'string' } } });
  const input = `Where is Oslo? Respond with JSON that matches this schema:\n${schema}`;

  const { output_text: text } = await client.responses.create({ model, input });
  const { candidates } = await client.generate.content({ model, contents: input });

  const filled = '```json\n{"city":"Oslo"}\n```';
  expect(text).toBe(filled);
  expect(candidates?.[0]?.content?.parts).toEqual([{ text: filled }]);
});

describe('emulator.respondOnce() with a model response', () => {
  test('returns a completion once, and charges it', async () => {
    const { client, emulator } = emulated();
    emulator.respondOnce('chat.completions.create', { text: 'Paris' });

    const first = await client.chat.completions.create({ model, messages });
    const second = await client.chat.completions.create({ model, messages });

    expect(first.choices[0]).toMatchObject({
      message: { content: 'Paris' },
      finish_reason: 'stop',
    });
    expect(second.choices[0]?.message.content).toMatch(/^You said/);
    expect(emulator.charges).toHaveLength(2);
  });

  test('streams the same response', async () => {
    const { client, emulator } = emulated();
    emulator.respondOnce('chat.completions.create', { text: 'Paris is the capital.' });

    const stream = await client.chat.completions.create({ model, messages, stream: true });

    const chunks = await collect(stream);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(
      'Paris is the capital.',
    );
  });

  test('calls a tool, and fills a schema', async () => {
    const { client, emulator } = emulated();
    const answer = { toolCalls: [{ name: 'weather', arguments: { city: 'Paris' } }] };
    emulator.respondOnce('chat.completions.create', answer);
    emulator.respondOnce('chat.completions.create', { text: '{"city":"Paris"}' });

    const called = await client.chat.completions.create({ model, messages });
    const parsed = await client.chat.completions.parse({
      model,
      messages,
      response_format: zodResponseFormat(z.object({ city: z.string() }), 'city'),
    });

    expect(called.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: null,
        tool_calls: [{ function: { name: 'weather', arguments: '{"city":"Paris"}' } }],
      },
    });
    expect(parsed.choices[0]?.message.parsed).toEqual({ city: 'Paris' });
  });

  test("responds in Gemini's format, whole and streamed", async () => {
    const { client, emulator } = emulated();
    emulator.respondOnce('generate.content', { text: 'Paris', finishReason: 'length' });
    emulator.respondOnce('generate.contentStream', { text: 'Paris, of course' });

    const whole = await client.generate.content({ model: 'gemini-2.5-flash', contents });
    const stream = await client.generate.contentStream({ model: 'gemini-2.5-flash', contents });
    const chunks = await collect(stream);

    expect(whole.candidates?.[0]).toMatchObject({
      content: { parts: [{ text: 'Paris' }] },
      finishReason: 'MAX_TOKENS',
    });
    expect(chunks.map(({ text }) => text ?? '').join('')).toBe('Paris, of course');
  });

  test('emulator.respondOnce() with a model response can be combined with a fault', async () => {
    const { client, emulator } = emulated();
    emulator.respondOnce('chat.completions.create', { text: 'Paris is the capital.' });
    emulator.fail({
      operation: 'chat.completions.create',
      fault: { type: 'cut-events', after: 2 },
    });

    const stream = await client.chat.completions.create({ model, messages, stream: true });

    expect(await failureOf(collect(stream))).toMatchObject({ name: 'StreamTruncatedError' });
  });

  test.each([
    { answer: 'Paris', operation: 'chat.completions.create', message: /pass a function/ },
    { answer: { text: 'Paris' }, operation: 'images.generate', message: /images\.generate/ },
    { answer: { content: 'Paris' }, operation: 'chat.completions.create', message: /"content"/ },
  ])('rejects $answer for $operation', ({ answer, operation, message }) => {
    const { emulator } = emulated();
    const respond: unknown = Reflect.get(emulator, 'respondOnce');

    expect(() => Reflect.apply(Object(respond), emulator, [operation, answer])).toThrow(message);
  });
});
