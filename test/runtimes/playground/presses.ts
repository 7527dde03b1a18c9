import assert from 'node:assert/strict';
import type { Browser, Locator } from 'playwright-core';
import { createEmulator, type Emulator } from 'model-gateway/testing';
import { type Checks, nothing } from './check.ts';
import { forms, recording } from './forms.ts';
import { serveFor } from './served.ts';
import { Visit } from './visit.ts';

const picture = {
  name: 'dot.png',
  mimeType: 'image/png',
  buffer: Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
    'base64',
  ),
};

const isPost = ({ method }: { method: string }): boolean => method === 'POST';

/** The requests of calls that are charged or metered, without polls. */
const countRequests = ({ requests }: Emulator): number =>
  requests.filter(({ method, path }) => method === 'POST' && path.startsWith('/v1/')).length;

/** The ways to press a control several times. */
const presses: Readonly<Record<string, (control: Locator) => Promise<void>>> = {
  'a double click': (control) => control.dblclick(),
  'four clicks': (control) => control.click({ clickCount: 4, delay: 20 }),
  'two clicks apart': async (control) => {
    await control.click();
    // Far enough apart not to be a double click.
    await control.page().waitForTimeout(700);
    await control.click();
  },
  'a held Enter': async (control) => {
    const { keyboard } = control.page();
    await control.focus();
    for (let repeat = 0; repeat < 4; repeat += 1) await keyboard.down('Enter');
    await keyboard.up('Enter');
  },
  'Enter and Space': async (control) => {
    await control.focus();
    for (const key of ['Enter', ' ', 'Enter']) await control.page().keyboard.press(key);
  },
};

/** Presses of a text field that sends. */
const keys: Readonly<Record<string, (control: Locator) => Promise<void>>> = {
  'Ctrl+Enter three times': async (control) => {
    await control.focus();
    for (const _ of [1, 2, 3]) await control.page().keyboard.press('Control+Enter');
  },
  'a held Ctrl+Enter': async (control) => {
    const { keyboard } = control.page();
    await control.focus();
    await keyboard.down('Control');
    for (let repeat = 0; repeat < 4; repeat += 1) await keyboard.down('Enter');
    await keyboard.up('Enter');
    await keyboard.up('Control');
  },
};

/** Drops or pastes a file. @returns whether the page handled the event */
function give(
  target: Locator,
  event: 'drop' | 'paste',
  { name, mimeType, buffer }: typeof picture,
  text: Readonly<Record<string, string>> = {},
): Promise<boolean> {
  return target.first().evaluate(
    (element, { event: kind, file, type, bytes, texts }) => {
      const data = new DataTransfer();
      for (const [format, value] of Object.entries(texts)) data.setData(format, value);
      data.items.add(new File([new Uint8Array(bytes)], file, { type }));
      const init = { bubbles: true, cancelable: true };
      const on = element.querySelector('textarea') ?? element;
      return !on.dispatchEvent(
        kind === 'drop'
          ? new DragEvent('drop', { ...init, dataTransfer: data })
          : new ClipboardEvent('paste', { ...init, clipboardData: data }),
      );
    },
    { event, file: name, type: mimeType, bytes: [...buffer], texts: text },
  );
}

