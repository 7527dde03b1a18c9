import { spawn } from 'node:child_process';
import type { WorkerMessage } from './jobs.ts';

/**
 * Makes a call in a process that outlives this one.
 *
 * @param worker - The program and its arguments. It reads the message from its standard input.
 * @returns the exit code, `null` if the process was killed or could not be started
 */
export function spawnWorker(
  [program = process.execPath, ...args]: readonly string[],
  message: WorkerMessage,
): Promise<number | null> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      // Signals to the group of this process do not reach it.
      detached: true,
      windowsHide: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    child.once('error', () => resolve(null));
    child.once('exit', (code) => resolve(code));
    child.stdin.on('error', () => {
      // It has ended; its exit code says how.
    });
    child.stdin.end(JSON.stringify(message));
  });
}
