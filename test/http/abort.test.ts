import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { CallScope, delay } from '../../src/http/abort.ts';
import { APIUserAbortError, type Gateway } from '../../src/index.ts';
import type { GatewayOptions, RequestOptions } from '../../src/options/options.ts';
import { failureOf, json, scripted } from '../helpers/clients.ts';
import { takeTurn } from '../helpers/fake-time.ts';
import { fetchFailure, never, silentResponse } from '../helpers/failures.ts';

const messages = [{ role: 'user' as const, content: 'hi' }];

type Call = (client: Gateway, options: RequestOptions) => PromiseLike<unknown>;

const chat: Call = (client, options) =>
  client.chat.completions.create({ model: 'm', messages }, options);
const draw: Call = (client, options) =>
  client.images.generate({ model: 'm', prompt: 'x' }, options);
const list: Call = (client, options) => client.models.list(options);
const speak = (client: Gateway, options: RequestOptions) =>
  client.audio.speech.create({ model: 'm', input: 'x', voice: 'v' }, options);

const edit: Call = (client, options) =>
  client.images.edit({ model: 'm', prompt: 'x', image: slowFile() }, options);

const completion = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [] };
const reason = new Error('enough');

function countListeners(signal: AbortSignal): number {
  return getEventListeners(signal, 'abort').length;
}

/** Starts a call, aborts it after some fake time, and gives what it rejected with. */
async function abortAfter(
  milliseconds: number,
  call: Call,
  answers: Parameters<typeof scripted>[0],
  options: GatewayOptions = {},
) {
  const { client, requests } = scripted(answers, options);
  const controller = new AbortController();
  const failure = failureOf(call(client, { signal: controller.signal }));
  await vi.advanceTimersByTimeAsync(milliseconds);
  const listeners = countListeners(controller.signal);
  controller.abort(reason);
  await vi.advanceTimersByTimeAsync(0);
  const error = await failure;
  if (!(error instanceof APIUserAbortError)) throw error;
  return { error, requests, listeners, left: countListeners(controller.signal) };
}

async function* slowFile() {
  yield new TextEncoder().encode('\u0089PNG');
  await never();
}

