import type { Operation } from '../../endpoints.ts';
import { Books, pricePerCall } from './books.ts';

/** One charge to the account: what a user of the real gateway would have paid for. */
export interface Charge {
  readonly id: string;
  readonly operation: Operation;
  readonly model: string;
  /** Credit units; a number that grows with the work, not a price. */
  readonly amount: number;
  /** The request that was charged. The answer carries it in `X-Oneapi-Request-Id`. */
  readonly requestId: string;
  /** The video task that was paid for. */
  readonly taskId?: string | undefined;
  /** When it was charged, in milliseconds since 1970 on the emulator's clock. */
  readonly at: number;
  /** When the amount was given back, because the video task failed. */
  readonly refundedAt?: number | undefined;
}

/** What a charge is made from; the ledger adds the id. */
export type ChargeEntry = Omit<Charge, 'id' | 'refundedAt'>;

/** Every charge since the start or the last reset, in order. */
export class Ledger {
  /** What the account's owner can read of it. */
  readonly books = new Books();
  #charges: Charge[] = [];

  get charges(): readonly Charge[] {
    return this.#charges;
  }

  /** What was charged and not given back. */
  get total(): number {
    const kept = this.#charges.filter((charge) => charge.refundedAt === undefined);
    return kept.reduce((sum, charge) => sum + charge.amount, 0);
  }

  add(entry: ChargeEntry): void {
    this.#charges.push({ id: `charge_${this.#charges.length + 1}`, ...entry });
  }

  /** Marks the charges of a failed task as given back. */
  refund(taskId: string, at: number, reason: string): void {
    this.#charges = this.#charges.map((charge) => {
      if (charge.taskId !== taskId || charge.refundedAt !== undefined) return charge;
      const { model, amount: quota } = charge;
      const other = { group_ratio: 1, model_price: pricePerCall, reason, task_id: taskId };
      this.books.write({ type: 'refund', model, quota, at, other });
      return { ...charge, refundedAt: at };
    });
  }

  clear(): void {
    this.#charges = [];
    this.books.clear();
  }
}
