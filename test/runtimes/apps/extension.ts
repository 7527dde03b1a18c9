import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { createEmulator } from 'model-gateway/testing';
import type { Browser } from 'playwright-core';
import type { Checks } from '../playground/check.ts';
import { until, Visit } from './visit.ts';

/** The default policy for pages of an extension (manifest v3). */
const policy = "script-src 'self'; object-src 'self';";

const types: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript' };

/** Serves the built page under the policy of extensions. */
async function serve(folder: string) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://page');
    const file = path.join(folder, pathname === '/' ? 'index.html' : pathname);
    if (!existsSync(file)) {
      response.writeHead(404).end();
      return;
    }
    response.setHeader('content-type', types[path.extname(file)] ?? 'text/plain');
    response.setHeader('content-security-policy', policy).end(readFileSync(file));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    close(): void {
      server.closeAllConnections();
      server.close();
    },
  };
}

const calls = ['chat', 'draw', 'edit', 'video', 'speak', 'generate', 'embed'] as const;

/** Checks an extension, which may run only its own files. */
export async function checkExtension(
  checks: Checks,
  browser: Browser,
  folder: string,
): Promise<void> {
  const emulator = createEmulator({ videoDuration: 0 });
  const gateway = await emulator.listen();
  const served = await serve(folder);
  const open = async (): Promise<Visit> => {
    emulator.reset();
    const visit = await Visit.open(browser, served.url);
    await visit.use(emulator.apiKey, gateway.url);
    return visit;
  };

  await checks.check('extension: every call works under the policy of manifest v3', async () => {
    const visit = await open();
    for (const name of calls) {
      const told = await visit.call(name);
      assert.equal(told.error, undefined, told.message);
    }
    assert.deepEqual(visit.violations, []);
    // Without this nothing was proved.
    assert.match((await visit.call('makeCode', 'return 1')).message ?? '', /^EvalError/);
    await until('the policy is enforced', () => visit.violations.length > 0);
    await visit.close();
  });

  await checks.check('extension: a service worker makes calls', async () => {
    const visit = await open();
    const worked: unknown = await visit.page.evaluate(
      async ([apiKey, baseURL]) => {
        const { active } = await navigator.serviceWorker
          .register('/service-worker.js')
          .then(() => navigator.serviceWorker.ready);
        const { port1, port2 } = new MessageChannel();
        return new Promise((resolve) => {
          port1.addEventListener('message', ({ data }) => resolve(data));
          port1.start();
          active?.postMessage({ apiKey, baseURL }, [port2]);
        });
      },
      [emulator.apiKey, gateway.url] as const,
    );
    assert.equal(worked, 'true 1 queued');
    assert.equal(emulator.charges.length, 3);
    await visit.close();
  });

  served.close();
  await gateway.close();
}
