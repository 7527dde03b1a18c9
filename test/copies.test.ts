// What wrappers do with a client: they put proxies around it and its resources, or copy them.
import { describe, expect, test } from 'vitest';
import { Gateway, GatewayError, tool } from '../src/index.ts';
import { createEmulator } from '../src/testing/index.ts';
import { failureOf } from './helpers/clients.ts';

const messages = [{ role: 'user' as const, content: 'What is the weather in Lisbon?' }];
const ask = { model: 'm-chat', messages };
const weather = tool({
  name: 'get_weather',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  execute: () => 'Sunny',
});

/** Its own enumerable properties on its prototype, all the way down, as some wrappers copy. */
function copyObject<Thing extends object>(thing: Thing): Thing {
  const copy: Thing = Object.assign(Object.create(Object.getPrototypeOf(thing)), thing);
  for (const [name, part] of Object.entries(copy)) {
    if (typeof part === 'object' && part !== null) Reflect.set(copy, name, copyObject(part));
  }
  return copy;
}

/** A proxy whose objects are proxies too, and whose methods get it as `this`. */
function wrapInProxy<Thing extends object>(thing: Thing): Thing {
  return new Proxy(thing, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver);
      return typeof value === 'object' && value !== null ? wrapInProxy(value) : value;
    },
  });
}

/** Each resource spread into an object of its own, with its methods bound to that object. */
function spreadObject<Thing extends object>(thing: Thing): Thing {
  const copy: Thing = { ...thing };
  const prototype = Object.getOwnPropertyDescriptors(Object.getPrototypeOf(thing));
  for (const [name, { value }] of Object.entries(prototype)) {
    if (typeof value === 'function') Reflect.set(copy, name, value);
  }
  for (const [name, part] of Object.entries(copy)) {
    if (typeof part === 'object' && part !== null) Reflect.set(copy, name, spreadObject(part));
  }
  return copy;
}

const ways: readonly (readonly [string, (client: Gateway) => Gateway])[] = [
  ['itself', (client) => client],
  ['a proxy', (client) => new Proxy(client, {})],
  ['proxies all the way down', wrapInProxy],
  ['copies on its prototypes', copyObject],
  ['spread copies', spreadObject],
  ['a proxy of copies', (client) => wrapInProxy(copyObject(client))],
];

/** Every operation, and how many requests it takes. */
const calls: readonly (readonly [string, (client: Gateway) => Promise<unknown>, number])[] = [
  ['chat.completions.create', ({ chat }) => chat.completions.create(ask), 1],
  [
    'a streamed chat',
    async ({ chat }) => {
      for await (const _ of await chat.completions.create({ ...ask, stream: true }));
    },
    1,
  ],
  ['chat.completions.stream', ({ chat }) => chat.completions.stream(ask).finalContent(), 1],
  ['chat.completions.parse', ({ chat }) => chat.completions.parse(ask), 1],
  [
    'chat.completions.runTools',
    ({ chat }) => chat.completions.runTools({ ...ask, tools: [weather] }).finalContent(),
    2,
  ],
  ['generate.content', ({ generate }) => generate.content({ model: 'm-chat', contents: 'Hi' }), 1],
  ['embeddings.create', ({ embeddings }) => embeddings.create({ model: 'm', input: 'Hi' }), 1],
  [
    'embeddings.createMany',
    ({ embeddings }) => embeddings.createMany({ model: 'm', input: ['a', 'b'] }, { batchSize: 1 }),
    2,
  ],
  ['images.generate', ({ images }) => images.generate({ model: 'm-image', prompt: 'A cat' }), 1],
  ['audio.speech.create', ({ audio }) => audio.speech.create({ model: 'm', input: 'Hi' }), 1],
  ['models.list', ({ models }) => models.list(), 1],
  ['videos.create', ({ videos }) => videos.create({ model: 'm-video', prompt: 'A boat' }), 1],
  ['get', (client) => client.get('/v1/models'), 1],
  [
    'withOptions',
    (client) => client.withOptions({ maxRetries: 0 }).chat.completions.create(ask),
    1,
  ],
];

function setUp() {
  const emulator = createEmulator();
  const { apiKey, baseURL, fetch } = emulator;
  return { emulator, client: new Gateway({ apiKey, baseURL, fetch }) };
}

describe.each(ways)('as %s', (_, wrap) => {
  test.each(calls)('%s sends and pays what it does without', async (_name, call, requests) => {
    const plain = setUp();
    const wrapped = setUp();

    await call(plain.client);
    await call(wrap(wrapped.client));

    expect(wrapped.emulator.requests).toHaveLength(requests);
    expect(wrapped.emulator.charges).toHaveLength(plain.emulator.charges.length);
  });
});

test('a function is all that a resource holds', () => {
  const { client } = setUp();
  const resources = [
    client.chat.completions,
    client.generate,
    client.embeddings,
    client.images,
    client.audio.speech,
    client.audio.translations,
    client.videos,
    client.models,
  ];

  for (const resource of resources) {
    expect(Object.values(resource).map((value) => typeof value)).toEqual(['function']);
  }
  expect(JSON.stringify(client.chat)).toBe('{"completions":{}}');
});

describe('what wrappers look for', () => {
  test('APIs that are not served are there, and say what to use', async () => {
    const { client, emulator } = setUp();
    const body = { model: 'm', input: 'Hi' };

    const asked = client.completions.create({ model: 'm', prompt: 'Hi' });

    await expect(asked).rejects.toThrow(/not supported .* Use chat\.completions\.create\(\)/);
    await expect(asked).rejects.toBeInstanceOf(GatewayError);
    await expect(asked.asResponse()).rejects.toBeInstanceOf(GatewayError);
    await expect(asked.withResponse()).rejects.toBeInstanceOf(GatewayError);
    await expect(copyObject(client.moderations).create(body)).rejects.toThrow(
      /post\('\/v1\/moderations', \{ body \}\)/,
    );
    expect(emulator.requests).toEqual([]);
  });

  test('those whose presence is taken for the feature are not', () => {
    const { client } = setUp();

    expect('beta' in client).toBe(false);
    expect('responses' in client).toBe(false);
  });

  test.each([
    ['unknown', true],
    ['rejected', false],
  ])('an error that is %s says whether it may be repeated', async (outcome, unsafeToReplay) => {
    const { client, emulator } = setUp();
    if (outcome === 'rejected') client.apiKey = 'sk-wrong';
    else emulator.fail({ fault: { type: 'reset', when: 'after-charge' } });

    const error = await failureOf(client.images.generate({ model: 'm-image', prompt: 'A cat' }));

    expect(error).toMatchObject({ outcome, unsafeToReplay });
    expect(JSON.stringify(error)).not.toContain('unsafeToReplay');
  });
});
