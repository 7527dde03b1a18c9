// Instrumentations of `openai` patch methods of prototypes, which they
// find on its class, and transform what the methods return.
import { describe, expect, onTestFinished, test } from 'vitest';
import { Gateway } from '../src/index.ts';
import { emulated } from './helpers/clients.ts';

const messages = [{ role: 'user' as const, content: 'Hi' }];

/** Replaces a method of a class that is found by its path on `Gateway`, until the test has finished. */
function patch(path: string, method: string, wrap: (original: Function) => Function): void {
  const found = path
    .split('.')
    .reduce<unknown>((owner, name) => Reflect.get(Object(owner), name), Gateway);
  if (typeof found !== 'function') throw new Error(`Missing class ${path}`);
  const { prototype }: { prototype: object } = found;
  const original: unknown = Reflect.get(prototype, method);
  if (typeof original !== 'function') throw new Error(`Missing method ${method}`);
  Reflect.set(prototype, method, wrap(original));
  onTestFinished(() => void Reflect.set(prototype, method, original));
}

describe('a method that is patched on its prototype', () => {
  test.each<{
    readonly path: string;
    readonly method: string;
    readonly call: (client: Gateway) => PromiseLike<unknown>;
  }>([
    {
      path: 'Chat.Completions',
      method: 'create',
      call: ({ chat }) => chat.completions.create({ model: 'm', messages }),
    },
    {
      path: 'Embeddings',
      method: 'create',
      call: ({ embeddings }) => embeddings.create({ model: 'm', input: 'Hi' }),
    },
    {
      path: 'Images',
      method: 'generate',
      call: ({ images }) => images.generate({ model: 'm', prompt: 'A cat' }),
    },
  ])('$path.$method is called, and keeps its response', async ({ path, method, call }) => {
    const { client, emulator } = emulated();
    const plain = await call(client);
    const seen: unknown[] = [];
    patch(
      path,
      method,
      (original) =>
        function patched(this: unknown, ...args: unknown[]): unknown {
          seen.push(args[0]);
          return Reflect.apply(original, this, args);
        },
    );

    const answer = await call(client);

    expect(seen).toHaveLength(1);
    expect(Object.keys(Object(answer))).toEqual(Object.keys(Object(plain)));
    expect(emulator.requests).toHaveLength(2);
  });

  test('Completions.create exists, and still rejects', async () => {
    patch('Completions', 'create', (original) => original);

    await expect(emulated().client.completions.create({})).rejects.toThrow('not supported');
  });
});

test('the promise of a call can be transformed, and keeps its response', async () => {
  const { client, emulator } = emulated();
  const call = client.chat.completions.create({ model: 'm', messages });

  const transformed = call._thenUnwrap(({ choices }) => choices.length);

  expect(await transformed).toBe(1);
  const { data, response } = await transformed.withResponse();
  expect([data, response.status]).toEqual([1, 200]);
  expect((await transformed.asResponse()).headers.get('content-type')).toContain('json');
  expect((await call).choices).toHaveLength(1);
  expect(emulator.requests).toHaveLength(1);
});

const openObserved = async () => {
  const { client } = emulated();
  const stream = await client.chat.completions.create({ model: 'm', messages, stream: true });
  const seen: unknown[] = [];
  let hasEnded = false;
  const { iterator } = stream;
  async function* observe(items: AsyncIterator<unknown>): AsyncGenerator {
    try {
      for await (const item of { [Symbol.asyncIterator]: () => items }) {
        seen.push(item);
        yield item;
      }
    } finally {
      hasEnded = true;
    }
  }
  const wrapped = { value: () => observe(iterator()), configurable: true, writable: true };
  Object.defineProperty(stream, 'iterator', wrapped);
  return { stream, seen, hasEnded: () => hasEnded };
};

describe('a stream whose iterator is replaced, as by @opentelemetry/instrumentation-openai', () => {
  test('a stream whose iterator is replaced is observed to its end', async () => {
    const { stream, seen, hasEnded } = await openObserved();
    const chunks: unknown[] = [];
    for await (const chunk of stream) chunks.push(chunk);

    expect(chunks.length).toBeGreaterThan(1);
    expect(seen).toEqual(chunks);
    expect(hasEnded()).toBe(true);
    expect(stream.verdict).toBe('complete');
  });

  test('a stream whose iterator is replaced is observed to where the loop is left', async () => {
    const { stream, seen, hasEnded } = await openObserved();
    for await (const _ of stream) break;

    expect(seen).toHaveLength(1);
    expect(hasEnded()).toBe(true);
  });
});
