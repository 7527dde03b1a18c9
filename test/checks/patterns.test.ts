// Proves that every regular expression takes time in proportion to the text.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkSync } from 'recheck';
import { parseAst } from 'rolldown/parseAst';
import { expect, test } from 'vitest';
import { root } from '../helpers/run-program.ts';
import { takesSome } from '../helpers/some-cases.ts';
import slowPatterns from './slow-patterns.json' with { type: 'json' };

interface Found {
  readonly file: string;
  readonly source: string;
  readonly flags: string;
}

const madeAtRunTime = 'RegExp()';

/** All regular expressions of a file. */
function patternsIn(file: string): Found[] {
  const found: Found[] = [];
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const [type, callee, regex]: unknown[] = ['type', 'callee', 'regex'].map((key) =>
      Reflect.get(node, key),
    );
    if (isPattern(regex)) found.push({ file, source: regex.pattern, flags: regex.flags });
    const isMade = type === 'NewExpression' || type === 'CallExpression';
    // Those of the emulator are made of the paths of the interface and of nothing else.
    const isOurs = file.startsWith('src/testing/');
    if (isMade && !isOurs && Reflect.get(Object(callee), 'name') === 'RegExp') {
      found.push({ file, source: madeAtRunTime, flags: '' });
    }
    for (const inner of Object.values(node)) walk(inner);
  };
  const lang = file.endsWith('x') ? 'tsx' : 'ts';
  walk(parseAst(readFileSync(join(root, file), 'utf8'), { lang, astType: 'ts' }));
  return found;
}

function isPattern(value: unknown): value is { pattern: string; flags: string } {
  return typeof value === 'object' && value !== null && 'pattern' in value && 'flags' in value;
}

/** Describes the fault of a pattern; `undefined` if its work is linear in the text. */
function findProblem({ file, source, flags }: Found): string | undefined {
  const name = `${file}: /${source}/${flags}`;
  if (source === madeAtRunTime) return `${name} cannot be checked before it runs`;
  // The other checker guesses; this one proves, or says that it cannot.
  const { status } = checkSync(source, flags, { checker: 'automaton', timeout: 60_000 });
  return status === 'safe' ? undefined : `${name} is ${status}`;
}

/**
 * Patterns that take a second and more to prove. `.ci/run` proves the others, and all of them with `CI_WHOLE=1`, as
 * `npm run check` does: the proof of a text does not change.
 */
const slow: ReadonlySet<string> = new Set(slowPatterns);

test('no pattern takes more than linear time, whatever text it meets', { timeout: 300_000 }, () => {
  const patterns = globSync('src/**/*.{ts,tsx}', { cwd: root }).flatMap(patternsIn);

  expect(patterns.length).toBeGreaterThan(100);
  const each = new Map(patterns.map((found) => [`/${found.source}/${found.flags}`, found]));
  expect([...slow].filter((text) => !each.has(text))).toEqual([]);
  const proven = [...each].filter(([text]) => !takesSome || !slow.has(text));
  expect(proven.flatMap(([, found]) => findProblem(found) ?? [])).toEqual([]);
});

test.each([
  ['two neighbours that take the same characters', String.raw`\s*\x60?\s*$`],
  ['an end that is looked for from everywhere', String.raw`\s*%$`],
  ['a repetition in a repetition', '^(a+)+$'],
  ['a lookahead, which is not provable', String.raw`(https?:\/\/\S+)\?(?!x)`],
  ['a pattern that is made while running', madeAtRunTime],
])('the check notices %s', (_, source) => {
  expect(findProblem({ file: 'x.ts', source, flags: '' })).toBeDefined();
});
