/**
 * A thousand videos by four workers, of which one is killed or stopped each second, on a database that
 * crashes in the middle. Fails when a video was paid for twice, or one that is paid for got lost.
 *
 *   node test/servers/extended/fleet.ts [videos, 1000 by default] [PostgreSQL or Redis; both by default]
 */
import { setTimeout as pause } from 'node:timers/promises';
import { videoJob } from '../../../src/adapters/bullmq/index.ts';
import { createEmulator } from '../../../src/testing/index.ts';
import { startPostgres } from '../postgres.ts';
import { openPlace, type Server } from '../queues.ts';
import { startRedis } from '../redis.ts';
import { bundleWorker, type WorkerProcess } from '../workers.ts';

const [count = '1000', only] = process.argv.slice(2);
const videos = Number(count);
const limits = {
  lockDuration: 1_000,
  unknownGrace: 3_000,
  interval: 500,
  concurrency: 8,
} as const;
const problems: string[] = [];

async function runFleet(server: Server): Promise<void> {
  const database = server === 'Redis' ? await startRedis(true) : await startPostgres();
  if (database === undefined) {
    console.log('Redis: redis-server is not on the PATH, so this is LEFT OUT.');
    return;
  }
  await using stack = new AsyncDisposableStack();
  stack.use(database);
  const program = stack.use(await bundleWorker());
  const emulator = stack.use(createEmulator({ videoDuration: 4_000 }));
  const { url } = await emulator.listen();
  const place = { server, url: database.url };
  const open = stack.use(await openPlace(place));
  const queue = open.queue('fleet');
  const orders = {
    ...limits,
    place,
    queue: 'fleet',
    gateway: { baseURL: url, apiKey: emulator.apiKey },
  };
  const names = Array.from({ length: videos }, (_, index) => `video-${index + 1}`);
  await queue.addBulk(
    names.map((id) => videoJob({ id, params: { model: id, prompt: 'A paper boat' } })),
  );

  const begun = performance.now();
  const workers: WorkerProcess[] = Array.from({ length: 4 }, () => program.start(orders));
  const done = { killed: 0, stopped: 0, crashes: 0 };
  /** Does something bad to one of the workers. */
  const harm = async (turn: number): Promise<void> => {
    const worker = workers.shift();
    if (worker === undefined) return;
    if (turn % 2 === 0) {
      done.killed += 1;
      await worker.end('SIGKILL');
      workers.push(program.start(orders));
      return;
    }
    done.stopped += 1;
    worker.child.kill('SIGSTOP');
    workers.push(worker);
    await pause(limits.lockDuration * 2.5);
    worker.child.kill('SIGCONT');
  };
  const harms: Promise<void>[] = [];
  for (let turn = 0; ; turn += 1) {
    await pause(1_000);
    const counts = await queue.getJobCounts().catch(() => undefined);
    const over = (counts?.['completed'] ?? 0) + (counts?.['failed'] ?? 0);
    if (over >= videos) break;
    if (performance.now() - begun > 600_000) {
      problems.push(`${server}: not over after ten minutes: ${JSON.stringify(counts)}`);
      break;
    }
    // Enough harm: a fleet that is killed faster than it works gets nowhere.
    if (turn < 30) harms.push(harm(turn));
    if (done.crashes === 0 && (over > videos / 3 || turn >= 2 + videos / 200)) {
      done.crashes = 1;
      await database.stop('crash');
      await pause(1_000);
      await database.start();
    }
  }
  await Promise.all(harms);
  const seconds = (performance.now() - begun) / 1_000;
  await Promise.all(workers.map((worker) => worker.end('SIGKILL')));

  const charges = new Map<string, number>();
  for (const { model } of emulator.charges) charges.set(model, (charges.get(model) ?? 0) + 1);
  const twice = names.filter((id) => (charges.get(id) ?? 0) > 1);
  let [completed, unknown, lost, freed] = [0, 0, 0, 0];
  for (const id of names) {
    const job = await queue.getJob(id);
    const state = await job?.getState();
    const entry = await open.ledger.entry(`fleet:${id}`);
    const isPaid = charges.has(id);
    if (state === 'completed') completed += 1;
    else if (/job\.retry\(\)/.test(job?.failedReason ?? '') && entry?.refs.length === 0)
      unknown += 1;
    else if (isPaid) lost += 1;
    if (isPaid && entry === undefined) freed += 1;
  }
  console.log(
    `${server}: ${videos} videos, ${done.killed} workers killed, ${done.stopped} stopped for longer than the lock, ${done.crashes} crash of the database, ${seconds.toFixed(0)} s`,
  );
  console.log(
    `  completed ${completed}, left unknown ${unknown}, lost ${lost}, paid twice ${twice.length}, wrongly given back ${freed}, ${emulator.charges.length} charges`,
  );
  if (twice.length > 0) problems.push(`${server}: paid twice: ${twice.join(', ')}`);
  if (lost > 0) problems.push(`${server}: ${lost} lost`);
  if (freed > 0) problems.push(`${server}: ${freed} given back though they were paid for`);
  if (done.crashes === 0) problems.push(`${server}: the database did not crash`);
}

const servers: readonly Server[] = ['PostgreSQL', 'Redis'];
for (const server of servers) {
  if (only === undefined || only === server) await runFleet(server);
}
for (const problem of problems) console.error(problem);
process.exit(problems.length === 0 ? 0 : 1);
