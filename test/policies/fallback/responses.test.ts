import * as z from 'zod';
import { describe, expect, test } from 'vitest';
import { type Gateway, type GatewayOptions, responseFormat, tool } from '../../../src/index.ts';
import {
  collect,
  emulated,
  eventStream,
  failureOf,
  json,
  misuse,
  scripted,
} from '../../helpers/clients.ts';
import { mediaHeads } from '../../helpers/media.ts';

const model = 'model-a';
const messages = [{ role: 'user' as const, content: 'hi' }];
const file = new File([mediaHeads.mp3], 'talk.mp3');
const rejected = json({ error: { message: 'Slow down' } }, 429);

const piece = (index: number) => ({
  id: 'c-1',
  choices: [{ index, delta: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
});
const image = (type: string) => ({ type, b64_json: 'aGk=' });

/** Calls for a number of results, whose stream has no terminator. */
const streams: readonly {
  operation: string;
  event: (index: number) => object;
  run: (client: Gateway, n: number, options: GatewayOptions) => Promise<unknown>;
}[] = [
  {
    operation: 'chat.completions.create',
    event: piece,
    run: async ({ chat }, n, options) =>
      collect(await chat.completions.create({ model, messages, n, stream: true }, options)),
  },
  {
    operation: 'chat.completions.create, not streamed',
    event: piece,
    run: ({ chat }, n, options) =>
      Promise.resolve(chat.completions.create({ model, messages, n }, options)),
  },
  {
    operation: 'chat.completions.parse',
    event: piece,
    run: ({ chat }, n, options) =>
      Promise.resolve(chat.completions.parse({ model, messages, n }, options)),
  },
  {
    operation: 'images.generate',
    event: () => image('image_generation.completed'),
    run: async ({ images }, n, options) =>
      collect(await images.generate({ model, prompt: 'a boat', n, stream: true }, options)),
  },
  {
    operation: 'images.edit',
    event: () => image('image_edit.completed'),
    run: async ({ images }, n, options) =>
      collect(
        await images.edit(
          { model, prompt: 'a boat', image: mediaHeads.png, n, stream: true },
          options,
        ),
      ),
  },
];

/** A client whose first model is rejected, and whose second transcribes. */
const connect = () => scripted([rejected, json({ text: 'Hello' })], { maxRetries: 0 }).client;

describe('the response of a fallback is read by its own parameters', () => {
  test.for(streams)('$operation is complete with its number of results', async (row) => {
    const { client } = scripted([rejected, eventStream(row.event(0))], { maxRetries: 0 });

    await expect(
      row.run(client, 2, { fallback: [{ model: 'model-b', n: 1 }] }),
    ).resolves.toBeDefined();
  });

  test.for(streams)('$operation is truncated if a result is missing', async (row) => {
    const { client } = scripted([rejected, eventStream(row.event(0))], { maxRetries: 0 });

    const failed = await failureOf(row.run(client, 1, { fallback: [{ model: 'model-b', n: 2 }] }));

    expect(failed).toHaveProperty('name', 'StreamTruncatedError');
  });

  test.for<{ from: 'json' | 'text'; to: 'json' | 'text'; result: unknown }>([
    { from: 'json', to: 'text', result: 'Hello' },
    { from: 'text', to: 'json', result: { text: 'Hello' } },
  ])('transcriptions and translations in $to after $from', async ({ from, to, result }) => {
    const options = { fallback: [{ model: 'model-b', response_format: to }] };
    const params = { model, file, response_format: from };
    const { audio } = connect();
    const transcript = await audio.transcriptions.create(params, options);
    const translation = await connect().audio.translations.create(params, options);

    expect([transcript, translation].map((value) => JSON.parse(JSON.stringify(value)))).toEqual([
      result,
      result,
    ]);
  });
});

const city = responseFormat(z.object({ city: z.string() }), 'city');
const town = responseFormat(z.object({ town: z.string() }), 'town');
const find = tool({ name: 'find', description: 'Finds.', schema: z.object({}), execute: () => '' });

/** Methods that parse the response by the schema of `city`. */
const parsers: readonly {
  method: string;
  isStream?: true;
  parse: (client: Gateway, options: GatewayOptions) => Promise<unknown>;
}[] = [
  {
    method: 'parse',
    async parse({ chat }, options) {
      const params = { model, messages, response_format: city };
      return (await chat.completions.parse(params, options)).choices[0]?.message.parsed;
    },
  },
  {
    method: 'stream',
    isStream: true,
    async parse({ chat }, options) {
      const params = { model, messages, response_format: city };
      const completion = await chat.completions.stream(params, options).finalChatCompletion();
      return completion.choices[0]?.message.parsed;
    },
  },
  {
    method: 'runTools',
    async parse({ chat }, options) {
      const params = { model, messages, response_format: city, tools: [find] };
      const completion = await chat.completions.runTools(params, options).finalChatCompletion();
      return completion.choices[0]?.message.parsed;
    },
  },
];

const answer = (content: string, isStream: true | undefined) => {
  const message = { role: 'assistant', content };
  const choice = { index: 0, finish_reason: 'stop' };
  return isStream
    ? eventStream({ choices: [{ ...choice, delta: message }] }, '[DONE]')
    : json({ choices: [{ ...choice, message }] });
};

describe('structured output of a fallback', () => {
  test.for(parsers)(
    'structured output of a fallback is parsed by its own schema: $method',
    async ({ parse, isStream }) => {
      const { client } = scripted([rejected, answer('{"town":"Bath"}', isStream)], {
        maxRetries: 0,
      });

      const parsed = await parse(client, {
        fallback: [{ model: 'model-b', response_format: town }],
      });

      expect(parsed).toEqual({ town: 'Bath' });
    },
  );

  test.for(parsers)(
    'structured output of a fallback is parsed by the schema of the call if it has none: $method',
    async ({ parse, isStream }) => {
      const { client } = scripted([rejected, rejected, answer('{"city":"Rome"}', isStream)], {
        maxRetries: 0,
      });

      const parsed = await parse(client, {
        fallback: [
          { model: 'model-b', response_format: town },
          { model: 'model-c', response_format: { type: 'json_object' } },
        ],
      });

      expect(parsed).toEqual({ city: 'Rome' });
    },
  );
});

describe('a fallback that changes whether the response is streamed', () => {
  const speech = { model, input: 'hi', voice: 'alloy' };
  const picture = { model, prompt: 'a boat' };

  test.for([
    {
      what: 'stream',
      part: 'chat.completions',
      params: { model, messages },
      own: { stream: true },
    },
    {
      what: 'stream',
      part: 'chat.completions',
      params: { model, messages, stream: true },
      own: { stream: false },
    },
    { what: 'stream', part: 'images', params: picture, own: { stream: true } },
    { what: 'stream_format', part: 'audio.speech', params: speech, own: { stream_format: 'sse' } },
  ])(
    'a fallback that changes whether the response is streamed is rejected before anything is sent: $what of $part',
    async ({ what, part, params, own }) => {
      for (const isOfClient of [false, true]) {
        const options = { fallback: [{ model: 'model-b', ...own }] };
        const { client, emulator } = emulated(isOfClient ? options : {});
        const resource: unknown = part
          .split('.')
          .reduce<unknown>((parent, name) => Reflect.get(Object(parent), name), client);
        const method = part === 'images' ? 'generate' : 'create';

        const failed = await failureOf(
          misuse(Object(resource), method, params, isOfClient ? {} : options),
        );

        expect(failed).toMatchObject({ name: 'InvalidInputError', field: `fallback[0].${what}` });
        expect(emulator.requests).toHaveLength(0);
      }
    },
  );

  test('a fallback that repeats the value of the call does not change whether the response is streamed', async () => {
    const params = { model, messages, stream: true } as const;
    const { client, emulator } = emulated({ maxRetries: 0 });
    emulator.fail({ fault: { type: 'error', status: 429 } });

    await collect(
      await client.chat.completions.create(params, { fallback: [{ ...params, model: 'model-b' }] }),
    );

    expect(emulator.requests).toHaveLength(2);
  });
});

test('a response that only fails strict validation is not replaced by that of another model', async () => {
  const message = { role: 'assistant', content: 'Hi' };
  const choices = [{ index: 0, message, finish_reason: 'stop' }];
  const { client, requests } = scripted([json({ id: 'c-1', created: 'today', choices })]);
  const options = { validation: 'strict', fallback: ['model-b'] } as const;

  const error = await failureOf(client.chat.completions.create({ model, messages }, options));

  expect(error).toMatchObject({ name: 'UnexpectedResponseError', issues: [{ path: 'created' }] });
  expect(requests).toHaveLength(1);
});
