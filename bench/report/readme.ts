import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Metric } from '../lib/metric.ts';

export const readmeFile = path.join(import.meta.dirname, '../..', 'README.md');

const statement = /one package of ([\d.]+) MiB \(`openai`: ([\d.]+) MiB\)/;

/** The size of the package in the README, in MiB. It is also its gate. */
export function statedSize(readme = readFileSync(readmeFile, 'utf8')): number {
  const size = Number(statement.exec(readme)?.[1]);
  if (!(size > 0)) throw new Error('The README has no size of the package.');
  return size;
}

/** Rounds up a size in MiB, as the README states it. */
export const roundSize = (size: number): number => Math.ceil(size * 10) / 10;

/** Puts the measured sizes into the README. */
export function withSize(readme: string, metrics: readonly Metric[]): string {
  const { values = {} } = metrics.find(({ id }) => id === 'install.size') ?? {};
  const { 'model-gateway': own, openai } = values;
  if (own === undefined || openai === undefined) return readme;
  const sizes = `${own} MiB (\`openai\`: ${Math.round(openai)} MiB)`;
  return readme.replace(statement, `one package of ${sizes}`);
}

/** The faults in the README, of those that are measured. */
const shownFaults = ['reset', 'timeout', '502-html', '503-text', '200-cut'] as const;

const shownPackages: Readonly<Record<string, string>> = {
  'model-gateway': 'This client',
  openai: '`openai`',
  ai: 'AI SDK',
  '@fal-ai/client': 'fal',
  '@runwayml/sdk': 'Runway',
  replicate: 'replicate',
};

/** What the README shows of `bench/results/duplicates.json`. */
export interface MeasuredCharges {
  readonly faults: readonly { readonly id: string; readonly label: string }[];
  readonly calls: readonly {
    readonly package: string;
    readonly options: string;
    readonly pays: string;
    readonly faults: Readonly<Record<string, { readonly charges: number }>>;
  }[];
}

/** Returns the charges of the calls of a package, which may differ by call. */
function countCharges({ calls }: MeasuredCharges, name: string, fault: string): string {
  const counts = calls
    .filter((call) => call.package === name && call.pays === 'job' && call.options === 'defaults')
    .flatMap(({ faults }) => faults[fault]?.charges ?? []);
  if (counts.length === 0) return '–';
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return least === most ? `${least}` : `${least} to ${most}`;
}

const formatRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** Returns the charges of a failed image or video call, by fault and package, for the README. */
export function chargesByPackage(measured: MeasuredCharges): string {
  const names = Object.keys(shownPackages);
  const rows = shownFaults.map((id) => {
    const label = measured.faults.find((fault) => fault.id === id)?.label ?? id;
    return formatRow([label, ...names.map((name) => countCharges(measured, name, id))]);
  });
  return [
    formatRow(['Charges for one image or video', ...Object.values(shownPackages)]),
    formatRow(['---', ...names.map(() => '---:')]),
    ...rows,
  ].join('\n');
}

/** Puts them into the README. */
export const withCharges = (readme: string, measured: MeasuredCharges): string =>
  readme.replace(
    /(<!-- charges:start -->)[\s\S]*(<!-- charges:end -->)/,
    `$1\n\n${chargesByPackage(measured)}\n\n$2`,
  );
