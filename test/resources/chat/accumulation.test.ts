import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chatProtocolFor } from '../../../src/resources/chat/protocol.ts';
import {
  chunk,
  createStream,
  encode,
  readStream,
  respond,
  usage,
  watchedContext,
} from '../../helpers/sse.ts';

/** Reads events of a chat stream. */
function read(...data: readonly (object | string)[]) {
  return readStream(
    createStream(respond(encode(...data)), watchedContext().context, chatProtocolFor(1)),
  );
}

/** Reads tool call pieces, one list for each chunk. */
async function readCalls(...pieces: readonly (readonly object[])[]) {
  const { partial, items, error } = await read(
    ...pieces.map((calls) => chunk({ tool_calls: calls })),
    chunk({}, 'tool_calls'),
  );
  const indexes = items.flatMap(({ choices }) =>
    (choices[0]?.delta.tool_calls ?? []).map(({ index }) => index),
  );
  return { calls: partial?.choices[0]?.message.tool_calls, indexes, error };
}

function call(id: string, name: string, text: string) {
  return { id, type: 'function', function: { name, arguments: text } };
}

describe('chunks of a chat completion', () => {
  test('chunks of a chat completion may have no choices', async () => {
    for (const choices of [null, [], undefined, 'none', {}]) {
      const { items, error } = await read({ ...chunk({}), choices, model: 'm' }, chunk({}, 'stop'));

      expect(error).toBeUndefined();
      expect(Array.isArray(items[0]?.choices)).toBe(true);
    }
  });

  test('missing fields of usage in a chunk are filled', async () => {
    const { items } = await read(
      chunk({}, 'stop', { usage: { prompt_tokens: 2, completion_tokens: 3, details: 1 } }),
    );

    expect(items[0]?.usage).toEqual({
      prompt_tokens: 2,
      completion_tokens: 3,
      total_tokens: 5,
      details: 1,
    });
  });

  test('empty chunks of a chat completion keep the declared types', async () => {
    const { items } = await read({ choices: [{}] }, chunk({ tool_calls: null }, 'stop'));

    expect(items[0]?.choices[0]).toEqual({ index: 0, finish_reason: null, delta: {} });
    expect(items[1]?.choices[0]?.delta.tool_calls).toBeNull();
  });

  test('chunks of a chat completion may contain the whole message', async () => {
    const message = { role: 'assistant', content: 'Hello' };

    const { items, partial } = await read({ choices: [{ message, finish_reason: 'stop' }] });

    expect(items[0]?.choices[0]?.delta.content).toBe('Hello');
    expect(partial?.choices[0]?.message.content).toBe('Hello');
  });

  test('chunks of a chat completion may contain refusals, log probabilities, audio, annotations and provider fields', async () => {
    const token = { token: 'a', bytes: [97], logprob: -0.1, top_logprobs: [] };
    const logprobs = { content: [token], refusal: null };

    const { partial } = await read(
      {
        ...chunk({
          refusal: 'No',
          audio: { id: 'a1', data: 'AA' },
          annotations: [1],
          images: ['x'],
        }),
        choices: [
          {
            index: 0,
            delta: { refusal: 'No', audio: { id: 'a1', data: 'AA' }, annotations: [1] },
            logprobs,
            matched_stop: null,
          },
        ],
        citations: ['u'],
      },
      {
        choices: [
          {
            index: 0,
            delta: {
              refusal: ', sorry',
              audio: { data: 'BB', transcript: 'hi', expires_at: 5 },
              annotations: [2],
              ['__proto__']: { polluted: true },
            },
            logprobs,
            finish_reason: null,
            matched_stop: 7,
          },
        ],
        system_fingerprint: 'fp',
        citations: ['u', 'v'],
      },
    );

    expect(partial).toMatchObject({ system_fingerprint: 'fp', citations: ['u', 'v'] });
    expect(partial?.choices[0]).toMatchObject({
      finish_reason: 'stop',
      matched_stop: 7,
      logprobs: { content: [token, token] },
      message: {
        refusal: 'No, sorry',
        annotations: [1, 2],
        audio: { id: 'a1', data: 'AABB', transcript: 'hi', expires_at: 5 },
      },
    });
    expect(partial).not.toHaveProperty('choices.0.message.polluted');
  });

  test.each([{}, { name: '', arguments: '' }, { name: null, arguments: null }, { arguments: ' ' }])(
    'chunks of a chat completion do not turn the empty function call %j into a call',
    async (hollow) => {
      const { partial, items } = await read(
        chunk({ content: 'Hi', function_call: hollow }),
        chunk({ content: '', function_call: hollow }, 'stop'),
      );

      expect(partial?.choices[0]?.message).toMatchObject({ content: 'Hi' });
      expect(partial?.choices[0]?.message).not.toHaveProperty('function_call');
      expect(items[0]?.choices[0]?.delta).not.toHaveProperty('function_call');
    },
  );

  test('chunks of a chat completion keep a function call between empty fragments', async () => {
    const { partial } = await read(
      chunk({ function_call: { name: 'f', arguments: '' } }),
      chunk({ function_call: { name: '', arguments: '{"a":' } }),
      chunk({ function_call: { name: '', arguments: '' } }),
      chunk({ function_call: { arguments: '1}' } }),
      chunk({}, 'function_call'),
    );

    expect(partial?.choices[0]?.message.function_call).toEqual({ name: 'f', arguments: '{"a":1}' });
  });
});

