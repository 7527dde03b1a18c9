import { describe, expect, test } from 'vitest';
import { tool } from '../../../src/index.ts';
import type { ChatCompletionMessageParam } from '../../../src/resources/chat/params.ts';
import { bodyOf, eventStream, json, scripted } from '../../helpers/clients.ts';

const ask: ChatCompletionMessageParam = { role: 'user', content: 'hi' };
const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'Hm. ' }] };

function answer(message: object) {
  return {
    id: 'c-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
  };
}

function chunk(delta: object, finish_reason: string | null = null) {
  return {
    id: 'c-1',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
  };
}

async function sentBy(request: Request | undefined): Promise<unknown> {
  const body: { messages: unknown[] } = await request?.json();
  return body.messages.at(-1);
}

/** The answer to the first request, as the second request contains it. */
async function sentBack(message: object): Promise<unknown> {
  const { client, requests } = scripted([json(answer(message))]);
  const first = await client.chat.completions.create({ model: 'm', messages: [ask] });
  const [choice] = first.choices;
  if (choice === undefined) throw new Error('Missing choice');
  await client.chat.completions.create({ model: 'm', messages: [ask, choice.message] });
  return sentBy(requests[1]);
}

async function streamedBack(...deltas: object[]): Promise<unknown> {
  const stop = chunk({}, 'stop');
  const { client, requests } = scripted([
    eventStream(...deltas.map((delta) => chunk(delta)), stop, '[DONE]'),
    json(answer({ role: 'assistant', content: 'bye' })),
  ]);
  const message = await client.chat.completions
    .stream({ model: 'm', messages: [ask] })
    .finalMessage();
  await client.chat.completions.create({ model: 'm', messages: [ask, message] });
  return sentBy(requests[1]);
}

describe('a response is sent back unchanged', () => {
  test.each([
    ['text', { role: 'assistant', content: 'Hello' }],
    ['a refusal', { role: 'assistant', content: null, refusal: 'No.' }],
    ['no tool calls, as null', { role: 'assistant', content: 'Hello', tool_calls: null }],
    ['thoughts beside the text', { role: 'assistant', content: 'x', reasoning_content: 'Hm. ' }],
    ['typed parts', { role: 'assistant', content: [thinking, { type: 'text', text: 'Hello' }] }],
    [
      'fields of the provider',
      { role: 'assistant', content: 'x', reasoning_details: [{ type: 'a', data: 'b' }] },
    ],
  ])('%s', async (_, message) => {
    expect(await sentBack(message)).toEqual(message);
  });

  test('parts whose text was changed are sent back as text', async () => {
    const { client, requests } = scripted([
      json(answer({ role: 'assistant', content: [{ type: 'text', text: 'secret' }] })),
    ]);
    const { choices } = await client.chat.completions.create({ model: 'm', messages: [ask] });
    const message = { ...choices[0]?.message, role: 'assistant' as const, content: '…' };

    await client.chat.completions.create({ model: 'm', messages: [ask, message] });

    expect(await sentBy(requests[1])).toEqual({ role: 'assistant', content: '…' });
  });

  test('a streamed response of thoughts and text is sent back in parts and as plain text', async () => {
    const sent = await streamedBack(
      { role: 'assistant', content: [thinking] },
      { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Yes.' }] }] },
      { content: 'Hel' },
      { content: 'lo' },
      {
        content: [
          { type: 'text', text: '!' },
          { type: 'reference', reference_ids: [1] },
        ],
      },
    );

    expect(sent).toEqual({
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: 'Hm. Yes.' }] },
        { type: 'text', text: 'Hello!' },
        { type: 'reference', reference_ids: [1] },
      ],
    });
  });

  test('a signature after its thoughts, and citations after their text, are sent back', async () => {
    const sent = await streamedBack(
      { content: [{ type: 'thinking', thinking: 'Hm' }] },
      { content: [{ type: 'thinking', thinking: '.' }] },
      { content: [{ type: 'thinking', signature: 'abc' }] },
      { content: [{ type: 'text', text: 'Hi' }] },
      { content: [{ type: 'text', text: '!', citations: [{ url: 'x' }] }] },
    );

    expect(sent).toEqual({
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'abc' },
        { type: 'text', text: 'Hi!', citations: [{ url: 'x' }] },
      ],
    });
  });

  test('a streamed response that begins as plain text is sent back', async () => {
    const sent = await streamedBack(
      { content: 'Hel' },
      { content: [{ type: 'text', text: 'lo' }] },
    );

    expect(sent).toEqual({ role: 'assistant', content: [{ type: 'text', text: 'Hello' }] });
  });
});

