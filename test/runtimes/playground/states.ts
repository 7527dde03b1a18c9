import assert from 'node:assert/strict';
import type { Browser, Locator } from 'playwright-core';
import { createEmulator } from 'model-gateway/testing';
import { type Checks, nothing } from './check.ts';
import { forms, recording } from './forms.ts';
import { serve, serveFor } from './served.ts';
import { Visit } from './visit.ts';

/** The looks of which people should see pictures. */
const looks = [
  ['light', { colorScheme: 'light', forcedColors: 'none' }],
  ['dark', { colorScheme: 'dark', forcedColors: 'none' }],
  ['forced', { colorScheme: 'dark', forcedColors: 'active' }],
] as const;

const isPost = ({ method }: { method: string }): boolean => method === 'POST';

const rightToLeft = 'قارب ورقي على بحيرة هادئة';

/** Takes pictures of the panel as it is now, and fails if it is too wide or not accessible. */
async function lookAt(visit: Visit, name: string): Promise<void> {
  const { page } = visit;
  const found: string[] = [];
  const newest = page.locator('.turn').last().or(page.locator('.result').first());
  for (const [kind, media] of looks) {
    await page.emulateMedia(media);
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      if ((await newest.count()) > 0) await newest.scrollIntoViewIfNeeded();
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
}

/** The comparison of charges, which only the emulator has, empty, running, stopped, failed and done. */
async function checkComparison(visit: Visit): Promise<void> {
  const { page } = visit;
  const outcome = page.locator('.outcome');
  const { announced } = visit;
  assert.match(await outcome.ariaSnapshot(), /No charges yet/);
  await lookAt(visit, 'Comparison-empty');

  await visit.press('No response');
  await page.locator('.calls .pill.running').waitFor();
  assert.match(await outcome.ariaSnapshot(), /Running…/);
  await page.keyboard.press('Escape');
  await outcome.getByText('stopped · may be charged').waitFor();
  await announced(/^Image stopped, may be charged$/);
  assert.match(await outcome.ariaSnapshot(), /may have been accepted and charged/);
  assert.match(await page.locator('.calls').ariaSnapshot(), /row "[^"]*may have been accepted/);
  await page.locator('.lesson', { hasText: /\w/ }).waitFor();
  await lookAt(visit, 'Comparison-stopped');

  await visit.press('Cut after the charge');
  await announced(/^Image failed: .*may have been accepted and charged/, 'alert');
  await page.locator('.lesson', { hasText: '1 charge saved' }).waitFor();
  const steps = /listitem: sent\s+- listitem: no response\s+- listitem: 1 charge, \$0\.002/;
  assert.match(await outcome.ariaSnapshot(), steps);
  await lookAt(visit, 'Comparison-failed');

  await visit.press('429 with Retry-After');
  await announced(/^429, next attempt in \d seconds?$/);
  await lookAt(visit, 'Comparison-running');
  await announced(/^Image complete$/);
  await page.locator('.lesson', { hasText: 'The same charge on both sides' }).waitFor();
  assert.match(await outcome.ariaSnapshot(), /listitem: "429"[^]*listitem: sent again/);
  await outcome.getByText('Code', { exact: true }).click();
  await outcome.locator('pre').waitFor();
  assert.match(await outcome.ariaSnapshot(), /client\.images\.generate/);
  await lookAt(visit, 'Comparison-done');
}

