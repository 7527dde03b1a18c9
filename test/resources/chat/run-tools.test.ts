import { getEventListeners } from 'node:events';
import * as z from 'zod';
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  APIUserAbortError,
  type ChatCompletionMessageParam,
  type ChatCompletionRunner,
  ChatCompletionStreamingRunner,
  type ChatCompletionStreamEvents,
  type ChatCompletionToolRunnerParams,
  ContentFilterFinishReasonError,
  type Gateway,
  InvalidInputError,
  InvalidOutputError,
  LengthFinishReasonError,
  responseFormat,
  type RunnerOptions,
  StreamTruncatedError,
  tool,
} from '../../../src/index.ts';
import { bodyOf, emulated, eventStream, failureOf, json, scripted } from '../../helpers/clients.ts';
import { settle } from '../../helpers/fake-time.ts';
import { schemaOf } from '../../helpers/schemas.ts';
import { untyped } from '../../helpers/untyped.ts';

const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: 'Where to?' }];
const usage = {
  prompt_tokens: 10,
  completion_tokens: 5,
  total_tokens: 15,
  completion_tokens_details: { reasoning_tokens: 2 },
};

interface Call {
  name: string;
  args?: string;
  id?: string;
}

/** An answer, in the form that the request asks for. */
function answer(message: object, finish = 'stop', model = 'm') {
  const head = { id: 'chatcmpl-1', created: 1, model };
  return async (request: Request): Promise<Response> => {
    const body: unknown = await request.json();
    const isStreamed = Object(body).stream === true;
    const choices = [
      { index: 0, [isStreamed ? 'delta' : 'message']: message, finish_reason: finish },
    ];
    return isStreamed
      ? eventStream(
          { ...head, object: 'chat.completion.chunk', choices },
          { ...head, object: 'chat.completion.chunk', choices: [], usage },
          '[DONE]',
        )()
      : json({ ...head, object: 'chat.completion', choices, usage })();
  };
}

function says(content: string) {
  return answer({ role: 'assistant', content });
}

function wants(...calls: Call[]) {
  const tool_calls = calls.map(({ name, args = '{}', id = `call_${name}` }, index) => ({
    index,
    id,
    type: 'function',
    function: { name, arguments: args },
  }));
  return answer({ role: 'assistant', content: null, tool_calls }, 'tool_calls');
}

/** The results of tools that a request brings. */
async function resultsIn(request: Request | undefined): Promise<[string, unknown][]> {
  const body: unknown = await bodyOf(request);
  const sent: ChatCompletionMessageParam[] = Object(body).messages;
  return sent.flatMap((message) =>
    message.role === 'tool' ? [[message.tool_call_id, message.content]] : [],
  );
}

const names = [
  'connect',
  'content',
  'chatCompletion',
  'message',
  'functionToolCall',
  'functionToolCallResult',
  'functionToolCallError',
  'finalChatCompletion',
  'finalMessage',
  'finalContent',
  'finalFunctionToolCall',
  'finalFunctionToolCallResult',
  'totalUsage',
  'error',
  'abort',
  'end',
] as const satisfies readonly (keyof ChatCompletionStreamEvents)[];

function record(runner: ChatCompletionRunner): string[] {
  const told: string[] = [];
  for (const name of names) runner.on(name, () => told.push(name));
  return told;
}

const cities: string[] = [];
const find = tool({
  name: 'find',
  description: 'Finds a city.',
  schema: z.object({ city: z.string() }),
  execute: ({ city }) => {
    cities.push(city);
    return { city, found: true };
  },
});
const later = tool({
  name: 'later',
  execute: () =>
    new Promise<string>((resolve) => {
      setImmediate(() => resolve('at last'));
    }),
});

function raw(text: string, _: unknown, toolContext: string) {
  return `${typeof text}, ${toolContext}`;
}

type Params = Partial<Omit<ChatCompletionToolRunnerParams, 'stream'>>;

const modes: readonly {
  mode: string;
  run: (client: Gateway, params?: Params, options?: RunnerOptions) => ChatCompletionRunner;
}[] = [
  {
    mode: 'whole',
    run: ({ chat }, params = {}, options = {}) => {
      const { response_format: _, ...more } = params;
      return chat.completions.runTools({ model: 'm', messages, tools: [find], ...more }, options);
    },
  },
  {
    mode: 'streamed',
    run: ({ chat }, params = {}, options = {}) => {
      const { response_format: _, ...more } = params;
      return chat.completions.runTools(
        { model: 'm', messages, tools: [find], ...more, stream: true },
        options,
      );
    },
  },
];

