import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Answer } from '../answers.ts';
import type { Counts } from './scenario.ts';

/** A paid request that was received completely. */
export interface PaidRequest {
  /** Its position, from 0. */
  readonly index: number;
  readonly id: string;
  readonly path: string;
  readonly key: string;
  readonly body: string;
}

/** The response to a paid request. */
export interface Reply {
  /** In US dollars; a request without it is not charged. */
  readonly cost?: number;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly answer: Answer;
  /** Cuts the connection behind the headers. */
  readonly isCut?: boolean;
}

/** The behaviour of a service. */
export interface Script {
  /** The body of the price list; `never` leaves its readers waiting. */
  readonly prices?: object | 'never';
  /** The response to each poll of a task. @defaultValue a completed video */
  readonly poll?: object;
  readonly reply: (request: PaidRequest, service: Service) => Reply;
}

/** Units of the usage log for one US dollar. */
const perDollar = 500_000;

/** A gateway on the loopback address with a price list and a usage log. */
export class Service implements AsyncDisposable {
  readonly requests: PaidRequest[] = [];
  readonly charges: { readonly key: string; readonly cost: number }[] = [];
  /** The number of requests for the price list. */
  priceReads = 0;
  readonly origin: string;

  readonly #server: Server;
  readonly #script: Script;
  readonly #log: object[] = [];

  private constructor(server: Server, origin: string, script: Script) {
    this.#server = server;
    this.#script = script;
    this.origin = origin;
    server.on('request', (request, response) => void this.#receive(request, response));
  }

  /** Listens on a free port. */
  static async open(script: Script): Promise<Service> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('No port was assigned.');
    return new Service(server, `http://127.0.0.1:${address.port}`, script);
  }

  /** The sum of charges, in US dollars. */
  get spent(): number {
    const total = this.charges.reduce((sum, { cost }) => sum + cost, 0);
    return Math.round(total * 1_000) / 1_000;
  }

  /** Adds an entry to the usage log. */
  log(request: PaidRequest, type: unknown, cost: number): void {
    this.#log.unshift({
      type,
      created_at: Math.floor(Date.now() / 1_000),
      model_name: readModel(request),
      quota: Math.round(cost * perDollar),
      request_id: request.id,
      other: JSON.stringify({ group_ratio: 1, request_path: request.path }),
    });
  }

  /** Charges for a request and logs it. */
  charge(request: PaidRequest, cost: number): void {
    this.charges.push({ key: request.key, cost });
    this.log(request, 2, cost);
  }

  counts(notes: Counts['notes'] = {}): Counts {
    return { requests: this.requests.length, charges: this.charges.length, notes };
  }

  /** Frees the port and cuts open connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {});
    const body = await text(request);
    const path = request.url ?? '';
    if (request.method === 'POST') return this.#answer(request, response, body);
    if (path === '/api/pricing') {
      this.priceReads += 1;
      if (this.#script.prices === 'never') return undefined;
      return send(response, this.#script.prices ?? { success: false });
    }
    if (path.startsWith('/api/log/token')) {
      return send(response, { data: this.#log, message: '', success: true });
    }
    if (this.#script.poll !== undefined) return send(response, this.#script.poll);
    const id = path.split('/').at(-1);
    const url = `${this.origin}/files/${id}`;
    return send(response, { id, object: 'video', status: 'completed', progress: 100, url });
  }

  #answer(request: IncomingMessage, response: ServerResponse, body: string): void {
    const index = this.requests.length;
    const paid: PaidRequest = {
      index,
      id: `20261122000000000000000000req${index}`,
      path: request.url ?? '',
      key: (request.headers.authorization ?? '').replace(/^Bearer /, ''),
      body,
    };
    this.requests.push(paid);
    const { cost, status = 200, headers, answer, isCut } = this.#script.reply(paid, this);
    if (cost !== undefined) this.charge(paid, cost);
    response.writeHead(status, {
      'content-type': answer.contentType,
      'x-oneapi-request-id': paid.id,
      ...headers,
    });
    if (isCut !== true) response.end(answer.body);
    // The client reads the headers first, as it does on a real network.
    else response.flushHeaders();
    if (isCut === true) setTimeout(() => request.socket.destroy(), 50);
  }
}

function send(response: ServerResponse, value: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function readModel({ body }: PaidRequest): string {
  return /"model":"([^"]+)"/.exec(body)?.[1] ?? 'video-model';
}

/** A price list with one model that is paid by the call. */
export function priceList(model: string, price: number, groupRatio = 1): object {
  const entry = {
    model_name: model,
    quota_type: 1,
    model_price: price,
    model_ratio: 0,
    completion_ratio: 0,
    enable_groups: ['default'],
  };
  return { success: true, data: [entry], group_ratio: { default: groupRatio } };
}
