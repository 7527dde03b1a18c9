// Gateways report failures as finish reasons, repeat the whole message, and send keep-alives as data.
import { generateText, streamText } from 'ai';
import { describe, expect, test, vi } from 'vitest';
import { createModelGateway } from '../../../src/adapters/ai-sdk/index.ts';
import {
  type ChatCompletion,
  type Gateway,
  StreamTruncatedError,
  tool,
  UnexpectedResponseError,
} from '../../../src/index.ts';
import type { Quirks } from '../../../src/testing/index.ts';
import { collect, emulated, eventStream, failureOf, scripted } from '../../helpers/clients.ts';
import { chunk, usage, usageChunk } from '../../helpers/sse.ts';

globalThis.AI_SDK_LOG_WARNINGS = false;

const params = { model: 'm-large', messages: [{ role: 'user' as const, content: 'Hi' }] };
const answered = 'You said: "Hi" This is the answer of m-large.';
const look = tool({ name: 'look', execute: () => 'seen' });

/** The text and the reasoning of an answer. */
type Read = (client: Gateway) => Promise<readonly [text: unknown, reasoning?: unknown]>;

const shown = ({ choices }: ChatCompletion) => {
  const message = choices[0]?.message;
  return [message?.content, message?.reasoning_content ?? ''] as const;
};

async function streamParts(client: Gateway): Promise<readonly [text: string, reasoning: string]> {
  let failure: unknown;
  const model = createModelGateway({ client })(params.model);
  const result = streamText({
    model,
    prompt: 'Hi',
    maxRetries: 0,
    onError: ({ error }) => void (failure = error),
  });
  await result.consumeStream();
  if (failure !== undefined) throw failure;
  return [await result.text, (await result.reasoningText) ?? ''];
}

const readers: Readonly<Record<string, Read>> = {
  'a loop': async (client) => {
    const stream = await client.chat.completions.create({ ...params, stream: true });
    const chunks = await collect(stream);
    const deltas = chunks.map(({ choices }) => choices[0]?.delta);
    const text = deltas.map((delta) => delta?.content ?? '').join('');
    const partial = stream.partial === undefined ? [] : shown(stream.partial);
    expect(partial[0]).toBe(text);
    return [text, deltas.map((delta) => delta?.reasoning_content ?? '').join('')];
  },
  'the helper': async (client) =>
    shown(await client.chat.completions.stream(params).finalChatCompletion()),
  'streamed runTools()': async (client) =>
    shown(
      await client.chat.completions
        .runTools({ ...params, tools: [look], tool_choice: 'none', stream: true })
        .finalChatCompletion(),
    ),
  'the AI SDK': streamParts,
};

const wholeReaders: Readonly<Record<string, Read>> = {
  'a whole answer': async (client) => shown(await client.chat.completions.create(params)),
  'runTools()': async (client) =>
    shown(
      await client.chat.completions
        .runTools({ ...params, tools: [look], tool_choice: 'none' })
        .finalChatCompletion(),
    ),
  'generateText()': async (client) => {
    const model = createModelGateway({ client })(params.model);
    return [(await generateText({ model, prompt: 'Hi', maxRetries: 0 })).text];
  },
};

const failures = [
  'error',
  'insufficient_system_resource',
  'network_error',
  'network-error',
  'abort',
  'aborted',
  'MALFORMED_FUNCTION_CALL',
  'function_call_filter: malformed_function_call',
];
const unknownWords = ['eos', 'model_length', 'sensitive', 'aborting', 'no_error'];

describe.each(Object.entries(readers))('the finish reason of a stream read by %s', (_, read) => {
  test.each(failures)('%s is an error with the response so far', async (chatFinishReason) => {
    const { client } = emulated({}, { quirks: { chatFinishReason } });

    const error = await failureOf(read(client));

    const cause = error instanceof StreamTruncatedError ? error : Object(error).cause;
    expect(cause).toBeInstanceOf(StreamTruncatedError);
    expect(cause).toMatchObject({
      message: expect.stringContaining(chatFinishReason),
      partial: { choices: [{ message: { content: answered } }] },
    });
  });

  test.each(unknownWords)('%s is complete', async (chatFinishReason) => {
    const { client } = emulated({}, { quirks: { chatFinishReason } });

    expect((await read(client))[0]).toBe(answered);
  });
});

