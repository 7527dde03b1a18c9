import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Metric, Part } from './metric.ts';
import { columns, type Column } from './packages.ts';
import { selectFigures, inRounds, taking, varying } from './rounds.ts';

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
  flags: readonly string[] = ['--expose-gc'],
): Promise<Figures> {
  const { stdout } = await execute(process.execPath, [...flags, script, ...args], {
    maxBuffer: 2 ** 26,
    // A busy machine takes its time.
    timeout: 300_000,
    env: childEnvironment(),
  });
  return parseFigures(stdout);
}

/** Runs work several times, and returns the CPU time of a run in microseconds, garbage of all threads included. */
export async function timeRuns(work: () => PromiseLike<unknown>, runs: number): Promise<number> {
  const start = process.cpuUsage();
  for (let run = 0; run < runs; run += 1) await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / runs;
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
      if (typeof figure !== 'number') throw new Error(`${name} is not a number.`);
      return [name, figure];
    }),
  );
}

/** Measures one client if the file is run as a program: `<file> <column> [args…]`. */
interface Child<Client> {
  readonly file: string;
  readonly clients: Readonly<Partial<Record<Column, Client>>>;
  readonly run: (client: Client, words: readonly string[]) => Promise<Figures>;
}

/** Measures in this process when it was started for that, and ends it. */
export function serveAsChild<Client>({ file, clients, run }: Child<Client>): void {
  if (process.argv[1] !== file) return;
  const [, , name, ...words] = process.argv;
  const own = columns.find((column) => column === name);
  const client = own && clients[own];
  if (client === undefined) throw new Error(`${String(name)} is not measured here.`);
  void run(client, words).then((figures) => {
    console.log(JSON.stringify(figures));
    // Open streams would keep their timers, and so this process.
    process.exit();
  });
}

/** A part of rows that are measured in children, each a figure that these print. */
export function childPart<Client>({
  name,
  rounds,
  rows,
  ...child
}: Child<Client> & {
  readonly name: string;
  readonly rounds: number;
  readonly rows: Readonly<Record<string, Omit<Metric, 'values'>>>;
}): Part {
  serveAsChild(child);
  return {
    name,
    async measure({ columns: wanted }) {
      const measured = await inRounds(taking(child.clients, wanted), rounds, (column) =>
        runChild(child.file, [column]),
      );
      return {
        metrics: Object.entries(rows).map(([figure, row]) =>
          varying(row, selectFigures(measured, figure)),
        ),
      };
    },
  };
}
