/**
 * A worker in a process of its own, to be killed or stopped. It tells by messages how far it is.
 *
 *   node video-worker.ts '{"place": …, "queue": "videos", "gateway": …, "stopAt": 3}'
 */
import {
  videoProcessor,
  videoQueueOptions,
  type VideoJob,
} from '../../src/adapters/bullmq/index.ts';
import { Gateway } from '../../src/index.ts';
import { openLedger, openWorker, type Place } from './queues.ts';
import { Steps } from './steps.ts';

/** Settings of a worker. */
export interface WorkerOrders {
  readonly place: Place;
  readonly queue: string;
  readonly gateway: { readonly baseURL: string; readonly apiKey: string };
  /** The step, from 1, that stops it forever or for a time. */
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

const steps = new Steps((name, count) => {
  if (count !== orders.stopAt) return;
  process.send?.({ name, steps: count });
  process.kill(process.pid, orders.how ?? 'SIGKILL');
});

const client = new Gateway({ ...gateway, logLevel: 'off', fetch: steps.fetch });
const opened = openLedger(place);
const ledger = steps.around(opened.ledger, ['claim', 'accept', 'finish', 'entry']);
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
    const result = await processor(steps.around(job, watched), token, signal);
    process.send?.({ name: 'completed', steps: steps.count });
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
// Ends with the process that started it.
process.on('disconnect', () => process.exit());