describe.each(Object.entries(wholeReaders))(
  'the finish reason of an answer read by %s',
  (_, read) => {
    test.each(failures)('%s is an error with the body', async (chatFinishReason) => {
      const { client, emulator } = emulated({}, { quirks: { chatFinishReason } });

      const error = await failureOf(read(client));

      const cause = error instanceof UnexpectedResponseError ? error : Object(error).cause;
      expect(cause).toBeInstanceOf(UnexpectedResponseError);
      expect(JSON.stringify(Object(cause).body)).toContain('This is the answer');
      expect(emulator.charges).toHaveLength(1);
    });

    test.each(unknownWords)('%s is complete', async (chatFinishReason) => {
      const { client } = emulated({}, { quirks: { chatFinishReason } });

      expect((await read(client))[0]).toBe(answered);
    });
  },
);

describe('null as finish reason of the emulator', () => {
  const quirks = { chatFinishReason: null };

  test.each(Object.entries(wholeReaders))(
    'an answer whose finish reason is null is read by %s',
    async (_, read) => {
      const { client, emulator } = emulated({}, { quirks });

      expect((await read(client))[0]).toBe(answered);
      expect(emulator.charges).toHaveLength(1);
    },
  );

  test.each([true, false])('a finish reason stays null in place of events: %s', async (stream) => {
    const { client } = emulated({}, { quirks: { ...quirks, chatMode: 'always-json' } });

    const { choices } = stream
      ? await client.chat.completions.stream(params).finalChatCompletion()
      : await client.chat.completions.create(params);

    expect(choices).toMatchObject([{ finish_reason: null, message: { content: answered } }]);
  });

  test.each(Object.entries(readers))(
    'a stream keeps its own finish reason: %s',
    async (_, read) => {
      const { client } = emulated({}, { quirks });

      expect((await read(client))[0]).toBe(answered);
    },
  );
});

test('runTools() neither runs tools nor pays again after such a reason', async () => {
  const { client, emulator } = emulated({}, { quirks: { chatFinishReason: 'network_error' } });
  const execute = vi.fn(() => 'seen');
  const tools = [tool({ name: 'look', execute })];

  for (const stream of [true, false]) {
    const request = { ...params, tools };
    const runner = stream
      ? client.chat.completions.runTools({ ...request, stream })
      : client.chat.completions.runTools(request);
    await failureOf(runner.done());
  }

  expect(execute).not.toHaveBeenCalled();
  expect(emulator.charges).toHaveLength(2);
});

/** A chunk with a message in place of a delta. */
const piece = (content: string, finish: string | null = null) => ({
  ...chunk({}),
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: finish }],
});

const message = { role: 'assistant', content: 'Hello', reasoning_content: 'Hm.' };
const atEnd = { ...chunk({}), object: 'chat.completion', usage };

describe.each(Object.entries(readers))('a message after its deltas, read by %s', (_, read) => {
  test('a message after its deltas is used once', async () => {
    const { client } = scripted([
      eventStream(
        chunk({ reasoning_content: 'Hm.' }),
        chunk({ content: 'Hel' }),
        chunk({ content: 'lo' }, 'stop'),
        { ...atEnd, choices: [{ index: 0, message, finish_reason: 'stop' }] },
        '[DONE]',
      ),
    ]);

    expect(await read(client)).toEqual(['Hello', 'Hm.']);
  });

  test('a message that the emulator sends after its deltas is used once', async () => {
    const { client } = emulated({}, { quirks: { chatMessageAtEnd: true } });

    expect((await read(client))[0]).toBe(answered);
  });

  test('brings the finish reason', async () => {
    const { client } = scripted([
      eventStream(chunk({ content: 'Hello' }), {
        ...atEnd,
        choices: [{ index: 0, message, finish_reason: 'stop' }],
      }),
    ]);

    expect((await read(client))[0]).toBe('Hello');
  });

  test('a message is the answer if nothing was streamed', async () => {
    for (const delta of [undefined, {}, { role: 'assistant', content: '' }]) {
      const choices = [{ index: 0, delta, message, finish_reason: 'stop' }];
      const { client } = scripted([
        eventStream(chunk({ role: 'assistant' }), { ...atEnd, choices }, '[DONE]'),
      ]);

      expect(await read(client)).toEqual(['Hello', 'Hm.']);
    }
  });

  test('a message is used once if it is sent again after the finish reason', async () => {
    const last = { ...atEnd, choices: [{ index: 0, message, finish_reason: 'stop' }] };
    const { client } = scripted([eventStream(last, last, '[DONE]')]);

    expect(await read(client)).toEqual(['Hello', 'Hm.']);
  });

  test('a message is a piece if all pieces are messages', async () => {
    const { client } = scripted([eventStream(piece('Hel'), piece('lo', 'stop'), '[DONE]')]);

    expect((await read(client))[0]).toBe('Hello');
  });
});

