import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import * as fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { Gateway } from '../src/gateway.ts';
import { asGiven } from '../src/given.ts';

/** Changes every list and every object in a value. */
function spoil(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const inner of Object.values(value)) spoil(inner);
  for (const name of Object.keys(value)) Reflect.deleteProperty(value, name);
}

test('what was given stays, whatever becomes of it', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const given = structuredClone(value);
      const copy = asGiven(given);
      spoil(given);
      expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
    }),
  );
});

test('an object that holds itself is copied as one', () => {
  const given: Record<string, unknown> = { model: 'm' };
  given['self'] = given;

  const copy = asGiven(given);

  expect(copy).not.toBe(given);
  expect(copy['self']).toBe(copy);
});

test('what does something is left as it is', () => {
  class Reader {
    readonly #secret = 1;
    get secret(): number {
      return this.#secret;
    }
  }
  const given = { reader: new Reader(), tool: { run: () => 1 }, file: new File(['x'], 'a.txt') };

  expect(asGiven(given)).toEqual(given);
  expect(asGiven(given).reader).toBe(given.reader);
  expect(asGiven(given).tool).toBe(given.tool);
  const reader = new Reader();
  expect(asGiven(reader)).toBe(reader);
  // As the helpers of `openai` hide their parser.
  const format = Object.defineProperty({ type: 'json_schema' }, '$parseRaw', { value: () => 1 });
  expect(asGiven({ format }).format).toBe(format);
  expect(asGiven(format)).toBe(format);
});

test('streams of Node are listened to and told of', () => {
  const stream = new Readable({ read: () => {} });
  const agent = Object.assign(new EventEmitter(), { destroy: () => {} });
  const streams: { destroy(): unknown }[] = [];

  const given = asGiven({ image: [{ data: stream }], agent }, streams);

  expect(given.image[0]?.data).toBe(stream);
  expect(streams).toEqual([stream]);
  expect(stream.listenerCount('error')).toBe(1);
  expect(agent.listenerCount('error')).toBe(0);
});

test('bytes are copied, also deep inside', async () => {
  const bytes = new TextEncoder().encode('hello');
  const given: { image: unknown[] } = { image: [{ data: bytes.buffer, filename: 'a.txt' }] };

  const { image } = asGiven(given);
  bytes.fill(0);

  const data: unknown = Reflect.get(Object(image[0]), 'data');
  expect(data instanceof Blob && (await data.text())).toBe('hello');
});

test('what cannot be read is left to the call that reads it, which rejects', async () => {
  const given = {
    model: 'm',
    get input(): string {
      throw new Error('gone');
    },
  };

  expect(asGiven(given)).toBe(given);
  const gateway = new Gateway({ apiKey: 'key', baseURL: 'https://gateway.test' });
  const call = gateway.embeddings.create(given);
  await expect(call).rejects.toThrow('gone');
});

test('bytes that are gone reject the call', async () => {
  const body = new ArrayBuffer(8);
  structuredClone(body, { transfer: [body] });
  const gateway = new Gateway({ apiKey: 'key', baseURL: 'https://gateway.test' });

  const call = gateway.post('/v1/things', { body });

  await expect(call).rejects.toMatchObject({ name: 'InvalidInputError', field: 'body' });
});

test('options are copied with their headers, and what they do stays', () => {
  const { signal } = new AbortController();
  const headers = new Headers({ a: '1' });
  const onUploadProgress = vi.fn();
  const given = { headers, signal, onUploadProgress, extraBody: { user: 'one' } };

  const own = asGiven(given);
  headers.set('a', '2');
  given.extraBody.user = 'two';

  expect(own.headers.get('a')).toBe('1');
  expect(own.extraBody.user).toBe('one');
  expect(own.signal).toBe(signal);
  expect(own.onUploadProgress).toBe(onUploadProgress);
  expect(asGiven(undefined)).toBeUndefined();
});
