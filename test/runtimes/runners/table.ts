interface Result {
  readonly name: string;
  readonly passed: boolean;
  readonly measured: string | undefined;
  readonly details: string[];
}

const resultLine = /^(not )?ok \d+ - ([^#]*?)(?: # (.*))?$/;

/** The results of one runtime, read from the lines that it prints. */
export class RuntimeResults {
  readonly runtime: string;
  readonly results: Result[] = [];
  readonly #startedAt = Date.now();
  #milliseconds = 0;
  #expected = 0;

  constructor(runtime: string) {
    this.runtime = runtime;
  }

  get passed(): number {
    return this.results.filter(({ passed }) => passed).length;
  }

  get failed(): number {
    return this.results.length - this.passed;
  }

  get summary(): string {
    const { runtime, passed, failed, results } = this;
    return JSON.stringify({
      runtime,
      passed,
      failed,
      milliseconds: this.#milliseconds,
      failures: results.filter((result) => !result.passed).map(({ name }) => name),
    });
  }

  /** Reads one line. */
  read(line: string): void {
    const [, not, name, measured] = resultLine.exec(line) ?? [];
    if (name !== undefined) {
      this.results.push({ name, passed: not === undefined, measured, details: [] });
    } else if (/^1\.\.\d+$/.test(line)) {
      this.#expected += Number(line.slice(3));
    } else {
      this.results.at(-1)?.details.push(line);
    }
  }

  /** The runtime itself has failed. */
  broke(error: unknown): void {
    const details = String(error instanceof Error ? (error.stack ?? error) : error).split('\n');
    this.results.push({ name: 'runs to its end', passed: false, measured: undefined, details });
    this.#expected = this.results.length;
  }

  /** No more lines will come. */
  finish(): void {
    this.#milliseconds = Date.now() - this.#startedAt;
    if (this.#expected !== this.results.length)
      this.broke('It stopped before every check had run.');
  }
}

function printFailures({ runtime, results }: RuntimeResults): void {
  for (const { name, passed, details } of results) {
    if (passed) continue;
    console.log(`\n${runtime}: ${name}`);
    for (const detail of details) console.log(`  ${detail}`);
  }
}

function formatCell(result: Result | undefined): string {
  if (result === undefined) return '-';
  return result.passed ? (result.measured ?? 'ok') : 'FAIL';
}

/** Prints a table of checks by runtimes with what was measured, and the details of what failed. */
export function printTable(all: readonly RuntimeResults[]): void {
  const names = [...new Set(all.flatMap(({ results }) => results.map(({ name }) => name)))];
  const columns = [
    ['', ...names],
    ...all.map(({ runtime, results }) => [
      runtime,
      ...names.map((name) => formatCell(results.find((result) => result.name === name))),
    ]),
  ];
  const widths = columns.map((cells) => Math.max(...cells.map(({ length }) => length)));
  console.log('');
  for (let row = 0; row <= names.length; row += 1) {
    const cells = columns.map((column, index) => (column[row] ?? '').padEnd(widths[index] ?? 0));
    console.log(cells.join('  ').trimEnd());
  }
  for (const results of all) printFailures(results);
}
