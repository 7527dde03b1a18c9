import type OpenAI from 'openai';
import * as z from 'zod';
import { z as z3 } from 'zod/v3';
import * as mini from 'zod/mini';
import { describe, expectTypeOf, test } from 'vitest';
import { zodFunction, zodResponseFormat } from '../../../src/adapters/helpers/zod.ts';
import {
  type ChatCompletionCreateParamsNonStreaming,
  type ChatCompletionRunner,
  type ChatCompletionStream,
  type ChatCompletionStreamingRunner,
  type ChatCompletionStreamParams,
  type Gateway,
  responseFormat,
  type RunnableToolFunction,
  type StandardSchemaV1,
  tool,
} from '../../../src/index.ts';

interface Place {
  city: string;
  days: number;
}

const isPlace = (value: unknown): value is Place => value !== null;

/** Types of the results; never run. */
async function calls({ chat: { completions }, generate }: Gateway) {
  const ask = { model: 'm', messages: [{ role: 'user' as const, content: 'Where?' }] };
  const Zod4 = z.object({ city: z.string(), days: z.string().transform(Number) });
  const place = responseFormat(Zod4, 'place');
  const streamed = completions.stream({ ...ask, response_format: place });
  const tools = [
    tool({ name: 'find', schema: Zod4, execute: ({ days }) => days.toFixed(1) }),
    tool({ name: 'now', execute: () => new Date() }),
  ];
  return {
    zod4: await completions.parse({ ...ask, response_format: place }),
    zod3: await completions.parse({
      ...ask,
      response_format: responseFormat(z3.object({ city: z3.string() }), 'place', {
        jsonSchema: {},
      }),
    }),
    mini: await completions.parse({
      ...ask,
      response_format: zodResponseFormat(mini.object({ city: mini.string() }), 'place'),
    }),
    guarded: await completions.parse({
      ...ask,
      response_format: responseFormat({ type: 'object' }, 'place', { validate: isPlace }),
    }),
    claimed: await completions.parse({
      ...ask,
      response_format: responseFormat<Place>({ type: 'object' }),
    }),
    plain: await completions.parse({ ...ask, response_format: responseFormat({ type: 'object' }) }),
    raw: await completions.parse({
      ...ask,
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema: {} } },
    }),
    text: await completions.parse({ ...ask, response_format: { type: 'text' } }),
    none: await completions.parse(ask),
    streamed,
    unformatted: completions.stream(ask),
    run: completions.runTools({ ...ask, tools }),
    streamedRun: completions.runTools({ ...ask, tools, stream: true, response_format: place }),
    functions: await generate.runTools({ model: 'm', contents: 'Hi', functions: tools }),
  };
}

type Calls = Awaited<ReturnType<typeof calls>>;
type Parsed<Name extends keyof Calls> = Calls[Name] extends {
  choices: { message: { parsed: infer Value } }[];
}
  ? Value
  : never;

const parse = (gateway: Gateway, params: ChatCompletionCreateParamsNonStreaming) =>
  gateway.chat.completions.parse(params);

const stream = (gateway: Gateway, params: ChatCompletionStreamParams) =>
  gateway.chat.completions.stream(params);

const misspell = (gateway: Gateway) => [
  // @ts-expect-error -- the field is called max_tokens
  gateway.chat.completions.parse({ model: 'm', messages: [], max_token: 3 }),
  // @ts-expect-error -- the field is called max_tokens
  gateway.chat.completions.stream({ model: 'm', messages: [], max_token: 3 }),
  // @ts-expect-error -- the field is called max_tokens
  gateway.chat.completions.runTools({ model: 'm', messages: [], tools: [], max_token: 3 }),
];

const run = (gateway: Gateway, tools: RunnableToolFunction[]) =>
  gateway.chat.completions
    .runTools({
      model: 'm',
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [
        ...tools,
        zodFunction({ name: 'a', parameters: z.object({}), function: () => 1 }),
        {
          type: 'function',
          function: {
            name: 'b',
            description: 'Does b.',
            parse: JSON.parse,
            parameters: { type: 'object' },
            function: ({ city }: { city: string }, runner) => {
              runner.abort();
              runner.messages.push({ role: 'user', content: city });
            },
          },
        },
      ],
    })
    .on('functionToolCallResult', (content) => {
      expectTypeOf(content).toEqualTypeOf<string>();
    });

describe('the type of a parsed response', () => {
  test('the type of a parsed response follows from the schema of any library', () => {
    expectTypeOf<Parsed<'zod4'>>().toEqualTypeOf<Place | null>();
    expectTypeOf<Parsed<'zod3'>>().toEqualTypeOf<{ city: string } | null>();
    expectTypeOf<Parsed<'mini'>>().toEqualTypeOf<{ city: string } | null>();
  });

  test('the type of a parsed response of a plain JSON Schema is the type argument, or unknown', () => {
    expectTypeOf<Parsed<'guarded'>>().toEqualTypeOf<Place | null>();
    expectTypeOf<Parsed<'claimed'>>().toEqualTypeOf<Place | null>();
    expectTypeOf<Parsed<'plain'>>().toBeUnknown();
    expectTypeOf<Parsed<'raw'>>().toBeUnknown();
  });

  test('the type of a parsed response is null without a format', () => {
    expectTypeOf<Parsed<'text'>>().toEqualTypeOf<null>();
    expectTypeOf<Parsed<'none'>>().toEqualTypeOf<null>();
  });

  test('the type of a parsed response is inferred for streams, their events and runs', () => {
    expectTypeOf<Calls['streamed']>().toEqualTypeOf<ChatCompletionStream<Place>>();
    expectTypeOf<Calls['unformatted']>().toEqualTypeOf<ChatCompletionStream>();
    expectTypeOf<Calls['run']>().toEqualTypeOf<ChatCompletionRunner>();
    expectTypeOf<Calls['streamedRun']>().toEqualTypeOf<ChatCompletionStreamingRunner<Place>>();
    expectTypeOf<Calls['functions']['response']['text']>().toEqualTypeOf<string | undefined>();
    const listen = (placed: ChatCompletionStream<Place>) =>
      placed.on('content.done', ({ parsed }) => {
        expectTypeOf(parsed).toEqualTypeOf<Place | null>();
      });
    expectTypeOf(listen).toBeFunction();
  });

  test('the type of a parsed response is unknown if parameters have only their declared type', () => {
    type Message = Awaited<ReturnType<typeof parse>>['choices'][number]['message'];

    expectTypeOf<Message['parsed']>().toBeUnknown();
    expectTypeOf<ReturnType<typeof stream>>().toEqualTypeOf<ChatCompletionStream<unknown>>();
  });
});

describe('the types of structured output', () => {
  test('the types of structured output accept zod validators', () => {
    expectTypeOf<z.ZodObject>().toExtend<StandardSchemaV1>();
    expectTypeOf<z3.ZodTypeAny>().toExtend<StandardSchemaV1>();
    expectTypeOf<mini.ZodMiniObject>().toExtend<StandardSchemaV1>();
  });

  test('the types of structured output reject misspelled fields', () => {
    expectTypeOf(misspell).toBeFunction();
  });

  test('the types of structured output accept tools in the format of the openai package', () => {
    expectTypeOf(run).toBeFunction();
  });

  test("the types of structured output have the methods of the openai package's runners", () => {
    type Completions = OpenAI['chat']['completions'];
    type Theirs = ReturnType<Completions['runTools']>;
    type Lacking = Exclude<keyof Theirs, keyof ChatCompletionStreamingRunner | `_${string}`>;

    expectTypeOf<Lacking>().toBeNever();
  });
});