afterEach(() => {
  vi.useRealTimers();
});

describe.each(modes)('chat.completions.runTools(), $mode answers', ({ run }) => {
  test('calls tools until a response calls none', async () => {
    const { client, requests } = scripted([
      wants({ name: 'find', args: '{"city":"Rome"}' }),
      wants({ name: 'find', args: '{"city":"Oslo"}' }),
      says('To Oslo.'),
    ]);
    cities.length = 0;

    const runner = run(client);

    await expect(runner.finalContent()).resolves.toBe('To Oslo.');
    expect(cities).toEqual(['Rome', 'Oslo']);
    expect(requests).toHaveLength(3);
    await expect(bodyOf(requests[0])).resolves.toMatchObject({
      messages,
      tools: [{ type: 'function', function: find.function }],
    });
    const [, second] = (await resultsIn(requests[2])).map(([, content]) => content);
    expect(second).toBe('{"city":"Oslo","found":true}');
    expect(runner.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'tool',
      'assistant',
    ]);
    expect(runner.allChatCompletions()).toHaveLength(3);
    await expect(runner.totalUsage()).resolves.toEqual({
      prompt_tokens: 30,
      completion_tokens: 15,
      total_tokens: 45,
      completion_tokens_details: { reasoning_tokens: 6 },
    });
  });

  test('emits every event in order', async () => {
    const { client } = scripted([wants({ name: 'find', args: '{"city":"Rome"}' }), says('Done.')]);

    const runner = run(client);
    const told = record(runner);
    await runner.done();

    const whole = told.filter((name) => name !== 'content');
    expect(whole).toEqual([
      'connect',
      'chatCompletion',
      'message',
      'functionToolCall',
      'message',
      'functionToolCallResult',
      'connect',
      'chatCompletion',
      'message',
      'finalChatCompletion',
      'finalMessage',
      'finalContent',
      'finalFunctionToolCall',
      'finalFunctionToolCallResult',
      'totalUsage',
      'end',
    ]);
    expect(told).toContain('content');
    await expect(runner.finalFunctionToolCall()).resolves.toMatchObject({ name: 'find' });
    await expect(runner.finalFunctionToolCallResult()).resolves.toContain('Rome');
    await expect(runner.finalMessage()).resolves.toMatchObject({ content: 'Done.' });
    await expect(runner.finalChatCompletion()).resolves.toMatchObject({ usage });
  });

  test('runs several calls in parallel, and keeps their order', async () => {
    const { client, requests } = scripted([
      wants({ name: 'later' }, { name: 'find', args: '{"city":"Rome"}' }),
      says('Done.'),
    ]);
    const order: string[] = [];
    const noted = tool({ name: 'find', schema: {}, execute: () => order.push('find') });
    const slow = tool({
      name: 'later',
      execute: async () => {
        order.push('later begins');
        await new Promise(setImmediate);
        order.push('later ends');
      },
    });

    await run(client, { tools: [slow, noted] }).done();

    expect(order).toEqual(['later begins', 'find', 'later ends']);
    await expect(resultsIn(requests[1])).resolves.toEqual([
      ['call_later', 'null'],
      ['call_find', '2'],
    ]);
  });

  test('runs sequentially without parallel_tool_calls', async () => {
    const { client, requests } = scripted([
      wants({ name: 'later', id: 'a' }, { name: 'later', id: 'b' }),
      says('Done.'),
    ]);
    let running = 0;
    const alone = tool({
      name: 'later',
      execute: async () => {
        running += 1;
        await new Promise(setImmediate);
        running -= 1;
        return running;
      },
    });

    await run(client, { tools: [alone], parallel_tool_calls: false }).done();

    await expect(resultsIn(requests[1])).resolves.toEqual([
      ['a', '0'],
      ['b', '0'],
    ]);
    await expect(bodyOf(requests[0])).resolves.toMatchObject({ parallel_tool_calls: false });
  });

  test.each([
    {
      name: 'an unknown tool',
      call: { name: 'fly' },
      content: 'There is no tool "fly". The tools are: ["find"]',
    },
    {
      name: 'arguments that are not JSON',
      call: { name: 'find', args: '{"city":' },
      content: /not valid JSON/,
    },
    {
      name: 'arguments that do not fit',
      call: { name: 'find', args: '{"city":1}' },
      content: /are invalid.*city: /,
    },
  ])('sends $name to the model, and continues', async ({ call, content }) => {
    const { client, requests } = scripted([
      wants(call),
      wants({ name: 'find', args: '{"city":"Rome"}' }),
      says('Done.'),
    ]);
    const errors: string[] = [];

    const runner = run(client).on('functionToolCallError', (error, { name }) =>
      errors.push(`${name}: ${error.message}`),
    );

    await expect(runner.finalContent()).resolves.toBe('Done.');
    const [[id, told] = []] = await resultsIn(requests[1]);
    expect(id).toBe(`call_${call.name}`);
    expect(told).toEqual(typeof content === 'string' ? content : expect.stringMatching(content));
    expect(errors).toHaveLength(1);
  });

  test('sends the model the error of a tool that throws or returns an invalid result', async () => {
    const { client, requests } = scripted([wants({ name: 'a' }, { name: 'b' }), says('Sorry.')]);
    const tools = [
      tool({
        name: 'a',
        execute: () => {
          throw new Error('no wind');
        },
      }),
      tool({ name: 'b', execute: () => 1n }),
    ];

    await expect(run(client, { tools }).finalContent()).resolves.toBe('Sorry.');

    await expect(resultsIn(requests[1])).resolves.toEqual([
      ['call_a', 'The tool failed: no wind'],
      ['call_b', expect.stringMatching(/^The tool failed: .*BigInt/)],
    ]);
  });

  test('awaits asynchronous validation of arguments, once each', async () => {
    const pause = new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
    const { schema, seen } = schemaOf(() => ({ value: 'made' }), { jsonSchema: {}, pause });
    const { client, requests } = scripted([wants({ name: 'find', args: '[1]' }), says('Done.')]);
    const tools = [tool({ name: 'find', schema, execute: (args) => args })];

    await run(client, { tools }).done();

    await expect(resultsIn(requests[1])).resolves.toEqual([['call_find', 'made']]);
    expect(seen).toEqual([[1]]);
  });

  test('accepts functions in the format of the openai package', async () => {
    const { client, requests } = scripted([
      wants(
        { name: 'raw', args: '{"a": 1}' },
        { name: 'parsed', args: '{"a": 1}' },
        { name: 'parsed', args: '{', id: 'call_bad' },
      ),
      says('Done.'),
    ]);
    const tools = [
      { type: 'function' as const, function: { function: raw, parameters: { type: 'object' } } },
      {
        type: 'function' as const,
        function: { name: 'parsed', parse: JSON.parse, function: ({ a }: { a: number }) => a },
      },
    ];

    await run(client, { tools, toolContext: 'mine' }).done();

    await expect(resultsIn(requests[1])).resolves.toEqual([
      ['call_raw', 'string, mine'],
      ['call_parsed', '1'],
      ['call_bad', expect.stringMatching(/^The arguments are invalid/)],
    ]);
    const body = await bodyOf(requests[0]);
    expect(body).toMatchObject({
      tools: [
        { type: 'function', function: { name: 'raw', parameters: { type: 'object' } } },
        { type: 'function', function: { name: 'parsed' } },
      ],
    });
    expect(body).not.toHaveProperty('toolContext');
  });

  test('passes the runner and the context to tools', async () => {
    const { client } = scripted([wants({ name: 'a' }), says('Done.')]);
    const seen: unknown[] = [];
    const a = tool({ name: 'a', execute: (...values) => seen.push(...values) });

    const runner = run(client, { tools: [a], toolContext: { user: 1 } });
    await runner.done();

    expect(seen).toEqual([{}, runner, { user: 1 }]);
  });

  test('ends after the function named by tool_choice', async () => {
    const { client, requests } = scripted([
      wants({ name: 'later' }),
      wants({ name: 'find', args: '{"city":1}' }),
      wants({ name: 'find', args: '{"city":"Rome"}' }, { name: 'find', id: 'not reached' }),
    ]);
    const tool_choice = { type: 'function' as const, function: { name: 'find' } };

    const runner = run(client, { tools: [find, later], tool_choice });
    await runner.done();

    expect(requests).toHaveLength(3);
    const [[, told] = []] = await resultsIn(requests[1]);
    expect(told).toBe('There is no tool "later". The tools are: ["find"]');
    await expect(runner.finalFunctionToolCallResult()).resolves.toContain('Rome');
    expect(runner.messages).toHaveLength(7);
    await expect(bodyOf(requests[2])).resolves.toMatchObject({ tool_choice });
  });

  test('stops at maxChatCompletions, after the last tools', async () => {
    const { client, requests } = scripted([wants({ name: 'find', args: '{"city":"Rome"}' })]);
    cities.length = 0;

    const few = run(client, {}, { maxChatCompletions: 2 });
    await few.done();
    expect(requests).toHaveLength(2);
    expect(cities).toHaveLength(2);
    expect(few.messages.at(-1)?.role).toBe('tool');

    await run(client).done();
    expect(requests).toHaveLength(12);
  });

  test('awaits afterCompletion, which may add messages', async () => {
    const { client, requests } = scripted([wants({ name: 'later' }), says('Done.')]);
    const seen: unknown[] = [];

    await run(
      client,
      { tools: [later] },
      {
        afterCompletion: async (completion, runner) => {
          await new Promise(setImmediate);
          seen.push(
            completion.choices[0]?.message.content ?? null,
            runner.messages.at(-1)?.role ?? '',
          );
          runner.messages.push({ role: 'system', content: 'Be brief.' });
        },
      },
    ).done();

    expect(seen.filter((value) => value !== '')).toEqual([null, 'tool', 'Done.', 'assistant']);
    await expect(bodyOf(requests[1])).resolves.toMatchObject({
      messages: [{}, {}, {}, { role: 'system' }],
    });
  });

  test("does not change the caller's parameters", async () => {
    const { client } = scripted([wants({ name: 'later' }), says('Done.')]);
    const mine = [...messages];

    await run(client, { messages: mine, tools: [later] }).done();

    expect(mine).toEqual(messages);
  });

  test('adds ids to calls without one', async () => {
    const { client, requests } = scripted([
      wants({ name: 'later', id: '' }, { name: 'later', id: '' }),
      says('Done.'),
    ]);

    await run(client, { tools: [later] }).done();

    const ids = (await resultsIn(requests[1])).map(([id]) => id);
    expect(new Set(ids).size).toBe(2);
    await expect(bodyOf(requests[1])).resolves.toMatchObject({
      messages: [{}, { tool_calls: ids.map((id) => ({ id })) }, {}, {}],
    });
  });

  test.each([
    { model: 'gpt-5', answered: 'gpt-5-2026', kept: {} },
    { model: 'deepseek-v4', answered: 'm', kept: { reasoning_content: 'Hm.' } },
    { model: 'my-model', answered: 'moonshot/kimi-k3', kept: { reasoning_content: 'Hm.' } },
  ])(
    'sends the reasoning back to models that need it: $model, $answered',
    async ({ model, answered, kept }) => {
      const extra_content = { google: { thought_signature: 'abc' } };
      const call = { index: 0, id: 'call_1', type: 'function', extra_content };
      const tool_calls = [{ ...call, function: { name: 'find', arguments: '{"city":"Rome"}' } }];
      const earlier = {
        role: 'assistant' as const,
        content: 'Yes?',
        reasoning_content: 'Earlier.',
      };
      const { client, requests } = scripted([
        answer(
          { role: 'assistant', content: null, reasoning_content: 'Hm.', tool_calls },
          'tool_calls',
          answered,
        ),
        says('Done.'),
      ]);

      const runner = run(client, { model, messages: [...messages, earlier] });
      await runner.done();

      const body = await bodyOf(requests[1]);
      const [, first, second]: unknown[] = Object(body).messages;
      expect(first).toEqual(earlier);
      expect(second).toMatchObject({ role: 'assistant', ...kept, tool_calls: [{ extra_content }] });
      expect('reasoning_content' in Object(second)).toBe('reasoning_content' in kept);
      expect(runner.messages[2]).toMatchObject({ reasoning_content: 'Hm.' });
    },
  );

  test('removes fields that only this package adds', async () => {
    const { client, requests } = scripted([
      wants({ name: 'find', args: '{"city":"Rome"}' }),
      says('Done.'),
    ]);

    const runner = run(client);
    await runner.done();

    expect(JSON.stringify(runner.messages)).toContain('parsed_arguments');
    expect(JSON.stringify(await bodyOf(requests[1]))).not.toContain('parsed');
  });

  test('retries a failed completion without calling a tool twice', async () => {
    const { client, requests } = scripted([
      wants({ name: 'find', args: '{"city":"Rome"}' }),
      json({ error: { message: 'busy', code: 'busy', type: 'new_api_error' } }, 429),
      says('Done.'),
    ]);
    cities.length = 0;

    await expect(run(client).finalContent()).resolves.toBe('Done.');

    expect(requests).toHaveLength(3);
    expect(cities).toEqual(['Rome']);
  });

  test('keeps paid completions if a later one fails', async () => {
    const { client } = scripted([
      wants({ name: 'find', args: '{"city":"Rome"}' }),
      json({ error: { message: 'no', code: 'model_not_found', type: 'new_api_error' } }, 503),
    ]);

    const runner = run(client);
    const told = record(runner);

    await expect(runner.finalContent()).rejects.toMatchObject({ code: 'model_not_found' });
    expect(told.slice(-2)).toEqual(['error', 'end']);
    expect(runner.allChatCompletions()).toHaveLength(1);
    expect(runner.messages.at(-1)?.role).toBe('tool');
  });

  test.each([
    { name: 'tools that are not a list', params: { tools: untyped<[]>('find') }, field: 'tools' },
    { name: 'a tool without a function', params: { tools: [tool({ name: 'a' })] }, field: 'tools' },
    {
      name: 'two tools with one name',
      params: {
        tools: [
          tool({ name: 'a', execute: () => 1 }),
          tool({ name: 'b', execute: () => 2 }),
          { type: 'function' as const, function: { name: 'a', parameters: {}, function: () => 3 } },
        ],
      },
      field: 'tools[2]',
      says: '"a"',
    },
    { name: 'several answers', params: { n: 2 }, field: 'n' },
    { name: 'no messages', params: { messages: [] }, field: 'messages' },
  ])('rejects $name before anything is sent', async ({ params, field, says: word = '' }) => {
    const { client, requests } = scripted([says('Done.')]);

    const error = await failureOf(run(client, params).done());

    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error).toMatchObject({ field, outcome: 'not_sent' });
    expect(String(error)).toContain(word);
    expect(requests).toHaveLength(0);
  });

  test('makes one completion without tools for an empty list of tools', async () => {
    const { client, requests } = scripted([says('Done.')]);

    const params = { model: 'm', messages, tools: [] };
    const { completions } = client.chat;
    expect(await completions.runTools(params).finalContent()).toBe('Done.');
    expect(await completions.runTools({ ...params, stream: true }).finalContent()).toBe('Done.');

    expect(requests).toHaveLength(2);
    for (const request of requests) expect(await bodyOf(request)).not.toHaveProperty('tools');
  });

  test('ends if a tool aborts it, and keeps the results of tools', async () => {
    const { client, requests } = scripted([
      wants({ name: 'stop' }, { name: 'find', args: '{"city":"Rome"}' }),
    ]);
    const ends = tool({
      name: 'stop',
      execute: (_, toolRun) => {
        toolRun.abort();
        return 'stopped';
      },
    });

    const runner = run(client, { tools: [ends, find] });
    const told = record(runner);

    await expect(runner.done()).rejects.toBeInstanceOf(APIUserAbortError);
    expect(told.slice(-2)).toEqual(['abort', 'end']);
    expect(runner).toMatchObject({ aborted: true, errored: true, ended: true });
    expect(runner.messages.slice(-2).map(({ content }) => content)).toEqual([
      'stopped',
      '{"city":"Rome","found":true}',
    ]);
    expect(requests).toHaveLength(1);
  });

  test('does not wait for a tool after an abort, and leaks no listener', async () => {
    const { client, requests } = scripted([
      wants({ name: 'hang' }, { name: 'find', args: '{"city":"Rome"}' }),
    ]);
    const mine = new AbortController();
    const { signal } = mine;
    let toolSignal: AbortSignal | undefined;
    const hang = tool({
      name: 'hang',
      execute: (_, { controller }) => {
        toolSignal = controller.signal;
        setImmediate(() => mine.abort(new Error('enough')));
        return new Promise(() => undefined);
      },
    });

    const runner = run(client, { tools: [hang, find] }, { signal });
    const error = await failureOf(runner.done());

    expect(error).toBeInstanceOf(APIUserAbortError);
    expect(error).toMatchObject({ cause: { message: 'enough' } });
    expect(toolSignal?.aborted).toBe(true);
    expect(runner.messages.at(-1)).toMatchObject({ role: 'tool', tool_call_id: 'call_find' });
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(requests).toHaveLength(1);
  });

  test.each([
    ['length', LengthFinishReasonError],
    ['content_filter', ContentFilterFinishReasonError],
  ])(
    'fails if a response ends with %s, and calls no tool with truncated arguments',
    async (finish, kind) => {
      const calls: unknown[] = [];
      const cut = answer(
        {
          role: 'assistant',
          content: 'So',
          tool_calls: [
            {
              index: 0,
              id: 'c',
              type: 'function',
              function: { name: 'raw', arguments: '{"city":"R' },
            },
          ],
        },
        finish,
      );
      const { client, requests } = scripted([cut]);
      const takesText = {
        name: 'raw',
        parameters: {},
        function: (text: string) => calls.push(text),
      };

      const runner = run(client, { tools: [{ type: 'function', function: takesText }] });
      const error = await failureOf(runner.finalContent());

      expect(error).toBeInstanceOf(kind);
      expect(error).toMatchObject({
        completion: { choices: [{ message: { content: 'So' } }], usage },
      });
      expect(calls).toEqual([]);
      expect(requests).toHaveLength(1);
    },
  );

  test('an abort does not wait for afterCompletion', async () => {
    const { client, requests } = scripted([wants({ name: 'later' }), says('Done.')]);

    vi.useFakeTimers();
    const runner = run(
      client,
      { tools: [later] },
      {
        afterCompletion: () => {
          setImmediate(() => runner.abort());
          return new Promise(() => undefined);
        },
      },
    );

    const { error } = await settle(runner.done());
    expect(error).toBeInstanceOf(APIUserAbortError);
    expect(runner).toMatchObject({ aborted: true, ended: true });
    expect(runner.messages.at(-1)).toMatchObject({ role: 'tool', content: 'at last' });
    expect(requests).toHaveLength(1);
  });

  test('an abort does not wait for the validation of arguments', async () => {
    const pause = new Promise<void>(() => undefined);
    const { schema } = schemaOf((value) => ({ value }), { jsonSchema: {}, pause });
    const { client } = scripted([wants({ name: 'find' })]);

    vi.useFakeTimers();
    const runner = run(client, { tools: [tool({ name: 'find', schema, execute: () => 1 })] });
    runner.on('chatCompletion', () => setImmediate(() => runner.abort()));
    runner.on('connect', () => setImmediate(() => setImmediate(() => runner.abort())));

    const { error } = await settle(runner.done());
    expect(error).toBeInstanceOf(APIUserAbortError);
  });

  test('emits nothing after the end, even if results arrive late', async () => {
    let goOn: (() => void) | undefined;
    const pause = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const { schema } = schemaOf((value) => ({ value }), { jsonSchema: {}, pause });
    const { client } = scripted([wants({ name: 'find' })]);
    vi.useFakeTimers();
    const runner = run(client, { tools: [tool({ name: 'find', schema, execute: () => 1 })] });
    const told = record(runner);
    runner.on('connect', () => setImmediate(() => setImmediate(() => runner.abort())));
    await settle(runner.done());
    vi.useRealTimers();

    const before = [...told];
    goOn?.();
    await new Promise(setImmediate);

    expect(told.slice(-2)).toEqual(['abort', 'end']);
    expect(told).toEqual(before);
  });

  test('await using aborts it', async () => {
    const { client } = scripted([() => new Promise<Response>(() => undefined)]);
    let runner: ChatCompletionRunner | undefined;

    await (async () => {
      await using held = run(client);
      runner = held;
    })();

    await expect(runner?.done()).rejects.toBeInstanceOf(APIUserAbortError);
  });

  test('sends nothing if the signal is already aborted', async () => {
    const { client, requests } = scripted([says('Done.')]);

    const runner = run(client, {}, { signal: AbortSignal.abort() });

    await expect(runner.done()).rejects.toBeInstanceOf(APIUserAbortError);
    expect(requests).toHaveLength(0);
  });

  test('leaves no listener on a long-lived signal', async () => {
    const { client } = scripted([wants({ name: 'later' }), says('Done.')]);
    const { signal } = new AbortController();

    await run(client, { tools: [later] }, { signal }).done();

    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  test('reads one event with a loop', async () => {
    const { client } = scripted([wants({ name: 'later' }), says('Done.')]);
    const roles: string[] = [];

    for await (const [{ role }] of run(client, { tools: [later] }).events('message')) {
      roles.push(role);
    }

    expect(roles).toEqual(['assistant', 'tool', 'assistant']);
  });

  test('runs on the emulator', async () => {
    const { client, emulator } = emulated({}, { quirks: { chatToolCallCount: 2 } });

    const runner = run(client, {
      messages: [{ role: 'user', content: 'Find the city of Rome.' }],
      tools: [find, later],
    });

    await expect(runner.finalContent()).resolves.toContain('"found":true');
    expect(runner.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'assistant',
    ]);
    expect(emulator.charges).toHaveLength(2);
  });
});

