import * as fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import {
  BudgetError,
  type Gateway,
  GatewayError,
  type GatewayOptions,
  memoryLedger,
  type SubmitLedger,
  type VideoTask,
} from '../../../src/index.ts';
import {
  type Charge,
  type Emulator,
  type EmulatorOptions,
  type Fault,
  markers,
  type ReceivedRequest,
} from '../../../src/testing/index.ts';
import { emulated } from '../../helpers/clients.ts';
import { fakeWaitingTime, settle } from '../../helpers/fake-time.ts';

fakeWaitingTime();

// CI runs more cases with a seed by the clock, which it prints.
const seed = Number(process.env['CHARGES_SEED'] ?? 44);
const numRuns = Number(process.env['CHARGES_RUNS'] ?? 60);

/** Quota per US dollar. */
const dollar = 500_000;
/** The emulator's price of one image, or of one second of video. */
const price = 0.002;
const seconds = 4;
/** The most that one request can cost: three images, or a video. */
const most = seconds * price;
const tolerance = 1e-9;

const faults: readonly Fault[] = [
  { type: 'reset', when: 'before-body' },
  { type: 'reset', when: 'before-charge' },
  { type: 'reset', when: 'after-charge' },
  { type: 'hang', charged: true },
  { type: 'hang' },
  { type: 'slow', milliseconds: 900 },
  { type: 'cut', bytes: 5 },
  { type: 'stall', bytes: 5 },
  { type: 'empty' },
  { type: 'error', status: 400 },
  { type: 'error', status: 429 },
  { type: 'error', status: 499, charged: true },
  { type: 'error', status: 500, charged: true },
  { type: 'error', status: 503 },
  { type: 'error', status: 504, charged: true },
  { type: 'error', status: 404, code: 'model_not_found' },
  { type: 'bare', status: 429 },
  { type: 'bare', status: 502, charged: true },
  { type: 'html', status: 200, charged: true },
  { type: 'redirect', status: 307 },
  { type: 'rate-limit', retryAfter: 2 },
  { type: 'vendor-refusal', status: 429 },
  { type: 'error-in-200' },
];

const never = new Promise<never>(() => {});

/** Ledgers that fail in one method. */
const ledgers: Readonly<Record<string, () => SubmitLedger>> = {
  works: memoryLedger,
  'claim hangs': () => ({ ...memoryLedger(), claim: () => never }),
  'claim fails': () => ({ ...memoryLedger(), claim: () => Promise.reject(new Error('down')) }),
  'accept hangs': () => ({ ...memoryLedger(), accept: () => never }),
  'accept fails': () => ({ ...memoryLedger(), accept: () => Promise.reject(new Error('down')) }),
  'finish hangs': () => ({ ...memoryLedger(), finish: () => never }),
};

const orNone = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, arbitrary);

const callArbitrary = fc.record({
  kind: fc.constantFrom('generate', 'edit', 'create', 'createAndWait', 'remixAndWait'),
  fails: fc.boolean(),
  n: fc.integer({ min: 1, max: 3 }),
  faults: fc.array(fc.constantFrom(...faults), { maxLength: 3 }),
  ledger: orNone(fc.constantFrom(...Object.keys(ledgers))),
  /** Runs the job twice under one call id, as a queue does. */
  isRepeated: fc.boolean(),
  maxRetries: fc.integer({ min: 0, max: 3 }),
  retryUnknownOutcome: fc.constantFrom(undefined, undefined, false, true),
  timeout: orNone(fc.constantFrom(300, 5_000)),
  totalTimeout: orNone(fc.constantFrom(500, 20_000)),
  abortAfter: orNone(fc.constantFrom(0, 400, 2_500)),
});

type Call = typeof callArbitrary extends fc.Arbitrary<infer T> ? T : never;

const setupArbitrary = fc.record({
  idempotency: fc.constantFrom(
    null,
    null,
    { header: 'Idempotency-Key' },
    { header: 'Idempotency-Key', honored: true },
  ),
  hasFallback: fc.boolean(),
  hasPrices: fc.boolean(),
  limit: fc.constantFrom(2 * most, 5 * most, 1, 1),
});

type Setup = typeof setupArbitrary extends fc.Arbitrary<infer T> ? T : never;

const quirksArbitrary = fc.record({
  imageTasks: fc.constantFrom('none', 'list', 'several', 'object', 'accepted', 'data', 'text'),
  videoRefund: fc.boolean(),
  requestIdHeader: fc.boolean(),
});

