import type { Column } from './packages.ts';

/** One row of the table. */
export interface Metric {
  /** Names the row in gates and results; begins with the name of its part, for example `chunks.170`. */
  readonly id: string;
  readonly label: string;
  readonly unit: Unit;
  /** Values by column, without clients that lack the feature. With `rounds`, medians. */
  readonly values: Values;
  /** Every measurement, when it is one that varies: of time and memory, not of sizes and counts. */
  readonly rounds?: readonly Values[];
}

export type Unit = 'KiB' | 'MiB' | 'ms' | 'µs' | 'files' | 'types' | 'packages' | 'polls';
export type Values = Readonly<Partial<Record<Column, number>>>;

/** The result of a part of the benchmark. */
export interface PartResult {
  readonly metrics: readonly Metric[];
  /** Notes on the figures. */
  readonly raw?: unknown;
}

/** The scope of a run. */
export interface Effort {
  /** `true` to measure only figures with gates. */
  readonly check: boolean;
  /** The columns that are measured. */
  readonly columns: readonly Column[];
}

/** One folder of the benchmark. */
export interface Part {
  readonly name: string;
  measure(effort: Effort): Promise<PartResult>;
}

/** The middle of a list; of the two middle ones the mean. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? upper) + upper) / 2 : upper;
}
