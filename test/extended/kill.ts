/**
 * Kills a program that makes a video or images, at the steps that it takes and at many random moments, starts it
 * again, and fails when a task was submitted twice, got lost, or was saved as anything but the whole.
 *
 *   node test/extended/kill.ts [random moments, 200 by default] [--kind video|image]
 *     [--gateway new-api|openrouter|litellm|openai] [--every 8 (each eighth step)] [--from 3 (the first of them)]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  bundleWorker,
  readKind,
  makeDespite,
  problemOf,
  type Kill,
  type KillResult,
} from '../helpers/kill-cases.ts';
import { readMode } from '../helpers/modes.ts';

/** A run mostly waits for its task, so there are more runs at a time than processors. */
const workers = 8;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    gateway: { type: 'string', default: 'new-api' },
    kind: { type: 'string', default: 'video' },
    every: { type: 'string', default: '1' },
    from: { type: 'string' },
  },
});
const gateway = readMode(values.gateway);
const kind = readKind(values.kind);
const every = Number(values.every);
const from = Number(values.from ?? every);
if (!(every >= 1 && from >= 1)) throw new Error('Pass --every and --from as 1 or more.');
const moments = Number(positionals[0] ?? 200);
const folder = await mkdtemp(join(tmpdir(), 'model-gateway-kill-'));
const program = await bundleWorker(folder);
const problems: string[] = [];

async function tryAll(kills: readonly Kill[]): Promise<KillResult[]> {
  const left = [...kills];
  const results: KillResult[] = [];
  const work = async (): Promise<void> => {
    for (let kill = left.shift(); kill !== undefined; kill = left.shift()) {
      const result = await makeDespite(program, kill, kind, gateway);
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
      `most submissions of one task ${Math.max(...results.map(({ posts }) => posts))}`,
    ].join(', '),
  );
}

const begun = performance.now();
const [plain] = await tryAll([{ step: 0 }]);
const kills: Kill[] = [];
for (let step = from; step <= (plain?.steps ?? 0); step += every) kills.push({ step });
report(`${kind} at ${gateway}, every ${every} steps from ${from}`, await tryAll(kills));

if (moments > 0) {
  const before = performance.now();
  await tryAll([{ step: 0 }]);
  const duration = performance.now() - before;
  report(
    `${kind} at ${gateway}, random moments`,
    await tryAll(
      Array.from({ length: moments }, () => ({ after: Math.random() * duration * 1.2 })),
    ),
  );
}

await rm(folder, { recursive: true });
console.log(`${((performance.now() - begun) / 1_000).toFixed(0)} s`);
if (kills.length === 0) problems.push('no steps were counted');
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
