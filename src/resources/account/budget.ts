import { errorMessage } from '../../answers/objects.ts';
import { assumedTokens } from '../../answers/token-estimate.ts';
import { checkNumber, checkObject, checkWord } from '../../options/check.ts';
import { delay, followSignal } from '../../http/abort.ts';
import type { Request } from '../../calls/request.ts';
import type { ClientSettings } from '../../calls/settings.ts';
import type { Budget, Idempotency } from '../../options/options.ts';
import { type BudgetLedger, type Learned, ledgerFor, type Reservation } from './budget-ledger.ts';
import type { CallRecord } from './calls.ts';
import {
  assumedVideoUnits,
  computeCost,
  imageCount,
  findModel,
  parseRatios,
  type PriceKind,
  readUnits,
  assumedUnits,
  type Work,
} from './cost.ts';
import { BudgetError } from './errors.ts';
import { expectUsage, priceKey, requestedSeconds } from './request-cost.ts';
import type { CostEstimate, Prices } from './types.ts';

type Log = ClientSettings['log'];

/** The share of the limit above which a warning is logged. */
const warnFrom = 0.8;

/** Tolerance for rounding errors in sums of many small amounts. */
const tolerance = 1e-9;

/** Maximum time that calls other than videos wait for the first call of their model, in milliseconds. */
const longestWait = 30_000;

const shown = (dollars: number): string => `${Number(dollars.toPrecision(4))} USD`;

const states = new WeakMap<Budget, BudgetState>();

/** Callbacks that end the reservation of a call. */
const ends = new WeakMap<CallRecord, () => void>();

/** The amounts that a call counts in a budget, in US dollars. */
interface Counted {
  readonly ledger: BudgetLedger;
  /** That of its last attempt. */
  amount: number;
  /** That of its lost attempts. */
  lost: number;
  /** Returns the amount to count once a poll of the call's task was read; `undefined` if it has none. */
  readonly revise: (() => number) | undefined;
}

const counts = new WeakMap<CallRecord, Counted>();

function recount(counted: Counted, amount: number): void {
  counted.ledger.spent += amount - counted.amount;
  counted.amount = amount;
}

/** The expected cost of a call that is not sent yet, in US dollars. */
interface Expected {
  /** The part that the parameters determine. */
  readonly base: number;
  /** Added for each unit until the cost of a call to the model is known. */
  readonly assumed: number;
  /** The number of units that may each cost more than expected. */
  readonly count: number;
  /**
   * The amount that must remain of the limit, if that is less than the reservation: the response may be short,
   * so its expected cost doesn't reject the call.
   */
  readonly certain?: number;
  /** `true` if only the response shows the cost. */
  readonly isGuess: boolean;
}

/** The expected cost of a call, or the reason why it is unknown. */
type Expectation = Expected | { readonly reason: string };

/** The facts of a call that determine its cost. */
interface Plan {
  readonly call: Request;
  readonly record: CallRecord;
  readonly kind: PriceKind;
  readonly model: string | undefined;
  readonly prices: PricesRead;
  readonly learned: Learned;
  /** Equal for calls that are expected to have the same price. */
  readonly key: string;
  /** Returns the expected cost, from the facts known at that time. */
  readonly expect: () => Expectation;
}

/** The rules for counting a reported cost. */
interface ReportRule {
  /** The cost if none is reported, in US dollars. */
  readonly otherwise: number;
  /** `true` if responses report the gateway's own price; otherwise it may be a vendor's lower price. */
  readonly isTrusted: boolean;
  /** `true` if the model is known to be free; otherwise a cost of 0 may mean that it is unknown. */
  readonly isFree: boolean;
}

/** Returns the cost to count for a call whose response reports a cost. */
function countReported(cost: number, { otherwise, isTrusted, isFree }: ReportRule): number {
  return isTrusted && (cost > 0 || isFree) ? cost : Math.max(otherwise, cost);
}

