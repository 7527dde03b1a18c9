import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { run } from '../servers/processes.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder with the programs of a Python environment that has LiteLLM; `""` where it can't be installed. */
    readonly litellmBin: string;
  }
}

const here = fileURLToPath(new URL('.', import.meta.url));

/** Installs LiteLLM once for each of its versions, beside the packages of npm. */
async function install(): Promise<string> {
  const requirements = join(here, 'requirements.txt');
  const version = /==(\S+)/.exec(await readFile(requirements, 'utf8'))?.[1] ?? '';
  const folder = fileURLToPath(
    new URL(`../../node_modules/.cache/litellm-${version}`, import.meta.url),
  );
  const bin = join(folder, process.platform === 'win32' ? 'Scripts' : 'bin');
  // pip writes the program last.
  if (existsSync(join(bin, 'litellm'))) return bin;
  await rm(folder, { recursive: true, force: true });
  await run('python3', ['-m', 'venv', folder]);
  await run(join(bin, 'pip'), ['install', '--quiet', '--requirement', requirements]);
  return bin;
}

export default async function setup(project: TestProject): Promise<void> {
  let bin = '';
  try {
    bin = await install();
  } catch (error) {
    console.warn(
      `The tests on LiteLLM are SKIPPED: they need Python 3.10 or later and PyPI.\n${String(error).slice(0, 500)}`,
    );
  }
  project.provide('litellmBin', bin);
}
