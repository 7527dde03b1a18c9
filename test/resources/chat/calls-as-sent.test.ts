// Gateways send calls that share an index or an id, calls without a name, and arguments more than once.
import { streamText, generateText, tool as sdkTool, jsonSchema, isStepCount } from 'ai';
import { describe, expect, test, vi } from 'vitest';
import { createModelGateway } from '../../../src/adapters/ai-sdk/index.ts';
import { StreamTruncatedError, tool, UnexpectedResponseError } from '../../../src/index.ts';
import type { Quirks } from '../../../src/testing/index.ts';
import {
  bodyOf,
  collect,
  emulated,
  eventStream,
  failureOf,
  json,
  scripted,
} from '../../helpers/clients.ts';
import { chunk, usageChunk } from '../../helpers/sse.ts';

globalThis.AI_SDK_LOG_WARNINGS = false;

const params = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] };

interface Sent {
  readonly index?: number;
  readonly id?: string;
  readonly name?: string;
  readonly args: unknown;
}

const wire = ({ args, name, ...call }: Sent) => ({
  ...call,
  function: { arguments: args, ...(name !== undefined && { name }) },
});

/** Events with one piece of a call each, after some text. */
const streamed = (pieces: readonly Sent[]) =>
  eventStream(
    chunk({ content: 'Looking.' }),
    ...pieces.map((piece) => chunk({ tool_calls: [wire(piece)] })),
    chunk({}, 'tool_calls'),
    usageChunk,
    '[DONE]',
  );

