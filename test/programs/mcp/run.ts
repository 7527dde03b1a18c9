import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { type CallToolResult, Client, type ClientOptions } from '@modelcontextprotocol/client';
import { expect, onTestFinished } from 'vitest';
import { isObject } from '../../../src/answers/objects.ts';
import { makeCall, mcpCommand } from '../../../src/programs/cli/mcp.ts';
import { serveOnStreams } from '../../../src/programs/mcp/start.ts';
import { createEmulator, type Emulator, type EmulatorOptions } from '../../../src/testing/index.ts';
import { Machine } from '../cli/run.ts';
import { share } from '../cli/this-process.ts';
import { type StartedServer, StreamTransport, toServer } from './stream-transport.ts';

const info = { name: 'test', version: '1.0.0' };

/** The structured result of a job, as far as tests read it. */
export interface JobResult {
  readonly isError: boolean;
  readonly text: string;
  readonly blocks: CallToolResult['content'];
  readonly state?: string;
  readonly charged?: string;
  readonly reused?: boolean;
  readonly call_id?: string;
  readonly task_id?: string;
  readonly status?: string;
  readonly cost_usd?: number;
  readonly files?: readonly { readonly path: string; readonly mime_type: string }[];
}

/** A client that is connected to a server. */
export class McpSession {
  readonly client: Client;
  protected readonly server: StartedServer;

  protected constructor(server: StartedServer, client: Client) {
    this.server = server;
    this.client = client;
  }

  static async connect(
    server: StartedServer,
    options: ClientOptions = {},
    prepare?: (client: Client) => void,
  ): Promise<McpSession> {
    const session = new McpSession(server, new Client(info, options));
    await session.open(prepare);
    return session;
  }

  protected async open(prepare?: (client: Client) => void): Promise<void> {
    prepare?.(this.client);
    this.server.stdin.on('error', () => {});
    await this.client.connect(new StreamTransport(this.server));
  }

  /** Calls a tool, and returns its result in one object. */
  async call(
    name: string,
    args: Record<string, unknown> = {},
    options: Parameters<Client['callTool']>[1] = {},
  ): Promise<JobResult> {
    return toJobResult(await this.client.callTool({ name, arguments: args }, options));
  }

  /** Closes the input, and returns the exit code. */
  end(): Promise<number | null> {
    this.server.stdin.end();
    return this.server.ended;
  }
}

/** A client that is connected to a server in a process. */
export class McpProcess extends McpSession {
  readonly child: ChildProcessWithoutNullStreams;
  /** Everything that the process wrote to standard output and standard error. */
  stdout = '';
  stderr = '';

  private constructor(child: ChildProcessWithoutNullStreams, options: ClientOptions) {
    const { stdout, stderr } = child;
    super(toServer(child), new Client(info, options));
    this.child = child;
    stdout.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    stderr.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
  }

  static async start(
    child: ChildProcessWithoutNullStreams,
    options: ClientOptions = {},
    prepare?: (client: Client) => void,
  ): Promise<McpProcess> {
    onTestFinished(() => void child.kill('SIGKILL'));
    const session = new McpProcess(child, options);
    await session.open(prepare);
    return session;
  }

  /** Ends the process with a signal, and returns the exit code. */
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    this.child.kill(signal);
    return this.server.ended;
  }
}

export function toJobResult(result: CallToolResult): JobResult {
  const text = result.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  const { structuredContent, isError = false, content } = result;
  const fields = isObject(structuredContent) ? structuredContent : {};
  return { ...fields, isError, text, blocks: content };
}

/** A user's machine with an emulated gateway. */
export class McpMachine {
  readonly emulator: Emulator;
  readonly machine: Machine;
  readonly url: string;
  /** The program of the command line. */
  readonly program: string;

  private constructor(emulator: Emulator, url: string, program: string) {
    this.emulator = emulator;
    this.url = url;
    this.program = program;
    this.machine = new Machine({ url, key: emulator.apiKey });
    mkdirSync(this.workspace);
  }

  static async open(options: EmulatorOptions = {}, program = ownProgram): Promise<McpMachine> {
    const emulator = createEmulator({ videoDuration: 500, ...options });
    const server = await emulator.listen();
    onTestFinished(() => server.close());
    return new McpMachine(emulator, server.url, program);
  }

  /** Returns a machine with an emulated gateway at another address. */
  static at(url: string, emulator: Emulator): McpMachine {
    return new McpMachine(emulator, url, ownProgram);
  }

  /** Returns another machine with the same gateway. */
  another(): McpMachine {
    return new McpMachine(this.emulator, this.url, this.program);
  }

  get workspace(): string {
    return join(this.machine.folder, 'project');
  }

  /** The folder for results. */
  get output(): string {
    return join(this.workspace, 'model-gateway-output');
  }

  /** Starts a process of the server. @param nodeArgs - Arguments of Node. */
  spawn(
    args: readonly string[] = [],
    env: Record<string, string> = {},
    nodeArgs: readonly string[] = [],
  ): ChildProcessWithoutNullStreams {
    return spawn(process.execPath, [...nodeArgs, this.program, 'mcp', ...args], {
      cwd: this.workspace,
      env: { ...this.machine.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  }

  /** Starts a server in a process, on standard input and output, and connects a client. */
  start(
    args: readonly string[] = [],
    options: ClientOptions = {},
    prepare?: (client: Client) => void,
  ): Promise<McpProcess> {
    return McpProcess.start(this.spawn(args), options, prepare);
  }

  /**
   * Connects a client to a server of the source in this process, which makes its paid calls in it too. Nothing in it
   * can be killed; images come without thumbnails, and its jobs have an owner that is still running.
   */
  async connect(
    args: readonly string[] = [],
    options: ClientOptions = {},
    prepare?: (client: Client) => void,
  ): Promise<McpSession> {
    const { env } = this.machine;
    const leave = share({ folder: this.workspace, env }, ['mcp', ...args]);
    const [stdin, stdout] = [new PassThrough(), new PassThrough()];
    const program = mcpCommand((settings, signal) =>
      serveOnStreams(
        { ...settings, runWorker: (message) => makeCall(JSON.stringify(message)) },
        stdin,
        stdout,
        signal,
      ),
    );
    const ended = program
      .parseAsync(args, { from: 'user' })
      .then(() => Number(process.exitCode ?? 0))
      .finally(leave);
    onTestFinished(async () => {
      stdin.end();
      await ended;
    });
    return McpSession.connect({ stdin, stdout, ended }, options, prepare);
  }

  /** The names of the saved files. */
  get saved(): string[] {
    return existsSync(this.output) ? readdirSync(this.output).toSorted() : [];
  }

  /** Resolves once the gateway has received a request that may be charged. */
  async requestArrives(): Promise<void> {
    const { requests } = this.emulator;
    await expect.poll(() => requests.some(({ method }) => method === 'POST')).toBe(true);
  }

  /** The number of charges. */
  get charges(): number {
    return this.emulator.charges.length;
  }

  /** Everything that was written below the machine's folder, as text. */
  readEverything(): string {
    const names = readdirSync(this.machine.folder, { recursive: true, withFileTypes: true });
    return names
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
      .join('\n');
  }
}

const ownProgram = join(import.meta.dirname, '../../../dist/cli/main.js');

export const image = { model: 'm-image', prompt: 'A lighthouse at dusk', size: '64x64' };
