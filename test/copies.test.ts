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

/** All operations, with the number of their requests. */
const calls: readonly {
  readonly name: string;
  readonly call: (client: Gateway) => Promise<unknown>;
  readonly requests: number;
}[] = [
  {
    name: 'chat.completions.create',
    call: ({ chat }) => chat.completions.create(ask),
    requests: 1,
  },
  {
    name: 'a streamed chat',
    call: async ({ chat }) => {
      for await (const _ of await chat.completions.create({ ...ask, stream: true }));
    },
    requests: 1,
  },
  {
    name: 'chat.completions.stream',
    call: ({ chat }) => chat.completions.stream(ask).finalContent(),
    requests: 1,
  },
  { name: 'chat.completions.parse', call: ({ chat }) => chat.completions.parse(ask), requests: 1 },
  {
    name: 'chat.completions.runTools',
    call: ({ chat }) => chat.completions.runTools({ ...ask, tools: [weather] }).finalContent(),
    requests: 2,
  },
  {
    name: 'generate.content',
    call: ({ generate }) => generate.content({ model: 'm-chat', contents: 'Hi' }),
    requests: 1,
  },
  {
    name: 'embeddings.create',
    call: ({ embeddings }) => embeddings.create({ model: 'm', input: 'Hi' }),
    requests: 1,
  },
  {
    name: 'embeddings.createMany',
    call: ({ embeddings }) =>
      embeddings.createMany({ model: 'm', input: ['a', 'b'] }, { batchSize: 1 }),
    requests: 2,
  },
  {
    name: 'images.generate',
    call: ({ images }) => images.generate({ model: 'm-image', prompt: 'A cat' }),
    requests: 1,
  },
  {
    name: 'audio.speech.create',
    call: ({ audio }) => audio.speech.create({ model: 'm', input: 'Hi' }),
    requests: 1,
  },
  { name: 'models.list', call: ({ models }) => models.list(), requests: 1 },
  {
    name: 'videos.create',
    call: ({ videos }) => videos.create({ model: 'm-video', prompt: 'A boat' }),
    requests: 1,
  },
  { name: 'get', call: (client) => client.get('/v1/models'), requests: 1 },
  {
    name: 'withOptions',
    call: (client) => client.withOptions({ maxRetries: 0 }).chat.completions.create(ask),
    requests: 1,
  },
];

function setUp() {
  const emulator = createEmulator();
  const { apiKey, baseURL, fetch } = emulator;
  return { emulator, client: new Gateway({ apiKey, baseURL, fetch }) };
}

describe.each(ways)('as %s', (_, wrap) => {
  test.each(calls)(
    '$name sends the same requests and is charged once',
    async ({ call, requests }) => {
      const plain = setUp();
      const wrapped = setUp();

      await call(plain.client);
      await call(wrap(wrapped.client));

      expect(wrapped.emulator.requests).toHaveLength(requests);
      expect(wrapped.emulator.charges).toHaveLength(plain.emulator.charges.length);
    },
  );
});

test('a resource has only functions', () => {
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

describe('properties that wrappers read', () => {
  test('unsupported APIs exist, and name the alternative', async () => {
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

  test('APIs whose presence means support do not exist', () => {
    const { client } = setUp();

    expect('beta' in client).toBe(false);
    expect('conversations' in client).toBe(false);
    expect('retrieve' in client.responses).toBe(false);
  });

  test.each([
    ['unknown', true],
    ['rejected', false],
  ])('an error that is %s has its outcome and advice', async (outcome, unsafeToReplay) => {
    const { client, emulator } = setUp();
    if (outcome === 'rejected') client.apiKey = 'sk-wrong';
    else emulator.fail({ fault: { type: 'reset', when: 'after-charge' } });

    const error = await failureOf(client.images.generate({ model: 'm-image', prompt: 'A cat' }));

    expect(error).toMatchObject({ outcome, unsafeToReplay });
    expect(JSON.stringify(error)).not.toContain('unsafeToReplay');
  });
});
