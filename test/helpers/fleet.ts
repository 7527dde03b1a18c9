import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { build } from 'esbuild';
import { fileLedger } from '../../src/adapters/node/index.ts';
import { isObject } from '../../src/answers/objects.ts';

/** Processes that share a ledger of files and place the same orders. */
export interface Fleet {
  readonly orders: number;
  readonly workers: number;
  /** How often one of them is killed, and another one started in its place. */
  readonly kills?: number;
  /** The most files and connections that each may have open at a time, which all come and go. */
  readonly descriptors?: number | undefined;
  /** The folder of another version of this package, which every second worker is. */
  readonly other?: string | undefined;
}

/** What a fleet did. */
export interface FleetResult {
  readonly killed: number;
  /** Orders that were paid. */
  readonly paid: number;
  readonly charges: number;
  /** Orders that were never paid. */
  readonly unsent: number;
  /** Paid orders whose task is not in the ledger. */
  readonly lost: number;
  /** Orders for which a worker returned another task than the paid one. */
  readonly wrong: number;
  /** How often the workers tried, over all orders. */
  readonly tries: number;
}

/** Bundles the worker with the source of a version. */
async function bundle(outfile: string, source: string): Promise<string> {
  await build({
    entryPoints: [join(import.meta.dirname, 'fleet-worker.ts')],
    bundle: true,
    format: 'esm',
    platform: 'node',
    outfile,
    logLevel: 'error',
    define: { __VERSION__: '"0.0.0-test"' },
    plugins: [
      {
        name: 'version',
        setup(building) {
          building.onResolve({ filter: /^\.\.\/\.\.\/src\// }, ({ path }) => ({
            path: join(source, path.replace('../../', '')),
          }));
        },
      },
    ],
  });
  return outfile;
}

/** A gateway that charges every submission at once, and answers a little later. */
async function startGateway(charges: Map<string, string[]>) {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const [, order] = /\b(order-\d+)\b/.exec(Buffer.concat(parts).toString()) ?? [];
      if (order === undefined) return void response.end('{}');
      const tasks = charges.get(order) ?? [];
      const id = `task-${order}-${tasks.length + 1}`;
      charges.set(order, [...tasks, id]);
      const answer = (): void => {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ id, status: 'queued' }));
      };
      return void setTimeout(answer, 5 + Math.random() * 40);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** Lets a fleet place its orders, and counts what was paid. */
export async function runFleet(fleet: Fleet): Promise<FleetResult> {
  const { orders, workers, kills = 0, descriptors, other } = fleet;
  const folder = await mkdtemp(join(tmpdir(), 'model-gateway-fleet-'));
  const programs = [await bundle(join(folder, 'this.mjs'), join(import.meta.dirname, '../..'))];
  if (other !== undefined) programs.push(await bundle(join(folder, 'other.mjs'), other));
  const charges = new Map<string, string[]>();
  const server = await startGateway(charges);
  const address = server.address();
  const port = isObject(address) ? Number(address['port']) : 0;
  const ends: (readonly [order: string, end: string, tries: number])[] = [];
  const running = new Set<ChildProcess>();
  let started = 0;
  let killed = 0;

  /** Runs a worker, and another one in its place each time that it is killed, or ends while kills are left. */
  async function run(): Promise<void> {
    for (;;) {
      const program = programs[started % programs.length] ?? '';
      started += 1;
      const gateway = `http://127.0.0.1:${port}`;
      const limit = descriptors === undefined ? '' : `ulimit -n ${descriptors}; `;
      const words = [program, gateway, join(folder, 'ledger'), `${orders}`, limit];
      const shell = ['-c', `${limit}exec "$@"`, 'sh', process.execPath, ...words];
      const child = spawn('sh', shell, { stdio: ['ignore', 'pipe', 'inherit'] });
      running.add(child);
      let output = '';
      child.stdout.on('data', (part) => (output += String(part)));
      const [code, signal] = await once(child, 'close');
      running.delete(child);
      if (signal === 'SIGKILL') continue;
      if (code !== 0) throw new Error(`A worker ended with ${code}.`);
      ends.push(...JSON.parse(output));
      if (killed >= kills) return;
    }
  }

  const all = Promise.all(Array.from({ length: workers }, run));
  while (killed < kills && running.size > 0) {
    await pause(40 + Math.random() * 250);
    const [child] = [...running].toSorted(() => Math.random() - 0.5);
    if (child?.kill('SIGKILL') === true) killed += 1;
  }
  await all;
  server.close();

  const ledger = fileLedger(join(folder, 'ledger'));
  const counts = { unsent: 0, lost: 0, wrong: 0 };
  for (let index = 0; index < orders; index += 1) {
    const order = `order-${index}`;
    const [first, ...more] = charges.get(order) ?? [];
    const refs = (await ledger.entry(order))?.refs ?? [];
    if (first === undefined) counts.unsent += 1;
    else if ([first, ...more].some((id) => !refs.some((ref) => ref.id === id))) counts.lost += 1;
    const tasks = ends.filter(([name, end]) => name === order && end.startsWith('task-'));
    if (tasks.some(([, end]) => end !== first)) counts.wrong += 1;
  }
  await rm(folder, { recursive: true });
  const tries = ends.reduce((sum, [, , count]) => sum + count, 0);
  const paid = [...charges.values()].flat().length;
  return { killed, paid: charges.size, charges: paid, ...counts, tries };
}
