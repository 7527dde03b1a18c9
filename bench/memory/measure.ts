import { spawn } from 'node:child_process';
import path from 'node:path';
import { runChild, type Figures } from '../lib/child.ts';

/** Does something with a server of its own. */
export async function withServer<T>(run: (url: string) => Promise<T>): Promise<T> {
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

/** Runs a program of this folder in a fresh process. */
export function runProgram(program: string, parameters: readonly string[]): Promise<Figures> {
  return runChild(path.join(import.meta.dirname, program), parameters);
}

/** Lets many tasks be waited for: figures of `waits.ts`. */
export function measureWaits(
  kind: string,
  way: 'asleep' | 'working',
  waits: number,
  seconds = 0,
): Promise<Figures> {
  return withServer((url) => runProgram('waits.ts', [kind, way, url, `${waits}`, `${seconds}`]));
}
