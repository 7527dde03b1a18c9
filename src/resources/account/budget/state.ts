import { errorMessage } from '../../../answers/objects.ts';
import {
  APIConnectionError,
  APIConnectionTimeoutError,
  APIError,
  errorClassForStatus,
} from '../../../errors/api-errors.ts';
import { type GatewayError, InvalidInputError } from '../../../errors/gateway-error.ts';
import { buildError } from '../../../errors/operation-errors.ts';
import { checkNumber, checkObject, checkWord } from '../../../options/check.ts';
import { delay, followSignal } from '../../../http/abort.ts';
import type { GatewayRequest } from '../../../calls/gateway-request.ts';
import type { ClientSettings } from '../../../calls/settings.ts';
import type { Budget } from '../../../options/options.ts';
import { type BudgetLedger, ledgerFor } from '../../../calls/budget-ledger.ts';
import type { CallRecord } from '../record.ts';
import { findModel } from '../cost.ts';
import { BudgetError } from '../errors.ts';
import {
  amountFor,
  expectCost,
  type Facts,
  neededRoom,
  type Planned,
  type PricesRead,
} from './expected-cost.ts';
import { priceKey } from './request-cost.ts';
import { Reservation } from './reservation.ts';
import type { Prices } from '../types.ts';

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
    const { onMissingPrice = 'refuse', perCall, spent = 0 } = budget;
    checkWord('budget.onMissingPrice', onMissingPrice, ['refuse', 'allow']);
    checkObject('budget.perCall', perCall);
    for (const [model, most] of Object.entries(perCall ?? {})) {
      checkNumber(`budget.perCall["${model}"]`, most, 0);
    }
    if (typeof spent !== 'function') checkNumber('budget.spent', spent, 0);
    this.#budget = budget;
    this.#ledger = ledgerFor(budget);
    if (typeof spent === 'number') this.#ledger.start(spent);
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
    call: GatewayRequest,
    record: CallRecord,
    readPrices: () => Promise<Prices>,
  ): Promise<void> {
    const { spec, client, settings, scope } = call;
    await this.#start();
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
    this.#warnOfFallbacks(call, facts);
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

  /** Adds what was spent before the first call, once. */
  async #start(): Promise<void> {
    const ledger = this.#ledger;
    const { limit, spent: read } = this.#budget;
    if (typeof read !== 'function' || ledger.isStarted) return;
    try {
      ledger.starting ??= Promise.resolve(read());
      const amount = await ledger.starting;
      checkNumber('budget.spent()', amount, 0);
      ledger.start(amount);
    } catch (cause) {
      ledger.starting = undefined;
      const { spent, reserved } = this;
      const facts = { limit, spent, reserved, cost: undefined, reason: 'spent' } as const;
      const message = `budget.spent() failed, so it is unknown what is left of the budget: ${errorMessage(cause)}`;
      throw new BudgetError(message, 'Nothing was sent.', facts, cause);
    }
  }

  /** Warns once of each model that would follow a failure, but has no price: the budget would reject it. */
  #warnOfFallbacks(call: GatewayRequest, facts: Facts): void {
    const { prices, params } = facts;
    const { warnedOf } = this.#ledger;
    if (this.#budget.onMissingPrice === 'allow' || 'error' in prices || !call.call.mayChange)
      return;
    for (const { model, ...changed } of call.settings.fallback ?? []) {
      if (warnedOf.has(model)) continue;
      const record = { ...facts.record, model };
      const learned = { answered: new Set<string>() };
      const changedFacts = {
        ...facts,
        model,
        record,
        learned,
        params: { ...params, ...changed, model },
      };
      const expected = expectCost(changedFacts);
      if ('base' in expected) continue;
      warnedOf.add(model);
      const message = `The fallback ${model} has no known price, so the budget rejects it: ${expected.reason}. Set budget.perCall["${model}"], or onMissingPrice: "allow".`;
      call.client.log.write('warn', message, { operation: call.spec.operation, model });
    }
  }

  /** @throws `BudgetError` if the call may not be sent, or the error of reading the prices */
  #check(name: string, planned: Planned): void {
    const { prices } = planned;
    const expected = planned.expect();
    const amount = amountFor(planned);
    const { spent, reserved } = this;
    const { limit, onMissingPrice = 'refuse' } = this.#budget;
    const isKnown = 'base' in expected;
    if (!isKnown && onMissingPrice === 'refuse') {
      const unread =
        'list' in prices ? undefined : toUnsentError(name, planned.call.id, prices.error);
      if (unread !== undefined) throw unread;
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

/** Returns the error of a call whose price could not be read now; `undefined` if it has no price that can be read. */
function toUnsentError(name: string, callId: string, cause: unknown): GatewayError | undefined {
  // An address that cannot be called is wrong for the call too.
  if (InvalidInputError.isInstance(cause)) return cause;
  if (!APIError.isInstance(cause)) return undefined;
  const { status, headers, requestID, summary } = cause;
  const isLate = APIConnectionTimeoutError.isInstance(cause);
  const isLost = isLate || APIConnectionError.isInstance(cause);
  if (!isLost && (status === undefined || (status < 500 && status !== 429))) return undefined;
  const StatusError = errorClassForStatus(status ?? 500);
  const ErrorType = isLate ? APIConnectionTimeoutError : isLost ? APIConnectionError : StatusError;
  const advice =
    'Nothing was sent, so it is safe to send the request again. With budget.perCall for the model, its price need not be read.';
  const message = `${name} was not sent, because the price list that its budget needs cannot be read: ${summary}`;
  const init = { outcome: 'not_sent', advice, callId, cause, status, headers, requestID } as const;
  return buildError({ ErrorType, summary: message, init });
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