describe('a run with a format', () => {
  const response_format = responseFormat(z.object({ city: z.string() }), 'place');

  test.each([undefined, true] as const)(
    'a run with a format parses the last response, stream: %s',
    async (stream) => {
      const { client } = scripted([
        answer(
          {
            role: 'assistant',
            content: 'Let me look.',
            tool_calls: [
              { index: 0, id: 'a', type: 'function', function: { name: 'later', arguments: '' } },
            ],
          },
          'tool_calls',
        ),
        says('{"city":"Rome"}'),
      ]);
      const params = { model: 'm', messages, tools: [later], response_format };

      const runner =
        stream === true
          ? client.chat.completions.runTools({ ...params, stream })
          : client.chat.completions.runTools(params);
      const { parsed } = await runner.finalMessage();

      expect(parsed?.city).toBe('Rome');
    },
  );

  test('a run with a format fails if it does not match', async () => {
    const { client } = scripted([says('Rome')]);

    const runner = client.chat.completions.runTools({
      model: 'm',
      messages,
      tools: [later],
      response_format,
    });

    await expect(runner.finalMessage()).rejects.toBeInstanceOf(InvalidOutputError);
  });
});

function start(client: Gateway) {
  return client.chat.completions.runTools({
    model: 'm',
    messages,
    tools: [find, later],
    stream: true,
  });
}

