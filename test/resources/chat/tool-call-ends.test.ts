// A tool call is finished by the model, cut by a limit, or whole without a finish reason.
import * as fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { StreamTruncatedError, tool } from '../../../src/index.ts';
import type { ChatCompletionMessageToolCall } from '../../../src/resources/chat/params.ts';
import type { ChatCompletion } from '../../../src/resources/chat/types.ts';
import { bodyOf, collect, eventStream, json, scripted } from '../../helpers/clients.ts';
import { chunk, encode, openChat, readStream, respond, usageChunk } from '../../helpers/sse.ts';

const params = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] };

const toolCall = (id: string, text: unknown, name = 'purge') => ({
  id,
  type: 'function',
  function: { name, arguments: text },
});

/** A chunk with one call per argument text. */
const callChunk = (...texts: readonly string[]) =>
  chunk({ tool_calls: texts.map((text, index) => ({ index, ...toolCall(`c${index}`, text) })) });

const completionWith = (finish: string | null, ...calls: readonly unknown[]) => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', tool_calls: calls }, finish_reason: finish }],
});

/** Cuts a text into pieces of these sizes, and the rest. */
function cutAt(text: string, sizes: readonly number[]): string[] {
  let start = 0;
  const pieces = sizes.map((size) => text.slice(start, (start += size)));
  return [...pieces, text.slice(start)];
}

type Ways = Readonly<
  Record<string, (finish: string, ...texts: string[]) => Promise<ChatCompletion | undefined>>
>;

const ways: Ways = {
  'a loop': async (finish, ...texts) => {
    const { client } = scripted([eventStream(callChunk(...texts), chunk({}, finish), '[DONE]')]);
    const stream = await client.chat.completions.create({ ...params, stream: true });
    await collect(stream);
    return stream.partial;
  },
  'the helper': async (finish, ...texts) => {
    const { client } = scripted([eventStream(callChunk(...texts), chunk({}, finish), '[DONE]')]);
    return client.chat.completions.stream(params).finalChatCompletion();
  },
  'a whole answer': async (finish, ...texts) => {
    const calls = texts.map((text, index) => toolCall(`c${index}`, text));
    const { client } = scripted([json(completionWith(finish, ...calls))]);
    return client.chat.completions.create(params);
  },
  'events in place of a whole answer': async (finish, ...texts) => {
    const { client } = scripted([eventStream(callChunk(...texts), chunk({}, finish), '[DONE]')]);
    return client.chat.completions.create(params);
  },
  'a whole answer in place of events': async (finish, ...texts) => {
    const calls = texts.map((text, index) => toolCall(`c${index}`, text));
    const { client } = scripted([json(completionWith(finish, ...calls))]);
    const stream = await client.chat.completions.create({ ...params, stream: true });
    await collect(stream);
    return stream.partial;
  },
};

/** The arguments of each call, and the flag of one that was cut. */
const read = (completion: ChatCompletion | undefined) =>
  completion?.choices[0]?.message.tool_calls?.map((call: ChatCompletionMessageToolCall) => [
    call.type === 'function' ? call.function.arguments : call.custom.input,
    ...('incomplete' in call ? [call.incomplete] : []),
  ]);

describe.each(Object.entries(ways))('a tool call read by %s', (_, complete) => {
  test.each(['tool_calls', 'stop', 'function_call', 'tool_use', 'end_turn', 'STOP'])(
    'a tool call has empty arguments if it has none and the model finished with %s',
    async (finish) => {
      expect(read(await complete(finish, ''))).toEqual([['{}']]);
      expect(read(await complete(finish, ' '))).toEqual([['{}']]);
    },
  );

  test.each(['length', 'content_filter', 'model_length', 'pause_turn'])(
    'keeps the received arguments and is marked as incomplete after %s',
    async (finish) => {
      expect(read(await complete(finish, ''))).toEqual([['', true]]);
      expect(read(await complete(finish, '{"path":"/tm'))).toEqual([['{"path":"/tm', true]]);
      expect(read(await complete(finish, '{"a":1}', '{'))).toEqual([['{"a":1}'], ['{', true]]);
    },
  );

  test.each(['{"a', '{"n":1,"t":"lo', '{"a":[1,', '{"a":tru'])(
    'a tool call is marked if a server says that the model finished, but %s is cut',
    async (text) => {
      expect(read(await complete('tool_calls', '{}', text))).toEqual([['{}'], [text, true]]);
    },
  );

  test.each(['{a:1}', 'Rome', '{"a":1}}', '[1]', '7'])(
    'a tool call is not marked if the model finished with %s, which is not cut',
    async (text) => {
      expect(read(await complete('tool_calls', text))).toEqual([[text]]);
    },
  );
});

