// Runs the source tests on a broken copy, the likeliest files first, and prints each result as JSON.
//
//   node test/extended/mutants/run-tests.ts <file below src> [--all] [--near]
import { basename, relative } from 'node:path';
import type { Reporter, TestCase, TestSpecification, Vitest } from 'vitest/node';
import { BaseSequencer, startVitest } from 'vitest/node';

/** A line of the output: the result of a test, or an error outside of tests. */
export interface Result {
  /** The path of the test file; `undefined` for an error outside of tests. */
  readonly file?: string;
  /** The name of the failed test; `undefined` if a test passed. */
  readonly failed?: string;
  readonly message?: string;
}

const [source = '', ...flags] = process.argv.slice(2);
const isWhole = flags.includes('--all');

/** Rooms whose tests are in more folders than the one of the same name. */
const moreFolders: Readonly<Record<string, readonly string[]>> = {
  answers: ['resources'],
  calls: ['http', 'options', 'resources'],
  streams: ['resources'],
  structured: ['resources/chat', 'resources/generate'],
  tasks: ['resources/videos', 'resources/images'],
};

const room = /^(?:(?:resources|policies|adapters|programs)\/)?[^/]+/.exec(source)?.[0] ?? '';
const folders = [room, ...(moreFolders[room] ?? []), 'golden'].map((name) => `test/${name}/`);
const name = basename(source, '.ts');

/** Orders files: those with the name of the source file, its room, the golden files, the rest. */
function getRank(file: string): number {
  const folder = folders.findIndex((prefix) => file.startsWith(prefix));
  if (folder < 0) return folders.length;
  return folder === 0 && basename(file).startsWith(name) ? -1 : folder;
}

const getFile = (path: string): string => relative(process.cwd(), path);
const print = (result: Result): void => console.log(JSON.stringify(result));

let runner: Vitest | undefined;
/** Ends the run at a file that cannot be read, which vitest does not count. */
const stop = () => (isWhole ? undefined : runner?.cancelCurrentRun('test-failure'));

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

const reporter: Reporter = {
  onInit(vitest) {
    runner = vitest;
  },
  onTestCaseResult(test: TestCase) {
    const { state, errors = [] } = test.result();
    const file = getFile(test.module.moduleId);
    const message = errors[0]?.message ?? '';
    print(state === 'failed' ? { file, failed: test.fullName, message } : { file });
  },
  onTestModuleEnd(module) {
    const file = getFile(module.moduleId);
    const errors = module.errors();
    for (const { message } of errors) print({ file, failed: 'the file', message });
    return errors.length > 0 ? stop() : undefined;
  },
  onTestRunEnd(_, unhandled) {
    for (const { message } of unhandled) print({ failed: 'no test', message });
  },
};

const vitest = await startVitest('test', flags.includes('--near') ? folders : [], {
  project: ['source'],
  watch: false,
  maxWorkers: 1,
  bail: isWhole ? 0 : 1,
  reporters: [reporter],
  sequence: { sequencer: LikeliestFirst },
});
await vitest.exit();
