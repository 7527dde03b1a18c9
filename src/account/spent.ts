import type { CallTotal, Totals, UsageSum } from '../observing/totals.ts';
import type { Budget } from '../options.ts';
import { BudgetState } from './budget.ts';
import { costOf, tokensIn } from './cost.ts';
import type { Amount, CostEstimate, Prices, Spent, SpentLine } from './types.ts';
import { needsRatios, unitsOf } from './units.ts';

const unread = 'the price list was not read yet; call account.prices() once';

const nothing: CostEstimate = { amount: { value: 0, unit: 'USD' } };

/** All calls of one operation to one model. */
class Sum {
  readonly operation: string;
  readonly model: string | undefined;
  #calls = 0;
  #units = 0;
  /** How many told neither their usage nor, of videos, their ratios. */
  #silent = 0;
  #unknown = 0;
  #unknownUnits = 0;
  readonly #usage: UsageSum = {};

  constructor({ operation, model }: CallTotal) {
    this.operation = operation;
    this.model = model;
  }

  add(total: CallTotal, totals: Totals): void {
    const { operation, ratios, outcome, calls, isTold, usage } = total;
    const units = calls * unitsOf(total);
    totals.sum(usage, this.#usage);
    if (outcome === undefined) {
      this.#calls += calls;
      this.#units += units;
      const isPriced = needsRatios(operation) ? ratios !== null : isTold;
      if (!isPriced) this.#silent += calls;
    } else {
      this.#unknown += calls;
      this.#unknownUnits += units;
    }
  }

  /** What it costs, and how many of its calls are not in that. */
  price(
    prices: Prices | undefined,
    group: string | undefined,
  ): { readonly line: SpentLine; readonly unpriced: number } {
    const { operation, model } = this;
    const costs = (work: Partial<Parameters<typeof costOf>[1]>): CostEstimate =>
      prices === undefined ? { why: unread } : costOf(prices, { model, ...work }, group);
    const { output, audioOutput, ...before } = tokensIn(this.#usage);
    const input = Object.values(before).reduce((sum, count) => sum + count, 0);
    const tokens = { input, output: output + audioOutput };
    const isUsed = this.#calls > 0 || tokens.input + tokens.output > 0;
    const estimate = isUsed ? costs({ units: this.#units, usage: this.#usage }) : nothing;
    const possible = this.#unknown > 0 ? costs({ units: this.#unknownUnits }) : nothing;
    const isByToken = prices?.models.find((one) => one.model === model)?.paidBy === 'token';
    const silent = isByToken || needsRatios(operation) ? this.#silent : 0;
    const [calls, unknown] = [this.#calls, this.#unknown];
    return {
      line: { operation, model, calls, unknown, tokens, estimate, possible },
      unpriced:
        (estimate.amount === undefined ? calls : silent) +
        (possible.amount === undefined ? unknown : 0),
    };
  }
}

const sumOf = (costs: readonly CostEstimate[]): Amount => ({
  value: costs.reduce((sum, { amount }) => sum + (amount?.value ?? 0), 0),
  unit: 'USD',
});

/** What the calls of a client have come to. */
export function spentOf(
  totals: Totals,
  prices: Prices | undefined,
  budget: Budget | null | undefined,
  group: string | undefined = budget?.group,
): Spent {
  const sums = new Map<string, Sum>();
  for (const total of totals.lines.values()) {
    const { operation, model, outcome } = total;
    if (outcome === 'not_sent' || outcome === 'rejected') continue;
    const key = JSON.stringify([operation, model]);
    const sum = sums.get(key) ?? new Sum(total);
    sums.set(key, sum);
    sum.add(total, totals);
  }
  const all = [...sums.values()].map((sum) => sum.price(prices, group));
  const lines = all.map(({ line }) => line);
  const { spent, reserved } = budget ? BudgetState.of(budget) : { spent: 0, reserved: 0 };
  return {
    lines,
    estimate: sumOf(lines.map(({ estimate }) => estimate)),
    possible: sumOf(lines.map(({ possible }) => possible)),
    unpriced: all.reduce((sum, { unpriced }) => sum + unpriced, 0),
    budget: budget ? { limit: budget.limit, spent, reserved } : undefined,
  };
}