test('the tool calls of a message after its deltas are used once', async () => {
  const execute = vi.fn(() => 'seen');
  const call = { id: 'x', type: 'function', function: { name: 'look', arguments: '{"a":1}' } };
  const { client, requests } = scripted([
    eventStream(
      chunk({ tool_calls: [{ index: 0, ...call }] }),
      chunk({}, 'tool_calls'),
      {
        ...atEnd,
        choices: [{ index: 0, message: { tool_calls: [call] }, finish_reason: 'tool_calls' }],
      },
      '[DONE]',
    ),
    eventStream(chunk({ content: 'Done.' }, 'stop'), '[DONE]'),
  ]);

  const tools = [tool({ name: 'look', execute })];
  await client.chat.completions.runTools({ ...params, tools, stream: true }).done();

  expect(execute.mock.calls).toHaveLength(1);
  expect(requests).toHaveLength(2);
});

const keepAlives = [
  'data: : keepalive',
  'data: : OPENROUTER PROCESSING',
  'data:  ',
  'data: ping',
  'data: "heartbeat"',
  'data: ""',
  'data: " "',
  'event: heart-beat\ndata: 12:00:01',
  'event: ping\ndata: [1]',
  'event: ping\ndata: now',
  'event: keepalive\ndata: 12:00:01',
  'event: keep-alive\ndata: {"at":1}',
  'event: heartbeat\ndata: still here',
];

describe.each(Object.entries(readers))('a keep-alive in a stream read by %s', (_, read) => {
  test.each(keepAlives)('%j is ignored', async (heartbeatText) => {
    const quirks: Partial<Quirks> = { heartbeatEvery: 1, heartbeatText };
    const { client } = emulated({}, { quirks });

    expect((await read(client))[0]).toBe(answered);
  });
});

describe.each(keepAlives)('the keep-alive %j', (keepAlive) => {
  const body = (...events: unknown[]) =>
    new Response(
      [...events.flatMap((event) => [keepAlive, `data: ${JSON.stringify(event)}`]), ''].join(
        '\n\n',
      ),
      { headers: { 'content-type': 'text/event-stream' } },
    );

  test('a keep-alive is ignored in a stream of Gemini, of images and of a route', async () => {
    const candidates = [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }];
    const image = { type: 'image_generation.completed', b64_json: 'aGk=' };
    const { client } = scripted([
      () => body({ candidates }),
      () => body(image),
      () => body({ type: 'response.created' }, { type: 'response.completed' }),
    ]);

    const pieces = await client.generate.contentStream({ model: 'm', contents: 'Hi' });
    expect(await collect(pieces)).toHaveLength(1);
    const images = await client.images.generate({ model: 'm', prompt: 'Hi', stream: true });
    expect(await collect(images)).toHaveLength(1);
    const events = await collect(await client.post('/v1/responses', { body: {}, stream: true }));
    expect(events.slice(-1)).toMatchObject([{ type: 'response.completed' }]);
  });
});

test('text that is no keep-alive is still an error', async () => {
  const { client } = scripted([eventStream(chunk({ content: 'Hi' }), 'upstream timeout')]);

  const stream = await client.chat.completions.create({ ...params, stream: true });

  expect(String(await failureOf(collect(stream)))).toContain('upstream timeout');
});

test('usage alone that is torn after a finish reason leaves the stream complete', async () => {
  const whole = [chunk({ content: 'Hi' }, 'stop'), usageChunk].map(
    (event) => `data: ${JSON.stringify(event)}\n\n`,
  );
  const text = whole.join('').slice(0, -20);
  const { client } = scripted([
    () => new Response(text, { headers: { 'content-type': 'text/event-stream' } }),
  ]);

  const stream = await client.chat.completions.create({ ...params, stream: true });
  await collect(stream);

  expect(stream.verdict).toBe('complete');
});

