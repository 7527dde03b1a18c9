import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { readRequests, type RawRequest } from './request-reader.ts';

/** A connection, plain or over TLS. */
export type AnySocket = Socket | TLSSocket;

/** Applies a fault to a connection; call `count` for every complete request. */
export type Behaviour = (socket: AnySocket, count: () => void) => void;

/** Hits of the fault servers for one fault. */
export interface Hits {
  connections: number;
  /** Complete requests, without preflights. */
  requests: number;
}

/** Headers that let a page of any origin call a server. Every request is asked for beforehand. */
export const corsHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, POST, OPTIONS',
  'access-control-allow-headers': 'authorization, content-type, accept',
  'access-control-max-age': '0',
};

const corsLines = Object.entries(corsHeaders)
  .map(([name, value]) => `${name}: ${value}`)
  .join('\r\n');

const json = 'content-type: application/json';

const completion = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm-large',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

/** Ends a connection with a reset. */
export function reset(socket: AnySocket): void {
  // A TLS socket has no reset of its own that reaches the wire.
  const parent: unknown = Reflect.get(socket, '_parent');
  const target = parent instanceof Object && 'resetAndDestroy' in parent ? parent : socket;
  const method: unknown = Reflect.get(target, 'resetAndDestroy');
  if (typeof method === 'function') Reflect.apply(method, target, []);
}

function end(socket: AnySocket): void {
  socket.end();
}

function write(socket: AnySocket, head: string, body: string): void {
  socket.write(`HTTP/1.1 ${head}\r\n${corsLines}\r\n\r\n${body}`);
}

function answerWhole(socket: AnySocket): void {
  write(socket, `200 OK\r\n${json}\r\ncontent-length: ${completion.length}`, completion);
}

/** Answers a preflight, on a connection of its own, so that a browser sends the request itself. */
function allow(socket: AnySocket): void {
  socket.end(`HTTP/1.1 204 No Content\r\n${corsLines}\r\nconnection: close\r\n\r\n`);
}

/** Hands every complete request on, but answers preflights. */
export function onRequest(handle: (socket: AnySocket, request: RawRequest) => void): Behaviour {
  return (socket, count) =>
    readRequests(socket, (request) => {
      if (request.method === 'OPTIONS') {
        allow(socket);
        return;
      }
      count();
      handle(socket, request);
    });
}

/** Answers the first request of a connection, so that the second one finds it open. */
function onSecondRequest(action: (socket: AnySocket) => void): Behaviour {
  return (socket, count) => {
    let requests = 0;
    readRequests(socket, ({ method }) => {
      if (method === 'OPTIONS') {
        write(socket, '204 No Content', '');
        return;
      }
      count();
      requests += 1;
      if (requests > 1) action(socket);
      else answerWhole(socket);
    });
  };
}

/** Begins an answer, and goes on when the bytes have had time to leave. */
function begin(framing: string, body: string, then?: (socket: AnySocket) => void): Behaviour {
  return onRequest((socket) => {
    write(socket, `200 OK\r\n${json}\r\n${framing}`, body);
    if (then !== undefined) setTimeout(() => then(socket), 30);
  });
}

const stated = 'content-length: 100000';
const partial = '{"id":"chatcmpl-1",';
const whole = `content-length: ${completion.length}`;

/** Answers every request as it should. */
export const answering: Behaviour = onRequest(answerWhole);

/** Faults of plain connections. */
export const plainFaults: Readonly<Record<string, Behaviour>> = {
  'reset on accept': reset,
  'end on accept': end,
  'reset after the headers': (socket) =>
    readRequests(
      socket,
      ({ method }) => {
        if (method === 'OPTIONS') allow(socket);
      },
      () => reset(socket),
    ),
  'reset after the request': onRequest(reset),
  'end after the request': onRequest(end),
  'reset after the second request': onSecondRequest(reset),
  'end after the second request': onSecondRequest(end),
  stall: onRequest(() => {}),
  'no HTTP': onRequest((socket) => void socket.end('SSH-2.0-OpenSSH_9.6\r\n')),
  'body cut by a reset': begin(stated, partial, reset),
  'body cut by an end': begin(stated, partial, end),
  'chunked body cut by an end': begin(
    'transfer-encoding: chunked',
    `${partial.length.toString(16)}\r\n${partial}\r\n`,
    end,
  ),
  'body stall': begin(stated, partial),
  'keep-alive closed after 30 ms': begin(whole, completion, end),
  'keep-alive reset after 30 ms': begin(whole, completion, reset),
};

/** Refuses to open a tunnel, as a proxy that cannot reach the gateway. */
export const refusingProxy: Behaviour = (socket) => {
  socket.once('data', () => socket.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n'));
};

/** Does something as soon as the first bytes of a TLS handshake have come. */
export function onHello(action: (socket: Socket) => void): (socket: Socket) => void {
  return (socket) => {
    socket.on('error', () => {});
    socket.once('data', () => action(socket));
  };
}

/** Says what web servers say to a TLS handshake on a plain port. */
export function refuseHello(socket: Socket): void {
  socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
}
