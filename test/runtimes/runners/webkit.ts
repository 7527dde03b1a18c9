import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Report } from '../harness/check.ts';
import { findBinary } from './binaries.ts';
import type { RunContext } from './context.ts';
import { servePages } from './pages.ts';
import { runInTab } from './tab.ts';
import { WebDriverTab } from './webdriver.ts';

const architecture = process.arch === 'arm64' ? 'aarch64' : 'x86_64';

/** The driver of WebKitGTK: `WEBKIT_DRIVER`, or the one on the path. */
export const findWebKitDriver = (): string | undefined =>
  findBinary('WEBKIT_DRIVER', ['WebKitWebDriver']);

/** The browser of WebKitGTK: `WEBKIT_BINARY`, or where distributions put it. */
export const findWebKit = (): string | undefined =>
  findBinary('WEBKIT_BINARY', [
    'MiniBrowser',
    ...['4.1', '6.0', '4.0'].flatMap((version) => [
      `/usr/lib/${architecture}-linux-gnu/webkit2gtk-${version}/MiniBrowser`,
      `/usr/lib/webkit2gtk-${version}/MiniBrowser`,
      `/usr/libexec/webkit2gtk-${version}/MiniBrowser`,
    ]),
  ]);

function findPort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

/** Starts the driver, and resolves with its address once it responds. */
async function launch(file: string, signal: AbortSignal): Promise<string> {
  const address = `http://127.0.0.1:${await findPort()}`;
  const { port } = new URL(address);
  const child = spawn(file, ['--host=127.0.0.1', `--port=${port}`], {
    stdio: 'ignore',
    signal,
    killSignal: 'SIGTERM',
  });
  let ended: unknown;
  child.once('error', (error) => (ended = error));
  child.once('close', (code) => (ended ??= new Error(`WebKitWebDriver ended with ${code}`)));
  for (;;) {
    signal.throwIfAborted();
    if (ended !== undefined) throw ended;
    const status = await fetch(`${address}/status`).catch(() => undefined);
    if (status?.ok === true) return address;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Runs the checks in pages of WebKitGTK, under a strict content security policy. It needs a display. */
export async function runWebKit(context: RunContext, report: Report): Promise<void> {
  const [driver, binary] = [findWebKitDriver(), findWebKit()];
  if (driver === undefined || binary === undefined) throw new Error('There is no WebKitGTK');
  const pages = await servePages(context.running);
  const folder = mkdtempSync(join(tmpdir(), 'webkit-'));
  const closing = new AbortController();
  const signal = AbortSignal.any([context.signal, closing.signal]);
  try {
    const certificateFile = join(folder, 'trusted.pem');
    writeFileSync(certificateFile, context.certificates.trusted.cert);
    const options = {
      binary,
      args: ['--automation'],
      certificates: [{ host: '127.0.0.1', certificateFile }],
    };
    await using tab = await WebDriverTab.connect(await launch(driver, signal), {
      'webkitgtk:browserOptions': options,
    });
    await runInTab(tab, pages, report, signal);
  } finally {
    closing.abort();
    rmSync(folder, { recursive: true });
  }
}