/** A whole answer with these calls. */
const whole = (calls: readonly Sent[]) =>
  json({
    id: 'c',
    model: 'm',
    choices: [
      {
        index: 0,
        message: { content: 'Looking.', tool_calls: calls.map(wire) },
        finish_reason: 'tool_calls',
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });

const done = eventStream(chunk({ content: 'Done.' }, 'stop'), '[DONE]');
const doneWhole = json({
  id: 'd',
  model: 'm',
  choices: [{ index: 0, message: { content: 'Done.' }, finish_reason: 'stop' }],
});

type Answer = () => Response;
type Run = readonly [name: string, args: string];
interface Result {
  /** The tools that ran, or would run. */
  readonly calls: readonly Run[];
  readonly ids?: readonly string[];
}

type Reader = (answer: Answer) => Promise<Result>;

const shown = (
  calls: readonly {
    id: string;
    type: string;
    function?: { name: string; arguments: string };
  }[] = [],
): Result => ({
  calls: calls.map((call): Run => [call.function?.name ?? '', call.function?.arguments ?? '']),
  ids: calls.map(({ id }) => id),
});

async function runWith(answer: Answer, stream: boolean): Promise<Result> {
  const calls: Run[] = [];
  const { client, requests } = scripted([answer, stream ? done : doneWhole]);
  const tools = ['look', 'roll'].map((name) =>
    tool({
      name,
      execute: (args: unknown) => {
        calls.push([name, JSON.stringify(args)]);
        return 'ok';
      },
    }),
  );
  const request = { ...params, tools };
  const runner = stream
    ? client.chat.completions.runTools({ ...request, stream })
    : client.chat.completions.runTools(request);
  await runner.done();
  // One more request is paid for than there are turns with calls.
  expect(requests).toHaveLength(calls.length > 0 ? 2 : 1);
  const { messages = [] } = Object(await bodyOf(requests[1]));
  const results = [...messages].filter(({ role }: { role: string }) => role === 'tool');
  return { calls, ids: results.map(({ tool_call_id: id }) => String(id)) };
}

async function sdkRun(answer: Answer, stream: boolean): Promise<Result> {
  const calls: Run[] = [];
  const { client } = scripted([answer, stream ? done : doneWhole]);
  const model = createModelGateway({ client })('m');
  const make = (name: string) =>
    sdkTool({
      inputSchema: jsonSchema({ type: 'object' }),
      execute: (args: unknown) => {
        calls.push([name, JSON.stringify(args)]);
        return 'ok';
      },
    });
  const call = {
    model,
    prompt: 'Hi',
    tools: { look: make('look'), roll: make('roll') },
    stopWhen: isStepCount(3),
    maxRetries: 0,
  };
  if (!stream) await generateText(call);
  else {
    let failure: unknown;
    const result = streamText({ ...call, onError: ({ error }) => void (failure = error) });
    await result.consumeStream();
    if (failure !== undefined) throw failure;
  }
  return { calls };
}

const streamReaders: Readonly<Record<string, Reader>> = {
  'a loop': async (answer) => {
    const { client } = scripted([answer]);
    const stream = await client.chat.completions.create({ ...params, stream: true });
    await collect(stream);
    return shown(stream.partial?.choices[0]?.message.tool_calls ?? []);
  },
  'the helper': async (answer) => {
    const { client } = scripted([answer]);
    const completion = await client.chat.completions.stream(params).finalChatCompletion();
    return shown(completion.choices[0]?.message.tool_calls ?? []);
  },
  'runTools()': (answer) => runWith(answer, true),
  'the AI SDK': (answer) => sdkRun(answer, true),
  'events in place of a whole answer': async (answer) => {
    const { client } = scripted([answer]);
    const completion = await client.chat.completions.create(params);
    return shown(completion.choices[0]?.message.tool_calls ?? []);
  },
};

const wholeReaders: Readonly<Record<string, Reader>> = {
  'a whole answer':
    streamReaders['events in place of a whole answer'] ?? (async () => ({ calls: [] })),
  'runTools()': (answer) => runWith(answer, false),
  'the AI SDK': (answer) => sdkRun(answer, false),
  'a whole answer in place of events': streamReaders['the helper'] ?? (async () => ({ calls: [] })),
};

const paris: Run = ['look', '{"city":"Paris"}'];
const rome: Run = ['look', '{"city":"Rome"}'];
const [parisArgs, romeArgs] = [paris[1], rome[1]];

const streamCases: Readonly<
  Record<string, readonly [pieces: readonly Sent[], runs: readonly Run[]]>
> = {
  'share an index and an empty id': [
    [
      { index: 0, id: '', name: 'look', args: parisArgs },
      { index: 0, id: '', args: romeArgs },
    ],
    [paris, rome],
  ],
  'share an index and an id': [
    [
      { index: 0, id: 'x', name: 'look', args: parisArgs },
      { index: 0, id: 'x', name: 'look', args: '{"city":' },
      { index: 0, id: 'x', args: '"Rome"}' },
    ],
    [paris, rome],
  ],
  'share an index and an id, with other names': [
    [
      { index: 0, id: 'x', name: 'look', args: parisArgs },
      { index: 0, id: 'x', name: 'roll', args: '{"sides":6}' },
    ],
    [paris, ['roll', '{"sides":6}']],
  ],
  'share an index, with other names before the arguments': [
    [
      { index: 0, id: '', name: 'look', args: '' },
      { index: 0, id: '', args: parisArgs },
      { index: 0, id: '', name: 'roll', args: '' },
      { index: 0, id: '', args: parisArgs },
    ],
    [paris, ['roll', parisArgs]],
  ],
  'are joined in one piece': [
    [{ index: 0, id: 'x', name: 'look', args: `${parisArgs} ${romeArgs}` }],
    [paris, rome],
  ],
  'are joined across pieces': [
    [
      { index: 0, id: 'x', name: 'look', args: `${parisArgs}{"ci` },
      { index: 0, args: 'ty":"Rome"}' },
    ],
    [paris, rome],
  ],
  'are sent again': [
    [
      { index: 0, id: 'x', name: 'look', args: '{"city":' },
      { index: 0, args: '"Paris"}' },
      { index: 0, id: 'x', name: 'look', args: parisArgs },
    ],
    [paris],
  ],
  'are sent again in pieces': [
    [
      { index: 0, id: 'x', name: 'look', args: parisArgs },
      { index: 0, id: 'x', args: '{"city":' },
      { index: 0, id: 'x', args: '"Paris"}' },
    ],
    [paris],
  ],
  'are sent three times in one piece': [
    [{ index: 0, id: 'x', name: 'look', args: parisArgs + parisArgs + parisArgs }],
    [paris],
  ],
  'are sent cumulatively': [
    [
      { index: 0, id: 'x', name: 'look', args: '{"ci' },
      { index: 0, args: '{"city":"P' },
      { index: 0, args: '{"city":"Paris"}' },
    ],
    [paris],
  ],
  'are sent cumulatively after empty arguments': [
    [
      { index: 0, id: 'x', name: 'look', args: '{}' },
      { index: 0, args: '{"city":"P' },
      { index: 0, args: '{"city":"Paris"}' },
    ],
    [paris],
  ],
  'are sent whole after a bracket': [
    [
      { index: 0, id: 'x', name: 'look', args: '{' },
      { index: 0, args: parisArgs },
    ],
    [paris],
  ],
  'have empty arguments before the real ones': [
    [
      { index: 0, id: 'x', name: 'look', args: '{}' },
      { index: 0, id: 'x', name: 'look', args: parisArgs },
    ],
    [paris],
  ],
  'have an id of another call': [
    [
      { index: 0, id: 'x', name: 'look', args: parisArgs },
      { index: 1, id: 'x', name: 'look', args: '{"city":' },
      { index: 1, id: 'x', args: '"Rome"}' },
    ],
    [paris, rome],
  ],
  'are hollow': [[{ index: 0, id: 'x', name: '', args: '' }], []],
  'are hollow, with a blank name': [[{ index: 0, id: 'x', name: ' ', args: '{}' }], []],
  'are hollow beside another': [
    [
      { index: 0, id: 'x', name: 'look', args: parisArgs },
      { index: 1, id: '', name: '', args: '{}' },
    ],
    [paris],
  ],
  'are hollow, with null as text': [[{ index: 0, id: 'x', name: '', args: 'null' }], []],
  'have null as text in place of arguments': [
    [{ index: 0, id: 'x', name: 'look', args: 'null' }],
    [['look', '{}']],
  ],
  'have a string that merely continues': [
    [
      { index: 0, id: 'x', name: 'look', args: '{"city":"' },
      { index: 0, args: '{\\"a\\":1}' },
      { index: 0, args: '{' },
      { index: 0, args: '}"}' },
    ],
    [['look', '{"city":"{\\"a\\":1}{}"}']],
  ],
  'have a number that merely continues': [
    [
      { index: 0, id: 'x', name: 'look', args: '{"n":1' },
      { index: 0, args: '1' },
      { index: 0, args: '12' },
      { index: 0, args: '}' },
    ],
    [['look', '{"n":1112}']],
  ],
  'have pieces that repeat the one before within a string': [
    [
      { index: 0, id: 'x', name: 'look', args: '{"city":"' },
      { index: 0, args: 'a' },
      { index: 0, args: 'ab' },
      { index: 0, args: 'abc"}' },
    ],
    [['look', '{"city":"aababc"}']],
  ],
  'have a string with objects': [
    [{ index: 0, id: 'x', name: 'look', args: '{"city":"{}{}"}' }],
    [['look', '{"city":"{}{}"}']],
  ],
  'have objects that merely follow each other': [
    [
      { index: 0, id: 'x', name: 'look', args: '{"list":[{"a":1}' },
      { index: 0, args: ',' },
      { index: 0, args: '{"a":1}' },
      { index: 0, args: ']}' },
    ],
    [['look', '{"list":[{"a":1},{"a":1}]}']],
  ],
  'are equal, each with an id': [
    [
      { index: 0, id: 'x', name: 'roll', args: '{"sides":6}' },
      { index: 1, id: 'y', name: 'roll', args: '{"sides":6}' },
    ],
    [
      ['roll', '{"sides":6}'],
      ['roll', '{"sides":6}'],
    ],
  ],
  'are equal, each with a name and without an index': [
    [
      { name: 'roll', args: '{"sides":6}' },
      { name: 'roll', args: '{"sides":6}' },
    ],
    [
      ['roll', '{"sides":6}'],
      ['roll', '{"sides":6}'],
    ],
  ],
};

describe.each(Object.entries(streamReaders))('streamed calls read by %s', (_, read) => {
  test.each(Object.entries(streamCases))(
    'streamed calls that %s are read',
    async (__, [pieces, runs]) => {
      const { calls, ids } = await read(streamed(pieces));

      expect(calls).toEqual(runs);
      if (ids !== undefined && pieces.every(({ id }) => id)) {
        expect(new Set(ids).size).toBe(runs.length);
      }
    },
  );

  test('streamed calls that have arguments, but no name, are an error', async () => {
    const error = await failureOf(read(streamed([{ index: 0, id: 'x', args: parisArgs }])));

    const cause = error instanceof StreamTruncatedError ? error : Object(error).cause;
    expect(cause).toBeInstanceOf(StreamTruncatedError);
    expect(cause).toMatchObject({
      message: expect.stringContaining('without a name'),
      partial: {
        choices: [{ message: { tool_calls: [{ function: { arguments: parisArgs } }] } }],
      },
    });
  });
});

const wholeCases: Readonly<
  Record<string, readonly [calls: readonly Sent[], runs: readonly Run[]]>
> = {
  'are joined in one entry': [
    [{ id: 'x', name: 'look', args: parisArgs + romeArgs }],
    [paris, rome],
  ],
  'are sent again in one entry': [
    [{ id: 'x', name: 'look', args: parisArgs + parisArgs }],
    [paris],
  ],
  'begin with a bracket too many': [[{ id: 'x', name: 'look', args: `{${parisArgs}` }], [paris]],
  'share an id': [
    [
      { id: 'x', name: 'look', args: parisArgs },
      { id: 'x', name: 'look', args: romeArgs },
    ],
    [paris, rome],
  ],
  'are joined before another': [
    [
      { id: 'x', name: 'look', args: parisArgs + romeArgs },
      { id: 'y', name: 'roll', args: '{"sides":6}' },
    ],
    [paris, rome, ['roll', '{"sides":6}']],
  ],
  'are hollow': [[{ id: 'x', name: '', args: '' }], []],
  'are hollow beside a call in two halves': [
    [
      { id: '', name: '', args: '{}' },
      { id: 'x', name: 'look', args: '' },
      { id: '', name: '', args: parisArgs },
    ],
    [paris],
  ],
  'are hollow, with a blank name': [[{ id: 'x', name: ' ', args: '{}' }], []],
  'are hollow, with null as text': [[{ id: 'x', name: '', args: 'null' }], []],
  'have null as text in place of arguments': [
    [{ id: 'x', name: 'look', args: 'null' }],
    [['look', '{}']],
  ],
  'are hollow beside another': [
    [
      { id: '', name: '', args: '{}' },
      { id: 'x', name: 'look', args: parisArgs },
    ],
    [paris],
  ],
};

describe.each(Object.entries(wholeReaders))('whole calls read by %s', (_, read) => {
  test.each(Object.entries(wholeCases))(
    'whole calls that %s are read',
    async (__, [sent, runs]) => {
      const { calls, ids } = await read(whole(sent));

      expect(calls).toEqual(runs);
      if (ids !== undefined) expect(new Set(ids).size).toBe(runs.length);
    },
  );

  test('a whole call keeps its id beside a hollow one that has it too', async () => {
    const hollow = { id: 'x', name: '', args: '' };
    const { calls, ids = ['x'] } = await read(
      whole([hollow, { id: 'x', name: 'look', args: parisArgs }]),
    );

    expect(calls).toEqual([paris]);
    expect(ids).toEqual(['x']);
  });

  test('whole calls that have arguments, but no name, are an error', async () => {
    const error = await failureOf(read(whole([{ id: 'x', args: parisArgs }])));

    const errors = [error, Object(error).cause];
    expect(
      errors.some(
        (each) => each instanceof UnexpectedResponseError || each instanceof StreamTruncatedError,
      ),
    ).toBe(true);
  });
});

describe.each<[string, unknown]>([
  ['a list', [{ city: 'Paris' }, { city: 'Rome' }]],
  ['an empty list', []],
  ['a number', 7],
  ['a truth value', true],
])('arguments that are %s', (_, args) => {
  const text = JSON.stringify(args);

  test.each(['a loop', 'the helper', 'events in place of a whole answer'])(
    'arguments are text in %s',
    async (name) => {
      const result = await streamReaders[name]?.(
        streamed([{ index: 0, id: 'x', name: 'look', args }]),
      );

      expect(result?.calls).toEqual([['look', text]]);
    },
  );

  test.each(['a whole answer', 'a whole answer in place of events'])(
    'arguments are text in %s',
    async (name) => {
      const result = await wholeReaders[name]?.(whole([{ id: 'x', name: 'look', args }]));

      expect(result?.calls).toEqual([['look', text]]);
    },
  );

  test.each([true, false])(
    'arguments are not replaced before runTools() runs, stream: %s',
    async (stream) => {
      const schema = { type: 'object', properties: { city: { type: 'string' } } };
      const execute = vi.fn((sent: unknown) => `seen ${String(sent)}`);
      const call = { index: 0, id: 'x', name: 'look', args };
      const { client } = scripted(stream ? [streamed([call]), done] : [whole([call]), doneWhole]);
      const request = {
        ...params,
        tools: [
          {
            type: 'function' as const,
            function: { name: 'look', parameters: schema, function: execute },
          },
        ],
      };

      const runner = stream
        ? client.chat.completions.runTools({ ...request, stream })
        : client.chat.completions.runTools(request);
      await runner.done();

      expect(execute.mock.calls.map(([sent]) => sent)).toEqual([text]);
    },
  );
});

test('a loop gets the pieces of a call that shares an index with a name, an id and an index', async () => {
  const { client } = scripted([
    streamed([
      { index: 0, id: 'x', name: 'look', args: parisArgs },
      { index: 0, id: 'x', args: romeArgs },
    ]),
  ]);

  const stream = await client.chat.completions.create({ ...params, stream: true });
  const chunks = await collect(stream);

  expect(chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])).toMatchObject([
    { index: 0, id: 'x', function: { name: 'look', arguments: parisArgs } },
    { index: 1, id: 'x_2', function: { name: 'look', arguments: romeArgs } },
  ]);
});

