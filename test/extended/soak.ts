/**
 * Runs a service with this package beside one with `openai`, each on an emulator of its own that fails in the same
 * ways, and compares what their books say. Both repeat failed jobs as a queue does. Fails if this package pays for an
 * image twice, if the budget counts less than was charged, or if a promise is rejected without a handler.
 *
 *   node test/extended/soak.ts [jobs, 200 by default] [--faults <share of requests, 0.3 by default>] [--seed <number>]
 */
import { parseArgs } from 'node:util';
import OpenAI from 'openai';
import { Gateway, GatewayError, memoryLedger } from '../../src/index.ts';
import { createEmulator, type Emulator, type Fault } from '../../src/testing/index.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    faults: { type: 'string', default: '0.3' },
    seed: { type: 'string', default: `${Date.now() % 100_000}` },
  },
});
const jobs = Number(positionals[0] ?? 200);
const share = Number(values.faults);
const seed = Number(values.seed);
const tries = 4;
const quotaPerDollar = 500_000;

const faults: readonly Fault[] = [
  { type: 'reset', when: 'before-charge' },
  { type: 'reset', when: 'after-charge' },
  { type: 'cut', bytes: 5 },
  { type: 'empty' },
  { type: 'error', status: 500, charged: true },
  { type: 'error', status: 503 },
  { type: 'error', status: 504, charged: true },
  { type: 'html', status: 502, charged: true },
  { type: 'rate-limit', retryAfter: 0 },
];

const unhandled: unknown[] = [];
process.on('unhandledRejection', (reason) => unhandled.push(reason));

/** Returns numbers between 0 and 1, the same for a seed. */
function createRandom(start: number): () => number {
  let state = start;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

/** Starts a gateway that fails now and then. */
async function startGateway() {
  const emulator = createEmulator();
  const random = createRandom(seed);
  for (const [index, fault] of faults.entries()) {
    // Each of the faults that are left has the same chance.
    const chance = share / faults.length / (1 - (share * index) / faults.length);
    emulator.fail({
      fault,
      when: ({ method }) => method === 'POST' && random() < chance,
      times: Infinity,
    });
  }
  const { url } = await emulator.listen();
  return { emulator, url };
}

interface Service {
  readonly image: (prompt: string) => Promise<unknown>;
  readonly chat: (prompt: string) => Promise<unknown>;
  /** Starts a stream and leaves it. */
  readonly leave: (prompt: string) => Promise<unknown>;
  /** Whether a failed image may be requested again. */
  readonly mayRepeat: (error: unknown) => boolean;
}

const messages = (content: string) => [{ role: 'user' as const, content }];

/** Runs the jobs of a service, ten at a time. */
async function run({ image, chat, leave, mayRepeat }: Service) {
  const durations: number[] = [];
  let failed = 0;
  const queue = Array.from({ length: jobs }, (_, index) => index);
  const work = async (): Promise<void> => {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      const send = [image, chat, leave][job % 3] ?? chat;
      const begun = performance.now();
      for (let attempt = 1; ; attempt += 1) {
        try {
          await send(`job-${job}.`);
          break;
        } catch (error) {
          if (attempt < tries && (send !== image || mayRepeat(error))) continue;
          failed += 1;
          break;
        }
      }
      durations.push(performance.now() - begun);
    }
  };
  await Promise.all(Array.from({ length: 10 }, work));
  durations.sort((one, other) => one - other);
  return { failed, median: durations[Math.floor(durations.length / 2)] ?? 0 };
}

/** Returns what was charged, and the images that were paid for more than once. */
function readBooks({ charges, requests }: Emulator) {
  const jobOf = new Map(
    requests.map(({ id, body }) => [id, /job-\d+\./.exec(JSON.stringify(body))?.[0]]),
  );
  const paid = new Map<string, number>();
  for (const { requestId, operation } of charges) {
    const job = jobOf.get(requestId);
    if (job !== undefined && operation.startsWith('images.')) {
      paid.set(job, (paid.get(job) ?? 0) + 1);
    }
  }
  return {
    charges: charges.length,
    images: paid.size,
    twice: [...paid.values()].filter((count) => count > 1).length,
    dollars: charges.reduce((sum, { amount }) => sum + amount, 0) / quotaPerDollar,
  };
}

const own = await startGateway();
const ledger = memoryLedger();
const client = new Gateway({
  apiKey: own.emulator.apiKey,
  baseURL: own.url,
  logLevel: 'off',
  budget: { limit: 1_000 },
  limits: {},
  retryBudget: null,
});
const ours = await run({
  image: (prompt) =>
    client.images.generate({ model: 'm-image', prompt, size: '64x64' }, { ledger, callId: prompt }),
  chat: (prompt) =>
    client.chat.completions.create({ model: 'm-large', messages: messages(prompt) }),
  async leave(prompt) {
    const stream = await client.chat.completions.create({
      model: 'm-large',
      messages: messages(prompt),
      stream: true,
    });
    for await (const _ of stream) break;
  },
  mayRepeat: (error) => !GatewayError.isInstance(error) || error.outcome !== 'unknown',
});
const { budget, estimate, possible } = await client.account.spent();
const ownBooks = readBooks(own.emulator);
await own.emulator[Symbol.asyncDispose]();

const other = await startGateway();
const openai = new OpenAI({ apiKey: other.emulator.apiKey, baseURL: `${other.url}/v1` });
const theirs = await run({
  image: (prompt) => openai.images.generate({ model: 'm-image', prompt }),
  chat: (prompt) =>
    openai.chat.completions.create({ model: 'm-large', messages: messages(prompt) }),
  async leave(prompt) {
    const stream = await openai.chat.completions.create({
      model: 'm-large',
      messages: messages(prompt),
      stream: true,
    });
    for await (const _ of stream) break;
  },
  mayRepeat: () => true,
});
const otherBooks = readBooks(other.emulator);
await other.emulator[Symbol.asyncDispose]();

const shown = (value: number, digits = 0): string => value.toFixed(digits);
console.log(`${jobs} jobs, faults in ${share * 100} % of the requests, seed ${seed}`);
console.table({
  'jobs without a result': { 'model-gateway': ours.failed, openai: theirs.failed },
  charges: { 'model-gateway': ownBooks.charges, openai: otherBooks.charges },
  'images paid': { 'model-gateway': ownBooks.images, openai: otherBooks.images },
  'images paid twice': { 'model-gateway': ownBooks.twice, openai: otherBooks.twice },
  'US dollars': {
    'model-gateway': shown(ownBooks.dollars, 4),
    openai: shown(otherBooks.dollars, 4),
  },
  'counted by spent()': {
    'model-gateway': `${shown(estimate.value, 4)} to ${shown(estimate.value + possible.value, 4)}`,
  },
  'median of a job, ms': { 'model-gateway': shown(ours.median), openai: shown(theirs.median) },
});

const problems = [
  ownBooks.twice > 0 && `${ownBooks.twice} images were paid twice`,
  (budget?.spent ?? 0) < ownBooks.dollars - 1e-9 &&
    `the budget counts ${budget?.spent} of ${ownBooks.dollars} US dollars`,
  estimate.value + possible.value < ownBooks.dollars - 1e-9 &&
    `spent() counts ${estimate.value} to ${estimate.value + possible.value} of ${ownBooks.dollars}`,
  (budget?.reserved ?? 0) !== 0 && `${budget?.reserved} US dollars are still reserved`,
  unhandled.length > 0 &&
    `${unhandled.length} rejections were not handled: ${String(unhandled[0])}`,
].filter((problem) => problem !== false);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
