import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { childEnvironment, parseFigures } from './lib/child.ts';
import type { Part } from './lib/metric.ts';
import { specifiers } from './lib/packages.ts';
import { figuresOf, inRounds, varying } from './lib/rounds.ts';

const execute = promisify(execFile);
const rounds = 15;

/** The CPU of a whole process that imports and ends, in milliseconds. */
async function cpuOf(imported: readonly string[]): Promise<number> {
  const program = [
    ...imported.map((specifier) => `await import(${JSON.stringify(specifier)});`),
    'const { user, system } = process.cpuUsage();',
    'console.log(JSON.stringify({ cpu: (user + system) / 1000 }));',
  ].join('\n');
  const { stdout } = await execute(process.execPath, ['--input-type=module', '-e', program], {
    cwd: import.meta.dirname,
    env: childEnvironment(),
  });
  return parseFigures(stdout)['cpu'] ?? Number.NaN;
}

export const importPart: Part = {
  name: 'import',
  async measure({ columns }) {
    let bare = 0;
    const measured = await inRounds(columns, rounds, async (column) => {
      if (column === columns[0]) bare = await cpuOf([]);
      return { cpu: (await cpuOf(specifiers[column])) - bare };
    });
    const row = { id: 'import', label: 'Cold import, CPU over bare Node', unit: 'ms' } as const;
    return { metrics: [varying(row, figuresOf(measured, 'cpu'))] };
  },
};
