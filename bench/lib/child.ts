import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Numbers by name, as children of the benchmark print them. */
export type Figures = Readonly<Record<string, number>>;

/**
 * Runs a script in a fresh process, so that nothing that another client loaded, compiled or left on
 * the heap counts, and reads the figures that it prints as its last line.
 */
export async function runChild(
  script: string,
  args: readonly string[],
  flags: readonly string[] = [],
): Promise<Figures> {
  const { stdout } = await execute(process.execPath, [...flags, script, ...args], {
    maxBuffer: 2 ** 26,
    timeout: 120_000,
    env: childEnvironment(),
  });
  return parseFigures(stdout);
}

/** A compile cache would make every round after the first another measurement. */
export function childEnvironment(): NodeJS.ProcessEnv {
  const { NODE_COMPILE_CACHE: _, NODE_OPTIONS: __, ...environment } = process.env;
  return { ...environment, NODE_NO_WARNINGS: '1' };
}

/** The last line of a child's output as figures. */
export function parseFigures(output: string): Figures {
  const value: unknown = JSON.parse(output.trim().split('\n').at(-1) ?? '');
  if (typeof value !== 'object' || value === null) throw new Error('A child printed no figures.');
  return Object.fromEntries(
    Object.entries(value).map(([name, figure]) => {
      if (typeof figure !== 'number') throw new Error(`${name} is no number.`);
      return [name, figure];
    }),
  );
}

/** The script of a part that runs in children. */
export function printFigures(figures: Figures): void {
  console.log(JSON.stringify(figures));
}
