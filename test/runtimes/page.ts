/**
 * What a page loads until its first streamed chunk is shown.
 *
 *   node test/runtimes/page.ts bench/page/openai.js    prints { files, bytes } as JSON: gzip, without HTML
 *
 * Vite builds the page as a user's, Chromium opens it, and what its server has sent is counted when the
 * page says that the first chunk is on the screen.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { launchChromium } from './runners/chromium.ts';

const chunk = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_800_000_000,
  model: 'm',
  choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello' }, finish_reason: null }],
});

const [module] = process.argv.slice(2);
if (module === undefined) throw new Error('Name the module of the page.');

const folder = mkdtempSync(join(tmpdir(), 'page-'));
const assets = new Map<string, Buffer>();
const sent = new Map<string, number>();
let isShown = (): void => {};
const shown = new Promise<void>((done) => {
  isShown = done;
});

const server = createServer((request, response) => {
  const path = new URL(request.url ?? '/', 'http://page').pathname;
  const asset = assets.get(path);
  if (path === '/') {
    response
      .setHeader('content-type', 'text/html')
      .end(readFileSync(join(folder, 'out/index.html')));
  } else if (asset !== undefined) {
    sent.set(path, asset.byteLength);
    response.setHeader('content-type', 'text/javascript').setHeader('content-encoding', 'gzip');
    response.end(asset);
  } else if (path === '/shown') {
    response.end();
    isShown();
  } else if (request.method === 'POST') {
    // The stream stays open: only its first chunk is waited for.
    response.setHeader('content-type', 'text/event-stream').write(`data: ${chunk}\n\n`);
  } else {
    response.writeHead(404).end();
  }
});

try {
  const page = relative(folder, resolve(module));
  writeFileSync(
    join(folder, 'index.html'),
    '<!doctype html><script type="module" src="/main.js"></script>',
  );
  writeFileSync(
    join(folder, 'main.js'),
    `import { firstChunk } from ${JSON.stringify(page)};
firstChunk(location.origin + '/v1').then((text) => {
  document.body.textContent = text;
  requestAnimationFrame(() => fetch('/shown'));
});`,
  );
  await build({
    root: folder,
    configFile: false,
    logLevel: 'error',
    build: { outDir: 'out', target: 'es2022', reportCompressedSize: false },
  });
  for (const name of readdirSync(join(folder, 'out/assets'))) {
    assets.set(
      `/assets/${name}`,
      gzipSync(readFileSync(join(folder, 'out/assets', name)), { level: 9 }),
    );
  }
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  const browser = await launchChromium();
  try {
    const tab = await browser.newPage();
    const failed = new Promise<never>((_, reject) => tab.once('pageerror', reject));
    await tab.goto(`http://127.0.0.1:${address.port}/`);
    await Promise.race([shown, failed]);
    const bytes = [...sent.values()].reduce((sum, size) => sum + size, 0);
    console.log(JSON.stringify({ files: sent.size, bytes }));
  } finally {
    await browser.close();
  }
} finally {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
}
