import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { createEmulator } from 'model-gateway/testing';
import { type Checks, nothing } from './check.ts';
import { serve } from './served.ts';
import { Visit } from './visit.ts';

/** The browser's own message about a server that is gone. */
const ofBrowser =
  /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_EMPTY_RESPONSE|status of 401/;

/** Lost answers, and the page's message about each. */
export async function checkLosses(checks: Checks, browser: Browser, shots: string): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'playground-home-'));
  const emulator = createEmulator({ videoDuration: 0 });
  const gateway = await emulator.listen();
  const env = {
    GATEWAY_BASE_URL: gateway.url,
    GATEWAY_API_KEY: emulator.apiKey,
    XDG_STATE_HOME: home,
  };
  try {
    await checks.check('models that come late: nothing is sent without one', async () => {
      const served = await serve(['--port', '0', '--emulator']);
      const visit = await Visit.open(browser, served.url, shots);
      const { page } = visit;
      const released = new EventEmitter();
      await page.route('**/api/models', async (sent) => {
        await once(released, 'go');
        await sent.continue();
      });
      await page.reload();
      for (const [panel, field, button] of [
        ['Images', 'Prompt', 'Create an image'],
        ['Chat', 'Message', 'Send'],
      ] as const) {
        await visit.go(panel);
        await page.getByLabel(field).fill('A lighthouse');
        await page.getByRole('button', { name: button, exact: true, disabled: true }).waitFor();
      }
      released.emit('go');
      await visit.press('Send');
      await page.locator('.turn').first().waitFor();
      await visit.close();
      await served.end();
    });
    await checks.check(
      'a real gateway: no faults, and its calls are marked as charged',
      async () => {
        const served = await serve(['--port', '0'], env);
        const visit = await Visit.open(browser, served.url, shots);
        await visit.page.getByText('Real gateway: calls are charged').waitFor();
        await visit.page.getByRole('heading', { name: 'Charges of your calls' }).waitFor();
        await visit.page.getByText('Faults need the emulator').waitFor();
        await visit.go('Images');
        assert.equal(await visit.page.getByLabel('Fault').count(), 0);
        await visit.page.getByLabel('Prompt').fill('A lighthouse');
        await visit.press('Create an image');
        await visit.page.locator('figure img').waitFor();
        nothing(visit.problems, 'the page behaves');

        await served.end('SIGKILL');
        await visit.page.getByText('The playground does not respond.').waitFor();
        assert.equal(await visit.page.locator('figure img').count(), 1);
        await visit.page.getByLabel('Prompt').fill('Another lighthouse');
        await visit.press('Create an image');
        await visit.page.locator('.problem', { hasText: 'Restart it' }).waitFor();
        await visit.shot('server-lost');
        nothing(
          visit.problems.filter((what) => !ofBrowser.test(what)),
          'the page behaves',
        );
        await visit.close();

        const again = await serve(['--port', '0'], env);
        const second = await Visit.open(browser, again.url, shots);
        await second.go('Images');
        await second.page.locator('figure img').waitFor();
        assert.equal(emulator.charges.length, 1);
        await second.close();
        await again.end();
      },
    );

    await checks.check('a wrong key: the page says what to do', async () => {
      const served = await serve(['--port', '0'], { ...env, GATEWAY_API_KEY: 'sk-wrong' });
      const visit = await Visit.open(browser, served.url, shots);
      await visit.page.locator('.banner-problem', { hasText: 'AuthenticationError' }).waitFor();
      await visit.shot('wrong-key');
      nothing(await visit.findings(), 'axe finds nothing');
      await visit.close();
      await served.end();
    });

    await checks.check('a page of an earlier start says where the address is', async () => {
      const served = await serve(['--port', '0', '--emulator']);
      const visit = await Visit.open(browser, served.url.replace(/token=.*/, 'token=old'), shots);
      await visit.page.getByText('Open the address from the terminal').waitFor();
      await visit.shot('earlier-start');
      nothing(await visit.findings(), 'axe finds nothing');
      await visit.close();
      await served.end();
    });
  } finally {
    await gateway.close();
    rmSync(home, { recursive: true, force: true });
  }
}
