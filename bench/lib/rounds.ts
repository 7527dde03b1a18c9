import type { Figures } from './child.ts';
import { median, type Values } from './metric.ts';
import { columns, type Column } from './packages.ts';

/** Every measurement of every column, by the name of its figure. */
export type Samples = Readonly<
  Partial<Record<Column, Readonly<Record<string, readonly number[]>>>>
>;

/**
 * Measures all columns in turn, round after round: what the machine does meanwhile hits all of them
 * alike. One process runs at a time.
 */
export async function inRounds(
  taken: readonly Column[],
  rounds: number,
  measure: (column: Column) => Promise<Figures>,
): Promise<Samples> {
  const samples: Partial<Record<Column, Record<string, number[]>>> = {};
  for (let round = 0; round < rounds; round++) {
    for (const column of taken) {
      const own = (samples[column] ??= {});
      const figures = await measure(column);
      for (const [name, figure] of Object.entries(figures)) (own[name] ??= []).push(figure);
    }
  }
  return samples;
}

/** The medians of one figure. */
export function mediansOf(samples: Samples, name: string): Values {
  const values: Partial<Record<Column, number>> = {};
  for (const column of columns) {
    const own = samples[column]?.[name];
    if (own !== undefined) values[column] = median(own);
  }
  return values;
}

/** Columns of a part that take part in this run. */
export function taking(
  all: Readonly<Record<string, unknown>>,
  wanted: readonly Column[],
): Column[] {
  return wanted.filter((column) => Object.hasOwn(all, column));
}
