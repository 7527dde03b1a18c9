import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { systemTests } from '../vitest.config.ts';
import { mutants } from './extended/mutants/index.ts';
import { root } from './helpers/run-program.ts';

const text = readFileSync(join(root, 'docs/CONTRIBUTING.md'), 'utf8');
const [map = ''] = /\| Room +\| Purpose [^]*?\n\n/.exec(text) ?? [];
const [questions = ''] = /\| Question [^]*?\n\n/.exec(text) ?? [];

/** Text in backticks in the cells of a table. */
function named(table: string, column: number): string[] {
  const rows = table.split('\n').filter((line) => line.startsWith('| '));
  return rows.flatMap((row) =>
    [...(row.split('|')[column]?.matchAll(/`([^`]+)`/g) ?? [])].map(([, name = '']) => name),
  );
}

const readSource = (file: string): string => readFileSync(join(root, 'src', file), 'utf8');

test('the map has every room, and no other', () => {
  const rooms = readdirSync(join(root, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

  expect(
    named(map, 1)
      .filter((name) => !name.endsWith('.ts'))
      .toSorted(),
  ).toEqual(rooms.toSorted());
});

const isSource = (path: string): boolean => existsSync(join(root, 'src', path));

test('every file that answers a question exists', () => {
  const files = named(questions, 2);

  expect(files.length).toBeGreaterThan(9);
  expect(files.filter((file) => !isSource(file))).toEqual([]);
});

test('every file that a page for maintainers names exists', () => {
  const pages = [text, readFileSync(join(root, 'docs/wire.md'), 'utf8')].join('\n');
  const paths = [...pages.matchAll(/`([\w.-]+\/[\w./-]+\.(?:tsx?|md))`/g)].map(
    ([, path = '']) => path,
  );
  const folders = ['', 'src', 'src/resources', 'test'];
  const exists = (path: string) => folders.some((folder) => existsSync(join(root, folder, path)));

  expect(paths.length).toBeGreaterThan(100);
  expect(paths.filter((path) => !exists(path))).toEqual([]);
});

test('every function that a step of a call names is in a file that the step names', () => {
  const [calls = ''] = /\n## One call\n[^]*?\n## /.exec(text) ?? [];
  const steps = calls.match(/^\d\. .+/gm) ?? [];
  const missing = steps.flatMap((step) => {
    const names = [...step.matchAll(/`([\w./-]+\.ts)`/g)].map(([, name = '']) => name);
    const folder = dirname(names[0] ?? '');
    const files = names.map((name) => (name.includes('/') ? name : join(folder, name)));
    const source = files.filter(isSource).map(readSource).join('\n');
    const functions = [...step.matchAll(/`(#?\w+)\(\)`/g)].map(([, name = '']) => name);
    return [
      ...files.filter((file) => !isSource(file)),
      ...functions.filter((name) => !new RegExp(`(?<!\\w)${name}[(<]| ${name} =`).test(source)),
    ];
  });

  expect(steps).toHaveLength(16);
  expect(missing).toEqual([]);
});

test('every command exists', () => {
  const packages = ['package.json', 'bench/package.json'].map((path) => join(root, path));
  const scripts = packages.flatMap((path): string[] => {
    const { scripts: found }: { scripts: object } = JSON.parse(readFileSync(path, 'utf8'));
    return Object.keys(found);
  });
  const commands = [...text.matchAll(/`(?:[^`]*&& )?npm run ([\w:]+)/g)].map(
    ([, name = '']) => name,
  );
  const programs = [...text.matchAll(/`(?:node |npx vitest run )([\w./-]+\.ts)/g)].map(
    ([, path = '']) => path,
  );

  expect(commands.length).toBeGreaterThan(10);
  expect(commands.filter((name) => !scripts.includes(name))).toEqual([]);
  expect(programs.length).toBeGreaterThan(3);
  expect(programs.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test('every mutant has its text once in the source', () => {
  const texts = mutants.map(({ file, is }) => ({ file, is, source: readSource(file) }));
  const wrong = texts.filter(({ is, source }) => source.split(is).length !== 2);

  expect(mutants.length).toBeGreaterThan(100);
  expect(wrong.map(({ file, is }) => ({ file, is }))).toEqual([]);
});

test('a room has at most 16 files', () => {
  const folders = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true });
  const counts = new Map<string, number>();
  for (const { parentPath } of folders.filter((entry) => entry.isFile())) {
    counts.set(parentPath, (counts.get(parentPath) ?? 0) + 1);
  }
  // Files directly below `src` don't belong to a room.
  counts.delete(join(root, 'src'));

  expect([...counts].filter(([, count]) => count > 16)).toEqual([]);
});

test('tests that start processes are system tests', () => {
  const system = globSync(systemTests, { cwd: root });
  const startsProcess = /'node:child_process'|helpers\/(run-program\.ts';.*runProgram|kill-cases)/s;
  const files = globSync('test/{*,!(checks|compat|durable|runtimes|servers)/**/*}.test.ts', {
    cwd: root,
  });
  const wrong = files.filter(
    (file) =>
      !system.includes(file) &&
      file !== 'test/contributing.test.ts' &&
      startsProcess.test(readFileSync(join(root, file), 'utf8')),
  );

  expect(files.length).toBeGreaterThan(150);
  expect(systemTests.filter((pattern) => globSync(pattern, { cwd: root }).length === 0)).toEqual(
    [],
  );
  expect(wrong).toEqual([]);
});

test('each title of a test can be read alone', () => {
  const files = globSync('test/{*,!(checks)/**/*}.test.ts', { cwd: root });
  const begun = /(?:\btest|\))\(\s*['"`](?:that|which|whose|are|have|while|and|or) .*/g;
  const titles = files.flatMap((file) => readFileSync(join(root, file), 'utf8').match(begun) ?? []);

  expect(titles).toEqual([]);
});
