import { setTimeout as delay } from 'node:timers/promises';
import { isAlive } from '../../../adapters/node/durable.ts';
import { assumedUnits, computeCost, priceKind } from '../../../resources/account/cost.ts';
import { expectUsage } from '../../../resources/account/budget/request-cost.ts';
import type { CostEstimate, Gateway, Prices } from '../../../index.ts';
import { ToolError } from './errors.ts';
import { jobCost, type JobRecord, type JobRequest } from '../jobs/job.ts';
import type { JobStore } from '../jobs/store.ts';

const operations = {
  create_image: 'images.generate',
  edit_image: 'images.edit',
  create_speech: 'audio.speech.create',
  transcribe_audio: 'audio.transcriptions.create',
  create_video: 'videos.create',
} as const satisfies Record<JobRequest['tool'], string>;

/**
 * Prices in US dollars by model, per image, second of video or other call. They take precedence over the gateway's
 * list.
 */
export type FixedPrices = Readonly<Partial<Record<string, number>>>;

/** Estimates the cost of calls before they are sent. */
export class Estimator {
  readonly #client: Gateway;
  readonly #fixed: FixedPrices;

  constructor(client: Gateway, fixed: FixedPrices) {
    this.#client = client;
    this.#fixed = fixed;
  }

  /** Estimates the cost of a call by the price list, or says why it is unknown. Free. */
  async estimate(model: string, { tool, params }: JobRequest): Promise<CostEstimate> {
    const operation = operations[tool];
    const kind = priceKind(operation);
    const fields = { n: undefined, ...params };
    const units = assumedUnits({ operation, kind, model, ...fields });
    const fixed = this.#fixed[model];
    if (fixed !== undefined) return { amount: { value: fixed * units, unit: 'USD' } };
    let prices: Prices;
    try {
      prices = await this.#client.account.prices();
    } catch (error) {
      return { reason: error instanceof Error ? error.message : String(error) };
    }
    const expected = expectUsage(kind, { ...params });
    return computeCost(prices, {
      model,
      units,
      seconds: kind === 'video' ? units : undefined,
      characters: kind === 'speech' ? expected?.input.inputTokens : undefined,
      usage: expected?.total,
    });
  }
}

/** Limits in US dollars; `undefined` for none. */
export interface Budgets {
  /** For the jobs that this process starts. */
  readonly process: number | undefined;
  /** For the jobs of all processes of this user in a day, in UTC. */
  readonly day: number | undefined;
}

const sum = (records: readonly JobRecord[]): number =>
  records.reduce((total, record) => total + (jobCost(record) ?? 0), 0);

/** Returns whether a job was recorded by a process that ended before it was admitted. It was not started. */
const isForgotten = ({ state, admitted, charged, owner, updatedAt }: JobRecord): boolean =>
  state === 'queued' &&
  admitted !== true &&
  charged === undefined &&
  isAlive(owner, updatedAt) === false;

const startOfDay = (): number => new Date().setUTCHours(0, 0, 0, 0);

/** Returns whether a record was created before another one, in an order that all processes agree on. */
const isBefore = (record: JobRecord, other: JobRecord): boolean =>
  record.createdAt === other.createdAt
    ? record.callId < other.callId
    : record.createdAt < other.createdAt;

/** The longest time that a job waits for others to give way, and between two looks, in milliseconds. */
const maxAdmission = 2_000;
const admissionInterval = 50;

/** Keeps the spending of jobs within budgets. Costs are those in the records: reported, or expected. */
export class Spending {
  readonly #store: JobStore;
  readonly #budgets: Budgets;
  /** The calls that this process has started, or is about to. */
  readonly #callIds = new Set<string>();

  constructor(store: JobStore, budgets: Budgets) {
    this.#store = store;
    this.#budgets = budgets;
  }

  /**
   * Checks that a recorded job fits into the budgets. Of two jobs that are recorded at the same time, at least one
   * sees the other, so several processes cannot spend the same money.
   *
   * @throws `ToolError` if it does not fit, or its cost is unknown
   */
  async check(job: JobRecord): Promise<void> {
    this.#callIds.add(job.callId);
    const { process: processBudget, day } = this.#budgets;
    if (processBudget === undefined && day === undefined) return;
    if (job.estimate === undefined) {
      throw new ToolError(
        `The cost of ${job.model} is unknown, so it cannot be kept within the budget. Restart the server with --price ${job.model}=<USD>.`,
      );
    }
    for (const deadline = Date.now() + maxAdmission; ; await delay(admissionInterval)) {
      const others = (await this.#store.list()).filter(
        (other) => other.callId !== job.callId && !isForgotten(other),
      );
      const problem = this.#findProblem(job.estimate, others);
      if (problem === undefined) return;
      // Jobs that were recorded at the same time may have to give way to this one.
      const earlier = others.filter((other) => isBefore(other, job));
      const isFirst = this.#findProblem(job.estimate, earlier) === undefined;
      if (!isFirst || Date.now() >= deadline) throw new ToolError(problem);
    }
  }

  /** Counts a call that another process has started, and that this one continues, in the budget of this process. */
  adopt(callId: string): void {
    this.#callIds.add(callId);
  }

  /** Returns why a job doesn't fit into the budgets next to other jobs; `undefined` if it does. */
  #findProblem(estimate: number, others: readonly JobRecord[]): string | undefined {
    const { process: processBudget, day } = this.#budgets;
    const spentHere = sum(others.filter(({ callId }) => this.#callIds.has(callId)));
    const spentToday = sum(others.filter(({ createdAt }) => createdAt >= startOfDay()));
    for (const [limit, spent, name] of [
      [processBudget, spentHere, 'of this server'],
      [day, spentToday, 'of today'],
    ] as const) {
      if (limit === undefined || spent + estimate <= limit * (1 + 1e-9)) continue;
      return `This call is expected to cost $${round(estimate)}, and $${round(Math.max(0, limit - spent))} of the budget ${name} ($${round(limit)}) is left. Nothing was sent.`;
    }
    return undefined;
  }
}

/** Rounds an amount for a message. */
export const round = (dollars: number): number => Number(dollars.toPrecision(4));