/** Returns the part of the expected cost that is known before the call, and the number of units. */
function unitCost(
  expected: Expectation,
  record: CallRecord,
): Pick<Expected, 'base' | 'count' | 'assumed'> {
  return 'base' in expected ? expected : { base: 0, count: imageCount(record), assumed: 0 };
}

/** Returns how many attempts of a call may have been charged, besides the last of them. */
function otherCharges(
  { end, lost, isAccepted }: CallRecord,
  idempotency: Idempotency | null,
): number {
  if (idempotency?.honored === true) return 0;
  if (end?.outcome === undefined) return lost;
  // A stream that broke off was accepted and is not one of the lost attempts.
  return Math.max(0, lost + (isAccepted ? 1 : 0) - 1);
}

/** Keeps the spending of a budget within its limit. */
export class BudgetState {
  readonly #budget: Budget;
  readonly #ledger: BudgetLedger;

  private constructor(budget: Budget) {
    const { onMissingPrice = 'refuse', perCall } = budget;
    checkWord('budget.onMissingPrice', onMissingPrice, ['refuse', 'allow']);
    checkObject('budget.perCall', perCall);
    for (const [model, most] of Object.entries(perCall ?? {})) {
      checkNumber(`budget.perCall["${model}"]`, most, 0);
    }
    this.#budget = budget;
    this.#ledger = ledgerFor(budget);
  }

  static of(budget: Budget): BudgetState {
    const state = states.get(budget) ?? new BudgetState(budget);
    states.set(budget, state);
    return state;
  }

  /** In US dollars, like `reserved`. */
  get spent(): number {
    return this.#ledger.spent;
  }

  get reserved(): number {
    return this.#ledger.reserved;
  }

  /**
   * Reserves the expected cost of a call until the call ends.
   *
   * @param readPrices - Returns the price list; fetches it if it is not fresh.
   * @throws `BudgetError` if the call may not be sent
   */
  async reserve(
    call: Request,
    record: CallRecord,
    readPrices: () => Promise<Prices>,
  ): Promise<void> {
    const { spec, client, settings, scope } = call;
    const prices = await readPrices().then(
      (list): PricesRead => ({ list }),
      (error: unknown): PricesRead => ({ error }),
    );
    const ledger = this.#ledger;
    const model = findModel(record);
    const learned = ledger.getLearned(model);
    const { kind } = record;
    const facts = { call, record, kind, model, prices, learned, key: priceKey(call.params) };
    const before = this.#expect(facts);
    // Only the expected cost of videos changes with the responses to other calls.
    const expect = kind === 'video' ? () => this.#expect(facts) : () => before;
    const plan: Plan = { ...facts, expect };
    const longest = kind === 'video' ? settings.timeout : Math.min(settings.timeout, longestWait);
    const until = performance.now() + longest;
    for (let isOver = true; isOver && learned.first !== undefined && this.#isFirst(plan);) {
      isOver = await this.#wait(learned.first, plan, until);
    }
    // The call was stopped meanwhile, so it will not be sent.
    if (scope.stopped !== undefined) return;
    // There is no `await` from here on, so concurrent calls see each other's reservations.
    const name = `${spec.operation}()${model === undefined ? '' : ` with ${model}`}`;
    const expected = plan.expect();
    const reservation: Reservation = {
      model,
      amount: this.#amountFor(plan),
      estimate: () => this.#amountFor(plan),
    };
    this.#check(name, expected, reservation.amount, prices);
    ledger.reserved += reservation.amount;
    ledger.open.add(reservation);
    this.#warn(client.log);
    let end: (() => void) | undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    if (this.#isFirst(plan)) learned.first ??= ended;
    ends.set(record, () => {
      const cost = this.#settle(plan, reservation.amount);
      ledger.open.delete(reservation);
      ledger.reserved = ledger.open.size === 0 ? 0 : ledger.reserved - reservation.amount;
      ledger.spent += cost;
      this.#warn(client.log);
      if (learned.first === ended) learned.first = undefined;
      end?.();
    });
  }

  /** Counts a call that has ended. */
  static end(call: CallRecord): void {
    const end = ends.get(call);
    // Call records are kept for a long time, and the callback references the call's parameters.
    ends.delete(call);
    end?.();
  }

  /** Counts what the polls of the call's tasks report. */
  static revise(call: CallRecord): void {
    const counted = counts.get(call);
    if (counted?.revise !== undefined) recount(counted, counted.revise());
  }

  /**
   * Counts nothing for a call whose last attempt proved to be refunded or not charged.
   *
   * @param isWhole - `true` if that holds for all of its attempts.
   */
  static release(call: CallRecord, isWhole: boolean): void {
    const counted = counts.get(call);
    if (counted === undefined) return;
    recount(counted, 0);
    if (!isWhole) return;
    counted.ledger.spent -= counted.lost;
    counted.lost = 0;
  }

  /**
   * Returns whether a call must be sent alone, because only the first response for its model and parameters
   * shows the cost.
   */
  #isFirst({ learned, key, expect }: Plan): boolean {
    const expected = expect();
    return 'base' in expected && expected.isGuess && !learned.answered.has(key);
  }

