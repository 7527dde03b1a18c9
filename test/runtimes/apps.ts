/**
 * `npm run test:apps`: the recipes for a server of your own, each with a page in Chromium, and an extension.
 */
import path from 'node:path';
import { build } from 'vite';
import { Checks } from './playground/check.ts';
import { launchChromium } from './runners/chromium.ts';
import { stagePackage } from './runners/stage.ts';

stagePackage();
// Imported only now, because they import the package that was put in place.
const { Copies } = await import('./apps/servers.ts');
const { checkRecipe } = await import('./apps/recipes.ts');
const { checkExtension } = await import('./apps/extension.ts');

const checks = new Checks();
const browser = await launchChromium();
using copies = new Copies();

/** Builds the page, and the service worker of an extension, as Vite does for its users. */
async function buildPage(): Promise<void> {
  const root = path.join(copies.folder, 'page');
  const outDir = copies.public;
  const common = { root, configFile: false, logLevel: 'error' } as const;
  copies.write('page/index.html', '<script type="module" src="/main.ts"></script>\n');
  copies.write('page/main.ts', "import { start } from '../page.ts';\n\nstart();\n");
  await build({ ...common, build: { outDir, emptyOutDir: true, target: 'es2022' } });
  const output = { format: 'iife', entryFileNames: 'service-worker.js' } as const;
  const input = path.join(import.meta.dirname, 'apps/service-worker.ts');
  await build({
    ...common,
    build: { outDir, emptyOutDir: false, target: 'es2022', rolldownOptions: { input, output } },
  });
}

async function checkNext(): Promise<void> {
  await checks.check('next: builds, without the environment of its server', () =>
    copies.buildNext(),
  );
  await using running = await copies.start('next');
  await checkRecipe(checks, browser, running, { name: 'next on Node' });
  await checkRecipe(checks, browser, running, { name: 'next on the edge', baseURL: '/edge' });
}

async function checkOthers(): Promise<void> {
  await buildPage();
  for (const name of ['hono', 'express'] as const) {
    await using running = await copies.start(name);
    await checkRecipe(checks, browser, running, { name });
  }
  await checkExtension(checks, browser, copies.public);
}

try {
  // Each to its end, so that none leaves a server behind.
  const ended = await Promise.allSettled([checkNext(), checkOthers()]);
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
} finally {
  await browser.close();
}
console.log(`${checks.passed} passed, ${checks.failures.length} failed`);
if (checks.failures.length > 0) process.exitCode = 1;
