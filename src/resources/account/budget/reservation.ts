import type { ClientSettings } from '../../../calls/settings.ts';
import { type BudgetLedger, type Reserved, ledgerFor } from '../../../calls/budget-ledger.ts';
import { parseRatios, readUnits } from '../cost.ts';
import {
  amountFor,
  type Expectation,
  type Facts,
  leastCost,
  type Planned,
  priceWork,
  unitCost,
} from './expected-cost.ts';
import type { CallRecord, Held } from '../record.ts';
import { requestedSeconds } from './request-cost.ts';
import type { CostEstimate } from '../types.ts';

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

/** Returns the cost of a call according to its responses. */
function costAfter(facts: Omit<Facts, 'params'>): CostEstimate {
  const { record, kind } = facts;
  const units = readUnits(record);
  if (units === undefined) return { reason: 'its response has no price ratios' };
  const seconds = kind === 'video' ? units : undefined;
  return priceWork(facts, { units, seconds, usage: record.end?.usage });
}

/** What a budget holds for one call: an amount while it runs, and its cost once it has ended. */
export class Reservation implements Reserved, Held {
  readonly model: string | undefined;
  readonly #ledger: BudgetLedger;
  readonly #record: CallRecord;
  readonly #onEnd: () => void;
  /** `undefined` once the call has ended, because its parameters may be large. */
  #planned: Planned | undefined;
  /** The amount reserved for each attempt, in US dollars. */
  amount: number;
  /** The amount that the budget counts as spent. */
  #counted = 0;
  /** The amount to count for each lost attempt. */
  #costOfLost = 0;
  /** Returns the cost of the last attempt. */
  #costOfLast = (): number => 0;

  /** @param onEnd - Called when the call has ended and is counted. */
  constructor(planned: Planned, onEnd: () => void) {
    const { model, record, budget } = planned;
    this.model = model;
    this.#ledger = ledgerFor(budget);
    this.#record = record;
    this.#onEnd = onEnd;
    this.#planned = planned;
    this.amount = amountFor(planned);
  }

  estimate(): number {
    return this.#planned === undefined ? this.amount : amountFor(this.#planned);
  }

  end(): void {
    const planned = this.#planned;
    if (planned === undefined) return;
    this.#settle(planned);
    this.#planned = undefined;
    this.#ledger.close(this);
    this.update();
    this.#onEnd();
  }

  update(): void {
    const { isFree, lost } = this.#record;
    const counted = (isFree ? 0 : this.#costOfLast()) + lost * this.#costOfLost;
    this.#ledger.spent += counted - this.#counted;
    this.#counted = counted;
  }

  /** Sets the cost of a call that has ended, and raises the reservations of its model. */
  #settle(planned: Planned): void {
    const { call, record, model, learned, key } = planned;
    const { client } = call;
    const { outcome, cost: reported, taskIds = [] } = record.end ?? {};
    if (!record.isSent || outcome === 'not_sent' || outcome === 'rejected') return;
    const reserved = this.amount;
    this.#costOfLost = reserved;
    const { amount, reason } = costAfter(planned);
    const expected = planned.expect();
    if (record.answer !== undefined) learned.answered.add(key);
    if (amount !== undefined || reported !== undefined) {
      this.#learn(planned, expected, amount?.value, reported);
    } else if (reserved === 0 && !('base' in expected)) {
      this.#warnUncounted(reason, client.log);
    }
    const isLost = outcome === 'unknown';
    const listed = Math.max(amount?.value ?? 0, amount === undefined || isLost ? reserved : 0);
    const rule: ReportRule = {
      otherwise: listed,
      isTrusted: client.findBase()?.gateway?.profile.readCost !== undefined && !isLost,
      isFree: amount?.value === 0 || model?.endsWith(':free') === true,
    };
    const least = leastCost(planned) ?? 0;
    const last = reported === undefined ? listed : countReported(reported, rule);
    this.#costOfLast = () => Math.max(least, last);
    if (taskIds.length > 0) this.#awaitCost(planned, rule, least);
  }

  /** Counts a call whose tasks are polled: the reports of the polls replace that of the submission. */
  #awaitCost(planned: Planned, rule: ReportRule, least: number): void {
    const { budget, kind, record, model, prices, learned } = planned;
    const { base, count } = unitCost(planned.expect(), record);
    const ledger = this.#ledger;
    const submitted = this.#costOfLast;
    // It must not reference the plan, whose parameters may be large.
    this.#costOfLast = () => {
      const { polled, cost, usage } = record.end ?? {};
      if (polled === undefined) return submitted();
      const facts = { budget, kind, record, model, prices, learned };
      const listed = usage && costAfter(facts).amount?.value;
      const otherwise = listed ?? rule.otherwise;
      const counted = cost === undefined ? otherwise : countReported(cost, { ...rule, otherwise });
      learned.excess = Math.max(learned.excess ?? 0, ((cost ?? counted) - base) / count);
      ledger.raise(model);
      return Math.max(least, counted);
    };
  }

  /** Raises the reservations of a model to the cost of a call that has ended, as listed and as reported. */
  #learn(planned: Planned, expected: Expectation, listed?: number, reported?: number): void {
    const { call, record, kind, model, learned, expect } = planned;
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
    const isKnown =
      ratios !== undefined || reported !== undefined || record.end?.outcome === undefined;
    // Ratios of videos are kept separately, and a call without a response reports nothing else.
    if (isKnown && (ratios === undefined || reported !== undefined)) {
      const { base, count, perUnit, isBound } = unitCost(
        ratios === undefined ? expected : expect(),
        record,
      );
      const each = (Math.max(listed ?? 0, reported ?? 0) - base) / count;
      // If the list has no price, a reported cost must not lower the reservation.
      learned.excess = Math.max(learned.excess ?? (listed === undefined ? perUnit : 0), each);
      if (isBound) learned.overrun = Math.max(learned.overrun ?? 0, each - perUnit);
    }
    this.#ledger.raise(model);
  }

  #warnUncounted(reason: string, log: ClientSettings['log']): void {
    const { uncounted } = this.#ledger;
    const { model } = this;
    const { operation } = this.#record;
    if (uncounted.has(model)) return;
    uncounted.add(model);
    const message = `The budget does not count ${operation}() with ${model}: ${reason}`;
    log.write('warn', message, { operation, model });
  }
}
