import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { childEnvironment, parseFigures, type Figures } from '../lib/child.ts';
import { median, type Effort, type Part, type PartResult } from '../lib/metric.ts';
import type { Column } from '../lib/packages.ts';
import { inRounds, mediansOf, taking } from '../lib/rounds.ts';

const bench = path.join(import.meta.dirname, '..');
const execute = promisify(execFile);

/** What a program that uses the client imports. The floor is what this client is built on, as installed. */
const imports: Partial<Record<Column, readonly string[]>> = {
  'model-gateway': [`${bench}/../dist/index.js`],
  floor: ['ky', 'eventsource-parser'],
  ky: ['ky'],
  openai: ['openai'],
  'groq-sdk': ['groq-sdk'],
  '@anthropic-ai/sdk': ['@anthropic-ai/sdk'],
  '@google/genai': ['@google/genai'],
  ai: ['ai', '@ai-sdk/openai-compatible'],
  '@fal-ai/client': ['@fal-ai/client'],
  '@runwayml/sdk': ['@runwayml/sdk'],
};

const rounds = 15;

/** A whole process that imports and ends. */
async function runImport(specifiers: readonly string[]): Promise<Figures> {
  const program = [
    ...specifiers.map((specifier) => `await import(${JSON.stringify(specifier)});`),
    'const { user, system } = process.cpuUsage();',
    'console.log(JSON.stringify({ cpu: (user + system) / 1000 }));',
  ].join('\n');
  const { stdout } = await execute(process.execPath, ['--input-type=module', '-e', program], {
    cwd: bench,
    env: childEnvironment(),
  });
  return parseFigures(stdout);
}

async function measure({ columns }: Effort): Promise<PartResult> {
  const bare: number[] = [];
  const samples = await inRounds(taking(imports, columns), rounds, async (column) => {
    if (column === 'model-gateway') bare.push((await runImport([]))['cpu'] ?? 0);
    return runImport(imports[column] ?? []);
  });
  const base = median(bare);
  const values = Object.fromEntries(
    Object.entries(mediansOf(samples, 'cpu')).map(([column, cpu]) => [column, cpu - base]),
  );
  return {
    metrics: [{ id: 'import', label: 'Cold import, CPU over bare Node', unit: 'ms', values }],
    raw: { bare, samples },
  };
}

export const importPart: Part = { name: 'import', measure };
