/**
 * How much memory do large files and many waits take?
 *
 *   npm run memory               2 GiB each way, 10,000 waits; writes results/memory.json
 *   npm run memory -- --check    256 MiB and 2,000 waits, unless they are given; writes nothing
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
    mebibytes: { type: 'string' },
    waits: { type: 'string' },
    seconds: { type: 'string' },
  },
});

/** How much a process may grow with any transfer, in MiB. */
const growthLimit = 64;
/** How much one wait may hold between two polls, in bytes. */
const waitLimit = 8 * 1_024;

const mebibytes = Number(values.mebibytes ?? (values.check ? 256 : 2_048));
const waits = Number(values.waits ?? (values.check ? 2_000 : 10_000));
const seconds = values.seconds ?? (values.check ? '3' : '15');

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
    measure('transfer.ts', [kind, url, `${mebibytes * (1 << 20)}`, folder]),
  );
  const { growth = Infinity, seconds: taken = 0, isFloor } = numbersOf(measured);
  transfers.push({ kind, mebibytes, growth, seconds: taken });
  if (isFloor !== 1 && growth > growthLimit) {
    problems.push(`${kind} grew by ${growth.toFixed(0)} MiB`);
  }
}
await rm(folder, { recursive: true });

console.log(
  formatTable(
    [
      { heading: `${mebibytes} MiB`, align: 'left' },
      { heading: 'growth\nMiB', align: 'right' },
      { heading: 'seconds', align: 'right' },
    ],
    transfers.map((row) => [row.kind, row.growth.toFixed(0), row.seconds.toFixed(1)]),
  ),
);

interface Waiting {
  readonly kind: string;
  readonly waits: number;
  /** Between two polls. */
  readonly bytesAsleep: number;
  /** While they poll. */
  readonly bytesWorking: number;
  readonly pollsPerSecond: number;
  readonly load: number;
}

const waiting: Waiting[] = [];
for (const kind of await kindsOf('waits.ts')) {
  const measureWaits = async (way: string) =>
    numbersOf(
      await withServer((url) => measure('waits.ts', [kind, way, url, `${waits}`, seconds])),
    );
  const { perWait: bytesAsleep = Infinity } = await measureWaits('asleep');
  const working = await measureWaits('working');
  const { perWait: bytesWorking = Infinity, perSecond = 0, load = 0, ended = 0 } = working;
  waiting.push({ kind, waits, bytesAsleep, bytesWorking, pollsPerSecond: perSecond, load });
  if (bytesAsleep > waitLimit) {
    problems.push(`${kind}: a wait holds ${bytesAsleep.toFixed(0)} bytes`);
  }
  if (ended !== waits) problems.push(`${kind}: ${ended} of ${waits} waits were completed`);
}

console.log(
  `\n${formatTable(
    [
      { heading: `${waits} waits`, align: 'left' },
      { heading: 'bytes a wait,\nasleep', align: 'right' },
      { heading: 'bytes a wait,\npolling', align: 'right' },
      { heading: 'polls\nper second', align: 'right' },
      { heading: 'processors\nbusy', align: 'right' },
    ],
    waiting.map((row) => [
      row.kind,
      row.bytesAsleep.toFixed(0),
      row.bytesWorking.toFixed(0),
      row.pollsPerSecond.toFixed(0),
      row.load.toFixed(2),
    ]),
  )}`,
);

if (!values.check) {
  const environment = await environmentOf(['model-gateway']);
  const limits = { growth: growthLimit, bytesAsleep: waitLimit };
  const result = { environment, limits, transfers, waiting };
  console.log(`\nWritten: ${await saveJSON('memory.json', result)}`);
}
console.log(
  problems.length === 0 ? '\nEvery limit held.' : `\nPassed:\n- ${problems.join('\n- ')}`,
);
process.exitCode = problems.length === 0 ? 0 : 1;
