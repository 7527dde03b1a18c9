import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runtimes, type Runtime } from './runners/runtimes.ts';
import { stagePackage } from './runners/stage.ts';
import { RuntimeResults, printTable } from './runners/table.ts';
import { makeCertificates } from './servers/certificates.ts';

/** Limit of one runtime, in milliseconds. */
const limit = 300_000;

/** As many runtimes at once as the machines of the tests have cores. */
const concurrency = 2;

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !runtimes.some((runtime) => runtime.name === name));
if (unknown.length > 0) {
  const names = runtimes.map(({ name }) => name).join(', ');
  throw new Error(`Missing runtime ${unknown.join(', ')}; there are ${names}.`);
}

stagePackage();
// Imported only now, because it imports the package that was put in place.
const { startWorld } = await import('./runners/world-server.ts');

const folder = mkdtempSync(join(tmpdir(), 'runtimes-'));
const certificates = makeCertificates();
const authorityFile = join(folder, 'authority.pem');
writeFileSync(authorityFile, certificates.authority);

async function runOne(runtime: Runtime): Promise<RuntimeResults> {
  const { name, family } = runtime;
  const results = new RuntimeResults(name);
  const running = await startWorld(name, family, certificates);
  const signal = AbortSignal.timeout(limit);
  try {
    await runtime.run({ running, certificates, authorityFile, signal }, (line) =>
      results.read(line),
    );
  } catch (error) {
    results.broke(signal.aborted ? new Error(`Not finished after ${limit} ms`) : error);
  } finally {
    await running[Symbol.asyncDispose]();
  }
  results.finish();
  console.log(results.summary);
  return results;
}

async function runAll(queue: readonly Runtime[]): Promise<RuntimeResults[]> {
  const waiting = [...queue];
  const done: RuntimeResults[] = [];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      done.push(await runOne(next));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return queue.flatMap(({ name }) => done.filter((results) => results.runtime === name));
}

try {
  const chosen = runtimes.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
  const skipped = chosen.filter(({ name, skipReason }) => {
    const reason = skipReason?.();
    if (reason !== undefined) console.log(`${name}: skipped, ${reason}`);
    return reason !== undefined;
  });
  const all = await runAll(chosen.filter((runtime) => !skipped.includes(runtime)));
  printTable(all);
  const failed = all.reduce((sum, results) => sum + results.failed, 0);
  const passed = all.reduce((sum, results) => sum + results.passed, 0);
  console.log(`${passed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}
