/**
 * How many polls a second one worker makes, and what a video that waits takes of the server's memory.
 *
 *   node test/servers/extended/polls.ts [--check]
 *
 * With --check it fails below 200 polls a second.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { Gateway } from '../../../src/index.ts';
import { createEmulator } from '../../../src/testing/index.ts';
import { startPostgres } from '../postgres.ts';
import { openPlace, type Server } from '../queues.ts';
import { startRedis } from '../redis.ts';
import { bundleWorker } from '../workers.ts';

const wanted = 200;
const videos = 2_000;
let isFast = true;

/** The queue's memory, or disk space, on a server, in bytes. */
async function measureSize(server: Server, url: string): Promise<number> {
  if (server === 'Redis') {
    const client = new Redis(url);
    const [, used = '0'] = /used_memory:(\d+)/.exec(await client.info('memory')) ?? [];
    client.disconnect();
    return Number(used);
  }
  const pool = new Pool({ connectionString: url });
  const { rows } = await pool.query<{ size: string }>(
    "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) AS size FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'bullmq' AND c.relkind = 'r'",
  );
  await pool.end();
  return Number(rows[0]?.size ?? 0);
}

async function measure(server: Server): Promise<void> {
  // As in production: each word is on the disk before the next.
  const database = server === 'Redis' ? await startRedis() : await startPostgres(true);
  if (database === undefined) {
    console.log('Redis: redis-server is not on the PATH, so this is LEFT OUT.');
    return;
  }
  await using stack = new AsyncDisposableStack();
  stack.use(database);
  const program = stack.use(await bundleWorker());
  const emulator = stack.use(createEmulator({ videoDuration: 1_000 }));
  // No video is ever finished.
  emulator.clock.hold();
  const { url } = await emulator.listen();
  const place = { server, url: database.url };
  const open = stack.use(await openPlace(place));
  const client = new Gateway({ baseURL: url, apiKey: emulator.apiKey, logLevel: 'off' });
  const { ref } = await client.videos.create({ model: 'm-video', prompt: 'A paper boat' });
  const params = { model: 'm-video', prompt: 'A paper boat on a quiet lake at dawn' };
  const before = await measureSize(server, database.url);
  await open.queue('polls').addBulk(
    Array.from({ length: videos }, (_, index) => ({
      name: 'video',
      data: { params, ref },
      opts: { jobId: `video-${index}` },
    })),
  );
  const gateway = { baseURL: url, apiKey: emulator.apiKey };
  const limits = { lockDuration: 30_000, unknownGrace: 0, interval: 1_000, concurrency: 50 };
  const worker = program.start({ ...limits, place, queue: 'polls', gateway });
  const polls = (): number => emulator.requests.length;
  // Until each was polled once, and is delayed.
  const begun = performance.now();
  while (polls() < videos && performance.now() - begun < 60_000) await pause(100);
  const [from, since] = [polls(), performance.now()];
  await pause(10_000);
  const perSecond = ((polls() - from) / (performance.now() - since)) * 1_000;
  await worker.end();
  const each = ((await measureSize(server, database.url)) - before) / videos;
  console.log(
    `${server}: one worker made ${perSecond.toFixed(0)} polls a second; a video that waits takes ${(each / 1_024).toFixed(1)} KiB of the ${server === 'Redis' ? 'memory' : 'disk'} of the server`,
  );
  isFast &&= perSecond >= wanted;
}

await measure('PostgreSQL');
await measure('Redis');
if (!isFast) console.error(`That is less than ${wanted} polls a second.`);
process.exit(isFast || !process.argv.includes('--check') ? 0 : 1);
