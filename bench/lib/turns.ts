import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { childEnvironment } from './child.ts';
import type { Metric, Part } from './metric.ts';
import { columns, type Column } from './packages.ts';
import { type Rounds, selectFigures, taking, varying } from './rounds.ts';

/** Work that a client repeats. One batch is measured at a time. */
export interface Batch {
  readonly work: () => Promise<void>;
  /** Runs before the first batch, until the code is compiled. */
  readonly warmup: number;
  /** Runs of each batch. */
  readonly runs: number;
  /** The figure of a run is its CPU time in milliseconds, times this factor. */
  readonly scale: number;
}

/** Clients that are measured in turn, each in a process of its own. */
interface Turns<Client> {
  readonly file: string;
  readonly clients: Readonly<Partial<Record<Column, Client>>>;
  /** Connects a client and returns its work, by figure. */
  readonly connect: (
    client: Client,
    words: readonly string[],
  ) => Promise<Readonly<Record<string, () => Batch>>>;
}

/** The least number of rounds whose median repeats to a few percent on a busy machine. */
export const leastRounds = 11;

/** Measures batches in this process if it was started for that: `<file> <column> [words…]`. */
export function serveInTurns<Client>({ file, clients, connect }: Turns<Client>): void {
  if (process.argv[1] !== file || process.send === undefined) return;
  const [, , name, ...words] = process.argv;
  const own = columns.find((column) => column === name);
  const client = own && clients[own];
  if (client === undefined) throw new Error(`${String(name)} is not measured here.`);
  const batches = connect(client, words);
  const warm = new Set<string>();
  process.on('message', (message) => {
    if (typeof message === 'string') void measureBatch(message);
  });

  async function measureBatch(figure: string): Promise<void> {
    const { work, warmup, runs, scale } = (await batches)[figure]?.() ?? missing(figure);
    if (!warm.has(figure)) for (let run = 0; run < warmup; run++) await work();
    warm.add(figure);
    const start = process.cpuUsage();
    for (let run = 0; run < runs; run++) await work();
    // All threads count, so garbage collection does too. None is forced: a server forces none.
    const { user, system } = process.cpuUsage(start);
    process.send?.((scale * (user + system)) / 1000 / runs);
  }
}

function missing(figure: string): never {
  throw new Error(`There is no figure ${figure}.`);
}

/** A process that measures one client. */
class Measurer {
  readonly #process: ChildProcess;

  constructor(file: string, args: readonly string[]) {
    this.#process = fork(file, args, {
      env: childEnvironment(),
      execArgv: [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
  }

  /** Measures a batch. */
  async measure(figure: string): Promise<number> {
    const over = new AbortController();
    const { signal } = over;
    const ended = once(this.#process, 'exit', { signal }).then(() => missingResult(figure));
    try {
      const answer = once(this.#process, 'message', { signal });
      this.#process.send(figure);
      const [value]: unknown[] = await Promise.race([answer, ended]);
      return typeof value === 'number' ? value : missingResult(figure);
    } finally {
      over.abort();
      await ended.catch(() => undefined);
    }
  }

  stop(): void {
    this.#process.kill();
  }
}

function missingResult(figure: string): never {
  throw new Error(`A process ended without the figure ${figure}.`);
}

/**
 * Measures each client alone in a process that lives as long as the measurement. They take turns in batches, so
 * that whatever else the machine does affects all of them alike. Each round begins with another client.
 */
export async function measureInTurns(
  file: string,
  taken: readonly Column[],
  figures: readonly string[],
  { rounds = leastRounds, words = [] }: { rounds?: number; words?: readonly string[] } = {},
): Promise<Rounds> {
  const all: Partial<Record<Column, Record<string, number>>>[] = [];
  while (all.length < rounds) all.push(Object.fromEntries(taken.map((column) => [column, {}])));
  const measurers = taken.map((column) => ({
    column,
    one: new Measurer(file, [column, ...words]),
  }));
  try {
    for (const figure of figures) {
      // Warms up.
      for (const { one } of measurers) await one.measure(figure);
      for (const [index, round] of all.entries()) {
        const first = index % measurers.length;
        for (const { column, one } of [...measurers.slice(first), ...measurers.slice(0, first)]) {
          Object.assign(round[column] ?? {}, { [figure]: await one.measure(figure) });
        }
      }
    }
  } finally {
    for (const { one } of measurers) one.stop();
  }
  return all;
}

/** A part whose rows are measured in turns. */
export function turnsPart<Client>({
  name,
  rows,
  ...turns
}: Turns<Client> & {
  readonly name: string;
  readonly rows: Readonly<Record<string, Omit<Metric, 'values'>>>;
}): Part {
  serveInTurns(turns);
  return {
    name,
    async measure({ columns: wanted }) {
      const taken = taking(turns.clients, wanted);
      const measured = await measureInTurns(turns.file, taken, Object.keys(rows));
      return {
        metrics: Object.entries(rows).map(([figure, row]) =>
          varying(row, selectFigures(measured, figure)),
        ),
      };
    },
  };
}