/** The model that takes over a call, if the client has fallbacks. */
const fallback = { 'm-image': 'm-image-2', 'm-video': 'm-video-2' } as const;
const models = [...Object.keys(fallback), ...Object.values(fallback)].map((id) => ({
  id,
  type: id.includes('image') ? 'image' : 'video',
}));

const perCall = Object.fromEntries(
  models.map(({ id, type }) => [id, type === 'image' ? price : most]),
);

function optionsFor({ idempotency, hasPrices, limit }: Setup): GatewayOptions {
  const budget = { limit, perCall: hasPrices ? perCall : undefined };
  return { budget, idempotency, timeout: 30_000 };
}

/** A call, which a queue may run twice under one call id. */
interface Job {
  readonly call: Call;
  readonly index: number;
  readonly ledger: SubmitLedger | undefined;
}

async function run(
  client: Gateway,
  { call, index, ledger }: Job,
  { hasFallback }: Setup,
  original: VideoTask,
): Promise<unknown> {
  const { kind, fails, n, maxRetries, retryUnknownOutcome, timeout, abortAfter } = call;
  const prompt = `call-${index}. ${fails ? `${markers.fail} ` : ''}A boat`;
  const { signal, ...controller } = abortIn(abortAfter);
  // Without totalTimeout, a call waits for its ledger as long as that takes.
  const isHanging = call.ledger?.endsWith('hangs') === true;
  const totalTimeout = call.totalTimeout ?? (isHanging ? 20_000 : null);
  const limits = { maxRetries, timeout, totalTimeout, signal };
  const options = { retryUnknownOutcome, ledger, callId: `job-${index}`, ...limits };
  const withFallback = (model: keyof typeof fallback) =>
    hasFallback ? { ...options, fallback: [fallback[model]] } : options;
  const image = { model: 'm-image', prompt, n };
  const video = { model: 'm-video', prompt, seconds };
  try {
    switch (kind) {
      case 'generate':
        return await client.images.generate(image, withFallback('m-image'));
      case 'edit': {
        const edit = { ...image, image: 'https://pictures.test/a.png' };
        return await client.images.edit(edit, withFallback('m-image'));
      }
      case 'create':
        return await client.videos.create(video, withFallback('m-video'));
      case 'createAndWait':
        return await client.videos.createAndWait(video, withFallback('m-video'));
      default:
        return await client.videos.remixAndWait(original, { prompt }, options);
    }
  } finally {
    controller.clear();
  }
}

/** Returns a signal that is aborted after a time, if there is one. */
function abortIn(milliseconds: number | undefined) {
  const controller = new AbortController();
  const timer =
    milliseconds === undefined ? undefined : setTimeout(() => controller.abort(), milliseconds);
  return { signal: controller.signal, clear: () => clearTimeout(timer) };
}

const isFrom = ({ body }: Pick<ReceivedRequest, 'body'>, index: number): boolean =>
  JSON.stringify(body).includes(`call-${index}.`);

/** Returns the charges of a call. If the gateway honours the key, requests with the same key count once. */
function chargesOf(emulator: Emulator, index: number, isHonored: boolean): readonly Charge[] {
  const own = emulator.requests.filter((request) => isFrom(request, index));
  const keys = new Map(
    own.map(({ id, headers }) => [id, (isHonored && headers['idempotency-key']) || id]),
  );
  const first = new Map<string, Charge>();
  for (const charge of emulator.charges) {
    const key = keys.get(charge.requestId);
    if (key !== undefined && !first.has(key)) first.set(key, charge);
  }
  return [...first.values()];
}

/** The attempts besides one that may be charged, by the options of the call. */
function extraAttempts({ idempotency }: Setup, { retryUnknownOutcome, maxRetries }: Call): number {
  if (idempotency?.honored === true) return 0;
  return idempotency !== null || retryUnknownOutcome === true ? maxRetries : 0;
}

const handleOf = (error: GatewayError): unknown => Reflect.get(error, 'ref') ?? error.callId;

const dollarsOf = (charges: readonly Charge[]): number =>
  charges.reduce((sum, { amount }) => sum + amount, 0) / dollar;

const isKept = ({ refundedAt }: Charge): boolean => refundedAt === undefined;

/** A client, its emulator, and what its calls have cost so far. */
class Run {
  readonly #setup: Setup;
  readonly #isHonored: boolean;
  readonly #emulator: Emulator;
  readonly #client: Gateway;
  readonly #failures: { readonly error: GatewayError; readonly index: number }[] = [];
  readonly #jobs: Job[] = [];
  /** In US dollars. */
  #paid = 0;

