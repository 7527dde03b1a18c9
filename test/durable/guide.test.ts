import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const guide = readFileSync(join(root, 'docs/guides/many-machines.md'), 'utf8');
const section = guide.slice(guide.indexOf('## Durable engines'));
const examples = globSync('examples/durable/*.ts', { cwd: root }).map((path) =>
  readFileSync(join(root, path), 'utf8'),
);

test('the blocks of the guide are those of the recipes', () => {
  const blocks = [...section.matchAll(/^```typescript\n([\s\S]*?)^```$/gm)].map(
    ([, code = '']) => code,
  );
  const unknown = blocks.filter((code) => !examples.some((example) => example.includes(code)));

  expect(unknown).toEqual([]);
  expect(blocks.length).toBeGreaterThan(1);
});
