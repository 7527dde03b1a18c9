/**
 * Kills an MCP server 100 times while an agent makes 20 images and 20 videos, and repeats every call whose
 * connection is lost. Fails unless exactly 40 are charged and all 40 files are whole.
 *
 *   npm run build && node test/extended/mcp-kill.ts [kills, 100 by default]
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/client';
import { isObject } from '../../src/answers/objects.ts';
import { createEmulator } from '../../src/testing/index.ts';
import { compileCache, root } from '../helpers/run-program.ts';
import { StreamTransport, toServer } from '../programs/mcp/stream-transport.ts';

const kills = Number(process.argv[2] ?? 100);
const count = 20;
const folder = await mkdtemp(join(tmpdir(), 'model-gateway-mcp-'));
await mkdir(join(folder, 'project'));
// Its limit of downloads would make most videos wait a minute.
const emulator = createEmulator({ videoDuration: 2_000, quirks: { contentLimit: 0 } });
const { url } = await emulator.listen();
// Most kills then happen during a paid call.
const slow = { type: 'slow', milliseconds: 400 } as const;
emulator.fail({ operation: 'images.generate', fault: slow, times: count });
emulator.fail({ operation: 'videos.create', fault: slow, times: count });

/** A server that is started again after each kill. */
class Server {
  #child: ChildProcess | undefined;
  #client: Promise<Client> | undefined;
  starts = 0;

  /** Returns a connected client. */
  connect(): Promise<Client> {
    this.#client ??= this.#start();
    return this.#client;
  }

  async #start(): Promise<Client> {
    this.starts += 1;
    const child = spawn(process.execPath, [join(root, 'dist/cli/main.js'), 'mcp', '--wait', '5s'], {
      cwd: join(folder, 'project'),
      env: {
        PATH: process.env['PATH'],
        HOME: folder,
        XDG_STATE_HOME: join(folder, 'state'),
        GATEWAY_BASE_URL: url,
        GATEWAY_API_KEY: emulator.apiKey,
        ...compileCache,
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    child.stdin.on('error', () => {});
    child.once('close', () => {
      if (this.#child === child) this.#client = undefined;
    });
    this.#child = child;
    const client = new Client({ name: 'agent', version: '1.0.0' });
    await client.connect(new StreamTransport(toServer(child)));
    return client;
  }

  kill(): void {
    this.#child?.kill('SIGKILL');
  }
}

const server = new Server();

/** Calls a tool until it returns, as agents do after a lost connection. */
async function call(name: string, args: Record<string, unknown>) {
  for (;;) {
    try {
      const client = await server.connect();
      const { structuredContent } = await client.callTool({ name, arguments: args });
      return isObject(structuredContent) ? structuredContent : {};
    } catch {
      await delay(20);
    }
  }
}

async function make(index: number): Promise<string> {
  const isVideo = index >= count;
  const args = isVideo
    ? { model: 'm-video', prompt: `Film ${index}`, seconds: 1 }
    : { model: 'm-image', prompt: `Picture ${index}` };
  for (;;) {
    const {
      state,
      files,
      message,
      call_id: callId,
    } = await call(isVideo ? 'create_video' : 'create_image', args);
    if (state === 'failed' || state === 'unknown') return `${state}: ${String(message)}`;
    if (state !== 'done') await call('wait_video', { call_id: callId });
    const [file]: unknown[] = Array.isArray(files) ? files : [];
    if (state !== 'done' || !isObject(file)) continue;
    const bytes = await readFile(String(file['path']));
    const isWhole = isVideo ? bytes.includes('moov') : bytes.subarray(-8).includes('IEND');
    return isWhole && bytes.length === file['bytes'] ? 'done' : 'not whole';
  }
}

const begun = performance.now();
const progress = { killed: 0, isOver: false };
const waiting = Array.from({ length: 2 * count }, (_, index) => index);
/** The kills that belong to the calls so far. */
const due = (): number => kills * (1 - waiting.length / (2 * count));
const killing = (async () => {
  while (progress.killed < kills && !progress.isOver) {
    await delay(50 + Math.random() * 700);
    if (progress.killed >= due()) continue;
    server.kill();
    progress.killed += 1;
  }
})();
const ends: string[] = [];
// Few at a time, and none long before its kills, so that the calls last as long as the kills.
await Promise.all(
  Array.from({ length: 4 }, async () => {
    for (let index = waiting.shift(); index !== undefined; index = waiting.shift()) {
      const left = due();
      while (progress.killed < left - 4) await delay(20);
      ends.push(await make(index));
    }
  }),
);
progress.isOver = true;
await killing;
await (await server.connect()).close();

const charges = emulator.charges.length;
const problems = ends.filter((end) => end !== 'done');
console.log(
  `${progress.killed} kills, ${server.starts} starts, ${ends.length - problems.length} of ${2 * count} files, ${charges} charges, ${((performance.now() - begun) / 1_000).toFixed(0)} s`,
);
for (const problem of problems) console.error(problem);
await rm(folder, { recursive: true, force: true });
process.exit(problems.length === 0 && charges === 2 * count ? 0 : 1);
