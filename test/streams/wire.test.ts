import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, test } from 'vitest';
import { StreamTruncatedError } from '../../src/index.ts';
import { chatProtocolFor } from '../../src/resources/chat/protocol.ts';
import {
  chunk,
  createStream,
  encode,
  readAll,
  readStream,
  watchedContext,
  wholeAnswer,
} from '../helpers/sse.ts';

const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A server on a real socket, which answers every request in the same way. */
async function serve(answer: (response: ServerResponse) => void) {
  const sockets = new Set<object>();
  let noteClosed: () => void;
  const closed = new Promise<void>((resolve) => {
    noteClosed = resolve;
  });
  const server = createServer((request, response) => {
    sockets.add(request.socket);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.on('close', () => noteClosed());
    answer(response);
  });
  server.listen(0);
  await once(server, 'listening');
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const open = async (watched = watchedContext()) => {
    const { signal } = watched.context.controller;
    const response = await fetch(`http://127.0.0.1:${port}/`, { signal });
    return createStream(response, watched.context, chatProtocolFor(1));
  };
  return { open, closed, sockets };
}

const first = encode(chunk({ content: 'Hello' }));

describe('on a real socket', () => {
  test('break closes the connection', async () => {
    const { open, closed } = await serve((response) => response.write(first));

    for await (const _ of await open()) break;

    await closed;
  });

  test('controller.abort() closes the connection', async () => {
    const { open, closed } = await serve((response) => response.write(first));
    const stream = await open();
    const reading = readAll(stream);

    stream.controller.abort();

    await closed;
    expect((await reading).error).toBeUndefined();
  });

  test('a cut connection throws with the cause', async () => {
    const { open } = await serve((response) => {
      response.write(first, () => response.destroy());
    });

    const { error, items } = await readAll(await open());

    expect(items).toHaveLength(1);
    expect(error).toBeInstanceOf(StreamTruncatedError);
    expect(error).toMatchObject({ verdict: 'truncated', cause: { name: 'TypeError' } });
  });

  test('a complete response keeps the connection for the next request', async () => {
    const { open, sockets } = await serve((response) => {
      response.write(wholeAnswer);
      setImmediate(() => response.end());
    });

    for (let count = 0; count < 3; count++) {
      expect((await readStream(await open())).verdict).toBe('complete');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }

    expect(sockets.size).toBe(1);
  });

  test('an unreachable stream is closed with a warning', async () => {
    setFlagsFromString('--expose-gc');
    const collect: unknown = runInNewContext('gc');
    const { open, closed } = await serve((response) => response.write(first));
    const watched = watchedContext();
    await open(watched);

    const collecting = setInterval(() => typeof collect === 'function' && collect(), 20);
    await closed;
    clearInterval(collecting);

    expect(watched.warnings).toHaveLength(1);
    expect(watched.releases).toBe(1);
  });

  test('a stream that is being read is not closed by garbage collection', async () => {
    setFlagsFromString('--expose-gc');
    const collect: unknown = runInNewContext('gc');
    const pieces = 4;
    const { open } = await serve((response) => {
      let count = 0;
      const timer = setInterval(() => {
        count += 1;
        if (count === 2 && typeof collect === 'function') collect();
        response.write(count < pieces ? first : encode(chunk({}, 'stop'), '[DONE]'));
        if (count === pieces) {
          clearInterval(timer);
          response.end();
        }
      }, 5);
    });
    const [whole, split] = [watchedContext(), watchedContext()];

    let chunks = 0;
    for await (const _ of await open(whole)) chunks += 1;
    const [left, right] = (await open(split)).tee();
    for await (const _ of left) chunks += 1;
    for await (const _ of right) chunks += 1;

    expect(chunks).toBe(3 * pieces);
    expect([...whole.warnings, ...split.warnings]).toEqual([]);
  });
});
