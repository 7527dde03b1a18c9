import type { Report } from '../harness/check.ts';
import type { Family } from '../harness/world.ts';
import { bunBinary, denoBinary, nodeBinary } from './binaries.ts';
import { runChromium } from './chromium.ts';
import type { RunContext } from './context.ts';
import { findFirefox, runFirefox } from './firefox.ts';
import { runCommand } from './process.ts';
import { findWebKit, findWebKitDriver, runWebKit } from './webkit.ts';
import { runWorkerd } from './workerd.ts';

/** One runtime of the matrix. */
export interface Runtime {
  readonly name: string;
  readonly family: Family;
  /** Returns why the runtime cannot be run on this machine, if it belongs to the machine. */
  readonly skipReason?: () => string | undefined;
  run(context: RunContext, report: Report): Promise<void>;
}

function node(major: number): Runtime {
  return {
    name: `node-${major}`,
    family: 'node',
    async run({ running, authorityFile, signal }, report) {
      const env = { NODE_EXTRA_CA_CERTS: authorityFile, NODE_NO_WARNINGS: '1' };
      // The three versions of Node differ least: together they run every check.
      const third = process.env['TEST_CASES'] === 'some' ? major % 3 : undefined;
      const world = JSON.stringify({ ...running.world, third });
      const file = nodeBinary(major);
      const args = ['--import', './entries/two-addresses.ts', 'entries/process.ts', world];
      await runCommand({ file, args, env }, report, signal);
      await runCommand({ file, args: ['entries/files.ts', world], env }, report, signal);
    },
  };
}

const bun: Runtime = {
  name: 'bun',
  family: 'bun',
  async run({ running, authorityFile, signal }, report) {
    const env = { NODE_EXTRA_CA_CERTS: authorityFile };
    const world = JSON.stringify(running.world);
    for (const entry of ['entries/process.ts', 'entries/files.ts']) {
      await runCommand({ file: bunBinary(), args: [entry, world], env }, report, signal);
    }
  },
};

const deno: Runtime = {
  name: 'deno',
  family: 'deno',
  async run({ running, authorityFile, signal }, report) {
    const env = { DENO_CERT: authorityFile, DENO_NO_UPDATE_CHECK: '1' };
    const world = JSON.stringify(running.world);
    // Nothing but the network is granted: no environment, no files. A question would wait for ever.
    const rights = ['--no-prompt', '--allow-net', '--no-check', '--node-modules-dir=manual'];
    const disk = ['--allow-read', '--allow-write', '--allow-sys', '--allow-env=TMPDIR,TMP,TEMP'];
    const programs = [['entries/process.ts'], [...disk, 'entries/files.ts']];
    for (const program of programs) {
      const args = ['run', ...rights, ...program, world];
      await runCommand({ file: denoBinary(), args, env }, report, signal);
    }
  },
};

/** Every runtime, in the order of the table. */
export const runtimes: readonly Runtime[] = [
  node(22),
  node(24),
  node(26),
  bun,
  deno,
  { name: 'workerd', family: 'workerd', run: runWorkerd },
  { name: 'chromium', family: 'chromium', run: runChromium },
  {
    name: 'firefox',
    family: 'firefox',
    skipReason: () =>
      findFirefox() === undefined ? 'no firefox on the path or in FIREFOX_BINARY' : undefined,
    run: runFirefox,
  },
  {
    name: 'webkit',
    family: 'webkit',
    skipReason() {
      if (findWebKitDriver() === undefined) {
        return 'no WebKitWebDriver on the path or in WEBKIT_DRIVER';
      }
      if (findWebKit() === undefined) return 'no MiniBrowser of WebKitGTK, nor WEBKIT_BINARY';
      const { DISPLAY: x11 = '', WAYLAND_DISPLAY: wayland = '' } = process.env;
      return x11 + wayland === '' ? 'no display; run it by xvfb-run' : undefined;
    },
    run: runWebKit,
  },
];
