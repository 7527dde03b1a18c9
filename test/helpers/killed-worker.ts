// Submits a video or images with a ledger, downloads them, and is killed at some step.
import fsPromises, { type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { modes } from './modes.ts';

const [baseURL = '', apiKey = '', folder = '', killAt = '0', kind = 'video', gateway] =
  process.argv.slice(2);

let steps = 0;

/** Every step before and after an effect that another process could see. */
function step(): void {
  steps += 1;
  if (steps === Number(killAt)) process.kill(process.pid, 'SIGKILL');
}

/** Adds a step before and after every call of a method. */
function between(owner: object, name: string): void {
  const original: unknown = Reflect.get(owner, name);
  if (typeof original !== 'function') throw new Error(`Missing ${name}()`);
  Reflect.set(owner, name, async function (this: unknown, ...parameters: unknown[]) {
    step();
    const result: unknown = await Reflect.apply(original, this, parameters);
    step();
    return result;
  });
}

const probe: FileHandle = await fsPromises.open(import.meta.filename, 'r');
const handles: unknown = Object.getPrototypeOf(probe);
await probe.close();
if (typeof handles === 'object' && handles !== null) {
  for (const name of ['write', 'writeFile', 'sync', 'truncate']) between(handles, name);
}
for (const name of ['open', 'link', 'rename', 'rm', 'writeFile', 'mkdir']) {
  between(fsPromises, name);
}
syncBuiltinESMExports();
between(globalThis, 'fetch');

// Imported here, so that they use the functions with steps.
const { Gateway } = await import('../../src/index.ts');
const { downloadVideo, fileLedger } = await import('../../src/adapters/node/index.ts');

const client = new Gateway({
  baseURL,
  apiKey,
  gateway: modes.find((name) => name === gateway),
  logLevel: 'off',
});
let outcome: string;
const ledger = fileLedger(`${folder}/ledger`);

async function makeVideo(): Promise<void> {
  const video = await client.videos.createAndWait(
    { model: 'm-video', prompt: 'A paper boat', seconds: 1, size: '64x64' },
    { ledger, callId: 'job', interval: 250, onSubmitted: step },
  );
  step();
  await downloadVideo(client, video, { to: `${folder}/out.mp4`, resume: true });
}

async function makeImages(): Promise<void> {
  const params = { model: 'm-image', prompt: 'A paper boat', size: '16x16' };
  const options = { ledger, callId: 'job', onSubmitted: step };
  const { data } = await client.images.generate({ ...params, n: 2 }, options);
  step();
  await fsPromises.writeFile(`${folder}/out.json`, JSON.stringify(data));
}

try {
  await (kind === 'video' ? makeVideo() : makeImages());
  outcome = 'completed';
} catch (error) {
  outcome = error instanceof Error ? error.name : 'unknown error';
}
process.stdout.write(JSON.stringify({ outcome, steps }));
