import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Effort, Part, PartResult } from './lib/metric.ts';
import type { Column } from './lib/packages.ts';
import { taking } from './lib/rounds.ts';

const root = path.join(import.meta.dirname, '..');
const runtimes = path.join(root, 'test', 'runtimes');
const execute = promisify(execFile);

/** Pages that stream one answer with a client. */
const pages: Partial<Record<Column, string>> = {
  'model-gateway': 'page/model-gateway.js',
  openai: 'page/openai.js',
  'groq-sdk': 'page/groq-sdk.js',
};

/** Chromium and Vite are those of the runtime tests. */
function prepare(): void {
  if (existsSync(path.join(runtimes, 'node_modules', 'vite'))) return;
  console.error('Installing Chromium and Vite…');
  execFileSync('npm', ['ci', '--loglevel=error'], { cwd: runtimes, stdio: 'ignore' });
}

async function measure({ columns }: Effort): Promise<PartResult> {
  prepare();
  const values: Partial<Record<Column, number>> = {};
  const raw: Partial<Record<Column, unknown>> = {};
  for (const column of taking(pages, columns)) {
    const module = path.join(import.meta.dirname, pages[column] ?? '');
    const program = path.join(runtimes, 'page.ts');
    const { stdout } = await execute(process.execPath, [program, module], { cwd: root });
    const loaded: { files: number; bytes: number } = JSON.parse(stdout);
    values[column] = loaded.bytes / 1024;
    raw[column] = loaded;
  }
  return {
    metrics: [
      {
        id: 'page',
        label: 'Page until its first streamed chunk, gzip',
        unit: 'KiB',
        values,
      },
    ],
    raw,
  };
}

export const pagePart: Part = { name: 'page', measure };
