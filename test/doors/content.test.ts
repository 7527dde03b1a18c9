// Facts about what a model wrote × doors: what is known of an answer is known at every door.
import { generateText, isStepCount, streamText } from 'ai';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { createModelGateway } from '../../src/adapters/ai-sdk/index.ts';
import { ChatCompletionStream, type Gateway, type GatewayOptions, tool } from '../../src/index.ts';
import type { ChatCompletionMessageToolCall } from '../../src/resources/chat/params.ts';
import type { ChatCompletion } from '../../src/resources/chat/types.ts';
import type { Quirks } from '../../src/testing/index.ts';
import { collect, emulated, eventStream, failureOf, json, scripted } from '../helpers/clients.ts';
import { chunk, usage } from '../helpers/sse.ts';

/** What a door shows of an answer. */
interface Seen {
  readonly content: string | null;
  /** Name and arguments of each call, and `cut` if it is marked as incomplete. */
  readonly calls: readonly (readonly string[])[];
  readonly finish: string | null;
  readonly usage?: number;
  /** Other fields of the message. */
  readonly message?: Readonly<Record<string, unknown>>;
}

interface Answer {
  /** The choices of a whole answer. */
  readonly choices?: readonly object[];
  /** The events of a stream, without the terminator. */
  readonly events?: readonly object[];
}

type Door = (answer: Answer, options?: GatewayOptions) => Promise<Seen>;

const params = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] };

function readCall(call: ChatCompletionMessageToolCall): readonly string[] {
  const { name, text } =
    call.type === 'function'
      ? { name: call.function.name, text: call.function.arguments }
      : { name: call.custom.name, text: call.custom.input };
  return [name, text, ...(call.incomplete === true ? ['cut'] : [])];
}

/** Fields of messages that are the same in most answers, or belong to other doors. */
const plain = new Set(['role', 'content', 'refusal', 'tool_calls', 'parsed']);

function readCompletion(completion: ChatCompletion | undefined): Seen {
  const [choice] = completion?.choices ?? [];
  if (completion?.choices.length !== 1 || choice === undefined) throw new Error('Not one choice');
  const { message, finish_reason: finish } = choice;
  const others = Object.entries(message).filter(([name]) => !plain.has(name));
  return {
    content: message.content || null,
    calls: (message.tool_calls ?? []).map(readCall),
    finish,
    ...(completion.usage && { usage: completion.usage.prompt_tokens }),
    ...(others.length > 0 && { message: Object.fromEntries(others) }),
  };
}

const answered = vi.fn((answer: () => Response) => answer());
const whole = ({ choices = [] }: Answer) => {
  const body = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage };
  return () => answered(json(body));
};
const streamed = ({ events = [] }: Answer) => {
  const answer = eventStream(...events, '[DONE]');
  return () => answered(answer);
};

const execute = vi.fn((args: unknown) => JSON.stringify(args));
const tools = ['f', 'g'].map((name) => tool({ name, execute }));

async function runTools(client: Gateway, stream: boolean): Promise<Seen> {
  execute.mockClear();
  const { completions } = client.chat;
  const once = { maxChatCompletions: 1 };
  const runner = stream
    ? completions.runTools({ ...params, tools, stream }, once)
    : completions.runTools({ ...params, tools }, once);
  await runner.done();
  const seen = readCompletion(runner.allChatCompletions()[0]);
  // Each whole call is run, and no other.
  const wanted = seen.calls.filter((call) => call[2] !== 'cut');
  expect(execute.mock.results.map(({ value }): unknown => JSON.parse(String(value)))).toEqual(
    wanted.map(([, text = '']): unknown => JSON.parse(text)),
  );
  return seen;
}

const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hi' }] }];

/** Returns what the parts of the AI SDK show. It has no mark for a call that is cut, only its text. */
function readParts(
  parts: readonly object[],
  finishReason: object | undefined,
  tokens: number | undefined,
): Seen {
  const all = (type: string, field: string): unknown[] =>
    parts
      .filter((part) => Reflect.get(part, 'type') === type)
      .map((part) => Reflect.get(part, field));
  const raw: unknown = Reflect.get(finishReason ?? {}, 'raw');
  const names = all('tool-call', 'toolName').map(String);
  const inputs = all('tool-call', 'input').map(String);
  return {
    content: [...all('text', 'text'), ...all('text-delta', 'delta')].join('') || null,
    calls: names.map((name, index) => [name, inputs[index] ?? '']),
    finish: typeof raw === 'string' ? raw : null,
    ...(tokens !== undefined && { usage: tokens }),
  };
}

