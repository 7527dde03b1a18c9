import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { createClient } from 'redis';
import { afterAll, beforeAll, inject } from 'vitest';
import { postgresLedger, type PostgresLedgerOptions } from '../../src/adapters/ledgers/postgres.ts';
import { redisLedger, type RedisLedgerOptions } from '../../src/adapters/ledgers/redis.ts';
import type { SubmitLedger } from '../../src/index.ts';

/** A kind of ledger on a server that all tests of a file share. */
export interface LedgerKind {
  readonly name: string;
  /** Makes a ledger that knows no call. */
  readonly make: (
    options?: Pick<PostgresLedgerOptions & RedisLedgerOptions, 'lease' | 'timeout'>,
  ) => Promise<SubmitLedger>;
}

/** A table of its own for one test. */
export function newTable(): string {
  return `calls_${randomUUID().replaceAll('-', '')}`;
}

/** The beginning of keys of its own for one test. */
export function newPrefix(): string {
  return `${randomUUID()}:`;
}

/** A pool that lasts as long as the tests of this file. */
export function sharedPool(): Pool {
  const pool = new Pool({ connectionString: inject('postgresURL') });
  afterAll(() => pool.end());
  return pool;
}

/** The ledgers of `model-gateway/postgres` and `model-gateway/redis`, one for each client. */
export function ledgerKinds(): readonly LedgerKind[] {
  const pool = sharedPool();
  const kinds: LedgerKind[] = [
    {
      name: 'postgresLedger()',
      make: async (options) => {
        const ledger = postgresLedger(pool, { ...options, table: newTable() });
        await ledger.migrate();
        return ledger;
      },
    },
  ];
  const url = inject('redisURL');
  if (url === '') return kinds;
  const ofIORedis = new Redis(url, { lazyConnect: true });
  const ofRedis = createClient({ url });
  beforeAll(async () => {
    await Promise.all([ofIORedis.connect(), ofRedis.connect()]);
  });
  afterAll(() => {
    ofIORedis.disconnect();
    ofRedis.destroy();
  });
  return [
    ...kinds,
    {
      name: 'redisLedger() with ioredis',
      make: async (options) => redisLedger(ofIORedis, { ...options, prefix: newPrefix() }),
    },
    {
      name: 'redisLedger() with redis',
      make: async (options) => redisLedger(ofRedis, { ...options, prefix: newPrefix() }),
    },
  ];
}
