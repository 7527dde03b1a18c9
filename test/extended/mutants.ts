// Breaks one decision of the source at a time, and shows which test files notice.
//
//   node test/extended/mutants.ts [--all] [--near] [--jobs 2] [--shard 1/2] [pattern ...]
//
// Patterns select mutants by their file or their text. Each runs against the source tests, those of its
// room first, until one fails; `--all` runs the rest too, to find tests that notice nothing on their own.
// `--near` runs only those.
// Without a pattern, the tests run once without a mutant. A time-out may be due to a busy machine: run
// those mutants again alone. Needs `npm run build`.
import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { parseArgs } from 'node:util';
import { mutants as all, type SourceMutant } from './mutants/index.ts';
import type { Result } from './mutants/run-tests.ts';

const { values: flags, positionals: patterns } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: 'boolean', default: false },
    near: { type: 'boolean', default: false },
    jobs: { type: 'string', default: `${availableParallelism()}` },
    shard: { type: 'string', default: '1/1' },
  },
});
const [shard = NaN, shards = NaN] = flags.shard.split('/').map(Number);
if (!(shard >= 1 && shard <= shards)) throw new Error('Pass --shard as 1/2 or 2/2.');

/** Options of each run of the tests. */
const runOptions = [...(flags.all ? ['--all'] : []), ...(flags.near ? ['--near'] : [])];

const root = join(import.meta.dirname, '../..');

/** Milliseconds without the result of a test until a run is stopped, because broken source may loop forever. */
const longestSilence = 90_000;

/** The first reads `dist`, which mutants do not change; the second searches for the text of mutants. */
const excluded = ['test/golden/declarations.test.ts', 'test/contributing.test.ts'];

/** @throws if the text of a mutant no longer occurs exactly once in its file */
function breakSource(source: string, { file, is, becomes }: SourceMutant): string {
  const [before = '', after, ...more] = source.split(is);
  if (after === undefined || more.length > 0) {
    const times = after === undefined ? 'not' : 'more than once';
    throw new Error(`src/${file} has this text ${times}; update test/extended/mutants:\n${is}`);
  }
  return before + becomes + after;
}

const timedOut = /timed out in \d+ ?ms|^The run was silent/;

/** A process that runs the tests of a copy. A source file that loops forever outlives its parent. */
class Tests {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string, undefined>;
  isRunning = true;

  constructor(folder: string, options: readonly string[]) {
    const script = join(folder, 'test/extended/mutants/run-tests.ts');
    this.#process = spawn(process.execPath, [script, ...options], {
      cwd: folder,
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
    });
    this.#lines = createInterface(this.#process.stdout)[Symbol.asyncIterator]();
  }

  /** Runs the tests of a file, and returns the failures. */
  async run(file: string): Promise<readonly Result[]> {
    const failures: Result[] = [];
    let passed = 0;
    let isSilent = false;
    const timer = setTimeout(() => {
      isSilent = true;
      this.stop();
    }, longestSilence);
    this.#process.stdin.write(`${file}\n`);
    for (;;) {
      const { value: line } = await this.#lines.next();
      if (line === undefined) break;
      timer.refresh();
      if (!line.startsWith('{')) continue;
      const result: Result = JSON.parse(line);
      if (result.isEnd) break;
      if (result.failed === undefined) passed += 1;
      else failures.push(result);
    }
    clearTimeout(timer);
    if (isSilent) failures.push({ failed: 'no test', message: 'The run was silent.' });
    if (passed + failures.length === 0) throw new Error('No test ran; try `npm run build`.');
    return failures;
  }

  stop(): void {
    const { pid } = this.#process;
    if (pid === undefined || !this.isRunning) return;
    this.isRunning = false;
    process.kill(-pid, 'SIGKILL');
  }
}

/** A copy of the project whose source can be broken. */
class Copy {
  readonly folder = mkdtempSync(join(tmpdir(), 'mutants-'));
  #tests: Tests | undefined;

  constructor() {
    const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
    const files = execFileSync('git', list, { cwd: root, encoding: 'utf8' });
    for (const name of files.split('\0')) {
      if (name === '' || excluded.includes(name) || !existsSync(join(root, name))) continue;
      cpSync(join(root, name), join(this.folder, name), { recursive: true });
    }
    for (const name of ['node_modules', 'dist']) {
      symlinkSync(join(root, name), join(this.folder, name));
    }
  }

