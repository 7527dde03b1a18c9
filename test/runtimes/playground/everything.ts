import assert from 'node:assert/strict';
import type { Browser, Locator } from 'playwright-core';
import { createEmulator } from 'model-gateway/testing';
import { type Checks, nothing } from './check.ts';
import { forms, recording } from './forms.ts';
import { serve, serveFor } from './served.ts';
import { Visit } from './visit.ts';

/** The controls that are pressed, and those of them that start calls. */
const controls = 'main :is(button, summary, a.button)';

interface Control {
  readonly index: number;
  /** The text without numbers, which change. */
  readonly name: string;
  readonly starts: boolean;
}

/** Returns what a person can press, in the order of the page. A list of calls has its first call. */
function listControls(visit: Visit): Promise<Control[]> {
  return visit.page.locator(controls).evaluateAll((all) =>
    all.flatMap((element, index) => {
      const isUsable = element.checkVisibility() && !element.matches(':disabled');
      const text = element.getAttribute('aria-label') ?? element.textContent ?? '';
      const name = element.matches('.log-line')
        ? 'a call of the list'
        : `${element.tagName} ${text.replaceAll(/\d[\d.,]*/g, '#').trim()}`;
      return isUsable ? [{ index, name, starts: element.matches('[data-starts]') }] : [];
    }),
  );
}

const ways: readonly (readonly [name: string, press: (control: Locator) => Promise<void>])[] = [
  ['a double click', (control) => control.dblclick()],
  [
    'a held Enter',
    async (control) => {
      const { keyboard } = control.page();
      await control.focus();
      for (let repeat = 0; repeat < 4; repeat += 1) await keyboard.down('Enter');
      await keyboard.up('Enter');
    },
  ],
  [
    'Space, and Enter after the result',
    async (control) => {
      await control.focus();
      await control.press(' ');
      await control.page().waitForTimeout(200);
      await control.page().keyboard.press('Enter');
    },
  ],
];

const isLast = (name: string): boolean => /Clear$|Delete all|Keep$|Remove$|New conv/.test(name);

/**
 * Presses everything in the panel that is open twice. `prepare` fills in its form anew.
 *
 * @returns the presses that made another number of calls than expected, and the controls that started a call
 */
async function pressAll(
  visit: Visit,
  prepare: (number: number) => Promise<void>,
  countCalls: () => Promise<number>,
): Promise<{ found: string[]; started: Set<string>; pressed: Set<string> }> {
  const { page } = visit;
  const found: string[] = [];
  const [started, pressed] = [new Set<string>(), new Set<string>()];
  for (let number = 0; ; number += 1) {
    await prepare(number * ways.length);
    // Last what deletes the others.
    const [next] = (await listControls(visit))
      .filter(({ name }) => !pressed.has(name))
      .toSorted((a, b) => Number(isLast(a.name)) - Number(isLast(b.name)));
    if (next === undefined) return { found, started, pressed };
    pressed.add(next.name);
    for (const [index, [way, press]] of ways.entries()) {
      if (index > 0) await prepare(number * ways.length + index);
      const control = (await listControls(visit)).find(({ name }) => name === next.name);
      // The press before has replaced it.
      if (control === undefined) continue;
      const before = await countCalls();
      await press(page.locator(controls).nth(control.index));
      // A second call would be started at once.
      await page.waitForTimeout(250);
      const calls = (await countCalls()) - before;
      if (calls > (control.starts ? 1 : 0)) found.push(`${next.name}, ${way}: ${calls} calls`);
      if (calls > 0) started.add(next.name);
    }
  }
}

/** Everything that can be pressed in each panel is pressed twice, and the requests and charges are counted. */
export async function checkEverything(
  checks: Checks,
  browser: Browser,
  shots: string,
): Promise<void> {
  // Results arrive at once, so that a second press would be a new call.
  const emulator = createEmulator({ videoDuration: 0 });
  const served = await serveFor(emulator);
  const visit = await Visit.open(browser, served.url, shots);
  const { page } = visit;
  checks.describe = () => page.locator('main').innerText();
  const countRequests = async (): Promise<number> => {
    const sent = emulator.requests.filter(
      ({ method, path }) => method === 'POST' && path.startsWith('/v1/'),
    );
    // Each request without a fault is one charge.
    assert.equal(emulator.charges.length, sent.length);
    return sent.length;
  };
  try {
    for (const { panel, field, file, button } of forms) {
      await checks.check(`${panel}: everything pressed twice makes one call at most`, async () => {
        await visit.go(panel);
        const fill = async (text: string): Promise<void> => {
          // The text field of images has another name once there is an image to edit.
          if (field !== undefined) await page.locator('main form.card textarea').first().fill(text);
          if (file !== undefined) {
            await page.getByLabel(file).setInputFiles({ ...recording, name: `${text}.wav` });
          }
          await page
            .locator('.remix-place details')
            .evaluateAll((all) => all.forEach((details) => details.setAttribute('open', '')));
          for (const other of await page.getByLabel(/What to change|Edited message/).all()) {
            if (await other.isVisible()) await other.fill(text);
          }
        };
        await fill('First');
        await page.getByRole('button', { name: button }).last().click();
        await page.locator('main .pill:is(.done, .complete)').first().waitFor();
        const { found, started, pressed } = await pressAll(
          visit,
          (number) => fill(`Text ${number}`),
          countRequests,
        );
        nothing(found, 'each press is one call at most');
        const expected = [button.replace(/\d+/, '#')];
        if (panel === 'Chat') expected.push('Retry', 'Send again');
        if (panel === 'Video') expected.push('Remix');
        for (const name of expected) {
          assert.ok(
            [...started].some((text) => text.includes(name)),
            `${name} starts a call`,
          );
        }
        assert.ok(pressed.size >= 8, `only ${[...pressed].join()} were pressed`);
      });
    }
    const openFirst = async (): Promise<void> => {
      const first = page.locator('.log-line').first();
      const isClosed = (await first.count()) > 0 && (await page.locator('.detail').count()) === 0;
      if (isClosed) await first.click();
    };
    for (const panel of ['Charges', 'Requests']) {
      await checks.check(`${panel}: everything pressed twice sends nothing`, async () => {
        await visit.go(panel);
        const { found, pressed } = await pressAll(visit, openFirst, countRequests);
        nothing(found, 'nothing is sent');
        const expected = panel === 'Charges' ? 'Read the usage log' : 'Delete all results';
        assert.match([...pressed].join(), new RegExp(expected));
        assert.ok(pressed.size >= (panel === 'Charges' ? 1 : 7), [...pressed].join());
      });
    }
    const own = await serve(['--port', '0', '--emulator']);
    const other = await Visit.open(browser, own.url, shots);
    await checks.check(
      'Charges of the emulator: each fault pressed twice is one call',
      async () => {
        const countCalls = (): Promise<number> =>
          other.page.evaluate(async () => {
            const headers = { 'x-playground-token': sessionStorage['playground-token'] };
            return (await (await fetch('/api/calls', { headers })).json()).length;
          });
        const { found, started } = await pressAll(other, async () => {}, countCalls);
        nothing(found, 'each press is one call at most');
        assert.equal(started.size, 8, [...started].join());
      },
    );
    nothing([...visit.problems, ...other.problems], 'the page behaves');
    await other.close();
    await own.end();
  } finally {
    checks.describe = undefined;
    await visit.close();
    await served.end();
  }
}
