import { createServer, type Server, type Socket } from 'node:net';

/** A received request. */
interface RawRequest {
  readonly head: string;
  readonly body: string;
}

/** Handles a connection once a whole request has arrived. */
export type Answering = (socket: Socket, request: RawRequest) => void;

/** A TCP server, for behaviour that HTTP servers don't have. */
export interface RawServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: RawRequest[];
  /** The number of connections so far. */
  readonly connections: () => number;
  /** The number of open connections. */
  readonly open: () => number;
}

function contentLength(head: string): number {
  return Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

/** Starts a server. `onConnect` may close a connection before it is read. */
export async function rawServer(
  answer: Answering,
  onConnect?: (socket: Socket) => void,
): Promise<RawServer> {
  const requests: RawRequest[] = [];
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createServer((socket) => {
    count += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      if (end < 0) return;
      const head = text.slice(0, end);
      const body = text.slice(end + 4);
      if (Buffer.byteLength(body, 'latin1') < contentLength(head)) return;
      text = '';
      const request = { head, body };
      requests.push(request);
      answer(socket, request);
    });
    onConnect?.(socket);
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    connections: () => count,
    open: () => sockets.size,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** An HTTP response as text. */
export function httpAnswer(body: string, head = 'HTTP/1.1 200 OK'): string {
  return `${head}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
