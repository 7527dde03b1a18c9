import { zodFunction as theirFunction, zodResponseFormat as theirFormat } from 'openai/helpers/zod';
import * as z from 'zod';
import { describe, expect, test } from 'vitest';
import { zodResponseFormat } from '../../../src/adapters/helpers/zod.ts';
import {
  type ChatCompletionMessageParam,
  ContentFilterFinishReasonError,
  GatewayError,
  InvalidOutputError,
  LengthFinishReasonError,
  type OutputError,
  responseFormat,
  tool,
} from '../../../src/index.ts';
import { bodyOf, emulated, eventStream, failureOf, json, scripted } from '../../helpers/clients.ts';
import { schemaOf } from '../../helpers/schemas.ts';
import { chunk, usageChunk } from '../../helpers/sse.ts';

const Place = z.object({ city: z.string(), days: z.int() });
const response_format = responseFormat(Place, 'place');
const ask = { model: 'm', messages: [{ role: 'user', content: 'Where?' }] } satisfies {
  model: string;
  messages: ChatCompletionMessageParam[];
};

/** A completion with one message. */
function completion(message: object, finish: string | null = 'stop') {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }],
    usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
  };
}

function calling(name: string, text: string) {
  return {
    content: null,
    tool_calls: [{ id: 'call_1', type: 'function', function: { name, arguments: text } }],
  };
}

/** The error that parsing fails with; nothing of the answer may be lost on it. */
async function outputError(answer: object, params: object = {}): Promise<OutputError> {
  const { client, requests } = scripted([json(answer)]);
  const error = await failureOf(
    client.chat.completions.parse({ ...ask, response_format, ...params }),
  );
  expect(error).toMatchObject({ completion: answer });
  expect(requests).toHaveLength(1);
  if (InvalidOutputError.isInstance(error)) return error;
  if (LengthFinishReasonError.isInstance(error)) return error;
  if (ContentFilterFinishReasonError.isInstance(error)) return error;
  throw new Error('This is another error.', { cause: error });
}

