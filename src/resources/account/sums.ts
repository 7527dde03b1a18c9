import { dollars } from '../../answers/cost.ts';
import { type CallRecord, isCounted, type Report } from './record.ts';
import {
  addUsage,
  assumedUnits,
  computeCost,
  findModel,
  hasCounts,
  priceKind,
  readUnits,
  type UsageSum,
  type Work,
} from './cost.ts';
import type { CostEstimate, Prices, SpentLine } from './types.ts';

const unread = 'the price list was not read yet; call account.prices() once';

/** Estimates the cost of some work of an operation and a model. */
type Pricing = (work: Omit<Work, 'model'>) => CostEstimate;

/** What determines the cost of a response. */
export interface Item extends Partial<Report> {
  /** The multiplier of the price; `undefined` if it cannot be read. */
  readonly units: number | undefined;
}

/** A sum of items: reported costs, and the rest, whose cost comes from the price list. */
class Total {
  /** The items with a reported cost, and that cost in US dollars. */
  reported = 0;
  #reportedCost = 0;
  #listed = 0;
  #units = 0;
  readonly #usage: UsageSum = {};
  /** The number of items in the sum `#usage`. */
  #counted = 0;
  /** The number of listed items without usage. */
  #silent = 0;
  /** The number of listed items without readable ratios, although the price depends on them. */
  #unread = 0;

  /** @param times - How often to add the item; negative numbers subtract it. */
  add({ cost, usage, units }: Item, times: number): void {
    if (cost !== undefined) {
      this.reported += times;
      this.#reportedCost += times * cost;
      return;
    }
    this.#listed += times;
    if (usage !== undefined) addUsage(this.#usage, usage, times);
    const hasUsage = usage !== undefined && hasCounts(usage);
    if (hasUsage) this.#counted += times;
    if (units === undefined) this.#unread += times;
    else {
      this.#units += times * units;
      if (!hasUsage) this.#silent += times;
    }
  }

  /** Returns the cost, and the number of items that are not included in it. */
  price(pricing: Pricing, isVideo: boolean, isByToken: boolean) {
    const units = this.#units;
    const work = { units, seconds: isVideo ? units : undefined, calls: this.#counted };
    const listed: CostEstimate =
      this.#listed > 0 ? pricing({ ...work, usage: this.#usage }) : { amount: dollars(0) };
    const missing = this.#unread + (isByToken ? this.#silent : 0);
    return {
      cost:
        this.reported === 0
          ? listed
          : { amount: dollars(this.#reportedCost + (listed.amount?.value ?? 0)) },
      unpriced: listed.amount === undefined ? this.#listed : missing,
    };
  }
}

/** All calls of one operation to one model. */
export class Sum {
  readonly operation: string;
  readonly model: string | undefined;
  #calls = 0;
  #unknown = 0;
  #lost = 0;
  #input = 0;
  #output = 0;
  /** Calls with a response, and those that failed after the response had reported its usage. */
  readonly #known = new Total();
  /** Attempts without a response that may have been charged. */
  readonly #possible = new Total();

  constructor(operation: string, model: string | undefined) {
    this.operation = operation;
    this.model = model;
  }

  /** Adds a call that succeeded at once, or subtracts it. */
  addAnswer(item: Item, sign: 1 | -1): void {
    this.#calls += sign;
    this.#input += sign * (item.usage?.inputTokens ?? 0);
    this.#output += sign * (item.usage?.outputTokens ?? 0);
    this.#known.add(item, sign);
  }

  /** Adds any other call, or subtracts it. */
  add(call: CallRecord, sign: 1 | -1): void {
    const { end, lost, isFree } = call;
    if (end === undefined) return;
    const { outcome, usage, cost, expected } = end;
    const item: Item = { cost, usage: expected ?? usage, units: readUnits(call) };
    const likely: Item = { ...item, units: item.units ?? assumedUnits(call) };
    this.#lost += sign * lost;
    if (lost > 0) this.#possible.add(likely, sign * lost);
    if (isFree) return;
    if (outcome === undefined) this.#calls += sign;
    else this.#unknown += sign;
    this.#input += sign * (usage?.inputTokens ?? 0);
    this.#output += sign * (usage?.outputTokens ?? 0);
    const isKnown = outcome === undefined || cost !== undefined || hasCounts(usage ?? {});
    if (isKnown) this.#known.add(item, sign);
    else this.#possible.add(likely, sign);
  }

  /** Returns the cost, and the number of calls and attempts that are not included in it. */
  price(
    prices: Prices | undefined,
    group: string | undefined,
  ): { readonly line: SpentLine; readonly unpriced: number } {
    const { operation, model } = this;
    const pricing: Pricing = (work) =>
      prices === undefined ? { reason: unread } : computeCost(prices, { model, ...work }, group);
    const isVideo = priceKind(operation) === 'video';
    const isByToken = prices?.models.find((one) => one.model === model)?.billedPer === 'token';
    const known = this.#known.price(pricing, isVideo, isByToken);
    const possible = this.#possible.price(pricing, isVideo, isByToken);
    const line: SpentLine = {
      operation,
      model,
      calls: this.#calls,
      unknown: this.#unknown,
      lost: this.#lost,
      reported: this.#known.reported,
      tokens: { input: this.#input, output: this.#output },
      estimate: known.cost,
      possible: possible.cost,
    };
    return { line, unpriced: known.unpriced + possible.unpriced };
  }
}

/** The sums of the calls of clients that share state, in the order of their first calls. */
export class Sums {
  readonly all: Sum[] = [];
  readonly #byOperation = new Map<string, Map<string | undefined, Sum>>();

  /** Returns the sum of the calls with the same operation and model. */
  of(call: CallRecord): Sum {
    // Undocumented routes are counted by method, because ids in their paths would create countless entries.
    const methodEnd = call.operation.indexOf(' ');
    const operation = methodEnd === -1 ? call.operation : call.operation.slice(0, methodEnd);
    const model = findModel(call);
    const byModel = this.#byOperation.get(operation) ?? new Map<string | undefined, Sum>();
    const known = byModel.get(model);
    if (known !== undefined) return known;
    const sum = new Sum(operation, model);
    this.all.push(sum);
    this.#byOperation.set(operation, byModel.set(model, sum));
    return sum;
  }

  /** Adds a call that has ended, unless it is added already or provably free. */
  add(call: CallRecord): void {
    if (call.isSummed || !isCounted(call)) return;
    call.isSummed = true;
    this.of(call).add(call, 1);
  }

  /** Adds a call again after a change. */
  update(call: CallRecord, change: () => void): void {
    if (call.isSummed) this.of(call).add(call, -1);
    call.isSummed = false;
    change();
    this.add(call);
  }
}
