import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'pg';
import { PgBoss } from 'pg-boss';
import { expect, inject, test } from 'vitest';
import { queueName, runStep, type VideoStep } from '../../examples/durable/pg-boss.ts';
import { Gateway } from '../../src/index.ts';
import { postgresLedger } from '../../src/adapters/ledgers/postgres.ts';
import { createEmulator } from '../../src/testing/index.ts';

test('the pg-boss example submits each video once, with four workers', async () => {
  await using emulator = createEmulator({ videoDuration: 0 });
  const { url } = await emulator.listen();
  const client = new Gateway({ baseURL: url, apiKey: emulator.apiKey, logLevel: 'off' });
  const pool = new Pool({ connectionString: inject('postgresURL'), max: 8 });
  const ledger = postgresLedger(pool, { table: 'boss_calls' });
  await ledger.migrate();
  const boss = new PgBoss({ connectionString: inject('postgresURL'), max: 4 });
  boss.on('error', () => {});
  await boss.start();
  await boss.createQueue(queueName);
  const ids = Array.from({ length: 8 }, (_, index) => `boss-${index}`);
  const params = { model: 'm-video', prompt: 'A paper boat' };
  for (const callId of [...ids, ...ids.slice(0, 4)]) {
    const step: VideoStep = { callId, params };
    await boss.send(queueName, step);
  }

  const done: string[] = [];
  const work = async (): Promise<void> => {
    while (done.length < 12) {
      const hasRun = await runStep(boss, pool, client, ledger, async ({ id }) => {
        done.push(id);
      });
      if (!hasRun) await pause(200);
    }
  };
  await Promise.all(Array.from({ length: 4 }, work));
  await boss.stop({ graceful: false });
  await pool.end();

  // Four were ordered twice: each has two jobs, and one payment.
  expect(new Set(done).size).toBe(8);
  expect(emulator.charges).toHaveLength(8);
});
