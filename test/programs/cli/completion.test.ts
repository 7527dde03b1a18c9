import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { Machine } from './run.ts';

const program = join(import.meta.dirname, '../../../dist/cli/main.js');

/** Returns the candidates for the last of several words, and whether the shell may complete files. */
async function complete(...words: string[]) {
  const { code, stdout, stderr } = await new Machine().run(['complete', '--', ...words]);
  expect([code, stderr]).toEqual([0, '']);
  const lines = stdout.trimEnd().split('\n');
  return {
    names: lines.slice(0, -1).map((line) => line.split('\t')[0]),
    files: lines.at(-1) === ':0',
  };
}

function hasShell(name: string): boolean {
  try {
    execFileSync(name, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

test.each<{ words: string[]; names: string[]; files: boolean }>([
  { words: ['vi'], names: ['video'], files: false },
  { words: ['video', 'w'], names: ['wait'], files: false },
  { words: ['video', 'create', '--sec'], names: ['--seconds'], files: false },
  { words: ['chat', '--mo'], names: ['--model'], files: false },
  { words: ['chat', '--gateway', 'open'], names: ['openai', 'openrouter'], files: false },
  { words: ['completion', ''], names: ['zsh', 'bash', 'fish', 'powershell'], files: false },
  { words: ['chat', '--image', ''], names: [], files: true },
  { words: ['transcribe', ''], names: [], files: true },
  { words: ['chat', '-m', 'gpt', 'it\'s "$(touch a)" --'], names: [], files: true },
])('completes $words', async ({ words, names, files }) => {
  const candidates = await complete(...words);

  expect(new Set(candidates.names)).toEqual(new Set(names));
  expect(candidates.files).toBe(files);
});

test('lists every command, and none that is hidden', async () => {
  const { names } = await complete('');

  expect(names).toEqual(expect.arrayContaining(['chat', 'image', 'video', 'completion', 'doctor']));
  expect(names).not.toContain('complete');
  expect(names).not.toContain('mcp-worker');
});

test('an unknown shell ends with 2 and lists the known ones', async () => {
  const { code, stdout, stderr } = await new Machine().run(['completion', 'tcsh']);

  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain('zsh, bash, fish, powershell');
});

test('the command is in the help of the program, with examples', async () => {
  const machine = new Machine();
  const all = await machine.run(['--help']);
  const { stdout } = await machine.run(['completion', '--help']);

  expect(all.stdout).toContain('completion <shell>');
  expect(stdout).toContain('$ source <(model-gateway completion bash)');
});

describe.each(['bash', 'zsh', 'fish'])('the script for %s', (shell) => {
  // Node is installed without these shells in some containers.
  test.skipIf(!hasShell(shell))('the script is valid', async () => {
    const machine = new Machine();
    const { code, stdout } = await machine.run(['completion', shell]);
    const path = join(machine.folder, 'script');
    writeFileSync(path, stdout);

    expect(code).toBe(0);
    await expect(promisify(execFile)(shell, ['-n', path])).resolves.toEqual({
      stdout: '',
      stderr: '',
    });
  });
});

/** Returns what bash offers for the last word. */
async function offer(machine: Machine, words: readonly string[]): Promise<string[]> {
  const bin = join(machine.folder, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(
    join(bin, 'model-gateway'),
    `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`,
  );
  chmodSync(join(bin, 'model-gateway'), 0o755);
  const script = `
    source <(model-gateway completion bash); source <(model-gateway completion bash)
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _model_gateway; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = await promisify(execFile)(
    'bash',
    ['-c', script, 'bash', 'model-gateway', ...words],
    { env: { ...machine.env, PATH: `${bin}:${machine.env['PATH']}` }, cwd: machine.folder },
  );
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
}

// Other systems than Linux and macOS seldom have it.
describe.skipIf(!hasShell('bash'))('bash', () => {
  test('offers commands and options', async () => {
    const machine = new Machine();

    expect(await offer(machine, ['vid'])).toEqual(['video']);
    expect(await offer(machine, ['image', '--call'])).toEqual(['--call-id']);
    expect(await offer(machine, ['chat', '--image', ''])).toEqual([]);
  });

  test('runs nothing that is in the line', async () => {
    const machine = new Machine();

    await offer(machine, ['chat', '"$(touch', 'a.txt)', '>', 'b.txt', '--mo']);

    const { stdout } = await machine.shell('ls; "$@" > /dev/null', ['--version']);
    expect(stdout).not.toMatch(/[ab]\.txt/);
  });
});