/** A fetch that listens to its signal, as the platform's does. */
function attentive(_: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  return new Promise((_resolve, reject) => {
    init?.signal?.addEventListener('abort', () => {
      expect(init.signal?.reason).toBe(reason);
      reject(init.signal?.reason);
    });
  });
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

describe('an abort', () => {
  test('an abort before the call sends nothing, and does not request the key', async () => {
    const apiKey = vi.fn(() => 'sk-test');
    const { client, requests } = scripted([json(completion)], { apiKey });
    const signal = AbortSignal.abort(reason);

    for (const call of [chat, draw, list]) {
      const error = await failureOf(call(client, { signal }));

      expect(error).toBeInstanceOf(APIUserAbortError);
      expect(error).toMatchObject({ outcome: 'not_sent', cause: reason });
      expect(error).toHaveProperty('evidence.attempts', []);
    }
    expect(requests).toHaveLength(0);
    expect(apiKey).not.toHaveBeenCalled();
    expect(countListeners(signal)).toBe(0);
  });

  test('an abort while the key is requested sends nothing', async () => {
    const { error, requests, left } = await abortAfter(50, draw, [], { apiKey: never });

    expect(requests).toHaveLength(0);
    expect(error).toMatchObject({ outcome: 'not_sent', cause: reason });
    expect(left).toBe(0);
  });

  test('an abort from within the apiKey function sends nothing', async () => {
    const controller = new AbortController();
    const { client, requests } = scripted([json(completion)], {
      apiKey: () => {
        controller.abort(reason);
        return 'sk-test';
      },
    });

    const error = await failureOf(draw(client, { signal: controller.signal }));

    expect(requests).toHaveLength(0);
    expect(error).toMatchObject({ outcome: 'not_sent', cause: reason });
  });

  test('a few microtasks later sends nothing if the outcome is not_sent', async () => {
    for (let turns = 0; turns < 40; turns += 1) {
      const controller = new AbortController();
      const isLate: boolean[] = [];
      const { client } = scripted([], {
        apiKey: () => Promise.resolve('sk-test'),
        fetch: (_, init) => {
          isLate.push(init?.signal?.aborted === true);
          return Promise.resolve(Response.json(completion));
        },
      });
      const result = chat(client, { signal: controller.signal }).then(
        () => undefined,
        (error: unknown) => error,
      );

      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      controller.abort(reason);
      const error = await result;
      await vi.advanceTimersByTimeAsync(10);

      expect(isLate).not.toContain(true);
      if (error === undefined) continue;
      expect(error).toHaveProperty('outcome', isLate.length === 0 ? 'not_sent' : 'unknown');
    }
  });

  test('an abort while a file is read for an upload sends nothing', async () => {
    const { error, requests, left } = await abortAfter(50, edit, []);

    expect(requests).toHaveLength(0);
    expect(error).toMatchObject({ outcome: 'not_sent', cause: reason });
    expect(left).toBe(0);
  });

  test.each([
    ['listens to it', attentive],
    ['does not listen', never],
  ])('an abort while the request is pending ends the call if fetch %s', async (_, fetch) => {
    for (const call of [chat, draw, list]) {
      const spy = vi.fn(fetch);

      const { error, listeners, left } = await abortAfter(50, call, [], { fetch: spy });

      expect(spy).toHaveBeenCalledTimes(1);
      expect(error).toMatchObject({ outcome: 'unknown', cause: reason });
      expect(error.evidence.attempts).toHaveLength(1);
      expect([listeners, left]).toEqual([1, 0]);
    }
  });

  test('an abort during a pause ends the call, with its attempt on the error', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);

    const unsent = await abortAfter(100, draw, [() => fetchFailure('ECONNREFUSED', 'connect')]);
    const lost = await abortAfter(100, chat, [() => fetchFailure('ECONNRESET')]);

    expect(unsent.requests).toHaveLength(1);
    expect(unsent.error).toMatchObject({ outcome: 'not_sent', cause: reason });
    expect(lost.error.outcome).toBe('unknown');
    expect([lost.listeners, lost.left]).toEqual([1, 0]);
  });

  test('an abort while the response is read ends the call and cancels the body', async () => {
    for (const call of [chat, draw, list]) {
      const onCancel = vi.fn();
      const stuck = () => silentResponse('{"id":', {}, onCancel);

      const { error, requests, listeners, left } = await abortAfter(50, call, [stuck]);

      expect(requests).toHaveLength(1);
      expect(error).toMatchObject({ outcome: 'unknown', cause: reason, status: 200 });
      expect(onCancel).toHaveBeenCalledTimes(1);
      expect([listeners, left]).toEqual([1, 0]);
    }
  });

  test('an abort while an error is read ends the call', async () => {
    for (const call of [chat, draw, list]) {
      const { requests, left } = await abortAfter(50, call, [
        () => silentResponse('{"error":', { status: 500 }),
      ]);

      expect(requests).toHaveLength(1);
      expect(left).toBe(0);
    }
  });

  test('an abort while the first bytes of a file are awaited ends the call', async () => {
    const { error, left } = await abortAfter(50, speak, [() => silentResponse('')]);

    expect(error).toMatchObject({ outcome: 'unknown', cause: reason });
    expect(left).toBe(0);
  });

  test('an abort during a download fails its stream, also when the body ignores it', async () => {
    const onCancel = vi.fn();
    const { client } = scripted([() => silentResponse('ID3', {}, onCancel)]);
    const controller = new AbortController();
    const response = await speak(client, { signal: controller.signal });
    const reader = response.body?.getReader();

    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('ID3');
    const failure = failureOf(reader?.read() ?? Promise.resolve());
    controller.abort(reason);
    const error = await failure;

    expect(error).toBeInstanceOf(APIUserAbortError);
    expect(error).toMatchObject({ outcome: 'unknown', cause: reason });
    expect(onCancel).toHaveBeenCalledTimes(1);
    expect(countListeners(controller.signal)).toBe(0);
  });

  test('an abort between two reads of a download rejects the next one, however late it is', async () => {
    const onCancel = vi.fn();
    const { client } = scripted([() => silentResponse('ID3', {}, onCancel)]);
    const controller = new AbortController();
    const response = await speak(client, { signal: controller.signal, totalTimeout: 1_000 });
    const reader = response.body?.getReader();
    await reader?.read();

    controller.abort(reason);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(onCancel).toHaveBeenCalledTimes(1);

    expect(await failureOf(reader?.read() ?? Promise.resolve())).toMatchObject({
      name: 'APIUserAbortError',
      cause: reason,
    });
  });

  test('an abort of a raw response fails its stream', async () => {
    const { client } = scripted([() => silentResponse('{')]);
    const controller = new AbortController();
    const response = await client.models.list({ signal: controller.signal }).asResponse();
    const failure = failureOf(response.text());
    await vi.advanceTimersByTimeAsync(10);

    controller.abort(reason);

    expect(await failure).toBeInstanceOf(APIUserAbortError);
    expect(countListeners(controller.signal)).toBe(0);
  });

  test('an abort during an event stream fails its iteration', async () => {
    const { client } = scripted([
      () =>
        silentResponse('data: {"id":"c","choices":[{"index":0,"delta":{"content":"a"}}]}\n\n', {
          headers: { 'content-type': 'text/event-stream' },
        }),
    ]);
    const controller = new AbortController();
    const stream = await client.chat.completions.create(
      { model: 'm', messages, stream: true },
      { signal: controller.signal },
    );
    const iterator = stream[Symbol.asyncIterator]();
    await iterator.next();
    const failure = failureOf(iterator.next());
    await vi.advanceTimersByTimeAsync(10);

    controller.abort(reason);
    await vi.advanceTimersByTimeAsync(0);

    expect(await failure).toBeInstanceOf(APIUserAbortError);
    expect(countListeners(controller.signal)).toBe(0);
  });

  test('an abort after the response has no effect', async () => {
    const { client } = scripted([json(completion)]);
    const controller = new AbortController();

    const answer = await chat(client, { signal: controller.signal });
    controller.abort();

    expect(answer).toMatchObject({ id: 'c' });
  });

  test('an abort cancels a response that still arrives', async () => {
    const onCancel = vi.fn();
    const late = async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return silentResponse('{', {}, onCancel);
    };

    await abortAfter(50, list, [late]);
    expect(onCancel).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(100);

    expect(onCancel).toHaveBeenCalledTimes(1);
  });
});

