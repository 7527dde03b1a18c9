// Each way to leave a stream, at each point of its life, on real sockets: the socket closes, and the
// reader learns what it should.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import {
  APIUserAbortError,
  type ChatCompletionChunk,
  type ChatCompletionStream,
  Gateway,
  type Stream,
  tool,
} from '../../src/index.ts';
import { chunk, encode, usage } from '../helpers/sse.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

const first = encode(chunk({ content: 'Hello' }, null, { usage }));

/** Progress of the answer when the stream is left. */
const points = {
  'before the headers': () => undefined,
  'before the first chunk': (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-oneapi-request-id': 'r-1' });
    response.flushHeaders();
  },
  'in the middle': (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-oneapi-request-id': 'r-1' });
    response.write(first);
  },
} as const;
type Point = keyof typeof points;

async function serve(point: Point) {
  let note: () => void;
  const closed = new Promise<void>((resolve) => {
    note = resolve;
  });
  let arrive: () => void;
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const server = createServer((_, response) => {
    response.on('close', () => note());
    points[point](response);
    arrive();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const client = new Gateway({
    apiKey: 'sk-test',
    baseURL: `http://127.0.0.1:${port}`,
    logLevel: 'off',
    maxRetries: 0,
  });
  return { client, closed, arrived };
}

const params = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] };

interface Read {
  readonly text: string;
  readonly error: unknown;
}

async function read(
  chunks: AsyncIterable<ChatCompletionChunk>,
  onChunk?: () => void,
): Promise<Read> {
  let text = '';
  try {
    for await (const { choices } of chunks) {
      text += choices[0]?.delta.content ?? '';
      onChunk?.();
    }
    return { text, error: undefined };
  } catch (error) {
    return { text, error };
  }
}

/** Until what is read has got as far as the answer goes. */
const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

/** Ways to leave a stream; each returns what its reader sees. */
type Leave = (stream: Stream<ChatCompletionChunk>, atChunk: boolean) => Promise<Read>;

function readAnd(leave: (stream: Stream<ChatCompletionChunk>) => void): Leave {
  return async (stream, atChunk) => {
    const reading = read(stream, atChunk ? () => leave(stream) : undefined);
    if (!atChunk) {
      await turn();
      leave(stream);
    }
    return reading;
  };
}

const quietWays: Readonly<Record<string, Leave>> = {
  'close()': readAnd((stream) => stream.close()),
  'controller.abort()': readAnd((stream) => stream.controller.abort()),
  using: async (stream) => {
    {
      using held = stream;
      expect(held.verdict).toBeUndefined();
    }
    return { text: '', error: undefined };
  },
  'await using': async (stream) => {
    {
      await using held = stream;
      expect(held.verdict).toBeUndefined();
    }
    return { text: '', error: undefined };
  },
  'close() of both branches': async (stream, atChunk) => {
    const [left, right] = stream.tee();
    const leave = (): void => {
      left.close();
      right.close();
    };
    const reading = read(left, atChunk ? leave : undefined);
    if (!atChunk) leave();
    return reading;
  },
  'cancel() of the readable': async (stream) => {
    const reader = stream.toReadableStream().getReader();
    const reading = reader.read();
    await reader.cancel();
    await reading;
    return { text: '', error: undefined };
  },
};

describe.each(['before the first chunk', 'in the middle'] as const)(
  'leaving a stream %s',
  (point) => {
    const isMiddle = point === 'in the middle';

    test.each(Object.entries(quietWays))(
      'a stream that is left by %s closes the socket without an error',
      async (_, leave) => {
        const { client, closed } = await serve(point);
        const stream = await client.chat.completions.create({ ...params, stream: true });

        const { error } = await leave(stream, isMiddle);

        await closed;
        expect(error).toBeUndefined();
        expect(stream.verdict).toBe('truncated');
      },
    );

    test('a stream that is left by the signal closes the socket, and throws with the partial response', async () => {
      const { client, closed } = await serve(point);
      const controller = new AbortController();
      const { signal } = controller;
      const stream = await client.chat.completions.create({ ...params, stream: true }, { signal });
      const abort = (): void => controller.abort('enough');

      const reading = read(stream, isMiddle ? abort : undefined);
      if (!isMiddle) setImmediate(abort);
      const { text, error } = await reading;

      await closed;
      expect(text).toBe(isMiddle ? 'Hello' : '');
      expect(error).toBeInstanceOf(APIUserAbortError);
      expect(error).toMatchObject({
        cause: 'enough',
        outcome: 'unknown',
        status: 200,
        requestID: 'r-1',
        callId: expect.any(String),
        ...(isMiddle && { usage, partial: { choices: [{ message: { content: 'Hello' } }] } }),
      });
    });
  },
);

