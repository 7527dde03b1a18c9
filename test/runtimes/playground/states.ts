import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { createEmulator } from 'model-gateway/testing';
import { type Checks, nothing } from './check.ts';
import { forms, recording } from './forms.ts';
import { serve } from './served.ts';
import { Visit } from './visit.ts';

/** The looks of which people should see pictures. */
const looks = [
  ['light', { colorScheme: 'light', forcedColors: 'none' }],
  ['dark', { colorScheme: 'dark', forcedColors: 'none' }],
  ['forced', { colorScheme: 'dark', forcedColors: 'active' }],
] as const;

const isPost = ({ method }: { method: string }): boolean => method === 'POST';

const rightToLeft = 'قارب ورقي على بحيرة هادئة';

/** Each panel empty, running, stopped, failed and done, as the accessibility tree and live regions have it. */
export async function checkStates(checks: Checks, browser: Browser, shots: string): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'playground-home-'));
  const emulator = createEmulator({ videoDuration: 600_000, quirks: { eventDelay: 30 } });
  const gateway = await emulator.listen();
  const served = await serve(['--port', '0'], {
    GATEWAY_BASE_URL: gateway.url,
    GATEWAY_API_KEY: emulator.apiKey,
    XDG_STATE_HOME: home,
  });
  const visit = await Visit.open(browser, served.url, shots);
  const { page } = visit;
  checks.describe = () => page.locator('main').ariaSnapshot();
  /** The text of the live region, once it is as expected. */
  const announced = (text: RegExp): Promise<void> =>
    page.locator('p.hidden[role=status]').filter({ hasText: text }).waitFor();
  const tree = (): Promise<string> => page.locator('main').ariaSnapshot();

  /** Pictures and findings of the panel as it is now. */
  const look = async (name: string): Promise<void> => {
    const found: string[] = [];
    for (const [kind, media] of looks) {
      await page.emulateMedia(media);
      for (const width of [360, 1280]) {
        await page.setViewportSize({ width, height: 900 });
        await visit.shot(`state-${name}-${kind}-${width}`);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        if (wide > width) found.push(`${kind}: ${wide} pixels wide at ${width}`);
      }
      // Forced colours are chosen by the browser.
      if (kind !== 'forced') {
        found.push(...(await visit.findings()).map((what) => `${kind}: ${what}`));
      }
    }
    await page.emulateMedia({ colorScheme: null, forcedColors: null });
    nothing(found, `${name}: nothing is found`);
  };

  try {
    await checks.check('Charges and Requests: empty', async () => {
      for (const panel of ['Charges', 'Requests']) {
        await visit.go(panel);
        assert.match(await tree(), /No calls yet/);
        await look(`${panel}-empty`);
      }
    });
    for (const { panel, field, file, button, empty, noun } of forms) {
      const isVideo = panel === 'Video';
      const isChat = panel === 'Chat';
      await checks.check(`${panel}: empty, running, stopped, failed and done`, async () => {
        await visit.go(panel);
        const fill = async (text: string): Promise<void> => {
          if (field !== undefined) await page.getByRole('textbox', { name: field }).fill(text);
          if (file !== undefined) {
            await page.getByLabel(file).setInputFiles({ ...recording, name: `${text}.wav` });
          }
        };
        const press = (): Promise<void> =>
          page.getByRole('button', { name: button, exact: isChat }).click();
        const newest = page.locator('main :is(.result, .turn)');
        const last = (): ReturnType<typeof newest.first> =>
          isChat ? newest.last() : newest.first();

        const before = await tree();
        assert.match(before, new RegExp(`heading "${panel}" \\[level=1\\]`));
        assert.match(before, new RegExp(empty));
        await look(`${panel}-empty`);

        const hang = emulator.fail({ fault: { type: 'hang' }, when: isPost, times: Infinity });
        await fill(rightToLeft);
        await press();
        await last().locator('.pill.running').waitFor();
        assert.match(await tree(), /running/);
        await look(`${panel}-running`);
        if (field !== undefined) {
          const direction = await last()
            .locator('.asked, .result-title')
            .evaluate((element) => getComputedStyle(element).direction);
          if (panel !== 'Embeddings') assert.equal(direction, 'rtl', 'the text has its direction');
        }

        if (isVideo) {
          // Nothing can stop a submission but its time limit; the wait below can be stopped.
          hang.remove();
        } else {
          await page.keyboard.press('Escape');
          await last().getByText('stopped · may be charged').waitFor();
          await announced(new RegExp(`^${noun} stopped, may be charged$`));
          await look(`${panel}-stopped`);
          hang.remove();
        }

        const fail = emulator.fail({
          fault: { type: 'error', status: 400, message: 'No such thing' },
          when: isPost,
          times: 1,
        });
        await fill('Failed');
        await press();
        const alert = last().getByRole('alert');
        await alert.waitFor();
        assert.match((await alert.textContent()) ?? '', /No such thing/);
        await look(`${panel}-failed`);
        fail.remove();

        await fill('Done');
        await press();
        if (isVideo) {
          await last().getByText('Stop checking').click();
          await last()
            .locator('.pill', { hasText: /^stopped$/ })
            .waitFor();
          await announced(/^Video stopped$/);
          await look('Video-stopped');
          await last().getByRole('button', { name: 'Continue checking' }).click();
          for (const quarter of [25, 50]) {
            emulator.clock.advance(150_000);
            await announced(new RegExp(`^Video ${quarter} % complete$`));
          }
          emulator.clock.advance(200_000);
        }
        await last().locator('.pill.done').waitFor();
        await announced(new RegExp(`^${noun} complete(, \\d+ tokens)?$`));
        await look(`${panel}-done`);
        const headings = await page
          .locator('main :is(h1, h2, h3, h4, h5, h6)')
          .evaluateAll((all) => all.map(({ tagName }) => Number(tagName.slice(1))));
        const jumps = headings.filter((level, index) => level > (headings[index - 1] ?? 0) + 1);
        assert.deepEqual(jumps, [], `headings go in order: ${headings.join(' ')}`);
      });
    }
    await checks.check('Charges and Requests: running, stopped, failed and done', async () => {
      const hang = emulator.fail({ fault: { type: 'hang' }, when: isPost, times: Infinity });
      await visit.go('Chat');
      await page.getByRole('textbox', { name: 'Message' }).fill('Still running');
      await page.keyboard.press('Enter');
      await page.locator('.turn .pill.running').waitFor();
      for (const panel of ['Charges', 'Requests']) {
        await visit.go(panel);
        const shown = await tree();
        for (const state of ['running', 'stopped · may be charged', 'rejected', 'done']) {
          assert.ok(shown.includes(state), `${panel} shows "${state}"`);
        }
        await look(panel);
      }
      await visit.go('Chat');
      await visit.press('Stop');
      await page.locator('.turn').last().getByText('stopped · may be charged').waitFor();
      hang.remove();
    });
    nothing(visit.problems, 'the page behaves');
  } finally {
    checks.describe = undefined;
    await visit.close();
    await served.end();
    await gateway.close();
    rmSync(home, { recursive: true, force: true });
  }
}
