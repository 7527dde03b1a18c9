import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './helpers/run-program.ts';

const text = readFileSync(join(root, 'docs/CONTRIBUTING.md'), 'utf8');
const [, map = '', questions = ''] = text.split(/\| (?:Room|Question) /);

/** What stands between backticks in the cells of a table. */
function named(table: string, column: number): string[] {
  const rows = table.split('\n').filter((line) => line.startsWith('| '));
  return rows.flatMap((row) =>
    [...(row.split('|')[column]?.matchAll(/`([^`]+)`/g) ?? [])].map(([, name = '']) => name),
  );
}

test('the map has every room, and none that is not there', () => {
  const rooms = readdirSync(join(root, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

  expect(
    named(map, 1)
      .filter((name) => !name.endsWith('.ts'))
      .toSorted(),
  ).toEqual(rooms.toSorted());
});

test('every file that answers a question is there', () => {
  const files = named(questions, 2);

  expect(files.length).toBeGreaterThan(9);
  expect(files.filter((file) => !existsSync(join(root, 'src', file)))).toEqual([]);
});

test('a room has at most 16 files', () => {
  const folders = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true });
  const counts = new Map<string, number>();
  for (const { parentPath } of folders.filter((entry) => entry.isFile())) {
    counts.set(parentPath, (counts.get(parentPath) ?? 0) + 1);
  }
  // What stands directly below `src` is no room.
  counts.delete(join(root, 'src'));

  expect([...counts].filter(([, count]) => count > 16)).toEqual([]);
});
