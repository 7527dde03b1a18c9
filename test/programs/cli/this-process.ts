import { Console } from 'node:console';
import { PassThrough, Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { run } from '../../../src/programs/cli/program.ts';

/** Exit code and output of a command. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What a command finds in its process. */
interface Place {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A pipe that keeps what is written to it. */
class Pipe extends Writable {
  readonly #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}

/** Replaces the environment, and keeps the object: `os.tmpdir()` and `os.homedir()` read that of the process. */
function replaceEnv(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
}

/** The pipes of a command in this process. */
interface Pipes {
  readonly stdin: PassThrough;
  readonly stdout: Pipe;
  readonly stderr: Pipe;
  /** Gives this process back what it had before. */
  leave(): void;
}

let current: Pipes | undefined;

function setStreams(streams: object): void {
  for (const [name, value] of Object.entries(streams)) {
    Object.defineProperty(process, name, { configurable: true, enumerable: true, value });
  }
}

/** Gives this process the folder, environment and streams of another one, until `leave()` or the end of the test. */
function enter({ folder, env }: Place, words: readonly string[]): Pipes {
  if (current !== undefined) {
    throw new Error('Another command runs in this process. Run one of them in its own process.');
  }
  const { argv, exitCode, stdin, stdout, stderr } = process;
  const { console } = globalThis;
  const before = { folder: process.cwd(), env: { ...process.env } };
  const streams = { stdin: new PassThrough(), stdout: new Pipe(), stderr: new Pipe() };
  const pipes: Pipes = {
    ...streams,
    leave() {
      if (current !== pipes) return;
      current = undefined;
      process.chdir(before.folder);
      replaceEnv(before.env);
      setStreams({ stdin, stdout, stderr });
      globalThis.console = console;
      Object.assign(process, { argv, exitCode });
    },
  };
  process.chdir(folder);
  current = pipes;
  // A test that fails does not wait for the command.
  onTestFinished(() => pipes.leave());
  replaceEnv(env);
  setStreams(streams);
  globalThis.console = new Console(pipes.stdout, pipes.stderr);
  Object.assign(process, { argv: [argv[0], 'model-gateway', ...words], exitCode: undefined });
  return pipes;
}

/** Runs a command of the source in this process, alone. Tests of signals, pipes and terminals need another one. */
export async function inThisProcess(
  place: Place,
  words: readonly string[],
  input: string | null,
): Promise<Ended> {
  const pipes = enter(place, words);
  const { stdin, stdout, stderr } = pipes;
  if (input !== null) stdin.end(input);
  try {
    await run(words);
    return { code: Number(process.exitCode ?? 0), stdout: stdout.text, stderr: stderr.text };
  } finally {
    pipes.leave();
  }
}

let shared: { readonly folder: string; readonly pipes: Pipes; users: number } | undefined;

/** Gives this process the place of one or more servers of the same machine. @returns a function for the end of this one */
export function share(place: Place, words: readonly string[]): () => void {
  if (shared?.folder !== place.folder) {
    shared = { folder: place.folder, pipes: enter(place, words), users: 0 };
  }
  const own = shared;
  own.users += 1;
  return () => {
    own.users -= 1;
    if (own.users > 0) return;
    if (shared === own) shared = undefined;
    own.pipes.leave();
  };
}
