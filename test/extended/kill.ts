/**
 * Kills a program that makes a video, at every step that it takes and at many random moments, starts it
 * again, and fails when a video was submitted twice, got lost, or was saved as anything but the whole.
 *
 *   node test/extended/kill.ts [random moments, 200 by default]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  bundleWorker,
  makeVideoDespite,
  problemOf,
  type Kill,
  type KillResult,
} from '../helpers/kill-cases.ts';

/** Most of the time a run waits for its task, so more of them fit at the same time than processors. */
const workers = 8;

const moments = Number(process.argv[2] ?? 200);
const folder = await mkdtemp(join(tmpdir(), 'model-gateway-kill-'));
const program = await bundleWorker(folder);
const problems: string[] = [];

async function tryAll(kills: readonly Kill[]): Promise<KillResult[]> {
  const left = [...kills];
  const results: KillResult[] = [];
  const work = async (): Promise<void> => {
    for (let kill = left.shift(); kill !== undefined; kill = left.shift()) {
      const result = await makeVideoDespite(program, kill);
      const problem = problemOf(result);
      if (problem !== undefined) problems.push(`${JSON.stringify(kill)}: ${problem}`);
      results.push(result);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return results;
}

function report(name: string, results: readonly KillResult[]): void {
  const count = (test: (result: KillResult) => boolean): number => results.filter(test).length;
  console.log(
    [
      `${name}: ${results.length}`,
      `killed ${count(({ runs }) => runs > 1)}`,
      `completed ${count(({ outcome }) => outcome === 'completed')}`,
      `given up as unknown ${count(({ outcome }) => outcome !== 'completed')}`,
      `most submissions of one video ${Math.max(...results.map(({ posts }) => posts))}`,
    ].join(', '),
  );
}

const begun = performance.now();
const [plain] = await tryAll([{ step: 0 }]);
const steps = plain?.steps ?? 0;
report(
  'every step',
  await tryAll(Array.from({ length: steps }, (_, index) => ({ step: index + 1 }))),
);

const before = performance.now();
await tryAll([{ step: 0 }]);
const duration = performance.now() - before;
report(
  'random moments',
  await tryAll(Array.from({ length: moments }, () => ({ after: Math.random() * duration * 1.2 }))),
);

await rm(folder, { recursive: true });
console.log(`${((performance.now() - begun) / 1_000).toFixed(0)} s`);
if (steps === 0) problems.push('no steps were counted');
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
