import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';

const running = new Map<ChildProcess, NodeJS.Signals>();

// Servers outlive the process that started them.
process.once('exit', () => {
  for (const [child, signal] of running) child.kill(signal);
});

/** A free port. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || address === null) throw new Error('Missing free port');
  return address.port;
}

/** A server as a process of its own. */
export class ServerProcess {
  readonly #child: ChildProcess;
  #output = '';

  /** @param lastSignal - Ends the server with all its processes when this process ends. */
  private constructor(
    command: string,
    parameters: readonly string[],
    options: SpawnOptions,
    lastSignal: NodeJS.Signals,
  ) {
    this.#child = spawn(command, parameters, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    running.set(this.#child, lastSignal);
    this.#child.once('close', () => running.delete(this.#child));
    const note = (chunk: unknown): void => {
      this.#output = `${this.#output}${String(chunk)}`.slice(-100_000);
    };
    this.#child.stdout?.on('data', note);
    this.#child.stderr?.on('data', note);
  }

  /**
   * Starts a server, and waits until it says that it is ready.
   *
   * @throws when it ends instead
   */
  static async start(
    command: string,
    parameters: readonly string[],
    readyWord: string,
    options: SpawnOptions = {},
    lastSignal: NodeJS.Signals = 'SIGKILL',
  ): Promise<ServerProcess> {
    const server = new ServerProcess(command, parameters, options, lastSignal);
    const child = server.#child;
    await new Promise<void>((resolve, reject) => {
      const look = (): void => {
        if (server.#output.includes(readyWord)) resolve();
      };
      child.stdout?.on('data', look);
      child.stderr?.on('data', look);
      child.once('error', reject);
      child.once('close', () => {
        reject(new Error(`${command} ended before it was ready:\n${server.#output}`));
      });
    });
    return server;
  }

  /** Ends the server, and waits until it is gone. */
  async stop(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (!running.has(child)) return;
    const closed = once(child, 'close');
    child.kill(signal);
    await closed;
  }
}

/** Runs a command to its end. */
export async function run(
  command: string,
  parameters: readonly string[],
  options: SpawnOptions = {},
): Promise<void> {
  const child = spawn(command, parameters, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += String(chunk);
  });
  child.stderr.on('data', (chunk) => {
    output += String(chunk);
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${command} ended with ${String(code)}:\n${output}`);
}