test.each(['a loop', 'the helper'])(
  'torn arguments that end in an object are not replaced by it in %s',
  async (name) => {
    const result = await streamReaders[name]?.(
      streamed([
        { index: 0, id: 'x', name: 'look', args: '{"city":"P' },
        { index: 0, args: romeArgs },
      ]),
    );

    expect(result?.calls).toEqual([['look', `{"city":"P${romeArgs}`]]);
  },
);

test('a loop gets arguments that are sent again once', async () => {
  const { client } = scripted([
    streamed([
      { index: 0, id: 'x', name: 'look', args: parisArgs },
      { index: 0, id: 'x', name: 'look', args: parisArgs },
    ]),
  ]);

  const stream = await client.chat.completions.create({ ...params, stream: true });
  const pieces = (await collect(stream)).flatMap(
    ({ choices }) => choices[0]?.delta.tool_calls ?? [],
  );

  expect(pieces.map((piece) => piece.function?.arguments ?? '').join('')).toBe(parisArgs);
});

test('the helper emits the end of each call, also of those that were joined', async () => {
  const { client } = scripted([
    streamed([{ index: 0, id: 'x', name: 'look', args: parisArgs + romeArgs }]),
  ]);
  const ends = vi.fn();

  await client.chat.completions
    .stream(params)
    .on('tool_calls.function.arguments.done', ({ index, arguments: text }) => ends(index, text))
    .done();

  expect(ends.mock.calls).toEqual([
    [0, parisArgs],
    [1, romeArgs],
  ]);
});

