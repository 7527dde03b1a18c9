import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { createEmulator } from 'model-gateway/testing';
import type { Browser } from 'playwright-core';
import type { Checks } from '../playground/check.ts';
import type { Told } from './page.ts';
import { until, Visit } from './visit.ts';

/** What the pages of an extension (manifest v3) may do by default. */
const policy = "script-src 'self'; object-src 'self';";

const types: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript' };

/** Serves the built page under the policy of extensions. */
async function serve(folder: string) {
  const taken = { assets: false };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://page');
    const file = path.join(folder, pathname === '/' ? 'index.html' : pathname);
    const isTaken = taken.assets && pathname.startsWith('/assets/');
    if (isTaken || !existsSync(file)) {
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
    /** A new deployment has other parts, under other names. */
    taken,
    close(): void {
      server.closeAllConnections();
      server.close();
    },
  };
}

const rare = 'audio, embeddings, images, models, files and other routes';

/** Calls whose part is loaded when they are first made, and what it is for. */
const late = [
  ['draw', rare],
  ['edit', rare],
  ['video', 'videos'],
  ['speak', rare],
  ['generate', 'content generation'],
  ['embed', rare],
] as const;

function assertNothingSent(told: Told, part: string): void {
  assert.equal(told.error, 'APIConnectionError');
  assert.equal(told.outcome, 'not_sent');
  const words = `The part of model-gateway for ${part} could not be loaded: `;
  assert.ok(told.message?.startsWith(words), told.message);
  assert.match(told.message ?? '', /Nothing was sent\. Try again .* reload the page if/);
}

/** Looks at the parts that a page loads later, and at an extension, which may run only its own files. */
export async function checkParts(checks: Checks, browser: Browser, folder: string): Promise<void> {
  const emulator = createEmulator({ videoDuration: 0 });
  const gateway = await emulator.listen();
  const served = await serve(folder);
  const open = async (): Promise<Visit> => {
    emulator.reset();
    served.taken.assets = false;
    const visit = await Visit.open(browser, served.url);
    await visit.use(emulator.apiKey, gateway.url);
    return visit;
  };
  const counted = (): number[] => [emulator.requests.length, emulator.charges.length];

  await checks.check('parts: a network cut after the page was loaded costs nothing', async () => {
    const visit = await open();
    await visit.context.setOffline(true);
    for (const [name, part] of late) assertNothingSent(await visit.call(name), part);
    await visit.context.setOffline(false);
    assert.deepEqual(counted(), [0, 0]);
    // As the message says, not every browser asks for a file again that did not come.
    const again = await visit.call('draw');
    if (again.error !== undefined) {
      assertNothingSent(again, rare);
      await visit.load();
      await visit.use(emulator.apiKey, gateway.url);
      assert.ok(Number((await visit.call('draw')).value) > 0);
    }
    assert.equal(emulator.charges.length, 1);
    await visit.close();
  });

  await checks.check('parts: so does a deployment that took them away', async () => {
    const visit = await open();
    served.taken.assets = true;
    assertNothingSent(await visit.call('video'), 'videos');
    assert.deepEqual(counted(), [0, 0]);
    served.taken.assets = false;
    await visit.load();
    await visit.use(emulator.apiKey, gateway.url);
    assert.equal((await visit.call('video')).error, undefined);
    assert.equal(emulator.charges.length, 1);
    await visit.close();
  });

  await checks.check('extension: every part loads under the policy of manifest v3', async () => {
    const visit = await open();
    for (const name of ['chat', ...late.map(([call]) => call)] as const) {
      const told = await visit.call(name);
      assert.equal(told.error, undefined, told.message);
    }
    assert.deepEqual(visit.violations, []);
    // Without this nothing was proved.
    assert.match((await visit.call('makeCode', 'return 1')).message ?? '', /^EvalError/);
    await until('the policy is enforced', () => visit.violations.length > 0);
    await visit.close();
  });

  await checks.check('extension: a service worker makes calls, without import()', async () => {
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
