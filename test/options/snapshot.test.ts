// A client whose key is set per tenant: what a call sends was decided when it was called.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Gateway, tool } from '../../src/index.ts';
import { createEmulator } from '../../src/testing/index.ts';
import { collect } from '../helpers/clients.ts';
import { resolved } from '../helpers/fake-time.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

interface Sent {
  readonly host: string;
  readonly key: string | null;
  readonly tenant: string | null;
  readonly text: string;
}

/** A client of an emulator, and what it sent in its requests. */
function setUp() {
  const emulator = createEmulator({ videoDuration: 1 });
  const sent: Sent[] = [];
  const client = new Gateway({
    apiKey: 'sk-tenant-a',
    baseURL: 'https://tenant-a.test',
    logLevel: 'off',
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const { host, pathname } = new URL(request.url);
      const { headers } = request;
      const [key, tenant] = [headers.get('authorization'), headers.get('x-tenant')];
      sent.push({ host, key, tenant, text: await request.clone().text() });
      const forwarded = new Request(emulator.baseURL + pathname, request);
      forwarded.headers.set('authorization', `Bearer ${emulator.apiKey}`);
      return emulator.fetch(forwarded);
    },
  });
  return { client, emulator, sent };
}

/** Replaces every field of an object by tenant B's, and adds an entry to every list. */
function overwrite(value: unknown): void {
  if (Array.isArray(value)) {
    for (const item of value) overwrite(item);
    value.push('tenant-b');
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, item] of Object.entries(value)) {
    if (Array.isArray(item)) item.push('tenant-b');
    else if (typeof item === 'string') Reflect.set(value, name, 'tenant-b');
    else if (name !== 'toolContext') Reflect.set(value, name, { 'x-tenant': 'tenant-b' });
  }
}

const weather = tool({
  name: 'get_weather',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  execute: () => 'Sunny',
});

const messages = () => [{ role: 'user' as const, content: 'Question of tenant A' }];
const chat = () => ({ model: 'm-chat', messages: messages(), tools: [weather] });
const video = () => ({ model: 'm-video', prompt: 'A boat of tenant A' });
const image = (count: number) =>
  Array.from({ length: count }, () => ({ model: 'm-image', prompt: 'A cat of tenant A' }));

interface Options {
  readonly headers: Record<string, string>;
}

type Start<Params> = (
  client: Gateway,
  params: Params,
  options: Options,
) => PromiseLike<unknown> | AsyncIterable<unknown>;

interface Case {
  readonly requests: number;
  start(client: Gateway, options: Options): { readonly params: unknown; readonly run: unknown };
}

const define = <Params>(requests: number, make: () => Params, start: Start<Params>): Case => ({
  requests,
  start(client, options) {
    const params = make();
    return { params, run: start(client, params, options) };
  },
});

const cases: Record<string, Case> = {
  'chat.completions.runTools': define(2, chat, (client, params, options) =>
    client.chat.completions.runTools(params, options).done(),
  ),
  'chat.completions.runTools, streamed': define(2, chat, (client, params, options) =>
    client.chat.completions
      .runTools(Object.assign(params, { stream: true as const }), options)
      .done(),
  ),
  'chat.completions.stream': define(1, chat, (client, params, options) =>
    client.chat.completions.stream(params, options).done(),
  ),
  'generate.runTools': define(
    2,
    () => ({
      model: 'gemini-2.5-flash',
      contents: [{ role: 'user', parts: [{ text: 'Question of tenant A' }] }],
      functions: [weather],
    }),
    (client, params, options) => client.generate.runTools(params, options),
  ),
  'images.generateMany': define(
    3,
    () => image(3),
    (client, params, options) => client.images.generateMany(params, { ...options, concurrency: 1 }),
  ),
  'images.generateMany, of a generator': define(
    3,
    () => image(3),
    (client, params, options) => client.images.generateMany(params.values(), options),
  ),
  'embeddings.createMany': define(
    3,
    () => ({ model: 'm-embedding', input: ['one', 'two', 'three'] }),
    (client, params, options) =>
      client.embeddings.createMany(params, { ...options, batchSize: 1, concurrency: 1 }),
  ),
  'videos.createAndWait': define(2, video, (client, params, options) =>
    client.videos.createAndWait(params, options),
  ),
  'videos.createAndWaitAll': define(
    4,
    () => [video(), video()],
    (client, params, options) =>
      client.videos.createAndWaitAll(params, { ...options, concurrency: 1 }),
  ),
};

