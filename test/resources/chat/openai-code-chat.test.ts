// What the examples of the `openai` package do with streams, tools and parsed answers. Only the import
// and the constructor differ.
import { createServer, type ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { zodFunction, zodResponseFormat } from '../../../src/adapters/helpers/zod.ts';
import OpenAI, { APIUserAbortError, ChatCompletionStream } from '../../../src/index.ts';
import { createEmulator } from '../../../src/testing/index.ts';

type ChatCompletionMessageParam = OpenAI.Chat.ChatCompletionMessageParam;

function setUp() {
  const emulator = createEmulator();
  const openai = new OpenAI({
    apiKey: emulator.apiKey,
    baseURL: `${emulator.baseURL}/v1`,
    fetch: emulator.fetch,
  });
  return { openai, emulator };
}

const model = 'gpt-4o-2024-08-06';
const ask = (content: string): ChatCompletionMessageParam[] => [{ role: 'user', content }];

const Step = z.object({ explanation: z.string(), output: z.string() });
const MathResponse = z.object({ steps: z.array(Step), final_answer: z.string() });

describe('parsed responses', () => {
  const format = zodResponseFormat(MathResponse, 'math_response');

  test('whole', async () => {
    const { openai } = setUp();

    const completion = await openai.chat.completions.parse({
      model,
      messages: ask('solve 8x + 31 = 2'),
      response_format: format,
    });

    const message = completion.choices[0]?.message;
    expect(message?.parsed?.steps[0]?.explanation).toEqual(expect.any(String));
    expect(message?.parsed?.final_answer).toEqual(expect.any(String));
  });

  test('streamed, with partial objects', async () => {
    const { openai } = setUp();
    const partial: unknown[] = [];
    const done: unknown[] = [];

    const stream = openai.chat.completions
      .stream({
        model,
        messages: ask("What's the weather like in SF?"),
        response_format: format,
      })
      .on('refusal.done', () => expect.unreachable())
      .on('content.delta', ({ snapshot, parsed }) => partial.push([snapshot, parsed]))
      .on('content.done', (props) => done.push(props.parsed?.final_answer));
    await stream.done();
    const completion = await stream.finalChatCompletion();

    const message = completion.choices[0]?.message;
    expect(partial.length).toBeGreaterThan(3);
    expect(partial.at(-1)).toEqual([message?.content, message?.parsed]);
    expect(done).toEqual([message?.parsed?.final_answer]);
  });
});

/** As the example does: text is appended, lists are merged by `index`, which is then dropped. */
function reduce(before: unknown, delta: object): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...Object(before) };
  for (const [key, value] of Object.entries(delta)) {
    const known = merged[key];
    if (known === undefined || known === null) merged[key] = value;
    else if (typeof known === 'string' && typeof value === 'string') merged[key] = known + value;
    else if (Array.isArray(known) && Array.isArray(value)) {
      const list: unknown[] = [...known];
      for (const { index, ...piece } of value) list[index] = reduce(list[index], piece);
      merged[key] = list;
    } else if (typeof known === 'object') merged[key] = reduce(known, value);
  }
  return merged;
}

