// What real providers stream, one oddity at a time. The loop, the helper and an answer that came as
// events although none were asked for add up to the same.
import { describe, expect, test } from 'vitest';
import { Gateway } from '../../src/index.ts';
import type { ChatCompletion } from '../../src/chat/types.ts';
import type { GenerateContentResponse } from '../../src/generate/types.ts';
import { chunk, encode, readStream, respond, usage } from '../helpers/sse.ts';

/** A client whose gateway answers everything with these events. */
function clientFor(events: string): Gateway {
  return new Gateway({
    apiKey: 'sk-test',
    baseURL: 'https://gateway.test',
    logLevel: 'off',
    fetch: async () => {
      const { body } = respond(events);
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    },
  });
}

/** The sum of a chat's chunks, read in three ways. */
async function addChunks(...data: readonly object[]): Promise<ChatCompletion> {
  const params = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] };
  const { completions } = clientFor(encode(...data, '[DONE]')).chat;
  const loop = await readStream(await completions.create({ ...params, stream: true }));
  const helper = await completions.stream(params).finalChatCompletion();
  const whole = await completions.create(params);

  expect(loop).toMatchObject({ error: undefined, verdict: 'complete' });
  expect(whole).toEqual(loop.partial);
  // The helper adds what texts are parsed as, and gives calls without an id one.
  const plain = structuredClone(helper);
  for (const { message } of plain.choices) {
    Reflect.deleteProperty(message, 'parsed');
    for (const call of message.tool_calls ?? []) {
      if (/^call_\w+$/.test(call.id) && !JSON.stringify(data).includes(call.id)) call.id = '';
    }
  }
  expect(plain).toEqual(loop.partial);
  return whole;
}

type Message = ChatCompletion['choices'][number]['message'];

async function addDeltas(...deltas: readonly object[]): Promise<Message | undefined> {
  const completion = await addChunks(...deltas.map((delta) => chunk(delta)), chunk({}, 'stop'));
  return completion.choices[0]?.message;
}

/** The sum of tool calls, one list for each chunk: ids, names and arguments. */
async function addToolCalls(...pieces: readonly (readonly object[] | null)[]): Promise<unknown> {
  const message = await addDeltas(...pieces.map((calls) => ({ tool_calls: calls })));
  return message?.tool_calls?.map((call) =>
    call.type === 'function' ? [call.id, call.function.name, call.function.arguments] : call,
  );
}

const first = (name: string, text: unknown, more: object = {}) => ({
  type: 'function',
  function: { name, arguments: text },
  ...more,
});
const next = (text: string, more: object = {}) => ({ function: { arguments: text }, ...more });

const ofChoice = (index: number, content: string, finish: string | null = null) => ({
  ...chunk({}),
  choices: [{ index, delta: { content }, finish_reason: finish }],
});

const both = (a: string, b: string, finish: string | null = null) => ({
  ...chunk({}),
  choices: [a, b].map((content) => ({ delta: { content }, finish_reason: finish })),
});

const token = (text: string) => ({ token: text, bytes: null, logprob: -1, top_logprobs: [] });

const withLogprobs = (logprobs: unknown, finish: string | null = null) => ({
  ...chunk({}),
  choices: [{ index: 0, delta: { content: 'a' }, logprobs, finish_reason: finish }],
});