describe('chat.completions.parse()', () => {
  test('returns the parsed and validated text', async () => {
    const { client } = emulated();

    const parsed = await client.chat.completions.parse({
      ...ask,
      messages: [{ role: 'user', content: 'Seven days in "Rome": 7' }],
      response_format,
    });

    const message = parsed.choices[0]?.message;
    expect(message?.parsed).toEqual({ city: 'Rome', days: 7 });
    expect(message?.parsed?.city.toUpperCase()).toBe('ROME');
    expect(parsed.usage?.total_tokens).toBeGreaterThan(0);
    expect(parsed._request_id).toEqual(expect.any(String));
  });

  test('sends the schema without the parser', async () => {
    const { client, requests } = scripted([json(completion({ content: '{"city":"a","days":1}' }))]);

    await client.chat.completions.parse({ ...ask, response_format });

    await expect(bodyOf(requests[0])).resolves.toEqual({
      ...ask,
      response_format: { type: 'json_schema', json_schema: response_format.json_schema },
    });
  });

  test('returns the response and the request id too', async () => {
    const { client } = scripted([json(completion({ content: '{"city":"a","days":1}' }))]);

    const promise = client.chat.completions.parse({ ...ask, response_format });
    const { data, response } = await promise.withResponse();

    expect(data.choices[0]?.message.parsed).toEqual({ city: 'a', days: 1 });
    expect(response.status).toBe(200);
    expect((await promise.asResponse()).status).toBe(200);
  });

  test('awaits an asynchronous validator, and returns its output', async () => {
    const pause = new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
    const { schema, seen } = schemaOf(() => ({ value: 'made' }), { jsonSchema: {}, pause });
    const { client } = scripted([json(completion({ content: '{"a":1}' }))]);

    const parsed = await client.chat.completions.parse({
      ...ask,
      response_format: responseFormat(schema),
    });

    expect(parsed.choices[0]?.message.parsed).toBe('made');
    expect(seen).toEqual([{ a: 1 }]);
  });

  test.each(['tolerant', 'strict', 'off'] as const)(
    'accepts an object in place of JSON text (validation: %s)',
    async (validation) => {
      const { client } = scripted([json(completion({ content: { city: 'a', days: 1 } }))], {
        validation,
      });

      const parsed = await client.chat.completions.parse({ ...ask, response_format });

      expect(parsed.choices[0]?.message).toMatchObject({
        content: '{"city":"a","days":1}',
        parsed: { city: 'a', days: 1 },
      });
    },
  );

  test('validates content that is an object', async () => {
    const { client } = scripted([json(completion({ content: { city: 7 } }))]);

    const error = await failureOf(client.chat.completions.parse({ ...ask, response_format }));

    expect(InvalidOutputError.isInstance(error)).toBe(true);
    expect(error).toHaveProperty('issues', [
      expect.objectContaining({ path: 'city' }),
      expect.objectContaining({ path: 'days' }),
    ]);
    expect(error).toHaveProperty('completion.choices.0.message.content', '{"city":7}');
  });

  test('accepts a streamed object in place of JSON text', async () => {
    const { client } = scripted([
      eventStream(chunk({ content: { city: 'a', days: 1 } }), chunk({}, 'stop'), '[DONE]'),
    ]);

    const final = await client.chat.completions
      .stream({ ...ask, response_format })
      .finalChatCompletion();

    expect(final.choices[0]?.message.parsed).toEqual({ city: 'a', days: 1 });
  });

  test('parses every choice', async () => {
    const { client } = scripted([
      json({
        ...completion({}),
        choices: ['{"city":"a","days":1}', '{"city":"b","days":2}'].map((content, index) => ({
          index,
          message: { role: 'assistant', content },
          finish_reason: 'stop',
        })),
      }),
    ]);

    const { choices } = await client.chat.completions.parse({ ...ask, n: 2, response_format });

    expect(choices.map(({ message }) => message.parsed?.days)).toEqual([1, 2]);
  });

  test('parses a plain format without validation', async () => {
    const { client } = scripted([json(completion({ content: '{"anything":1}' }))]);
    const schema = { type: 'object', required: ['city'] };

    const parsed = await client.chat.completions.parse({
      ...ask,
      response_format: { type: 'json_schema', json_schema: { name: 'place', schema } },
    });

    expect(parsed.choices[0]?.message.parsed).toEqual({ anything: 1 });
  });

  test('returns null if there is nothing to parse', async () => {
    const refusal = { content: null, refusal: 'No.' };
    const noFormat = scripted([json(completion({ content: 'Hello' }))]).client;
    const refused = scripted([json(completion(refusal))]).client;
    const empty = scripted([json({ ...completion({}), choices: [] })]).client;

    const plain = await noFormat.chat.completions.parse(ask);
    const declined = await refused.chat.completions.parse({ ...ask, response_format });
    const { choices } = await empty.chat.completions.parse({ ...ask, response_format });

    expect(plain.choices[0]?.message).toMatchObject({ content: 'Hello', parsed: null });
    expect(declined.choices[0]?.message).toMatchObject({ ...refusal, parsed: null });
    expect(choices).toEqual([]);
  });

  test.each([{ content: null }, { content: '' }, {}, { reasoning_content: 'Hm.' }])(
    'throws for %j, in every method that parses',
    async (message) => {
      const delta = { ...completion({}), object: 'chat.completion.chunk' };
      const events = (finish: string | null, piece: object) => ({
        ...delta,
        choices: [{ index: 0, delta: piece, finish_reason: finish }],
      });
      const whole = json(completion(message));
      const stream = eventStream(events(null, message), events('stop', {}), '[DONE]');
      const { client } = scripted([whole, whole, stream, stream]);
      const { completions } = client.chat;
      const asked = { ...ask, response_format };

      const errors = [
        await failureOf(completions.parse(asked)),
        await failureOf(completions.runTools({ ...asked, tools: [] }).done()),
        await failureOf(completions.runTools({ ...asked, tools: [], stream: true }).done()),
        await failureOf(completions.stream(asked).done()),
      ];

      for (const error of errors) {
        expect(error).toBeInstanceOf(InvalidOutputError);
        expect(error).toMatchObject({
          message: expect.stringContaining('The answer cannot be parsed: it is not valid JSON.'),
          completion: { choices: [{ finish_reason: 'stop' }] },
        });
      }
    },
  );

  test('returns parsed arguments of tool calls', async () => {
    const { client } = scripted([json(completion(calling('find', '{"city":"a","days":1}')))]);

    const parsed = await client.chat.completions.parse({
      ...ask,
      tools: [
        tool({ name: 'find', schema: Place }),
        { type: 'function', function: { name: 'other', strict: true } },
      ],
    });

    expect(parsed.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      function: { name: 'find', parsed_arguments: { city: 'a', days: 1 } },
    });
  });

  test('parses arguments of strict tools only', async () => {
    const tools = [
      { type: 'function' as const, function: { name: 'strict', strict: true } },
      { type: 'function' as const, function: { name: 'loose' } },
    ];
    const first = scripted([json(completion(calling('strict', '{"a":1}')))]).client;
    const second = scripted([json(completion(calling('loose', 'not JSON')))]).client;

    const strict = await first.chat.completions.parse({ ...ask, tools });
    const loose = await second.chat.completions.parse({ ...ask, tools });

    expect(strict.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      function: { parsed_arguments: { a: 1 } },
    });
    expect(loose.choices[0]?.message.tool_calls?.[0]).not.toHaveProperty(
      'function.parsed_arguments',
    );
  });

  test('does not parse text next to tool calls', async () => {
    const message = { ...calling('find', '{}'), content: 'Let me look.' };
    const { client } = scripted([json(completion(message))]);

    const parsed = await client.chat.completions.parse({ ...ask, response_format });

    expect(parsed.choices[0]?.message.parsed).toBeNull();
  });

  test('finds JSON after thoughts and in a code fence', async () => {
    const content = '<think>Hm</think>\n```json\n{"city":"a","days":1}\n```';
    const { client } = scripted([json(completion({ content }))]);

    const parsed = await client.chat.completions.parse({ ...ask, response_format });

    expect(parsed.choices[0]?.message).toMatchObject({ content, parsed: { city: 'a', days: 1 } });
  });

  test('parses a response that arrives as an event stream', async () => {
    const { client } = scripted([
      eventStream(chunk({ content: '{"city":"a",' }), chunk({ content: '"days":1}' }, 'stop')),
    ]);

    const parsed = await client.chat.completions.parse({ ...ask, response_format });

    expect(parsed.choices[0]?.message.parsed).toEqual({ city: 'a', days: 1 });
  });

  test('accepts the helpers of the openai package', async () => {
    const { client } = scripted([
      json(completion({ content: '{"city":"a","days":1}' })),
      json(completion(calling('find', '{"city":"a","days":1}'))),
    ]);

    const text = await client.chat.completions.parse({
      ...ask,
      response_format: theirFormat(Place, 'place'),
    });
    const call = await client.chat.completions.parse({
      ...ask,
      tools: [theirFunction({ name: 'find', parameters: Place })],
    });

    expect(text.choices[0]?.message.parsed?.days).toBe(1);
    expect(call.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      function: { parsed_arguments: { city: 'a' } },
    });
  });

  test('returns messages that can be sent back', async () => {
    const { client, requests } = scripted([
      json(
        completion({
          ...calling('find', '{"city":"a","days":1}'),
          annotations: [],
          audio: { id: 'audio_1', data: 'AA==', expires_at: 1, transcript: 'Hm' },
        }),
      ),
      json(completion({ content: 'Done' })),
    ]);
    const first = await client.chat.completions.parse({
      ...ask,
      tools: [tool({ name: 'find', schema: Place })],
    });
    const message = first.choices[0]?.message;
    if (message === undefined) throw new Error('Missing message');

    await client.chat.completions.create({ ...ask, messages: [...ask.messages, message] });

    await expect(bodyOf(requests[1])).resolves.toMatchObject({
      messages: [
        ask.messages[0],
        {
          ...calling('find', '{"city":"a","days":1}'),
          role: 'assistant',
          audio: { id: 'audio_1' },
        },
      ],
    });
    const sent = JSON.stringify(await bodyOf(requests[1]));
    expect(sent).not.toMatch(/parsed|refusal|annotations|AA==/);
  });
});

