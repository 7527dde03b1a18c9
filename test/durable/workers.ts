import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Order, Place } from './places.ts';

/** The module of an engine in `engines`. */
export interface Engine {
  readonly start: (order: Order) => Promise<void>;
  /** Waits for the end of a video, and returns the path of its file. */
  readonly result: (id: string) => Promise<string>;
}

/** A message to a worker: an order to start, or the id of an order whose result is wanted. */
export interface Message {
  readonly start?: Order;
  readonly result?: string;
}

/** The place and the model at which a worker kills itself. */
export interface KillPoint {
  readonly place: Place;
  readonly model: string;
}

const running = new Set<ChildProcess>();

/** Kills all workers, also those of a test that has failed. */
export function killWorkers(): void {
  for (const child of running) child.kill('SIGKILL');
}
process.once('exit', killWorkers);

/** A worker of an engine in a process of its own. */
export class Worker {
  readonly #child: ChildProcess;
  readonly #gone: Promise<unknown>;
  /** Everything that it has written. */
  output = '';

  private constructor(engine: string, environment: NodeJS.ProcessEnv, kill?: KillPoint) {
    const parameters = kill === undefined ? [] : [kill.place, kill.model];
    this.#child = fork(join(import.meta.dirname, 'worker.ts'), [engine, ...parameters], {
      env: environment,
      execArgv: [],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    running.add(this.#child);
    this.#gone = once(this.#child, 'close');
    this.#child.once('close', () => running.delete(this.#child));
  }

  /**
   * Starts a worker, and waits until it is ready.
   *
   * @param onLine - Receives each line that it writes.
   */
  static async start(
    engine: string,
    environment: NodeJS.ProcessEnv,
    onLine: (line: string) => void,
    kill?: KillPoint,
  ): Promise<Worker> {
    const worker = new Worker(engine, environment, kill);
    for (const stream of [worker.#child.stdout, worker.#child.stderr]) {
      let rest = '';
      stream?.on('data', (chunk) => {
        worker.output += String(chunk);
        const lines = `${rest}${String(chunk)}`.split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) onLine(line);
      });
    }
    await Promise.race([once(worker.#child, 'message'), worker.#gone]);
    const { exitCode } = worker.#child;
    if (exitCode !== null) throw new Error(`The worker ended with ${exitCode}:\n${worker.output}`);
    return worker;
  }

  send(message: Message): void {
    // A worker that is gone by now was killed at its place.
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  /** Waits until the worker was killed. */
  async killed(): Promise<void> {
    await this.#gone;
    const { signalCode, exitCode } = this.#child;
    if (signalCode === 'SIGKILL') return;
    throw new Error(`The worker ended with ${exitCode ?? signalCode}:\n${this.output}`);
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#gone;
  }

  /** Waits for the end of all videos, and returns the paths of their files by the ids of the orders. */
  async results(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const results = new Map<string, string>();
    await new Promise<void>((resolve, reject) => {
      this.#child.on('message', (message) => {
        const { result, value } = readResult(message);
        if (result !== undefined) results.set(result, value);
        if (results.size === ids.length) resolve();
      });
      this.#child.once('close', (code) => {
        reject(new Error(`The worker ended with ${code}:\n${this.output}`));
      });
      for (const id of ids) this.send({ result: id });
    });
    return results;
  }
}

function readResult(message: unknown): Result {
  const { result, value } = Object(message);
  return { result: typeof result === 'string' ? result : undefined, value: String(value) };
}

interface Result {
  readonly result: string | undefined;
  readonly value: string;
}