  /** @throws if tests fail although nothing is broken */
  async checkTests(): Promise<void> {
    const tests = new Tests(this.folder, ['--all']);
    const failures = await tests.run('index.ts').finally(() => tests.stop());
    if (failures.length === 0) return;
    throw new Error(`Tests fail without a mutant:\n${failures.map(describeFailure).join('\n')}`);
  }

  /** Returns the failures that notice a mutant. */
  async test(mutant: SourceMutant): Promise<readonly Result[]> {
    const path = join(this.folder, 'src', mutant.file);
    const source = readFileSync(path, 'utf8');
    writeFileSync(path, breakSource(source, mutant));
    try {
      if (this.#tests?.isRunning !== true) this.#tests = new Tests(this.folder, runOptions);
      return await this.#tests.run(mutant.file);
    } finally {
      writeFileSync(path, source);
    }
  }

  [Symbol.dispose](): void {
    this.#tests?.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

const describeMutant = ({ file, is, becomes }: SourceMutant): string =>
  `${file}: ${oneLine(is)} → ${oneLine(becomes) || '(nothing)'}`;

const describeFailure = ({
  file = '(outside of tests)',
  failed = '',
  message = '',
}: Result): string => `  ${file} > ${failed}\n    ${oneLine(message).slice(0, 160)}`;

const mutants = all
  .filter((mutant) => {
    const text = describeMutant(mutant);
    return patterns.length === 0 || patterns.some((pattern) => text.includes(pattern));
  })
  .filter((_, index) => index % shards === shard - 1);
for (const mutant of all) {
  breakSource(readFileSync(join(root, 'src', mutant.file), 'utf8'), mutant);
}

const noticedBy = new Map<SourceMutant, readonly Result[]>();
const left = [...mutants];

async function work(isFirst: boolean): Promise<void> {
  using copy = new Copy();
  if (isFirst && patterns.length === 0) await copy.checkTests();
  for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
    const start = performance.now();
    const failures = await copy.test(mutant);
    noticedBy.set(mutant, failures);
    const seconds = Math.round((performance.now() - start) / 1_000);
    const shown = flags.all ? failures : failures.slice(0, 1);
    const verdict = failures.length === 0 ? '  NOT NOTICED' : shown.map(describeFailure).join('\n');
    console.log(
      `[${noticedBy.size}/${mutants.length}, ${seconds} s] ${describeMutant(mutant)}\n${verdict}`,
    );
  }
}

await Promise.all(Array.from({ length: Number(flags.jobs) }, (_, index) => work(index === 0)));

if (flags.all) printFiles();

function printFiles(): void {
  const counts = new Map<string, { noticed: number; alone: number }>();
  for (const failures of noticedBy.values()) {
    const files = new Set(failures.flatMap(({ file }) => file ?? []));
    for (const file of files) {
      const { noticed, alone } = counts.get(file) ?? { noticed: 0, alone: 0 };
      counts.set(file, { noticed: noticed + 1, alone: alone + (files.size === 1 ? 1 : 0) });
    }
  }
  console.log('\nTest files, how many mutants each notices, and how many no other file notices:');
  for (const [file, { noticed, alone }] of [...counts].toSorted(
    ([, a], [, b]) => b.noticed - a.noticed,
  )) {
    console.log(`${String(noticed).padStart(5)} ${String(alone).padStart(5)}  ${file}`);
  }
}

const isTimeOut = ({ message = '' }: Result): boolean => timedOut.test(message);

function getVerdict(mutant: SourceMutant): string {
  const failures = noticedBy.get(mutant) ?? [];
  if (failures.length === 0) return 'not noticed';
  return failures.every(isTimeOut) ? 'noticed by a time-out' : 'noticed by a failed test';
}

const verdicts = ['noticed by a failed test', 'noticed by a time-out', 'not noticed'].map(
  (verdict) => ({ verdict, found: mutants.filter((mutant) => getVerdict(mutant) === verdict) }),
);
for (const { verdict, found } of verdicts.slice(1)) {
  if (found.length === 0) continue;
  console.log(`\nMutants ${verdict}:`);
  for (const mutant of found) console.log(`  ${describeMutant(mutant)}`);
}
console.log('');
for (const { verdict, found } of verdicts) console.log(`${found.length} ${verdict}`);
process.exitCode = verdicts.at(-1)?.found.length === 0 ? 0 : 1;
