import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { run } from '../servers/processes.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder with the programs of a Python environment that has LiteLLM; `""` where it is missing. */
    readonly litellmBin: string;
  }
}

const requirements = fileURLToPath(new URL('requirements.txt', import.meta.url));

/** Prints the version of LiteLLM and the folder of its programs. */
const findScript =
  'import importlib.metadata, sysconfig; print(importlib.metadata.version("litellm"), importlib.metadata.version("prisma") and sysconfig.get_path("scripts"))';

/** Returns the programs of the Python in the PATH, if it has this version of LiteLLM. */
async function findInPath(version: string): Promise<string> {
  const { stdout } = await promisify(execFile)('python3', ['-c', findScript]);
  const [found, ...folder] = stdout.trim().split(' ');
  if (found !== version) throw new Error(`python3 has LiteLLM ${found}, not ${version}`);
  return folder.join(' ');
}

/** Installs LiteLLM beside the packages of npm. */
async function install(folder: string, bin: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await run('python3', ['-m', 'venv', folder]);
  await run(join(bin, 'pip'), ['install', '--quiet', '--requirement', requirements]);
}

/** Finds LiteLLM; installs it once for each of its versions, but never in CI. */
async function findBin(): Promise<string> {
  const version = /==(\S+)/.exec(await readFile(requirements, 'utf8'))?.[1] ?? '';
  const folder = fileURLToPath(
    new URL(`../../node_modules/.cache/litellm-${version}`, import.meta.url),
  );
  const bin = join(folder, process.platform === 'win32' ? 'Scripts' : 'bin');
  // pip writes the program last.
  if (existsSync(join(bin, 'litellm'))) return bin;
  if ((process.env['CI'] ?? '') !== '') return findInPath(version);
  await install(folder, bin);
  return bin;
}

export default async function setup(project: TestProject): Promise<void> {
  let bin = '';
  try {
    bin = await findBin();
  } catch (error) {
    // The last line of a traceback, and of pip's output, names the problem.
    const reason = String(error).trim().split('\n').at(-1);
    console.warn(
      `SKIPPED: the tests on LiteLLM need Python 3.10 or later with the packages in test/litellm/requirements.txt; CI does not download them (${reason})`,
    );
  }
  project.provide('litellmBin', bin);
}
