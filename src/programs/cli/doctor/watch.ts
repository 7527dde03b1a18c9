import { delay } from '../../../http/abort.ts';
import { compareRows, type Difference, isResult, toRows } from './compare.ts';
import type { DoctorReport } from './report-schema.ts';
import type { SpendOptions } from './calls/spend.ts';
import { isProblem } from './summary.ts';

/** Options of a watch. */
export interface WatchOptions {
  /** From the start of a run to the start of the next one, in milliseconds. */
  readonly interval: number;
  /** The number of runs; without it, the watch ends when `signal` is aborted. */
  readonly runs: number | undefined;
  readonly signal: AbortSignal;
  readonly wallet: SpendOptions['wallet'] | undefined;
  readonly createReport: () => Promise<DoctorReport>;
  /** Called with the first report. */
  readonly onStart: (report: DoctorReport) => void;
  /** Called with each change, and the time of its report. */
  readonly onChange: (change: Difference, at: string) => void;
  /** Called if the rest of the limit is too small for another run. */
  readonly onSpent: (runs: number) => void;
}

/**
 * Creates a report again and again, and compares each row with its last result.
 *
 * Rows without a result, for example because the gateway could not be reached, keep the one before.
 *
 * @returns `true` if the first report had no problems and nothing got worse
 */
export async function watchGateway(options: WatchOptions): Promise<boolean> {
  const { interval, runs = Infinity, signal, wallet } = options;
  let isGood = true;
  let known: ReturnType<typeof toRows> | undefined;
  for (let run = 1; run <= runs; run += 1) {
    const start = Date.now();
    const before = wallet?.spent ?? 0;
    let report: DoctorReport;
    try {
      report = await options.createReport();
    } catch (error) {
      if (signal.aborted) return isGood;
      throw error;
    }
    if (signal.aborted) return isGood;
    const rows = new Map([...toRows(report.rows)].filter(([, row]) => isResult(row)));
    if (known === undefined) {
      isGood = !report.rows.some(isProblem);
      options.onStart(report);
    } else {
      const last = new Map([...known].filter(([id]) => rows.has(id)));
      for (const change of compareRows(last, rows)) {
        isGood &&= change.change !== 'worse';
        options.onChange(change, report.createdAt);
      }
    }
    known = new Map([...(known ?? []), ...rows]);
    const spent = (wallet?.spent ?? 0) - before;
    if (wallet !== undefined && wallet.limit - wallet.spent < spent) {
      options.onSpent(run);
      return isGood;
    }
    if (run === runs) break;
    try {
      await delay(Math.max(0, start + interval - Date.now()), signal);
    } catch {
      return isGood;
    }
  }
  return isGood;
}
