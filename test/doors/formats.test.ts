// Facts about what a model wrote × doors, in Gemini's format and in that of responses; usage of all streams.
import { describe, expect, test } from 'vitest';
import {
  type Gateway,
  type GatewayOptions,
  tool,
  UnexpectedResponseError,
} from '../../src/index.ts';
import { collect, eventStream, failureOf, json, scripted } from '../helpers/clients.ts';

/** What a door shows of an answer: its text, its calls, and the count of input tokens. */
interface Seen {
  readonly text: string;
  readonly calls: readonly string[];
  readonly finish?: string | undefined;
  readonly usage?: number | undefined;
}

interface Answer {
  readonly whole?: object;
  readonly events?: readonly object[];
}

type Door = (answer: Answer, client: Gateway) => Promise<Seen>;

interface Format {
  readonly doors: Readonly<Record<string, Door>>;
  readonly facts: readonly (Answer & {
    readonly fact: string;
    readonly seen: Seen;
    /** The doors. All by default. */
    readonly at?: RegExp;
  })[];
  /** Answers that are an error, with what it keeps. */
  readonly failures: readonly (Answer & { readonly fact: string })[];
}

const model = 'm';
const tools = [tool({ name: 'f', execute: () => 'ok' })];

type Generation = Awaited<ReturnType<Gateway['generate']['content']>>;

const ofGeneration = (response: Generation | undefined): Seen => ({
  text: response?.text ?? '',
  calls: (response?.functionCalls ?? []).map(({ name = '' }) => name),
  finish: response?.candidates?.[0]?.finishReason ?? undefined,
  usage: response?.usageMetadata?.promptTokenCount,
});

async function streamGeneration(_: Answer, { generate }: Gateway): Promise<Seen> {
  const stream = await generate.contentStream({ model, contents: 'Hi' });
  await collect(stream);
  return ofGeneration(stream.partial);
}

const candidate = (parts: readonly object[], finishReason?: string, promptTokenCount?: number) => ({
  candidates: [{ content: { role: 'model', parts }, ...(finishReason && { finishReason }) }],
  ...(promptTokenCount !== undefined && { usageMetadata: { promptTokenCount } }),
});
const nameless = { functionCall: { args: { n: 0 } } };
const hollow = { functionCall: { name: '', args: {} } };
const hi = { text: 'Hi', calls: [], finish: 'STOP', usage: 9 };

const gemini: Format = {
  doors: {
    'generate.content': async (_, { generate }) =>
      ofGeneration(await generate.content({ model, contents: 'Hi' })),
    'generate.runTools': async (_, { generate }) =>
      ofGeneration(
        (await generate.runTools({ model, contents: 'Hi', functions: tools })).responses[0],
      ),
    'generate.contentStream': streamGeneration,
  },
  facts: [
    {
      fact: 'the finish reason "null"',
      whole: { ...candidate([{ text: 'Hi' }], 'null', 9) },
      seen: { ...hi, finish: undefined },
      // A stream without a finish reason may have been cut.
      at: /content$|runTools/,
    },
    {
      fact: 'the finish reason "null" before the end',
      events: [
        candidate([{ text: 'H' }], 'null'),
        candidate([{ text: 'i' }], 'None'),
        candidate([], 'STOP', 9),
      ],
      seen: hi,
    },
    {
      fact: 'a hollow call beside text',
      whole: candidate([{ text: 'Hi' }, hollow, { functionCall: {} }], 'STOP', 9),
      events: [candidate([{ text: 'Hi' }]), candidate([hollow]), candidate([], 'STOP', 9)],
      seen: hi,
    },
    {
      fact: 'empty usage after the real one',
      events: [
        candidate([{ text: 'Hi' }], undefined, 9),
        candidate([], 'STOP', 0),
        { usageMetadata: {} },
      ],
      seen: hi,
    },
  ],
  failures: [
    {
      fact: 'text beside arguments without a name',
      whole: candidate([{ text: 'Hi' }, nameless], 'STOP', 9),
      events: [candidate([{ text: 'Hi' }]), candidate([nameless]), candidate([], 'STOP', 9)],
    },
    {
      fact: 'text beside arguments in pieces without a name',
      events: [
        candidate([{ text: 'Hi' }]),
        candidate([
          {
            functionCall: {
              partialArgs: [{ jsonPath: '$.n', numberValue: 1 }],
              willContinue: true,
            },
          },
        ]),
        candidate([{ functionCall: {} }], 'STOP', 9),
      ],
    },
  ],
};

type ModelResponse = Awaited<ReturnType<Gateway['responses']['parse']>>;

const ofResponse = (response: Omit<ModelResponse, 'output_parsed'> | undefined): Seen => ({
  text: response?.output_text ?? '',
  calls: (response?.output ?? []).flatMap((item) =>
    item.type === 'function_call' ? [item.name] : [],
  ),
  finish: response?.status,
  usage: response?.usage?.input_tokens,
});

const message = {
  type: 'message',
  id: 'm',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Hi', annotations: [] }],
};
const called = (name: unknown, args: unknown) => ({
  type: 'function_call',
  id: 'fc',
  call_id: 'c',
  name,
  arguments: args,
  status: 'completed',
});
const response = (output: readonly object[], usage: object = { input_tokens: 9 }) => ({
  id: 'r',
  object: 'response',
  model,
  created_at: 1,
  status: 'completed',
  output,
  usage,
});
const item = (output_index: number, value: object) => ({
  type: 'response.output_item.done',
  output_index,
  item: value,
});
const completed = (value: object) => ({ type: 'response.completed', response: value });
const hello = { text: 'Hi', calls: [], finish: 'completed', usage: 9 };

