import { describe, expect, test } from 'vitest';
import {
  APIUserAbortError,
  GatewayError,
  type Stream,
  StreamError,
  UnexpectedResponseError,
} from '../../src/index.ts';
import type { ChatCompletionChunk } from '../../src/resources/chat/types.ts';
import {
  chunk,
  cutBytes,
  encode,
  openChat,
  openResponse,
  readAll,
  readStream,
  respond,
  textOf,
  watchedContext,
  wholeAnswer,
  wholeText,
} from '../helpers/sse.ts';

/** A stream that has begun and does not end by itself. */
function openEndless() {
  const body = openResponse();
  const caller = new AbortController();
  const watched = watchedContext({ signal: caller.signal });
  body.send(encode(chunk({ content: 'Hel' })));
  return { ...body, caller, watched, stream: openChat(body.response, watched) };
}

describe('leaving a stream', () => {
  test('break closes the connection without an error', async () => {
    const { stream, watched, isCancelled } = openEndless();

    for await (const { choices } of stream) {
      expect(choices[0]?.delta.content).toBe('Hel');
      break;
    }

    await expect(isCancelled()).resolves.toBe(true);
    expect(stream.controller.signal.aborted).toBe(true);
    expect(stream.verdict).toBe('truncated');
    expect(stream.partial?.choices[0]?.message.content).toBe('Hel');
    expect(watched.releases).toBe(1);
  });

  test.each([
    ['close()', (stream: Stream<ChatCompletionChunk>) => stream.close()],
    ['controller.abort()', (stream: Stream<ChatCompletionChunk>) => stream.controller.abort()],
  ])('%s ends a waiting loop without an error', async (_, leave) => {
    const { stream, watched, isCancelled } = openEndless();
    const reading = readAll(stream);
    await new Promise<void>((resolve) => setImmediate(resolve));

    leave(stream);
    const { items, error } = await reading;

    expect(error).toBeUndefined();
    expect(textOf(items)).toBe('Hel');
    await expect(isCancelled()).resolves.toBe(true);
    expect(watched.releases).toBe(1);
  });

  test('an aborted signal throws with the partial response', async () => {
    const { stream, watched, caller, isCancelled } = openEndless();
    const reading = readAll(stream);
    await new Promise<void>((resolve) => setImmediate(resolve));

    caller.abort('enough');
    const { items, error } = await reading;

    expect(textOf(items)).toBe('Hel');
    expect(error).toBeInstanceOf(APIUserAbortError);
    expect(error).toMatchObject({
      cause: 'enough',
      partial: { choices: [{ message: { content: 'Hel' } }] },
    });
    await expect(isCancelled()).resolves.toBe(true);
    expect(watched.releases).toBe(1);
  });

  test('a signal that is already aborted throws immediately', async () => {
    const watched = watchedContext({ signal: AbortSignal.abort() });

    const { items, error } = await readAll(openChat(wholeAnswer, watched));

    expect(items).toEqual([]);
    expect(error).toBeInstanceOf(APIUserAbortError);
    expect(watched.releases).toBe(1);
  });

  test('removes its listeners from the signal', async () => {
    const signals = { added: 0, removed: 0 };
    const { signal } = new AbortController();
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...parameters: Parameters<typeof add>) => {
      signals.added += 1;
      add(...parameters);
    };
    signal.removeEventListener = (...parameters: Parameters<typeof remove>) => {
      signals.removed += 1;
      remove(...parameters);
    };

    await readAll(openChat(wholeAnswer, watchedContext({ signal })));

    expect(signals.added).toBe(1);
    expect(signals.removed).toBe(1);
  });

  test('await using closes it', async () => {
    const { stream, isCancelled } = openEndless();

    await (async () => {
      await using held = stream;
      expect(held.verdict).toBeUndefined();
    })();

    await expect(isCancelled()).resolves.toBe(true);
  });

  test('using closes it', async () => {
    const { stream, isCancelled } = openEndless();

    (() => {
      using held = stream;
      expect(held.verdict).toBeUndefined();
    })();

    await expect(isCancelled()).resolves.toBe(true);
  });

  test('an error in the loop closes it', async () => {
    const { stream, isCancelled } = openEndless();

    await expect(
      (async () => {
        for await (const _ of stream) throw new Error('mine');
      })(),
    ).rejects.toThrow('mine');

    await expect(isCancelled()).resolves.toBe(true);
  });

  test('leaving after the end has no effect', async () => {
    const watched = watchedContext();
    const stream = openChat(wholeAnswer, watched);
    await readAll(stream);

    stream.close();
    stream.controller.abort();

    expect(stream.verdict).toBe('complete');
    expect(watched.releases).toBe(1);
  });
});

