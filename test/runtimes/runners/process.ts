import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Report } from '../harness/check.ts';

/** A program that runs the checks and prints their results. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Lines of stderr that are shown if a program fails. */
const shownLines = 12;

/** Runs a program to its end, or to `signal`, and passes its lines on. */
export async function runCommand(
  { file, args, env }: Command,
  report: Report,
  signal: AbortSignal,
): Promise<void> {
  const inherited = { PATH: process.env['PATH'], HOME: process.env['HOME'] };
  const child = spawn(file, args, {
    cwd: new URL('..', import.meta.url),
    env: { ...inherited, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
    killSignal: 'SIGKILL',
  });
  const complaints: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => complaints.push(line));
  createInterface({ input: child.stdout }).on('line', report);
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error([`Ended with ${code}`, ...complaints.slice(0, shownLines)].join('\n')));
    });
  });
}
