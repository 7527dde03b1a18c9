import type {
  VideoJob,
  VideoJobData,
  VideoJobProgress,
  VideoProcessor,
} from '../../src/adapters/bullmq/index.ts';

type State = 'waiting' | 'active' | 'delayed' | 'completed' | 'failed';

/** A stored job. */
interface Stored {
  readonly id: string;
  data: string;
  state: State;
  attempts: number;
  token?: string;
  /** The delay in milliseconds. */
  delay?: number;
  progress?: VideoJobProgress;
  result?: unknown;
  error?: unknown;
}

/**
 * The part of a BullMQ queue that a processor uses, in memory and without delays: a delayed job runs at
 * once. As in BullMQ, everyone may write data, and only the owner of the lock may move a job. Tests with
 * BullMQ itself are in test/servers.
 */
export class TestQueue {
  readonly #name: string;
  readonly #attempts: number;
  readonly #jobs = new Map<string, Stored>();
  #tokens = 0;
  /** Calls in order. */
  readonly calls: string[] = [];
  /** Delays of jobs, in milliseconds. */
  readonly delays: number[] = [];

  constructor(name = 'videos', attempts = 3) {
    this.#name = name;
    this.#attempts = attempts;
  }

  add(id: string, data: unknown): Stored {
    const stored: Stored = { id, data: JSON.stringify(data), state: 'waiting', attempts: 0 };
    this.#jobs.set(id, stored);
    return stored;
  }

  /** Gives a worker the lock and the data of a job, also of a stalled one. */
  take(id: string, taken: number = Date.now()): { readonly job: VideoJob; readonly token: string } {
    const stored = this.#of(id);
    this.#tokens += 1;
    const token = `worker:${this.#tokens}`;
    stored.state = 'active';
    stored.token = token;
    const data: VideoJobData = JSON.parse(stored.data);
    const { calls, delays } = this;
    const job = {
      id,
      queueName: this.#name,
      data,
      processedOn: taken,
      async updateData(next: VideoJobData) {
        calls.push('updateData');
        job.data = next;
        stored.data = JSON.stringify(next);
      },
      async updateProgress(progress: VideoJobProgress) {
        calls.push('updateProgress');
        stored.progress = progress;
      },
      async moveToDelayed(timestamp: number, given?: string) {
        calls.push('moveToDelayed');
        if (stored.token !== given) throw new Error('Missing lock for job. moveToDelayed');
        stored.state = 'delayed';
        stored.delay = timestamp - Date.now();
        delays.push(stored.delay);
      },
      async extendLock(given: string) {
        calls.push('extendLock');
        return stored.state === 'active' && stored.token === given ? 1 : 0;
      },
      async retry() {
        calls.push('retry');
        if (stored.state !== 'failed') throw new Error('Job is not in the failed state.');
        stored.state = 'waiting';
      },
    };
    return { job, token };
  }

  /** Runs a job once, as a worker does. */
  async run(id: string, processor: VideoProcessor, signal?: AbortSignal): Promise<Stored> {
    const { job, token } = this.take(id);
    return this.settle(id, token, processor(job, token, signal));
  }

  /** Stores the result of a run, as a worker does. */
  async settle(id: string, token: string, run: Promise<unknown>): Promise<Stored> {
    const stored = this.#of(id);
    try {
      stored.result = JSON.parse(JSON.stringify(await run));
      if (stored.token === token) stored.state = 'completed';
    } catch (error) {
      const name = error instanceof Error ? error.name : '';
      if (name === 'DelayedError' || stored.token !== token) return stored;
      stored.error = error;
      stored.attempts += 1;
      const isOver = name === 'UnrecoverableError' || stored.attempts >= this.#attempts;
      stored.state = isOver ? 'failed' : 'waiting';
    }
    return stored;
  }

  /** Runs a job until it has ended. */
  async finish(
    id: string,
    processor: VideoProcessor,
    between: (stored: Stored) => unknown = () => {},
  ): Promise<Stored> {
    for (;;) {
      const stored = await this.run(id, processor);
      if (stored.state === 'completed' || stored.state === 'failed') return stored;
      await between(stored);
    }
  }

  #of(id: string): Stored {
    const stored = this.#jobs.get(id);
    if (stored === undefined) throw new Error(`Missing job ${id}`);
    return stored;
  }
}
