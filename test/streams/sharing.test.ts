import { describe, expect, test } from 'vitest';
import { Stream, StreamError, StreamTruncatedError } from '../../src/index.ts';
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
  usage,
  watchedContext,
  wholeAnswer,
  wholeText,
} from '../helpers/sse.ts';

describe('tee()', () => {
  test('both branches of tee() receive everything, at their own pace', async () => {
    const watched = watchedContext();
    const [left, right] = openChat(respond(cutBytes(wholeAnswer, 30)), watched).tee();

    const first = await readStream(left);
    const second = await readStream(right);

    for (const result of [first, second]) {
      expect(textOf(result.items)).toBe(wholeText);
      expect(result.verdict).toBe('complete');
      expect(result.usage).toEqual(usage);
    }
    expect(watched.releases).toBe(1);
  });

  test('throws in both branches', async () => {
    const [left, right] = openChat(encode(chunk({ content: 'a' }), '[DONE]')).tee();

    const results = await Promise.all([readStream(left), readStream(right)]);

    for (const { error, items, verdict } of results) {
      expect(error).toBeInstanceOf(StreamTruncatedError);
      expect(textOf(items)).toBe('a');
      expect(verdict).toBe('no_finish_reason');
    }
  });

  test('closes the connection once both branches are closed', async () => {
    const { response, send, isCancelled } = openResponse();
    send(encode(chunk({ content: 'a' }), chunk({ content: 'b' })));
    const [left, right] = openChat(response).tee();

    for await (const _ of left) break;
    const iterator = right[Symbol.asyncIterator]();
    expect(textOf([(await iterator.next()).value ?? chunkOfNothing])).toBe('a');
    expect(textOf([(await iterator.next()).value ?? chunkOfNothing])).toBe('b');
    await iterator.return?.();

    await expect(isCancelled()).resolves.toBe(true);
  });

  test('an unread branch causes no unhandled rejection', async () => {
    const [left] = openChat(encode({ error: 'no' })).tee();

    expect((await readAll(left)).error).toBeInstanceOf(StreamError);
  });
});

const chunkOfNothing: ChatCompletionChunk = {
  id: '',
  object: '',
  created: 0,
  model: '',
  choices: [],
};

describe('toReadableStream() and fromReadableStream()', () => {
  test.each([1, 7, 4096])(
    'toReadableStream() and fromReadableStream() return the same chunks, in network chunks of %d bytes',
    async (size) => {
      const direct = await readAll(openChat(wholeAnswer));
      const lines = await new Response(openChat(wholeAnswer).toReadableStream()).text();

      const copy = Stream.fromReadableStream<ChatCompletionChunk>(
        respond(cutBytes(lines, size)).body ?? new ReadableStream(),
      );
      const result = await readStream(copy);

      expect(lines.split('\n')).toHaveLength(direct.items.length + 1);
      expect(result.items).toEqual(direct.items);
      expect(result.verdict).toBe('complete');
    },
  );

  test('toReadableStream() and fromReadableStream() fail where the loop throws', async () => {
    const readable = openChat(encode(chunk({ content: 'a' }), '[DONE]')).toReadableStream();

    const { error, items } = await readAll(Stream.fromReadableStream(readable));

    expect(items).toHaveLength(1);
    expect(error).toBeInstanceOf(StreamTruncatedError);
    expect(error).toMatchObject({ verdict: 'no_finish_reason' });
  });

  test('toReadableStream() and fromReadableStream() throw for a truncated line', async () => {
    const { error, verdict } = await readStream(
      Stream.fromReadableStream(respond('{"a":1}\n{"a":').body ?? new ReadableStream()),
    );

    expect(error).toBeInstanceOf(StreamTruncatedError);
    expect(verdict).toBe('truncated');
  });

  test('toReadableStream() and fromReadableStream() accept values of any type', async () => {
    const text = '1\n"[DONE]"\n\n{"error":"mine"}\n[2]\n';

    const { items } = await readAll(
      Stream.fromReadableStream(respond(text).body ?? new ReadableStream()),
    );

    expect(items).toEqual([1, '[DONE]', { error: 'mine' }, [2]]);
  });

  test('cancel() closes the connection', async () => {
    const { response, send, isCancelled } = openResponse();
    send(encode(chunk({ content: 'a' })));
    const reader = openChat(response).toReadableStream().getReader();
    await reader.read();

    await reader.cancel();

    await expect(isCancelled()).resolves.toBe(true);
  });

  test('closing the copy aborts its controller', async () => {
    const controller = new AbortController();
    const { response, send, isCancelled } = openResponse();
    send('{"a":1}\n');
    const body = response.body ?? new ReadableStream();

    for await (const _ of Stream.fromReadableStream(body, controller)) break;

    expect(controller.signal.aborted).toBe(true);
    await expect(isCancelled()).resolves.toBe(true);
  });
});