describe('a streamed chat completion', () => {
  test.each([
    ['on the finish chunk', [chunk({ content: 'a' }, 'stop', { usage })]],
    ['in a chunk of its own', [chunk({ content: 'a' }, 'stop'), { choices: [], usage }]],
    ['on the first chunk', [chunk({ content: 'a' }, null, { usage }), chunk({}, 'stop')]],
    [
      'on every chunk, the last counts',
      [
        chunk({ content: 'a' }, null, { usage: { ...usage, completion_tokens: 1 } }),
        chunk({}, 'stop', { usage }),
      ],
    ],
    [
      'and null or missing in the others',
      [chunk({ content: 'a' }, null, { usage }), chunk({}, 'stop', { usage: null })],
    ],
    [
      'inside of a choice',
      [{ choices: [{ delta: { content: 'a' }, finish_reason: 'stop', usage }] }],
    ],
    ['next to null choices', [chunk({ content: 'a' }, 'stop'), { choices: null, usage }]],
  ])('usage %s', async (_, data) => {
    expect((await addChunks(...data)).usage).toEqual(usage);
  });

  test('an id that is missing, null or empty', async () => {
    const nameless = { ...chunk({ content: 'a' }), id: '', model: '', created: 0, object: '' };
    const bare = { choices: [{ delta: { content: 'b' } }] };
    const nulls = {
      ...chunk({ content: 'c' }),
      id: null,
      model: null,
      created: null,
      object: null,
    };

    const completion = await addChunks(nameless, bare, nulls, chunk({}, 'stop'));

    expect(completion).toMatchObject({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_790_000_000,
      model: 'm-large',
      choices: [{ message: { content: 'abc' } }],
    });
  });

  test('an id that never comes', async () => {
    const completion = await addChunks({
      choices: [{ delta: { content: 'a' }, finish_reason: 'stop' }],
    });

    expect(completion).toMatchObject({ id: '', model: '', created: 0, object: 'chat.completion' });
  });

  test('deltas that are null or missing', async () => {
    const completion = await addChunks(
      { ...chunk({}), choices: [{ index: 0, delta: null, finish_reason: null }] },
      { ...chunk({}), choices: [{ index: 0 }] },
      chunk({ content: 'Hello' }),
      { ...chunk({}), choices: [{ index: 0, delta: null, finish_reason: 'stop' }] },
    );

    expect(completion.choices).toMatchObject([
      { message: { content: 'Hello' }, finish_reason: 'stop' },
    ]);
  });

  test('fields of deltas that are null', async () => {
    const nulls = {
      role: null,
      content: null,
      refusal: null,
      reasoning_content: null,
      reasoning: null,
      tool_calls: null,
      function_call: null,
      audio: null,
    };

    const message = await addDeltas(nulls, { content: 'Hel' }, nulls, { content: 'lo' }, nulls);

    expect(message).toEqual({ role: 'assistant', content: 'Hello', refusal: null });
  });

  test('choices that are missing, null, empty or contain null', async () => {
    const completion = await addChunks(
      { id: 'x' },
      { choices: null },
      { choices: [] },
      { choices: [null] },
      chunk({ content: 'Hello' }, 'stop'),
    );

    expect(completion.choices.map(({ message }) => message.content)).toEqual(['Hello']);
  });

  test('content as an array of parts', async () => {
    const message = await addDeltas(
      { content: [{ type: 'text', text: 'Hel' }] },
      {
        content: [
          { type: 'text', text: 'l' },
          { type: 'text', text: 'o' },
        ],
      },
    );

    expect(message?.content).toBe('Hello');
  });

  test('reasoning as parts of the content', async () => {
    const message = await addDeltas(
      { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Let me ' }] }] },
      {
        content: [
          { type: 'thinking', thinking: 'see.' },
          { type: 'text', text: 'Hello' },
        ],
      },
    );

    expect(message).toMatchObject({ content: 'Hello', reasoning_content: 'Let me see.' });
  });

  test.each(['reasoning_content', 'reasoning'])('reasoning in %s', async (field) => {
    const message = await addDeltas({ [field]: 'Hm' }, { [field]: 'm' }, { content: 'Hello' });

    expect(message).toMatchObject({ content: 'Hello', [field]: 'Hmm' });
  });

  test('thoughts in both fields at once', async () => {
    const message = await addDeltas({ reasoning_content: 'Hm', reasoning: 'Hm' }, { content: 'a' });

    expect(message).toMatchObject({ reasoning_content: 'Hm', reasoning: 'Hm' });
  });

  test('several choices, interleaved and out of order', async () => {
    const completion = await addChunks(
      ofChoice(1, 'b'),
      ofChoice(0, 'a'),
      ofChoice(1, 'B', 'stop'),
      ofChoice(0, 'A', 'length'),
    );

    expect(completion.choices).toMatchObject([
      { index: 0, message: { content: 'aA' }, finish_reason: 'length' },
      { index: 1, message: { content: 'bB' }, finish_reason: 'stop' },
    ]);
  });

  test('several choices in one chunk, without an index', async () => {
    const completion = await addChunks(both('a', 'b'), both('A', 'B', 'stop'));

    expect(completion.choices.map(({ message }) => message.content)).toEqual(['aA', 'bB']);
  });

  test('log probabilities, null in between', async () => {
    const completion = await addChunks(
      withLogprobs({ content: [token('a')], refusal: null }),
      withLogprobs(null),
      withLogprobs({ content: null, refusal: [token('no')] }),
      withLogprobs({ content: [token('b')] }, 'stop'),
    );

    expect(completion.choices[0]?.logprobs).toEqual({
      content: [token('a'), token('b')],
      refusal: [token('no')],
    });
  });

  test('a refusal', async () => {
    const message = await addDeltas({ refusal: 'I ' }, { refusal: 'cannot.', content: '' });

    expect(message?.refusal).toBe('I cannot.');
  });

  test('audio with its expiry time', async () => {
    const completion = await addChunks(
      chunk({ audio: { id: 'a1', transcript: 'Hel' } }),
      chunk({ audio: { data: 'AAA=' } }),
      chunk({ audio: { transcript: 'lo', data: 'BBB=' } }),
      chunk({ audio: { expires_at: 7 } }),
    );

    expect(completion.choices[0]).toMatchObject({
      message: { audio: { id: 'a1', transcript: 'Hello', data: 'AAA=BBB=', expires_at: 7 } },
      finish_reason: 'stop',
    });
  });

  test('a repeated finish reason', async () => {
    const completion = await addChunks(chunk({ content: 'a' }, 'stop'), chunk({}, 'stop'));

    expect(completion.choices[0]?.finish_reason).toBe('stop');
  });

  test('a choice with a text index in between', async () => {
    const text = { ...chunk({}), choices: [{ index: '0', delta: { content: 'b' } }] };

    const completion = await addChunks(chunk({ content: 'a' }), text, chunk({}, 'stop'));

    expect(completion.choices.map(({ message }) => message.content)).toEqual(['ab']);
  });

  test('a finish reason that is empty until the end', async () => {
    const completion = await addChunks(
      chunk({ content: 'a' }, ''),
      chunk({ content: 'b' }, 'length'),
    );

    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'length',
      message: { content: 'ab' },
    });
  });
});

