import { describe, expect, test } from 'vitest';
import { type ChatCompletion, Gateway, type GatewayPromise } from '../../src/index.ts';
import { createEmulator } from '../../src/testing/index.ts';

type Completion = GatewayPromise<ChatCompletion>;

/** Ways of wrappers to pass on the promise of a call. */
const disguises: readonly (readonly [string, (promise: Completion) => Completion])[] = [
  ['a proxy', (promise) => new Proxy(promise, {})],
  [
    'a proxy that passes itself on as the receiver',
    (promise) =>
      new Proxy(promise, {
        get: (target, name, receiver) => Reflect.get(target, name, receiver),
      }),
  ],
  [
    'a proxy that binds methods to its target',
    (promise) =>
      new Proxy(promise, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      }),
  ],
  ['a proxy of a proxy', (promise) => new Proxy(new Proxy(promise, {}), {})],
  ['an object that inherits from it', (promise) => Object.create(promise)],
];

function setUp() {
  const emulator = createEmulator();
  const { apiKey, baseURL, fetch } = emulator;
  const gateway = new Gateway({ apiKey, baseURL, fetch });
  const messages = [{ role: 'user' as const, content: 'Hello!' }];
  const call = () => gateway.chat.completions.create({ model: 'm-chat', messages });
  return { emulator, call };
}

describe.each(disguises)('the promise of a call behind %s', (_name, disguise) => {
  test('the promise of a call can be awaited', async () => {
    const { emulator, call } = setUp();
    const promise = call();

    const completion = await disguise(promise);

    expect(completion.choices).toHaveLength(1);
    expect(completion).toBe(await promise);
    expect(emulator.charges).toHaveLength(1);
  });

  test('returns its response and the parsed data', async () => {
    const { emulator, call } = setUp();

    const { data, response, request_id: id } = await disguise(call()).withResponse();

    expect(data.choices).toHaveLength(1);
    expect([response.status, typeof id]).toEqual([200, 'string']);
    expect(emulator.charges).toHaveLength(1);
  });

  test('returns its response unread', async () => {
    const { emulator, call } = setUp();

    const response = await disguise(call()).asResponse();

    expect(await response.json()).toMatchObject({ object: 'chat.completion' });
    expect(emulator.charges).toHaveLength(1);
  });

  test('rejects like the promise itself', async () => {
    const { emulator, call } = setUp();
    emulator.fail({ fault: { type: 'error', status: 401 } });
    const promise = disguise(call());

    const failed = await promise.catch((error: unknown) => error);

    expect(failed).toMatchObject({ name: 'AuthenticationError' });
    await expect(promise.withResponse()).rejects.toBe(failed);
    await expect(promise.asResponse()).rejects.toBe(failed);
    await expect(promise.finally(() => {})).rejects.toBe(failed);
  });
});
