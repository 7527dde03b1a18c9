/**
 * Makes a thousand videos with four workers that share a ledger, one of which is killed each second, and
 * fails when a video was paid for twice, got lost, or was taken for one that was never submitted.
 *
 *   npm run build && npm ci --prefix test/servers && node test/servers/extended/ledgers.ts [videos, 1,000 by default]
 */
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import type { SubmitLedger } from '../../../dist/index.js';
import { postgresLedger } from '../../../dist/postgres.js';
import { redisLedger } from '../../../dist/redis.js';
import { createEmulator } from '../../../dist/testing/index.js';
import { startPostgres } from '../postgres.ts';
import { startRedis } from '../redis.ts';
import {
  isPassing,
  pause,
  Worker,
  type JobResult,
  type WorkerSettings,
} from '../ledger-workers.ts';

const videos = Number(process.argv[2] ?? 1_000);
const workers = 4;
const jobsAtOnce = 16;
const problems: string[] = [];

/** Workers of which one is killed each second, and another put into its place. */
class Fleet {
  readonly #settings: WorkerSettings;
  readonly #workers: Worker[] = [];
  kills = 0;

  constructor(settings: WorkerSettings) {
    this.#settings = settings;
  }

  async start(): Promise<void> {
    for (let count = 0; count < workers; count += 1) {
      this.#workers.push(await Worker.start(this.#settings));
    }
  }

  /** Tries a job until its end is known, each time with a worker that is there by then. */
  async make(callId: string): Promise<JobResult> {
    for (let attempt = 0; ; attempt += 1) {
      const result = await this.#workers[Math.floor(Math.random() * workers)]?.make(callId);
      if (result !== undefined && !isPassing(result)) return result;
      await pause(Math.min(50 * 2 ** attempt, 500));
    }
  }

  async killOne(): Promise<void> {
    const index = this.kills % workers;
    this.kills += 1;
    await this.#workers[index]?.stop();
    this.#workers[index] = await Worker.start(this.#settings);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop()));
  }
}

async function tryWith(kind: WorkerSettings['kind'], url: string, ledger: SubmitLedger) {
  const begun = performance.now();
  await using emulator = createEmulator({ videoDuration: 1_000 });
  const { url: gateway } = await emulator.listen();
  const name = kind === 'postgres' ? 'model_gateway_calls' : 'model-gateway:call:';
  const settings = { gateway, apiKey: emulator.apiKey, kind, url, name, lease: 2_000, killAt: 0 };
  const fleet = new Fleet(settings);
  await fleet.start();
  const left = Array.from({ length: videos }, (_, index) => `job-${index}`);
  const results: JobResult[] = [];
  const work = async (): Promise<void> => {
    for (let callId = left.shift(); callId !== undefined; callId = left.shift()) {
      results.push(await fleet.make(callId));
    }
  };
  const working = Promise.all(Array.from({ length: workers * jobsAtOnce }, work));
  const ended = working.then(() => true);
  while (!(await Promise.race([ended, pause(1_000)]))) await fleet.killOne();
  await fleet.stop();

  const paid = new Map<string, string[]>();
  for (const { id, prompt } of emulator.videos.list) {
    paid.set(prompt, [...(paid.get(prompt) ?? []), id]);
  }
  const counts: Record<string, number> = {};
  for (const { callId, outcome, id } of results) {
    counts[outcome] = (counts[outcome] ?? 0) + 1;
    const tasks = paid.get(callId) ?? [];
    const entry = await ledger.entry(callId);
    const known = entry?.refs.map((ref) => ref.id) ?? [];
    if (tasks.length > 1) problems.push(`${kind} ${callId}: paid for ${tasks.length} times`);
    if (tasks.length > 0 && entry === undefined) problems.push(`${kind} ${callId}: counts as new`);
    if (outcome === 'completed' && tasks[0] !== id) problems.push(`${kind} ${callId}: is lost`);
    if (outcome === 'completed' && known[0] !== id) problems.push(`${kind} ${callId}: not entered`);
    if (outcome === 'VideoSubmitUnknownError' && known.length > 0) {
      problems.push(`${kind} ${callId}: given up, though its task is known`);
    } else if (!['completed', 'VideoSubmitUnknownError'].includes(outcome)) {
      problems.push(`${kind} ${callId}: ended with ${outcome}`);
    }
  }
  const most = Math.max(...[...paid.values()].map((tasks) => tasks.length));
  console.log(
    [
      `${kind}: ${results.length} videos`,
      `${fleet.kills} workers killed`,
      `${emulator.charges.length} charges`,
      `most of one call ${most}`,
      `completed ${counts['completed'] ?? 0}`,
      `given up as unknown ${counts['VideoSubmitUnknownError'] ?? 0}`,
      `${((performance.now() - begun) / 1_000).toFixed(0)} s`,
    ].join(', '),
  );
  if (results.length !== videos) problems.push(`${kind}: jobs are missing`);
}

await using postgres = await startPostgres();
await using redis = await startRedis();
const pool = new Pool({ connectionString: postgres.url });
const ledger = postgresLedger(pool);
await ledger.migrate();
await tryWith('postgres', postgres.url, ledger);
await pool.end();
if (redis === undefined) console.log('There is no redis-server on the PATH: it is left out.');
else {
  const client = new Redis(redis.url);
  await tryWith('redis', redis.url, redisLedger(client));
  client.disconnect();
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
