import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { nodeProcess } from '../../http/node/node-process.ts';
import { streamChunks, ConnectionLoss } from './byte-stream.ts';
import { holdRequest } from './fetch.ts';
import { delay } from '../../http/abort.ts';

/** A running server of the emulator. */
export interface EmulatorServer extends AsyncDisposable {
  /** The root URL of the gateway, for example `http://127.0.0.1:4010`. */
  readonly url: string;
  readonly port: number;
  /** A second origin that only serves files. */
  readonly filesURL: string;
  /** Stops the server immediately and closes all connections. */
  close(): Promise<void>;
}

type Handle = (request: Request) => Promise<Response>;

// A reset discards unsent data, so wait for the last bytes to be sent.
const flushMilliseconds = 20;

function toBody(message: IncomingMessage): ReadableStream<Uint8Array> {
  let isWanted = true;
  return new ReadableStream({
    start(controller) {
      message.on('data', (piece: Uint8Array) => {
        if (!isWanted) return;
        controller.enqueue(new Uint8Array(piece));
        if ((controller.desiredSize ?? 0) <= 0) message.pause();
      });
      message.once('end', () => isWanted && controller.close());
      message.once('error', (error) => isWanted && controller.error(error));
      message.pause();
    },
    pull() {
      message.resume();
    },
    cancel() {
      // Read and discard the rest, so that the client reads the response.
      isWanted = false;
      message.resume();
    },
  });
}

function toRequest(message: IncomingMessage, address: string, signal: AbortSignal): Request {
  const { method = 'GET', url = '/', headers } = message;
  const host = headers.host ?? address;
  const pairs = Object.entries(message.headersDistinct).flatMap(([name, values]) =>
    (values ?? []).map((value): [string, string] => [name, value]),
  );
  const hasBody = method !== 'GET' && method !== 'HEAD';
  return new Request(`http://${host}${url}`, {
    method,
    headers: pairs,
    signal,
    ...(hasBody ? { body: toBody(message), duplex: 'half' } : {}),
  });
}

function written(response: ServerResponse, piece: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new Error('The client has gone'));
    response.once('close', stop);
    // The callback runs once the system has taken the bytes, so a slow client slows the emulator.
    response.write(piece, (error) => {
      response.off('close', stop);
      if (error === undefined || error === null) resolve();
      else reject(error);
    });
  });
}

async function send(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.flushHeaders();
  let sent = 0;
  if (answer.body !== null) {
    for await (const piece of streamChunks(answer.body)) {
      await written(response, piece);
      sent += piece.length;
    }
  }
  const stated = answer.headers.get('content-length');
  if (stated !== null && sent < Number(stated)) throw ConnectionLoss.inBody('end');
  response.end();
}

async function cut(response: ServerResponse, how: 'reset' | 'end'): Promise<void> {
  await delay(flushMilliseconds);
  if (how === 'reset') response.socket?.resetAndDestroy();
  else response.socket?.destroy();
}

async function serve(
  handle: Handle,
  address: string,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const connection = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) connection.abort(new Error('The client has gone'));
  });
  try {
    const request = toRequest(message, address, connection.signal);
    response.once('close', holdRequest(request));
    await send(await handle(request), response);
  } catch (error) {
    if (error instanceof ConnectionLoss) await cut(response, error.how);
    else response.socket?.destroy();
  }
}

function start(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

function stopServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** A listening server. */
interface Listening {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Serves requests on a port; 0 selects a free one. */
export async function listen(handle: Handle, port: number, host: string): Promise<Listening> {
  // Not an import, which bundlers for browsers could not resolve.
  const http = nodeProcess()?.getBuiltinModule?.('node:http');
  if (http === undefined)
    throw new TypeError('listen() needs Node, Bun or Deno; use fetch instead');
  const named = host.includes(':') ? `[${host}]` : host;
  const server = http.createServer(
    { requestTimeout: 0, keepAliveTimeout: 60_000 },
    (message, response) => void serve(handle, `${named}:${port}`, message, response),
  );
  const taken = await start(server, port, host);
  return { url: `http://${named}:${taken}`, port: taken, close: () => stopServer(server) };
}

/** Serves the emulator on a port, and its files on a second one. */
export async function startServer(
  handle: Handle,
  port: number,
  host: string,
): Promise<EmulatorServer> {
  const main = await listen(handle, port, host);
  const files = await listen(handle, 0, host);
  const close = async (): Promise<void> => {
    await Promise.all([main.close(), files.close()]);
  };
  return {
    url: main.url,
    port: main.port,
    filesURL: files.url,
    close,
    [Symbol.asyncDispose]: close,
  };
}
