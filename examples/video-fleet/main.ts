// `npm run demo:fleet` creates 200 videos with two workers on a real PostgreSQL, and kills one worker.
//
//   npm run demo:fleet -- --redis        the same on the local redis-server
//   npm run demo:fleet -- --videos 50    fewer videos
//
// The gateway is the emulator: no key, no costs. Your own fleet needs only the other files.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createEmulator } from 'model-gateway/testing';
import { startPostgres } from '../../test/servers/postgres.ts';
import { startRedis } from '../../test/servers/redis.ts';
import { Dashboard, type ShownWorker } from './dashboard.ts';

const usage = 'Usage: npm run demo:fleet -- [--redis] [--videos <1 to 2000>]';

function readFlags(): { readonly redis: boolean; readonly videos: number } {
  try {
    const { values } = parseArgs({
      options: {
        redis: { type: 'boolean', default: false },
        videos: { type: 'string', default: '200' },
      },
    });
    const videos = Number(values.videos);
    if (Number.isInteger(videos) && videos >= 1 && videos <= 2_000) return { ...values, videos };
    console.error(
      `--videos: must be a whole number from 1 to 2000, not ${values.videos}.\n${usage}`,
    );
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  }
  process.exit(2);
}

const { redis, videos: wanted } = readFlags();
const begun = performance.now();
const seconds = (): number => (performance.now() - begun) / 1_000;
const dashboard = new Dashboard();
const stack = new AsyncDisposableStack();
const stopping = new AbortController();
process.on('SIGINT', () => stopping.abort());
process.on('SIGTERM', () => stopping.abort());

interface RunningWorker extends ShownWorker {
  readonly child: ChildProcess;
}
const workers: RunningWorker[] = [];

function startWorker(env: NodeJS.ProcessEnv): RunningWorker {
  const child = fork(join(import.meta.dirname, 'worker.ts'), { env });
  const worker: RunningWorker = {
    name: `worker ${workers.length + 1}`,
    pid: child.pid,
    state: 'works',
    done: 0,
    failed: 0,
    child,
  };
  child.on('message', (message) => {
    if (typeof message !== 'object' || message === null) return;
    if ('done' in message) worker.done += 1;
    if ('failed' in message) worker.failed += 1;
  });
  child.once('exit', () => {
    if (worker.state === 'works') worker.state = 'ended';
  });
  workers.push(worker);
  return worker;
}

async function end({ child }: RunningWorker, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  child.kill(signal);
  await closed;
}

async function run(): Promise<boolean> {
  const server = redis ? 'Redis' : 'PostgreSQL';
  console.log(`Starting ${server}…`);
  const database = redis ? await startRedis() : await startPostgres();
  if (database === undefined) {
    console.error(
      'redis-server is not on the PATH. Install Redis (apt install redis-server, brew install redis), or omit --redis: the demo includes PostgreSQL.',
    );
    return false;
  }
  stack.use(database);
  const films = await mkdtemp(join(tmpdir(), 'model-gateway-fleet-'));
  stack.defer(() => rm(films, { recursive: true, force: true }));
  const emulator = stack.use(createEmulator({ videoDuration: 8_000, quirks: { contentLimit: 0 } }));
  const { url } = await emulator.listen();
  const env = {
    ...process.env,
    FLEET_URL: database.url,
    FLEET_FILMS: films,
    FLEET_MODEL: 'm-video',
    GATEWAY_BASE_URL: url,
    GATEWAY_API_KEY: emulator.apiKey,
  };
  Object.assign(process.env, env);

  console.log(`Queueing ${wanted} videos…\n`);
  const producer = fork(join(import.meta.dirname, 'producer.ts'), [String(wanted)], { env });
  const [code] = await once(producer, 'exit', { signal: stopping.signal });
  if (code !== 0) return false;
  // Imported here, because it reads the address of the server from the environment.
  const { openQueue } = await import('./settings.ts');
  const queue = openQueue();
  queue.on('error', () => {});
  stack.defer(() => queue.close());
  stack.defer(async () => {
    await Promise.all(workers.map((worker) => end(worker, 'SIGKILL')));
  });
  const first = startWorker(env);
  startWorker(env);

  let note = 'Two workers submit, poll and save. One is about to be killed.';
  let allPaid = 0;
  let killedAt: number | undefined;
  for (;;) {
    const jobs = await queue.getJobCounts();
    const files = (await readdir(films)).filter((name) => name.endsWith('.mp4')).length;
    const charges = emulator.charges.length;
    dashboard.show({ server, seconds: seconds(), wanted, jobs, workers, charges, files, note });
    if (charges < wanted) allPaid = seconds();
    // Not during submissions: a kill would leave an unknown outcome, which is reported and not resubmitted,
    // but in this demo every video must end up with a file.
    const isTime = seconds() > allPaid + 2 && files >= wanted / 4;
    if (killedAt === undefined && isTime) {
      await end(first, 'SIGKILL');
      first.state = 'killed';
      killedAt = seconds();
      note = `${first.name} was killed. What it was doing is given to others when its locks run out.`;
    }
    if (killedAt !== undefined && workers.length === 2 && seconds() > killedAt + 2) {
      startWorker(env);
      note = 'Another worker took its place, and goes on with the tasks that are paid for.';
    }
    if ((jobs['completed'] ?? 0) + (jobs['failed'] ?? 0) >= wanted) break;
    if (workers.every(({ state }) => state !== 'works')) break;
    await pause(250, undefined, { signal: stopping.signal });
  }
  dashboard.close();
  const saved = (await readdir(films)).filter((name) => name.endsWith('.mp4')).length;
  const tasks = new Set(emulator.charges.map(({ taskId }) => taskId)).size;
  const polls = emulator.requests.filter(({ operation }) => operation === 'videos.retrieve').length;
  console.log("\nThe gateway's usage log");
  console.log(`  ${String(emulator.charges.length).padStart(5)} charges, for ${tasks} videos`);
  console.log(`  ${String(saved).padStart(5)} files`);
  console.log(`  ${String(polls).padStart(5)} polls, which are free`);
  const isRight = emulator.charges.length === wanted && tasks === wanted && saved === wanted;
  console.log(
    isRight
      ? `\nEach of the ${wanted} videos was charged once and saved, although a worker was killed. ${seconds().toFixed(0)} s.`
      : '\nThe numbers of charges and files differ from the number of videos.',
  );
  return isRight;
}

try {
  process.exitCode = (await run()) ? 0 : 1;
} catch (error) {
  dashboard.close();
  process.exitCode = stopping.signal.aborted ? 130 : 1;
  if (stopping.signal.aborted) console.log('\nStopping the workers and the server…');
  else console.error(error);
} finally {
  dashboard.close();
  await stack.disposeAsync();
}