  constructor(setup: Setup, quirks: EmulatorOptions['quirks']) {
    const made = emulated(optionsFor(setup), { models, quirks: { ...quirks, usageLogLimit: 0 } });
    this.#setup = setup;
    this.#isHonored = setup.idempotency?.honored === true;
    this.#emulator = made.emulator;
    this.#client = made.client;
  }

  /** Makes calls, a number of them at a time, and checks each and the budget. */
  async makeAll(calls: readonly Call[], concurrency: number): Promise<void> {
    const free = this.#client.withOptions({ budget: null });
    const original = await free.videos.create({ model: 'm-video', prompt: 'A boat', seconds });
    for (let start = 0; start < calls.length; start += concurrency) {
      const jobs = calls.slice(start, start + concurrency).map((call, offset): Job => {
        const ledger = call.ledger === undefined ? undefined : ledgers[call.ledger]?.();
        return { call, index: start + offset, ledger };
      });
      this.#jobs.push(...jobs);
      const { error } = await settle(Promise.all(jobs.map((job) => this.#make(job, original))));
      if (error !== undefined) throw error;
      // With a ledger, a submission goes on after its call was stopped.
      await settle(this.#client.settled());
      await this.#checkBudget(jobs);
    }
  }

  #chargesOf(index: number): readonly Charge[] {
    return chargesOf(this.#emulator, index, this.#isHonored);
  }

  /** Makes a call, twice if a queue repeats it, and checks what it was charged. */
  async #make(job: Job, original: VideoTask): Promise<void> {
    const { call, index, ledger } = job;
    const active = call.faults.map((fault) =>
      this.#emulator.fail({
        fault,
        operation: ['images.generate', 'images.edit', 'videos.create', 'videos.remix'],
        when: (request) => isFrom(request, index),
      }),
    );
    for (let round = 0; round < (ledger && call.isRepeated ? 2 : 1); round += 1) {
      const before = this.#chargesOf(index).length;
      const error: unknown = await run(this.#client, job, this.#setup, original).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (error === undefined) continue;
      if (!GatewayError.isInstance(error)) throw error;
      this.#failures.push({ error, index });
      if (this.#chargesOf(index).length === before) continue;
      expect(BudgetError.isInstance(error)).toBe(false);
      expect(error).toMatchObject({ outcome: 'unknown' });
      expect(handleOf(error)).toBeTruthy();
    }
    for (const fault of active) fault.remove();
    const largest = 1 + extraAttempts(this.#setup, call);
    expect(this.#chargesOf(index).length).toBeLessThanOrEqual(largest);
  }

  async #checkBudget(latest: readonly Job[]): Promise<void> {
    const { budget } = await this.#client.account.spent();
    const paid = dollarsOf(this.#jobs.flatMap(({ index }) => this.#chargesOf(index)));
    expect(budget?.reserved).toBe(0);
    expect(budget?.spent).toBeGreaterThanOrEqual(paid - tolerance);
    // Each call in progress may exceed the limit by its attempts besides one.
    const extra = latest.reduce((sum, { call }) => sum + extraAttempts(this.#setup, call), 0);
    const limit = Math.max(this.#setup.limit, this.#paid) + extra * most;
    expect(paid).toBeLessThanOrEqual(limit + tolerance);
    this.#paid = paid;
  }

  /** Looks up each failure, and checks that the budget still counts all that was not refunded. */
  async settleAll(): Promise<void> {
    await vi.advanceTimersByTimeAsync(15_000);
    for (const { error, index } of this.#failures) {
      const { verdict, isFinal } = await this.#client.account.settle(error);
      const made = chargesOf(this.#emulator, index, false);
      if (verdict === 'not_charged') expect(made).toEqual([]);
      if (verdict === 'refunded' && isFinal) expect(made.filter(isKept)).toEqual([]);
      if (verdict === 'charged') expect(made.filter(isKept)).not.toEqual([]);
    }
    const { budget } = await this.#client.account.spent();
    const kept = this.#jobs.flatMap(({ index }) => this.#chargesOf(index)).filter(isKept);
    expect(budget?.spent).toBeGreaterThanOrEqual(dollarsOf(kept) - tolerance);
  }
}

test('no call for images or videos is charged twice or in silence, and the budget holds', async () => {
  await fc.assert(
    fc.asyncProperty(
      setupArbitrary,
      quirksArbitrary,
      fc.integer({ min: 1, max: 4 }),
      fc.array(callArbitrary, { minLength: 1, maxLength: 8 }),
      async (setup, quirks, concurrency, calls) => {
        const started = new Run(setup, quirks);
        await started.makeAll(calls, concurrency);
        await started.settleAll();
      },
    ),
    { numRuns, seed },
  );
}, 600_000);