describe('a response that cannot be parsed', () => {
  test('a response that cannot be parsed is an error with the completion, the path and a note on the charge', async () => {
    const error = await outputError(completion({ content: '{"city":"a","days":"many"}' }));

    expect(error).toMatchObject({
      name: 'InvalidOutputError',
      outcome: 'unknown',
      issues: [{ path: 'days' }],
      completion: { usage: { total_tokens: 12 } },
    });
    expect(error.message).toMatch(/^The answer cannot be parsed: days: .*was paid for/);
    expect(GatewayError.isInstance(error)).toBe(true);
  });

  test.each(['', 'Sure!', '{"city":"a"'])('invalid JSON is rejected: %j', async (content) => {
    const error = await outputError(completion({ content }));

    expect(error).toBeInstanceOf(InvalidOutputError);
    expect(error.message).toContain('it is not valid JSON');
  });

  test('a response that cannot be parsed is an error if arguments do not match', async () => {
    const error = await outputError(completion(calling('find', '{"city":1,"days":1}')), {
      tools: [tool({ name: 'find', schema: Place })],
    });

    expect(error.message).toMatch(/^The arguments of "find" cannot be parsed: city: /);
  });

  test('a response that cannot be parsed is an error if it was cut or filtered, with or without a format', async () => {
    const { client } = emulated();
    const cut = completion({ content: '{"city":"a"' }, 'length');
    const filtered = completion({ content: '' }, 'content_filter');

    await expect(outputError(cut)).resolves.toBeInstanceOf(LengthFinishReasonError);
    await expect(outputError(filtered)).resolves.toBeInstanceOf(ContentFilterFinishReasonError);
    await expect(client.chat.completions.parse({ ...ask, max_tokens: 2 })).rejects.toBeInstanceOf(
      LengthFinishReasonError,
    );
    await expect(
      client.chat.completions.parse({
        ...ask,
        messages: [{ role: 'user', content: '[filter]' }],
        response_format,
      }),
    ).rejects.toBeInstanceOf(ContentFilterFinishReasonError);
  });

  test('a response that cannot be parsed is an error when a validator throws', async () => {
    const boom = new Error('boom');
    const { schema } = schemaOf(
      () => {
        throw boom;
      },
      { jsonSchema: {} },
    );

    const error = await outputError(completion({ content: '1' }), {
      response_format: responseFormat(schema),
    });

    expect(error).toMatchObject({ cause: boom, issues: [] });
  });
});

