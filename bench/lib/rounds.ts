import type { Figures } from './child.ts';
import { median, type Metric, type Values } from './metric.ts';
import type { Column } from './packages.ts';

/** The measurements of all columns, by round. */
export type Rounds = readonly Readonly<Partial<Record<Column, Figures>>>[];

/**
 * Measures all columns in turn, round after round: what the machine does meanwhile hits all of them
 * alike. One process runs at a time.
 */
export async function inRounds(
  taken: readonly Column[],
  rounds: number,
  measure: (column: Column) => Promise<Figures>,
): Promise<Rounds> {
  const all = [];
  for (let round = 0; round < rounds; round++) {
    const own: Partial<Record<Column, Figures>> = {};
    for (const column of taken) own[column] = await measure(column);
    all.push(own);
  }
  return all;
}

/** One figure of every round. */
export function selectFigures(rounds: Rounds, name: string): Values[] {
  return rounds.map((round) =>
    Object.fromEntries(
      Object.entries(round).map(([column, figures]) => [column, figures[name] ?? Number.NaN]),
    ),
  );
}

/** A row of what varies from round to round. */
export function varying(row: Omit<Metric, 'values' | 'rounds'>, rounds: readonly Values[]): Metric {
  return { ...row, values: computeMedians(rounds), rounds };
}

/** The median of each column. */
export function computeMedians(rounds: readonly Values[]): Values {
  const all = new Map<string, number[]>();
  for (const [column, value] of rounds.flatMap((round) => Object.entries(round))) {
    all.set(column, [...(all.get(column) ?? []), value]);
  }
  return Object.fromEntries([...all].map(([column, values]) => [column, median(values)]));
}

/** Columns of a part that take part in this run. */
export function taking(
  all: Readonly<Record<string, unknown>>,
  wanted: readonly Column[],
): Column[] {
  return wanted.filter((column) => Object.hasOwn(all, column));
}
