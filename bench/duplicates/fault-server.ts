import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Answer } from './answers.ts';
import type { Fault } from './faults.ts';

/** A service on the loopback address that fails in one way and keeps books. */
export class FaultServer {
  /** POST requests that were received completely. */
  requests = 0;
  /** What the account was charged. */
  charges = 0;
  /** The address to call. */
  readonly origin: string;

  readonly #server: Server;
  readonly #fault: Fault;
  readonly #good: Answer;

  private constructor(server: Server, origin: string, fault: Fault, good: Answer) {
    this.#server = server;
    this.#fault = fault;
    this.#good = good;
    this.origin = origin;
    server.on('request', (request, response) => this.#receive(request, response));
    if (fault.at === 'connection') server.on('connection', (socket) => socket.resetAndDestroy());
  }

  /** Listens on a free port. A fault of the port needs `close()` before the call. */
  static async open(fault: Fault, good: Answer): Promise<FaultServer> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('No port was given.');
    return new FaultServer(server, `http://127.0.0.1:${address.port}`, fault, good);
  }

  /** Frees the port and cuts what is still open. */
  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    // Connections are cut on purpose; what their streams say about it does not matter.
    request.on('error', () => {});
    response.on('error', () => {});
    request.resume().on('end', () => {
      if (request.method === 'POST') {
        this.requests += 1;
        if (this.#fault.charged) this.charges += 1;
      }
      this.#fault.answer?.({ request, response, good: this.#good });
    });
  }
}
