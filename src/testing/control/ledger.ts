import type { Operation } from '../../endpoints.ts';
import { UsageLog, pricePerCall } from './usage-log.ts';

/** A charge to the account: what a user of a real gateway would have paid. */
export interface Charge {
  readonly id: string;
  readonly operation: Operation;
  readonly model: string;
  /** Credit units. Grows with the work; not a price. */
  readonly amount: number;
  /** Id of the charged request. The response contains it in `X-Oneapi-Request-Id`. */
  readonly requestId: string;
  /** The video task that was paid for. */
  readonly taskId?: string | undefined;
  /** Time of the charge, in milliseconds since 1970 on the emulator's clock. */
  readonly at: number;
  /** Time of the refund, if the video task failed. */
  readonly refundedAt?: number | undefined;
}

/** A charge without the id, which the ledger adds. */
export type ChargeEntry = Omit<Charge, 'id' | 'refundedAt'>;

/** All charges since the start or the last reset, in order. */
export class Ledger {
  /** The usage log that the account's owner can read. */
  readonly usageLog = new UsageLog();
  #charges: Charge[] = [];

  get charges(): readonly Charge[] {
    return this.#charges;
  }

  /** Sum of charges that were not refunded. */
  get total(): number {
    const kept = this.#charges.filter((charge) => charge.refundedAt === undefined);
    return kept.reduce((sum, charge) => sum + charge.amount, 0);
  }

  add(entry: ChargeEntry): void {
    this.#charges.push({ id: `charge_${this.#charges.length + 1}`, ...entry });
  }

  /** Refunds the charges of a failed task. */
  refund(taskId: string, at: number, reason: string): void {
    this.#charges = this.#charges.map((charge) => {
      if (charge.taskId !== taskId || charge.refundedAt !== undefined) return charge;
      const { model, amount: quota } = charge;
      const other = { group_ratio: 1, model_price: pricePerCall, reason, task_id: taskId };
      this.usageLog.write({ type: 'refund', model, quota, at, other });
      return { ...charge, refundedAt: at };
    });
  }

  clear(): void {
    this.#charges = [];
    this.usageLog.clear();
  }
}