/** A piece of arguments. */
function a(text: string, more: object = {}) {
  return { function: { arguments: text }, ...more };
}

describe('tool calls', () => {
  test('tool calls arrive interleaved', async () => {
    const { calls } = await readCalls(
      [
        { index: 0, ...call('c1', 'f', '') },
        { index: 1, ...call('c2', 'g', '') },
      ],
      [
        { index: 1, ...a('{"b"') },
        { index: 0, ...a('{"a"') },
      ],
      [{ index: 0, ...a(':1}') }],
      [{ index: 1, ...a(':2}') }],
    );

    expect(calls).toEqual([call('c1', 'f', '{"a":1}'), call('c2', 'g', '{"b":2}')]);
  });

  test('tool calls without an index are separated by id and position', async () => {
    const byId = await readCalls(
      [call('c1', 'f', '{"a":')],
      [call('c2', 'g', '{"b":')],
      [a('1}', { id: 'c1' }), a('2}', { id: 'c2' })],
    );
    const byPosition = await readCalls(
      [call('', 'f', '{"a":'), call('', 'g', '{"b":')],
      [a('1}'), a('2}')],
    );

    expect(byId.calls).toEqual([call('c1', 'f', '{"a":1}'), call('c2', 'g', '{"b":2}')]);
    expect(byId.indexes).toEqual([0, 1, 0, 1]);
    expect(byPosition.calls).toEqual([call('', 'f', '{"a":1}'), call('', 'g', '{"b":2}')]);
    expect(byPosition.indexes).toEqual([0, 1, 0, 1]);
  });

  test('complete tool calls that share an index or an empty id are separate calls', async () => {
    const sameIndex = await readCalls(
      [{ index: 0, ...call('c1', 'f', '{"a":1}') }],
      [{ index: 0, ...call('c2', 'f', '{"a":2}') }],
    );
    const noIds = await readCalls([call('', 'f', '{"a":1}')], [call('', 'f', '{"a":2}')]);

    expect(sameIndex.calls).toEqual([call('c1', 'f', '{"a":1}'), call('c2', 'f', '{"a":2}')]);
    expect(sameIndex.indexes).toEqual([0, 1]);
    const thenAnother = await readCalls(
      [{ index: 0, ...call('c1', 'f', '{"a":1}') }],
      [{ index: 0, ...call('c2', 'f', '{"a":2}') }],
      [{ index: 1, ...call('c3', 'g', '{}') }],
    );
    expect(thenAnother.indexes).toEqual([0, 1, 2]);
    expect(noIds.calls).toEqual([call('', 'f', '{"a":1}'), call('', 'f', '{"a":2}')]);
  });

  test('tool calls with a new id in each fragment are one call', async () => {
    const { calls } = await readCalls(
      [{ index: 0, ...call('c1', 'f', '{"a":') }],
      [{ index: 0, ...a('1}', { id: 'c9' }) }],
    );

    expect(calls).toEqual([call('c1', 'f', '{"a":1}')]);
  });

  test('tool calls of custom tools are assembled too', async () => {
    const { calls } = await readCalls(
      [{ index: 0, id: 'c1', type: 'custom', custom: { name: 'shell', input: 'ls' } }],
      [{ index: 0, custom: { input: ' -l' } }],
    );

    expect(calls).toEqual([
      { id: 'c1', type: 'custom', custom: { name: 'shell', input: 'ls -l' } },
    ]);
  });

  test('the input of a custom tool that is an object becomes text', async () => {
    const { calls } = await readCalls([
      { index: 0, id: 'c1', type: 'custom', custom: { name: 'shell', input: { run: 'ls' } } },
    ]);

    expect(calls).toEqual([
      { id: 'c1', type: 'custom', custom: { name: 'shell', input: '{"run":"ls"}' } },
    ]);
  });
});

