/**
 * Runs the source tests on a machine that does twice as much besides: two busy loops for each core. Fails if a
 * test does, because speed is no input of a test.
 *
 *   node test/extended/slow.ts [runs, 1 by default] [test files, all by default]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import path from 'node:path';

const [runs = '1', ...files] = process.argv.slice(2);
const root = path.join(import.meta.dirname, '../..');
const vitest = path.join(root, 'node_modules', '.bin', 'vitest');

const busy = Array.from({ length: availableParallelism() * 2 }, () =>
  spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
);
process.once('exit', () => {
  for (const loop of busy) loop.kill();
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

let failed = 0;
for (let run = 1; run <= Number(runs); run += 1) {
  const start = performance.now();
  const tests = spawn(vitest, ['run', '--project', 'source', ...files], {
    cwd: root,
    stdio: 'inherit',
  });
  const [code] = await once(tests, 'exit');
  if (code !== 0) failed += 1;
  const seconds = Math.round((performance.now() - start) / 1_000);
  console.log(`Run ${run} of ${runs}: ${code === 0 ? 'passed' : 'FAILED'} in ${seconds} s`);
}
process.exit(failed === 0 ? 0 : 1);
