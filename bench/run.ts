/**
 * Measures the cost of using this client, compared with other clients.
 *
 *   npm run bench               measures everything, writes bench/results, the figures of docs/bench.md and
 *                               the size in the README;
 *                               fails when any gate is missed
 *   npm run bench -- --check    measures only what gates need and writes nothing; fails when a gate
 *                               is missed that is not listed as missed, or got worse
 *   npm run bench -- --only calls,chunks    some parts, in either way; writes nothing
 *   npm run bench -- --only bundle --save   replaces the figures of these parts, and writes what a whole run does
 *   npm run bench -- --built                measures the build that is there, without building
 */
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Verdict } from './judge.ts';
import { prepare } from './lib/prepare.ts';

const root = path.join(import.meta.dirname, '..');
const { values: options } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    built: { type: 'boolean', default: false },
    only: { type: 'string' },
    save: { type: 'boolean', default: false },
  },
});
prepare(options.built);

// Only now is everything there that these import.
const { gates } = await import('./gates.ts');
const { columnsFor, gatesFor, measurePart } = await import('./judge.ts');
const { columns, packages } = await import('./lib/packages.ts');
const { describeEnvironment, saveJSON, saveResult, withFormer } = await import('./lib/results.ts');
const { parts } = await import('./parts.ts');
const { figuresPicture } = await import('./report/picture.ts');
const { figuresText, withFigures } = await import('./report/page.ts');
const { readmeFile, withSize } = await import('./report/readme.ts');
const { figuresTable, gatesTable } = await import('./report/text.ts');

const wanted = options.only?.split(',') ?? parts.map(({ name }) => name);
const metrics = [];
const verdicts: Verdict[] = [];
const raw: Record<string, unknown> = {};
for (const part of parts.filter(({ name }) => wanted.includes(name))) {
  const start = performance.now();
  const own = gatesFor(part.name, gates);
  const effort = { check: options.check, columns: options.check ? columnsFor(own) : columns };
  const result = await measurePart(part, own, effort, console.error);
  metrics.push(...result.metrics);
  verdicts.push(...result.verdicts);
  for (const { metric } of own.filter(
    (gate) => !result.verdicts.some((one) => one.gate === gate),
  )) {
    console.error(`${metric} was not measured: its gate says nothing.`);
  }
  raw[part.name] = result.raw;
  console.error(`${part.name}: ${((performance.now() - start) / 1000).toFixed(0)} s`);
}

console.log(`\n${figuresTable(metrics)}\n\n${gatesTable(verdicts, metrics)}\n`);

if (!options.check && (options.only === undefined || options.save)) {
  const own = { environment: await describeEnvironment(packages), metrics, verdicts, raw };
  const all = options.only === undefined ? own : await withFormer(own);
  const { environment } = all;
  const gateResults = all.verdicts.map(({ gate, value, result }) => ({ ...gate, value, result }));
  const saved = { environment, metrics: all.metrics, gates: gateResults, raw: all.raw };
  const files = [
    await saveJSON('bench.json', saved),
    await saveResult('bench.svg', figuresPicture(all.metrics, environment)),
  ];
  const page = path.join(root, 'docs', 'bench.md');
  const text = figuresText(all.metrics, all.verdicts, environment);
  await writeFile(page, withFigures(await readFile(page, 'utf8'), text));
  const hasGrown = verdicts.some(
    ({ gate, result }) => gate.metric === 'install.own' && result !== 'met',
  );
  // A size that was measured earlier may be older than the one in the README.
  if (!hasGrown && wanted.includes('install')) {
    await writeFile(readmeFile, withSize(await readFile(readmeFile, 'utf8'), all.metrics));
  }
  execFileSync(process.execPath, ['docs/tables/write.ts'], { cwd: root, stdio: 'inherit' });
  execFileSync('npx', ['--no-install', 'oxfmt', 'docs', 'README.md'], {
    cwd: root,
    stdio: 'inherit',
  });
  console.log(`Written: ${[...files, 'docs/bench.md', 'README.md'].join(', ')}`);
}

const count = (result: string): number =>
  verdicts.filter((verdict) => verdict.result === result).length;
console.log(
  `${count('met')} gates met, ${count('known')} missed as known, ${count('missed')} missed.`,
);
for (const { gate, result } of verdicts) {
  if (result === 'met' && gate.missed !== undefined) {
    console.log(`${gate.metric} is met now: its entry \`missed\` in bench/gates.ts can go.`);
  }
}
const failures = count('missed') + (options.check ? 0 : count('known'));
process.exit(failures === 0 ? 0 : 1);