/** Streams a text in pieces of three characters. */
function streamed(text: string, finish = 'stop') {
  const pieces = text.match(/[\s\S]{1,3}/g) ?? [];
  const chunks = pieces.map((content) => chunk({ content }));
  return eventStream(...chunks, chunk({}, finish), usageChunk, '[DONE]');
}

describe('chat.completions.stream() with a format', () => {
  test('yields partial objects, then the validated one', async () => {
    const { client } = scripted([streamed('{"city":"Rome","days":7}')]);
    const partial: unknown[] = [];
    const done: unknown[] = [];

    const stream = client.chat.completions
      .stream({ ...ask, response_format })
      .on('content.delta', ({ parsed }) => partial.push(parsed))
      .on('content.done', ({ parsed }) => done.push(parsed?.days));
    const message = await stream.finalMessage();

    expect(partial).toEqual([
      {},
      {},
      { city: '' },
      { city: 'Rom' },
      { city: 'Rome' },
      { city: 'Rome' },
      { city: 'Rome' },
      { city: 'Rome', days: 7 },
    ]);
    expect(done).toEqual([7]);
    expect(message.parsed).toEqual({ city: 'Rome', days: 7 });
  });

  test('adds parsed text to its snapshots', async () => {
    const { client } = scripted([streamed('{"city":"Rome","days":7}')]);
    const seen: unknown[] = [];
    const now: unknown[] = [];

    const stream = client.chat.completions.stream({ ...ask, response_format });
    stream.on('chunk', (_, { choices }) => seen.push(choices[0]?.message.parsed));
    stream.on('content', () => {
      now.push(stream.currentChatCompletionSnapshot?.choices[0]?.message.parsed);
    });
    await stream.done();

    expect(seen).toContainEqual({ city: 'Rom' });
    expect(seen).toContainEqual({ city: 'Rome', days: 7 });
    expect(seen).toEqual(expect.arrayContaining(now));
  });

  test('adds parsed arguments to its snapshots, and removes them if they do not match', async () => {
    const pieces = ['{"city"', ':"Rom', 'e","days":"x"}'];
    const find = tool({ name: 'find', schema: Place });
    const chunks = pieces.map((text, at) => ({
      choices: [
        {
          index: 0,
          delta: {
            tool_calls: [
              {
                index: 0,
                id: 'c1',
                function: { name: at === 0 ? 'find' : undefined, arguments: text },
              },
            ],
          },
          finish_reason: null,
        },
      ],
    }));
    const stop = { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] };
    const { client } = scripted([eventStream(...chunks, stop, '[DONE]')]);
    const seen: unknown[] = [];

    const stream = client.chat.completions
      .stream({ ...ask, tools: [find] })
      .on('chunk', (_, { choices }) => {
        const [call] = choices[0]?.message.tool_calls ?? [];
        if (call?.type === 'function') seen.push(structuredClone(call.function.parsed_arguments));
      });
    const error = await failureOf(stream.done());

    expect(seen.slice(0, 3)).toEqual([{}, { city: 'Rom' }, { city: 'Rome', days: 'x' }]);
    if (!(error instanceof InvalidOutputError)) expect.unreachable();
    expect(JSON.stringify(error.completion)).not.toContain('parsed_arguments');
  });

  test('runs an asynchronous validator once, before the end event', async () => {
    const pause = new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
    const { schema, seen } = schemaOf(() => ({ value: 'made' }), { jsonSchema: {}, pause });
    const { client } = scripted([streamed('[1]')]);
    const told: unknown[] = [];

    const stream = client.chat.completions
      .stream({ ...ask, response_format: responseFormat(schema) })
      .on('content.done', ({ parsed }) => told.push(parsed))
      .on('chatCompletion', () => told.push('whole'));
    const final = await stream.finalChatCompletion();

    expect(told).toEqual(['made', 'whole']);
    expect(final.choices[0]?.message.parsed).toBe('made');
    expect(seen).toHaveLength(1);
  });

  test.each([
    { text: '[1,2', finish: 'stop', kind: InvalidOutputError },
    { text: '{"city":"a","days":"x"}', finish: 'stop', kind: InvalidOutputError },
    { text: '{"city":"a",', finish: 'length', kind: LengthFinishReasonError },
    { text: '', finish: 'content_filter', kind: ContentFilterFinishReasonError },
  ])('fails with the whole completion for $text, $finish', async ({ text, finish, kind }) => {
    const { client } = scripted([streamed(text, finish)]);
    const done: unknown[] = [];

    const stream = client.chat.completions
      .stream({ ...ask, response_format })
      .on('content.done', ({ parsed }) => done.push(parsed));
    const error = await failureOf(stream.finalChatCompletion());

    expect(error).toBeInstanceOf(kind);
    expect(error).toMatchObject({ completion: { usage: usageChunk.usage } });
    expect(done).toEqual(finish === 'stop' ? [null] : []);
    expect(stream.verdict).toBe('complete');
  });

  test('chat.completions.stream() without a format parses nothing and accepts any finish reason', async () => {
    const { client } = scripted([streamed('{"city"', 'length')]);
    const partial: unknown[] = [];

    const stream = client.chat.completions
      .stream(ask)
      .on('content.delta', ({ parsed }) => partial.push(parsed));

    await expect(stream.finalMessage()).resolves.toMatchObject({ parsed: null });
    expect(new Set(partial)).toEqual(new Set([null]));
  });

  test('yields partial and validated arguments of tool calls', async () => {
    const pieces = ['{"ci', 'ty":"Ro', 'me","days":7}'];
    const { client } = scripted([
      eventStream(
        chunk({ tool_calls: [{ index: 0, id: 'c', function: { name: 'find', arguments: '' } }] }),
        ...pieces.map((text) =>
          chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] }),
        ),
        chunk({}, 'tool_calls'),
      ),
    ]);
    const partial: unknown[] = [];
    const done: unknown[] = [];

    const stream = client.chat.completions
      .stream({ ...ask, tools: [tool({ name: 'find', schema: Place })] })
      .on('tool_calls.function.arguments.delta', ({ parsed_arguments }) =>
        partial.push(parsed_arguments),
      )
      .on('tool_calls.function.arguments.done', ({ parsed_arguments }) =>
        done.push(parsed_arguments),
      );
    const final = await stream.finalChatCompletion();

    expect(partial).toEqual([null, {}, { city: 'Ro' }, { city: 'Rome', days: 7 }]);
    expect(done).toEqual([{ city: 'Rome', days: 7 }]);
    expect(final.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      function: { parsed_arguments: { city: 'Rome', days: 7 } },
    });
  });

  test("accepts the openai package's helper", async () => {
    const { client } = emulated();

    const stream = client.chat.completions.stream({
      ...ask,
      response_format: zodResponseFormat(Place, 'place'),
    });

    await expect(stream.finalChatCompletion()).resolves.toMatchObject({
      choices: [{ message: { parsed: { city: expect.any(String), days: expect.any(Number) } } }],
    });
  });
});
