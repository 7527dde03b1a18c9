/**
 * A worker in a process of its own, to be killed or stopped. It tells by messages how far it is.
 *
 *   node video-worker.ts '{"place": …, "queue": "videos", "gateway": …, "stopAt": 3}'
 */
import { videoProcessor, videoQueueOptions, type VideoJob } from '../../src/bullmq/index.ts';
import { Gateway, type SubmitLedger } from '../../src/index.ts';
import { openLedger, openWorker, type Place } from './queues.ts';

/** What a worker is told. */
export interface WorkerOrders {
  readonly place: Place;
  readonly queue: string;
  readonly gateway: { readonly baseURL: string; readonly apiKey: string };
  /** At which step it is stopped for ever, or for a time; steps are counted from 1. */
  readonly stopAt?: number;
  readonly how?: 'SIGKILL' | 'SIGSTOP';
  readonly concurrency?: number;
  readonly lockDuration: number;
  readonly unknownGrace: number;
  readonly interval: number;
  readonly saveTo?: string;
}

const orders: WorkerOrders = JSON.parse(process.argv[2] ?? '{}');
const { place, queue, gateway, lockDuration, unknownGrace, interval, saveTo } = orders;

let steps = 0;

/** A moment before or after something that others can see. */
function step(name: string): void {
  steps += 1;
  if (steps === orders.stopAt) {
    process.send?.({ name, steps });
    process.kill(process.pid, orders.how ?? 'SIGKILL');
  }
}

/** The same object with a step before and after each of these methods. */
function between<Owner extends object>(owner: Owner, names: readonly string[]): Owner {
  return new Proxy(owner, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (!names.includes(String(name))) return value.bind(target);
      return async (...parameters: unknown[]) => {
        step(`before ${String(name)}`);
        const result: unknown = await Reflect.apply(value, target, parameters);
        step(`after ${String(name)}`);
        return result;
      };
    },
  });
}

const client = new Gateway({
  ...gateway,
  logLevel: 'off',
  async fetch(input, init) {
    step('before fetch');
    const response = await fetch(input, init);
    step('after fetch');
    return response;
  },
});
const opened = openLedger(place);
const ledger: SubmitLedger = between(opened.ledger, ['claim', 'accept', 'finish', 'entry']);
const processor = videoProcessor(client, {
  ledger,
  lockDuration,
  unknownGrace,
  interval,
  ...(saveTo === undefined ? {} : { saveTo: ({ id }) => `${saveTo}/${id}.mp4` }),
});
const { worker: options } = videoQueueOptions({
  lockDuration,
  concurrency: orders.concurrency ?? 1,
});
const watched = ['updateData', 'updateProgress', 'moveToDelayed'];
const worker = openWorker(
  place,
  queue,
  async (job: VideoJob, token?: string, signal?: AbortSignal) => {
    const result = await processor(between(job, watched), token, signal);
    process.send?.({ name: 'completed', steps });
    return result;
  },
  { ...options, stalledInterval: 250 },
);
process.on('SIGTERM', () => {
  void (async () => {
    await worker.close();
    await opened[Symbol.asyncDispose]();
    process.exit();
  })();
});
// Without the one that started it, nobody would end it.
process.on('disconnect', () => process.exit());