describe('tools', () => {
  const GetWeatherArgs = z.object({
    city: z.string(),
    country: z.string(),
    units: z.enum(['c', 'f']).default('c'),
  });

  test('arguments are parsed', async () => {
    const { openai } = setUp();

    const completion = await openai.chat.completions.parse({
      model,
      messages: ask("What's the weather like in SF?"),
      tools: [zodFunction({ name: 'get_weather', parameters: GetWeatherArgs })],
    });

    const toolCall = completion.choices[0]?.message.tool_calls?.[0];
    if (toolCall?.type !== 'function') expect.unreachable();
    expect(GetWeatherArgs.parse(toolCall.function.parsed_arguments).units).toBe('c');
  });

  test('arguments are parsed while they are streamed', async () => {
    const { openai } = setUp();
    const deltas: string[] = [];
    const done: unknown[] = [];

    const stream = openai.chat.completions
      .stream({
        model,
        messages: ask("What's the weather like in SF?"),
        tools: [zodFunction({ name: 'get_weather', parameters: GetWeatherArgs })],
      })
      .on('tool_calls.function.arguments.delta', (props) => deltas.push(props.arguments_delta))
      .on('tool_calls.function.arguments.done', (props) => done.push(props));
    await stream.finalChatCompletion();

    expect(done).toEqual([
      {
        name: 'get_weather',
        index: 0,
        arguments: deltas.join(''),
        parsed_arguments: { city: 'SF', country: 'SF', units: 'c' },
      },
    ]);
  });

  test('a run of zodFunction()', async () => {
    const { openai } = setUp();
    const parsed: unknown[] = [];
    const Query = z.object({ table_name: z.enum(['orders', 'customers']), limit: z.number() });

    const runner = openai.chat.completions
      .runTools({
        model,
        messages: ask('What are the last 10 orders?'),
        stream: true,
        tools: [
          zodFunction({
            name: 'query',
            function: (args) => ({ table_name: args.table_name, data: [] }),
            parameters: Query,
          }),
        ],
      })
      .on('tool_calls.function.arguments.done', (props) => parsed.push(props.parsed_arguments));
    await runner.done();

    expect(parsed.map((args) => Query.parse(args).table_name)).toEqual(['orders']);
    expect(runner.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
    ]);
    expect(runner.messages[2]?.content).toBe('{"table_name":"orders","data":[]}');
  });

  test('a run of functions with a JSON Schema, and its events', async () => {
    const { openai } = setUp();
    const told: string[] = [];

    const runner = openai.chat.completions
      .runTools({
        model: 'gpt-4-1106-preview',
        stream: true,
        tools: [
          {
            type: 'function',
            function: {
              name: 'list',
              description: 'list queries books by genre',
              parameters: {
                type: 'object',
                properties: { genre: { type: 'string', enum: ['mystery', 'nonfiction'] } },
              },
              function: async ({ genre }: { genre: string }) => [{ name: 'A book', genre }],
              parse: JSON.parse,
            },
          },
        ],
        messages: ask('Which mystery do you recommend?'),
      })
      .on('message', ({ role }) => told.push(role))
      .on('functionToolCall', ({ name }) => told.push(name))
      .on('functionToolCallResult', (result) => told.push(result))
      .on('content', (diff) => told.push(diff));
    const result = await runner.finalChatCompletion();

    expect(told.slice(0, 4)).toEqual([
      'assistant',
      'list',
      'tool',
      '[{"name":"A book","genre":"mystery"}]',
    ]);
    expect(told.slice(4, -1).join('')).toBe(result.choices[0]?.message.content);
    expect(told.at(-1)).toBe('assistant');
  });

  test('a loop of its own over raw streams that puts the deltas together', async () => {
    const { openai, emulator } = setUp();
    emulator.quirks.chatToolCallCount = 2;
    const messages = ask('Two books, please');
    const tools: OpenAI.Chat.ChatCompletionTool[] = ['list', 'search'].map((name) => ({
      type: 'function',
      function: { name, parameters: { type: 'object', properties: { q: { type: 'string' } } } },
    }));

    const stream = await openai.chat.completions.create({ model, messages, tools, stream: true });
    let message: Record<string, unknown> = {};
    for await (const chunk of stream) message = reduce(message, chunk.choices[0]?.delta ?? {});

    expect(message['tool_calls']).toMatchObject([
      { type: 'function', function: { name: 'list' } },
      { type: 'function', function: { name: 'search' } },
    ]);
    expect(JSON.stringify(message)).toContain('"arguments":"{\\"q\\":');
  });
});

test('log probabilities are in their events', async () => {
  const { openai } = setUp();
  let count = 0;

  const stream = openai.chat.completions
    .stream({ model: 'gpt-4', messages: ask('Say this is a test'), logprobs: true })
    .on('logprobs.content.delta', (logprob) => {
      count += logprob.content.length;
    });
  const completion = await stream.finalChatCompletion();

  expect(completion.choices[0]?.logprobs?.content).toHaveLength(count);
});

