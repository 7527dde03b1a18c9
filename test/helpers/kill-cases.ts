import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { createEmulator, type EmulatedGateway, type Emulator } from '../../src/testing/index.ts';

/** When the first run is killed: at a step of the program, or after some milliseconds. */
export type Kill = { readonly step: number } | { readonly after: number };

/** The result of a program that was killed and started again. */
export interface KillResult {
  /** The end of the last run. */
  readonly outcome: string;
  /** The number of runs. */
  readonly runs: number;
  /** Steps of the last run. */
  readonly steps: number;
  readonly posts: number;
  readonly charges: number;
  /** True if the ledger has the task. */
  readonly isKnown: boolean;
  /** True if the file is the result of the task; `false` without a file. */
  readonly isWhole: boolean;
  /** Leftover files. */
  readonly leftovers: readonly string[];
}

/** The program bundled into one file, which starts five times as fast. */
export async function bundleWorker(folder: string): Promise<string> {
  const outfile = join(folder, 'worker.mjs');
  await build({
    entryPoints: [join(import.meta.dirname, 'killed-worker.ts')],
    bundle: true,
    format: 'esm',
    platform: 'node',
    outfile,
    // Dynamic imports stay dynamic, because Node's functions are patched before.
    splitting: false,
    logLevel: 'error',
    define: { __VERSION__: '"0.0.0-test"' },
  });
  return outfile;
}

interface Run {
  readonly isKilled: boolean;
  readonly output: string;
}

/** Runs a program, and kills it after some milliseconds if they are set. */
export function runWorker(
  program: string,
  parameters: readonly string[],
  killAfter?: number,
): Promise<Run> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...parameters], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += String(chunk);
    });
    const timer =
      killAfter === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfter);
    child.once('error', reject);
    child.once('close', (_, signal) => {
      clearTimeout(timer);
      resolve({ isKilled: signal === 'SIGKILL', output });
    });
  });
}

/** True if any entry of a ledger has a handle. */
async function isKnown(ledger: string): Promise<boolean> {
  const names = (await readdir(ledger, { recursive: true })).filter((name) =>
    name.endsWith('.json'),
  );
  const entries = await Promise.all(names.map((name) => readFile(join(ledger, name), 'utf8')));
  return entries.some((text) => {
    const entry: unknown = JSON.parse(text);
    return typeof entry === 'object' && entry !== null && 'ref' in entry;
  });
}

/** The kinds of tasks, with the file that the program writes. */
const outputs = { video: 'out.mp4', image: 'out.json' } as const;

type Kind = keyof typeof outputs;

/** Reads the kind that a person named in the command line. */
export function readKind(name: string): Kind {
  if (name === 'video' || name === 'image') return name;
  throw new Error(`The kind is video or image, not ${name}.`);
}

/** Returns whether a file is the result of the task that an emulator made. */
async function isResult(emulator: Emulator, kind: Kind, file: Buffer): Promise<boolean> {
  const [video] = emulator.videos.list;
  if (kind === 'video') {
    return video !== undefined && file.equals(await emulator.videos.content(video.id));
  }
  const images: { readonly b64_json?: string; readonly url?: string }[] = JSON.parse(
    file.toString(),
  );
  return images.length === 2 && images.every(({ b64_json, url }) => b64_json ?? url);
}

/** Makes one video, or two images, with a program that is killed once, then started until it ends. */
export async function makeDespite(
  program: string,
  kill: Kill,
  kind: Kind,
  gateway: EmulatedGateway = 'new-api',
): Promise<KillResult> {
  const folder = await mkdtemp(join(tmpdir(), 'model-gateway-kill-'));
  const quirks = { imageTasks: 'several', imageTaskTime: 300 } as const;
  await using emulator = createEmulator({ gateway, videoDuration: 300, quirks });
  const { url } = await emulator.listen();
  try {
    let runs = 0;
    let result: Run;
    do {
      const isFirst = runs === 0;
      const step = isFirst && 'step' in kill ? kill.step : 0;
      const after = isFirst && 'after' in kill ? kill.after : undefined;
      const parameters = [url, emulator.apiKey, folder, String(step), kind, gateway];
      result = await runWorker(program, parameters, after);
      runs += 1;
    } while (result.isKilled);
    const { outcome, steps }: { outcome: string; steps: number } = JSON.parse(result.output);
    const output = outputs[kind];
    const file = await readFile(join(folder, output)).catch(() => undefined);
    const names = await readdir(folder);
    return {
      outcome,
      runs,
      steps,
      posts: emulator.requests.filter(({ method }) => method === 'POST').length,
      charges: emulator.charges.length,
      isKnown: await isKnown(join(folder, 'ledger')),
      isWhole: file !== undefined && (await isResult(emulator, kind, file)),
      leftovers: names.filter((name) => name !== 'ledger' && name !== output),
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/**
 * Describes an incorrect result, or returns `undefined`. A task is submitted once; only a program that was
 * killed between the claim and accept() may end without a task, with an error.
 */
export function problemOf(result: KillResult): string | undefined {
  const { outcome, posts, charges, isKnown: hasTask, isWhole, leftovers } = result;
  if (posts > 1 || charges > 1) return 'the task was submitted more than once';
  if (outcome.endsWith('SubmitUnknownError')) {
    return hasTask ? 'it gave up a task that is in the ledger' : undefined;
  }
  if (outcome !== 'completed') return `it ended with ${outcome}`;
  if (posts !== 1 || !isWhole) return 'the result is not there';
  return leftovers.length > 0 ? `left behind: ${leftovers.join(', ')}` : undefined;
}
