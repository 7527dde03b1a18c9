import { bundlerCases } from './consumers/bundlers.ts';
import type { Case } from './consumers/case.ts';
import { moduleCases } from './consumers/modules.ts';
import { Project } from './consumers/project.ts';
import { typescriptCases } from './consumers/typescript.ts';

/** As many cases at once as the machines of the tests have cores. */
const concurrency = 2;

/** Part of a name on the command line runs only the cases that have it. */
const wanted = process.argv[2] ?? '';

const cases: readonly Case[] = [...typescriptCases, ...moduleCases, ...bundlerCases].filter(
  ({ name }) => name.includes(wanted),
);

const project = await Project.create();
let failed = 0;

async function runCase(candidate: Case): Promise<void> {
  const { name } = candidate;
  try {
    const measured = await candidate.run(project);
    console.log(`ok - ${name}${typeof measured === 'string' ? ` # ${measured}` : ''}`);
  } catch (error) {
    failed += 1;
    console.log(`not ok - ${name}`);
    console.log(String(error instanceof Error ? error.message : error).replaceAll(/^/gm, '  '));
  }
}

const waiting = [...cases];
async function work(): Promise<void> {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await runCase(next);
}

try {
  await Promise.all(Array.from({ length: concurrency }, work));
  console.log(`${cases.length - failed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
} finally {
  project.remove();
}
