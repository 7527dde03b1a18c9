import { onTestFinished } from 'vitest';
import {
  createEmulator,
  type Emulator,
  type EmulatorOptions,
  type Quirks,
} from '../../../src/testing/index.ts';
import { listen } from '../../../src/testing/server/server.ts';
import { type JobResult, McpMachine, type McpSession } from './run.ts';

/** A gateway with these differences. */
export interface GatewayCase {
  readonly name: string;
  readonly quirks: Partial<Quirks>;
}

/** A case with its gateway, and the result of the tool. */
interface Called<Case> {
  readonly each: Case;
  readonly emulator: Emulator;
  readonly result: JobResult;
}

/** Returns the ids in a path and its query. They are longer than the names of routes. */
const listIds = (path: string): string[] =>
  path.split(/[/?&=]/).filter((part) => part.length >= 16);

/** One of the gateways behind an address. It receives the calls whose body contains its mark. */
class MarkedGateway {
  readonly mark: string;
  readonly emulator: Emulator;
  /** All JSON and events that it has sent, except for errors, which repeat the path of any request. */
  #sent = '';

  constructor(mark: string, options: EmulatorOptions) {
    this.mark = mark;
    this.emulator = createEmulator({ videoDuration: 0, ...options });
    this.emulator.clock.speed = 100;
  }

  /** Returns whether the gateway has sent the id in a path. */
  hasSent(path: string): boolean {
    return listIds(path).some((id) => this.#sent.includes(id));
  }

  /** Responds to a request for another origin, which replaces the gateway's own in the response. */
  async respond(request: Request, bytes: ArrayBuffer | null): Promise<Response> {
    const { origin, pathname, search } = new URL(request.url);
    const { method, headers, signal } = request;
    const url = `${this.emulator.baseURL}${pathname}${search}`;
    const response = await this.emulator.fetch(url, { method, headers, signal, body: bytes });
    this.#sent += response.headers.get('location') ?? '';
    const type = response.headers.get('content-type') ?? '';
    if (!/json|event-stream/.test(type)) return response;
    const text = (await response.text()).replaceAll(this.emulator.baseURL, origin);
    if (response.ok) this.#sent += text;
    return new Response(text, response);
  }
}

/** One MCP server whose address has a gateway for each case, so that all cases share a process and run at once. */
export class McpGateways<Case extends GatewayCase> {
  readonly machine: McpMachine;
  readonly session: McpSession;
  readonly #cases: readonly Case[];
  readonly #gateways: readonly MarkedGateway[];

  private constructor(
    machine: McpMachine,
    session: McpSession,
    cases: readonly Case[],
    gateways: readonly MarkedGateway[],
  ) {
    this.machine = machine;
    this.session = session;
    this.#cases = cases;
    this.#gateways = gateways;
  }

  static async start<Case extends GatewayCase>(
    cases: readonly Case[],
    args: readonly string[] = [],
  ): Promise<McpGateways<Case>> {
    const gateways: MarkedGateway[] = [];
    const server = await listen(
      async (request) => {
        const bytes = await request.arrayBuffer();
        const { pathname, search } = new URL(request.url);
        const body = Buffer.from(bytes).toString('latin1');
        const isPost = request.method === 'POST';
        const owner =
          gateways.find((each) =>
            isPost ? body.includes(each.mark) : each.hasSent(decodeURIComponent(pathname + search)),
          ) ?? gateways[0];
        return owner?.respond(request, isPost ? bytes : null) ?? Response.error();
      },
      0,
      '127.0.0.1',
    );
    onTestFinished(() => server.close());
    for (const [at, { quirks }] of cases.entries()) {
      gateways.push(
        new MarkedGateway(`[case ${at}]`, { quirks, baseURL: `http://case-${at}.test` }),
      );
    }
    const [first] = gateways;
    if (first === undefined) throw new TypeError('There is no case.');
    const machine = McpMachine.at(server.url, first.emulator);
    return new McpGateways(machine, await machine.connect(args), cases, gateways);
  }

  /**
   * Calls a tool for each case at once, and waits for the job of each.
   *
   * @param toArguments - Returns the arguments. They must contain the mark of the case.
   */
  callEach(
    tool: string,
    toArguments: (mark: string, each: Case) => Record<string, unknown>,
  ): Promise<Called<Case>[]> {
    return Promise.all(
      this.#cases.map(async (each, at) => {
        const { mark, emulator } = this.#gateways[at] ?? {};
        if (mark === undefined || emulator === undefined) throw new TypeError('No gateway.');
        let result = await this.session.call(tool, toArguments(mark, each));
        while (result.state === 'running' || result.state === 'submitted') {
          result = await this.session.call('wait_video', { call_id: result.call_id });
        }
        return { each, emulator, result };
      }),
    );
  }
}