/** 25 chunks; only the first of them, as many as given, have text. */
const chunksThatFit = (count: number) =>
  Array.from({ length: 25 }, (_, index) => chunk({ content: index < count ? 'a' : index }));

describe('reading a stream', () => {
  test('twice throws an error with advice', async () => {
    const stream = openChat(wholeAnswer);
    await readAll(stream);

    expect(() => stream[Symbol.asyncIterator]()).toThrow('tee()');
    expect(() => stream.tee()).toThrow(GatewayError);
    expect(() => stream.toReadableStream()).toThrow(GatewayError);
  });

  test('reading a stream with overlapping next() calls keeps the order', async () => {
    const iterator = openChat(respond(cutBytes(wholeAnswer, 40)))[Symbol.asyncIterator]();

    const results = await Promise.all(Array.from({ length: 8 }, () => iterator.next()));

    expect(results.map(({ done }) => done)).toEqual([
      ...Array.from({ length: 5 }, () => false),
      ...Array.from({ length: 3 }, () => true),
    ]);
    const items = results.flatMap(({ value }) => (value === undefined ? [] : [value]));
    expect(textOf(items)).toBe(wholeText);
  });

  test('fails once and is then done', async () => {
    const iterator = openChat(encode({ error: 'no' }))[Symbol.asyncIterator]();

    await expect(iterator.next()).rejects.toBeInstanceOf(StreamError);
    await expect(iterator.next()).resolves.toEqual({ done: true, value: undefined });
  });

  test('reads at most one network chunk ahead', async () => {
    let pulls = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulls += 1;
          controller.enqueue(new TextEncoder().encode(encode(chunk({ content: 'a' }))));
        },
      },
      { highWaterMark: 0 },
    );
    const iterator = openChat(new Response(body))[Symbol.asyncIterator]();

    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(pulls).toBe(1);
    await iterator.next();
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(pulls).toBe(1);
    await iterator.next();
    expect(pulls).toBe(2);
    await iterator.return?.();
  });

  test('validates the first 20 chunks, and every one in strict mode', async () => {
    const watched = watchedContext();
    const strictly = watchedContext({ validation: 'strict' });

    const tolerant = await readStream(openChat(encode(...chunksThatFit(18)), watched));
    const strict = await readStream(openChat(encode(...chunksThatFit(22)), strictly));

    expect(tolerant.items).toHaveLength(25);
    expect(strict.items).toHaveLength(22);
    expect(strict.error).toBeInstanceOf(UnexpectedResponseError);
    expect(watched.issues.map(({ path }) => path)).toEqual(
      Array.from({ length: 2 }, () => 'choices[0].delta.content'),
    );
  });

  test('throws at the first invalid chunk in strict mode', async () => {
    const watched = watchedContext({ validation: 'strict' });

    const result = await readStream(
      openChat(encode(chunk({ content: 'a' }), chunk({ content: 3 })), watched),
    );

    expect(textOf(result.items)).toBe('a');
    expect(result.error).toBeInstanceOf(UnexpectedResponseError);
    expect(result.error).toMatchObject({
      issues: [{ path: 'choices[0].delta.content', received: 'number' }],
      data: { choices: [{ message: { content: 'a' } }] },
    });
    expect(watched.issues).toHaveLength(1);
  });
});