describe('a forwarded streamed run', () => {
  test('a forwarded streamed run is the same run at the receiver, with the results of its tools', async () => {
    const { client } = scripted([
      wants({ name: 'find', args: '{"city":"Rome"}' }, { name: 'later' }),
      says('To Rome.'),
    ]);
    const here = start(client);

    const there = ChatCompletionStreamingRunner.fromReadableStream(here.toReadableStream());
    const told = record(there);

    await expect(there.finalContent()).resolves.toBe('To Rome.');
    expect(there.messages.map(({ role }) => role)).toEqual([
      'assistant',
      'tool',
      'tool',
      'assistant',
    ]);
    expect(there.messages[1]).toEqual({
      role: 'tool',
      tool_call_id: 'call_find',
      content: '{"city":"Rome","found":true}',
    });
    expect(told.filter((name) => name === 'functionToolCallResult')).toHaveLength(2);
    await expect(there.totalUsage()).resolves.toMatchObject({ total_tokens: 30 });
    await expect(here.finalContent()).resolves.toBe('To Rome.');
  });

  test('a forwarded streamed run yields only chunks in a loop', async () => {
    const { client } = scripted([wants({ name: 'later' }), says('Done.')]);
    const objects: string[] = [];

    for await (const { object } of start(client)) objects.push(object);

    expect(new Set(objects)).toEqual(new Set(['chat.completion.chunk']));
  });

  test('a forwarded streamed run is truncated at the receiver if a later response was cut', async () => {
    const { client } = scripted([wants({ name: 'later' }), says('Done.')]);
    const text = await new Response(start(client).toReadableStream()).text();
    const lines = text.trimEnd().split('\n');
    const last = JSON.parse(lines.at(-1) ?? '');
    last.choices[0].finish_reason = null;
    const cut = [...lines.slice(0, -1), JSON.stringify(last)].join('\n');

    const there = ChatCompletionStreamingRunner.fromReadableStream(new Blob([`${cut}\n`]).stream());

    await expect(there.finalContent()).rejects.toBeInstanceOf(StreamTruncatedError);
    expect(there.allChatCompletions()).toHaveLength(1);
  });
});
