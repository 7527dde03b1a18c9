import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packPackage } from '../runners/stage.ts';

/** Output of a program. */
export interface Output {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A user's project, outside of this one, with the package installed from its tarball. */
export class Project {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Makes one. Its dependencies come from the registry, as a user's would. */
  static async create(): Promise<Project> {
    const project = new Project(mkdtempSync(join(tmpdir(), 'consumer-')));
    const tarball = packPackage(project.folder);
    project.write('package.json', '{ "private": true, "type": "module" }\n');
    const flags = ['--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts'];
    await project.mustRun('npm', ['install', ...flags, tarball]);
    return project;
  }

  /** Writes a file. */
  write(name: string, content: string): void {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }

  /** Copies a file from `files` into the project. */
  copy(name: string, target = name): void {
    const path = join(this.folder, target);
    // Cases run side by side: one that runs the file must not lose it to another.
    if (existsSync(path)) return;
    mkdirSync(dirname(path), { recursive: true });
    cpSync(fileURLToPath(new URL(`files/${name}`, import.meta.url)), path);
  }

  /** Runs a program inside of the project. */
  run(file: string, args: readonly string[], env: Record<string, string> = {}): Promise<Output> {
    return new Promise((resolve) => {
      const options = { cwd: this.folder, env: { ...process.env, ...env }, timeout: 120_000 };
      execFile(file, args, options, (error, stdout, stderr) => {
        const code = error === null ? 0 : Number(error.code ?? 1);
        resolve({ code, stdout, stderr });
      });
    });
  }

  /** Runs a program that has to succeed. */
  async mustRun(
    file: string,
    args: readonly string[],
    env: Record<string, string> = {},
  ): Promise<Output> {
    const output = await this.run(file, args, env);
    if (output.code === 0) return output;
    throw new Error(`${file} ended with ${output.code}\n${output.stdout}${output.stderr}`);
  }

  /** Runs a script that prints `consumer:` and what holds; everything has to. */
  async mustHold(file: string, args: readonly string[]): Promise<void> {
    const { stdout, stderr } = await this.mustRun(file, args);
    if (!/^consumer: (true|completed|input|model| )+$/m.test(stdout))
      throw new Error(stdout + stderr);
    if (stderr.trim() !== '') throw new Error(`It warns: ${stderr}`);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}
