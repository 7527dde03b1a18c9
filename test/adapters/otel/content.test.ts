import { describe, expect, test } from 'vitest';
import type { ResponseInputItem } from '../../../src/index.ts';
import {
  collect,
  emulated,
  eventStream,
  failureOf,
  json,
  scripted,
} from '../../helpers/clients.ts';
import { traced } from './support.ts';

const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: {} } }];
const conversation = {
  model: 'gpt-4o-mini',
  tools,
  messages: [
    { role: 'system' as const, content: 'Be brief.' },
    {
      role: 'user' as const,
      content: [
        { type: 'text' as const, text: 'What is this?' },
        { type: 'image_url' as const, image_url: { url: 'https://example.com/a.png' } },
        { type: 'image_url' as const, image_url: { url: 'data:image/png;base64,AAAA' } },
      ],
    },
    {
      role: 'assistant' as const,
      content: null,
      tool_calls: [
        {
          id: 'call_1',
          type: 'function' as const,
          function: { name: 'weather', arguments: '{"city":"Rome"}' },
        },
      ],
    },
    { role: 'tool' as const, tool_call_id: 'call_1', content: '{"sky":"clear"}' },
  ],
};

const messagesIn = (attribute: unknown): unknown =>
  typeof attribute === 'string' ? JSON.parse(attribute) : undefined;

