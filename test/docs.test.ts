// Documents say what the source, the bench and the licences say today.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import { narrow, shownIn } from '../docs/tables/section.ts';
import { optionPages } from '../docs/tables/options.ts';
import { sections } from '../docs/tables/write.ts';
import { isName } from '../src/options/option-names.ts';
import { optionTable } from '../src/options/option-table.ts';
import { places } from './durable/places.ts';
import { root } from './helpers/run-program.ts';

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

describe('what a script writes', () => {
  // `node docs/tables/write.ts && npx oxfmt` writes it.
  test.each(sections)('$page has today’s $name', async (section) => {
    const shown = shownIn(read(section.page), section);

    expect(shown).not.toBe('');
    expect(narrow(shown)).toBe(narrow(await section.render()));
  });

  test('every option has a heading on one page', () => {
    const listed = Object.values(optionPages).flat();

    expect(listed.toSorted()).toEqual(Object.keys(optionTable).toSorted());
  });

  test('every option of the types is in the table', () => {
    const [, options = ''] = read('src/options/options.ts').split('export interface SharedOptions');
    const names = [...options.matchAll(/^  (\w+)\?: /gm)].map(([, name = '']) => name);

    expect(names.length).toBeGreaterThan(25);
    expect(names.filter((name) => !isName(name))).toEqual([]);
  });
});

test('the README names the runtimes in which keys are searched for', () => {
  const listed = read('test/runtimes/runners/runtimes.ts').split('export const runtimes')[1] ?? '';
  const readme = read('README.md').replaceAll('Node.js', 'node');
  const [, named = ''] = /tested in (.*?)\./.exec(readme) ?? [];
  const families = [...listed.matchAll(/^  (\w+)[,(]|\bname: '(\w+)'/gm)].map(
    ([, variable, name]) => variable ?? name,
  );

  expect(named.toLowerCase().split(/, | and /)).toEqual([...new Set(families)]);
});

test('counts in guides are those of today', () => {
  const recorded = globSync('test/fixtures/gateway/*.jsonl', { cwd: root }).flatMap((file) =>
    read(file).trim().split('\n'),
  );

  expect(read('docs/guides/testing.md')).toContain(`${recorded.length} recorded requests`);
  expect(places).toHaveLength(12);
  expect(read('docs/guides/many-machines.md')).toContain('in twelve places');
});

test('every variable that is read is in the guide', () => {
  const files = globSync('src/**/*.ts', { cwd: root, exclude: ['src/testing/**'] });
  const names = files.flatMap((file) => {
    const source = read(file);
    return [...source.matchAll(/\b(?:MODEL_)?GATEWAY_[A-Z_]+\b|\bXDG_\w+|\bNO_COLOR\b/g)].map(
      ([name]) => name,
    );
  });
  const guide = read('docs/guides/environment-and-files.md');

  expect(new Set(names).size).toBeGreaterThan(9);
  expect([...new Set(names)].filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
  // Other names are read with the environment beside them.
  const others = files.flatMap((file) =>
    [...read(file).matchAll(/(?:process\.env|environment|\benv)\??\.?\[['"](\w+)['"]\]/g)].map(
      ([, name = '']) => name,
    ),
  );
  expect(others.filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
});

test('links lead to headings', () => {
  const pages = ['README.md', 'CHANGELOG.md', ...globSync('docs/{,guides/}*.md', { cwd: root })];
  const anchors = new Map(
    pages.map((page) => {
      const text = read(page).replaceAll(/^```[\s\S]*?^```$/gm, '');
      const titles = [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => title);
      return [page, new Set(titles.map(toAnchor))];
    }),
  );
  const missing = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\(([^)#:\s]*)#([^)\s]+)\)/g)].flatMap(
      ([, file = '', anchor = '']) => {
        const target = file === '' ? page : normalize(join(dirname(page), file));
        const known = anchors.get(target);
        return known === undefined || known.has(anchor) ? [] : [`${page}: ${file}#${anchor}`];
      },
    ),
  );

  expect(missing).toEqual([]);
});

/** Returns the anchor of a heading, as GitHub and VitePress make it. */
function toAnchor(title: string): string {
  return title
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}
