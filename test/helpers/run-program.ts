import { execFile } from 'node:child_process';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');

/** Node's compile cache, so that not every process of a test compiles the build again. */
export const compileCache = {
  NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compiled'),
};

/** Output and exit of a program. */
export interface ProgramResult {
  readonly code: number;
  readonly output: string;
}

/** Runs a TypeScript program in a new Node process. */
export function runProgram(
  path: string,
  environment: Readonly<Record<string, string>>,
  folder: string = root,
  args: readonly string[] = [],
): Promise<ProgramResult> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--unhandled-rejections=strict', path, ...args],
      {
        cwd: folder,
        // Without the environment of the tests, as for a user who copies the program.
        env: { PATH: process.env['PATH'], TMPDIR: folder, ...compileCache, ...environment },
        timeout: 80_000,
      },
      (error, stdout, stderr) => {
        const code = typeof error?.code === 'number' ? error.code : error === null ? 0 : 1;
        resolve({ code, output: stdout + stderr });
      },
    );
  });
}
