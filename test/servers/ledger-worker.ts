// Makes videos with a ledger on a server, one for each call id that it is sent, and may be killed on the way.
// As it was built, which starts in half the time.
import { Gateway, type SubmitLedger } from '../../dist/index.js';
import type { JobResult, WorkerSettings } from './ledger-workers.ts';
import { Steps } from './steps.ts';

const settings: WorkerSettings = JSON.parse(process.argv[2] ?? '');
const steps = new Steps((_, count) => {
  if (count === settings.killAt) process.kill(process.pid, 'SIGKILL');
});

async function openLedger(): Promise<SubmitLedger> {
  const { kind, url, name, lease } = settings;
  if (kind === 'postgres') {
    const { Pool } = await import('pg');
    const { postgresLedger } = await import('../../dist/postgres.js');
    const pool = new Pool({ connectionString: url });
    pool.on('error', () => {});
    return postgresLedger(steps.around(pool, ['query']), { table: name, lease });
  }
  const { Redis } = await import('ioredis');
  const { redisLedger } = await import('../../dist/redis.js');
  const client = new Redis(url);
  client.on('error', () => {});
  return redisLedger(steps.around(client, ['evalsha', 'eval']), { prefix: name, lease });
}

const ledger = await openLedger();
const client = new Gateway({
  baseURL: settings.gateway,
  apiKey: settings.apiKey,
  logLevel: 'off',
  fetch: steps.fetch,
});

async function make(callId: string): Promise<JobResult> {
  try {
    const { id } = await client.videos.createAndWait(
      { model: 'm-video', prompt: callId, seconds: 1, size: '64x64' },
      {
        ledger,
        callId,
        interval: 250,
        onSubmitted: () => steps.take('submitted'),
        onUnknown: settings.onUnknown,
      },
    );
    return { callId, outcome: 'completed', id, steps: steps.count };
  } catch (error) {
    const outcome = error instanceof Error ? error.name : 'unknown error';
    const isInProgress: unknown = Reflect.get(Object(error), 'isInProgress');
    return {
      callId,
      outcome,
      isInProgress: isInProgress === true,
      message: String(error),
      steps: steps.count,
    };
  }
}

process.on('message', (callId) => {
  if (typeof callId !== 'string') return;
  void make(callId).then((result) => process.send?.(result));
});
process.send?.('ready');
