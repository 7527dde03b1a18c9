import type { Verdict } from '../judge.ts';
import type { Metric, Unit } from '../lib/metric.ts';
import type { Environment } from '../lib/results.ts';
import type { Column } from '../lib/packages.ts';
import { figure, gateValue, limit } from './format.ts';
import { createLabels } from './text.ts';

const start = '<!-- figures:start -->';
const end = '<!-- figures:end -->';

/** Columns of the table; the picture has the others. */
const shown: readonly Column[] = ['model-gateway', 'floor', 'openai', 'groq-sdk', 'ai'];

/** The least and the most of our figures, if they vary. */
function range(rounds: Metric['rounds'], unit: Unit): string {
  const own = rounds?.flatMap((round) => round['model-gateway'] ?? []) ?? [];
  const [least, most] = [Math.min(...own), Math.max(...own)].map((value) => figure(value, unit));
  return own.length === 0 || least === most ? '' : ` (${least} to ${most})`;
}

/** The figures in Markdown, for docs/bench.md. */
export function figuresText(
  metrics: readonly Metric[],
  verdicts: readonly Verdict[],
  environment: Environment,
): string {
  const labels = createLabels(metrics);
  const rows = metrics.map(({ id, unit, values, rounds }) => [
    labels.get(id) ?? id,
    ...shown.map((column) => {
      const value = values[column];
      if (value === undefined) return '–';
      return figure(value, unit) + (column === 'model-gateway' ? range(rounds, unit) : '');
    }),
    verdicts
      .filter(({ gate }) => gate.metric === id)
      .map(({ gate, value, result }) =>
        result === 'met' ? limit(gate) : `${limit(gate)}: **missed** (${gateValue(gate, value)})`,
      )
      .join(', '),
  ]);
  const headings = [
    'What',
    ...shown.map((name) => (name === 'floor' ? 'floor' : `\`${name}\``)),
    'Gate',
  ];
  const ruler = headings.map((_, index) => (index === 0 || index > shown.length ? '---' : '---:'));
  const missed = verdicts.filter(({ result }) => result !== 'met');
  const versions = Object.entries(environment.packages)
    .filter(([name]) => name !== 'model-gateway')
    .map(([name, version]) => `${name} ${version}`)
    .join(', ');
  return [
    ...[headings, ruler, ...rows].map((cells) => `| ${cells.join(' | ')} |`),
    '',
    `Node ${environment.node}, ${environment.platform}, 2 cores; ${versions}.`,
    ...(missed.length === 0
      ? []
      : ['', 'Gates that are missed today, and what holds them back:', '']),
    ...missed.map(
      ({ gate }) => `- ${labels.get(gate.metric) ?? gate.metric}: ${gate.missed?.why ?? 'new.'}`,
    ),
  ].join('\n');
}

/** Puts the figures between their markers. */
export function withFigures(page: string, figures: string): string {
  const from = page.indexOf(start);
  const to = page.indexOf(end);
  if (from === -1 || to < from) throw new Error(`docs/bench.md has no ${start} … ${end}.`);
  return `${page.slice(0, from)}${start}\n\n${figures}\n\n${page.slice(to)}`;
}