  /**
   * Waits for the end of the first call of a model.
   *
   * @param until - When to stop waiting, because the response may never be read.
   * @returns `true` if the call has ended
   */
  async #wait(first: Promise<void>, { call, learned }: Plan, until: number): Promise<boolean> {
    const { signal } = call.scope.controller;
    const waiting = new AbortController();
    const stop = followSignal(signal, waiting);
    const late = delay(until - performance.now(), waiting.signal).then(
      () => false,
      () => {
        signal.throwIfAborted();
        return false;
      },
    );
    try {
      const isOver = await Promise.race([first.then(() => true), late]);
      if (!isOver && learned.first === first) learned.first = undefined;
      return isOver;
    } finally {
      stop();
      waiting.abort();
    }
  }

  /** Returns `budget.perCall` for a model. */
  #ownPrice(model: string | undefined): number | undefined {
    const { perCall = {} } = this.#budget;
    return model !== undefined && Object.hasOwn(perCall, model) ? perCall[model] : undefined;
  }

  /** Estimates the cost of a call before it is sent. */
  #expect({ call, record, kind, model, prices, learned }: Omit<Plan, 'expect'>): Expectation {
    const { params } = call;
    const count = imageCount(record);
    const own = this.#ownPrice(model);
    if (own !== undefined) {
      const base = own * count;
      return { base, assumed: 0, count, isGuess: false };
    }
    const price = (work: Omit<Work, 'model'>) => this.#price(prices, { model, ...work });
    const isVideo = kind === 'video';
    const units = isVideo ? videoUnits(learned, model, params) : assumedUnits(record);
    const byCall = price({ units, seconds: isVideo ? units : undefined });
    if (byCall.amount !== undefined) {
      const { value: base } = byCall.amount;
      return { base, assumed: 0, count, isGuess: isVideo };
    }
    const usage = expectUsage(kind, params);
    if (usage === undefined) return byCall;
    const characters = kind === 'speech' ? usage.input.inputTokens : undefined;
    const input = price({ usage: usage.input, characters });
    const whole = price({ usage: usage.total, characters });
    if (input.amount === undefined) return input;
    const { value: base } = input.amount;
    if (kind === 'speech') {
      const total = whole.amount?.value ?? base;
      return { base: total, assumed: 0, count: 1, isGuess: false };
    }
    if (whole.amount === undefined) return whole;
    const { inputTokens: tokens = 0 } = usage.input;
    const certain = base * Math.max(0, 1 - assumedTokens / tokens);
    const assumed = (whole.amount.value - base) / usage.answers;
    return { base, assumed, count: usage.answers, certain, isGuess: true };
  }

  /**
   * Returns the amount to reserve: at least the cost of an earlier call with the same model and parameters.
   */
  #amountFor(plan: Plan): number {
    const { excess } = plan.learned;
    const expected = plan.expect();
    if (!('base' in expected)) return (excess ?? 0) * imageCount(plan.record);
    const { base, assumed, count } = expected;
    return base + (excess ?? assumed) * count;
  }

  /** @throws `BudgetError` if the call may not be sent */
  #check(name: string, expected: Expectation, amount: number, prices: PricesRead): void {
    const { spent, reserved } = this;
    const { limit, onMissingPrice = 'refuse' } = this.#budget;
    const isKnown = 'base' in expected;
    if (!isKnown && onMissingPrice === 'refuse') {
      const advice =
        'Nothing was sent. Set budget.perCall for the model, or onMissingPrice: "allow" to send it uncounted.';
      const cause = 'list' in prices ? undefined : prices.error;
      const message = `${name} has no known price, so it cannot be counted in the budget: ${expected.reason}.`;
      const facts = { limit, spent, reserved, cost: undefined, reason: 'price' } as const;
      throw new BudgetError(message, advice, facts, cause);
    }
    const least = isKnown ? (expected.certain ?? amount) : 0;
    const taken = spent + reserved;
    const isUsedUp = taken >= limit * (1 - tolerance);
    if (taken + least <= limit * (1 + tolerance) && !isUsedUp) return;
    const wanted = amount > 0 ? ` it may cost ${shown(amount)};` : '';
    const waiting = reserved > 0 ? ` and ${shown(reserved)} is reserved for calls in progress` : '';
    const cost = isKnown ? amount : undefined;
    throw new BudgetError(
      `${name} would exceed the budget of ${shown(limit)}:${wanted} ${shown(spent)} is spent${waiting}.`,
      `Nothing was sent. ${reserved > 0 ? 'Wait for the calls in progress, or raise' : 'Raise'} budget.limit.`,
      { limit, spent, reserved, cost, reason: 'limit' },
    );
  }

  /**
   * Returns the cost, or possible cost, of a call that has ended, and raises the reservations of its model.
   */
  #settle(plan: Plan, reserved: number): number {
    const { call, record, model, learned, key } = plan;
    const { client, settings } = call;
    const { outcome } = record.end ?? {};
    if (!record.isSent || outcome === 'not_sent' || outcome === 'rejected') return 0;
    const { cost: reported, taskIds = [] } = record.end ?? {};
    const { amount, reason } = this.#costAfter(plan);
    const expected = plan.expect();
    if (record.answer !== undefined) learned.answered.add(key);
    if (amount !== undefined || reported !== undefined) {
      this.#learn(plan, expected, amount?.value, reported);
    } else if (reserved === 0 && !('base' in expected)) {
      this.#warnUncounted(record.operation, model, reason, client.log);
    }
    const isLost = outcome === 'unknown';
    const listed =
      amount === undefined || isLost ? Math.max(amount?.value ?? 0, reserved) : amount.value;
    const rule: ReportRule = {
      otherwise: listed,
      isTrusted: client.findBase()?.gateway?.profile.readCost !== undefined && !isLost,
      isFree: amount?.value === 0 || model?.endsWith(':free') === true,
    };
    const last = reported === undefined ? listed : countReported(reported, rule);
    const revise = taskIds.length === 0 ? undefined : this.#awaitCost(plan, rule);
    const lost = otherCharges(record, settings.idempotency) * reserved;
    counts.set(record, { ledger: this.#ledger, amount: last, lost, revise });
    return last + lost;
  }

  /** Returns a function that counts a call whose tasks were polled. */
  #awaitCost(
    { kind, record, model, prices, learned, expect }: Plan,
    rule: ReportRule,
  ): () => number {
    const { base, count } = unitCost(expect(), record);
    const ledger = this.#ledger;
    // This callback must not reference the plan, whose parameters may be large.
    return () => {
      const { cost, usage } = record.end ?? {};
      const listed = usage && this.#costAfter({ kind, record, model, prices }).amount?.value;
      const otherwise = listed ?? rule.otherwise;
      const counted = cost === undefined ? otherwise : countReported(cost, { ...rule, otherwise });
      learned.excess = Math.max(learned.excess ?? 0, ((cost ?? counted) - base) / count);
      ledger.raise(model);
      return counted;
    };
  }

  /** Returns the cost of a call according to its responses. */
  #costAfter({
    kind,
    record,
    model,
    prices,
  }: Pick<Plan, 'kind' | 'record' | 'model' | 'prices'>): CostEstimate {
    const units = readUnits(record);
    if (units === undefined) return { reason: 'its response has no price ratios' };
    const seconds = kind === 'video' ? units : undefined;
    return this.#price(prices, { model, units, seconds, usage: record.end?.usage });
  }

  /** Raises the reservations of a model to the cost of a call that has ended, as listed and as reported. */
  #learn(plan: Plan, expected: Expectation, listed?: number, reported?: number): void {
    const { call, record, kind, model, learned, expect } = plan;
    const ratios = kind === 'video' ? parseRatios(record.answer?.ratios ?? '') : undefined;
    if (ratios !== undefined) {
      const requested = requestedSeconds(call.params);
      const { product, seconds } = ratios;
      learned.others = Math.max(learned.others ?? 0, product / (seconds ?? 1));
      if (seconds !== undefined) {
        learned.longest = Math.max(learned.longest ?? 0, seconds);
        if (seconds !== requested) learned.shortest = Math.max(learned.shortest ?? 0, seconds);
      }
    }
    // Ratios of videos are kept separately, and a call without a response reports nothing else.
    const isByRatios = ratios !== undefined && this.#ownPrice(model) === undefined;
    const isKnown =
      ratios !== undefined || reported !== undefined || record.end?.outcome === undefined;
    if (isKnown && (!isByRatios || reported !== undefined)) {
      const { base, count, assumed } = unitCost(isByRatios ? expect() : expected, record);
      const cost = Math.max(listed ?? 0, reported ?? 0);
      // If the list has no price, a reported cost must not lower the reservation.
      const least = listed === undefined ? assumed : 0;
      learned.excess = Math.max(learned.excess ?? least, (cost - base) / count);
    }
    this.#ledger.raise(model);
  }

  #price(prices: PricesRead, work: Work): CostEstimate {
    if ('list' in prices) return computeCost(prices.list, work, this.#budget.group);
    const { error } = prices;
    const reason = errorMessage(error);
    return { reason: `its price list cannot be read: ${reason}` };
  }

  #warnUncounted(operation: string, model: string | undefined, reason: string, log: Log): void {
    const { uncounted } = this.#ledger;
    if (uncounted.has(model)) return;
    uncounted.add(model);
    const message = `The budget does not count ${operation}() with ${model}: ${reason}`;
    log.write('warn', message, { operation, model });
  }

  #warn(log: Log): void {
    const ledger = this.#ledger;
    const { spent, reserved } = ledger;
    const { limit } = this.#budget;
    if (ledger.hasWarned || spent + reserved < limit * warnFrom) return;
    ledger.hasWarned = true;
    const message = `80 % of the budget is used: ${shown(spent + reserved)} of ${shown(limit)}`;
    log.write('warn', message, { limit, spent, reserved });
  }
}

/** Returns the expected multiplier of a video: at least the one that responses have reported for its model. */
function videoUnits(
  { others, longest, shortest = 0 }: Learned,
  model: string | undefined,
  params: Plan['call']['params'],
): number {
  const requested = requestedSeconds(params);
  if (others === undefined) return assumedVideoUnits(model, requested);
  if (longest === undefined) return others;
  return others * (requested === undefined ? longest : Math.max(requested, shortest));
}

/** The price list, or the error of reading it. */
type PricesRead = { readonly list: Prices } | { readonly error: unknown };
