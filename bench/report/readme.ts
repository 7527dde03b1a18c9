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
