import { describe, expect, test } from 'vitest';
import { Gateway, Stream } from '../../src/index.ts';
import type { ChatCompletionChunk } from '../../src/resources/chat/types.ts';
import { type Flood, floodBytes, floodChunks, heldBytes, startFlood } from '../helpers/flood.ts';

const megabyte = 1_024 * 1_024;

/** Margin for both ends in one process, which collect their garbage at any time. */
const garbage = 40 * megabyte;

/** Margin for the buffers of both ends and of their readers. */
const buffers = 16 * megabyte;

async function open(flood: Flood): Promise<Stream<ChatCompletionChunk>> {
  const client = new Gateway({ baseURL: flood.url, apiKey: 'sk-test', logLevel: 'off' });
  return client.chat.completions.create({
    model: 'm',
    messages: [{ role: 'user', content: 'Flood' }],
    stream: true,
  });
}

/** Something that is read piece by piece. */
interface Reading {
  next(): Promise<unknown>;
  close(): unknown;
}

function iterate(stream: Stream<ChatCompletionChunk>): Reading {
  const iterator = stream[Symbol.asyncIterator]();
  return { next: () => iterator.next(), close: () => stream.close() };
}

function readLines(stream: Stream<ChatCompletionChunk>): Reading {
  const reader = stream.toReadableStream().getReader();
  return { next: () => reader.read(), close: () => reader.cancel() };
}

function readLeft(stream: Stream<ChatCompletionChunk>): Reading {
  const [left, right] = stream.tee();
  const iterator = left[Symbol.asyncIterator]();
  return {
    next: () => iterator.next(),
    close: () => {
      left.close();
      right.close();
    },
  };
}

describe('a slow reader of a fast server', () => {
  test.each([
    ['a loop', iterate],
    ['toReadableStream()', readLines],
    ['one branch of tee()', readLeft],
    [
      'a loop over fromReadableStream()',
      (stream: Stream<ChatCompletionChunk>) =>
        iterate(Stream.fromReadableStream(stream.toReadableStream())),
    ],
  ])('a slow reader of a fast server applies backpressure: %s', async (_, begin) => {
    const flood = await startFlood();
    const before = heldBytes();
    const reading = begin(await open(flood));

    for (let chunks = 0; chunks < 40; chunks += 1) {
      await flood.settled();
      expect(flood.sent()).toBeGreaterThan(0);
      expect(flood.sent()).toBeLessThan(buffers);
      await reading.next();
    }

    expect(heldBytes() - before).toBeLessThan(garbage);
    await reading.close();
  });

  test('a slow reader that starts late applies backpressure before', async () => {
    const flood = await startFlood();
    const stream = await open(flood);

    await flood.settled();

    expect(flood.sent()).toBeLessThan(buffers);
    stream.close();
  });
});

test('a stream of 100 MB takes only the memory of its text', async () => {
  const flood = await startFlood();
  const before = heldBytes();
  const stream = await open(flood);
  let chunks = 0;
  let most = 0;

  for await (const _ of stream) {
    chunks += 1;
    if (chunks % 1_000 === 0) most = Math.max(most, heldBytes() - before);
  }

  expect(flood.sent()).toBeGreaterThanOrEqual(floodBytes);
  expect(stream.verdict).toBe('complete');
  expect(stream.partial?.choices[0]?.message.content).toHaveLength(5 * floodChunks);
  expect(most).toBeLessThan(garbage);
});
