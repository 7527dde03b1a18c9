/**
 * Runs the jobs of a queue in a service with this package, and in one with `openai`, each with an emulator of its own
 * behind a proxy that cuts, resets and delays, with an outage, a SIGTERM and kills in between, and compares their
 * results with the books of the emulators. Fails if this package pays for an image or a video twice, loses one that
 * is paid for, counts less than was charged, or if a service ends by itself.
 *
 *   node test/extended/soak.ts [jobs, 200 by default] [--faults <share of requests, 0.3 by default>] [--seed <number>]
 */
import { fork, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { fileLedger } from '../../src/adapters/node/index.ts';
import { createEmulator, type Emulator } from '../../src/testing/index.ts';
import { startProxy } from './soak/proxy.ts';
import type { Job, Report } from './soak/service.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    faults: { type: 'string', default: '0.3' },
    seed: { type: 'string', default: `${Date.now() % 100_000}` },
  },
});
const count = Number(positionals[0] ?? 200);
const share = Number(values.faults);
const seed = Number(values.seed);
const tries = 4;
const concurrency = 10;
const quotaPerDollar = 500_000;

type Client = 'model-gateway' | 'openai';

/** Returns numbers between 0 and 1, the same for a seed. */
function createRandom(start: number): () => number {
  let state = start;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

const kinds: readonly Job['kind'][] = ['image', 'video', 'chat', 'leave'];
const listJobs = (): Job[] =>
  Array.from({ length: count }, (_, index) => ({
    id: `job-${index}.`,
    kind: kinds[index % kinds.length] ?? 'chat',
  }));

/** Jobs of a queue that a service makes, some at a time. A job of a service that ends is given to the next one. */
class Queue {
  readonly #waiting = listJobs();
  readonly #running = new Map<string, Job>();
  /** The number of failed jobs that wait for their next attempt. */
  #delayed = 0;
  readonly #attempts = new Map<string, number>();
  readonly #begun = new Map<string, number>();
  readonly durations: number[] = [];
  readonly failed: Job[] = [];
  /** US dollars that ended services counted. */
  counted: [known: number, possible: number] = [0, 0];
  /** The number of times that a service was making a job when it ended. */
  interrupted = 0;
  /** The number of failed attempts by the class of their error. */
  readonly errors = new Map<string, number>();
  #current: Report['counted'] = [0, 0];
  /** Called after each job with the number of those that are over. */
  onProgress: (done: number) => void = () => {};
  readonly #start: () => ChildProcess;
  service: ChildProcess | undefined;
  /** The ends of services that nobody stopped. */
  readonly crashes: string[] = [];
  isStopping = false;

  constructor(start: () => ChildProcess) {
    this.#start = start;
  }

  /** Makes all jobs. */
  async run(): Promise<void> {
    while (this.#waiting.length + this.#delayed > 0) await this.#serve();
  }

  async #serve(): Promise<void> {
    const service = (this.service = this.#start());
    this.isStopping = false;
    this.#current = [0, 0];
    const ended = new Promise<string>((resolve) => {
      service.once('exit', (code, signal) => resolve(`code ${code}, signal ${signal}`));
    });
    service.on('message', (report: Report) => {
      this.#take(report);
      this.#fill();
    });
    this.#fill();
    const how = await ended;
    if (!this.isStopping && this.#running.size > 0) this.crashes.push(how);
    const [known, possible] = this.#current;
    this.counted = [this.counted[0] + known, this.counted[1] + possible];
    this.interrupted += this.#running.size;
    this.#waiting.unshift(...this.#running.values());
    this.#running.clear();
  }

  /** Gives jobs to the service, and ends it after the last one. */
  #fill(): void {
    const { service } = this;
    if (service === undefined || !service.connected || this.isStopping) return;
    while (this.#running.size < concurrency) {
      const job = this.#waiting.shift();
      if (job === undefined) break;
      this.#running.set(job.id, job);
      if (!this.#begun.has(job.id)) this.#begun.set(job.id, performance.now());
      service.send(job);
    }
    if (this.#running.size + this.#delayed === 0) service.disconnect();
  }

  #take({ id, end, error, counted }: Report): void {
    this.#current = counted;
    const job = this.#running.get(id);
    this.#running.delete(id);
    if (job === undefined) return;
    if (end === 'failed' && error !== undefined) {
      this.errors.set(error, (this.errors.get(error) ?? 0) + 1);
    }
    const attempts = (this.#attempts.get(id) ?? 0) + (end === 'stopped' ? 0 : 1);
    this.#attempts.set(id, attempts);
    if (end !== 'done' && attempts < tries) {
      this.#delayed += 1;
      const again = (): void => {
        this.#delayed -= 1;
        this.#waiting.push(job);
        this.#fill();
      };
      setTimeout(again, 250 * 2 ** attempts);
      return;
    }
    if (end !== 'done') this.failed.push(job);
    this.durations.push(performance.now() - (this.#begun.get(id) ?? 0));
    this.onProgress(this.durations.length);
  }

  /** Ends the current service with a signal. */
  stop(signal: 'SIGKILL' | 'SIGTERM'): void {
    this.isStopping = true;
    this.service?.kill(signal);
  }
}

/** Returns what was charged, and the jobs whose image or video was paid for. */
function readBooks({ charges, requests }: Emulator) {
  const jobOf = new Map(
    requests.map(({ id, body }) => [id, /job-\d+\./.exec(JSON.stringify(body))?.[0]]),
  );
  const paid = new Map<string, number>();
  for (const { requestId, operation } of charges) {
    const job = jobOf.get(requestId);
    const isMedium = operation === 'images.generate' || operation === 'videos.create';
    if (job !== undefined && isMedium) paid.set(job, (paid.get(job) ?? 0) + 1);
  }
  const amounts = charges.map(({ amount }) => amount / quotaPerDollar);
  const dollars = amounts.reduce((sum, amount) => sum + amount, 0);
  return { charges: charges.length, paid, dollars, highest: Math.max(0, ...amounts) };
}

/** Makes all jobs with one client, and returns what became of them. */
async function soak(client: Client, program: string, folder: string) {
  const emulator = createEmulator({ videoDuration: 300 });
  const server = await emulator.listen();
  const proxy = await startProxy(server.port, share, createRandom(seed));
  const ledgerFolder = join(folder, client);
  const environment = [client, proxy.url, emulator.apiKey, ledgerFolder];
  const queue = new Queue(() => fork(program, environment, { execArgv: [] }));
  let outage: Promise<void> | undefined;
  queue.onProgress = (done) => {
    const at = (part: number): boolean => done === Math.round(count * part);
    if (at(0.2) || at(0.7)) queue.stop('SIGKILL');
    if (at(0.5)) queue.stop('SIGTERM');
    if (at(0.35)) outage = proxy.outage(2_000);
  };
  await queue.run();
  await outage;
  const books = readBooks(emulator);
  const ledger = fileLedger(ledgerFolder);
  let lost = 0;
  for (const { id } of queue.failed) {
    if (books.paid.has(id) && (await ledger.entry(id)) === undefined) lost += 1;
  }
  proxy.close();
  await server.close();
  const { durations, failed, crashes, errors } = queue;
  const [known, possible] = queue.counted;
  durations.sort((one, other) => one - other);
  const list = [...books.paid.values()];
  return {
    ...books,
    media: list.length,
    twice: list.filter((payments) => payments > 1).length,
    failed: failed.length,
    paidFailed: failed.filter(({ id }) => books.paid.has(id)).length,
    lost,
    known,
    // Nothing counts what a service was making when it ended, so it may have been charged.
    most: known + possible + queue.interrupted * books.highest,
    crashes,
    errors,
    median: durations[Math.floor(durations.length / 2)] ?? 0,
  };
}

const folder = await mkdtemp(join(tmpdir(), 'soak-'));
const program = join(folder, 'service.mjs');
await build({
  entryPoints: [join(import.meta.dirname, 'soak/service.ts')],
  bundle: true,
  format: 'esm',
  platform: 'node',
  outfile: program,
  logLevel: 'error',
  define: { __VERSION__: '"0.0.0-test"' },
});
const ours = await soak('model-gateway', program, folder);
const theirs = await soak('openai', program, folder);
await rm(folder, { recursive: true });

console.log(`${count} jobs, faults in ${share * 100} % of the requests, seed ${seed}`);
console.table(
  Object.fromEntries(
    [
      [`images and videos paid for, of ${count / 2}`, ours.media, theirs.media],
      ['paid for more than once', ours.twice, theirs.twice],
      ['jobs without a result', ours.failed, theirs.failed],
      ['of these paid for', ours.paidFailed, theirs.paidFailed],
      ['of these unknown to the ledger', ours.lost, '–'],
      ['charges', ours.charges, theirs.charges],
      ['US dollars', ours.dollars.toFixed(2), theirs.dollars.toFixed(2)],
      ['counted by spent()', `${ours.known.toFixed(2)} to ${ours.most.toFixed(2)}`, '–'],
      ['median of a job, ms', ours.median.toFixed(), theirs.median.toFixed()],
    ].map(([row, own, other]) => [row, { 'model-gateway': own, openai: other }]),
  ),
);
console.log('Errors of model-gateway:', Object.fromEntries(ours.errors));

const problems = [
  ours.twice > 0 && `${ours.twice} images and videos were paid twice`,
  ours.lost > 0 &&
    `${ours.lost} jobs were paid for, and neither have a result nor are in the ledger`,
  ours.most < ours.dollars - 1e-9 &&
    `spent() counts ${ours.known} to ${ours.most} of ${ours.dollars} US dollars`,
  ours.crashes.length > 0 && `the service ended by itself: ${ours.crashes.join('; ')}`,
  ['InvalidInputError', 'TypeError'].some((name) => ours.errors.has(name)) &&
    'an error is none of a gateway',
].filter((problem) => problem !== false);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