test('a call whose pieces each have the finish reason is whole at the end', async () => {
  const words = fc.string({ unit: fc.constantFrom('{', '[', '}', ']', '"', '\\', ',', 'a') });
  const object = fc.dictionary(words, fc.oneof(words, fc.array(words)), { minKeys: 1 });
  const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 });
  const property = fc.asyncProperty(object, sizes, async (value, cuts) => {
    const text = JSON.stringify({ filler: 'a'.repeat(64), ...value });
    const chunks = cutAt(text, cuts).map((piece, at) => {
      const call = at === 0 ? toolCall('c0', piece) : { function: { arguments: piece } };
      return chunk({ tool_calls: [{ index: 0, ...call }] }, 'tool_calls');
    });
    const { client } = scripted([eventStream(...chunks, '[DONE]')]);

    const completion = await client.chat.completions.stream(params).finalChatCompletion();
    expect(read(completion)).toEqual([[text]]);
  });
  await fc.assert(property, { numRuns: 50 });
});

test.each([
  ['{', `{"path":"${'a'.repeat(64)}"}`],
  ['{"path"', `{"path":"${'a'.repeat(64)}"}`],
])(
  'a call of which %j came with a finish reason is repaired when the rest came',
  async (cut, whole) => {
    const { client } = scripted([
      eventStream(
        chunk({ tool_calls: [{ index: 0, ...toolCall('c0', cut) }] }, 'tool_calls'),
        chunk({ tool_calls: [{ index: 0, function: { arguments: whole } }] }, 'tool_calls'),
        '[DONE]',
      ),
    ]);

    const completion = await client.chat.completions.stream(params).finalChatCompletion();
    expect(read(completion)).toEqual([[whole]]);
  },
);

