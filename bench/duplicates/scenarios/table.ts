import { formatTable } from '../../lib/table.ts';
import type { Counts } from './scenario.ts';

/** The results of a scenario by package. */
export interface ScenarioResult {
  readonly id: string;
  readonly label: string;
  /** The promise of this client, and whether it held. */
  readonly promise: string;
  readonly isKept: boolean;
  /** Without `counts` a package did not end in time. */
  readonly packages: readonly { readonly package: string; readonly counts?: Counts }[];
}

function inWords(counts: Counts | undefined): string {
  if (counts === undefined) return 'no end';
  const { requests, charges, notes } = counts;
  const list = Object.entries(notes).map(([name, value]) => `${name} ${value}`);
  return [`${requests} / ${charges}`, ...list].join(', ');
}

/** Headings and rows, with a column for each package. */
function cells(results: readonly ScenarioResult[]): string[][] {
  const names = new Set(results.flatMap(({ packages }) => packages.map((entry) => entry.package)));
  const rows = results.map(({ label, promise, packages }) => [
    label,
    promise,
    ...[...names].map((name) => {
      const entry = packages.find((known) => known.package === name);
      return entry === undefined ? '–' : inWords(entry.counts);
    }),
  ]);
  return [['Requests / charges', 'Promise', ...names], ...rows];
}

/** The table for a terminal. */
export function scenarioText(results: readonly ScenarioResult[]): string {
  const [headings = [], ...rows] = cells(results);
  return formatTable(
    headings.map((heading) => ({ heading, align: 'left' })),
    rows,
  );
}

const start = '<!-- scenarios:start -->';
const end = '<!-- scenarios:end -->';

/** Puts the table between the markers of a guide. */
export function withScenarios(page: string, results: readonly ScenarioResult[]): string {
  const [from, to] = [page.indexOf(start), page.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`The page has no ${start} … ${end}.`);
  const [headings = [], ...rows] = cells(results);
  const lines = [headings, headings.map(() => '---'), ...rows].map(
    (line) => `| ${line.join(' | ')} |`,
  );
  return `${page.slice(0, from)}${start}\n\n${lines.join('\n')}\n\n${page.slice(to)}`;
}