describe('content', () => {
  test('content is recorded only if enabled', async () => {
    const { observer, spans } = traced();
    const { client } = emulated({ observer });

    await client.chat.completions.create(conversation);
    await client.images.generate({ model: 'gpt-image-1', prompt: 'Be brief.' });

    const written = JSON.stringify(spans().map(({ attributes, events }) => [attributes, events]));
    expect(written).not.toMatch(/Be brief|Rome|What is this/);
  });

  test('a span has the content of a chat', async () => {
    const { observer, calls } = traced({ captureContent: true });
    const { client } = emulated({ observer });

    const answer = await client.chat.completions.create(conversation);

    const attributes = calls()[0]?.attributes ?? {};
    expect(messagesIn(attributes['gen_ai.input.messages'])).toEqual([
      { role: 'system', parts: [{ type: 'text', content: 'Be brief.' }] },
      {
        role: 'user',
        parts: [
          { type: 'text', content: 'What is this?' },
          { type: 'uri', modality: 'image', uri: 'https://example.com/a.png' },
          { type: 'blob', modality: 'image' },
        ],
      },
      {
        role: 'assistant',
        parts: [{ type: 'tool_call', id: 'call_1', name: 'weather', arguments: { city: 'Rome' } }],
      },
      {
        role: 'tool',
        parts: [{ type: 'tool_call_response', id: 'call_1', response: { sky: 'clear' } }],
      },
    ]);
    expect(messagesIn(attributes['gen_ai.output.messages'])).toEqual([
      {
        role: 'assistant',
        parts: [{ type: 'text', content: answer.choices[0]?.message.content }],
        finish_reason: 'stop',
      },
    ]);
  });

  test('a span has the content of a stream', async () => {
    const { observer, calls } = traced({ captureContent: true });
    const { client } = emulated({ observer });

    const stream = await client.chat.completions.create({ ...conversation, stream: true });
    await collect(stream);

    expect(messagesIn(calls()[0]?.attributes['gen_ai.output.messages'])).toEqual([
      {
        role: 'assistant',
        parts: [{ type: 'text', content: stream.partial?.choices[0]?.message.content }],
        finish_reason: 'stop',
      },
    ]);
  });

  test('a span has the content of a response, whole and streamed', async () => {
    const { observer, calls } = traced({ captureContent: true });
    const output = [
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'So' }] },
      {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Clear.' }],
      },
      { type: 'function_call', name: 'weather', call_id: 'c', arguments: '{"city":"Rome"}' },
    ];
    const whole = { id: 'r', object: 'response', model: 'm', status: 'completed', output };
    const delta = { type: 'response.output_text.delta', delta: 'Clear.' };
    const completed = {
      type: 'response.completed',
      response: { ...whole, output: [], usage: { input_tokens: 3, output_tokens: 2 } },
    };
    const { client } = scripted([json(whole), eventStream(delta, completed)], { observer });
    const ask = {
      model: 'm',
      instructions: 'Be brief.',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'What is this?' },
            { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
          ],
        },
        { type: 'function_call', name: 'weather', call_id: 'b', arguments: '{}' },
        { type: 'function_call_output', call_id: 'b', output: '{"sky":"clear"}' },
      ] satisfies ResponseInputItem[],
    };

    await client.responses.create(ask);
    await collect(await client.responses.create({ ...ask, stream: true }));

    const [first, second] = calls().map(({ attributes }) => attributes);
    expect(messagesIn(first?.['gen_ai.system_instructions'])).toEqual([
      { type: 'text', content: 'Be brief.' },
    ]);
    const call = { type: 'tool_call', name: 'weather' };
    expect(messagesIn(first?.['gen_ai.input.messages'])).toEqual([
      {
        role: 'user',
        parts: [
          { type: 'text', content: 'What is this?' },
          { type: 'blob', modality: 'image' },
        ],
      },
      { role: 'assistant', parts: [{ ...call, id: 'b', arguments: {} }] },
      {
        role: 'tool',
        parts: [{ type: 'tool_call_response', id: 'b', response: { sky: 'clear' } }],
      },
    ]);
    const message = { role: 'assistant', finish_reason: 'completed' };
    const text = { ...message, parts: [{ type: 'text', content: 'Clear.' }] };
    expect(messagesIn(first?.['gen_ai.output.messages'])).toEqual([
      { ...message, parts: [{ type: 'reasoning', content: 'So' }] },
      text,
      { ...message, parts: [{ ...call, id: 'c', arguments: { city: 'Rome' } }] },
    ]);
    expect(messagesIn(second?.['gen_ai.output.messages'])).toEqual([text]);
    expect(second).toMatchObject({ 'gen_ai.usage.input_tokens': 3 });
  });

  test("a span has the content in Gemini's format", async () => {
    const { observer, calls } = traced({ captureContent: true });
    const parts = [
      { text: 'Thinking', thought: true },
      { text: 'Hello' },
      { functionCall: { name: 'weather', args: { city: 'Rome' } } },
    ];
    const candidates = [{ content: { role: 'model', parts }, finishReason: 'STOP' }];
    const { client } = scripted([json({ candidates })], { observer });

    await client.generate.content({
      model: 'gemini-2.5-flash',
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [
        {
          role: 'user',
          parts: [{ text: 'Hi' }, { inlineData: { mimeType: 'a/b', data: 'AAAA' } }],
        },
        { role: 'model', parts: [{ fileData: { fileUri: 'https://example.com/a.pdf' } }] },
        {
          role: 'user',
          parts: [{ functionResponse: { name: 'weather', response: { sky: 'clear' } } }],
        },
      ],
    });

    const attributes = calls()[0]?.attributes ?? {};
    expect(messagesIn(attributes['gen_ai.system_instructions'])).toEqual([
      { type: 'text', content: 'Be brief.' },
    ]);
    expect(messagesIn(attributes['gen_ai.input.messages'])).toEqual([
      {
        role: 'user',
        parts: [
          { type: 'text', content: 'Hi' },
          { type: 'blob', modality: 'document' },
        ],
      },
      {
        role: 'assistant',
        parts: [{ type: 'uri', modality: 'document', uri: 'https://example.com/a.pdf' }],
      },
      { role: 'user', parts: [{ type: 'tool_call_response', response: { sky: 'clear' } }] },
    ]);
    expect(messagesIn(attributes['gen_ai.output.messages'])).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', content: 'Thinking' },
          { type: 'text', content: 'Hello' },
          { type: 'tool_call', name: 'weather', arguments: { city: 'Rome' } },
        ],
        finish_reason: 'STOP',
      },
    ]);
  });

  test('a span has the prompt of media, without files', async () => {
    const { observer, calls } = traced({ captureContent: true });
    const { client } = emulated({ observer });

    await client.images.generate({ model: 'gpt-image-1', prompt: 'A boat' });
    await client.videos.create({ model: 'sora-2', prompt: 'A boat' });
    const image = new File([new Uint8Array([0x89, 0x50, 0x4e, 0x47])], 'a.png');
    await client.images.edit({ model: 'gpt-image-1', prompt: 'A boat', image });

    for (const { attributes } of calls()) {
      expect(messagesIn(attributes['gen_ai.input.messages'])).toEqual([
        { role: 'user', parts: [{ type: 'text', content: 'A boat' }] },
      ]);
      expect(attributes).not.toHaveProperty('gen_ai.output.messages');
    }
    expect(calls()).toHaveLength(3);
  });

  test('a span has the content of a translation', async () => {
    const { observer, calls } = traced({ captureContent: true });
    const { client } = emulated({ observer });
    const file = new File(['ID3 hello'], 'a.mp3');

    const text = await client.audio.translations.create({
      model: 'whisper-1',
      file,
      response_format: 'text',
    });

    expect(messagesIn(calls()[0]?.attributes['gen_ai.output.messages'])).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content: text }], finish_reason: '' },
    ]);
  });

  test("a span has the gateway's message of a failure", async () => {
    const { observer, calls } = traced({ captureContent: true });
    const { client } = scripted([json({ error: { message: 'You asked badly' } }, 400)], {
      observer,
    });

    await failureOf(client.chat.completions.create(conversation));

    expect(calls()[0]?.status.message).toContain('You asked badly');
  });
});