describe('an unfinished tool call', () => {
  test("an unfinished tool call without arguments has '' in a whole response", async () => {
    for (const text of [undefined, null]) {
      const { client } = scripted([json(completionWith('length', toolCall('c0', text)))]);
      expect(read(await client.chat.completions.create(params))).toEqual([['', true]]);
    }
  });

  test('an unfinished tool call stays empty in a whole response whose finish reason is null, and is not run', async () => {
    const { client } = scripted([json(completionWith(null, toolCall('c0', '')))]);
    const completion = await client.chat.completions.create(params);

    expect(read(completion)).toEqual([['', true]]);
    expect(completion.choices[0]?.finish_reason).toBeNull();

    const execute = vi.fn(() => 'purged');
    const runner = client.chat.completions.runTools(
      { ...params, tools: [tool({ name: 'purge', execute })] },
      { maxChatCompletions: 1 },
    );
    expect(await runner.finalFunctionToolCallResult()).toContain('cut off');
    expect(execute).not.toHaveBeenCalled();
  });

  test('an unfinished tool call of a whole response in place of events whose finish reason is null is not run', async () => {
    const answer = json(completionWith(null, toolCall('c0', '')));
    for (const name of ['the helper', 'a whole answer in place of events']) {
      const { client } = scripted([answer]);
      const stream = await client.chat.completions.create({ ...params, stream: true });
      await collect(stream);
      const completion =
        name === 'the helper'
          ? await scripted([answer]).client.chat.completions.stream(params).finalChatCompletion()
          : stream.partial;

      expect(read(completion)).toEqual([['', true]]);
      expect(completion?.choices[0]?.finish_reason).toBeNull();
    }

    const execute = vi.fn(() => 'purged');
    const runner = scripted([answer]).client.chat.completions.runTools(
      { ...params, tools: [tool({ name: 'purge', execute })], stream: true },
      { maxChatCompletions: 1 },
    );
    expect(await runner.finalFunctionToolCallResult()).toContain('cut off');
    expect(execute).not.toHaveBeenCalled();
  });

  test('an unfinished call of a custom tool is marked too', async () => {
    const custom = { id: 'c0', type: 'custom', custom: { name: 'shell', input: 'rm -rf /tm' } };
    const { client } = scripted([
      json(completionWith('length', custom)),
      eventStream(chunk({ tool_calls: [{ index: 0, ...custom }] }), chunk({}, 'length')),
    ]);

    expect(read(await client.chat.completions.create(params))).toEqual([['rm -rf /tm', true]]);
    expect(read(await client.chat.completions.stream(params).finalChatCompletion())).toEqual([
      ['rm -rf /tm', true],
    ]);
  });

  test('an unfinished call of the legacy format keeps the received arguments', async () => {
    const called = chunk({ function_call: { name: 'purge', arguments: '' } });
    const { client } = scripted([
      eventStream(called, chunk({}, 'length')),
      eventStream(called, chunk({}, 'function_call')),
    ]);
    const final = async () => {
      const { choices } = await client.chat.completions.stream(params).finalChatCompletion();
      return choices[0]?.message.function_call?.arguments;
    };

    expect(await final()).toBe('');
    expect(await final()).toBe('{}');
  });

  test('an unfinished tool call is complete if the response continues and finishes it', async () => {
    const { client } = scripted([
      eventStream(
        callChunk('{"a":'),
        chunk({}, 'length'),
        chunk({ tool_calls: [{ index: 0, function: { arguments: '1}' } }] }),
        chunk({}, 'tool_calls'),
      ),
    ]);

    const stream = await client.chat.completions.create({ ...params, stream: true });
    await collect(stream);

    expect(read(stream.partial)).toEqual([['{"a":1}']]);
  });

  test('an unfinished tool call emits no done event', async () => {
    const { client } = scripted([
      eventStream(callChunk('{}', ''), chunk({}, 'length'), '[DONE]'),
      eventStream(callChunk('{}', ''), chunk({}, 'tool_calls'), '[DONE]'),
    ]);
    const seen: number[] = [];
    const stream = () =>
      client.chat.completions
        .stream(params)
        .on('tool_calls.function.arguments.done', ({ index }) => seen.push(index));

    await stream().done();
    expect(seen.splice(0)).toEqual([0]);
    await stream().done();
    expect(seen).toEqual([0, 1]);
  });

  test('an unfinished tool call is not run by runTools()', async () => {
    const execute = vi.fn();
    const tools = [tool({ name: 'purge', execute })];
    const { client } = scripted([
      json(completionWith('length', toolCall('c0', ''))),
      eventStream(callChunk(''), chunk({}, 'length'), '[DONE]'),
    ]);

    const runs = [
      () => client.chat.completions.runTools({ ...params, tools }).done(),
      () => client.chat.completions.runTools({ ...params, tools, stream: true }).done(),
    ];
    for (const run of runs) {
      await expect(run()).rejects.toMatchObject({ name: 'LengthFinishReasonError' });
    }
    expect(execute).not.toHaveBeenCalled();
  });

  test('an unfinished tool call is sent back without its mark', async () => {
    const { client, requests } = scripted([json(completionWith('length', toolCall('c0', '')))]);
    const { choices } = await client.chat.completions.create(params);
    const [choice] = choices;
    if (choice === undefined) expect.unreachable();

    await client.chat.completions.create({
      ...params,
      messages: [...params.messages, choice.message],
    });

    const sent = Object(await bodyOf(requests[1]));
    expect(sent.messages[1].tool_calls).toEqual([toolCall('c0', '{}')]);
  });
});

/** Tool calls as a model that speaks sends them: no finish reason, usage, and the terminator. */
const spoken = [
  chunk({ role: 'assistant', content: null }),
  callChunk(''),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '"Rome"}' } }] }),
];