test('a schema that contains itself', async () => {
  const { openai, emulator } = setUp();
  const UI: z.ZodType<object> = z.lazy(() =>
    z.object({
      type: z.enum(['div', 'button', 'form']),
      label: z.string(),
      children: z.array(UI),
    }),
  );

  const completion = await openai.chat.completions.parse({
    model,
    messages: ask('Make a User Profile Form'),
    response_format: zodResponseFormat(UI, 'ui'),
  });

  expect(completion.choices[0]?.message.parsed).toMatchObject({ label: expect.any(String) });
  expect(emulator.requests[0]?.body).toMatchObject({
    value: { response_format: { json_schema: { strict: true } } },
  });
});

const cleanUp: (() => void)[] = [];
afterEach(() => {
  for (const step of cleanUp.splice(0)) step();
});

/** Serves on a real socket. */
async function serve(handle: (response: ServerResponse) => unknown): Promise<string> {
  const server = createServer((_, response) => void handle(response));
  cleanUp.push(() => server.close().closeAllConnections());
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

async function fetchBody(url: string): Promise<ReadableStream<Uint8Array>> {
  const { body } = await fetch(url, { method: 'POST', body: 'Why are dogs better than cats?' });
  if (body === null) throw new Error('Missing body');
  return body;
}

/** As the example for express: every piece is written on, and a page that goes aborts the call. */
function express(openai: OpenAI, response: ServerResponse): Promise<void> {
  const disconnect = new AbortController();
  response.on('close', () => {
    if (!response.writableEnded) disconnect.abort();
  });
  const stream = openai.chat.completions.stream(
    { model: 'gpt-3.5-turbo', stream: true, messages: ask('Why are dogs better than cats?') },
    { signal: disconnect.signal },
  );
  response.setHeader('Content-Type', 'text/plain');
  return (async () => {
    for await (const chunk of stream.toReadableStream()) response.write(chunk);
    response.end();
  })();
}

describe('a server that forwards a stream', () => {
  test('a server forwards a stream with express to a page', async () => {
    const { openai } = setUp();
    const url = await serve((response) => express(openai, response));
    let text = '';

    const runner = ChatCompletionStream.fromReadableStream(await fetchBody(url));
    runner.on('content', (delta, snapshot) => {
      text += delta;
      expect(snapshot).toBe(text);
    });
    const completion = await runner.finalChatCompletion();

    expect(text).toContain('Why are dogs better than cats?');
    expect(completion.choices[0]).toMatchObject({
      message: { content: text },
      finish_reason: 'stop',
    });
    expect(completion.usage?.total_tokens).toBeGreaterThan(0);
  });

  test('a server forwards a stream with express to a page that disconnects', async () => {
    const { openai, emulator } = setUp();
    emulator.fail({ fault: { type: 'stall-events', after: 3 } });
    let failed: (error: unknown) => void;
    const failure = new Promise<unknown>((resolve) => {
      failed = resolve;
    });
    const url = await serve((response) => express(openai, response).catch(failed));

    const runner = ChatCompletionStream.fromReadableStream(await fetchBody(url));
    await runner.emitted('content');
    runner.abort();

    expect(await failure).toBeInstanceOf(APIUserAbortError);
    await expect(runner.done()).rejects.toThrow(APIUserAbortError);
    await expect.poll(() => emulator.requests[0]?.disconnected).toBe(true);
  });

  test('a server forwards a stream as a response of an edge function', async () => {
    const { openai } = setUp();
    const handler = async (request: Request): Promise<Response> => {
      const stream = openai.chat.completions.stream({
        model: 'gpt-3.5-turbo',
        stream: true,
        messages: ask(await request.text()),
      });
      return new Response(stream.toReadableStream());
    };

    const { body } = await handler(new Request('http://app.test', { method: 'POST', body: 'Hi' }));
    const runner = ChatCompletionStream.fromReadableStream(body ?? new ReadableStream());

    expect(await runner.finalContent()).toContain('"Hi"');
  });

  test('a server forwards a stream as plain text', async () => {
    const { openai } = setUp();
    const url = await serve(async (response) => {
      const stream = await openai.chat.completions.create({
        model: 'gpt-3.5-turbo',
        stream: true,
        messages: ask('Can you explain?'),
      });
      for await (const chunk of stream) response.write(chunk.choices[0]?.delta.content || '');
      response.end();
    });

    expect(await (await fetch(url)).text()).toContain('Can you explain?');
  });
});
