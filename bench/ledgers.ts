import { execSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { startPostgres } from '../test/servers/postgres.ts';
import { startRedis } from '../test/servers/redis.ts';
import { runChild, type Figures } from './lib/child.ts';
import type { Metric, Part, PartResult } from './lib/metric.ts';
import { varying } from './lib/rounds.ts';

const servers = path.join(import.meta.dirname, '..', 'test', 'servers');

/** Each is a median of hundreds of single ones, in turn with its floor: one round. */
function toMetrics(figures: Figures): Metric[] {
  const metric = (id: string, label: string, floor?: string): Metric[] => {
    const own = figures[id];
    if (own === undefined) return [];
    const by = floor === undefined ? undefined : figures[floor];
    const values = { 'model-gateway': own, ...(by === undefined ? {} : { floor: by }) };
    return [varying({ id: `ledgers.${id}`, label, unit: 'µs' }, [values])];
  };
  return [
    ...metric('postgres', 'A video in a ledger: PostgreSQL', 'postgres.floor'),
    ...metric('redis', '– Redis', 'redis.floor'),
    ...metric('file.100', '– files, with 100 calls in it'),
    ...metric('file.50000', '– files, with 50,000 calls in it'),
  ];
}

async function measure(): Promise<PartResult> {
  if (!existsSync(path.join(servers, 'node_modules'))) {
    execSync('npm ci --loglevel=error', { cwd: servers, stdio: ['ignore', 'ignore', 'inherit'] });
  }
  // They do not wait for the disk, which would hide all else.
  await using postgres = await startPostgres();
  await using redis = await startRedis();
  if (redis === undefined) console.error('redis-server is not on the PATH: it is skipped.');
  // Defined by the build.
  const flags = ['--import', 'data:text/javascript,globalThis.__VERSION__="0.0.0"'];
  const script = path.join(servers, 'figures.ts');
  const figures = await runChild(script, [postgres.url, redis?.url ?? ''], flags);
  return { metrics: toMetrics(figures) };
}

export const ledgersPart: Part = { name: 'ledgers', measure };