/** Every control that starts a call is pressed more than once, and the requests at the gateway are counted. */
export async function checkPresses(checks: Checks, browser: Browser, shots: string): Promise<void> {
  const emulator = createEmulator({ videoDuration: 600_000, quirks: { eventDelay: 30 } });
  const served = await serveFor(emulator);
  const visit = await Visit.open(browser, served.url, shots);
  const { page } = visit;
  checks.describe = () => page.locator('main').innerText();
  // Every result takes long enough for several presses.
  const slow = emulator.fail({
    fault: { type: 'slow', milliseconds: 2_000 },
    times: Infinity,
    when: isPost,
  });

  /** Runs `press`, and returns how many requests it made. */
  const requestsOf = async (press: () => Promise<void>): Promise<number> => {
    const before = countRequests(emulator);
    await press();
    // A second request would be sent at once.
    await page.waitForTimeout(600);
    return countRequests(emulator) - before;
  };

  try {
    // Chat takes its text at the press, so its presses are checked below.
    for (const form of forms.filter(({ panel }) => panel !== 'Chat')) {
      await checks.check(`${form.panel}: pressed several times is one call`, async () => {
        await visit.go(form.panel);
        const found: string[] = [];
        const button = page.getByRole('button', { name: form.button });
        const { field, file } = form;
        const text = field === undefined ? undefined : page.getByRole('textbox', { name: field });
        const all = text === undefined ? presses : { ...presses, ...keys };
        for (const [name, press] of Object.entries(all)) {
          if (text !== undefined) await text.fill(`A boat, ${name}`);
          else {
            // Another file is another call.
            await page.getByLabel(file ?? '').setInputFiles({ ...recording, name: `${name}.wav` });
          }
          const isKey = name in keys;
          const count = await requestsOf(() => press(isKey && text ? text : button));
          if (count !== 1) found.push(`${name}: ${count} requests`);
        }
        nothing(found, 'each makes one request');
      });
    }
    await checks.check(
      'a press says that it did nothing, and is a new call after the result',
      async () => {
        await visit.go('Images');
        await page.getByLabel('Prompt').fill('The same boat');
        const button = page.getByRole('button', { name: 'Create an image' });
        assert.match((await button.textContent()) ?? '', /^Create an image(, about \$0\.002)?$/);
        const first = await requestsOf(async () => {
          await button.click();
          await page.waitForTimeout(600);
          await button.click();
          await page.getByText('This press sent nothing: its call was made already.').waitFor();
        });
        assert.equal(first, 1);
        await page.getByText('Create an image, about $0.002').waitFor();
        await page.locator('.result').first().locator('.pill.done').waitFor();
        assert.equal(await requestsOf(() => button.click()), 1, 'a new call');
      },
    );
    await checks.check(
      'a lost answer to the press: pressed again, it is the same call',
      async () => {
        await visit.go('Speech');
        await page.getByRole('textbox', { name: /^Text\b/ }).fill('Lost');
        const button = page.getByRole('button', { name: 'Speak' });
        const count = await requestsOf(async () => {
          await page.route('**/api/calls/*', async (route) => {
            await route.fetch();
            await route.abort('connectionreset');
          });
          await button.click();
          await page.locator('.problem', { hasText: 'does not respond' }).waitFor();
          await page.unroute('**/api/calls/*');
          // The result arrives by the events, and the press that follows the problem still is that call.
          await page.locator('.result', { hasText: 'Lost' }).locator('.pill.done').waitFor();
          await button.click();
          await page.getByText('This press sent nothing: its call was made already.').waitFor();
        });
        assert.equal(count, 1);
        await page.waitForTimeout(600);
        assert.equal(await requestsOf(() => button.click()), 1, 'a new call');
        visit.problems.splice(0);
      },
    );
    await checks.check('a press that did not arrive: pressed again, it is sent', async () => {
      await visit.go('Speech');
      await page.getByRole('textbox', { name: /^Text\b/ }).fill('Not received');
      const button = page.getByRole('button', { name: 'Speak' });
      await page.route('**/api/calls/*', (route) => route.abort('connectionreset'));
      await button.click();
      await page.locator('.problem', { hasText: 'does not respond' }).waitFor();
      await page.unroute('**/api/calls/*');
      assert.equal(await requestsOf(() => button.click()), 1);
      await page.locator('.result', { hasText: 'Not received' }).locator('.pill.done').waitFor();
      assert.equal(await page.getByText('This press sent nothing').count(), 0);
      visit.problems.splice(0);
    });
    await checks.check(
      'a reload: pressed again before the result, it is the same call',
      async () => {
        await visit.go('Images');
        const button = page.getByRole('button', { name: 'Create an image' });
        const count = await requestsOf(async () => {
          await page.getByLabel('Prompt').fill('Reloaded');
          await button.click();
          await page.locator('.pill.running').first().waitFor();
          await page.reload();
          await page.locator('.pill.running').first().waitFor();
          await button.click();
          await page.getByText('This press sent nothing: its call was made already.').waitFor();
        });
        assert.equal(count, 1);
        await page.locator('.result').first().locator('.pill.done').waitFor();
      },
    );
    await checks.check(
      'chat: Enter twice, held, and two clicks of Send are one message',
      async () => {
        await visit.go('Chat');
        const message = page.getByRole('textbox', { name: 'Message' });
        const send = page.getByRole('button', { name: 'Send', exact: true });
        const found: string[] = [];
        const chatKeys = {
          'Enter twice': async () => {
            for (const _ of [1, 2]) await page.keyboard.press('Enter');
          },
          'a held Enter': async () => {
            for (let repeat = 0; repeat < 4; repeat += 1) await page.keyboard.down('Enter');
            await page.keyboard.up('Enter');
          },
          ...Object.fromEntries(
            Object.entries(presses).map(([name, press]) => [name, () => press(send)]),
          ),
        };
        for (const [name, press] of Object.entries(chatKeys)) {
          await message.fill(`Hello, ${name}`);
          await message.focus();
          const count = await requestsOf(press);
          if (count !== 1) found.push(`${name}: ${count} requests`);
          await page.locator('.turn').last().locator('.pill.done').waitFor();
        }
        const last = page.locator('.turn').last();
        const retried = await requestsOf(() =>
          last.getByRole('button', { name: 'Retry' }).dblclick(),
        );
        if (retried !== 1) found.push(`Retry: ${retried} requests`);
        await page.locator('.turn').last().locator('.pill.done').waitFor();
        await page.locator('.turn').last().getByRole('button', { name: 'Edit' }).click();
        await page.getByLabel('Edited message').fill('Edited');
        const edited = await requestsOf(() =>
          page.getByRole('button', { name: 'Send again' }).dblclick(),
        );
        if (edited !== 1) found.push(`Send again: ${edited} requests`);
        await page.locator('.turn').last().locator('.pill.done').waitFor();
        nothing(found, 'each makes one request');
      },
    );
    await checks.check(
      'drop and paste, twice each: files are added, and nothing is sent',
      async () => {
        const found: string[] = [];
        for (const { panel, accepts, keeps } of [
          { panel: 'Chat', accepts: picture, keeps: 4 },
          { panel: 'Images', accepts: picture, keeps: 4 },
          { panel: 'Video', accepts: picture, keeps: 1 },
          { panel: 'Transcription', accepts: recording, keeps: 1 },
          { panel: 'Translation', accepts: recording, keeps: 1 },
          { panel: 'Speech', accepts: picture, keeps: 0 },
          { panel: 'Embeddings', accepts: picture, keeps: 0 },
          { panel: 'Requests', accepts: picture, keeps: 0 },
        ]) {
          await visit.go(panel);
          const target = page.locator(keeps === 0 ? 'main' : 'main form.card');
          const names: string[] = [];
          const count = await requestsOf(async () => {
            for (const event of ['drop', 'drop', 'paste', 'paste'] as const) {
              names.push(`${names.length + 1}-${accepts.name}`);
              const isTaken = await give(target, event, { ...accepts, name: names.at(-1) ?? '' });
              // Otherwise the browser opens a file that is dropped.
              if (event === 'drop' && !isTaken) found.push(`${panel}: the drop is left alone`);
            }
          });
          if (count !== 0) found.push(`${panel}: ${count} requests`);
          const chosen = page.locator('.chosen-file');
          const kept = keeps === 0 ? [] : names.slice(-keeps);
          const shown = await chosen.locator('bdi').allTextContents();
          if (shown.join() !== kept.join()) found.push(`${panel}: has ${shown.join()}`);
          const thumbnails = await chosen.locator('.thumbnail').count();
          if (thumbnails !== (accepts === picture ? keeps : 0)) {
            found.push(`${panel}: ${thumbnails} thumbnails`);
          }
          if (keeps > 0) {
            const notes = {
              name: 'notes.txt',
              mimeType: 'text/plain',
              buffer: Buffer.from('Notes'),
            };
            for (const event of ['drop', 'paste'] as const) await give(target, event, notes);
            await page
              .getByText(/notes\.txt: not an (image|audio) file\. Choose another file\./)
              .waitFor();
            if ((await chosen.count()) !== keeps)
              found.push(`${panel}: a wrong file replaces others`);
          }
          while ((await chosen.count()) > 0) await chosen.getByRole('button').first().click();
        }
        nothing(found, 'all files are kept, and nothing is sent');
      },
    );
    await checks.check('text with its picture is pasted as text', async () => {
      await visit.go('Chat');
      const isTaken = await give(page.locator('main form.card'), 'paste', picture, {
        'text/plain': 'A table',
        'text/html': '<table></table>',
      });
      assert.equal(isTaken, false, 'the browser pastes the text');
      assert.equal(await page.locator('.chosen-file').count(), 0);
    });
    await checks.check(
      'stopped: the message has the focus, and a possible charge is shown',
      async () => {
        await visit.go('Chat');
        const message = page.getByRole('textbox', { name: 'Message' });
        for (const stop of [
          () => page.getByRole('button', { name: 'Stop', exact: true }).click(),
          () => page.keyboard.press('Escape'),
        ]) {
          await message.fill('[long]');
          await page.keyboard.press('Enter');
          await page.locator('.turn').last().locator('.pill.running').waitFor();
          await page.waitForTimeout(300);
          await stop();
          const last = page.locator('.turn').last();
          await last.getByText('stopped · may be charged').waitFor();
          assert.match((await last.locator('.problem').textContent()) ?? '', /charged/);
          assert.equal(await message.evaluate((field) => field === document.activeElement), true);
          await visit.announced(/^Answer stopped, may be charged$/);
        }
        for (const panel of ['Charges', 'Requests']) {
          await visit.go(panel);
          await page.getByText('stopped · may be charged').first().waitFor();
        }
      },
    );
    await checks.check(
      'waits are shown: 429, the next attempt, and the steps of the call',
      async () => {
        slow.remove();
        // Polls of the videos above are no posts.
        emulator.fail({ fault: { type: 'rate-limit', retryAfter: 3 }, when: isPost });
        await visit.go('Chat');
        await page.getByRole('textbox', { name: 'Message' }).fill('After a limit');
        await page.keyboard.press('Enter');
        await page.getByText(/^429, next attempt in \d s \(1 of 2\)$/).waitFor();
        await visit.announced(/^429, next attempt in \d seconds$/);
        const last = page.locator('.turn').last();
        await last.locator('.pill.done').waitFor();
        const steps = await last.locator('.steps li').allTextContents();
        assert.deepEqual(
          steps.map((step) => step.replace(/[\d.]+ s$/, 'some s')),
          ['sent', '429', 'waited some s', 'sent again', '200', 'first token', 'charged'],
        );
        await visit.announced(/^Answer complete, \d+ tokens$/);
      },
    );
    nothing(visit.problems, 'the page behaves');
  } finally {
    checks.describe = undefined;
    await visit.close();
    await served.end();
  }
}
