import { styleText } from 'node:util';

/** A worker on the dashboard. */
export interface ShownWorker {
  readonly name: string;
  readonly pid: number | undefined;
  state: 'works' | 'killed' | 'ended';
  done: number;
  failed: number;
}

/** The data of the dashboard. */
export interface Fleet {
  readonly server: string;
  readonly seconds: number;
  readonly wanted: number;
  /** The number of jobs by state, from the queue. */
  readonly jobs: Readonly<Record<string, number>>;
  readonly workers: readonly ShownWorker[];
  readonly charges: number;
  readonly files: number;
  readonly note: string;
}

const width = 40;

function bar(done: number, wanted: number): string {
  const full = Math.floor((done / wanted) * width);
  return styleText('green', '█'.repeat(full)) + styleText('dim', '░'.repeat(width - full));
}

function workerLine({ name, pid, state, done, failed }: ShownWorker): string {
  const told = { works: 'works', killed: styleText('red', 'killed'), ended: 'ended' }[state];
  const failures = failed === 0 ? '' : styleText('red', `, ${failed} failed`);
  return `  ${name}  ${`process ${pid ?? '?'}`.padEnd(16)}${String(done).padStart(4)} saved${failures}  ${told}`;
}

function lines({ server, seconds, wanted, jobs, workers, charges, files, note }: Fleet): string[] {
  const { waiting = 0, delayed = 0, active = 0, failed = 0 } = jobs;
  const lost = failed === 0 ? '' : styleText('red', `   ${failed} failed`);
  return [
    `${styleText('bold', `Video fleet on ${server}`)}  ${seconds.toFixed(0)} s`,
    '',
    `  ${bar(files, wanted)} ${files} of ${wanted} videos saved`,
    `  ${waiting} wait for a worker   ${active} in work   ${delayed} put off until their next poll${lost}`,
    '',
    ...workers.map(workerLine),
    '',
    `  ${charges} charges so far`,
    `  ${note}`,
  ];
}

/** Shows the fleet: redrawn in place on a terminal, or as an occasional line elsewhere. */
export class Dashboard {
  readonly #out = process.stdout;
  #height = 0;
  #lastLine = '';

  show(fleet: Fleet): void {
    if (!this.#out.isTTY) {
      const line = `${fleet.seconds.toFixed(0).padStart(3)} s  ${fleet.files} saved, ${fleet.charges} charges  ${fleet.note}`;
      if (line.slice(7) !== this.#lastLine) this.#out.write(`${line}\n`);
      this.#lastLine = line.slice(7);
      return;
    }
    const shown = lines(fleet);
    const back = this.#height === 0 ? '\u001b[?25l' : `\u001b[${this.#height}A`;
    this.#out.write(back + shown.map((line) => `\u001b[2K${line}\n`).join('') + '\u001b[J');
    this.#height = shown.length;
  }

  /** Restores the cursor of the terminal. */
  close(): void {
    if (this.#out.isTTY && this.#height > 0) this.#out.write('\u001b[?25h');
    this.#height = 0;
  }
}
