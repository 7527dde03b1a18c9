import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

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

/** True if something listens on a port. */
async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const isConnected = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isConnected;
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
   * Starts a server, and waits until it is ready.
   *
   * @param ready - What it writes then, or the port on which it listens.
   * @throws when it ends instead
   */
  static async start(
    command: string,
    parameters: readonly string[],
    ready: string | number,
    options: SpawnOptions = {},
    lastSignal: NodeJS.Signals = 'SIGKILL',
  ): Promise<ServerProcess> {
    const server = new ServerProcess(command, parameters, options, lastSignal);
    const child = server.#child;
    await new Promise<void>((resolve, reject) => {
      const look = (): void => {
        if (typeof ready === 'string' && server.#output.includes(ready)) resolve();
      };
      child.stdout?.on('data', look);
      child.stderr?.on('data', look);
      child.once('error', reject);
      child.once('close', () => {
        reject(new Error(`${command} ended before it was ready:\n${server.#output}`));
      });
      if (typeof ready === 'number') server.#waitForPort(ready).then(resolve, reject);
    });
    return server;
  }

  async #waitForPort(port: number): Promise<void> {
    while (running.has(this.#child) && !(await isListening(port))) await delay(50);
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
