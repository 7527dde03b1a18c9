import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** Settings of a worker. */
export interface WorkerSettings {
  /** The address and the key of the gateway. */
  readonly gateway: string;
  readonly apiKey: string;
  readonly kind: 'postgres' | 'redis';
  /** The address of the server of the ledger, and the table or the prefix of it. */
  readonly url: string;
  readonly name: string;
  readonly lease: number;
  /** The worker kills itself at this step; 0 for none. */
  readonly killAt: number;
  readonly onUnknown?: 'fail' | 'resubmit' | undefined;
}

/** The outcome of a job. */
export interface JobResult {
  readonly callId: string;
  /** `completed`, the name of an error, or `killed`. */
  readonly outcome: string;
  readonly id?: string | undefined;
  readonly isInProgress?: boolean | undefined;
  readonly message?: string | undefined;
  /** Steps that the worker has taken. */
  readonly steps: number;
}

function isResult(message: unknown): message is JobResult {
  return typeof message === 'object' && message !== null && 'callId' in message;
}

/** A process that makes videos. */
export class Worker {
  readonly #child: ChildProcess;
  readonly #jobs = new Map<string, (result: JobResult) => void>();

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', (message) => {
      if (isResult(message)) this.#end(message);
    });
    child.once('exit', () => {
      for (const callId of this.#jobs.keys()) this.#end({ callId, outcome: 'killed', steps: 0 });
    });
  }

  static async start(settings: WorkerSettings): Promise<Worker> {
    const child = fork(join(import.meta.dirname, 'ledger-worker.ts'), [JSON.stringify(settings)], {
      execArgv: [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    await Promise.race([once(child, 'message'), once(child, 'exit')]);
    return new Worker(child);
  }

  #end(result: JobResult): void {
    this.#jobs.get(result.callId)?.(result);
    this.#jobs.delete(result.callId);
  }

  /** Has a video made. A worker that dies says nothing, so that its job is `killed`. */
  make(callId: string): Promise<JobResult> {
    return new Promise((resolve) => {
      this.#jobs.set(callId, resolve);
      if (!this.#child.connected) this.#end({ callId, outcome: 'killed', steps: 0 });
      // One that is gone by now has its jobs ended by its exit.
      else this.#child.send(callId, () => {});
    });
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Kills it, and waits until it is gone. */
  async stop(): Promise<void> {
    const { exitCode, signalCode } = this.#child;
    if (exitCode !== null || signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
  }
}

/** True for jobs to try again: killed, failed by the ledger, or running elsewhere. */
export function isPassing({ outcome, isInProgress }: JobResult): boolean {
  return outcome === 'killed' || outcome === 'LedgerError' || isInProgress === true;
}
