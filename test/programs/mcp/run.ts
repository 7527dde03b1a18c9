import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CallToolResult, Client, type ClientOptions } from '@modelcontextprotocol/client';
import { expect, onTestFinished } from 'vitest';
import { isObject } from '../../../src/answers/objects.ts';
import { createEmulator, type Emulator, type EmulatorOptions } from '../../../src/testing/index.ts';
import { Machine } from '../cli/run.ts';
import { ProcessTransport } from './process-transport.ts';

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

/** An MCP server in a process, with a connected client. */
export class McpSession {
  readonly client: Client;
  readonly child: ChildProcess;
  /** Everything that the process wrote to standard output and standard error. */
  stdout = '';
  stderr = '';
  readonly #closed: Promise<number | null>;

  private constructor(child: ChildProcess, client: Client) {
    this.child = child;
    this.client = client;
    child.stdout?.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.#closed = new Promise((resolve) => {
      child.once('close', resolve);
    });
  }

  static async open(
    child: ChildProcess,
    options: ClientOptions = {},
    prepare?: (client: Client) => void,
  ): Promise<McpSession> {
    const client = new Client({ name: 'test', version: '1.0.0' }, options);
    prepare?.(client);
    child.stdin?.on('error', () => {});
    const session = new McpSession(child, client);
    onTestFinished(() => void child.kill('SIGKILL'));
    await client.connect(new ProcessTransport(child));
    return session;
  }

  /** Calls a tool, and returns its result in one object. */
  async call(
    name: string,
    args: Record<string, unknown> = {},
    options: Parameters<Client['callTool']>[1] = {},
  ): Promise<JobResult> {
    return toJobResult(await this.client.callTool({ name, arguments: args }, options));
  }

  /** Closes standard input, and returns the exit code. */
  end(): Promise<number | null> {
    this.child.stdin?.end();
    return this.#closed;
  }

  /** Ends the process with a signal, and returns the exit code. */
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    this.child.kill(signal);
    return this.#closed;
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

  /** Starts a process of the server. */
  spawn(args: readonly string[] = [], env: Record<string, string> = {}): ChildProcess {
    return spawn(process.execPath, [this.program, 'mcp', ...args], {
      cwd: this.workspace,
      env: { ...this.machine.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  }

  /** Starts a server on standard input and output, and connects a client. */
  start(
    args: readonly string[] = [],
    options: ClientOptions = {},
    prepare?: (client: Client) => void,
  ): Promise<McpSession> {
    return McpSession.open(this.spawn(args), options, prepare);
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

export const image = { model: 'm-image', prompt: 'A lighthouse at dusk' };
