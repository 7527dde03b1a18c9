import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import {
  answering,
  onHello,
  onRequest,
  plainFaults,
  refusingProxy,
  refuseHello,
  reset,
  type AnySocket,
  type Behaviour,
  type Hits,
} from './behaviours.ts';
import type { Certificates } from './certificates.ts';
import { startHttp2Faults } from './http2-faults.ts';
import { createTamperingProxy } from './tampering-proxy.ts';

/** Running fault servers. */
export interface FaultServers extends AsyncDisposable {
  /** The address of each fault, by its name. */
  readonly addresses: Readonly<Record<string, string>>;
  /** Hits of a fault since the last call. */
  takeHits(fault: string): Hits;
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address: string | AddressInfo | null = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

/** No server listens here, and no system gives this port to another process, as with one that was just closed. */
const closedPort = 2;

/** The servers of every fault, as far as they are started. */
class FaultServerSet {
  readonly addresses: Record<string, string> = {};
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #hits = new Map<string, Hits>();

  readonly hitsOf = (fault: string): Hits => {
    const found = this.#hits.get(fault) ?? { connections: 0, requests: 0 };
    this.#hits.set(fault, found);
    return found;
  };

  takeHits(fault: string): Hits {
    const found = this.hitsOf(fault);
    this.#hits.delete(fault);
    return found;
  }

  /** A listener that behaves, and counts what it sees as hits of a fault. */
  counted(fault: string, behaviour: Behaviour): (socket: AnySocket) => void {
    return (socket) => {
      socket.on('error', () => {});
      behaviour(socket, () => {
        this.hitsOf(fault).requests += 1;
      });
    };
  }

  async add(fault: string, server: Server, scheme: 'http' | 'https'): Promise<void> {
    server.on('connection', (socket: Socket) => {
      this.hitsOf(fault).connections += 1;
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => this.#sockets.delete(socket));
    });
    server.on('tlsClientError', () => {});
    this.#servers.push(server);
    // Runtimes try the addresses of `localhost` in different orders.
    this.addresses[fault] = `${scheme}://127.0.0.1:${await listen(server)}`;
  }

  addTls(fault: string, options: object, behaviour: Behaviour): Promise<void> {
    return this.add(fault, createTlsServer(options, this.counted(fault, behaviour)), 'https');
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    for (const server of this.#servers) server.close();
  }
}

async function addTlsFaults(set: FaultServerSet, certificates: Certificates): Promise<void> {
  const { trusted, otherName, selfSigned, authority } = certificates;
  await set.addTls('self-signed certificate', selfSigned, answering);
  await set.addTls('certificate of another name', otherName, answering);
  await set.addTls('reset after the request over TLS', trusted, onRequest(reset));
  const asking = { ...trusted, ca: [authority], requestCert: true, rejectUnauthorized: true };
  await set.addTls('client certificate wanted', asking, answering);
  await set.add('plain text to a TLS port', createTlsServer(trusted), 'http');
  await set.add('TLS to a plain port', createServer(onHello(refuseHello)), 'https');
  await set.add('reset in the handshake', createServer(onHello(reset)), 'https');
  await set.add(
    'end in the handshake',
    createServer(onHello((socket) => void socket.end())),
    'https',
  );
}

/** The server is behind a proxy that spoils the TLS session once the request has come. */
async function addBrokenRecord(set: FaultServerSet, { trusted }: Certificates): Promise<void> {
  const fault = 'broken record after the request';
  const proxy = createTamperingProxy();
  const behaviour = set.counted(
    fault,
    onRequest(() => proxy.tamper()),
  );
  const behind = createTlsServer(trusted, behaviour);
  await set.add(`${fault}, behind the proxy`, behind, 'https');
  proxy.target(Number(new URL(set.addresses[`${fault}, behind the proxy`] ?? '').port));
  await set.add(fault, proxy.server, 'https');
}

/** Starts one server for every fault. */
export async function startFaultServers(certificates: Certificates): Promise<FaultServers> {
  const set = new FaultServerSet();
  for (const [fault, behaviour] of Object.entries(plainFaults)) {
    await set.add(fault, createServer(set.counted(fault, behaviour)), 'http');
  }
  const proxy = 'proxy that opens no tunnel';
  await set.add(proxy, createServer(set.counted(proxy, refusingProxy)), 'http');
  await addTlsFaults(set, certificates);
  await addBrokenRecord(set, certificates);
  const http2 = await startHttp2Faults(certificates.trusted, set.hitsOf);
  const addresses = {
    ...set.addresses,
    ...http2.addresses,
    'refused port': `http://127.0.0.1:${closedPort}`,
    'refused port of several addresses': `http://localhost:${closedPort}`,
    'refused port over TLS': `https://127.0.0.1:${closedPort}`,
    'unresolvable name': 'http://no-such-host.invalid',
  };
  return {
    addresses,
    takeHits: (fault) => set.takeHits(fault),
    async [Symbol.asyncDispose]() {
      set.close();
      await http2[Symbol.asyncDispose]();
    },
  };
}
