import { parseJSON } from '../answers/objects.ts';
import { checkNumber, checkObject, checkWord } from '../check.ts';
import { delay, followSignal } from '../http/abort.ts';
import type { LogicalCall } from '../http/call.ts';
import type { ClientSettings } from '../http/settings.ts';
import type { CallRecord } from '../observing/calls.ts';
import type { Budget } from '../options.ts';
import { addUsage, costOf, modelOf, needsRatios, productOf, unitsOf, type Work } from './cost.ts';
import { BudgetError } from './errors.ts';
import type { JsonObject } from '../types.ts';
import type { CostEstimate, Prices } from './types.ts';

type Log = ClientSettings['log'];

/** How many seconds a video is taken for whose length is told neither by its parameters nor by others. */
const usualSeconds = 8;

/** Above this share of the limit the log warns. */
const warnFrom = 0.8;

/** Sums of many small amounts are a little off. */
const tolerance = 1e-9;

const shown = (dollars: number): string => `${Number(dollars.toPrecision(4))} USD`;

/** What a submission of a video was multiplied by. */
interface VideoRatios {
  readonly seconds: number | undefined;
  /** All ratios but that of the seconds: the largest product so far. */
  readonly others: number;
}

const states = new WeakMap<Budget, BudgetState>();

/** What is to be done when a call ends for which something is reserved. */
const ends = new WeakMap<CallRecord, () => void>();

/** What was spent of a budget, by all clients that have it. */
export class BudgetState {
  /** In US dollars, as what is reserved. */
  spent = 0;
  reserved = 0;
  #hasWarned = false;
  readonly #budget: Budget;
  /** What the videos of a model were multiplied by. */
  readonly #videos = new Map<string | undefined, VideoRatios>();
  /** The models of which a submission was answered, which tells that if anything does. */
  readonly #answered = new Set<string | undefined>();
  /** The end of the first submission of a model. */
  readonly #firsts = new Map<string | undefined, Promise<void>>();
  /** The dearest call of a model whose cost is known: for those that broke off. */
  readonly #dearest = new Map<string | undefined, number>();
  readonly #told = new Set<string | undefined>();

  private constructor(budget: Budget) {
    const { onMissingPrice = 'refuse', perCall } = budget;
    checkWord('budget.onMissingPrice', onMissingPrice, ['refuse', 'allow']);
    checkObject('budget.perCall', perCall);
    for (const [model, most] of Object.entries(perCall ?? {})) {
      checkNumber(`budget.perCall["${model}"]`, most, 0);
    }
    this.#budget = budget;
  }

  static of(budget: Budget): BudgetState {
    const state = states.get(budget) ?? new BudgetState(budget);
    states.set(budget, state);
    return state;
  }

  /**
   * Reserves what a call may cost, until it ends.
   *
   * @param readPrices - Reads the price list, or uses one that is fresh.
   * @throws `BudgetError` when it may not be sent
   */
  async reserve(call: LogicalCall, readPrices: () => Promise<Prices>): Promise<void> {
    const { record, spec, client, scope } = call;
    // A request of the same call was sent before.
    if (ends.has(record)) return;
    const prices = await readPrices().then(
      (list): PricesRead => ({ list }),
      (error: unknown): PricesRead => ({ error }),
    );
    const model = modelOf(record);
    const isVideo = needsRatios(record.operation) && this.#ownPrice(model) === undefined;
    const ofFirst = () => (isVideo ? this.#firsts.get(model) : undefined);
    for (let first = ofFirst(); first; first = ofFirst()) await this.#wait(first, model, call);
    // Nobody waits for it any more, and it is not sent.
    if (scope.isOver) return;
    // Nothing is awaited from here on, so calls at the same time see what the others have reserved.
    const cost = this.#costBefore(prices, call);
    const name = `${spec.operation}()${model === undefined ? '' : ` with ${model}`}`;
    this.#check(name, cost, prices);
    const amount = cost.amount?.value ?? 0;
    this.reserved += amount;
    this.#warn(client.log);
    // The first video of a model goes alone: what the others may cost is known from its answer on.
    let end: (() => void) | undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    if (isVideo && !this.#answered.has(model)) this.#firsts.set(model, ended);
    ends.set(record, () => {
      this.reserved -= amount;
      this.spent += this.#costAfter(prices, record, amount, client.log);
      this.#warn(client.log);
      this.#pass(model, ended);
      end?.();
    });
  }

  /** To be told of each call that ends. */
  static end(call: CallRecord): void {
    ends.get(call)?.();
  }

  /** Waits for the answer to the first video of a model; not for one that nobody reads. */
  async #wait(
    first: Promise<void>,
    model: string | undefined,
    { settings, scope }: LogicalCall,
  ): Promise<void> {
    const { signal } = scope.controller;
    const waiting = new AbortController();
    const stop = followSignal(signal, waiting);
    const late = delay(settings.timeout, waiting.signal).then(
      () => this.#pass(model, first),
      () => signal.throwIfAborted(),
    );
    try {
      await Promise.race([first, late]);
    } finally {
      stop();
      waiting.abort();
    }
  }

  #pass(model: string | undefined, first: Promise<void>): void {
    if (this.#firsts.get(model) === first) this.#firsts.delete(model);
  }

  /** What the caller says that a call of a model costs at most. */
  #ownPrice(model: string | undefined): number | undefined {
    const { perCall = {} } = this.#budget;
    return model !== undefined && Object.hasOwn(perCall, model) ? perCall[model] : undefined;
  }

