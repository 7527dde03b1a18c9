import { checkNumber, checkObject, checkWord } from '../../options/check.ts';
import { delay, followSignal } from '../../http/abort.ts';
import type { Request } from '../../calls/request.ts';
import type { ClientSettings } from '../../calls/settings.ts';
import type { Budget } from '../../options/options.ts';
import { type BudgetLedger, ledgerFor } from './budget-ledger.ts';
import type { CallRecord } from './record.ts';
import { findModel } from './cost.ts';
import { BudgetError } from './errors.ts';
import {
  amountFor,
  expectCost,
  neededRoom,
  type Planned,
  type PricesRead,
} from './expected-cost.ts';
import { priceKey } from './request-cost.ts';
import { Reservation } from './reservation.ts';
import type { Prices } from './types.ts';

type Log = ClientSettings['log'];

/** The share of the limit above which a warning is logged. */
const warnFrom = 0.8;

/** Tolerance for rounding errors in sums of many small amounts. */
const tolerance = 1e-9;

/** Maximum time that calls other than videos wait for the first call of their model, in milliseconds. */
const longestWait = 30_000;

const shown = (dollars: number): string => `${Number(dollars.toPrecision(4))} USD`;

const states = new WeakMap<Budget, BudgetState>();

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
    const { params } = call;
    const ledger = this.#ledger;
    const model = findModel(record);
    const learned = ledger.getLearned(model);
    const { kind } = record;
    const facts = { budget: this.#budget, params, record, kind, model, prices, learned };
    const before = expectCost(facts);
    // Only the expected cost of videos changes with the responses to other calls.
    const expect = kind === 'video' ? () => expectCost(facts) : () => before;
    const planned: Planned = { ...facts, call, key: priceKey(params), expect };
    const longest = kind === 'video' ? settings.timeout : Math.min(settings.timeout, longestWait);
    const until = performance.now() + longest;
    for (let isOver = true; isOver && learned.first !== undefined && isFirst(planned);) {
      isOver = await waitForFirst(learned.first, planned, until);
    }
    // The call was stopped meanwhile, so it will not be sent.
    if (scope.stopped !== undefined) return;
    // There is no `await` from here on, so concurrent calls see each other's reservations.
    const name = `${spec.operation}()${model === undefined ? '' : ` with ${model}`}`;
    this.#check(name, planned);
    let end: (() => void) | undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const reservation = new Reservation(planned, () => {
      this.#warn(client.log);
      if (learned.first === ended) learned.first = undefined;
      end?.();
    });
    record.held = reservation;
    ledger.open(reservation);
    this.#warn(client.log);
    if (isFirst(planned)) learned.first ??= ended;
  }

  /** @throws `BudgetError` if the call may not be sent */
  #check(name: string, planned: Planned): void {
    const { prices } = planned;
    const expected = planned.expect();
    const amount = amountFor(planned);
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
    const needed = neededRoom(planned);
    const taken = spent + reserved;
    const isUsedUp = taken >= limit * (1 - tolerance);
    if (taken + needed <= limit * (1 + tolerance) && !isUsedUp) return;
    const wanted = amount > 0 ? ` it may cost ${shown(amount)};` : '';
    const waiting = reserved > 0 ? ` and ${shown(reserved)} is reserved for calls in progress` : '';
    const cost = isKnown ? amount : undefined;
    throw new BudgetError(
      `${name} would exceed the budget of ${shown(limit)}:${wanted} ${shown(spent)} is spent${waiting}.`,
      `Nothing was sent. ${reserved > 0 ? 'Wait for the calls in progress, or raise' : 'Raise'} budget.limit.`,
      { limit, spent, reserved, cost, reason: 'limit' },
    );
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

/**
 * Returns whether a call must be sent alone, because only the first response for its model and parameters shows
 * the cost.
 */
function isFirst({ learned, key, expect }: Planned): boolean {
  const expected = expect();
  return 'base' in expected && expected.isGuess && !learned.answered.has(key);
}

/**
 * Waits for the end of the first call of a model.
 *
 * @param until - When to stop waiting, because the response may never be read.
 * @returns `true` if the call has ended
 */
async function waitForFirst(
  first: Promise<void>,
  { call, learned }: Planned,
  until: number,
): Promise<boolean> {
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