const wholeDoors: Readonly<Record<string, Door>> = {
  'a whole answer': async (answer, options) =>
    readCompletion(await scripted([whole(answer)], options).client.chat.completions.create(params)),
  'parse()': async (answer, options) =>
    readCompletion(await scripted([whole(answer)], options).client.chat.completions.parse(params)),
  'runTools()': async (answer, options) =>
    runTools(scripted([whole(answer)], options).client, false),
  'a whole answer in place of events': async (answer, options) => {
    const { client } = scripted([whole(answer)], options);
    const stream = await client.chat.completions.create({ ...params, stream: true });
    await collect(stream);
    return readCompletion(stream.partial);
  },
  'the AI SDK': async (answer, options) => {
    const { client } = scripted([whole(answer)], options);
    const result = await createModelGateway({ client })('m').doGenerate({ prompt });
    return readParts(result.content, result.finishReason, result.usage.inputTokens.total);
  },
};

const streamDoors: Readonly<Record<string, Door>> = {
  'a loop': async (answer, options) => {
    const { client } = scripted([streamed(answer)], options);
    const stream = await client.chat.completions.create({ ...params, stream: true });
    await collect(stream);
    return readCompletion(stream.partial);
  },
  'the helper': async (answer, options) => {
    const { client } = scripted([streamed(answer)], options);
    return readCompletion(await client.chat.completions.stream(params).finalChatCompletion());
  },
  'a forwarded stream': async (answer, options) => {
    const { client } = scripted([streamed(answer)], options);
    const stream = await client.chat.completions.create({ ...params, stream: true });
    const copy = ChatCompletionStream.fromReadableStream(stream.toReadableStream());
    return readCompletion(await copy.finalChatCompletion());
  },
  'events in place of a whole answer': async (answer, options) =>
    readCompletion(
      await scripted([streamed(answer)], options).client.chat.completions.create(params),
    ),
  'runTools() with events': async (answer, options) =>
    runTools(scripted([streamed(answer)], options).client, true),
  'the AI SDK with events': async (answer, options) => {
    const { client } = scripted([streamed(answer)], options);
    const { stream } = await createModelGateway({ client })('m').doStream({ prompt });
    const parts = await collect(stream);
    const failure = parts.find((part) => part.type === 'error');
    if (failure) throw failure.error;
    const finish = parts.find((part) => part.type === 'finish');
    return readParts(parts, finish?.finishReason, finish?.usage.inputTokens.total);
  },
};

const call = (id: string | undefined, name: string, text: unknown) => ({
  ...(id !== undefined && { id }),
  type: 'function',
  function: { name, arguments: text },
});
const piece = (index: number, id: string, name: string, text: string) =>
  chunk({ tool_calls: [{ index, ...call(id, name, text) }] });
const rest = (index: number, text: string) =>
  chunk({ tool_calls: [{ index, function: { arguments: text } }] });
const choice = (message: object, finish: string | null = 'tool_calls', index = 0) => ({
  index,
  message: { role: 'assistant', ...message },
  finish_reason: finish,
});
const at = (index: number, delta: object, finish: string | null = null) => ({
  ...chunk({}),
  choices: [{ index, delta, finish_reason: finish }],
});
const end = (finish: string | null = 'tool_calls') => chunk({}, finish, { usage });
const two = [
  ['f', '{"n":1}'],
  ['g', '{"n":2}'],
];
const one = [['f', '{"n":1}']];
const finish = 'tool_calls';
const counted = { usage: 9 };

