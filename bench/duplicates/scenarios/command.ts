import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createEmulator, type Emulator } from '../../../dist/testing/index.js';
import type { Counts, Scenario } from './scenario.ts';

const program = path.join(import.meta.dirname, '../../../dist/cli/main.js');

interface Shell {
  readonly emulator: Emulator;
  /** Runs a script in which `$cli` is the command. @returns what it wrote to standard output */
  readonly run: (script: string) => Promise<string>;
}

/** Runs scripts in an empty folder, against an emulator. */
async function inShell(use: (shell: Shell) => Promise<Counts>): Promise<Counts> {
  await using emulator = createEmulator();
  const { url } = await emulator.listen();
  const folder = await mkdtemp(path.join(tmpdir(), 'model-gateway-bench-'));
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    XDG_STATE_HOME: folder,
    XDG_CONFIG_HOME: folder,
    GATEWAY_BASE_URL: url,
    GATEWAY_API_KEY: emulator.apiKey,
    cli: `${process.execPath} ${program}`,
  };
  const run = (script: string): Promise<string> =>
    new Promise((resolve) => {
      const options = { cwd: folder, env, timeout: 30_000 };
      const shell = execFile('bash', ['-c', script], options, (_error, stdout) => resolve(stdout));
      // The command reads a pipe to its end.
      shell.stdin?.end();
    });
  try {
    return await use({ emulator, run });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const times = 10;

/** Submits videos with a closed output, and lists them afterwards. */
function closedOutput(): Promise<Counts> {
  return inShell(async ({ emulator, run }) => {
    let failed = 0;
    for (let count = 0; count < times; count += 1) {
      const create = '$cli video create -y -m m-video --no-wait "A boat" 2>&1';
      const status = await run(`{ ${create}; echo $? >status; } | head -1 >first; cat status`);
      if (status.trim() !== '0') failed += 1;
    }
    const listed: unknown = JSON.parse((await run('$cli video list --json')) || '[]');
    const { length: charges } = emulator.charges;
    const requests = emulator.requests.filter(({ method }) => method === 'POST').length;
    return {
      requests,
      charges,
      notes: { listed: Array.isArray(listed) ? listed.length : 0, failed },
    };
  });
}

/** Pipes text that comes late into a prompt. */
function latePipe(): Promise<Counts> {
  return inShell(async ({ emulator, run }) => {
    await run('(sleep 1; echo "the late text") | $cli chat -m m-large summarise -');
    const sent = emulator.requests.filter(({ body }) => body.kind === 'json');
    const complete = sent.filter(({ body }) => JSON.stringify(body).includes('the late text'));
    return {
      requests: sent.length,
      charges: emulator.charges.length,
      notes: { complete: complete.length },
    };
  });
}

/** Makes a picture while standard output is a full disk. */
function fullDisk(): Promise<Counts> {
  return inShell(async ({ emulator, run }) => {
    const status = await run('$cli image -y -m m-image "A boat" >/dev/full; echo $?');
    const pictures = await run('ls *.png | wc -l');
    return {
      requests: emulator.requests.filter(({ method }) => method === 'POST').length,
      charges: emulator.charges.length,
      notes: { 'exit code': Number(status), saved: Number(pictures) },
    };
  });
}

export const commandScenarios: readonly Scenario[] = [
  {
    id: 'command-closed-output',
    label: `\`video create --no-wait\` with a closed stderr, ${times} times`,
    ours: closedOutput,
    promise: 'all are listed, none fails',
    isKept: ({ charges, notes }) =>
      charges === times && notes['listed'] === times && notes['failed'] === 0,
  },
  {
    id: 'command-full-disk',
    label: '`image` with stdout on a full disk',
    ours: fullDisk,
    promise: 'exit code 3, the image is saved',
    isKept: ({ requests, charges, notes }) =>
      requests === 1 && charges === 1 && notes['exit code'] === 3 && notes['saved'] === 1,
  },
  {
    id: 'command-late-pipe',
    label: '`chat` with piped input that starts after one second',
    ours: latePipe,
    promise: 'sent once, with the text',
    isKept: ({ requests, charges, notes }) =>
      requests === 1 && charges === 1 && notes['complete'] === 1,
  },
];
