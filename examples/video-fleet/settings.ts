// What all processes of the fleet agree on: the queue, the ledger and their options. Both are on one
// server, PostgreSQL or Redis, which FLEET_URL names.
import { createPostgresBackend, Queue, runMigrations, Worker, type Processor } from 'bullmq';
import { Redis } from 'ioredis';
import { videoQueueOptions } from 'model-gateway/bullmq';
import { postgresLedger } from 'model-gateway/postgres';
import { redisLedger } from 'model-gateway/redis';
import { Pool } from 'pg';

const url = process.env['FLEET_URL'] ?? '';
const isRedis = url.startsWith('redis:');

/** Where the films are saved. */
export const films = process.env['FLEET_FILMS'] ?? 'films';

/**
 * How long a worker may be silent before its jobs are given to others, in milliseconds. Leave it at
 * 30000, the default: here it is short, so that you need not wait for it.
 */
export const lockDuration = 2_000;

const name = 'videos';
const { queue, worker } = videoQueueOptions({ lockDuration, concurrency: 20, maxPerSecond: 100 });

/** Makes the tables, where there are none. Once, before the first queue is opened. */
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

/** The ledger, and how to let go of its connection. */
export function openLedger() {
  if (isRedis) {
    const client = new Redis(url);
    return { ledger: redisLedger(client), close: () => client.disconnect() };
  }
  const pool = new Pool({ connectionString: url, max: 5 });
  return { ledger: postgresLedger(pool), close: () => pool.end() };
}
