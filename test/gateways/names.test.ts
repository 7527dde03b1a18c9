import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../helpers/run-program.ts';

const families = /new[-_ ]?api|one[-_ ]?api|open[-_ ]?router|lite[-_ ]?llm/gi;

test.each(['src/calls', 'src/http'])('%s does not name a kind of gateway', (room) => {
  const folder = join(root, room);
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => name.endsWith('.ts'));
  const found = files.flatMap((name) =>
    readFileSync(join(folder, name), 'utf8')
      .split('\n')
      .flatMap((line, at) => (line.search(families) < 0 ? [] : [`${name}:${at + 1}: ${line}`])),
  );

  expect(files.length).toBeGreaterThan(5);
  expect(found).toEqual([]);
});
