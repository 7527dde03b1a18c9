import { spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Report } from '../harness/check.ts';
import { BidiTab } from './bidi.ts';
import type { RunContext } from './context.ts';
import { findBinary } from './binaries.ts';
import { servePages } from './pages.ts';
import { runInTab } from './tab.ts';

/** Firefox: `FIREFOX_BINARY`, or the one on the path. */
export const findFirefox = (): string | undefined =>
  findBinary('FIREFOX_BINARY', ['firefox', 'firefox-esr']);

/** Settings of the profile: no question about a page that is busy, and no requests to other hosts. */
const preferences = `user_pref("dom.max_script_run_time", 0);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
`;

/** Writes a profile that trusts one certificate at the servers of the faults, and nothing else of them. */
function writeProfile(folder: string, { running, certificates }: RunContext): void {
  const { fingerprint256 } = new X509Certificate(certificates.trusted.cert);
  const hosts = Object.entries(running.world.faults).flatMap(([fault, address]) => {
    const { protocol, host } = new URL(address);
    const isTrusted = protocol === 'https:' && !/certificate/.test(fault);
    return isTrusted ? `${host}:\tOID.2.16.840.1.101.3.4.2.1\t${fingerprint256}\t` : [];
  });
  writeFileSync(join(folder, 'user.js'), preferences);
  writeFileSync(join(folder, 'cert_override.txt'), `${[...new Set(hosts)].join('\n')}\n`);
}

/** Starts Firefox. @returns the address of its WebDriver BiDi */
function launch(file: string, profile: string, signal: AbortSignal): Promise<string> {
  const args = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0'];
  const child = spawn(file, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
    killSignal: 'SIGKILL',
  });
  return new Promise((resolve, reject) => {
    const lines: string[] = [];
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line);
      const [, address] = /WebDriver BiDi listening on (ws:\S+)/.exec(line) ?? [];
      if (address !== undefined) resolve(address);
    });
    child.once('error', reject);
    child.once('close', (code) =>
      reject(new Error([`Firefox ended with ${code}`, ...lines.slice(-8)].join('\n'))),
    );
  });
}

/** Runs the checks in pages of Firefox, under a strict content security policy. */
export async function runFirefox(context: RunContext, report: Report): Promise<void> {
  const file = findFirefox();
  if (file === undefined) throw new Error('There is no Firefox');
  const pages = await servePages(context.running);
  const profile = mkdtempSync(join(tmpdir(), 'firefox-'));
  const closing = new AbortController();
  const signal = AbortSignal.any([context.signal, closing.signal]);
  try {
    writeProfile(profile, context);
    await using tab = await BidiTab.connect(await launch(file, profile, signal));
    await runInTab(tab, pages, report, signal);
  } finally {
    closing.abort();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
