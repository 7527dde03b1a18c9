// Wrappers that trace: what they give works, throws and pays as the client that they were given.
import { observeOpenAI } from '@langfuse/openai';
import { wrapOpenAI as wrapForBraintrust } from 'braintrust';
import { Client } from 'langsmith';
import { wrapOpenAI as wrapForLangSmith } from 'langsmith/wrappers/openai';
import { asOpenAI, StreamTruncatedError, tool, type Gateway } from '../../dist/index.js';
import { describe, expect, test } from 'vitest';
import OpenAI from 'openai';
import { ask, cutNextStream, setUp, spentAt } from './emulator.ts';

/** LangSmith, with a server that takes every trace. */
const traces: string[] = [];
const langSmith = new Client({
  apiUrl: 'https://traces.test',
  apiKey: 'ls-key',
  autoBatchTracing: false,
  fetchImplementation: async (input) => {
    traces.push(String(input instanceof Request ? input.url : input));
    return Response.json({});
  },
});

type Wrap = <Client extends Gateway | OpenAI>(client: Client) => Client;

const forLangSmith: Wrap = (client) =>
  wrapForLangSmith(client, { client: langSmith, tracingEnabled: true });

const wrappers: readonly (readonly [string, Wrap])[] = [
  ['nothing', (client) => client],
  ['LangSmith', forLangSmith],
  ['braintrust', (client) => wrapForBraintrust(client)],
  ['Langfuse', (client) => observeOpenAI(client)],
  ['braintrust and Langfuse', (client) => observeOpenAI(wrapForBraintrust(client))],
  ['braintrust and LangSmith', (client) => forLangSmith(wrapForBraintrust(client))],
];

const weather = tool({
  name: 'get_weather',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  execute: () => 'Sunny, 24 degrees',
});

/** Ways to use a client, each with its result. */
const uses: readonly (readonly [string, (client: Gateway) => Promise<unknown>])[] = [
  ['chat', async ({ chat }) => (await chat.completions.create(ask)).choices[0]?.message.content],
  [
    'a stream with usage',
    async ({ chat }) => {
      let text = '';
      let usage: unknown;
      const options = { stream: true, stream_options: { include_usage: true } } as const;
      for await (const chunk of await chat.completions.create({ ...ask, ...options })) {
        text += chunk.choices[0]?.delta.content ?? '';
        usage = chunk.usage ?? usage;
      }
      expect(usage).toMatchObject({ total_tokens: expect.any(Number) });
      return text;
    },
  ],
  [
    'tool calls',
    async ({ chat }) => {
      const plain = { type: weather.type, function: weather.function };
      const { choices } = await chat.completions.create({ ...ask, tools: [plain] });
      return choices[0]?.message.tool_calls?.map(
        (call) => call.type === 'function' && call.function,
      );
    },
  ],
  [
    'runTools',
    ({ chat }) => chat.completions.runTools({ ...ask, tools: [weather] }).finalContent(),
  ],
  [
    'runTools, streamed',
    async ({ chat }) => {
      let text = '';
      const params = { ...ask, tools: [weather], stream: true } as const;
      // Langfuse gives a plain iterator in place of the runner, as it does with `openai`.
      for await (const chunk of chat.completions.runTools(params)) {
        text += chunk.choices[0]?.delta.content ?? '';
      }
      return text;
    },
  ],
  ['parse', async ({ chat }) => (await chat.completions.parse(ask)).choices[0]?.message.content],
  [
    'embeddings',
    async ({ embeddings }) =>
      (await embeddings.create({ model: 'm-embedding', input: 'Hi' })).data[0]?.embedding.length,
  ],
  [
    'images',
    async ({ images }) =>
      (await images.generate({ model: 'm-image', prompt: 'A cat' })).data.length,
  ],
  [
    'a video',
    async ({ videos }) => (await videos.create({ model: 'm-video', prompt: 'A boat' })).status,
  ],
];

/** The promises that a client returns. Their types here are those of `openai`. */
const calls: readonly (readonly [string, (client: OpenAI) => OpenAIPromise])[] = [
  ['create', ({ chat }) => chat.completions.create(ask)],
  ['a stream', ({ chat }) => chat.completions.create({ ...ask, stream: true })],
  ['parse', ({ chat }) => chat.completions.parse(ask)],
  ['embeddings', ({ embeddings }) => embeddings.create({ model: 'm-embedding', input: 'Hi' })],
  ['images', ({ images }) => images.generate({ model: 'm-image', prompt: 'A cat' })],
];

