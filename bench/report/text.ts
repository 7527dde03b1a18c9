import type { Verdict } from '../judge.ts';
import type { Metric } from '../lib/metric.ts';
import { columns, type Column } from '../lib/packages.ts';
import { formatTable } from '../lib/table.ts';
import { figure, gateValue, limit } from './format.ts';

/** Columns that at least one metric has a figure for. */
export function usedColumns(metrics: readonly Metric[]): Column[] {
  return columns.filter((column) => metrics.some(({ values }) => values[column] !== undefined));
}

/** All figures, for a terminal. */
export function figuresTable(metrics: readonly Metric[]): string {
  const used = usedColumns(metrics);
  return formatTable(
    [
      { heading: '', align: 'left' },
      ...used.map((column) => ({ heading: column.replace('/', '/\n'), align: 'right' as const })),
    ],
    metrics.map(({ label, unit, values }) => [
      label,
      ...used.map((column) => {
        const value = values[column];
        return value === undefined ? '–' : figure(value, unit);
      }),
    ]),
  );
}

const words = { met: 'met', known: 'missed, as known', missed: 'MISSED' };

/** All gates, for a terminal. */
export function gatesTable(verdicts: readonly Verdict[], metrics: readonly Metric[]): string {
  const labels = createLabels(metrics);
  return formatTable(
    [
      { heading: 'gate', align: 'left' },
      { heading: 'asked', align: 'left' },
      { heading: 'measured', align: 'right' },
      { heading: 'ratchet', align: 'right' },
      { heading: '', align: 'left' },
    ],
    verdicts.map(({ gate, value, result }) => [
      labels.get(gate.metric) ?? gate.metric,
      limit(gate),
      gateValue(gate, value),
      gate.missed === undefined ? '' : gateValue(gate, gate.missed.atMost),
      words[result],
    ]),
  );
}

/** Labels that stand alone: rows that begin with a dash go on from the row before them. */
export function createLabels(metrics: readonly Metric[]): Map<string, string> {
  let head = '';
  return new Map(
    metrics.map(({ id, label }) => {
      if (!label.startsWith('– ')) {
        head = label.replace(/: .*$/, '');
        return [id, label];
      }
      return [id, `${head} ${label}`];
    }),
  );
}
