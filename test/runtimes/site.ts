/**
 * Looks at the built site as a reader does: `npm run docs` first.
 *
 * Every guide and some pages of the reference are opened in Chromium: nothing may be asked of another host, no
 * link may lead nowhere, and axe may find nothing, light and dark (on each third page with `TEST_CASES=some`).
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { groups, moved } from '../../docs/contents.ts';
import { someOf } from '../helpers/some-cases.ts';
import { launchChromium } from './runners/chromium.ts';

const site = path.join(import.meta.dirname, '../../docs/.vitepress/dist');
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const pages = [
  '/',
  ...groups.flatMap((group) => group.pages.map((page) => `/${page}`)),
  '/api/',
  '/api/model-gateway/classes/Gateway',
  '/api/model-gateway/interfaces/GatewayOptions',
];

const checkedByAxe: ReadonlySet<string> = new Set(someOf(pages));

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** The file for a path of the site, as hosts of such sites find it. */
function findFile(pathname: string): string | undefined {
  const plain = path.join(site, decodeURIComponent(pathname));
  return [plain, `${plain}.html`, path.join(plain, 'index.html')].find(
    (file) => existsSync(file) && statSync(file).isFile(),
  );
}

const server = createServer((request, response) => {
  const file = findFile(new URL(request.url ?? '/', 'http://site').pathname);
  if (file === undefined) response.writeHead(404).end();
  else
    response
      .setHeader('content-type', types[path.extname(file)] ?? 'text/plain')
      .end(readFileSync(file));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const address = server.address();
if (address === null || typeof address === 'string') throw new Error('The server has no port.');
const origin = `http://127.0.0.1:${address.port}`;

const problems: string[] = [];
const seen = new Set<string>();

/** Runs rules of axe, by default all of them. */
async function runAxe(page: Page, at: string, rules?: readonly string[]): Promise<void> {
  const options = rules === undefined ? {} : { runOnly: rules };
  const violations: unknown = await page.evaluate(
    `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html.slice(0, 200)))`,
  );
  if (!Array.isArray(violations)) throw new Error('axe has not run.');
  for (const violation of violations) problems.push(`${at}: ${String(violation)}`);
}

async function look(page: Page, at: string): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto(`${origin}${at}`);
  // The page is interactive once Vue is attached.
  await page.waitForFunction("document.querySelector('#app').__vue_app__ !== undefined");
  const links = await page.$$eval('a[href]', (anchors) =>
    anchors.map((anchor) => (anchor instanceof HTMLAnchorElement ? anchor.href : '')),
  );
  for (const link of links.filter((href) => href.startsWith(origin))) {
    const { pathname } = new URL(link);
    if (seen.has(pathname)) continue;
    seen.add(pathname);
    if (findFile(pathname) === undefined)
      problems.push(`${at} links to ${pathname}, which is not there`);
  }
  if (checkedByAxe.has(at)) await runBothThemes(page, at);
  // A table must show its last column at every width.
  for (const width of [360, 640, 800, 960, 1100, 1280]) {
    await page.setViewportSize({ width, height: 720 });
    const cut = await page.$$eval(
      'html, .vp-doc table',
      (elements) =>
        elements.filter(({ scrollWidth, clientWidth, parentElement }) => {
          const room = parentElement?.clientWidth ?? clientWidth;
          return scrollWidth > clientWidth + 1 || clientWidth > room + 1;
        }).length,
    );
    if (cut > 0) problems.push(`${at}: ${cut} tables are cut off at ${width} pixels`);
  }
}

async function runBothThemes(page: Page, at: string): Promise<void> {
  await page.evaluate(axe);
  await runAxe(page, at);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.waitForSelector('html.dark');
  // Dark changes nothing but colours.
  await runAxe(page, `${at} in dark`, ['color-contrast']);
}

/** Words that a reader may try, and the guide that answers each better than the reference. */
const searches: Readonly<Record<string, string>> = {
  vision: 'images-and-files',
  cancel: 'getting-started',
  zod: 'structured-output',
  retry: 'retries-and-charges',
  budget: 'costs',
  // Words of pages that are now sections of others.
  transcription: 'operations',
  subtitles: 'operations',
  embeddings: 'operations',
  speech: 'operations',
  gemini: 'operations',
  fallback: 'rate-limits',
  settle: 'costs',
  browser: 'runtimes',
  // Its section is "Proxies".
  proxy: 'runtimes',
  // In no other word than itself, although "task" has nearly the same letters.
  mask: 'command-line',
  // The first word of a block of code.
  docker: 'command-line',
  pino: 'options-results',
  json: 'structured-output',
  opentelemetry: 'debugging',
  mcpTools: 'structured-output',
  timeout: 'options-time',
  charged: 'what-you-may-be-charged',
  privacy: 'what-is-stored',
  variables: 'environment-and-files',
  // A heading of its own.
  maxRetries: 'options-charges',
  BudgetError: 'error-classes',
  'retry image': 'retries-and-charges',
  'api key': 'options-connection',
  install: 'getting-started',
  'next.js': 'your-own-server',
  'cloudflare workers': 'runtimes',
  'function calling': 'structured-output',
  'exit code': 'command-line',
  'price list': 'costs',
  sora: 'video',
  vitest: 'testing',
  outcome: 'errors',
};

/** The name of each page, also of those that are sections of others now, leads to it. */
const names = new Map([
  ...groups.flatMap((group) => group.pages).map((page) => [page, page] as const),
  ...Object.entries(moved).map(([from, to]) => [from, to.split('#')[0] ?? ''] as const),
]);

async function search(page: Page): Promise<void> {
  const index = /localSearchIndex/;
  let finishTyping: (() => void) | undefined;
  const typed = new Promise<void>((resolve) => {
    finishTyping = resolve;
  });
  await page.route(index, async (route) => {
    await typed;
    await route.continue();
  });
  await page.goto(`${origin}/guides/getting-started`, { waitUntil: 'networkidle' });
  await page.click('.DocSearch-Button');
  await page.fill('.VPLocalSearchBox input', 'vision');
  const note = await page.$eval(
    '.VPLocalSearchBox .results',
    (list) => getComputedStyle(list, '::after').content,
  );
  if (note !== '"Searching…"') problems.push('nothing shows that the search is loading');
  finishTyping?.();
  const words = new Map(Object.entries(searches).map(([word, guide]) => [word, `guides/${guide}`]));
  for (const [name, target] of names) words.set(path.basename(name).replaceAll('-', ' '), target);
  for (const [word, target] of words) {
    await page.fill('.VPLocalSearchBox input', word);
    const first = page.locator('.VPLocalSearchBox .results li:first-child a');
    const expected = first.and(page.locator(`[href*="/${target}"]`));
    const isFirst = await expected.waitFor({ timeout: 5_000 }).then(
      () => true,
      () => false,
    );
    if (isFirst) continue;
    const found = (await first.count()) === 0 ? 'missing' : await first.getAttribute('href');
    problems.push(`the first hit for "${word}" is ${found}`);
  }
}

/** What hosts show of a link, the texts for programs, and the page for unknown addresses. */
async function checkFiles(page: Page): Promise<void> {
  const descriptions = new Set<string>();
  const shared = ['/', '/guides/options', '/guides/video'];
  for (const at of shared) {
    await page.goto(`${origin}${at}`);
    const tags = await page.$$eval('meta[property^="og:"]', (all) =>
      all.map((tag) => [tag.getAttribute('property'), tag.getAttribute('content')]),
    );
    const named = new Map(tags.map(([name, content]) => [name, content ?? '']));
    for (const name of ['og:title', 'og:description']) {
      if ((named.get(name) ?? '') === '') problems.push(`${at} has no ${name}`);
    }
    descriptions.add(named.get('og:description') ?? '');
  }
  if (descriptions.size < shared.length) problems.push('pages share an og:description');
  for (const name of ['llms.txt', 'llms-full.txt']) {
    if (findFile(`/${name}`) === undefined) problems.push(`${name} is not there`);
  }
  await page.goto(`${origin}/404.html`);
  if ((await page.getByRole('main').count()) !== 1) problems.push('404.html has no landmark');
  await runBothThemes(page, '404.html');
}

/** The comparison of charges runs in the browser of the visitor. */
async function compareCharges(page: Page): Promise<void> {
  await page.goto(`${origin}/`);
  await page.getByRole('button', { name: 'The connection is lost after the charge' }).click();
  const message = page.locator('.live-charges [role=status]');
  await message.filter({ hasText: /charge/ }).waitFor();
  const text = await message.textContent();
  if (text !== 'model-gateway: 1 charge. openai: 3 charges.') problems.push(`/: ${text}`);
  await page.evaluate(axe);
  await runAxe(page, 'the comparison of charges');
}

const browser = await launchChromium();
const page = await browser.newPage();
page.on('request', (request) => {
  const url = request.url();
  if (!/^(data|blob):/.test(url) && !url.startsWith(origin)) problems.push(`asked for ${url}`);
});
page.on('pageerror', (error) => problems.push(`${page.url()}: ${error.message}`));
for (const at of pages) await look(page, at);
for (const [from, to] of Object.entries(moved)) {
  await page.goto(`${origin}/${from}`);
  await page.waitForURL(`${origin}/${to}`);
  const [, id] = to.split('#');
  if ((await page.locator(`[id="${id}"]`).count()) !== 1) problems.push(`/${from}: no ${to}`);
}
await compareCharges(page);
await checkFiles(page);
await search(page);
await browser.close();
server.close();

for (const problem of problems) console.error(problem);
console.log(`${pages.length} pages, ${seen.size} links: ${problems.length} problems.`);
process.exitCode = problems.length === 0 ? 0 : 1;
