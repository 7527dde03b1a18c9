import { createServer, type ServerResponse } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { onTestFinished } from 'vitest';
import { chunk, encode } from './sse.ts';

/** Bytes of a whole flood. */
export const floodBytes = 100 * 1_024 * 1_024;

/** A chunk with little text and much padding, as providers send it. */
const piece = Buffer.from(encode({ ...chunk({ content: 'drop ' }), padding: 'x'.repeat(16_000) }));

/** Chunks with text in a flood. */
export const floodChunks = Math.ceil(floodBytes / piece.length);

/** A server that sends 100 MB of events to each request, as fast as possible. */
export interface Flood {
  readonly url: string;
  /** Bytes sent on all connections so far. */
  readonly sent: () => number;
  /** Waits until the connections are full, or everything is sent. */
  readonly settled: () => Promise<void>;
}

function pour(response: ServerResponse, left: number, count: (bytes: number) => void): void {
  for (let rest = left; rest > 0; rest -= 1) {
    count(piece.length);
    if (response.write(piece)) continue;
    response.once('drain', () => pour(response, rest - 1, count));
    return;
  }
  response.end(encode(chunk({}, 'stop'), '[DONE]'));
}

/** Waits for turns of the event loop, with their reads and writes. */
async function turnLoop(times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }
}

/** Starts a server that floods. */
export async function startFlood(): Promise<Flood> {
  let sent = 0;
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    pour(response, floodChunks, (bytes) => {
      sent += bytes;
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${port}`,
    sent: () => sent,
    async settled() {
      for (let before = -1; before !== sent;) {
        before = sent;
        await turnLoop(100);
      }
    },
  };
}

let collect: unknown;

/** Bytes of this process that are still reachable. */
export function heldBytes(): number {
  if (typeof collect !== 'function') {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc');
  }
  if (typeof collect === 'function') collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
