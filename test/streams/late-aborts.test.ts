// An abort at each chunk of a stream, also when its end has arrived already: no chunk is handed out
// after it, and a loop ends as the caller's way to abort says.
import { describe, expect, test } from 'vitest';
import {
  APIUserAbortError,
  ChatCompletionStream,
  type ChatCompletionChunk,
  Gateway,
  Stream,
  StreamTruncatedError,
} from '../../src/index.ts';
import { chunk, encode, usageChunk } from '../helpers/sse.ts';

const count = 6;
const pieces = Array.from({ length: count - 1 }, (_, at) => chunk({ content: `${at} ` }));
const whole = encode(...pieces, chunk({}, 'stop'), usageChunk, '[DONE]');
/** Ends of the bodies. All of a body arrives with the first read. */
const bodies = {
  'a whole stream': { text: whole, isOpen: false },
  'a cut stream': { text: encode(...pieces, chunk({ content: 'x' })), isOpen: false },
  'an open stream': { text: encode(...pieces, chunk({ content: 'x' })), isOpen: true },
} as const;
type Body = keyof typeof bodies;

function clientFor(body: Body): Gateway {
  const { text, isOpen } = bodies[body];
  return new Gateway({
    apiKey: 'sk-test',
    baseURL: 'https://gateway.test',
    logLevel: 'off',
    maxRetries: 0,
    fetch: async () =>
      new Response(
        new ReadableStream<Uint8Array>({
          start(controller) {
            controller.enqueue(new TextEncoder().encode(text));
            if (!isOpen) controller.close();
          },
        }),
        { headers: { 'content-type': 'text/event-stream' } },
      ),
  });
}

const params = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] };
const streamed = { ...params, stream: true } as const;

/** Chunks that a loop receives if it calls `leave` at one of them. */
async function read(
  chunks: AsyncIterable<unknown>,
  at: number,
  leave: () => void,
): Promise<{ seen: number; error: unknown }> {
  let seen = 0;
  try {
    if (at === 0) leave();
    for await (const _ of chunks) if (++seen === at) leave();
    return { seen, error: undefined };
  } catch (error) {
    return { seen, error };
  }
}

/** Ways to read a stream and abort it at a chunk. */
type Way = (client: Gateway, at: number) => Promise<{ seen: number; error: unknown }>;

const open = (client: Gateway, signal?: AbortSignal) =>
  client.chat.completions.create(streamed, { signal });

/** Waits until a helper has read everything that has arrived. */
async function readAhead(helper: ChatCompletionStream<unknown>): Promise<void> {
  await helper.emitted('content');
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
}

const points = Array.from({ length: count }, (_, at) => at);

const quiet: Readonly<Record<string, Way>> = {
  'controller.abort()': async (client, at) => {
    const stream = await open(client);
    return read(stream, at, () => stream.controller.abort());
  },
  'close()': async (client, at) => {
    const stream = await open(client);
    if (at === 0) return { seen: 0, error: undefined };
    return read(stream, at, () => stream.close());
  },
  'return() of the iterator': async (client, at) => {
    const iterator = (await open(client))[Symbol.asyncIterator]();
    return read(iterator, at, () => void iterator.return?.());
  },
  'controller.abort(), in a branch': async (client, at) => {
    const stream = await open(client);
    const [left] = stream.tee();
    return read(left, at, () => stream.controller.abort());
  },
  'controller.abort(), in the branch behind': async (client, at) => {
    const stream = await open(client);
    const [ahead, behind] = stream.tee();
    const iterator = ahead[Symbol.asyncIterator]();
    for (const _ of points) await iterator.next();
    return read(behind, at, () => stream.controller.abort());
  },
  'controller.abort(), as a readable': async (client, at) => {
    const stream = await open(client);
    return read(stream.toReadableStream(), at, () => stream.controller.abort());
  },
};

