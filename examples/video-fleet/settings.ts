// Settings of all processes of the fleet: the queue, the ledger and their options. Both are on the server of
// FLEET_URL, PostgreSQL or Redis.
import { createPostgresBackend, Queue, runMigrations, Worker, type Processor } from 'bullmq';
import { Redis } from 'ioredis';
import { videoQueueOptions } from 'model-gateway/bullmq';
import { postgresLedger } from 'model-gateway/postgres';
import { redisLedger } from 'model-gateway/redis';
import { Pool } from 'pg';

const url = process.env['FLEET_URL'] ?? '';
const isRedis = url.startsWith('redis:');

/** The folder for videos. */
export const films = process.env['FLEET_FILMS'] ?? 'films';

/**
 * Jobs of a worker that is silent for this time, in milliseconds, are assigned to others. Use the default of
 * 30000: this short time only speeds up the demo.
 */
export const lockDuration = 2_000;

const name = 'videos';
const { queue, worker } = videoQueueOptions({ lockDuration, concurrency: 20, maxPerSecond: 100 });

/** Creates missing tables. Call it once, before opening the first queue. */
export async function prepare(): Promise<void> {
  if (isRedis) return;
  const pool = new Pool({ connectionString: url });
  const client = await pool.connect();
  await runMigrations(client);
  client.release();
  await postgresLedger(pool).migrate();
  await pool.end();
}

export function openQueue() {
  if (isRedis) return new Queue(name, { ...queue, connection: { url } });
  const connection = { connectionString: url };
  return new Queue(name, { ...queue, connection }, createPostgresBackend);
}

export function openWorker(processor: Processor) {
  if (isRedis)
    return new Worker(name, processor, {
      ...worker,
      connection: { url, maxRetriesPerRequest: null },
    });
  const connection = { connectionString: url };
  return new Worker(name, processor, { ...worker, connection }, createPostgresBackend);
}

/** Opens the ledger. `close()` closes its connection. */
export function openLedger() {
  if (isRedis) {
    const client = new Redis(url);
    return { ledger: redisLedger(client), close: () => client.quit() };
  }
  const pool = new Pool({ connectionString: url, max: 5 });
  return { ledger: postgresLedger(pool), close: () => pool.end() };
}