const facts: readonly (Answer & {
  readonly fact: string;
  readonly seen: Seen;
  /** The AI SDK has no field for it. */
  readonly isOwn?: true;
})[] = [
  {
    fact: 'an index is only a key, such as -1 for each call',
    events: [
      piece(-1, 'call_a', 'f', '{"n":1}'),
      piece(-1, 'call_b', 'g', '{"n"'),
      rest(-1, ':2}'),
      end(),
    ],
    seen: { content: null, calls: two, finish, ...counted },
  },
  {
    fact: 'a negative index after another, in the order of arrival',
    events: [piece(0, 'call_a', 'f', '{"n":1}'), piece(-1, 'call_b', 'g', '{"n":2}'), end()],
    seen: { content: null, calls: two, finish, ...counted },
  },
  {
    fact: 'a negative index as text, before another',
    events: [
      chunk({ tool_calls: [{ ...call('call_a', 'f', '{"n":1}'), index: '-2' }] }),
      piece(0, 'call_b', 'g', '{"n":2}'),
      end(),
    ],
    seen: { content: null, calls: two, finish, ...counted },
  },
  {
    fact: 'one choice with the text and one with each call, although n was not asked for',
    choices: [
      choice({ content: 'Let me look.' }),
      choice({ content: null, tool_calls: [call('call_a', 'f', '{"n":1}')] }, finish, 1),
      choice({ content: '', tool_calls: [call('call_b', 'g', '{"n":2}')] }, finish, 2),
    ],
    events: [
      at(0, { role: 'assistant', content: 'Let me ' }),
      at(0, { content: 'look.' }),
      at(1, { tool_calls: [{ index: 0, ...call('call_a', 'f', '{"n"') }] }),
      at(1, { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
      at(2, { tool_calls: [{ index: 0, ...call('call_b', 'g', '{"n":2}') }] }),
      { ...end(), choices: [{ index: 0, delta: {}, finish_reason: finish }] },
    ],
    seen: { content: 'Let me look.', calls: two, finish, ...counted },
  },
  {
    fact: 'choices in one event, each with a finish reason',
    choices: [
      choice({ content: 'Let me look.' }),
      choice({ tool_calls: [call('call_a', 'f', '{"n":1}')] }, finish, 1),
    ],
    events: [
      {
        ...chunk({}, null, { usage }),
        choices: [
          { index: 0, delta: { content: 'Let me look.' }, finish_reason: finish },
          {
            index: 1,
            delta: { tool_calls: [{ index: 0, ...call('call_a', 'f', '{"n":1}') }] },
            finish_reason: finish,
          },
        ],
      },
    ],
    seen: { content: 'Let me look.', calls: one, finish, ...counted },
  },
  {
    fact: 'reasoning, text and a call under the indexes of their blocks',
    isOwn: true,
    events: [
      at(0, { reasoning_content: 'Hm' }),
      at(0, { reasoning_content: '.' }),
      at(1, { content: 'Let me ' }),
      at(1, { content: 'look.' }),
      at(2, { tool_calls: [{ index: 2, ...call('call_a', 'f', '{"n":1}') }] }),
      end(),
    ],
    seen: {
      content: 'Let me look.',
      calls: one,
      finish,
      ...counted,
      message: { reasoning_content: 'Hm.' },
    },
  },
  {
    fact: 'calls without their wrapper, with arguments as text or as an object',
    choices: [
      choice({
        content: null,
        tool_calls: [
          { id: 'call_a', type: 'function', name: 'f', arguments: '{"n":1}' },
          { name: 'g', arguments: { n: 2 } },
        ],
      }),
    ],
    events: [
      chunk({
        tool_calls: [{ index: 0, id: 'call_a', type: 'function', name: 'f', arguments: '' }],
      }),
      chunk({ tool_calls: [{ index: 0, arguments: '{"n"' }] }),
      chunk({ tool_calls: [{ index: 0, arguments: ':1}' }] }),
      chunk({ tool_calls: [{ index: 1, name: 'g', arguments: { n: 2 } }] }),
      end(),
    ],
    seen: { content: null, calls: two, finish, ...counted },
  },
  {
    fact: 'arguments in `input` or `parameters`, and the name in place of the wrapper',
    choices: [
      choice({
        tool_calls: [
          { id: 'call_a', type: 'tool_use', name: 'f', input: { n: 1 } },
          { id: 'call_b', function: 'g', parameters: { n: 2 } },
        ],
      }),
    ],
    events: [
      chunk({
        tool_calls: [{ index: 0, id: 'call_a', type: 'tool_use', name: 'f', input: { n: 1 } }],
      }),
      chunk({ tool_calls: [{ index: 1, id: 'call_b', function: 'g', parameters: { n: 2 } }] }),
      end(),
    ],
    seen: { content: null, calls: two, finish, ...counted },
  },
  {
    fact: 'id and name under one index, the arguments under the next',
    choices: [
      choice({
        tool_calls: [
          call('call_a', 'f', ''),
          { type: 'function', function: { name: '', arguments: '{"n":1}' } },
        ],
      }),
    ],
    events: [piece(0, 'call_a', 'f', ''), rest(1, '{"n"'), rest(1, ':1}'), end()],
    seen: { content: null, calls: one, finish, ...counted },
  },
  {
    fact: 'cut arguments, although the model is said to have finished',
    choices: [
      choice({
        tool_calls: [call('call_a', 'f', '{"n":1}'), call('call_b', 'g', '{"n":2,"t":"lo')],
      }),
    ],
    events: [piece(0, 'call_a', 'f', '{"n":1}'), piece(1, 'call_b', 'g', '{"n":2,"t":"lo'), end()],
    seen: {
      content: null,
      calls: [
        ['f', '{"n":1}'],
        ['g', '{"n":2,"t":"lo', 'cut'],
      ],
      finish,
      ...counted,
    },
  },
  {
    fact: 'text with a finish reason of calls, and no call',
    choices: [choice({ content: 'Done.' })],
    events: [chunk({ content: 'Done.' }), end()],
    seen: { content: 'Done.', calls: [], finish, ...counted },
  },
  {
    fact: 'a finish reason that no client knows',
    choices: [choice({ content: 'Done.' }, 'eos_found')],
    events: [chunk({ content: 'Done.' }), end('eos_found')],
    seen: { content: 'Done.', calls: [], finish: 'eos_found', ...counted },
  },
  {
    fact: 'the finish reason "null" in the middle of a stream',
    events: [chunk({ content: 'Do' }, 'null'), chunk({ content: 'ne.' }, 'null'), end('stop')],
    seen: { content: 'Done.', calls: [], finish: 'stop', ...counted },
  },
  {
    fact: 'the finish reason "null" of a whole answer',
    choices: [choice({ content: 'Done.' }, 'null')],
    seen: { content: 'Done.', calls: [], finish: null, ...counted },
  },
  {
    fact: 'a hollow call beside text',
    choices: [
      choice({ content: 'Done.', tool_calls: [{ id: 'x', function: { name: null } }] }, 'stop'),
    ],
    events: [
      chunk({ content: 'Done.' }),
      chunk({ tool_calls: [{ index: 0, id: '', function: { name: '', arguments: '' } }] }),
      end('stop'),
    ],
    seen: { content: 'Done.', calls: [], finish: 'stop', ...counted },
  },
  {
    fact: 'empty usage after the real one',
    events: [chunk({ content: 'Hi' }), end('stop'), { ...end(), choices: [], usage: {} }],
    seen: { content: 'Hi', calls: [], finish: 'stop', ...counted },
  },
  {
    fact: 'usage of zeros after the real one',
    events: [
      chunk({ content: 'Hi' }),
      end('stop'),
      { ...end(), choices: [], usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } },
    ],
    seen: { content: 'Hi', calls: [], finish: 'stop', ...counted },
  },
  {
    fact: 'text in fields of any name, beside ids, names, types and roles',
    isOwn: true,
    events: [
      chunk({ role: 'assistant', reasoning_text: 'Let me', reasoning_id: 'r1', item_type: 'a' }),
      chunk({ role: 'assistant', reasoning_text: ' compute.', reasoning_id: 'r1', item_type: 'a' }),
      chunk({ content: 'Hi', agentName: 'x' }),
      chunk({ agentName: 'x' }),
      end('stop'),
    ],
    seen: {
      content: 'Hi',
      calls: [],
      finish: 'stop',
      ...counted,
      message: {
        reasoning_text: 'Let me compute.',
        reasoning_id: 'r1',
        item_type: 'a',
        agentName: 'x',
      },
    },
  },
  {
    fact: 'blocks of thinking, whose last piece repeats the text with the signature',
    isOwn: true,
    events: [
      ...['Let me', ' think.'].map((thinking) =>
        chunk({ thinking_blocks: [{ type: 'thinking', thinking, signature: '' }] }),
      ),
      chunk({
        thinking_blocks: [{ type: 'thinking', thinking: 'Let me think.', signature: 's1' }],
      }),
      chunk({ thinking_blocks: [{ type: 'redacted_thinking', data: 'x' }] }),
      chunk({ thinking_blocks: [{ type: 'thinking', thinking: 'More', signature: '' }] }),
      chunk({ thinking_blocks: [{ type: 'thinking', thinking: '', signature: 's2' }] }),
      piece(0, 'call_a', 'f', '{"n":1}'),
      end(),
    ],
    seen: {
      content: null,
      calls: one,
      finish,
      ...counted,
      message: {
        thinking_blocks: [
          { type: 'thinking', thinking: 'Let me think.', signature: 's1' },
          { type: 'redacted_thinking', data: 'x' },
          { type: 'thinking', thinking: 'More', signature: 's2' },
        ],
      },
    },
  },
];

/** What the AI SDK shows, which has no mark for a call that is cut. */
const forSDK = (seen: Seen): Seen => ({
  ...seen,
  calls: seen.calls.map(([name = '', text = '']) => [name, text]),
});

const cells = facts.flatMap(({ fact, seen, isOwn, ...answer }) =>
  [
    ...(answer.choices ? Object.entries(wholeDoors) : []),
    ...(answer.events ? Object.entries(streamDoors) : []),
  ].flatMap(([door, open]) => {
    const isSDK = door.startsWith('the AI SDK');
    return isSDK && isOwn ? [] : [{ fact, door, open, answer, seen: isSDK ? forSDK(seen) : seen }];
  }),
);

describe('what a model wrote', () => {
  test.each(cells)('$fact: $door', async ({ open, answer, seen }) => {
    answered.mockClear();
    expect(await open(answer, { fallback: ['m2', 'm3'] })).toEqual(seen);
    expect(answered).toHaveBeenCalledOnce();
  });
});

const nameless = { id: 'x', type: 'function', function: { name: null, arguments: '{"n":1}' } };
const unnamed = [['', '{"n":1}']];

/** Answers that are an error at each door, or at those that run tools or parse text. */
const failures: readonly (Answer & {
  readonly fact: string;
  readonly doors: RegExp;
  readonly error: RegExp;
  /** What the error keeps of the answer, because it is paid for. */
  readonly kept: Seen;
})[] = [
  {
    fact: 'a finish reason of calls with neither a call nor text',
    doors: /runTools|parse|AI SDK/,
    choices: [choice({ content: '' })],
    events: [chunk({ content: '' }), end()],
    error: /but has neither a tool call nor text|but has none/,
    kept: { content: null, calls: [], finish, ...counted },
  },
  {
    fact: 'reasoning alone, with a finish reason of calls',
    doors: /runTools|parse|AI SDK/,
    choices: [choice({ content: null, reasoning_content: 'Hm.' })],
    events: [chunk({ reasoning_content: 'Hm.' }), end()],
    error: /but has neither a tool call nor text|but has none/,
    kept: {
      content: null,
      calls: [],
      finish,
      ...counted,
      message: { reasoning_content: 'Hm.' },
    },
  },
  {
    fact: 'text beside arguments without a name',
    doors: /./,
    choices: [choice({ content: 'Hi', tool_calls: [nameless] })],
    events: [
      chunk({ content: 'Hi' }),
      chunk({ tool_calls: [{ index: 0, ...nameless }] }),
      end('stop'),
    ],
    error: /contains a tool call with arguments, but without a name/,
    kept: { content: 'Hi', calls: unnamed, finish, ...counted },
  },
  {
    fact: 'text beside an object of arguments without a name',
    doors: /./,
    choices: [
      choice({ content: 'Hi', tool_calls: [{ id: 'x', function: { arguments: { n: 0 } } }] }),
    ],
    events: [
      chunk({ content: 'Hi' }),
      chunk({ tool_calls: [{ index: 0, id: 'x', function: { name: '', arguments: { n: 0 } } }] }),
      end('stop'),
    ],
    error: /contains a tool call with arguments, but without a name/,
    kept: { content: 'Hi', calls: [['', '{"n":0}']], finish, ...counted },
  },
];

/** Returns what an error keeps of the answer. */
function readKept(error: unknown): Seen {
  const held = [error, Object(error).cause].flatMap((each) =>
    ['completion', 'partial', 'data'].map((name): unknown => Reflect.get(Object(each), name)),
  );
  const kept = held.find(isCompletion);
  if (kept === undefined) throw new Error('The error has no completion', { cause: error });
  return readCompletion(kept);
}

const isCompletion = (value: unknown): value is ChatCompletion =>
  Array.isArray(Object(value).choices);

const failedCells = failures.flatMap(({ doors, ...row }) =>
  [
    ...Object.entries(wholeDoors).map(([door, open]) => ({ ...row, door, open })),
    ...Object.entries(streamDoors).map(([door, open]) => ({ ...row, door, open })),
  ].filter(({ door }) => doors.test(door)),
);

describe('what a model did not write', () => {
  test.each(failedCells)('$fact: $door', async ({ open, choices, events, error, kept }) => {
    const answer = { ...(choices && { choices }), ...(events && { events }) };

    answered.mockClear();
    const failure = await failureOf(open(answer, { fallback: ['m2', 'm3'] }));

    expect(failure).toBeInstanceOf(Error);
    expect(String(failure)).toMatch(error);
    // The answer is paid for, so no other model is.
    expect(answered).toHaveBeenCalledOnce();
    const { finish: _, ...others } = kept;
    expect(readKept(failure)).toMatchObject(others);
  });
});

test('two texts are alternatives, even if n was not asked for', async () => {
  const choices = [choice({ content: 'Hello' }, 'stop'), choice({ content: 'Hi' }, 'stop', 1)];
  const { client } = scripted([
    whole({ choices }),
    streamed({ events: [at(0, { content: 'Hello' }, 'stop'), at(1, { content: 'Hi' }, 'stop')] }),
  ]);

  const answers = [
    await client.chat.completions.create(params),
    await client.chat.completions.stream(params).finalChatCompletion(),
  ];

  for (const answer of answers) {
    expect(answer.choices.map(({ message }) => message.content)).toEqual(['Hello', 'Hi']);
  }
});

test.each([{ n: 2 }, { extraBody: { n: 2 } }])(
  'choices that %o asked for are never joined',
  async ({ n, extraBody }) => {
    const choices = [
      choice({ content: 'Hello' }, 'stop'),
      choice({ tool_calls: [call('call_a', 'f', '{}')] }, finish, 1),
    ];
    const events = [
      at(0, { content: 'Hello' }, 'stop'),
      at(1, { tool_calls: [{ index: 0, ...call('call_a', 'f', '{}') }] }, finish),
    ];
    const { client } = scripted([whole({ choices }), streamed({ events })]);
    const asked = { ...params, ...(n && { n }) };
    const options = extraBody && { extraBody };

    const answers = [
      await client.chat.completions.create(asked, options),
      await client.chat.completions.stream(asked, options).finalChatCompletion(),
    ];

    for (const answer of answers) expect(answer.choices).toHaveLength(2);
  },
);

const pieces = (field: string, blocks: readonly object[]) =>
  blocks.map((block) => chunk({ [field]: [block] }));
const thinking = (text: string, signature = '') => ({
  type: 'thinking',
  thinking: text,
  signature,
});
const step = (index: number, text: string) => ({ type: 'reasoning.text', text, index });

/** Reasoning that the next request must repeat. */
const kept: readonly (Answer & { readonly fact: string; readonly sent: object })[] = [
  {
    fact: 'a signed block of thinking',
    choices: [choice({ thinking_blocks: [thinking('Let me think.', 's1')] })],
    events: pieces('thinking_blocks', [
      thinking('Let me'),
      thinking(' think.'),
      thinking('Let me think.', 's1'),
    ]),
    sent: { thinking_blocks: [thinking('Let me think.', 's1')] },
  },
  {
    fact: 'a signed block beside its text',
    choices: [
      choice({ reasoning_content: 'Hm.', thinking_blocks: [thinking('Hm.', 's1')], content: 'A' }),
    ],
    events: [
      chunk({ reasoning_content: 'Hm.', thinking_blocks: [thinking('Hm.')] }),
      chunk({ reasoning_content: '', thinking_blocks: [thinking('', 's1')] }),
      chunk({ content: 'A' }),
    ],
    sent: { thinking_blocks: [thinking('Hm.', 's1')], content: 'A' },
  },
  {
    fact: 'thinking that only the vendor can read, before and after text',
    choices: [
      choice({
        content: 'A',
        thinking_blocks: [{ type: 'redacted_thinking', data: 'x' }, thinking('Hm.', 's1')],
      }),
    ],
    events: [
      ...pieces('thinking_blocks', [{ type: 'redacted_thinking', data: 'x' }]),
      chunk({ content: 'A' }),
      ...pieces('thinking_blocks', [thinking('Hm.'), thinking('Hm.', 's1')]),
    ],
    sent: { thinking_blocks: [{ type: 'redacted_thinking', data: 'x' }, thinking('Hm.', 's1')] },
  },
  {
    fact: 'steps of reasoning whose pieces alternate',
    events: pieces('reasoning_details', [
      step(0, 'a'),
      step(1, 'b'),
      step(0, 'c'),
      { type: 'reasoning.encrypted', data: 'x', index: 2 },
      { type: 'reasoning.encrypted', data: 'x', index: 2 },
    ]),
    sent: {
      reasoning_details: [
        step(0, 'ac'),
        step(1, 'b'),
        { type: 'reasoning.encrypted', data: 'x', index: 2 },
      ],
    },
  },
];

const runs: Readonly<Record<string, (client: Gateway) => PromiseLike<unknown>>> = {
  'runTools()': (client) => client.chat.completions.runTools({ ...params, tools }).done(),
  'runTools() with events': (client) =>
    client.chat.completions.runTools({ ...params, tools, stream: true }).done(),
  'generateText()': (client) =>
    generateText({
      model: createModelGateway({ client })('m'),
      prompt: 'Hi',
      tools: { f: { inputSchema: z.object({}), execute } },
      stopWhen: isStepCount(2),
    }),
  'streamText()': (client) =>
    streamText({
      model: createModelGateway({ client })('m'),
      prompt: 'Hi',
      tools: { f: { inputSchema: z.object({}), execute } },
      stopWhen: isStepCount(2),
    }).consumeStream(),
};

describe('what the next request must repeat', () => {
  const repeated = kept.flatMap(({ fact, choices, events, sent }) =>
    Object.entries(runs).flatMap(([door, run]) => {
      const isStream = /events|stream/.test(door);
      return (isStream ? events : choices) ? [{ fact, door, run, choices, events, sent }] : [];
    }),
  );

  test.each(repeated)('$fact: $door', async ({ door, run, choices = [], events = [], sent }) => {
    const called = { tool_calls: [call('call_a', 'f', '{}')] };
    const isStream = /events|stream/.test(door);
    const { client, requests } = scripted(
      isStream
        ? [
            streamed({ events: [...events, piece(0, 'call_a', 'f', '{}'), end()] }),
            streamed({ events: [chunk({ content: 'Bye' }), end('stop')] }),
          ]
        : [
            whole({
              choices: choices.map((each) => ({
                ...each,
                message: { ...Object(Reflect.get(each, 'message')), ...called },
              })),
            }),
            whole({ choices: [choice({ content: 'Bye' }, 'stop')] }),
          ],
    );

    await run(client);

    const body: unknown = await requests[1]?.json();
    expect(body).toMatchObject({ messages: [{}, { ...sent, ...called }, { role: 'tool' }] });
    expect(JSON.stringify(body)).not.toMatch(/thinkingBlocks|reasoningDetails/);
  });
});

const history = (args: string) =>
  ({
    role: 'assistant',
    tool_calls: [{ id: 'call_a', type: 'function', function: { name: 'f', arguments: args } }],
  }) as const;
const result = { role: 'tool', tool_call_id: 'call_a', content: 'ok' } as const;

/** Ways to send a conversation with a call, whose arguments servers parse. */
const senders: Readonly<Record<string, (client: Gateway, args: string) => PromiseLike<unknown>>> = {
  'create()': (client, args) =>
    client.chat.completions.create({ model: 'm', messages: [history(args), result] }),
  'stream()': (client, args) =>
    client.chat.completions.stream({ model: 'm', messages: [history(args), result] }).done(),
  'runTools()': (client, args) =>
    client.chat.completions
      .runTools({ model: 'm', messages: [history(args), result], tools })
      .done(),
  'the AI SDK': (client, args) =>
    createModelGateway({ client })('m').doGenerate({
      prompt: [
        {
          role: 'assistant',
          content: [{ type: 'tool-call', toolCallId: 'call_a', toolName: 'f', input: args }],
        },
      ],
    }),
};

test.each(['', 'null', '{"n":1,"t":"lo'])(
  'arguments %j in a conversation of responses are sent as {}',
  async (args) => {
    const { client, requests } = scripted([
      json({ id: 'r', object: 'response', status: 'completed', output: [] }),
    ]);

    await client.responses.create({
      model: 'm',
      input: [{ type: 'function_call', call_id: 'call_a', name: 'f', arguments: args }],
    });

    expect(await requests[0]?.json()).toMatchObject({ input: [{ arguments: '{}' }] });
  },
);

describe.each(Object.entries(senders))('arguments in a conversation, by %s', (_, send) => {
  test.each([
    ['', '{}'],
    [' \n', '{}'],
    ['null', '{}'],
    ['{"n":1,"t":"lo', '{}'],
    ['n = 1', '{}'],
    ['{"n": 1}', '{"n": 1}'],
    ['[1]', '[1]'],
  ])('%j are sent as %j', async (args, expected) => {
    const { client, requests } = scripted([
      whole({ choices: [choice({ content: 'Hi' }, 'stop')] }),
    ]);

    await send(client, args);

    expect(await requests[0]?.json()).toMatchObject({
      messages: expect.arrayContaining([
        expect.objectContaining({
          tool_calls: [expect.objectContaining({ function: { name: 'f', arguments: expected } })],
        }),
      ]),
    });
  });
});

test.each([
  ['eos_token', 'stop'],
  ['Completed', 'stop'],
  ['toolUse', 'tool-calls'],
  ['tool_call', 'tool-calls'],
  ['length', 'length'],
  ['eos_found', 'other'],
])(
  'the finish reason "%s" is "%s" to the AI SDK, as it is to runTools()',
  async (reason, unified) => {
    const called = choice({ tool_calls: [call('call_a', 'f', '')] }, reason);
    const event = at(0, { tool_calls: [{ index: 0, ...call('call_a', 'f', '') }] }, reason);
    const provider = createModelGateway({
      client: scripted([whole({ choices: [called] })]).client,
    });
    const streaming = createModelGateway({
      client: scripted([streamed({ events: [event] })]).client,
    });

    const answer = await provider('m').doGenerate({ prompt });
    const { stream } = await streaming('m').doStream({ prompt });
    const parts = await collect(stream);

    const finished = parts.find((part) => part.type === 'finish');
    expect([answer.finishReason.unified, finished?.finishReason.unified]).toEqual([
      unified,
      unified,
    ]);
    // Empty arguments are whole only if the model ended the response itself.
    const inputs = [answer.content, parts].map((list) =>
      list.flatMap((part) => (part.type === 'tool-call' ? [part.input] : [])),
    );
    const expected = /stop|tool/.test(unified) ? ['{}'] : [];
    expect(inputs).toEqual([expected, expected]);
  },
);

const looks = ['look', 'roll'].map((name) =>
  tool({
    name,
    schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    execute,
  }),
);

/** Runs tools on an emulator, whole and then streamed. */
async function runEmulated(quirks: Partial<Quirks>, model = 'm-large') {
  const { client, emulator } = emulated({}, { quirks });
  const { completions } = client.chat;
  const asked = { ...params, model, tools: looks };
  execute.mockClear();
  const failed: unknown[] = [];
  for (const stream of [false, true]) {
    const run = stream
      ? completions.runTools({ ...asked, stream })
      : completions.runTools({ ...asked, stream });
    await run.done().catch((error: unknown) => failed.push(error));
  }
  const bodies = emulator.requests.map(({ body }) => (body.kind === 'json' ? body.value : {}));
  return { failed, bodies, charges: emulator.charges };
}

describe('content that the emulator writes', () => {
  test.each(['negative-index', 'halves', 'unwrapped', 'choices'] as const)(
    'the emulator writes calls in the form %s, which run once each',
    async (chatToolCalls) => {
      const chatToolCallCount = chatToolCalls === 'halves' ? 1 : 2;

      const { failed, charges } = await runEmulated({ chatToolCalls, chatToolCallCount });

      expect(failed).toEqual([]);
      expect(execute).toHaveBeenCalledTimes(2 * chatToolCallCount);
      expect(charges).toHaveLength(4);
    },
  );

  test('the emulator writes cut calls, which do not run, and whose text is in the result and not in the call', async () => {
    const { failed, bodies } = await runEmulated({ chatToolCalls: 'cut' });

    expect(failed).toEqual([]);
    expect(execute).not.toHaveBeenCalled();
    for (const body of [bodies[1], bodies[3]]) {
      expect(body).toMatchObject({
        messages: [
          {},
          { tool_calls: [{ function: { name: 'look', arguments: '{}' } }] },
          { role: 'tool', content: expect.stringMatching(/^The arguments are invalid.*"city/s) },
        ],
      });
    }
  });

  test('the emulator writes a finish reason of calls without a call, which ends the run with an error', async () => {
    const { failed, charges } = await runEmulated({ chatToolCalls: 'missing' });

    expect(failed).toMatchObject([{ completion: {} }, { completion: {} }]);
    expect(failed.map(String)).toEqual(
      Array.from({ length: 2 }, () => expect.stringContaining('neither a tool call nor text')),
    );
    expect(charges).toHaveLength(2);
  });

  test('the emulator writes thinking and reasoning in fields of their own, which are sent back as one text', async () => {
    const blocks = await runEmulated({ chatReasoning: 'thinking_blocks' }, 'm-reasoning');
    const text = await runEmulated({ chatReasoning: 'reasoning_text' }, 'm-reasoning');

    const thought = {
      type: 'thinking',
      thinking: expect.any(String),
      signature: expect.any(String),
    };
    for (const body of [blocks.bodies[1], blocks.bodies[3]]) {
      expect(body).toMatchObject({ messages: [{}, { thinking_blocks: [thought] }, {}] });
    }
    const [, first, , second] = text.bodies.map((body) => Object(body).messages[1]?.reasoning_text);
    expect(first).toEqual(expect.stringContaining(' '));
    expect(second).toBe(first);
  });

  test('the emulator writes empty usage after the real one', async () => {
    const { client } = emulated({}, { quirks: { chatUsage: 'emptied' } });
    const stream = await client.chat.completions.create({
      ...params,
      model: 'm-large',
      stream: true,
    });
    const chunks = await collect(stream);

    expect(stream.usage?.prompt_tokens).toBeGreaterThan(0);
    expect(chunks.flatMap(({ usage: each }) => each ?? [])).toHaveLength(1);
    const { lines } = await client.account.spent();
    expect(lines).toMatchObject([{ tokens: { input: stream.usage?.prompt_tokens } }]);
  });
});
