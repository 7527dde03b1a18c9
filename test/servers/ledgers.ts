import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { createClient } from 'redis';
import { afterAll, beforeAll, inject } from 'vitest';
import { postgresLedger, type PostgresLedgerOptions } from '../../src/adapters/ledgers/postgres.ts';
import { redisLedger, type RedisLedgerOptions } from '../../src/adapters/ledgers/redis.ts';
import type { ListingLedger } from '../../src/index.ts';
import type { FaultyLedger } from '../helpers/fault-contract.ts';
import { Faults } from '../helpers/faults.ts';

/** A kind of ledger on a server that all tests of a file share. */
export interface LedgerKind {
  readonly name: string;
  /** Makes a ledger that knows no call. */
  readonly make: (
    options?: Pick<PostgresLedgerOptions & RedisLedgerOptions, 'lease' | 'timeout'>,
  ) => Promise<ListingLedger>;
  /** Makes two ledgers on the same calls, whose server may fail. */
  readonly makeFaulty: () => Promise<FaultyLedger>;
}

/** A fault of a server that no repetition removes. */
const makeFaults = (): Faults =>
  new Faults((name) => Object.assign(new Error(`ERR broken, ${name}`), { code: '42501' }));

/** The same object with a fault before and after each of these methods. */
function withFaults<Owner extends object>(owner: Owner, faults: Faults, names: string[]): Owner {
  return new Proxy(owner, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (!names.includes(String(name))) return value.bind(target);
      return (...parameters: unknown[]) =>
        faults.take(String(name), async (): Promise<unknown> =>
          Reflect.apply(value, target, parameters),
        );
    },
  });
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
      async makeFaulty() {
        const faults = makeFaults();
        const table = newTable();
        const rival = postgresLedger(pool, { table });
        await rival.migrate();
        return {
          own: postgresLedger(withFaults(pool, faults, ['query']), { table }),
          rival,
          faults,
        };
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
      async makeFaulty() {
        const faults = makeFaults();
        const prefix = newPrefix();
        const own = redisLedger(withFaults(ofIORedis, faults, ['evalsha', 'eval']), { prefix });
        return { own, rival: redisLedger(ofIORedis, { prefix }), faults };
      },
    },
    {
      name: 'redisLedger() with redis',
      make: async (options) => redisLedger(ofRedis, { ...options, prefix: newPrefix() }),
      async makeFaulty() {
        const faults = makeFaults();
        const prefix = newPrefix();
        const own = redisLedger(withFaults(ofRedis, faults, ['evalSha', 'eval']), { prefix });
        return { own, rival: redisLedger(ofRedis, { prefix }), faults };
      },
    },
  ];
}
