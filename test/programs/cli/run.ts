import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawn as spawnInTerminal, type IPty } from '@lydell/node-pty';
import { onTestFinished } from 'vitest';
import { createEmulator, type Emulator, type EmulatorServer } from '../../../src/testing/index.ts';
import { compileCache } from '../../helpers/run-program.ts';
import { inThisProcess, type Ended } from './this-process.ts';

const program = join(import.meta.dirname, '../../../dist/cli/main.js');

/** The beginning of a command for a picture that is soon painted. */
export const draw = ['image', '-m', 'm-image', '--size', '64x64'];

/** A person's machine: a folder to work in, and a home. It is removed after the test. */
export class Machine {
  readonly folder = mkdtempSync(join(tmpdir(), 'cli-'));
  readonly env: Record<string, string>;

  constructor(gateway: { readonly url?: string; readonly key?: string } = {}) {
    onTestFinished(() => rmSync(this.folder, { recursive: true, force: true }));
    const { PATH = '', SystemRoot = '' } = process.env;
    this.env = {
      PATH,
      SystemRoot,
      HOME: this.folder,
      XDG_STATE_HOME: join(this.folder, 'state'),
      XDG_CONFIG_HOME: join(this.folder, 'config'),
      TMPDIR: this.folder,
      TERM: 'xterm-256color',
      ...compileCache,
    };
    if (gateway.url !== undefined) this.env['GATEWAY_BASE_URL'] = gateway.url;
    if (gateway.key !== undefined) this.env['GATEWAY_API_KEY'] = gateway.key;
  }

  /** Starts a command with pipes. */
  start(words: readonly string[], env: Record<string, string> = {}) {
    return spawn(process.execPath, [program, ...words], {
      cwd: this.folder,
      env: { ...this.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  }

  /**
   * Runs a command of the source with pipes in this process, which takes a tenth of the time. What it records has an
   * owner that is still running.
   *
   * @param input - What is piped in; `null` leaves it open.
   */
  run(words: readonly string[], input: string | null = '', env: Record<string, string> = {}) {
    return inThisProcess({ folder: this.folder, env: { ...this.env, ...env } }, words, input);
  }

  /** Runs a command with pipes in a process of its own, for tests in which that is the subject. */
  runAlone(words: readonly string[], input = '', env?: Record<string, string>) {
    const child = this.start(words, env);
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    // It may end before it has read anything.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    return new Promise<Ended>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, stdout, stderr }));
    });
  }

  /**
   * Runs a command in a shell.
   *
   * @param script - A script; `"$@"` is the command.
   * @param limit - What the command's own shell does before it.
   * @returns the exit code of the command, and what the shell wrote
   */
  async shell(script: string, words: readonly string[], limit = ''): Promise<Ended> {
    const path = join(this.folder, 'exit-code');
    const command = [process.execPath, program, ...words];
    const run = `run() { (${limit} exec "$@"); echo $? > '${path}'; }`;
    const whole = `${run}; ${script.replace('"$@"', 'run "$@"')}`;
    const child = spawn('sh', ['-c', whole, 'sh', ...command], {
      cwd: this.folder,
      env: this.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    return { code: Number(readFileSync(path, 'utf8')), stdout, stderr };
  }

  /** Starts a command in a terminal. */
  open(words: readonly string[], env: Record<string, string> = {}, cols = 120): TerminalRun {
    const pty = spawnInTerminal(process.execPath, [program, ...words], {
      cwd: this.folder,
      env: { ...this.env, ...env },
      cols,
      rows: 40,
    });
    return new TerminalRun(pty);
  }
}

/** Sets up a test: an emulator with a fast clock, and a home folder with its address and key. */
export async function begin(): Promise<{
  readonly emulator: Emulator;
  readonly server: EmulatorServer;
  readonly machine: Machine;
}> {
  const emulator = createEmulator();
  emulator.clock.speed = 100;
  const server = await emulator.listen();
  onTestFinished(() => server.close());
  return { emulator, server, machine: new Machine({ url: server.url, key: emulator.apiKey }) };
}

/** A command in a terminal: what a person sees, and what they type. */
export class TerminalRun {
  readonly #pty: IPty;
  readonly #ended: Promise<number>;
  #waiting: (() => void)[] = [];
  /** Everything that was written to the terminal. */
  screen = '';

  constructor(pty: IPty) {
    this.#pty = pty;
    pty.onData((text) => {
      this.screen += text;
      for (const wake of this.#waiting.splice(0)) wake();
    });
    this.#ended = new Promise((resolve) => {
      pty.onExit(({ exitCode }) => {
        resolve(exitCode);
        for (const wake of this.#waiting.splice(0)) wake();
      });
    });
  }

  /** Resolves when the screen has shown something. */
  async shows(pattern: RegExp): Promise<void> {
    let isOver = false;
    void this.#ended.then(() => (isOver = true));
    while (!pattern.test(this.screen)) {
      if (isOver) throw new Error(`It ended without ${pattern.source}:\n${this.screen}`);
      await new Promise<void>((wake) => this.#waiting.push(wake));
    }
  }

  type(text: string): void {
    this.#pty.write(text);
  }

  end(): Promise<number> {
    return this.#ended;
  }
}