test('break closes the socket, and the partial response is available', async () => {
  const { client, closed } = await serve('in the middle');
  const stream = await client.chat.completions.create({ ...params, stream: true });

  for await (const _ of stream) break;

  await closed;
  expect(stream).toMatchObject({
    verdict: 'truncated',
    usage,
    partial: { choices: [{ message: { content: 'Hello' } }] },
  });
});

test('the signal closes the socket before the headers', async () => {
  const { client, closed, arrived } = await serve('before the headers');
  const controller = new AbortController();
  const pending = client.chat.completions.create(
    { ...params, stream: true },
    { signal: controller.signal },
  );

  await arrived;
  controller.abort('enough');

  await expect(pending).rejects.toMatchObject({
    name: 'APIUserAbortError',
    cause: 'enough',
    outcome: 'unknown',
  });
  await closed;
});

type Helper = ChatCompletionStream<unknown> | ChatCompletionStream;
const starts: Readonly<Record<string, (client: Gateway, signal: AbortSignal) => Helper>> = {
  'stream()': ({ chat }, signal) => chat.completions.stream(params, { signal }),
  'runTools()': ({ chat }, signal) =>
    chat.completions.runTools(
      { ...params, stream: true, tools: [tool({ name: 'find', execute: () => 1 })] },
      { signal },
    ),
};
const helperWays: Readonly<Record<string, (helper: Helper, abort: () => void) => unknown>> = {
  'abort()': (helper) => helper.abort(),
  'its controller': (helper) => helper.controller.abort(),
  'the signal': (_, abort) => abort(),
  using: (helper) => {
    using held = helper;
    expect(held.ended).toBe(false);
  },
  'await using': async (helper) => {
    await using held = helper;
    expect(held.ended).toBe(false);
  },
  'cancel() of the readable': (helper) => helper.toReadableStream().cancel(),
};

describe.each(Object.keys(points).filter((name): name is Point => name in points))(
  'leaving stream() %s',
  (point) => {
    const cases = Object.keys(starts).flatMap((start) =>
      Object.keys(helperWays).map((way) => [start, way] as const),
    );

    test.each(cases)(
      '%s by %s closes the socket, and rejects every promise',
      async (start, way) => {
        const { client, closed, arrived } = await serve(point);
        const controller = new AbortController();
        const helper = starts[start]?.(client, controller.signal);
        if (helper === undefined) expect.unreachable();
        const ends: string[] = [];
        helper.on('abort', () => ends.push('abort')).on('error', () => ends.push('error'));
        const looping = read(helper);
        await (point === 'in the middle' ? helper.emitted('content') : arrived);

        await helperWays[way]?.(helper, () => controller.abort('enough'));

        const error: unknown = await helper.finalContent().catch((caught: unknown) => caught);
        await closed;
        expect(error).toBeInstanceOf(APIUserAbortError);
        expect((await looping).error).toBe(error);
        expect(ends).toEqual(['abort']);
        expect(helper).toMatchObject({ aborted: true, ended: true, errored: true });
        if (point === 'in the middle') {
          expect(error).toMatchObject({
            requestID: 'r-1',
            callId: expect.any(String),
            usage,
            partial: { choices: [{ message: { content: 'Hello' } }] },
          });
        }
      },
    );
  },
);

test('leaving stream() by break closes the socket', async () => {
  const { client, closed } = await serve('in the middle');
  const helper = client.chat.completions.stream(params);

  for await (const _ of helper) break;

  await closed;
  await expect(helper.done()).rejects.toBeInstanceOf(APIUserAbortError);
});
