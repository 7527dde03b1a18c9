import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from './helpers/run-program.ts';

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The rows of the table: a promise, its page, and its tests as a file and the title of a test. */
const rows = read('docs/promises.md')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(2)
  .map((line) => {
    const [, promise = '', page = '', tests = ''] = line.split('|').map((cell) => cell.trim());
    const places = [...tests.matchAll(/`([^`]+)`(?:: `([^`]+)`)?/g)];
    return { promise, page, places: places.map(([, file = '', title]) => ({ file, title })) };
  });

const toPath = (file: string): string =>
  existsSync(join(root, 'test', file)) ? join('test', file) : file;

describe('the table of promises', () => {
  test('the table of promises has each guide, the README, and what is promised of versions and security', () => {
    const pages = globSync('docs/guides/*.md', { cwd: root }).map((path) => basename(path, '.md'));
    const named = new Set(rows.map(({ page }) => /^\[([^\]]+)\]/.exec(page)?.[1] ?? page));

    expect([...named].toSorted()).toEqual(['README', 'SECURITY', 'VERSIONS', ...pages].toSorted());
  });

  test.each(rows)('$promise', ({ places }) => {
    const missing = places.filter(({ file, title }) => {
      const path = toPath(file);
      if (!existsSync(join(root, path))) return true;
      const source = read(path);
      return title !== undefined && !["'", '"', '`'].some((q) => source.includes(q + title + q));
    });

    expect(places.length).toBeGreaterThan(0);
    // Code and golden files have no titles.
    const untitled = places.filter(({ file, title }) => file.endsWith('.test.ts') && !title);
    expect([...missing, ...untitled]).toEqual([]);
  });
});