const throwing: Readonly<Record<string, Way>> = {
  'the signal': async (client, at) => {
    const controller = new AbortController();
    return read(await open(client, controller.signal), at, () => controller.abort());
  },
  'the signal, in the branch behind': async (client, at) => {
    const controller = new AbortController();
    const [ahead, behind] = (await open(client, controller.signal)).tee();
    const iterator = ahead[Symbol.asyncIterator]();
    for (const _ of points) await iterator.next();
    return read(behind, at, () => controller.abort());
  },
  'the signal, as a readable': async (client, at) => {
    const controller = new AbortController();
    const stream = await open(client, controller.signal);
    return read(stream.toReadableStream(), at, () => controller.abort());
  },
  'abort() of the helper': async (client, at) => {
    const helper = client.chat.completions.stream(params);
    return read(helper, at, () => helper.abort());
  },
  'abort() of a helper that has read everything': async (client, at) => {
    const helper = client.chat.completions.stream(params);
    const chunks = helper[Symbol.asyncIterator]();
    await readAhead(helper);
    return read(chunks, at, () => helper.abort());
  },
  'the signal of a helper that has read everything': async (client, at) => {
    const controller = new AbortController();
    const helper = client.chat.completions.stream(params, controller);
    const chunks = helper[Symbol.asyncIterator]();
    await readAhead(helper);
    return read(chunks, at, () => controller.abort());
  },
  'abort() of a run of tools': async (client, at) => {
    const runner = client.chat.completions.runTools({ ...streamed, tools: [] });
    return read(runner, at, () => runner.abort());
  },
  'abort() of a helper, as a readable': async (client, at) => {
    const helper = client.chat.completions.stream(params);
    return read(helper.toReadableStream(), at, () => helper.abort());
  },
  'abort() of a helper that reads lines': async (client, at) => {
    const lines = client.chat.completions.stream(params).toReadableStream();
    const helper = ChatCompletionStream.fromReadableStream(lines);
    return read(helper, at, () => helper.abort());
  },
};

describe.each(Object.keys(bodies).filter((name): name is Body => name in bodies))('%s', (body) => {
  test.each(Object.entries(quiet))('aborted by %s ends without an error', async (_, way) => {
    for (const at of points) {
      const { seen, error } = await way(clientFor(body), at);

      expect([at, seen, error]).toEqual([at, at, undefined]);
    }
  });

  test.each(Object.entries(throwing))('aborted by %s throws', async (name, way) => {
    for (const at of points) {
      const { seen, error } = await way(clientFor(body), at);

      expect([at, seen]).toEqual([at, at]);
      // A stream that had failed before keeps its failure.
      const failed = body === 'a cut stream' && StreamTruncatedError.isInstance(error);
      if (!failed) expect(error, `${name} at ${at}`).toBeInstanceOf(APIUserAbortError);
    }
  });
});

test('an abort in a listener of stream() ends the events', async () => {
  for (const at of points.slice(1)) {
    const helper = clientFor('a whole stream').chat.completions.stream(params);
    const seen: string[] = [];
    helper.on('chunk', () => {
      seen.push('chunk');
      if (seen.length === at) helper.abort();
    });

    await expect(helper.done()).rejects.toBeInstanceOf(APIUserAbortError);

    expect(seen).toHaveLength(at);
  }
});

test('an abort after the last chunk has no effect', async () => {
  const controller = new AbortController();
  const stream = await open(clientFor('a whole stream'), controller.signal);
  const { seen, error } = await read(stream, count, () => controller.abort());

  expect([seen, error]).toEqual([count, undefined]);
  expect(stream.verdict).toBe('complete');
});

test('an abort after the end of a complete stream keeps its verdict and text', async () => {
  const controller = new AbortController();
  const stream = await open(clientFor('a whole stream'), controller.signal);
  const { error } = await read(stream, 2, () => controller.abort('enough'));

  expect(error).toMatchObject({ cause: 'enough', outcome: 'unknown', usage: usageChunk.usage });
  expect(stream.verdict).toBe('complete');
  expect(stream.partial?.choices[0]?.message.content).toBe('0 1 2 3 4 ');
});

test('nothing is read after return()', async () => {
  const iterator = (await open(clientFor('a whole stream')))[Symbol.asyncIterator]();

  await iterator.next();
  await iterator.return?.();

  expect(await iterator.next()).toEqual({ done: true, value: undefined });
});

test('streams of fromReadableStream() end in the same way', async () => {
  const controller = new AbortController();
  const lines = (await open(clientFor('a whole stream'))).toReadableStream();
  const stream = Stream.fromReadableStream<ChatCompletionChunk>(lines, controller);

  const { seen, error } = await read(stream, 2, () => controller.abort());

  expect([seen, error]).toEqual([2, undefined]);
});
