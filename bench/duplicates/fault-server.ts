import type { Socket } from 'node:net';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Answer } from './answers.ts';
import type { Fault } from './faults.ts';

/** A service on the loopback address with one fault and a usage log. */
export class FaultServer {
  /** POST requests that were received completely. */
  requests = 0;
  /** The charges of the account. */
  charges = 0;
  /** `true` if responses have the request id that the usage log contains. */
  namesRequests = false;
  /** Delay until a charge appears in the usage log, in milliseconds. */
  static readonly lag = 100;
  /** The address to call. */
  readonly origin: string;

  readonly #server: Server;
  readonly #fault: Fault;
  readonly #good: Answer;
  readonly #lines: { readonly at: number; readonly line: object }[] = [];
  readonly #sockets = (socket: Socket): unknown => socket.resetAndDestroy();

  private constructor(server: Server, origin: string, fault: Fault, good: Answer) {
    this.#server = server;
    this.#fault = fault;
    this.#good = good;
    this.origin = origin;
    server.on('request', (request, response) => this.#receive(request, response));
    if (fault.at === 'connection') server.on('connection', this.#sockets);
  }

  /** Lets connections in again. */
  heal(): void {
    this.#server.off('connection', this.#sockets);
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
      if (request.url === '/api/log/token') {
        if (request.headers.authorization === undefined) response.statusCode = 401;
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ data: this.#readable(), message: '', success: true }));
        return;
      }
      if (request.method === 'POST') {
        this.requests += 1;
        const id = requestId();
        if (this.namesRequests) response.setHeader('x-oneapi-request-id', id);
        if (this.#fault.charged) {
          this.charges += 1;
          this.#write(id, request.url ?? '');
        }
      }
      this.#fault.answer?.({ request, response, good: this.#good });
    });
  }

  /** Returns the visible entries of the usage log, newest first. */
  #readable(): object[] {
    const now = Date.now();
    return this.#lines.filter(({ at }) => at + FaultServer.lag <= now).map(({ line }) => line);
  }

  /** Writes a charge down, as gateways of this family do. */
  #write(id: string, path: string): void {
    const at = Date.now();
    const isTask = path.startsWith('/v1/videos');
    const other = { group_ratio: 1, request_path: path, ...(isTask && { is_task: true }) };
    const line = {
      type: 2,
      created_at: Math.floor(at / 1_000),
      model_name: isTask ? 'video-model' : 'image-model',
      quota: 1_000,
      request_id: id,
      other: JSON.stringify(other),
    };
    this.#lines.unshift({ at, line });
  }
}

/** An id as these gateways make it: the time in UTC, and what makes it unique. */
function requestId(): string {
  const time = new Date().toISOString().replaceAll(/\D/g, '');
  return time + Math.random().toString(36).slice(2, 12);
}
