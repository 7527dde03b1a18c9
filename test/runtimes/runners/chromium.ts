import { execFileSync } from 'node:child_process';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { chromium, type Browser, type Page } from 'playwright-core';
import type { Report } from '../harness/check.ts';
import type { RunContext } from './context.ts';
import { servePages } from './pages.ts';

/**
 * Unpacks Chromium beside its package and gives its path.
 *
 * The package looks for what it has unpacked in the folder for temporary files, whatever its version;
 * a folder inside of `node_modules` goes away with it. Its own shared libraries are unpacked only for
 * a certain cloud's machines, so the setting says it runs on one.
 */
function unpackChromium(): { readonly path: string; readonly libraries: string } {
  const cache = new URL('../node_modules/.cache/chromium', import.meta.url).pathname;
  if (!existsSync(cache)) {
    // Others may unpack it at the same time: the first one to end gives it its place.
    const own = `${cache}-${process.pid}`;
    unpackInto(own);
    try {
      renameSync(own, cache);
    } catch (error) {
      rmSync(own, { recursive: true, force: true });
      if (!existsSync(cache)) throw error;
    }
  }
  return { path: unpackInto(cache), libraries: `${cache}/al2023/lib` };
}

/** Unpacks Chromium into a folder, unless it is there, and returns the path of the program. */
function unpackInto(folder: string): string {
  const script = `
    import { mkdirSync } from 'node:fs';
    mkdirSync(process.env.TMPDIR, { recursive: true });
    const { default: chromium } = await import('@sparticuz/chromium');
    console.log(await chromium.executablePath());`;
  const env = { ...process.env, TMPDIR: folder, AWS_LAMBDA_JS_RUNTIME: 'nodejs22.x' };
  return execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: new URL('..', import.meta.url),
    env,
    encoding: 'utf8',
  }).trim();
}

/** Starts Chromium. @param trustedKeyHash - The key of an authority to trust, for HTTPS. */
export async function launchChromium(
  trustedKeyHash = '',
  more: readonly string[] = [],
): Promise<Browser> {
  const { path, libraries } = unpackChromium();
  return chromium.launch({
    executablePath: path,
    headless: true,
    // The sandbox needs rights that containers do not give.
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      `--ignore-certificate-errors-spki-list=${trustedKeyHash}`,
      ...more,
    ],
    env: { ...process.env, LD_LIBRARY_PATH: libraries },
  });
}

/**
 * Lets a page stop itself for some seconds, as a browser stops a tab that is frozen: time goes on, but
 * no line runs. Chromium without windows cannot hide or freeze a tab.
 */
async function letPageStop(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await page.exposeFunction('standStill', async (milliseconds: number): Promise<void> => {
    await devtools.send('Debugger.enable');
    await devtools.send('Debugger.pause');
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    await devtools.send('Debugger.disable');
  });
}

/** Opens a page whose checks run by themselves, and passes their lines on until they have ended. */
async function runPage(browser: Browser, address: string, report: Report): Promise<void> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await letPageStop(page);
  const ended = new Promise<void>((resolve, reject) => {
    page.on('console', (message) => {
      const line = message.text();
      if (/^(ok|not ok|1\.\.|#)/.test(line)) report(line);
      if (line.startsWith('# {')) resolve();
    });
    page.once('pageerror', reject);
    page.once('crash', () => reject(new Error('The page has crashed')));
    browser.once('disconnected', () => reject(new Error('The browser has gone')));
  });
  await page.goto(address);
  await ended;
  await context.close();
}

/** Runs the checks in pages of Chromium, under a strict content security policy. */
export async function runChromium(
  { running, certificates, signal }: RunContext,
  report: Report,
): Promise<void> {
  const pages = await servePages(running);
  const browser = await launchChromium(certificates.trustedKeyHash);
  const stop = (): void => void browser.close();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for (const page of pages) await runPage(browser, page, report);
  } finally {
    signal.removeEventListener('abort', stop);
    await browser.close();
  }
}