type OpenAIPromise = Pick<ReturnType<OpenAI['get']>, 'then' | 'withResponse' | 'asResponse'>;

/** Ways to read such a promise, each with its result. */
const consumptions: readonly (readonly [string, (promise: OpenAIPromise) => Promise<unknown>])[] = [
  [
    'withResponse()',
    async (promise) => {
      const { data, response } = await promise.withResponse();
      return [typeof data, response.status];
    },
  ],
  ['asResponse()', async (promise) => [(await promise.asResponse()).status]],
  [
    'withResponse() after await',
    async (promise) => {
      const first = await promise;
      const { data, response } = await promise.withResponse();
      return [data === first, response.status];
    },
  ],
  [
    'asResponse() after await',
    async (promise) => [await promise, await promise.asResponse()].length,
  ],
  ['catch()', async (promise) => typeof (await Promise.resolve(promise).catch(() => undefined))],
];

describe.each(wrappers)('wrapped by %s', (_wrapper, wrap) => {
  describe.each(calls)('the promise of %s', (_call, call) => {
    test.each(consumptions)(
      '%s works as with openai, and is charged once',
      async (_how, consume) => {
        const own = setUp();
        const other = setUp();
        const { apiKey, baseURL, fetch } = other.emulator;
        const openai = new OpenAI({ apiKey, baseURL: `${baseURL}/v1`, fetch, maxRetries: 0 });
        const outcome = async (client: OpenAI) => {
          const promise = call(wrap(client));
          if (typeof promise.asResponse === 'function') return consume(promise);
          // Langfuse returns a plain promise.
          await promise;
          return 'not offered';
        };
        const client = own.client.withOptions({ baseURL: `${own.emulator.baseURL}/v1` });

        const answer = await outcome(asOpenAI<OpenAI>(client));

        expect(answer).toEqual(await outcome(openai));
        expect(spentAt(own.emulator)).toEqual(spentAt(other.emulator));
      },
    );
  });

  test.each(uses)('%s: the same response, requests and charges', async (_use, use) => {
    const plain = setUp();
    const wrapped = setUp();

    const expected = await use(plain.client);
    const answer = await use(wrap(wrapped.client));

    expect(answer).toEqual(expected);
    expect(expected).toBeTruthy();
    expect(spentAt(wrapped.emulator)).toEqual(spentAt(plain.emulator));
  });

  test('a truncated stream throws', async () => {
    const { client, emulator } = setUp();
    cutNextStream(emulator);

    const reading = (async () => {
      const stream = await wrap(client).chat.completions.create({ ...ask, stream: true });
      for await (const _ of stream);
    })();

    await expect(reading).rejects.toBeInstanceOf(StreamTruncatedError);
    expect(emulator.requests).toHaveLength(1);
  });

  test('an image with a lost response is not requested again', async () => {
    const { client, emulator } = setUp();
    emulator.fail({ fault: { type: 'reset', when: 'after-charge' }, times: 9 });

    const making = wrap(client).images.generate({ model: 'm-image', prompt: 'A cat' });

    await expect(making).rejects.toMatchObject({ outcome: 'unknown', unsafeToReplay: true });
    expect(emulator.charges).toHaveLength(1);
  });

  test('shows the base URL, not the key', () => {
    const { client, emulator } = setUp();
    const wrapped = wrap(client);

    expect(wrapped.baseURL).toBe(emulator.baseURL);
    expect(JSON.stringify(Object.assign({}, wrapped))).not.toContain(emulator.apiKey);
  });

  test('unsupported APIs are reported', async () => {
    const { client, emulator } = setUp();
    const completing = async () => wrap(client).completions.create({ model: 'm', prompt: 'Hi' });

    await expect(completing()).rejects.toThrow(/Use chat\.completions\.create/);
    expect(emulator.requests).toEqual([]);
  });
});

test('LangSmith receives its traces', () => {
  expect(traces.filter((url) => url.includes('/runs')).length).toBeGreaterThan(5);
});
