import { columns, type Column } from './packages.ts';

/** The column that a child is told to measure: its first argument. */
export function columnArgument(): Column {
  const name = process.argv[2];
  const column = columns.find((known) => known === name);
  if (column === undefined) throw new Error(`${String(name)} is no column.`);
  return column;
}
