import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { corsHeaders, reset, type Hits } from './behaviours.ts';
import type { Identity } from './certificates.ts';

/** Applies a fault to a request; `cut` resets its connection. */
type Behaviour = (stream: ServerHttp2Stream, cut: () => void) => void;

const afterBody =
  (action: Behaviour): Behaviour =>
  (stream, cut) => {
    stream.resume();
    stream.once('end', () => action(stream, cut));
  };

const faults: Readonly<Record<string, Behaviour>> = {
  'HTTP/2 REFUSED_STREAM': (stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM),
  'HTTP/2 INTERNAL_ERROR after the request': afterBody((stream) =>
    stream.close(constants.NGHTTP2_INTERNAL_ERROR),
  ),
  // The id in it says that this very stream was not processed.
  'HTTP/2 GOAWAY after the request': afterBody((stream) => {
    stream.session?.goaway(constants.NGHTTP2_NO_ERROR, 0);
    stream.session?.destroy();
  }),
  'HTTP/2 reset after the request': afterBody((_, cut) => cut()),
};

interface Opened {
  readonly server: Http2SecureServer;
  readonly sessions: Set<ServerHttp2Session>;
}

function openServer(identity: Identity, behaviour: Behaviour, hits: () => Hits): Opened {
  const server = createSecureServer({ ...identity, allowHTTP1: false });
  const sessions = new Set<ServerHttp2Session>();
  // A session hides its socket, so connections are known by their port.
  const sockets = new Map<number | undefined, TLSSocket>();
  server.on('secureConnection', (socket) => {
    const { remotePort } = socket;
    sockets.set(remotePort, socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(remotePort));
  });
  server.on('session', (session) => {
    hits().connections += 1;
    sessions.add(session);
    session.on('error', () => {});
    session.once('close', () => sessions.delete(session));
  });
  server.on('sessionError', () => {});
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    if (headers[':method'] === 'OPTIONS') {
      stream.respond({ ':status': 204, ...corsHeaders }, { endStream: true });
      return;
    }
    hits().requests += 1;
    behaviour(stream, () => {
      const socket = sockets.get(stream.session?.socket.remotePort);
      if (socket !== undefined) reset(socket);
    });
  });
  return { server, sessions };
}

function getAddress(server: Http2SecureServer): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address: string | AddressInfo | null = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      resolve(`https://127.0.0.1:${port}`);
    });
  });
}

/** Starts one HTTP/2 server for every fault that only HTTP/2 has. They speak nothing else. */
export async function startHttp2Faults(
  identity: Identity,
  hitsOf: (fault: string) => Hits,
): Promise<AsyncDisposable & { readonly addresses: Readonly<Record<string, string>> }> {
  const opened: Opened[] = [];
  const addresses: Record<string, string> = {};
  for (const [fault, behaviour] of Object.entries(faults)) {
    const next = openServer(identity, behaviour, () => hitsOf(fault));
    opened.push(next);
    addresses[fault] = await getAddress(next.server);
  }
  return {
    addresses,
    async [Symbol.asyncDispose]() {
      for (const { server, sessions } of opened) {
        for (const session of sessions) session.destroy();
        server.close();
      }
      return Promise.resolve();
    },
  };
}
