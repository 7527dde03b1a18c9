import type { Fault } from './faults.ts';
import type { Cell } from './measure.ts';
import type { Subject } from './subject.ts';

/** Calls of one package that behaved alike under every fault. */
export interface Column {
  readonly package: string;
  readonly options: string | undefined;
  readonly pays: Subject['pays'];
  readonly calls: readonly string[];
  readonly cells: ReadonlyMap<Fault, Cell>;
}

/** Makes columns out of cells, in their order, and merges those that cannot be told apart. */
export function groupColumns(cells: readonly Cell[]): Column[] {
  const subjects = [...new Set(cells.map(({ subject }) => subject))];
  const columns: Column[] = [];
  for (const subject of subjects) {
    const own = cells.filter((cell) => cell.subject === subject);
    const index = columns.findIndex((column) => fits(column, subject, own));
    const twin = columns[index];
    const column = {
      package: subject.package,
      options: subject.options,
      pays: subject.pays,
      calls: [...(twin?.calls ?? []), subject.call],
      cells: new Map([...(twin?.cells ?? []), ...own.map((cell) => [cell.fault, cell] as const)]),
    };
    if (twin === undefined) columns.push(column);
    else columns[index] = column;
  }
  return columns;
}

/** A fault that one of the two cannot meet tells nothing apart. */
function fits(column: Column, subject: Subject, cells: readonly Cell[]): boolean {
  return (
    column.package === subject.package &&
    column.options === subject.options &&
    column.pays === subject.pays &&
    cells.every((cell) => {
      const other = column.cells.get(cell.fault);
      return other === undefined || formatCounts(other) === formatCounts(cell);
    })
  );
}

function formatCounts({ attempts, requests, charges, ended }: Cell): string {
  return [attempts, requests, charges, ended === 'time limit'].join(' ');
}

/** A count as it is shown: a lower bound when the call had not ended. */
export function show(count: number, { ended }: Cell): string {
  return ended === 'time limit' ? `≥ ${count}` : String(count);
}
