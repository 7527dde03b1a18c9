/**
 * Measures the memory of large files and many waits.
 *
 *   npm run memory               2 GiB each way, 10,000 waits; writes results/memory.json
 *   npm run memory -- --check    256 MiB and 2,000 waits, unless they are given, of this client alone; writes nothing
 *   npm run memory -- --check --only transfers    or waits, which a busy machine disturbs
 *
 * Exits non-zero when a limit is passed three times in a row. Every measurement is a process of its own, and so is the
 * server. Needs a built client in ../dist.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { attempts } from '../judge.ts';
import type { Figures } from '../lib/child.ts';
import { describeEnvironment, saveJSON } from '../lib/results.ts';
import { formatTable } from '../lib/table.ts';
import { measureWaits, runProgram, withServer } from './measure.ts';

const { values } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    mebibytes: { type: 'string' },
    waits: { type: 'string' },
    seconds: { type: 'string' },
    only: { type: 'string' },
  },
});

/** Limit of the memory growth of a transfer, in MiB. */
const growthLimit = 64;
/** Limit of the memory of a wait between two polls, in bytes. */
const asleepLimit = 8 * 1_024;
/** Limit of the memory of a wait while all poll, including requests in progress. */
const pollingLimit = 16 * 1_024;

const mebibytes = Number(values.mebibytes ?? (values.check ? 256 : 2_048));
const waits = Number(values.waits ?? (values.check ? 2_000 : 10_000));
const seconds = Number(values.seconds ?? (values.check ? 3 : 15));

/** The least that does the same has no limit, and is only measured to be shown beside it. */
const isFloor = (kind: string): boolean => kind.endsWith(' alone');

async function listKinds(program: string): Promise<string[]> {
  const file = path.join(import.meta.dirname, program);
  const { stdout } = await promisify(execFile)(process.execPath, [file]);
  const kinds: unknown = JSON.parse(stdout);
  const names = Array.isArray(kinds) ? kinds.map(String) : [];
  return values.check ? names.filter((name) => !isFloor(name)) : names;
}

const problems: string[] = [];

/** Measures again while something is over its limit, three times in all: a busy machine holds more. */
async function measured<T>(
  measure: () => Promise<T>,
  overIn: (found: T) => readonly string[],
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const found = await measure();
    const over = overIn(found);
    if (over.length === 0) return found;
    if (attempt === attempts) {
      problems.push(...over);
      return found;
    }
    console.error(`${over.join('; ')}. Measured again (${attempt + 1} of ${attempts}).`);
  }
}

const folder = await mkdtemp(path.join(tmpdir(), 'model-gateway-bench-'));

const transfers: { kind: string; mebibytes: number; growth: number; seconds: number }[] = [];
const transferKinds = values.only === 'waits' ? [] : await listKinds('transfer.ts');
for (const kind of transferKinds) {
  const { growth = Infinity, seconds: taken = 0 } = await measured(
    () =>
      withServer((url) =>
        runProgram('transfer.ts', [kind, url, `${mebibytes * (1 << 20)}`, folder]),
      ),
    ({ growth: grown = Infinity }) =>
      !isFloor(kind) && grown > growthLimit ? [`${kind} grew by ${grown.toFixed(0)} MiB`] : [],
  );
  transfers.push({ kind, mebibytes, growth, seconds: taken });
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
const waitKinds = values.only === 'transfers' ? [] : await listKinds('waits.ts');
for (const kind of waitKinds) {
  const heldBy = (limit: number, when: string) => (figures: Figures) => {
    const { perWait = Infinity } = figures;
    return perWait > limit ? [`${kind}: a wait holds ${perWait.toFixed(0)} bytes ${when}`] : [];
  };
  const { perWait: bytesAsleep = Infinity } = await measured(
    () => measureWaits(kind, 'asleep', waits),
    heldBy(asleepLimit, 'between two polls'),
  );
  const working = await measured(
    () => measureWaits(kind, 'working', waits, seconds),
    heldBy(pollingLimit, 'while it polls'),
  );
  const { perWait: bytesWorking = Infinity, perSecond = 0, load = 0, ended = 0 } = working;
  waiting.push({ kind, waits, bytesAsleep, bytesWorking, pollsPerSecond: perSecond, load });
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

if (!values.check && values.only === undefined) {
  const environment = await describeEnvironment(['model-gateway']);
  const limits = { growth: growthLimit, bytesAsleep: asleepLimit, bytesPolling: pollingLimit };
  const result = { environment, limits, transfers, waiting };
  console.log(`\nWritten: ${await saveJSON('memory.json', result)}`);
}
console.log(
  problems.length === 0 ? '\nEvery limit held.' : `\nOver a limit:\n- ${problems.join('\n- ')}`,
);
process.exitCode = problems.length === 0 ? 0 : 1;