/** Each panel empty, running, stopped, failed and done, as the accessibility tree and live regions have it. */
export async function checkStates(checks: Checks, browser: Browser, shots: string): Promise<void> {
  const emulator = createEmulator({ videoDuration: 600_000, quirks: { eventDelay: 30 } });
  const served = await serveFor(emulator);
  const visit = await Visit.open(browser, served.url, shots);
  const { page } = visit;
  checks.describe = () => page.locator('main').ariaSnapshot();
  const { announced } = visit;
  const tree = (): Promise<string> => page.locator('main').ariaSnapshot();

  const look = (name: string): Promise<void> => lookAt(visit, name);

  try {
    await checks.check('Charges and Requests: empty', async () => {
      for (const panel of ['Charges', 'Requests']) {
        await visit.go(panel);
        assert.match(await tree(), /No calls yet/);
        await look(`${panel}-empty`);
      }
    });
    for (const { panel, field, file, button, empty, noun, result } of forms) {
      const isVideo = panel === 'Video';
      const isChat = panel === 'Chat';
      await checks.check(`${panel}: empty, running, stopped, failed and done`, async () => {
        await visit.go(panel);
        const fill = async (number: number): Promise<void> => {
          const text = `${rightToLeft} ${number}`;
          if (field !== undefined) await page.getByRole('textbox', { name: field }).fill(text);
          if (file !== undefined) {
            await page.getByLabel(file).setInputFiles({ ...recording, name: `${text}.wav` });
          }
        };
        const press = (): Promise<void> =>
          page.getByRole('button', { name: button, exact: isChat }).click();
        const newest = page.locator('main :is(.result, .turn)');
        const last = (): Locator => (isChat ? newest.last() : newest.first());
        const snapshot = (): Promise<string> => last().ariaSnapshot();

        const before = await tree();
        assert.match(before, new RegExp(`heading "${panel}" \\[level=1\\]`));
        assert.match(before, new RegExp(empty));
        // The form of embeddings is filled in, and an empty message is not sent.
        if (!isChat && panel !== 'Embeddings') {
          assert.match(before, new RegExp(`button "${button}[^"]*" \\[disabled\\]`));
        }
        await look(`${panel}-empty`);

        const hang = emulator.fail({ fault: { type: 'hang' }, when: isPost, times: Infinity });
        await fill(1);
        await press();
        await last().locator('.pill.running').waitFor();
        await last()
          .getByRole('listitem')
          .filter({ hasText: /^sent$/ })
          .waitFor();
        const running = await snapshot();
        assert.match(running, /running/);
        assert.match(running, /list "What happened":\s+- listitem: sent/);
        assert.match(isChat ? await tree() : running, /button "Stop"(?! \[disabled\])/);
        await look(`${panel}-running`);
        if (field !== undefined && panel !== 'Embeddings') {
          const direction = await last()
            .locator('.asked, .result-title')
            .evaluate((element) => getComputedStyle(element).direction);
          assert.equal(direction, 'rtl', 'the text has its direction');
        }

        await page.keyboard.press('Escape');
        await last().getByText('stopped · may be charged').waitFor();
        await announced(new RegExp(`^${noun} stopped, may be charged$`));
        const stopped = await snapshot();
        assert.match(stopped, /The request may have been accepted and charged\./);
        assert.match(stopped, /listitem: stopped\s+- listitem: may be charged/);
        assert.doesNotMatch(stopped, /button "Stop"|alert/);
        await page.locator('main form.card textarea:focus').waitFor();
        await look(`${panel}-stopped`);
        hang.remove();

        const fail = emulator.fail({
          fault: { type: 'error', status: 400, message: 'No such thing' },
          when: isPost,
          times: 1,
        });
        await fill(2);
        await press();
        await last().locator('.problem').waitFor();
        await announced(new RegExp(`^${noun} failed: .*No such thing`), 'alert');
        const failed = await snapshot();
        assert.match(failed, /rejected[^]*No such thing/);
        assert.match(failed, /listitem: "400"\s+- listitem: not charged/);
        await look(`${panel}-failed`);
        fail.remove();

        await fill(3);
        await press();
        if (isVideo) {
          const stopChecking = (): Promise<void> => last().getByText('Stop checking').click();
          // Checks at once, while the pauses between checks grow.
          const checkAgain = (): Promise<void> =>
            last().getByRole('button', { name: 'Continue checking' }).click();
          await stopChecking();
          await announced(/^Video stopped, may be charged$/);
          await look('Video-stopped-checking');
          for (const quarter of [25, 50]) {
            emulator.clock.advance(160_000);
            await checkAgain();
            await announced(new RegExp(`^Video ${quarter} % complete$`));
            await stopChecking();
          }
          emulator.clock.advance(300_000);
          await checkAgain();
        }
        await last().locator('.pill.done').waitFor();
        await announced(new RegExp(`^${noun} complete(, \\d+ tokens)?$`));
        await last()
          .locator('img[src], audio[src], video[src], .prose, .transcript, .heat')
          .first()
          .waitFor();
        const done = await snapshot();
        assert.match(done, result);
        assert.match(done, /listitem: "200"[^]*listitem: charged/);
        assert.match(done, /group: Code/);
        await look(`${panel}-done`);
        const headings = await page
          .locator('main :is(h1, h2, h3, h4, h5, h6)')
          .evaluateAll((all) => all.map(({ tagName }) => Number(tagName.slice(1))));
        const jumps = headings.filter((level, index) => level > (headings[index - 1] ?? 0) + 1);
        assert.deepEqual(jumps, [], `headings go in order: ${headings.join(' ')}`);
        // Opening a panel with old errors reads nothing out.
        await visit.go('Requests');
        await visit.go(panel);
        const live = page.locator('main :is([aria-live=polite], [role=status], [role=alert])');
        const texts = await live.evaluateAll((all) => all.map(({ textContent }) => textContent));
        assert.deepEqual(texts.filter(Boolean), [], 'nothing else is read out');
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
      await visit.go('Requests');
      for (const state of ['stopped · may be charged', 'rejected', 'done']) {
        await page.locator('.log-line', { hasText: state }).first().click();
        await page.locator('.detail').waitFor();
        assert.match(await page.locator('.detail').ariaSnapshot(), /list "What happened"/);
        await look(`Requests-open-${state.replace(/ .*/, '')}`);
      }
    });
    nothing(visit.problems, 'the page behaves');
    const own = await serve(['--port', '0', '--emulator']);
    const other = await Visit.open(browser, own.url, shots);
    await checks.check('the comparison of charges: empty, running, stopped, failed and done', () =>
      checkComparison(other),
    );
    nothing(other.problems, 'the page behaves');
    await other.close();
    await own.end();
  } finally {
    checks.describe = undefined;
    await visit.close();
    await served.end();
  }
}
