import type { CallObserver, ObservedCall, Observer } from '../index.ts';

/** Adds up the costs that responses report. */
export class ReportedCosts implements Observer {
  /**
   * In US dollars, by call and model, because each model of a call with fallbacks is billed. All polls of a
   * video task are one entry, for which the last reported cost counts.
   */
  readonly #costs = new Map<string, number>();
  readonly #onChange: ((total: number) => void) | undefined;

  /** @param onChange - Called with the new total. */
  constructor(onChange?: (total: number) => void) {
    this.#onChange = onChange;
  }

  start({ callId, operation, model, params }: ObservedCall): CallObserver {
    return {
      end: ({ cost, responseId }) => {
        if (cost === undefined) return;
        const taskId = params['task_id'] ?? (operation.startsWith('videos.') && responseId);
        this.#costs.set(String(taskId || `${callId} ${model}`), cost);
        this.#onChange?.(this.total ?? 0);
      },
    };
  }

  /** In US dollars; `undefined` if no response reported a cost. */
  get total(): number | undefined {
    const costs = [...this.#costs.values()];
    return costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0);
  }
}
