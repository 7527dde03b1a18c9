/**
 * How much memory do large files and many waits take?
 *
 *   node memory/run.ts              2 GiB each way, 10,000 waits; writes bench/results
 *   node memory/run.ts -- --check   the same, writes nothing
 *
 * Exits non-zero when a limit is passed. Every measurement is a process of its own, and so is the
 * server. Needs a built client in ../dist.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { environmentOf, saveJSON } from '../lib/results.ts';
import { formatTable } from '../lib/table.ts';

const { values } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    mebibytes: { type: 'string', default: '2048' },
    waits: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '15' },
  },
});

/** How much a process may grow with any transfer, in MiB. */
const growthLimit = 64;
/** How much one wait may take, in bytes. */
const waitLimit = 8 * 1_024;

const bytes = Number(values.mebibytes) * (1 << 20);
const waits = Number(values.waits);

async function measure(program: string, parameters: readonly string[]): Promise<unknown> {
  const file = path.join(import.meta.dirname, program);
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--expose-gc', file, ...parameters],
    { maxBuffer: 1 << 20 },
  );
  const measured: unknown = JSON.parse(stdout);
  return measured;
}

async function kindsOf(program: string): Promise<string[]> {
  const kinds = await measure(program, []);
  return Array.isArray(kinds) ? kinds.map(String) : [];
}

/** Measures something against a server of its own. */
async function withServer<T>(run: (url: string) => Promise<T>): Promise<T> {
  const server = spawn(process.execPath, [path.join(import.meta.dirname, 'server.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const port = await new Promise<string>((resolve, reject) => {
      server.once('error', reject);
      server.stdout.once('data', (text) => resolve(String(text).trim()));
    });
    return await run(`http://127.0.0.1:${port}`);
  } finally {
    server.kill();
  }
}

/** The numbers of a measurement, by name. */
function numbersOf(measured: unknown): Readonly<Record<string, number>> {
  const entries = Object.entries(Object(measured));
  return Object.fromEntries(entries.map(([name, value]) => [name, Number(value)]));
}

const problems: string[] = [];
const folder = await mkdtemp(path.join(tmpdir(), 'model-gateway-bench-'));

const transfers: { kind: string; mebibytes: number; growth: number; seconds: number }[] = [];
for (const kind of await kindsOf('transfer.ts')) {
  const measured = await withServer((url) =>
    measure('transfer.ts', [kind, url, `${bytes}`, folder]),
  );
  const { growth = Infinity, seconds = 0 } = numbersOf(measured);
  transfers.push({ kind, mebibytes: bytes / (1 << 20), growth, seconds });
  if (growth > growthLimit) problems.push(`${kind} grew by ${growth.toFixed(0)} MiB`);
}
await rm(folder, { recursive: true });

console.log(
  formatTable(
    [
      { heading: `${values.mebibytes} MiB`, align: 'left' },
      { heading: 'growth\nMiB', align: 'right' },
      { heading: 'seconds', align: 'right' },
    ],
    transfers.map(({ kind, growth, seconds }) => [kind, growth.toFixed(0), seconds.toFixed(1)]),
  ),
);

const waiting: {
  kind: string;
  waits: number;
  bytesPerWait: number;
  pollsPerSecond: number;
  load: number;
}[] = [];
for (const kind of await kindsOf('waits.ts')) {
  const measured = await withServer((url) =>
    measure('waits.ts', [kind, url, `${waits}`, values.seconds]),
  );
  const { perWait = Infinity, perSecond = 0, load = 0, ended = 0 } = numbersOf(measured);
  waiting.push({ kind, waits, bytesPerWait: perWait, pollsPerSecond: perSecond, load });
  if (perWait > waitLimit) problems.push(`${kind}: one wait takes ${perWait.toFixed(0)} bytes`);
  if (ended !== waits) problems.push(`${kind}: ${ended} of ${waits} waits were completed`);
}

console.log(
  `\n${formatTable(
    [
      { heading: `${waits} waits`, align: 'left' },
      { heading: 'bytes\nper wait', align: 'right' },
      { heading: 'polls\nper second', align: 'right' },
      { heading: 'processors\nbusy', align: 'right' },
    ],
    waiting.map(({ kind, bytesPerWait, pollsPerSecond, load }) => [
      kind,
      bytesPerWait.toFixed(0),
      pollsPerSecond.toFixed(0),
      load.toFixed(2),
    ]),
  )}`,
);

if (!values.check) {
  const environment = await environmentOf(['model-gateway']);
  const result = { environment, limits: { growthLimit, waitLimit }, transfers, waiting };
  console.log(`\nWritten: ${await saveJSON('memory.json', result)}`);
}
console.log(
  problems.length === 0 ? '\nEvery limit held.' : `\nPassed:\n- ${problems.join('\n- ')}`,
);
process.exitCode = problems.length === 0 ? 0 : 1;
