// Makes videos with a ledger on a server, one for each call id that it is sent, and may be killed on the way.
import type { SubmitLedger } from '../../dist/index.js';
import type { JobResult, WorkerSettings } from './ledger-workers.ts';

const settings: WorkerSettings = JSON.parse(process.argv[2] ?? '');
let steps = 0;

/** Every moment before and after something that another process could see. */
function step(): void {
  steps += 1;
  if (steps === settings.killAt) process.kill(process.pid, 'SIGKILL');
}

/** Puts a step before and after every call of a method. */
function between(owner: object, name: string): void {
  const original: unknown = Reflect.get(owner, name);
  if (typeof original !== 'function') throw new Error(`There is no ${name}().`);
  Reflect.set(owner, name, async (...parameters: unknown[]) => {
    step();
    const result: unknown = await Reflect.apply(original, owner, parameters);
    step();
    return result;
  });
}

between(globalThis, 'fetch');

// Only now, so that it gets the function with steps; as it was built, which starts in half the time.
const { Gateway } = await import('../../dist/index.js');

async function openLedger(): Promise<SubmitLedger> {
  const { kind, url, name, lease } = settings;
  if (kind === 'postgres') {
    const { Pool } = await import('pg');
    const { postgresLedger } = await import('../../dist/postgres.js');
    const pool = new Pool({ connectionString: url });
    pool.on('error', () => {});
    between(pool, 'query');
    return postgresLedger(pool, { table: name, lease });
  }
  const { Redis } = await import('ioredis');
  const { redisLedger } = await import('../../dist/redis.js');
  const client = new Redis(url);
  client.on('error', () => {});
  for (const method of ['evalsha', 'eval']) between(client, method);
  return redisLedger(client, { prefix: name, lease });
}

const ledger = await openLedger();
const client = new Gateway({
  baseURL: settings.gateway,
  apiKey: settings.apiKey,
  logLevel: 'off',
});

async function make(callId: string): Promise<JobResult> {
  try {
    const { id } = await client.videos.createAndWait(
      { model: 'm-video', prompt: callId, seconds: 1, size: '64x64' },
      { ledger, callId, interval: 250, onSubmitted: step, onUnknown: settings.onUnknown },
    );
    return { callId, outcome: 'completed', id, steps };
  } catch (error) {
    const outcome = error instanceof Error ? error.name : 'unknown error';
    const isUnderWay: unknown = Reflect.get(Object(error), 'isUnderWay');
    return { callId, outcome, isUnderWay: isUnderWay === true, message: String(error), steps };
  }
}

process.on('message', (callId) => {
  if (typeof callId !== 'string') return;
  void make(callId).then((result) => process.send?.(result));
});
process.send?.('ready');