test.each([
  [
    'a call',
    () => {
      const scope = new CallScope(undefined, 10, performance.now() - 20);
      return expect.poll(() => scope.stopped).toBe('total');
    },
  ],
  ['a pause', () => delay(-20)],
])(
  '%s whose time is over before it begins sets no negative timer, of which Node warns',
  async (_, begin) => {
    vi.useRealTimers();
    const warn = vi.fn();
    process.on('warning', warn);
    onTestFinished(() => void process.off('warning', warn));

    await begin();
    // Node reports warnings in a later turn.
    await takeTurn();
    vi.useFakeTimers();

    expect(warn).not.toHaveBeenCalled();
  },
);

describe('the signal', () => {
  test('the signal may be null', async () => {
    const { client } = scripted([json(completion)]);

    expect(await chat(client, { signal: null })).toMatchObject({ id: 'c' });
  });

  test('the signal has one listener per call, for any number of attempts', async () => {
    const { signal } = new AbortController();
    const add = vi.spyOn(signal, 'addEventListener');
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const { client, requests } = scripted([json({}, 500), json({}, 500), json(completion)]);

    const promise = chat(client, { signal });
    await Promise.all([promise, vi.runAllTimersAsync()]);

    expect(requests).toHaveLength(3);
    expect(add).toHaveBeenCalledTimes(1);
    expect(countListeners(signal)).toBe(0);
  });

  test('the signal has no listener left after a thousand calls that end in different ways', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const { signal } = new AbortController();
    const answers = [
      json(completion),
      json({}, 500),
      json({ error: { message: 'no' } }, 400),
      () => fetchFailure('ECONNRESET'),
      () => fetchFailure('ECONNREFUSED', 'connect'),
      () => new Response('<html>'),
      () => new Response('ID3 and so on'),
      () => new Response('data: {"choices":[]}\n\ndata: [DONE]\n\n'),
    ];
    let turn = 0;
    const { client } = scripted([
      () => answers[(turn += 1) % answers.length]?.() ?? Response.error(),
    ]);
    const calls: readonly Call[] = [
      chat,
      draw,
      list,
      async (_, options) => (await speak(client, options)).arrayBuffer(),
      async (_, options) => (await speak(client, options)).body?.cancel(),
      async (_, options) => (await client.models.list(options).asResponse()).text(),
      async (_, options) => {
        const params = { model: 'm', messages, stream: true as const };
        for await (const chunk of await client.chat.completions.create(params, options)) void chunk;
      },
      (_, options) => client.models.list({ ...options, timeout: -1 }),
      (_, options) => client.get('https://elsewhere.test/', options),
      (_, options) => client.models.list({ ...options, headers: { 'x-a': 'b\nc' } }),
    ];

    const running = Array.from({ length: 1_000 }, (_, index) =>
      Promise.resolve(calls[index % calls.length]?.(client, { signal })).catch(() => {}),
    );
    await vi.runAllTimersAsync();
    await Promise.all(running);

    expect(countListeners(signal)).toBe(0);
  });
});
