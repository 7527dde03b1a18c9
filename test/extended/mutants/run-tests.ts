// Runs the source tests of a copy of the project again and again, and prints each result as JSON. Each line of
// the input names a file below `src` that has changed; its likeliest tests run first. One process for all runs
// saves the start of Vitest and the transformation of files that did not change.
//
//   node test/extended/mutants/run-tests.ts [--all] [--near]
import { basename, join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import type { Reporter, TestSpecification } from 'vitest/node';
import { BaseSequencer, createVitest } from 'vitest/node';

/** A line of the output: the result of a test, an error outside of tests, or the end of a run. */
export interface Result {
  /** The path of the test file; `undefined` for an error outside of tests. */
  readonly file?: string;
  /** The name of the failed test; `undefined` if a test passed. */
  readonly failed?: string;
  readonly message?: string;
  readonly isEnd?: true;
}

const [isWhole, isNear] = ['--all', '--near'].map((flag) => process.argv.includes(flag));

/** Rooms whose tests are in more folders than the one of the same name. */
const moreFolders: Readonly<Record<string, readonly string[]>> = {
  'adapters/node': ['resources/videos'],
  answers: ['resources', 'structured'],
  calls: ['http', 'options', 'resources', 'policies'],
  http: ['policies'],
  'policies/modes': ['structured'],
  'resources/account': ['gateways', 'policies'],
  streams: ['resources', 'answers', 'policies'],
  structured: ['resources/chat', 'resources/generate', 'options', 'policies'],
  tasks: ['resources/videos', 'resources/images', 'resources/account', 'policies'],
};

/** The folders of the tests of a source file, the likeliest first. */
function listFolders(source: string): string[] {
  const [room = ''] = /^(?:(?:resources|policies|adapters|programs)\/)?[^/]+/.exec(source) ?? [];
  return [room, ...(moreFolders[room] ?? [])].map((name) => `test/${name}/`);
}

let source = '';

/** Orders files: those with the name of the source file, its room, the golden files, the rest. */
function getRank(file: string): number {
  const folders = [...listFolders(source), 'test/golden/'];
  const folder = folders.findIndex((prefix) => file.startsWith(prefix));
  if (folder < 0) return folders.length;
  return folder === 0 && basename(file).startsWith(basename(source, '.ts')) ? -1 : folder;
}

const getFile = (path: string): string => relative(process.cwd(), path);

class LikeliestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const keyed = files.map((file) => {
      const path = getFile(file.moduleId);
      const known = this.ctx.cache.getFileTestResults(`${file.project.name}:${path}`);
      return { file, rank: getRank(path), duration: known?.duration ?? 0 };
    });
    keyed.sort((a, b) => a.rank - b.rank || a.duration - b.duration);
    return Promise.resolve(keyed.map(({ file }) => file));
  }
}

const print = (result: Result): void => console.log(JSON.stringify(result));

/** Prints a failure, and ends the run. */
function fail(failure: Result): void {
  print(failure);
  // The run waits for its reporter.
  if (!isWhole) void vitest.cancelCurrentRun('test-failure');
}

const reporter: Reporter = {
  onTestCaseResult(test) {
    const { state, errors = [] } = test.result();
    const file = getFile(test.module.moduleId);
    const message = errors[0]?.message ?? '';
    if (state === 'failed') fail({ file, failed: test.fullName, message });
    else print({ file });
  },
  onTestModuleEnd(module) {
    const file = getFile(module.moduleId);
    for (const { message } of module.errors()) fail({ file, failed: 'the file', message });
  },
  onTestRunEnd(_, unhandled) {
    for (const { message } of unhandled) print({ failed: 'no test', message });
  },
};

const vitest = await createVitest('test', {
  project: ['source'],
  watch: false,
  maxWorkers: 1,
  reporters: [reporter],
  sequence: { sequencer: LikeliestFirst },
});

for await (const changed of createInterface(process.stdin)) {
  // The file before it has its own text again.
  for (const file of [source, changed]) vitest.invalidateFile(join(process.cwd(), 'src', file));
  source = changed;
  const tests = await vitest.globTestSpecifications(
    isNear ? [...listFolders(source), 'test/golden/'] : [],
  );
  await vitest.runTestSpecifications(tests);
  print({ isEnd: true });
}
await vitest.close();