/** Reads pieces of the reasoning, one field for each chunk. */
async function readSteps(...pieces: readonly unknown[]) {
  const { partial, error } = await read(
    ...pieces.map((steps) => chunk({ reasoning_details: steps })),
    chunk({}, 'stop'),
  );
  expect(error).toBeUndefined();
  return partial?.choices[0]?.message.reasoning_details;
}

const image = (url: string, index: number) => ({ type: 'image_url', image_url: { url }, index });

describe('reasoning in steps', () => {
  const type = 'reasoning.text';

  test('reasoning in steps merges fragments of a step by index, and keeps the signature', async () => {
    const format = 'anthropic-claude-v1';
    const steps = await readSteps(
      [{ type, text: 'First', index: 0, format, id: null }],
      [{ type, text: ' I', index: 0, format }],
      [{ type, text: 'Then', index: 1 }],
      [{ type, text: null, signature: 'c2ln', index: 0, format }],
      [{ type, text: ' you', index: 1, id: 'r-1' }],
    );

    expect(steps).toEqual([
      { type, text: 'First I', index: 0, format, id: null, signature: 'c2ln' },
      { type, text: 'Then you', index: 1, id: 'r-1' },
    ]);
  });

  test('reasoning in steps keeps steps of different types or ids separate', async () => {
    const given = [
      { type: 'reasoning.summary', summary: 'Short', index: 0 },
      { type, text: 'Long', index: 0 },
      { type, text: 'Other', index: 1, id: 'a' },
      { type, text: 'Another', index: 1, id: 'b' },
      { type: 'reasoning.encrypted', data: 'eA==', index: 0, id: 'a' },
      { type: 'reasoning.encrypted', data: 'eQ==', index: 0, id: 'a' },
      { type: 'reasoning.new', index: 0, more: { deep: true } },
    ];

    expect(await readSteps(...given.map((step) => [step]))).toEqual(given);
    expect(await readSteps(given)).toEqual(given);
  });

  test('reasoning in steps keeps a repeated encrypted step once', async () => {
    const step = { type: 'reasoning.encrypted', data: 'eA==', index: 0 };

    expect(await readSteps([step], [step])).toEqual([step]);
  });

  test('a fragment of reasoning without an index continues the last step until it is signed', async () => {
    const steps = await readSteps(
      [{ type, text: 'a' }],
      [{ type, text: 'b' }],
      [{ type, signature: 's' }],
      [{ type, text: 'c' }],
    );

    expect(steps).toEqual([
      { type, text: 'ab', signature: 's' },
      { type, text: 'c' },
    ]);
  });

  test('reasoning in steps reads a single step, and ignores other values', async () => {
    const step = { type, text: 'a' };

    expect(await readSteps(step, null, 'none', 7, [null, 'x', step])).toEqual([
      { type, text: 'aa' },
    ]);
  });

  test('reasoning in steps does not change the chunks', async () => {
    const { items, partial } = await read(
      chunk({ reasoning_details: [{ type, text: 'a', index: 0 }] }),
      chunk({ reasoning_details: [{ type, text: 'b', index: 0 }] }, 'stop'),
    );

    const texts = items.map(({ choices }) => choices[0]?.delta.reasoning_details?.[0]?.text);
    expect(texts).toEqual(['a', 'b']);
    expect(partial?.choices[0]?.message.reasoning_details).toEqual([
      { type, text: 'ab', index: 0 },
    ]);
  });

  test('reasoning in steps assembles the same text wherever it is split', async () => {
    const cuts = fc.array(fc.tuple(fc.nat(2), fc.string()), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(cuts, async (pieces) => {
        const steps = await readSteps(...pieces.map(([index, text]) => [{ type, text, index }]));

        for (const index of [0, 1, 2]) {
          const whole = pieces.filter(([own]) => own === index).map(([, text]) => text);
          const step = steps?.find((one) => one.index === index);
          expect(step?.text ?? '').toBe(whole.join(''));
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe('images in chunks', () => {
  test('images in chunks are all kept, in order', async () => {
    const { partial } = await read(
      chunk({ content: 'Here', images: [image('data:image/png;base64,AA==', 0)] }),
      chunk({ images: [image('data:image/png;base64,AQ==', 1)] }, 'stop'),
    );

    expect(partial?.choices[0]?.message.images).toEqual([
      image('data:image/png;base64,AA==', 0),
      image('data:image/png;base64,AQ==', 1),
    ]);
  });
});

test("later usage without a cost keeps the vendor's cost", async () => {
  const { partial, usage: total } = await read(
    chunk({ content: 'a' }, 'stop'),
    { choices: [], usage: { ...usage, cost: 0.25, is_byok: false } },
    { choices: [], usage },
  );

  expect(total).toEqual({ ...usage, cost: 0.25, is_byok: false });
  expect(partial?.usage).toEqual(total);
});
