/**
 * Counts the charges for one paid call if the connection or the response is lost.
 *
 *   npm run duplicates              measures this client and its peers and writes bench/results
 *   npm run duplicates -- --check   measures this client only, at every kind of gateway, and fails when it
 *                                   breaks a promise
 */
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { runAtMost } from '../lib/limits.ts';
import type { GatewayName } from '../lib/model-gateway.ts';
import { readmeFile, withCharges } from '../report/readme.ts';
import { describeEnvironment, saveJSON, saveResult } from '../lib/results.ts';
import { findProblems } from './check.ts';
import { faults, type Fault } from './faults.ts';
import { Measurement, type Cell } from './measure.ts';
import { playAll, scenarioProblems } from './scenarios/index.ts';
import { scenarioText, withScenarios } from './scenarios/table.ts';
import { drawPicture, createResult, tables, textTable } from './report.ts';
import { settleAll, settleProblems, settleTable } from './settle.ts';
import type { Subject } from './subject.ts';

/** The page with the table of the scenarios. */
const guide = path.join(import.meta.dirname, '../../docs/guides/retries-and-charges.md');

/** Time limit of a call, in milliseconds. */
const callLimit = 20_000;

/** Packages that are named in the picture. */
const packages = [
  'model-gateway',
  'openai',
  '@anthropic-ai/sdk',
  'ai',
  '@ai-sdk/openai-compatible',
  '@fal-ai/client',
  '@runwayml/sdk',
  'replicate',
];

async function ours(gateways: readonly GatewayName[]): Promise<readonly Subject[]> {
  const { modelGateway } = await import('./subjects/model-gateway.ts');
  return gateways.flatMap(modelGateway);
}

async function peers(): Promise<readonly Subject[]> {
  return [
    ...(await import('./subjects/openai.ts')).openai,
    ...(await import('./subjects/anthropic.ts')).anthropic,
    ...(await import('./subjects/ai.ts')).ai,
    ...(await import('./subjects/fal.ts')).fal,
    ...(await import('./subjects/runway.ts')).runway,
    ...(await import('./subjects/replicate.ts')).replicate,
  ];
}

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const gateways: readonly GatewayName[] = values.check
  ? ['new-api', 'openrouter', 'litellm', 'openai']
  : ['new-api'];
const subjects = [...(await ours(gateways)), ...(values.check ? [] : await peers())];
const measurement = new Measurement(callLimit);

async function measureRow(fault: Fault): Promise<Cell[]> {
  const start = performance.now();
  // A `fetch` that fails looks up a host, and Node looks up only four at the same time.
  const groups =
    fault.clientFetch === true
      ? [...gateways, undefined].map((kind) => subjects.filter(({ gateway }) => gateway === kind))
      : [subjects];
  const rows = await runAtMost(1, groups, (group) => measurement.row(fault, group));
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.error(`${fault.label}: ${seconds} s`);
  return rows.flat();
}

// No other server may take a port that refuses, and nothing may delay a request whose time is limited.
const isMeasuredAlone = ({ at, clientTimeout: isLimited }: Fault): boolean =>
  at === 'port' || isLimited === true;
const rows = await runAtMost(1, faults.filter(isMeasuredAlone), measureRow);
// Counts of this client are the same beside others. Peers are measured alone, one fault after the other.
const most = values.check ? 6 : 1;
const others = faults.filter((fault) => !isMeasuredAlone(fault));
rows.push(...(await runAtMost(most, others, measureRow)));
const cells = rows
  .flat()
  .toSorted((one, other) => faults.indexOf(one.fault) - faults.indexOf(other.fault));

for (const gateway of gateways) {
  const shown = cells.filter(({ subject }) => (subject.gateway ?? gateway) === gateway);
  for (const { pays, title } of tables) {
    console.log(`\n${title} (${gateway})\n\n${textTable(faults, shown, pays)}`);
  }
}

const settled = await settleAll(faults);
console.log(`\nVerdicts of settle() after a failed image or video call\n\n${settleTable(settled)}`);

// Some have limits of half a second, so fewer of them run at once.
const scenarios = await playAll(values.check ? 3 : 1, !values.check);
console.log(`\nOther ways to pay twice, or too much\n\n${scenarioText(scenarios)}`);

const problems = [
  ...findProblems(cells),
  ...settleProblems(settled),
  ...scenarioProblems(scenarios),
];
if (!values.check) {
  const broken = cells.filter(
    ({ fault, subject, ended }) =>
      fault.verdict === 'answered' && subject.package !== 'model-gateway' && ended !== 'returned',
  );
  for (const { subject } of broken) {
    problems.push(`${subject.package} ${subject.call}: fails without a fault`);
  }
  const environment = await describeEnvironment(packages);
  const result = { ...createResult(faults, cells, settled, environment), scenarios };
  console.log(`\nWritten: ${await saveJSON('duplicates.json', result)}`);
  await writeFile(guide, withScenarios(await readFile(guide, 'utf8'), scenarios));
  await writeFile(readmeFile, withCharges(await readFile(readmeFile, 'utf8'), result));
  const root = path.join(import.meta.dirname, '../..');
  execFileSync('npx', ['--no-install', 'oxfmt', guide, readmeFile], {
    cwd: root,
    stdio: 'inherit',
  });
  console.log(`Written: ${path.relative(process.cwd(), guide)}`);
  for (const table of tables) {
    const picture = drawPicture(faults, cells, settled, table, environment);
    console.log(`Written: ${await saveResult(table.file, picture)}`);
  }
}

console.log(
  problems.length === 0
    ? '\nEvery promise held.'
    : `\nBroken promises:\n- ${problems.join('\n- ')}`,
);
// Calls that were cut by the limit may still wait and retry.
process.exit(problems.length === 0 ? 0 : 1);
