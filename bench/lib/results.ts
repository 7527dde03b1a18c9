import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Verdict } from '../judge.ts';
import type { Metric } from './metric.ts';

const bench = path.join(import.meta.dirname, '..');

/** The folder of the results, which are committed and shown in docs/bench.md. */
export const resultsDirectory = path.join(bench, 'results');

/** The environment of a benchmark. */
export interface Environment {
  readonly node: string;
  readonly platform: string;
  /** Versions of the packages that took part. */
  readonly packages: Readonly<Record<string, string>>;
}

/** Reads the versions of the packages that are really installed. */
export async function describeEnvironment(packages: readonly string[]): Promise<Environment> {
  const versions = await Promise.all(
    packages.map(async (name) => [name, await installedVersion(name)] as const),
  );
  return {
    node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
    packages: Object.fromEntries(versions),
  };
}

async function installedVersion(name: string): Promise<string> {
  const directory =
    name === 'model-gateway' ? path.join(bench, '..') : path.join(bench, 'node_modules', name);
  const manifest: unknown = JSON.parse(
    await readFile(path.join(directory, 'package.json'), 'utf8'),
  );
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest) {
    return String(manifest.version);
  }
  throw new Error(`${directory} has no version.`);
}

/** Writes a figure into the results directory and gives its path. */
export async function saveResult(name: string, content: string): Promise<string> {
  await mkdir(resultsDirectory, { recursive: true });
  const file = path.join(resultsDirectory, name);
  await writeFile(file, content.endsWith('\n') ? content : `${content}\n`);
  return path.relative(process.cwd(), file);
}

/** Writes figures as JSON; objects and lists of plain values take one line each. */
export async function saveJSON(name: string, value: unknown): Promise<string> {
  const lines = JSON.stringify(value, null, 2);
  return saveResult(
    name,
    lines.replaceAll(/[[{][^[\]{}]*[\]}]/g, (plain) => plain.replaceAll(/\s*\n\s*/g, ' ')),
  );
}

/** The results of a run. */
interface Results {
  readonly environment: Environment;
  readonly metrics: readonly Metric[];
  readonly verdicts: readonly Verdict[];
  readonly raw: Readonly<Record<string, unknown>>;
}

/** What `bench.json` holds. */
interface Saved extends Omit<Results, 'verdicts'> {
  readonly gates: readonly (Verdict['gate'] & Omit<Verdict, 'gate'>)[];
}

/** The part that a row or a gate belongs to. */
const partOf = (id: string): string => id.split('.', 1)[0] ?? '';

/** Adds the former results of the parts that this run has not measured, and their order. */
export async function withFormer({ metrics, verdicts, raw }: Results): Promise<Results> {
  const former: Saved = JSON.parse(
    await readFile(path.join(resultsDirectory, 'bench.json'), 'utf8'),
  );
  const verdictsOfFormer = former.gates.map(({ value, result, ...gate }): Verdict => ({
    gate,
    value,
    result,
  }));
  const measured = new Set(metrics.map(({ id }) => id));
  const kept = verdictsOfFormer.filter(({ gate }) => !measured.has(gate.metric));
  const known = new Set(former.metrics.map(({ id }) => id));
  const all = [
    ...former.metrics.map((metric) => metrics.find(({ id }) => id === metric.id) ?? metric),
    ...metrics.filter(({ id }) => !known.has(id)),
  ];
  const partOrder = all.map(({ id }) => partOf(id));
  // New rows stand with those of their part.
  const sorted = all.toSorted(
    (one, other) => partOrder.indexOf(partOf(one.id)) - partOrder.indexOf(partOf(other.id)),
  );
  const order = sorted.map(({ id }) => id);
  return {
    environment: former.environment,
    metrics: sorted,
    verdicts: [...kept, ...verdicts].toSorted(
      (one, other) => order.indexOf(one.gate.metric) - order.indexOf(other.gate.metric),
    ),
    raw: { ...former.raw, ...raw },
  };
}