  /** What a call may cost, as far as that is known before it is sent. */
  #costBefore(prices: PricesRead, { record, params, spec }: LogicalCall): CostEstimate {
    const model = modelOf(record);
    const isCharged = spec.charge === 'charged';
    const { group } = this.#budget;
    const own = this.#ownPrice(model);
    if (own !== undefined && isCharged) return dollars(own * unitsOf(record));
    const isVideo = needsRatios(record.operation);
    const units = isVideo ? this.#videoUnits(model, params) : unitsOf(record);
    const known = price(prices, { model, units }, group);
    if (known.amount !== undefined || isCharged) return known;
    // What is paid by the token is counted afterwards, if its price is known at all.
    const usage = { prompt_tokens: 1, completion_tokens: 1 };
    const later = price(prices, { model, usage }, group);
    return later.amount === undefined ? later : dollars(0);
  }

  /** By what the price of a video may be multiplied: as others of its model were, else its seconds. */
  #videoUnits(model: string | undefined, params: JsonObject): number {
    const asked = Number(params['seconds'] ?? params['duration']);
    const known = this.#videos.get(model);
    if (known === undefined) return asked || usualSeconds;
    return known.others * (known.seconds === undefined ? 1 : asked || known.seconds);
  }

  /** @throws `BudgetError` when a call may not be sent */
  #check(name: string, { amount, why }: CostEstimate, prices: PricesRead): void {
    const { spent, reserved } = this;
    const { limit, onMissingPrice = 'refuse' } = this.#budget;
    const facts = { limit, spent, reserved, cost: amount?.value };
    if (amount === undefined && onMissingPrice === 'refuse') {
      const advice =
        'Nothing was sent. Give budget.perCall for the model, or onMissingPrice: "allow" to send it uncounted.';
      const cause = 'list' in prices ? undefined : prices.error;
      const message = `${name} has no price that could be kept within the budget: ${why}.`;
      throw new BudgetError(message, advice, { ...facts, reason: 'price' }, cause);
    }
    const taken = spent + reserved;
    const needed = taken + (amount?.value ?? 0);
    const isUsedUp = taken >= limit * (1 - tolerance);
    if (needed <= limit * (1 + tolerance) && !isUsedUp) return;
    const wanted = amount?.value ? ` it may cost ${shown(amount.value)}, and` : '';
    const waiting = reserved > 0 ? ` and ${shown(reserved)} reserved for calls under way` : '';
    throw new BudgetError(
      `${name} would pass the budget:${wanted} of ${shown(limit)} ${shown(spent)} are spent${waiting}.`,
      `Nothing was sent. ${reserved > 0 ? 'Wait for the calls under way, or raise' : 'Raise'} budget.limit.`,
      { ...facts, reason: 'limit' },
    );
  }

  /** What a call has cost, or may have cost. */
  #costAfter(prices: PricesRead, call: CallRecord, reserved: number, log: Log): number {
    const { operation, answer } = call;
    const { outcome, usage = {} } = call.end ?? {};
    const ratios = answer?.ratios ?? null;
    const model = modelOf(call);
    if (!call.sentAt || outcome === 'not_sent' || outcome === 'rejected') return 0;
    if (answer) this.#answered.add(model);
    this.#learn(model, ratios);
    const work = { model, units: unitsOf(call), usage: addUsage(usage) };
    const known = price(prices, work, this.#budget.group);
    // A video is multiplied by what only its answer tells; without one it counts as reserved.
    const isTold = ratios !== null || !needsRatios(operation);
    if (known.amount !== undefined && isTold) {
      const { value } = known.amount;
      this.#dearest.set(model, Math.max(value, this.#dearest.get(model) ?? 0));
      return outcome === 'unknown' ? Math.max(value, reserved) : value;
    }
    if (reserved > 0) return reserved;
    const dearest = this.#dearest.get(model);
    if (dearest === undefined && !this.#told.has(model)) {
      this.#told.add(model);
      const message = `The budget does not count ${operation}() with ${model}: ${known.why}`;
      log.write('warn', message, { operation, model });
    }
    return dearest ?? 0;
  }

  #learn(model: string | undefined, ratios: string | null): void {
    if (ratios === null) return;
    const read: { readonly seconds?: unknown } = Object(parseJSON(ratios));
    const seconds = Number(read.seconds) || undefined;
    const others = productOf(ratios) / (seconds ?? 1);
    const before = this.#videos.get(model)?.others ?? 0;
    this.#videos.set(model, { seconds, others: Math.max(others, before) });
  }

  #warn(log: Log): void {
    const { spent, reserved } = this;
    const { limit } = this.#budget;
    if (this.#hasWarned || spent + reserved < limit * warnFrom) return;
    this.#hasWarned = true;
    const message = `80 % of the budget are used: ${shown(spent + reserved)} of ${shown(limit)}`;
    log.write('warn', message, { limit, spent, reserved });
  }
}

const dollars = (value: number): CostEstimate => ({ amount: { value, unit: 'USD' } });

/** The price list, or why there is none. */
type PricesRead = { readonly list: Prices } | { readonly error: unknown };

function price(prices: PricesRead, work: Work, group: string | undefined): CostEstimate {
  if ('list' in prices) return costOf(prices.list, work, group);
  const { error } = prices;
  const reason = error instanceof Error ? error.message : String(error);
  return { why: `its price list cannot be read: ${reason}` };
}