const toolCall = (called: object) => ({ id: 'call-1', type: 'function', function: called });

describe('provider fields of streamed tool calls are sent back', () => {
  const signed = { extra_content: { google: { thought_signature: 'c2ln' } } };
  const pieces = [
    { tool_calls: [{ index: 0, ...toolCall({ name: 'now', cost: 1 }), ...signed }] },
    { tool_calls: [{ index: 0, extra_content: null, function: { arguments: '{}' } }] },
    {
      tool_calls: [
        { index: 1, id: 'call-2', type: 'custom', custom: { name: 'draw', style: 'ink' } },
      ],
    },
    { tool_calls: [{ index: 1, custom: { input: 'a cat' }, ...signed }] },
  ];
  const sent = [
    {
      id: 'call-1',
      type: 'function',
      ...signed,
      function: { name: 'now', arguments: '{}', cost: 1 },
    },
    {
      id: 'call-2',
      type: 'custom',
      ...signed,
      custom: { name: 'draw', input: 'a cat', style: 'ink' },
    },
  ];

  test('provider fields of streamed tool calls are sent back by the caller', async () => {
    expect(await streamedBack(...pieces)).toMatchObject({ tool_calls: sent });
  });

  test('provider fields of streamed tool calls are sent back by streamed runTools()', async () => {
    const { client, requests } = scripted([
      eventStream(chunk(pieces[0] ?? {}), chunk(pieces[1] ?? {}, 'tool_calls'), '[DONE]'),
      eventStream(chunk({ content: 'noon' }, 'stop'), '[DONE]'),
    ]);
    const now = { name: 'now', parameters: {}, function: () => 'noon' };
    const tools = [{ type: 'function' as const, function: now }];

    await client.chat.completions
      .runTools({ model: 'm', messages: [ask], tools, stream: true })
      .done();

    expect(await bodyOf(requests[1])).toMatchObject({
      messages: [ask, { tool_calls: [sent[0]] }, { tool_call_id: 'call-1' }],
    });
  });

  test('provider fields of legacy function calls, logprobs and audio are sent back too', async () => {
    const { client } = scripted([
      eventStream(
        chunk({ function_call: { name: 'now', ...signed }, audio: { id: 'a', format: 'wav' } }),
        {
          ...chunk({ function_call: { arguments: '{}' } }),
          choices: [{ index: 0, delta: {}, logprobs: { content: [], tokens: ['a'] } }],
        },
        {
          ...chunk({}),
          choices: [{ index: 0, delta: {}, logprobs: { tokens: ['b'] }, finish_reason: 'stop' }],
        },
        '[DONE]',
      ),
    ]);

    const { choices } = await client.chat.completions
      .stream({ model: 'm', messages: [ask] })
      .finalChatCompletion();

    expect(choices[0]).toMatchObject({
      message: { function_call: signed, audio: { id: 'a', format: 'wav' } },
      logprobs: { content: [], tokens: ['a', 'b'] },
    });
  });
});

