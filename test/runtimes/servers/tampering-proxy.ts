import { connect, createServer, type Server, type Socket } from 'node:net';

/** A proxy in front of a TLS server that can corrupt an open connection. */
export interface TamperingProxy {
  readonly server: Server;
  /** Says on which port of this machine the TLS server listens. */
  target(port: number): void;
  /** Sends bytes to every client that are not part of its TLS session. */
  tamper(): void;
}

/** Passes bytes on in both directions until it starts to tamper. */
export function createTamperingProxy(): TamperingProxy {
  const clients = new Set<Socket>();
  let targetPort = 0;
  const server = createServer((client) => {
    const target = connect(targetPort, '127.0.0.1');
    clients.add(client);
    client.once('close', () => {
      clients.delete(client);
      target.destroy();
    });
    client.on('error', () => target.destroy());
    target.on('error', () => client.destroy());
    client.pipe(target);
    target.pipe(client);
  });
  return {
    server,
    target(port) {
      targetPort = port;
    },
    tamper() {
      for (const client of clients) client.write('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    },
  };
}
