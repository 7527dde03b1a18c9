import type { SubmitLedger } from '../../../index.ts';
import { postgresLedger, type PostgresPool } from '../../../adapters/ledgers/postgres.ts';
import { redisLedger, type NodeRedisClient } from '../../../adapters/ledgers/redis.ts';
import { fileLedger } from '../../../adapters/node/index.ts';

/** An open ledger. */
export interface OpenLedger {
  readonly ledger: SubmitLedger;
  readonly close: () => Promise<void>;
}

/** A setting of the server is wrong. */
export class SettingError extends Error {
  override readonly name = 'SettingError';
}

/** Imports an optional package, whose types may not be installed. */
async function load<Module>(name: string): Promise<Module> {
  try {
    const module: Module = await import(name);
    return module;
  } catch (cause) {
    const command = `npx -p model-gateway -p ${name} model-gateway mcp`;
    throw new SettingError(
      `This ledger needs the package "${name}". Start the server with: ${command}`,
      {
        cause,
      },
    );
  }
}

interface PostgresModule {
  readonly default: {
    readonly Pool: new (options: { connectionString: string; max: number }) => PostgresPool & {
      end(): Promise<void>;
    };
  };
}

async function openPostgres(connectionString: string): Promise<OpenLedger> {
  const { default: pg } = await load<PostgresModule>('pg');
  const pool = new pg.Pool({ connectionString, max: 2 });
  const ledger = postgresLedger(pool);
  await ledger.migrate();
  return { ledger, close: () => pool.end() };
}

interface RedisModule {
  readonly createClient: (options: { url: string }) => NodeRedisClient & {
    connect(): Promise<unknown>;
    close(): Promise<unknown>;
  };
}

async function openRedis(url: string): Promise<OpenLedger> {
  const { createClient } = await load<RedisModule>('redis');
  const client = createClient({ url });
  await client.connect();
  return {
    ledger: redisLedger(client),
    async close() {
      await client.close();
    },
  };
}

/**
 * Opens the ledger that keeps calls from being sent twice.
 *
 * @param location - A folder, or the URL of a PostgreSQL or Redis database, which machines can share.
 */
export async function openLedger(location: string): Promise<OpenLedger> {
  if (/^postgres(ql)?:\/\//.test(location)) return openPostgres(location);
  if (/^rediss?:\/\//.test(location)) return openRedis(location);
  if (/^[a-z][a-z\d+.-]+:\/\//i.test(location)) {
    throw new SettingError('The ledger must be a folder, or a URL with postgres:// or redis://.');
  }
  return { ledger: fileLedger(location), async close() {} };
}