describe('tool calls without arguments', () => {
  const calls = [
    ['missing', { name: 'now' }],
    ['null', { name: 'now', arguments: null }],
    ['empty', { name: 'now', arguments: '' }],
    ['blank', { name: 'now', arguments: ' ' }],
  ] as const;
  const tools = [
    {
      type: 'function' as const,
      function: {
        name: 'now',
        parameters: { type: 'object', properties: {} },
        parse: (text: string): unknown => JSON.parse(text),
        function: (args: unknown) => `at ${JSON.stringify(args)}`,
      },
    },
  ];
  const done = { role: 'assistant', content: 'noon' };

  test.each(calls)('whole, %s', async (_, called) => {
    const message = { role: 'assistant', content: null, tool_calls: [toolCall(called)] };
    const { client } = scripted([json(answer(message))]);

    const { choices } = await client.chat.completions.create({ model: 'm', messages: [ask] });

    expect(choices[0]?.message.tool_calls).toEqual([toolCall({ name: 'now', arguments: '{}' })]);
  });

  test.each(calls)('streamed, %s', async (_, called) => {
    const piece = { index: 0, ...toolCall(called) };
    const events = eventStream(chunk({ tool_calls: [piece] }), chunk({}, 'tool_calls'), '[DONE]');
    const { client } = scripted([events]);
    const ends: unknown[] = [];

    const message = await client.chat.completions
      .stream({ model: 'm', messages: [ask] })
      .on('tool_calls.function.arguments.done', (event) => ends.push(event.arguments))
      .finalMessage();

    expect(message.tool_calls).toEqual([toolCall({ name: 'now', arguments: '{}' })]);
    expect(ends).toEqual(['{}']);
  });

  test.each(calls)('streamed with the arguments after the finish reason, %s', async (_, called) => {
    const piece = { index: 0, ...toolCall(called) };
    const late = { index: 0, function: { arguments: '{"a":1}' } };
    const { client } = scripted([
      eventStream(
        chunk({ tool_calls: [piece] }, 'tool_calls'),
        chunk({ tool_calls: [late] }),
        '[DONE]',
      ),
    ]);

    const message = await client.chat.completions
      .stream({ model: 'm', messages: [ask] })
      .finalMessage();

    expect(message.tool_calls).toEqual([toolCall({ name: 'now', arguments: '{"a":1}' })]);
  });

  test.each(calls)('run, %s', async (_, called) => {
    const message = { role: 'assistant', content: null, tool_calls: [toolCall(called)] };
    const { client, requests } = scripted([json(answer(message)), json(answer(done))]);

    const runner = client.chat.completions.runTools({ model: 'm', messages: [ask], tools });

    expect(await runner.finalContent()).toBe('noon');
    expect(await sentBy(requests[1])).toMatchObject({ role: 'tool', content: 'at {}' });
  });

  test.each(calls)('run and streamed, %s', async (_, called) => {
    const piece = { index: 0, ...toolCall(called) };
    const { client, requests } = scripted([
      eventStream(chunk({ tool_calls: [piece] }), chunk({}, 'tool_calls'), '[DONE]'),
      eventStream(chunk({ content: 'noon' }), chunk({}, 'stop'), '[DONE]'),
    ]);

    const runner = client.chat.completions.runTools({
      model: 'm',
      messages: [ask],
      tools,
      stream: true,
    });

    expect(await runner.finalContent()).toBe('noon');
    expect(await sentBy(requests[1])).toMatchObject({ role: 'tool', content: 'at {}' });
  });

  test.each(calls)('typed, %s', async (_, called) => {
    const message = { role: 'assistant', content: null, tool_calls: [toolCall(called)] };
    const { client } = scripted([json(answer(message))]);

    const { choices } = await client.chat.completions.parse({
      model: 'm',
      messages: [ask],
      tools: [{ type: 'function', function: { name: 'now', strict: true, parameters: {} } }],
    });

    const [call] = choices[0]?.message.tool_calls ?? [];
    expect(call).toMatchObject({ function: { arguments: '{}', parsed_arguments: {} } });
  });
});

describe('fields that only answers have', () => {
  const citation = { type: 'url_citation', url_citation: { url: 'https://a.test' } };
  const call = { id: 'x', type: 'function', function: { name: 'look', arguments: '{}' } };
  const message = {
    role: 'assistant',
    content: null,
    refusal: null,
    annotations: [citation],
    function_call: null,
    audio: null,
    name: null,
    thinking_blocks: null,
    reasoning: 'Hm.',
    reasoning_content: 'Hm.',
    tool_calls: [{ index: 0, ...call }],
  };
  const sent = { role: 'assistant', content: null, tool_calls: [call] };

  test.each([true, false])(
    'fields that only answers have are not sent back by runTools(), stream: %s',
    async (stream) => {
      const last = { role: 'assistant', content: 'bye' };
      const { client, requests } = scripted(
        stream
          ? [
              eventStream(chunk(message), chunk({}, 'tool_calls'), '[DONE]'),
              eventStream(chunk(last, 'stop'), '[DONE]'),
            ]
          : [json(answer(message)), json(answer(last))],
      );
      const look = tool({ name: 'look', execute: () => 'seen' });
      const params = { model: 'm', messages: [ask], tools: [look] };

      const runner = stream
        ? client.chat.completions.runTools({ ...params, stream })
        : client.chat.completions.runTools(params);
      await runner.done();

      const { messages = [] } = Object(await bodyOf(requests[1]));
      expect(messages[1]).toEqual(sent);
    },
  );

  test('fields that only answers have are kept if they describe a file', async () => {
    const file = { type: 'file', file: { hash: 'h' } };
    const kept = { role: 'assistant', content: 'Read.', annotations: [file] };

    expect(await sentBack(kept)).toEqual(kept);
  });
});
