import type { Budget } from '../options/options.ts';

/** Facts about the cost of a model's calls, learned from responses. */
export interface Learned {
  /** Keys of the parameters that at least one response was received for. */
  readonly answered: Set<string>;
  /**
   * Resolves when the first call with new parameters has ended. Other calls with new parameters wait for it.
   */
  first?: Promise<void> | undefined;
  /** The largest difference between the actual cost of a unit and what the parameters determine, in US dollars. */
  excess?: number | undefined;
  /** The largest cost of a unit above the bound that its request set, in US dollars. */
  overrun?: number | undefined;
  /** The largest price multiplier of a video, without its length. */
  others?: number | undefined;
  /** The largest length that a video was charged for, in seconds. */
  longest?: number | undefined;
  /** The largest charged length of videos that had requested another length, in seconds. */
  shortest?: number | undefined;
}

/** An amount that is reserved for a running call, in US dollars. */
export interface Reserved {
  readonly model: string | undefined;
  amount: number;
  /** Returns the amount that would be reserved for the call now. */
  estimate(): number;
}

/** The state of a budget, shared by all clients that use it. */
export class BudgetLedger {
  /** In US dollars. */
  spent = 0;
  /** In US dollars. */
  reserved = 0;
  hasWarned = false;
  /** Models for which the log has a warning that their calls are not counted. */
  readonly uncounted = new Set<string | undefined>();
  /** Fallbacks without a price for which the log has a warning. */
  readonly warnedOf = new Set<string>();
  /** `true` once `budget.spent` is added. */
  isStarted = false;
  /** The running call of the function `budget.spent`. */
  starting: Promise<number> | undefined;
  readonly #open = new Set<Reserved>();
  readonly models = new Map<string | undefined, Learned>();

  getLearned(model: string | undefined): Learned {
    const learned = this.models.get(model) ?? { answered: new Set<string>() };
    this.models.set(model, learned);
    return learned;
  }

  /** Adds what was spent before, once. */
  start(amount: number): void {
    if (this.isStarted) return;
    this.isStarted = true;
    this.spent += amount;
  }

  open(reservation: Reserved): void {
    this.reserved += reservation.amount;
    this.#open.add(reservation);
  }

  close(reservation: Reserved): void {
    if (!this.#open.delete(reservation)) return;
    // Sums of fractions drift.
    this.reserved = this.#open.size === 0 ? 0 : this.reserved - reservation.amount;
  }

  /** Raises the amounts reserved for running calls of a model that costs more than expected. */
  raise(model: string | undefined): void {
    for (const reservation of this.#open) {
      if (reservation.model !== model) continue;
      const more = Math.max(0, reservation.estimate() - reservation.amount);
      reservation.amount += more;
      this.reserved += more;
    }
  }
}

type Ledgers = WeakMap<Budget, BudgetLedger>;

/**
 * Stored on the global object, because a program may load this package twice: as an ES module and as CommonJS.
 */
const globalKey = Symbol.for('model-gateway.budgets.1');

const isLedgers = (value: unknown): value is Ledgers => value instanceof WeakMap;

let ledgers: Ledgers | undefined;

function findLedgers(): Ledgers {
  const found: unknown = Reflect.get(globalThis, globalKey);
  if (isLedgers(found)) return found;
  const made: Ledgers = new WeakMap();
  Object.defineProperty(globalThis, globalKey, { value: made });
  return made;
}

/** Returns the state of a budget, shared by all copies of this package in the process. */
export function ledgerFor(budget: Budget): BudgetLedger {
  ledgers ??= findLedgers();
  const ledger = ledgers.get(budget) ?? new BudgetLedger();
  ledgers.set(budget, ledger);
  return ledger;
}
