// Breaks one decision of the source at a time, and shows which test files notice.
//
//   node test/extended/mutants.ts [--all] [pattern]
//
// A pattern selects mutants by their file or their text. Each runs against the tests of its room and
// the golden files; one that they do not notice runs against all source tests. A run ends at the first
// test that notices; `--all` runs the rest too, to find tests that notice nothing on their own. Needs
// `npm run build`.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
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
import { join, relative } from 'node:path';
import { isObject } from '../../src/answers/objects.ts';
import { mutants as all, type SourceMutant } from './mutants/index.ts';

const isWhole = process.argv.includes('--all');
const pattern = process.argv.slice(2).find((word) => word !== '--all') ?? '';

const root = join(import.meta.dirname, '../..');

/** Limits of a run in milliseconds, because broken source may wait forever. */
const timeLimits = { room: 90_000, all: 480_000 };

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

/** Whether a test of a file failed, or the file could not be read; a file that was left out has not failed. */
function hasFailed({ assertionResults, message }: Record<string, unknown>): boolean {
  const tests = Array.isArray(assertionResults) ? assertionResults.filter(isObject) : [];
  return tests.some(({ status }) => status === 'failed') || (tests.length === 0 && message !== '');
}

/** Kills the workers of a run: one that loops forever outlives its parent. */
function killGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // None is left.
  }
}

/** A copy of the project whose source can be broken. */
class Copy {
  readonly folder = mkdtempSync(join(tmpdir(), 'mutants-'));

  constructor() {
    const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' });
    for (const name of tracked.split('\0')) {
      if (name === '' || excluded.includes(name) || !existsSync(join(root, name))) continue;
      cpSync(join(root, name), join(this.folder, name), { recursive: true });
    }
    for (const name of ['node_modules', 'dist']) {
      symlinkSync(join(root, name), join(this.folder, name));
    }
  }

  /** Returns the test files that fail, or `undefined` if the run did not end. */
  async #failingFiles(
    filters: readonly string[],
    timeout = timeLimits.all,
  ): Promise<readonly string[] | undefined> {
    const report = join(this.folder, 'report.json');
    rmSync(report, { force: true });
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    const options = ['--project=source', '--maxWorkers=1'];
    if (!isWhole) options.push('--bail=1');
    const output = ['--reporter=json', `--outputFile=${report}`];
    const run = spawn(process.execPath, [vitest, 'run', ...options, ...output, ...filters], {
      cwd: this.folder,
      stdio: 'ignore',
      detached: true,
    });
    const timer = setTimeout(() => run.kill('SIGKILL'), timeout);
    await once(run, 'exit');
    clearTimeout(timer);
    killGroup(run.pid);
    if (!existsSync(report)) return undefined;
    const { testResults }: { testResults: readonly unknown[] } = JSON.parse(
      readFileSync(report, 'utf8'),
    );
    return testResults
      .filter(isObject)
      .filter(hasFailed)
      .map(({ name }) => relative(this.folder, String(name)));
  }

  /** @throws if tests fail although nothing is broken */
  async checkTests(): Promise<void> {
    const failing = await this.#failingFiles([]);
    if (failing?.length === 0) return;
    throw new Error(`Tests fail without a mutant: ${failing?.join(', ') ?? 'the run did not end'}`);
  }

  /** Returns the test files that notice a mutant. */
  async test(mutant: SourceMutant): Promise<readonly string[]> {
    const path = join(this.folder, 'src', mutant.file);
    const source = readFileSync(path, 'utf8');
    writeFileSync(path, breakSource(source, mutant));
    try {
      const own = [...testFolders(mutant), 'test/golden/'];
      const failing = (await this.#failingFiles(own, timeLimits.room)) ?? [
        'a run that does not end',
      ];
      if (failing.length > 0) return failing;
      return (await this.#failingFiles([])) ?? ['a run that does not end'];
    } finally {
      writeFileSync(path, source);
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Rooms whose tests are in more folders than the one of the same name. */
const moreFolders: Readonly<Record<string, readonly string[]>> = {
  calls: ['test/http/', 'test/options/'],
  tasks: ['test/resources/videos/'],
};

/** The folders of the tests of a mutant's room. */
function testFolders({ file }: SourceMutant): readonly string[] {
  const room = /^(?:(?:resources|policies|adapters|programs)\/)?[^/]+/.exec(file)?.[0] ?? '';
  return [`test/${room}/`, ...(moreFolders[room] ?? [])];
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

const describeMutant = ({ file, is, becomes }: SourceMutant): string =>
  `${file}: ${oneLine(is)} → ${oneLine(becomes) || '(nothing)'}`;

const mutants = all.filter((mutant) => describeMutant(mutant).includes(pattern));
for (const mutant of all) {
  breakSource(readFileSync(join(root, 'src', mutant.file), 'utf8'), mutant);
}

const noticedBy = new Map<SourceMutant, readonly string[]>();
const left = [...mutants];

async function work(isFirst: boolean): Promise<void> {
  using copy = new Copy();
  if (isFirst) await copy.checkTests();
  for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
    const files = await copy.test(mutant);
    noticedBy.set(mutant, files);
    const verdict = files.length === 0 ? 'SURVIVED' : `noticed by ${files.join(', ')}`;
    console.log(`${describeMutant(mutant)}\n  ${verdict}`);
  }
}

await Promise.all(Array.from({ length: availableParallelism() }, (_, index) => work(index === 0)));

if (isWhole) printFiles();

function printFiles(): void {
  const counts = new Map<string, { noticed: number; alone: number }>();
  for (const files of noticedBy.values()) {
    for (const file of files) {
      const { noticed, alone } = counts.get(file) ?? { noticed: 0, alone: 0 };
      counts.set(file, { noticed: noticed + 1, alone: alone + (files.length === 1 ? 1 : 0) });
    }
  }
  console.log('\nTest files, how many mutants each notices, and how many no other file notices:');
  for (const [file, { noticed, alone }] of [...counts].toSorted(
    ([, a], [, b]) => b.noticed - a.noticed,
  )) {
    console.log(`${String(noticed).padStart(5)} ${String(alone).padStart(5)}  ${file}`);
  }
}

const survivors = mutants.filter((mutant) => noticedBy.get(mutant)?.length === 0);
if (survivors.length > 0) console.log('\nNo test notices:');
for (const mutant of survivors) console.log(`  ${describeMutant(mutant)}`);
console.log(`\n${mutants.length - survivors.length} noticed, ${survivors.length} survived`);
process.exitCode = survivors.length === 0 ? 0 : 1;