describe('streamed tool calls', () => {
  const one = [['c1', 'find', '{"q":1}']];
  const two = [...one, ['c2', 'list', '{"n":2}']];
  const c1 = { id: 'c1' };
  const c2 = { id: 'c2' };

  test.each<{ name: string; pieces: readonly (readonly object[] | null)[]; expected: unknown }>([
    {
      name: 'with an index',
      pieces: [[first('find', '{"q":', { index: 0, ...c1 })], [next('1}', { index: 0 })]],
      expected: one,
    },
    {
      name: 'without an index',
      pieces: [[first('find', '{"q":', c1)], [next('1}')]],
      expected: one,
    },
    {
      name: 'two without an index, one after the other',
      pieces: [
        [first('find', '{"q":', c1)],
        [next('1}')],
        [first('list', '{"n":', c2)],
        [next('2}')],
      ],
      expected: two,
    },
    {
      name: 'two without an index, side by side',
      pieces: [
        [first('find', '{"q":', c1), first('list', '{"n":', c2)],
        [next('1}'), next('2}')],
      ],
      expected: two,
    },
    {
      name: 'with an index from 1',
      pieces: [[first('find', '{"q":', { index: 1, ...c1 })], [next('1}', { index: 1 })]],
      expected: one,
    },
    {
      name: 'two with an index from 1',
      pieces: [
        [first('find', '{"q":', { index: 1, ...c1 })],
        [next('1}', { index: 1 })],
        [first('list', '{"n":', { index: 2, ...c2 })],
        [next('2}', { index: 2 })],
      ],
      expected: two,
    },
    {
      name: 'two with the same index',
      pieces: [
        [first('find', '{"q":1}', { index: 0, ...c1 })],
        [first('list', '{"n":2}', { index: 0, ...c2 })],
      ],
      expected: two,
    },
    {
      name: 'two with the same index, begun before either is whole',
      pieces: [
        [first('find', '', { index: 0, ...c1 }), first('list', '{"n"', { index: 0, ...c2 })],
        [next('{"q"', { index: 0, ...c1 }), next(':2', { index: 0, ...c2 })],
        [next('}', { index: 0 }), next(':1}', { index: 0, ...c1 })],
      ],
      expected: two,
    },
    {
      name: 'two calls of one function with the same index',
      pieces: [
        [first('find', '{"q":', { index: 0, ...c1 }), first('find', '{"q":', { index: 0, ...c2 })],
        [next('2}', { index: 0 }), next('1}', { index: 0, ...c1 })],
      ],
      expected: [...one, ['c2', 'find', '{"q":2}']],
    },
    {
      name: 'with an index as text in between',
      pieces: [
        [first('find', '{"q":', { index: 0, ...c1 })],
        [next('1}', { index: '0' })],
        [first('list', '{"n":', { index: '1', ...c2 })],
        [next('2}', { index: 1 })],
      ],
      expected: two,
    },
    {
      name: 'with empty ids later',
      pieces: [[first('find', '{"q":', { index: 0, ...c1 })], [next('1}', { index: 0, id: '' })]],
      expected: one,
    },
    {
      name: 'with an id that comes later',
      pieces: [[first('find', '{"q":', { index: 0, id: '' })], [next('1}', { index: 0, ...c1 })]],
      expected: one,
    },
    {
      name: 'without an id at all',
      pieces: [[first('find', '{"q":', { index: 0 })], [next('1}', { index: 0 })]],
      expected: [['', 'find', '{"q":1}']],
    },
    {
      name: 'with empty names later',
      pieces: [[first('find', '{"q":', { index: 0, ...c1 })], [first('', '1}', { index: 0 })]],
      expected: one,
    },
    {
      name: 'with a null type, name and id later',
      pieces: [
        [first('find', '{"q":', { index: 0, ...c1 })],
        [{ index: 0, id: null, type: null, function: { name: null, arguments: '1}' } }],
      ],
      expected: one,
    },
    {
      name: 'with arguments as an object',
      pieces: [[first('find', { q: 1 }, { index: 0, ...c1 })]],
      expected: one,
    },
    {
      name: 'with null arguments at first',
      pieces: [[first('find', null, { index: 0, ...c1 })], [next('{"q":1}', { index: 0 })]],
      expected: one,
    },
    {
      name: 'with null in place of a list in between',
      pieces: [[first('find', '{"q":', { index: 0, ...c1 })], null, [next('1}', { index: 0 })]],
      expected: one,
    },
    {
      name: 'whole in one piece',
      pieces: [[first('find', '{"q":1}', { index: 0, ...c1 })]],
      expected: one,
    },
  ])('$name', async ({ pieces, expected }) => {
    expect(await addToolCalls(...pieces)).toEqual(expected);
  });
});