describe('tool calls without a finish reason', () => {
  test('tool calls without a finish reason are complete with whole arguments and a terminator', async () => {
    const { client } = scripted([eventStream(...spoken, usageChunk, '[DONE]')]);

    const loop = await readStream(
      await client.chat.completions.create({ ...params, stream: true }),
    );
    const helped = await client.chat.completions.stream(params).finalChatCompletion();
    const whole = await client.chat.completions.create(params);

    expect(loop).toMatchObject({ verdict: 'complete', error: undefined });
    for (const completion of [loop.partial, helped, whole]) {
      expect(read(completion)).toEqual([['{"city":"Rome"}']]);
      expect(completion?.usage).toEqual(usageChunk.usage);
    }
  });

  test('tool calls without a finish reason are run by runTools()', async () => {
    const execute = vi.fn(() => 'sunny');
    const tools = [tool({ name: 'purge', execute })];
    const { client, requests } = scripted([
      eventStream(...spoken, usageChunk, '[DONE]'),
      eventStream(chunk({ content: 'Sunny.' }, 'stop'), '[DONE]'),
    ]);

    const runner = client.chat.completions.runTools({ ...params, tools, stream: true });

    expect(await runner.finalContent()).toBe('Sunny.');
    expect(execute).toHaveBeenCalledOnce();
    expect(requests).toHaveLength(2);
  });

  const end = [usageChunk, '[DONE]'];
  test.each<[name: string, events: readonly (object | string)[]]>([
    ['no terminator', [...spoken, usageChunk]],
    ['arguments that are cut', [...spoken.slice(0, -1), ...end]],
    ['no arguments', [...spoken.slice(0, 2), ...end]],
    ['one of two calls cut', [callChunk('{"a":1}', '{"b"'), ...end]],
    ['arguments that are not an object', [callChunk('4'), ...end]],
    ['text alone', [chunk({ content: 'Hi' }), ...end]],
    [
      'another choice that is cut',
      [...spoken, { ...chunk({}), choices: [{ index: 1, delta: { content: 'a' } }] }, ...end],
    ],
    ['an error as the reason', [...spoken, chunk({}, 'error'), ...end]],
    [
      'a custom tool',
      [chunk({ tool_calls: [{ index: 0, id: 'c', custom: { name: 'f', input: '{}' } }] }), ...end],
    ],
  ])('tool calls without a finish reason are not complete with %s', async (_, events) => {
    const { error, verdict } = await readStream(openChat(encode(...events)));

    expect(error).toBeInstanceOf(StreamTruncatedError);
    expect(verdict).not.toBe('complete');
  });

  test("tool calls without a finish reason are not complete after the remains of a provider's error", async () => {
    const hollow = { id: '', object: '', created: 0, model: '', choices: null, usage: null };

    const { error } = await readStream(openChat(encode(...spoken, hollow, '[DONE]')));

    expect(String(error)).toContain('forwarded an error of the provider');
  });

  test('truncated at any byte, are complete only with the terminator', async () => {
    const anyArguments = fc.constantFrom(
      '{}',
      '{"a":1}',
      '{"text":"} \\" {"}',
      '{"deep":{"list":[1]}}',
    );

    await fc.assert(
      fc.asyncProperty(fc.array(anyArguments, { minLength: 1, maxLength: 3 }), async (texts) => {
        const pieces = texts.flatMap((text, index) => [
          chunk({ tool_calls: [{ index, ...toolCall(`c${index}`, text.slice(0, 2)) }] }),
          chunk({ tool_calls: [{ index, function: { arguments: text.slice(2) } }] }),
        ]);
        const bytes = new TextEncoder().encode(encode(...pieces, ...end));
        for (let length = 0; length <= bytes.length; length += 1) {
          const stream = openChat(respond([bytes.slice(0, length)]));
          const { verdict } = await readStream(stream);

          // The terminator is read without the blank line behind it.
          const isWhole = length >= bytes.length - '\n\n'.length;
          expect(verdict === 'complete', `cut at ${length}`).toBe(isWhole);
        }
      }),
      { numRuns: 6 },
    );
  });
});