describe('calls of the emulator', () => {
  test.each<[name: string, quirks: Partial<Quirks>, runs: number]>([
    ['calls that share an index', { chatToolCalls: 'shared-index', chatToolCallCount: 2 }, 2],
    ['calls with one id', { chatToolCalls: 'same-id', chatToolCallCount: 2 }, 2],
    ['arguments after a bracket', { chatToolCalls: 'bracket' }, 1],
    ['arguments again', { chatToolCalls: 'repeated' }, 1],
    ['arguments cumulatively', { chatToolCalls: 'cumulative' }, 1],
    ['a hollow call beside another', { chatHollowCall: true }, 1],
  ])('the emulator sends %s, which runTools() runs once each', async (_, quirks, runs) => {
    const { client, emulator } = emulated({}, { quirks });
    const execute = vi.fn(() => 'ok');
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    const names = ['look', 'roll'].map((name) => tool({ name, schema, execute }));

    for (const stream of [true, false]) {
      const request = { ...params, tools: names };
      const runner = stream
        ? client.chat.completions.runTools({ ...request, stream })
        : client.chat.completions.runTools(request);
      await runner.done();
    }

    expect(execute).toHaveBeenCalledTimes(runs * 2);
    expect(emulator.charges).toHaveLength(4);
  });

  test('the emulator sends arguments without a name, which is an error', async () => {
    const { client, emulator } = emulated({}, { quirks: { chatToolCalls: 'nameless' } });
    const tools = [
      tool({
        name: 'look',
        schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        execute: () => 'ok',
      }),
    ];

    const runner = client.chat.completions.runTools({ ...params, tools, stream: true });

    expect(await failureOf(runner.done())).toBeInstanceOf(StreamTruncatedError);
    expect(emulator.charges).toHaveLength(1);
  });
});