/** The sum of a generation's chunks, read in two ways. */
async function addGenerations(...data: readonly object[]): Promise<GenerateContentResponse> {
  const { generate } = clientFor(encode(...data));
  const params = { model: 'm', contents: 'Hi' };
  const loop = await readStream(await generate.contentStream(params));
  const whole = await generate.content(params);

  expect(loop).toMatchObject({ error: undefined, verdict: 'complete' });
  expect(whole).toEqual(loop.partial);
  return whole;
}

const piece = (parts: readonly object[], finishReason?: string, more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, finishReason, index: 0 }],
  ...more,
});
const end = piece([], 'STOP');

const part = (jsonPath: string, value: object) => ({
  functionCall: { partialArgs: [{ jsonPath, ...value }], willContinue: true },
});

const ofCandidate = (index: number, text: string, finishReason?: string) => ({
  candidates: [{ index, content: { role: 'model', parts: [{ text }] }, finishReason }],
});

describe('a streamed generation', () => {
  test('text', async () => {
    const { text } = await addGenerations(piece([{ text: 'Hel' }]), piece([{ text: 'lo' }]), end);

    expect(text).toBe('Hello');
  });

  test('thoughts, apart from the text', async () => {
    const whole = await addGenerations(
      piece([{ text: 'Let me ', thought: true }]),
      piece([{ text: 'see.', thought: true }, { text: 'Hello' }]),
      end,
    );

    expect(whole.text).toBe('Hello');
    expect(whole.candidates?.[0]?.content?.parts).toEqual([
      { text: 'Let me see.', thought: true },
      { text: 'Hello' },
    ]);
  });

  test('one function call in one chunk, and several', async () => {
    const { functionCalls } = await addGenerations(
      piece([{ functionCall: { name: 'f', args: { a: 1 } } }]),
      piece([{ functionCall: { id: 'x', name: 'g', args: {} } }, { functionCall: { name: 'f' } }]),
      end,
    );

    expect(functionCalls).toEqual([
      { name: 'f', args: { a: 1 } },
      { id: 'x', name: 'g', args: {} },
      { name: 'f' },
    ]);
  });

  test('a function call in partialArgs, closed by an empty one', async () => {
    const { functionCalls } = await addGenerations(
      piece([{ functionCall: { name: 'f', willContinue: true } }]),
      piece([part('$.city', { stringValue: 'Lis', willContinue: true })]),
      piece([part('$.city', { stringValue: 'bon' }), part('$.days[0]', { numberValue: 2 })]),
      piece([{ functionCall: {} }]),
      end,
    );

    expect(functionCalls).toEqual([{ name: 'f', args: { city: 'Lisbon', days: [2] } }]);
  });

  test('inline data', async () => {
    const image = { inlineData: { mimeType: 'image/png', data: 'AA==' } };

    const whole = await addGenerations(piece([{ text: 'Here: ' }]), piece([image]), end);

    expect(whole.candidates?.[0]?.content?.parts).toEqual([{ text: 'Here: ' }, image]);
  });

  test('a block of the prompt', async () => {
    const whole = await addGenerations({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } });

    expect(whole.blockReason).toBe('PROHIBITED_CONTENT');
    expect(whole.text).toBeUndefined();
  });

  test('a block of the response', async () => {
    const whole = await addGenerations(piece([{ text: 'Well, ' }]), {
      candidates: [{ finishReason: 'SAFETY', index: 0 }],
    });

    expect(whole).toMatchObject({ blockReason: 'SAFETY' });
    expect(whole.candidates?.[0]?.content?.parts).toEqual([{ text: 'Well, ' }]);
  });

  test('usage on every chunk, on the last only, or in parts', async () => {
    const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 5, totalTokenCount: 8 };
    const early = { usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1 } };
    const late = piece([], 'STOP', { usageMetadata });
    const kind = { usageMetadata: { trafficType: 'ON_DEMAND' } };

    const every = await addGenerations(piece([{ text: 'a' }], undefined, early), late);
    const last = await addGenerations(piece([{ text: 'a' }]), late);
    const parts = await addGenerations(late, { ...kind });

    expect([every, last].map((whole) => whole.usageMetadata)).toEqual([
      usageMetadata,
      usageMetadata,
    ]);
    expect(parts.usageMetadata).toEqual({ ...usageMetadata, trafficType: 'ON_DEMAND' });
  });

  test('keys in snake case', async () => {
    const whole = await addGenerations(
      {
        candidates: [
          {
            content: {
              role: 'model',
              parts: [
                { text: 'Hm', thought: true, thought_signature: 's' },
                { inline_data: { mime_type: 'image/png', data: 'AA==' } },
                { function_call: { name: 'f', will_continue: true } },
              ],
            },
          },
        ],
        usage_metadata: { prompt_token_count: 3 },
      },
      piece([
        {
          function_call: {
            partial_args: [{ json_path: '$.a', string_value: 'b' }],
            will_continue: false,
          },
        },
      ]),
      { candidates: [{ finish_reason: 'STOP' }], model_version: 'm-1' },
    );

    expect(whole).toMatchObject({ usageMetadata: { promptTokenCount: 3 }, modelVersion: 'm-1' });
    expect(whole.candidates?.[0]).toMatchObject({
      finishReason: 'STOP',
      content: {
        parts: [
          { text: 'Hm', thought: true, thoughtSignature: 's' },
          { inlineData: { mimeType: 'image/png', data: 'AA==' } },
          { functionCall: { name: 'f', args: { a: 'b' } } },
        ],
      },
    });
  });

  test('a block of the prompt in snake case', async () => {
    const whole = await addGenerations({ prompt_feedback: { block_reason: 'OTHER' } });

    expect(whole.blockReason).toBe('OTHER');
  });

  test('candidates, contents and parts that are null or missing', async () => {
    const whole = await addGenerations(
      { candidates: null },
      { candidates: [{ content: null }] },
      { candidates: [{ content: { parts: null } }] },
      piece([{ text: 'Hello' }]),
      { candidates: [{ finishReason: 'STOP' }] },
    );

    expect(whole.text).toBe('Hello');
  });

  test('several candidates', async () => {
    const whole = await addGenerations(
      ofCandidate(1, 'b'),
      ofCandidate(0, 'a'),
      ofCandidate(1, 'B', 'STOP'),
      ofCandidate(0, 'A', 'STOP'),
    );

    expect(whole.candidates?.map(({ content }) => content?.parts)).toEqual([
      [{ text: 'aA' }],
      [{ text: 'bB' }],
    ]);
  });
});
