import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { WorkerOrders } from './video-worker.ts';

/** The program of the workers as one file, which starts much faster than its sources. */
export interface WorkerProgram extends AsyncDisposable {
  readonly start: (orders: WorkerOrders) => WorkerProcess;
}

/** The point at which a worker was stopped. */
export interface Stop {
  readonly name: string;
  readonly steps: number;
}

/** A worker in a process of its own. */
export class WorkerProcess {
  readonly child: ChildProcess;
  /** The point at which it was stopped; `undefined` if it ended by itself. */
  readonly stopped: Promise<Stop | undefined>;
  /** Steps taken when its last job was completed. */
  steps = 0;
  readonly #closed: Promise<unknown>;

  constructor(program: string, orders: WorkerOrders) {
    this.child = fork(program, [JSON.stringify(orders)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#closed = once(this.child, 'close');
    this.stopped = new Promise((resolve) => {
      this.child.on('message', (message) => {
        if (!isStop(message)) return;
        if (message.name === 'completed') this.steps = message.steps;
        else resolve(message);
      });
      this.child.once('close', () => resolve(undefined));
    });
  }

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill(signal);
    await this.#closed;
  }
}

function isStop(value: unknown): value is Stop {
  return typeof value === 'object' && value !== null && 'name' in value && 'steps' in value;
}

export async function bundleWorker(): Promise<WorkerProgram> {
  // Inside of the package, whose packages it needs.
  const folder = await mkdtemp(join(import.meta.dirname, 'node_modules', '.video-worker-'));
  const program = join(folder, 'worker.mjs');
  await build({
    entryPoints: [join(import.meta.dirname, 'video-worker.ts')],
    bundle: true,
    format: 'esm',
    platform: 'node',
    outfile: program,
    external: ['bullmq', 'pg', 'ioredis', 'redis'],
    logLevel: 'error',
    define: { __VERSION__: '"0.0.0-test"' },
  });
  const started: WorkerProcess[] = [];
  return {
    start(orders) {
      const worker = new WorkerProcess(program, orders);
      started.push(worker);
      return worker;
    },
    async [Symbol.asyncDispose]() {
      // Also those that a failed test has left stopped.
      await Promise.all(started.map((worker) => worker.end('SIGKILL')));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