const responses: Format = {
  doors: {
    'responses.create': async (_, client) =>
      ofResponse(await client.responses.create({ model, input: 'Hi' })),
    'responses.parse': async (_, client) =>
      ofResponse(await client.responses.parse({ model, input: 'Hi' })),
    'a stream of responses': async (_, client) => {
      const stream = await client.responses.create({ model, input: 'Hi', stream: true });
      await collect(stream);
      return ofResponse(stream.partial);
    },
  },
  facts: [
    {
      fact: 'a hollow call beside text',
      whole: response([message, called(null, '')]),
      events: [
        item(0, message),
        item(1, called('', '{}')),
        completed(response([message, called('', '{}')])),
      ],
      seen: hello,
    },
    {
      fact: 'empty usage after the real one',
      events: [
        { type: 'response.in_progress', response: { ...response([]), status: 'in_progress' } },
        item(0, message),
        completed(response([message], { input_tokens: 0, output_tokens: 0 })),
      ],
      seen: hello,
    },
    {
      fact: 'a name that only an earlier event has',
      events: [
        { ...item(0, called('f', '')), type: 'response.output_item.added' },
        { type: 'response.function_call_arguments.done', output_index: 0, arguments: '{"n":1}' },
        completed(response([called('', '')])),
      ],
      seen: { text: '', calls: ['f'], finish: 'completed', usage: 9 },
    },
  ],
  failures: [
    {
      fact: 'text beside arguments without a name',
      whole: response([message, called(null, '{"n":1}')]),
      events: [
        item(0, message),
        item(1, called('', '{"n":1}')),
        completed(response([message, called('', '{"n":1}')])),
      ],
    },
  ],
};

const isStream = (door: string): boolean => /stream/i.test(door);

/** The doors of an answer: each in its own form and in the other one. */
const cells = <Fact extends Answer & { readonly fact: string }>(
  { doors }: Format,
  facts: readonly Fact[],
) =>
  facts.flatMap((fact) =>
    Object.entries(doors).flatMap(([door, open]) =>
      [fact.whole && json(fact.whole), fact.events && eventStream(...fact.events)].flatMap(
        (sent, index) => {
          const isOther = isStream(door) !== (index === 1);
          const title = `${door}${isOther ? ', in the other form' : ''}`;
          return sent ? [{ ...fact, door: title, open, sent }] : [];
        },
      ),
    ),
  );

const openDoor = (open: Door, sent: () => Response, options?: GatewayOptions) => {
  const { client, requests } = scripted([sent], options);
  return { seen: open({}, client), requests };
};

describe.each([
  { name: "Gemini's format", format: gemini },
  { name: 'responses', format: responses },
])('what a model wrote in $name', ({ format }) => {
  const known = cells(format, format.facts).filter(({ door, at = /./ }) => at.test(door));

  test.each(known)('$fact: $door', async ({ open, sent, seen }) => {
    expect(await openDoor(open, sent).seen).toEqual(seen);
  });

  test.each(cells(format, format.failures))(
    '$fact, which no other model is paid for: $door',
    async ({ open, sent }) => {
      const { seen, requests } = openDoor(open, sent, { fallback: ['m2', 'm3'], maxRetries: 2 });

      const error = await failureOf(seen);

      expect(String(error)).toContain('contains a tool call with arguments, but without a name');
      expect(requests).toHaveLength(1);
      const kept: unknown = UnexpectedResponseError.isInstance(error)
        ? error.data
        : Reflect.get(Object(error), 'partial');
      expect(JSON.stringify(kept)).toContain('"Hi"');
    },
  );
});

const png = 'iVBORw0KGgo=';
const file = new File([new Uint8Array([0x49, 0x44, 0x33, 4])], 'a.mp3');
const tokens = { input_tokens: 9, output_tokens: 1, total_tokens: 10 };

/** Streams whose usage is followed by an empty one. */
const usages: readonly {
  readonly name: string;
  readonly open: (client: Gateway) => PromiseLike<AsyncIterable<unknown> & { usage?: unknown }>;
  readonly events: readonly object[];
}[] = [
  {
    name: 'images',
    open: ({ images }) => images.generate({ model, prompt: 'A boat', stream: true }),
    events: [
      { type: 'image_generation.partial_image', b64_json: png, usage: tokens },
      { type: 'image_generation.completed', b64_json: png, usage: {} },
    ],
  },
  {
    name: 'speech',
    open: ({ audio }) =>
      audio.speech.create({ model, voice: 'alloy', input: 'Hi', stream_format: 'sse' }),
    events: [
      { type: 'speech.audio.delta', audio: 'AAAA', usage: tokens },
      { type: 'speech.audio.done', usage: { input_tokens: 0 } },
    ],
  },
  {
    name: 'a transcription',
    open: ({ audio }) => audio.transcriptions.create({ model, file, stream: true }),
    events: [
      { type: 'transcript.text.delta', delta: 'Hi', usage: tokens },
      { type: 'transcript.text.done', text: 'Hi', usage: {} },
    ],
  },
];

test.each(usages)('empty usage after the real one, in a stream of $name', async (row) => {
  const { client } = scripted([eventStream(...row.events)]);

  const stream = await row.open(client);
  await collect(stream);

  expect(stream.usage).toMatchObject(tokens);
  const { lines } = await client.account.spent();
  expect(lines).toMatchObject([{ tokens: { input: 9 } }]);
});