describe('a stream of Gemini that ends within an event after a finish reason', () => {
  const first = { candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }] };
  const open = (torn: string, isReset: boolean) => {
    const bytes = new TextEncoder().encode(`data: ${JSON.stringify(first)}\n\ndata: ${torn}`);
    let isSent = false;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (!isSent) controller.enqueue(bytes);
        else if (isReset) controller.error(new TypeError('terminated'));
        else controller.close();
        isSent = true;
      },
    });
    const { client } = scripted([
      () => new Response(body, { headers: { 'content-type': 'text/event-stream' } }),
    ]);
    return client.generate.contentStream({ model: 'm', contents: 'Hi' });
  };

  test.each([true, false])(
    'a stream of Gemini that ends within an event after a finish reason is truncated if the event has content, reset: %s',
    async (isReset) => {
      const torn = '{"candidates":[{"content":{"parts":[{"functionResponse":{"na';
      const stream = await open(torn, isReset);

      expect(await failureOf(collect(stream))).toBeInstanceOf(StreamTruncatedError);
      expect(stream.verdict).toBe('truncated');
    },
  );

  test.each([true, false])(
    'a stream of Gemini that ends within an event after a finish reason is complete if the event has usage, reset: %s',
    async (isReset) => {
      const stream = await open('{"usageMetadata":{"promptTokenCo', isReset);
      await collect(stream);

      expect(stream.verdict).toBe('complete');
    },
  );
});

const completion = {
  id: 'c',
  object: 'chat.completion',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage,
};

describe.each(Object.entries({ ...readers, ...wholeReaders }))('read by %s', (_, read) => {
  test.each([
    { success: true },
    { success: true, message: '' },
    { code: 0, msg: 'ok' },
    { code: 200, message: 'success' },
    { code: 'success', message: '' },
    {},
  ])('a completion as data beside %j is the answer', async (beside) => {
    const { client } = scripted([() => Response.json({ ...beside, data: completion })]);

    expect((await read(client))[0]).toBe('Hello');
  });

  test.each(['data', 'empty-data'] as const)(
    'a completion of the emulator in the envelope "%s" is the answer',
    async (chatEnvelope) => {
      const { client, emulator } = emulated({}, { quirks: { chatEnvelope } });

      expect((await read(client))[0]).toBe(answered);
      expect(emulator.charges).toHaveLength(1);
    },
  );

  test('a completion on the line after an empty data: is the answer', async () => {
    const text = `data:\n${JSON.stringify(completion)}\n\n`;
    const headers = { 'content-type': 'text/event-stream' };
    const { client } = scripted([() => new Response(text, { headers })]);

    expect((await read(client))[0]).toBe('Hello');
  });
});

describe.each([
  { success: false, message: 'No credit' },
  { code: 500, message: 'No credit' },
  { code: 'quota', message: 'No credit' },
  { error: { message: 'No credit' } },
])('a completion as data beside %j', (beside) => {
  test.each([true, false])(
    'a completion as data beside an error is an error, stream: %s',
    async (stream) => {
      const { client } = scripted([() => Response.json({ ...beside, data: completion })]);

      const error = await failureOf(client.chat.completions.create({ ...params, stream }));

      expect(String(error)).toContain('No credit');
    },
  );
});

const wrapped = (data: object) => () => Response.json({ data, success: true });
const unlabelled = (data: object) => () =>
  new Response(`data:\n${JSON.stringify(data)}\n\n`, {
    headers: { 'content-type': 'text/event-stream' },
  });

describe('an answer as data', () => {
  const generation = {
    candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }],
  };
  const response = {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hi' }] }],
  };
  test.each([
    ['in an object', wrapped],
    ['on the line after an empty data:', unlabelled],
  ])('%s is read in every format', async (_, wrap) => {
    const { client } = scripted([
      wrap(generation),
      wrap(generation),
      wrap(response),
      wrap(response),
    ]);

    const question = { model: 'm', contents: 'Hi' };
    expect((await client.generate.content(question)).text).toBe('Hi');
    const pieces = await collect(await client.generate.contentStream(question));
    expect(pieces.map(({ text }) => text)).toEqual(['Hi']);
    const input = { model: 'm', input: 'Hi' };
    expect((await client.responses.create(input)).output_text).toBe('Hi');
    const stream = await client.responses.create({ ...input, stream: true });
    await collect(stream);
    expect(stream.partial?.output_text).toBe('Hi');
  });
});
