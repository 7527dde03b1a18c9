import { setTimeout as pause } from 'node:timers/promises';
import {
  createPostgresBackend,
  FlowProducer,
  type Job,
  Queue,
  runMigrations,
  Worker,
  type WorkerOptions,
} from 'bullmq';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import {
  videoProcessor,
  videoQueueOptions,
  type VideoProcessor,
  type VideoProcessorOptions,
} from '../../src/adapters/bullmq/index.ts';
import { Gateway, type SubmitLedger } from '../../src/index.ts';
import { postgresLedger } from '../../src/adapters/ledgers/postgres.ts';
import { redisLedger } from '../../src/adapters/ledgers/redis.ts';
import type { Emulator } from '../../src/testing/index.ts';

export type Server = 'PostgreSQL' | 'Redis';

/** Addresses of the queues and the ledger of a test. */
export interface Place {
  readonly server: Server;
  readonly url: string;
}

/** The servers that there are. */
export function places(urls: Readonly<Record<Server, string>>): Place[] {
  const servers: readonly Server[] = ['PostgreSQL', 'Redis'];
  return servers.map((server) => ({ server, url: urls[server] })).filter(({ url }) => url !== '');
}

export type VideoQueue = Pick<
  Queue,
  'name' | 'addBulk' | 'getJob' | 'getJobs' | 'getJobCounts' | 'close'
>;

/** Makes a database ready for queues. */
export async function prepare({ server, url }: Place): Promise<void> {
  if (server === 'Redis') return;
  const pool = new Pool({ connectionString: url });
  const client = await pool.connect();
  try {
    await runMigrations(client);
    await postgresLedger(pool).migrate();
  } finally {
    client.release();
    await pool.end();
  }
}

/** Ignores errors of a lost connection: it is opened again. */
function quiet<Emitter extends { on(event: 'error', listener: () => void): unknown }>(
  emitter: Emitter,
): Emitter {
  emitter.on('error', () => {});
  return emitter;
}

export function openQueue({ server, url }: Place, name: string, options: object = {}): VideoQueue {
  if (server === 'Redis') return quiet(new Queue(name, { ...options, connection: { url } }));
  const connection = { connectionString: url, max: 4 };
  return quiet(new Queue(name, { ...options, connection }, createPostgresBackend));
}

export type VideoWorker = Pick<Worker, 'close'>;

export function openWorker(
  { server, url }: Place,
  name: string,
  processor: VideoProcessor,
  options: Omit<WorkerOptions, 'connection'>,
): VideoWorker {
  if (server === 'Redis') {
    const connection = { url, maxRetriesPerRequest: null };
    return quiet(new Worker(name, processor, { ...options, connection }));
  }
  // Each job in work asks the database several times.
  const max = Math.max(10, Math.ceil((options.concurrency ?? 1) * 0.6));
  const connection = { connectionString: url, max };
  return quiet(new Worker(name, processor, { ...options, connection }, createPostgresBackend));
}

export function openFlows({ server, url }: Place): Pick<FlowProducer, 'add' | 'close'> {
  if (server === 'Redis') return quiet(new FlowProducer({ connection: { url } }));
  const connection = { connectionString: url, max: 2 };
  return quiet(new FlowProducer({ connection }, createPostgresBackend));
}

/** A ledger on the same server as the queue, as each process opens it for itself. */
export interface OpenLedger extends AsyncDisposable {
  readonly ledger: SubmitLedger;
}

/** The shortest lease: tests wait for its end. */
const lease = 1_000;

export function openLedger({ server, url }: Place): OpenLedger {
  if (server === 'Redis') {
    const client = quiet(new Redis(url, { maxRetriesPerRequest: null }));
    return {
      ledger: redisLedger(client, { lease }),
      async [Symbol.asyncDispose]() {
        client.disconnect();
      },
    };
  }
  const pool = quiet(new Pool({ connectionString: url, max: 8 }));
  return { ledger: postgresLedger(pool, { lease }), [Symbol.asyncDispose]: () => pool.end() };
}

/** A worker of this process. */
export interface WorkOptions extends Partial<VideoProcessorOptions> {
  readonly emulator: Emulator;
  /** The emulator's address. */
  readonly url: string;
}

/** Queues on a server, and the ledger beside them. All is closed together. */
export interface OpenPlace extends AsyncDisposable {
  readonly place: Place;
  readonly ledger: SubmitLedger;
  /** The queue of this name, which no other test has. */
  readonly queue: (name: string) => VideoQueue;
  readonly work: (name: string, options: WorkOptions) => { worker: VideoWorker; client: Gateway };
}

export async function openPlace(place: Place): Promise<OpenPlace> {
  await prepare(place);
  const { ledger, [Symbol.asyncDispose]: closeLedger } = openLedger(place);
  const queues = new Map<string, VideoQueue>();
  return {
    place,
    ledger,
    queue(name) {
      const made = queues.get(name) ?? openQueue(place, name, videoQueueOptions().queue);
      queues.set(name, made);
      return made;
    },
    work(name, { emulator, url, ...options }) {
      const client = new Gateway({ baseURL: url, apiKey: emulator.apiKey, logLevel: 'off' });
      const { lockDuration = 30_000 } = options;
      const processor = videoProcessor(client, { ledger, ...options });
      const { worker } = videoQueueOptions({ lockDuration, concurrency: 20 });
      const started = openWorker(place, name, processor, { ...worker, stalledInterval: 250 });
      return { worker: started, client };
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...queues.values()].map((queue) => queue.close()));
      await closeLedger();
    },
  };
}

/** Waits until a job is over. */
export async function jobOver(queue: VideoQueue, id: string, timeout = 25_000): Promise<Job> {
  const end = Date.now() + timeout;
  for (;;) {
    const found = await queue.getJob(id);
    const state = await found?.getState();
    if (state === 'completed' || state === 'failed') {
      // As it is now, and not as it was before its state.
      const job = await queue.getJob(id);
      if (job !== undefined) return job;
    }
    if (Date.now() > end) throw new Error(`Job ${id} of ${queue.name} is still ${state}.`);
    await pause(25);
  }
}
