import type { Budget } from '../options.ts';

/** The cost of a model's calls as answers have reported it. */
export interface Learned {
  /** Keys of the parameters that a call was answered with. */
  readonly answered: Set<string>;
  /** Resolves when the first call with some parameters has ended; those with unknown ones wait for it. */
  first?: Promise<void> | undefined;
  /** By how much, in US dollars, a unit was dearer than its parameters let expect. */
  excess?: number | undefined;
  /** The largest multiplier of a video besides its length. */
  others?: number | undefined;
  /** The largest length that a video was charged for, in seconds. */
  longest?: number | undefined;
  /** The same of videos that were charged for another length than they requested. */
  shortest?: number | undefined;
}

/** An amount that is reserved for a call under way, in US dollars. */
export interface Reservation {
  readonly model: string | undefined;
  amount: number;
  /** Returns what would be reserved for the call by now. */
  estimate(): number;
}

/** The state of a budget, shared by all clients that have it. */
export class BudgetLedger {
  /** In US dollars. */
  spent = 0;
  /** In US dollars. */
  reserved = 0;
  hasWarned = false;
  /** Models with a logged warning that they are not counted. */
  readonly uncounted = new Set<string | undefined>();
  readonly open = new Set<Reservation>();
  readonly models = new Map<string | undefined, Learned>();

  learnedOf(model: string | undefined): Learned {
    const learned = this.models.get(model) ?? { answered: new Set<string>() };
    this.models.set(model, learned);
    return learned;
  }

  /** Raises what is reserved for calls of a model that is dearer than was expected. */
  raise(model: string | undefined): void {
    for (const reservation of this.open) {
      if (reservation.model !== model) continue;
      const more = Math.max(0, reservation.estimate() - reservation.amount);
      reservation.amount += more;
      this.reserved += more;
    }
  }
}

type Ledgers = WeakMap<Budget, BudgetLedger>;

/** One of the process, because a program may load this package twice, as an ES module and as CommonJS. */
const place = Symbol.for('model-gateway.budgets.1');

const isLedgers = (value: unknown): value is Ledgers => value instanceof WeakMap;

let ledgers: Ledgers | undefined;

function findLedgers(): Ledgers {
  const found: unknown = Reflect.get(globalThis, place);
  if (isLedgers(found)) return found;
  const made: Ledgers = new WeakMap();
  Object.defineProperty(globalThis, place, { value: made });
  return made;
}

/** Returns what was spent of a budget, shared by all copies of this package in the process. */
export function ledgerFor(budget: Budget): BudgetLedger {
  ledgers ??= findLedgers();
  const ledger = ledgers.get(budget) ?? new BudgetLedger();
  ledgers.set(budget, ledger);
  return ledger;
}
