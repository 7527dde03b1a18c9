// Wrappers that trace: what they give works, throws and pays as the client that they were given.
import { observeOpenAI } from '@langfuse/openai';
import { wrapOpenAI as wrapForBraintrust } from 'braintrust';
import { Client } from 'langsmith';
import { wrapOpenAI as wrapForLangSmith } from 'langsmith/wrappers/openai';
import { StreamTruncatedError, tool, type Gateway } from '../../dist/index.js';
import { describe, expect, test } from 'vitest';
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

const wrappers: readonly (readonly [string, (client: Gateway) => Gateway])[] = [
  ['nothing', (client) => client],
  ['LangSmith', (client) => wrapForLangSmith(client, { client: langSmith, tracingEnabled: true })],
  ['braintrust', (client) => wrapForBraintrust(client)],
  ['Langfuse', (client) => observeOpenAI(client)],
  ['two of them', (client) => observeOpenAI(wrapForBraintrust(client))],
];

const weather = tool({
  name: 'get_weather',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  execute: () => 'Sunny, 24 degrees',
});

/** What people do with a client, and what they have of it. */
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

describe.each(wrappers)('wrapped by %s', (_wrapper, wrap) => {
  test.each(uses)('%s: the same answer, requests and charges', async (_use, use) => {
    const plain = setUp();
    const wrapped = setUp();

    const expected = await use(plain.client);
    const answer = await use(wrap(wrapped.client));

    expect(answer).toEqual(expected);
    expect(expected).toBeTruthy();
    expect(spentAt(wrapped.emulator)).toEqual(spentAt(plain.emulator));
  });

  test('a stream that is cut throws', async () => {
    const { client, emulator } = setUp();
    cutNextStream(emulator);

    const reading = (async () => {
      const stream = await wrap(client).chat.completions.create({ ...ask, stream: true });
      for await (const _ of stream);
    })();

    await expect(reading).rejects.toBeInstanceOf(StreamTruncatedError);
    expect(emulator.requests).toHaveLength(1);
  });

  test('an image whose answer is lost is not asked for again', async () => {
    const { client, emulator } = setUp();
    emulator.fail({ fault: { type: 'reset', when: 'after-charge' }, times: 9 });

    const making = wrap(client).images.generate({ model: 'm-image', prompt: 'A cat' });

    await expect(making).rejects.toMatchObject({ outcome: 'unknown', unsafeToReplay: true });
    expect(emulator.charges).toHaveLength(1);
  });

  test('the base URL is told, and the key is not shown', () => {
    const { client, emulator } = setUp();
    const wrapped = wrap(client);

    expect(wrapped.baseURL).toBe(emulator.baseURL);
    expect(JSON.stringify(Object.assign({}, wrapped))).not.toContain(emulator.apiKey);
  });

  test('what is not served says so', async () => {
    const { client, emulator } = setUp();
    const completing = async () => wrap(client).completions.create({ model: 'm', prompt: 'Hi' });

    await expect(completing()).rejects.toThrow(/Use chat\.completions\.create/);
    expect(emulator.requests).toEqual([]);
  });
});

test('LangSmith has its traces', () => {
  expect(traces.filter((url) => url.includes('/runs')).length).toBeGreaterThan(5);
});
