// Measures ledgers beside the least that can be done by hand, for the bench: node figures.ts <postgres> <redis>
import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { parseVideoTaskRef, type SubmitLedger } from '../../src/index.ts';
import { postgresLedger } from '../../src/adapters/ledgers/postgres.ts';
import { redisLedger } from '../../src/adapters/ledgers/redis.ts';
import { fileLedger } from '../../src/adapters/node/index.ts';

const [, , postgresURL = '', redisURL = ''] = process.argv;

const hash = 'f'.repeat(64);
const ref = parseVideoTaskRef({
  v: 1,
  kind: 'video',
  id: 'task_0123456789abcdef',
  route: { type: 'openai' },
  baseURL: 'https://gateway.test',
  createdAt: 1_790_000_123_000,
  model: 'sora-2',
  callId: 'job',
});
const text = JSON.stringify(ref);

type Work = (callId: string) => Promise<unknown>;

/** Operations of a ledger for each video. */
function asked(ledger: SubmitLedger): Work {
  return async (callId) => {
    const claim = await ledger.claim(callId, hash);
    if (claim.status !== 'claimed') throw new Error('The call was not free.');
    await ledger.accept(callId, ref, claim.claimId);
    await ledger.finish(callId, 'completed', { claimId: claim.claimId });
  };
}

/** Rounds of warm-up. */
const warmUp = 20;

/** Durations in µs: medians of single calls in turn, so that a busy machine slows all alike. */
async function measureTimes<Name extends string>(
  works: Readonly<Record<Name, Work>>,
  rounds: number,
): Promise<Record<string, number>> {
  const samples = Object.entries<Work>(works).map(([name, work]) => {
    const times: number[] = [];
    return { name, work, times };
  });
  for (let round = -warmUp; round < rounds; round += 1) {
    for (const { work, times } of samples) {
      const callId = randomUUID();
      const begun = performance.now();
      await work(callId);
      if (round >= 0) times.push((performance.now() - begun) * 1_000);
    }
  }
  return Object.fromEntries(
    samples.map(({ name, times }) => [
      name,
      times.toSorted((one, other) => one - other)[Math.floor(rounds / 2)] ?? Number.NaN,
    ]),
  );
}

async function postgresTimes(): Promise<Record<string, number>> {
  const pool = new Pool({ connectionString: postgresURL });
  const ledger = postgresLedger(pool);
  await ledger.migrate();
  await pool.query('CREATE TABLE plain (id text PRIMARY KEY, hash text, ref text, status text)');
  const byHand: Work = async (callId) => {
    await pool.query('INSERT INTO plain (id, hash) VALUES ($1, $2)', [callId, hash]);
    await pool.query('UPDATE plain SET ref = $2 WHERE id = $1', [callId, text]);
    await pool.query('UPDATE plain SET status = $2 WHERE id = $1', [callId, 'completed']);
  };
  const times = await measureTimes({ postgres: asked(ledger), 'postgres.floor': byHand }, 300);
  await pool.end();
  return times;
}

async function redisTimes(): Promise<Record<string, number>> {
  const client = new Redis(redisURL);
  const byHand: Work = async (callId) => {
    await client.set(`plain:${callId}`, hash);
    await client.set(`plain:${callId}`, text);
    await client.set(`plain:${callId}`, 'completed');
  };
  const works = { redis: asked(redisLedger(client)), 'redis.floor': byHand };
  const times = await measureTimes(works, 500);
  client.disconnect();
  return times;
}

/** A ledger of files with a number of finished calls. */
async function filledLedger(parent: string, calls: number): Promise<SubmitLedger> {
  const folder = join(parent, String(calls));
  const ledger = fileLedger(folder);
  await asked(ledger)('job-0');
  const [name = ''] = await readdir(folder);
  const entry = await readFile(join(folder, name), 'utf8');
  const left = Array.from({ length: calls - 1 }, (_, index) => `job-${index + 1}`);
  const write = async (): Promise<void> => {
    for (let callId = left.pop(); callId !== undefined; callId = left.pop()) {
      const digest = createHash('sha256').update(callId).digest('hex').slice(0, 32);
      await writeFile(join(folder, `${digest}.1.json`), entry.replace('"job-0"', `"${callId}"`));
    }
  };
  await Promise.all(Array.from({ length: 32 }, write));
  const known = await fileLedger(folder).entry(`job-${calls - 1}`);
  if (known?.status !== 'finished') throw new Error('The ledger does not know its calls.');
  return fileLedger(folder);
}

async function fileTimes(): Promise<Record<string, number>> {
  const parent = await mkdtemp(join(tmpdir(), 'model-gateway-ledgers-'));
  try {
    const few = asked(await filledLedger(parent, 100));
    const many = asked(await filledLedger(parent, 50_000));
    return await measureTimes({ 'file.100': few, 'file.50000': many }, 100);
  } finally {
    await rm(parent, { recursive: true });
  }
}

const figures = {
  ...(await postgresTimes()),
  ...(redisURL === '' ? {} : await redisTimes()),
  ...(await fileTimes()),
};
console.log(JSON.stringify(figures));
