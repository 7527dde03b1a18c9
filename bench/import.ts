import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { openaiCompletion } from './lib/answers.ts';
import { childEnvironment, parseFigures } from './lib/child.ts';
import { apiKey, baseURL, body } from './lib/clients.ts';
import type { Part } from './lib/metric.ts';
import { specifiers, type Column } from './lib/packages.ts';
import { selectFigures, inRounds, taking, varying } from './lib/rounds.ts';

const execute = promisify(execFile);
const rounds = 15;

const settings = JSON.stringify({ apiKey, baseURL });
const params = JSON.stringify(body);

/** A program that imports a client and makes its first call. */
function callWith(specifier: string, base = baseURL): string {
  return `
    const { default: Client } = await import('${specifier}');
    const client = new Client({ ...${settings}, baseURL: '${base}' });
    await client.chat.completions.create(${params});`;
}

const firstCalls: Readonly<Partial<Record<Column, string>>> = {
  'model-gateway': callWith('../dist/index.js'),
  floor: `
    const init = { method: 'POST', body: JSON.stringify(${params}) };
    await (await fetch('${baseURL}/chat/completions', init)).json();`,
  openai: callWith('openai'),
  'groq-sdk': callWith('groq-sdk', baseURL.replace(/\/v1$/, '')),
};

/** Replaces `fetch`. Its `Response` makes Node load its own implementation for every client. */
const fetchInMemory = `
  const answer = ${JSON.stringify(JSON.stringify(openaiCompletion))};
  const headers = { 'content-type': 'application/json' };
  globalThis.fetch = async () => new Response(answer, { headers });`;

/** The CPU of a whole process that runs a program and ends, in milliseconds. */
async function measureCpu(...lines: readonly string[]): Promise<number> {
  const program = [
    ...lines,
    'const { user, system } = process.cpuUsage();',
    'console.log(JSON.stringify({ cpu: (user + system) / 1000 }));',
  ].join('\n');
  const { stdout } = await execute(process.execPath, ['--input-type=module', '-e', program], {
    cwd: import.meta.dirname,
    env: childEnvironment(),
  });
  return parseFigures(stdout)['cpu'] ?? Number.NaN;
}

const importing = (column: Column): string =>
  specifiers[column].map((specifier) => `await import(${JSON.stringify(specifier)});`).join('\n');

export const importPart: Part = {
  name: 'import',
  async measure({ columns }) {
    let bare = 0;
    const imported = await inRounds(columns, rounds, async (column) => {
      if (column === columns[0]) bare = await measureCpu();
      return { cpu: (await measureCpu(importing(column))) - bare };
    });
    const called = await inRounds(taking(firstCalls, columns), rounds, async (column) => {
      if (column === columns[0]) bare = await measureCpu();
      return { cpu: (await measureCpu(fetchInMemory, firstCalls[column] ?? '')) - bare };
    });
    return {
      metrics: [
        varying(
          { id: 'import', label: 'Cold import, CPU over bare Node', unit: 'ms' },
          selectFigures(imported, 'cpu'),
        ),
        varying(
          { id: 'import.call', label: '– with a first call', unit: 'ms' },
          selectFigures(called, 'cpu'),
        ),
      ],
    };
  },
};