describe.each(Object.entries(cases))('%s', (_name, { requests, ...call }) => {
  test('sends the options and parameters at the time of the call', async () => {
    const { client, sent } = setUp();
    const headers = { 'x-tenant': 'a' };

    const { params, run } = call.start(client, { headers });
    client.apiKey = 'sk-tenant-b';
    client.baseURL = 'https://tenant-b.test';
    headers['x-tenant'] = 'b';
    overwrite(params);
    await resolved(finish(run));

    expect(sent.length).toBeGreaterThanOrEqual(requests);
    for (const { host, key, tenant, text } of sent) {
      expect({ host, key, tenant }).toEqual({
        host: 'tenant-a.test',
        key: 'Bearer sk-tenant-a',
        tenant: 'a',
      });
      expect(text).not.toContain('tenant-b');
    }
  });
});

async function finish(run: unknown): Promise<unknown> {
  const isLoop = typeof run === 'object' && run !== null && Symbol.asyncIterator in run;
  return isLoop ? collect(loop(run)) : run;
}

async function* loop(run: object): AsyncGenerator<unknown, void, undefined> {
  const begin: unknown = Reflect.get(run, Symbol.asyncIterator);
  if (typeof begin === 'function') yield* Reflect.apply(begin, run, []);
}

describe('an existing task', () => {
  const waits: Record<string, (client: Gateway, ids: string[], options: Options) => unknown> = {
    remixAndWait: ({ videos }, [id = ''], options) =>
      videos.remixAndWait(id, { prompt: 'With a hat' }, options),
    waitAll: ({ videos }, ids, options) => videos.waitAll(ids, options),
    watch: ({ videos }, [id = ''], options) => videos.watch(id, options),
    wait: ({ videos }, [id = ''], options) => videos.wait(id, options),
    step: ({ videos }, [id = ''], options) => videos.step(id, undefined, options),
  };

  test.each(Object.entries(waits))("videos.%s uses its tenant's key", async (_name, start) => {
    const { client, sent } = setUp();
    const { id } = await resolved(Promise.resolve(client.videos.create(video())));
    const ids = [id];
    const headers = { 'x-tenant': 'a' };
    sent.length = 0;

    const run = start(client, ids, { headers });
    client.apiKey = 'sk-tenant-b';
    client.baseURL = 'https://tenant-b.test';
    headers['x-tenant'] = 'b';
    ids[0] = 'task-of-tenant-b';
    await resolved(finish(run));

    expect(sent).not.toEqual([]);
    for (const { host, key, tenant } of sent) {
      expect({ host, key, tenant }).toEqual({
        host: 'tenant-a.test',
        key: 'Bearer sk-tenant-a',
        tenant: 'a',
      });
    }
  });
});

test("results of many calls contain the caller's parameters", async () => {
  const { client } = setUp();
  const images = image(2);
  const videos = [video()];

  const made = await resolved(collect(client.images.generateMany(images, { concurrency: 1 })));
  const films = await resolved(collect(client.videos.createAndWaitAll(videos)));

  expect(made.map(({ params }) => images.indexOf(Object(params)))).toEqual([0, 1]);
  expect(films[0]?.params).toBe(videos[0]);
});

test('tools receive the context itself, not a copy', async () => {
  const { client } = setUp();
  const received: unknown[] = [];
  const own = tool({
    name: 'get_weather',
    schema: { type: 'object', properties: { city: { type: 'string' } } },
    execute: (_args, _run, context) => received.push(context),
  });
  const toolContext = { user: 1 };

  const runner = client.chat.completions.runTools({ ...chat(), tools: [own], toolContext });
  await resolved(runner.done());
  await resolved(
    client.generate.runTools({
      model: 'gemini-2.5-flash',
      contents: 'Hi',
      functions: [own],
      toolContext,
    }),
  );

  expect(received.length).toBeGreaterThan(1);
  expect(received.every((context) => context === toolContext)).toBe(true);
});

test('the caller can add messages to a run', async () => {
  const { client, sent } = setUp();
  const runner = client.chat.completions.runTools(chat(), {
    afterCompletion: () => void runner.messages.push({ role: 'user', content: 'In Celsius' }),
  });
  await resolved(runner.done());

  expect(sent[1]?.text).toContain('In Celsius');
});
