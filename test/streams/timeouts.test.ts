import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { StreamTimeoutError, StreamTruncatedError } from '../../src/index.ts';
import { chatProtocolFor } from '../../src/resources/chat/protocol.ts';
import type { StreamLimits } from '../../src/streams/timeouts.ts';
import {
  chunk,
  createStream,
  encode,
  openResponse,
  readAll,
  readStream,
  watchedContext,
} from '../helpers/sse.ts';

function openStream(limits: StreamLimits, more: { startedAt?: number } = {}) {
  const body = openResponse();
  const watched = watchedContext({ ...limits, ...more });
  return {
    ...body,
    watched,
    stream: createStream(body.response, watched.context, chatProtocolFor(1)),
  };
}

const piece = encode(chunk({ content: 'a' }));
const end = encode(chunk({}, 'stop'), '[DONE]');

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('firstByteTimeout', () => {
  test('ends a stream without a byte', async () => {
    const { stream, watched, isCancelled } = openStream({ firstByteTimeout: 1_000 });
    const reading = readStream(stream);

    await vi.advanceTimersByTimeAsync(999);
    expect(stream.verdict).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    const { error, verdict } = await reading;

    expect(error).toBeInstanceOf(StreamTimeoutError);
    expect(error).toMatchObject({
      limit: 'firstByteTimeout',
      timeout: 1_000,
      outcome: 'unknown',
      partial: undefined,
      requestID: 'request-1',
    });
    expect(verdict).toBe('truncated');
    await expect(isCancelled()).resolves.toBe(true);
    expect(watched.releases).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('counts from the headers, not from the first read', async () => {
    const { stream } = openStream({ firstByteTimeout: 1_000 });
    await vi.advanceTimersByTimeAsync(900);
    const reading = readAll(stream);

    await vi.advanceTimersByTimeAsync(100);

    expect((await reading).error).toMatchObject({ limit: 'firstByteTimeout' });
  });

  test('firstByteTimeout is satisfied by a heartbeat', async () => {
    const { stream, send, end: close } = openStream({ firstByteTimeout: 1_000 });
    const reading = readAll(stream);
    send(': PING\n\n');
    await vi.advanceTimersByTimeAsync(5_000);
    send(piece + end);
    close();

    expect((await reading).error).toBeUndefined();
  });
});

describe('idleTimeout', () => {
  test('ends a stalled stream, with the partial response', async () => {
    const { stream, send } = openStream({ idleTimeout: 1_000 });
    const reading = readAll(stream);
    send(piece);
    await vi.advanceTimersByTimeAsync(900);
    send(piece);
    await vi.advanceTimersByTimeAsync(999);
    expect(stream.verdict).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);

    const { items, error } = await reading;

    expect(items).toHaveLength(2);
    expect(error).toMatchObject({
      limit: 'idleTimeout',
      timeout: 1_000,
      partial: { choices: [{ message: { content: 'aa' } }] },
    });
  });

  test('idleTimeout is reset by heartbeats', async () => {
    const { stream, send, end: close } = openStream({ idleTimeout: 1_000 });
    const reading = readAll(stream);
    send(piece);
    for (let beat = 0; beat < 10; beat++) {
      await vi.advanceTimersByTimeAsync(900);
      send(': PING\n\n');
    }
    send(end);
    close();

    expect((await reading).error).toBeUndefined();
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('idleTimeout does not count while the reader is busy', async () => {
    const { stream, send, end: close } = openStream({ idleTimeout: 1_000 });
    send(piece);
    const iterator = stream[Symbol.asyncIterator]();
    await iterator.next();

    await vi.advanceTimersByTimeAsync(10_000);
    const next = iterator.next();
    await vi.advanceTimersByTimeAsync(900);
    send(end);
    close();

    await expect(next).resolves.toMatchObject({ done: false });
    await expect(iterator.next()).resolves.toMatchObject({ done: true });
  });

  test('applies next to totalTimeout, also after the reader was busy', async () => {
    const { stream, send } = openStream({ idleTimeout: 1_000, totalTimeout: 60_000 });
    send(piece);
    const iterator = stream[Symbol.asyncIterator]();
    await iterator.next();
    await vi.advanceTimersByTimeAsync(10_500);

    const next = expect(iterator.next()).rejects.toMatchObject({ limit: 'idleTimeout' });
    await vi.advanceTimersByTimeAsync(1_000);

    await next;
  });

  test('completes a stream that has its finish reason', async () => {
    const { stream, send } = openStream({ idleTimeout: 1_000 });
    const reading = readStream(stream);
    send(encode(chunk({ content: 'a' }, 'stop')));
    await vi.advanceTimersByTimeAsync(1_000);

    expect(await reading).toMatchObject({ error: undefined, verdict: 'complete' });
  });

  test('closes an unread stream with a warning', async () => {
    const { stream, send, watched, isCancelled } = openStream({ idleTimeout: 1_000 });
    send(piece);
    await vi.advanceTimersByTimeAsync(1_000);

    expect(watched.warnings).toHaveLength(1);
    expect(watched.releases).toBe(1);
    await expect(isCancelled()).resolves.toBe(true);
    expect((await readAll(stream)).error).toMatchObject({ limit: 'idleTimeout' });
  });
});

describe('chunkTimeout', () => {
  test('ends a stream of heartbeats', async () => {
    const { stream, send } = openStream({ chunkTimeout: 1_000, idleTimeout: 800 });
    const reading = readAll(stream);
    send(piece);
    for (let beat = 0; beat < 4; beat++) {
      await vi.advanceTimersByTimeAsync(300);
      send(': PING\n\n');
    }

    expect((await reading).error).toMatchObject({ limit: 'chunkTimeout', timeout: 1_000 });
  });

  test('chunkTimeout is satisfied by every event', async () => {
    const { stream, send, end: close } = openStream({ chunkTimeout: 1_000 });
    const reading = readAll(stream);
    for (let count = 0; count < 5; count++) {
      send(piece);
      await vi.advanceTimersByTimeAsync(900);
    }
    send(end);
    close();

    expect((await reading).error).toBeUndefined();
  });
});

describe('totalTimeout', () => {
  test('counts from the beginning of the call', async () => {
    const startedAt = performance.now() - 400;
    const { stream, send } = openStream({ totalTimeout: 1_000 }, { startedAt });
    const reading = readAll(stream);
    for (let count = 0; count < 6; count++) {
      send(piece);
      await vi.advanceTimersByTimeAsync(100);
    }

    const { items, error } = await reading;

    expect(items).toHaveLength(6);
    expect(error).toMatchObject({ limit: 'totalTimeout', timeout: 1_000 });
  });

  test('totalTimeout may end before the stream begins', async () => {
    const startedAt = performance.now() - 2_000;
    const { stream, watched } = openStream({ totalTimeout: 1_000 }, { startedAt });

    expect((await readAll(stream)).error).toMatchObject({ limit: 'totalTimeout' });
    expect(watched.releases).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('applies while the reader is busy', async () => {
    const { stream, send, isCancelled } = openStream({ totalTimeout: 1_000 });
    send(piece);
    const iterator = stream[Symbol.asyncIterator]();
    await iterator.next();

    await vi.advanceTimersByTimeAsync(1_000);

    await expect(isCancelled()).resolves.toBe(true);
    await expect(iterator.next()).rejects.toMatchObject({ limit: 'totalTimeout' });
  });
});

describe('a terminator without a finish reason', () => {
  test('a terminator without a finish reason is followed by a short wait for late errors', async () => {
    const { stream, send } = openStream({});
    const reading = readStream(stream);
    send(`${piece}data: [DONE]\n\n`);
    await vi.advanceTimersByTimeAsync(1_900);
    expect(stream.verdict).toBeUndefined();
    await vi.advanceTimersByTimeAsync(100);

    const { error, verdict } = await reading;

    expect(error).toBeInstanceOf(StreamTruncatedError);
    expect(verdict).toBe('no_finish_reason');
  });

  test('a terminator without a finish reason is overridden by a later error', async () => {
    const { stream, send, end: close } = openStream({});
    const reading = readAll(stream);
    send(`${piece}data: [DONE]\n\n`);
    await vi.advanceTimersByTimeAsync(500);
    send('{"error":{"message":"upstream failed"}}');
    close();

    expect(String((await reading).error)).toContain('upstream failed');
  });
});

test('a stream uses one timer for any number of chunks', async () => {
  const set = vi.spyOn(globalThis, 'setTimeout');
  const { stream, send, end: close } = openStream({ idleTimeout: 1_000, chunkTimeout: 900 });
  const reading = readAll(stream);
  for (let count = 0; count < 50; count++) {
    send(piece);
    await vi.advanceTimersByTimeAsync(1);
  }
  const timers = set.mock.calls.length;
  send(end);
  close();
  await reading;

  expect(timers).toBe(1);
});
