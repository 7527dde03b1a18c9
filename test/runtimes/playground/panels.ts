import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { type Checks, nothing } from './check.ts';
import { Visit } from './visit.ts';

const panels = [
  'Charges',
  'Chat',
  'Images',
  'Speech',
  'Transcription',
  'Translation',
  'Embeddings',
  'Video',
  'Requests',
];

/** The result of a panel's newest call. */
async function newestPill(visit: Visit): Promise<string> {
  const pill = visit.page.locator('main .result .pill, main .turn .pill').first();
  await pill.filter({ hasNotText: 'running' }).waitFor();
  return (await pill.textContent()) ?? '';
}

async function bigNumbers(visit: Visit): Promise<string[]> {
  // Both sides are known when the lesson is there.
  await visit.page.locator('.lesson', { hasText: /\w/ }).waitFor();
  return visit.page
    .locator('.big')
    .evaluateAll((all) => all.map(({ firstChild }) => firstChild?.textContent ?? ''));
}

async function checkCharges(visit: Visit): Promise<void> {
  const { page } = visit;
  await visit.shot('charges-empty');
  await visit.shifted();
  // The totals below count a double click as one call.
  await page.getByRole('button', { name: 'Cut after the charge' }).dblclick();
  await page.waitForFunction(() =>
    document.querySelectorAll('.big')[1]?.textContent?.startsWith('2'),
  );
  assert.deepEqual(await bigNumbers(visit), ['1', '2']);
  const told = await page.locator('.side-of.own').textContent();
  assert.match(told ?? '', /1 request, \$0\.002.*APIConnectionError, outcome unknown/);
  assert.match(told ?? '', /A thousand such calls a day: \$2\.00/);
  const theirs = page.locator('.side-of.rival');
  assert.match(
    (await theirs.textContent()) ?? '',
    /After 2 requests, the caller receives the response, and pays \$0\.004 for 2 charges\..*\$4\.00/,
  );
  for (const sdk of ['AI SDK', 'replicate', 'fal']) {
    await page.getByLabel(sdk, { exact: true }).check();
    await theirs.getByRole('heading', { name: sdk }).waitFor();
    assert.deepEqual(await bigNumbers(visit), ['1', '2']);
  }
  await page.getByLabel('openai', { exact: true }).check();
  // The account arrives in an event of its own, after the outcome of the call.
  await page.waitForFunction(() =>
    document.querySelector('.account-host')?.textContent?.startsWith('1 charge'),
  );
  assert.match((await page.locator('tfoot').textContent()) ?? '', /Total12/);
  assert.match(page.url(), /fault=cut-after-charge/);
  await visit.shot('charges');

  await page.getByLabel('every request').check();
  await visit.press('502 after the charge');
  await page.waitForFunction(() =>
    document.querySelectorAll('.big')[1]?.textContent?.startsWith('3'),
  );
  assert.deepEqual(await bigNumbers(visit), ['1', '3']);
  await page.getByLabel('fal', { exact: true }).check();
  assert.deepEqual(await bigNumbers(visit), ['1', '4']);
  await page.getByLabel('openai', { exact: true }).check();

  await page.getByLabel('the first request').check();
  await page.getByLabel('a chat').check();
  await visit.press('A stalled stream');
  await page.getByText('the caller still waits, without a time limit').waitFor();
  await page.locator('.side-of.own').getByText('StreamTimeoutError').waitFor();
  assert.deepEqual(await bigNumbers(visit), ['1', '1']);
  await visit.press('An error in a 200');
  await page.locator('.lesson').getByText('one side reports a success').waitFor();
}

const markdown = `Look:

- one
- **two**

| Name | Size |
| ---- | ---: |
| boat |    4 |

\`\`\`ts
const paid = 'once';
\`\`\`

[docs](https://example.com/docs) [bad](javascript:alert(1)) <img src=x onerror=alert(1)>

End`;

/** Markdown, and the buttons of each message. */
async function checkMessages(visit: Visit): Promise<void> {
  const { page } = visit;
  await visit.go('Chat');
  const message = page.getByLabel('Message', { exact: false });
  await message.focus();
  await page.keyboard.press('Tab');
  assert.equal(await message.evaluate((field) => field === document.activeElement), false);
  assert.equal(await message.inputValue(), '', 'Tab moves on and writes nothing');
  await visit.press('Use the example');
  assert.equal(await message.inputValue(), 'Why does light bend?');
  assert.equal(await message.evaluate((field) => field === document.activeElement), true);
  await message.fill('');
  await message.focus();
  await page.keyboard.type('One');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('Two');
  await page.keyboard.press('Enter');
  await page.locator('.turn .pill.done').waitFor();
  assert.equal(await page.locator('.asked').textContent(), 'One\nTwo');

  await message.fill(markdown);
  await page.keyboard.press('Enter');
  const prose = page.locator('.turn').nth(1).locator('.prose');
  await page.locator('.turn .pill.done').nth(1).waitFor();
  assert.deepEqual(await prose.locator('li').allTextContents(), ['one', 'two']);
  assert.equal(await prose.locator('li strong').textContent(), 'two');
  assert.deepEqual(await prose.locator('tbody td').allTextContents(), ['boat', '4']);
  assert.deepEqual(
    await prose.locator('a').evaluateAll((all) => all.map((link) => link.outerHTML)),
    ['<a href="https://example.com/docs" target="_blank" rel="noopener noreferrer">docs</a>'],
  );
  assert.equal(await prose.locator('pre .hljs-keyword').textContent(), 'const');
  assert.equal(await prose.locator('pre').textContent(), "const paid = 'once';");
  assert.equal(await prose.locator('img').count(), 0);
  assert.match((await prose.textContent()) ?? '', /<img src=x onerror=alert\(1\)>/);
  await visit.shot('chat-markdown', true);

  const first = page.locator('.turn').first();
  await first.locator('.answered').getByRole('button', { name: 'Copy' }).click();
  const answer = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(answer, /^You said: "One/);
  await first.locator('.sent').getByRole('button', { name: 'Copy' }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'One\nTwo');

  const last = page.locator('.turn').nth(1);
  await last.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Edited message').fill('Three');
  await visit.press('Send again');
  await page.getByText('You said: "Three"').waitFor();
  assert.equal(await page.locator('.turn').count(), 2);
  await page.locator('.turn .pill.done').nth(1).waitFor();
  await first.getByRole('button', { name: 'Retry' }).click();
  await page.waitForFunction(() => document.querySelectorAll('.turn').length === 1);
  await page.locator('.turn .pill.done').waitFor();
  assert.equal(await page.locator('.asked').textContent(), 'One\nTwo');
  // Every call that was replaced is still in the list.
  await visit.go('Requests');
  const all = page.locator('.log-line', { hasText: 'Chat', hasNotText: 'fault' });
  assert.equal(await all.count(), 4);
  await visit.go('Chat');
  await visit.press('New conversation');
}

/** Presets, and a link that opens the same settings in another tab. */
async function checkSettings(visit: Visit, browser: Browser, url: string): Promise<void> {
  const { page } = visit;
  await visit.go('Chat');
  // The panel still has both models of before the reload.
  await page.getByRole('button', { name: 'Remove model 2' }).click();
  await page.getByLabel('Preset').selectOption('Short answers');
  await page.locator('.settings > summary').click();
  const system = page.getByLabel('System prompt');
  assert.equal(await system.inputValue(), 'Answer in one or two sentences.');
  await system.fill('Answer in Latin.');
  await page.getByLabel('Model', { exact: false }).first().fill('m-flash');
  await visit.press('Save preset');
  await page.getByLabel('Name of the preset').fill('Latin');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Delete preset' }).waitFor();
  await visit.press('Copy link');
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(link, /#\/chat\?models=m-flash&settings=/);
  assert.doesNotMatch(link, /sk-|token/);
  await page.getByLabel('Preset').selectOption('Short answers');
  await page.getByLabel('Preset').selectOption('Latin');
  assert.equal(await system.inputValue(), 'Answer in Latin.');
  await visit.press('Delete preset');
  assert.equal(await page.getByLabel('Preset').getByText('Latin').count(), 0);
  await page.getByLabel('Preset').selectOption('Short answers');
  await system.fill('');
  await page.getByLabel('Model', { exact: false }).first().fill('m-large');

  // A new tab has no token yet, so it opens the link after the address from the terminal.
  const other = await browser.newContext();
  const tab = await other.newPage();
  await tab.goto(link);
  await tab.getByText('Open the address from the terminal').waitFor();
  await tab.goto('about:blank');
  await tab.goto(url);
  await tab.getByRole('heading', { name: 'Chat' }).waitFor();
  await tab.locator('.settings > summary').click();
  assert.equal(await tab.getByLabel('System prompt').inputValue(), 'Answer in Latin.');
  assert.equal(await tab.getByLabel('Model', { exact: false }).first().inputValue(), 'm-flash');
  assert.doesNotMatch(tab.url(), /settings=|token=/);
  await other.close();
}

/** Buttons have an outline or a background that differs from the card. */
async function checkButtons(visit: Visit): Promise<string[]> {
  return visit.page.locator('main :is(button, .button)').evaluateAll((all) =>
    all
      .filter((button) => {
        const { borderTopColor, borderTopWidth } = getComputedStyle(button);
        const isLine = button.matches('.log-line');
        return !isLine && (borderTopWidth === '0px' || borderTopColor.endsWith(', 0)'));
      })
      .map((button) => button.textContent ?? ''),
  );
}

/** The shares of the page's height that the composer takes while it is empty, and with a long text. */
async function composerShares(visit: Visit): Promise<{ empty: number; long: number }> {
  const field = visit.page.getByLabel('Message', { exact: false });
  const measure = (): Promise<number> =>
    visit.page
      .locator('.composer')
      .evaluate((form) => form.getBoundingClientRect().height / innerHeight);
  const empty = await measure();
  await field.fill('A line\n'.repeat(40));
  const long = await measure();
  await field.fill('');
  return { empty, long };
}

async function checkChat(visit: Visit): Promise<void> {
  const { page } = visit;
  await visit.go('Chat');
  await visit.shot('chat-empty');
  await visit.press('+ Compare');
  assert.match(page.url(), /models=m-large%2Cm-reasoning/);
  await page.getByLabel('Message').fill('Why does light bend?');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelectorAll('.turn .pill.done').length === 2);
  const [first, second] = await page.locator('.column').allTextContents();
  assert.match(first ?? '', /You said: "Why does light bend\?" This is the answer of m-large\./);
  assert.match(
    first ?? '',
    /complete.*1 charge, \$.*first token\d+ ms.*tokens\/s\d+.*tokens\d+ in, \d+ out/,
  );
  assert.match(second ?? '', /Reasoning.*I repeat them/);
  await visit.shot('chat');

  await page.locator('.settings > summary').click();
  await page.getByLabel('Offer tools').check();
  await page.getByLabel('Message').fill('And the weather?');
  await visit.press('Send');
  const answers = page.getByPlaceholder('the result of the tool');
  await answers.nth(1).waitFor();
  await answers.first().fill('Rain');
  const turns = await page.locator('.column').first().locator('.turn').count();
  await page.getByRole('button', { name: 'Send results' }).first().dblclick();
  await page.getByText('get_weather says: Rain').waitFor();
  assert.equal(await page.locator('.column').first().locator('.turn').count(), turns + 1);
  await page.getByLabel('Offer tools').uncheck();
  await page.locator('.settings > summary').click();

  await page.getByLabel('Images').setInputFiles({
    name: 'dot.png',
    mimeType: 'image/png',
    buffer: Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
      'base64',
    ),
  });
  await page.getByLabel('Message').fill('What is this?');
  await visit.press('Send');
  await page
    .getByText(/You sent a PNG image/)
    .first()
    .waitFor();

  await page.getByLabel('Fault').selectOption('no-finish');
  await page.getByLabel('Message').fill('Once more');
  await visit.press('Send');
  await page.locator('.turn').getByText('StreamTruncatedError').first().waitFor();
  await page.getByLabel('Fault').selectOption('');
  await page.getByLabel('Message').fill('[long]');
  await visit.press('Send');
  await page.getByText('This sentence is one of many').first().waitFor();
  await visit.press('Stop');
  await page.locator('.turn .pill', { hasText: 'stopped' }).first().waitFor();

  await checkFailure(visit);
  await checkBar(visit);

  await page.reload();
  await page.getByText('get_weather says: Rain').waitFor();
  assert.match(page.url(), /#\/chat\?models=/);
}

/** Sends a message whose stream is cut: its error, its charge and Retry can be read above the composer. */
async function checkFailure(visit: Visit): Promise<void> {
  const { page } = visit;
  await page.getByLabel('Fault').selectOption('cut-stream');
  await page.getByLabel('Message', { exact: false }).fill('Will this be cut?');
  await page.keyboard.press('Enter');
  const last = page.locator('.turn:last-child').first();
  const problem = last.locator('.problem');
  await problem.waitFor();
  await last.locator('.coin').waitFor();
  await page.waitForFunction(() => {
    const ends = [...document.querySelectorAll('.turn:last-child .turn-end')];
    const { top = 0 } = document.querySelector('.composer')?.getBoundingClientRect() ?? {};
    return ends.every((end) => end.getBoundingClientRect().bottom <= top);
  });
  const text = (await problem.textContent()) ?? '';
  assert.match(text, /The call was probably charged.*Request \w+/);
  assert.doesNotMatch(text, /onTruncated|partial/);
  await page.getByLabel('Fault').selectOption('');
}

/** The models and the settings stay in sight in a long conversation. */
async function checkBar(visit: Visit): Promise<void> {
  const { page } = visit;
  const { scrollY: scrolled, top } = await page.evaluate(() => ({
    scrollY,
    top: document.querySelector('.chat-bar')?.getBoundingClientRect().top,
  }));
  assert.ok(scrolled > 200, `the page is scrolled by ${scrolled}`);
  assert.equal(top, 0);
  await page.locator('.settings > summary').click();
  const system = await page.getByLabel('System prompt').boundingBox();
  assert.ok(system !== null && system.y > 0, 'settings open where they are pressed');
  await page.locator('.settings > summary').click();
}

/** Sends a message on a phone, leaves the panel and comes back: the newest answer can be read each time. */
async function checkPhone(visit: Visit): Promise<void> {
  const { page } = visit;
  const isReadable = async (): Promise<void> => {
    await page.waitForFunction(() => {
      const answer = document.querySelector('.turn:last-child .prose')?.getBoundingClientRect();
      const composer = document.querySelector('.composer')?.getBoundingClientRect();
      return answer && composer && answer.top >= 0 && answer.bottom <= composer.top;
    });
  };
  await visit.go('Chat');
  await visit.press('New conversation');
  for (const text of ['What is a tide?', 'And a wave?', 'And a current?']) {
    await page.getByLabel('Message', { exact: false }).fill(text);
    await page.keyboard.press('Enter');
    await page.getByText(`You said: "${text}"`).waitFor();
    await isReadable();
  }
  await visit.shot('phone-conversation');
  await checkFailure(visit);
  await visit.shot('phone-failure');
  const images = page.getByLabel('Images');
  await images.setInputFiles({
    name: 'a-rather-long-name-of-a-picture.png',
    mimeType: 'image/png',
    buffer: Buffer.from('not read before it is sent'),
  });
  await page.locator('.composer').getByRole('button', { name: 'Remove' }).waitFor();
  const cut = await page
    .locator('.composer')
    .evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
  assert.equal(cut, 0, 'the composer shows everything when a file is chosen');
  await page.locator('.composer').getByRole('button', { name: 'Remove' }).click();
  await visit.go('Speech');
  assert.equal(await page.evaluate(() => scrollY), 0);
  await visit.go('Chat');
  await isReadable();
  await visit.press('New conversation');
}

async function checkImages(visit: Visit): Promise<void> {
  const { page } = visit;
  await visit.go('Images');
  await visit.shot('images-empty');
  await page.getByLabel('Prompt').fill('A lighthouse at dusk');
  await visit.press('Create an image');
  await page.locator('figure img').first().waitFor();
  assert.equal(await newestPill(visit), 'done');
  await page.getByRole('button', { name: 'Edit', exact: true }).first().click();
  const canvas = page.locator('canvas');
  await canvas.waitFor();
  await page.waitForFunction(() => (document.querySelector('canvas')?.width ?? 0) > 300);
  const box = await canvas.boundingBox();
  assert.ok(box);
  await page.mouse.move(box.x + 60, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 180, box.y + 120, { steps: 6 });
  await page.mouse.up();
  await canvas.focus();
  for (const key of ['ArrowDown', 'ArrowRight', ' ']) await page.keyboard.press(key);
  await page.getByText('The marked area may change.').waitFor();
  await page.getByLabel('What to paint instead').fill('A boat');
  await visit.shot('images-mask', true);
  await visit.press('Edit the image');
  await page.waitForFunction(() => document.querySelectorAll('figure img').length === 2);
  await visit.go('Requests');
  await page.locator('.log-line').first().click();
  const code = (await page.locator('.detail pre').textContent()) ?? '';
  assert.match(code, /client\.images\.edit\(/);
  assert.match(code, /mask: await fileFromPath\('mask\.png'\)/);
}

async function checkSound(visit: Visit): Promise<void> {
  const { page } = visit;
  await visit.go('Speech');
  await page.getByRole('textbox', { name: /^Text\b/ }).fill('Light takes the path of least time.');
  await visit.press('Speak');
  await page.waitForFunction(() => {
    const { readyState, duration } = document.querySelector('audio') ?? {};
    return (readyState ?? 0) > 0 && Number(duration) > 0.5;
  });
  await visit.shot('speech');
  const saved = page.waitForEvent('download');
  await page.getByRole('link', { name: /^Save/ }).click();
  const file = await (await saved).path();

  const recording = { name: 'speech.mp3', mimeType: 'audio/mpeg', buffer: readFileSync(file) };
  await visit.go('Transcription');
  await page.getByLabel('Audio').setInputFiles(recording);
  await page.getByLabel('Preset').selectOption('Subtitles');
  await visit.press('Transcribe');
  assert.equal(await newestPill(visit), 'done');
  const transcript = (await page.locator('.transcript').textContent()) ?? '';
  assert.match(transcript, /-->[^]*Light takes the path of least time\./);
  await visit.shot('transcription');

  await visit.go('Translation');
  await visit.shot('translation-empty');
  await page.getByLabel('Audio').setInputFiles(recording);
  await visit.press('Translate');
  assert.equal(await newestPill(visit), 'done');
  await page.locator('.result .transcript').first().waitFor();
  await visit.press('Record');
  await page.getByRole('button', { name: /Stop after 1/ }).click();
  await page.locator('.drop', { hasText: 'recording.' }).waitFor();
  await visit.press('Translate');
  await page.waitForFunction(() => document.querySelectorAll('.result .pill.done').length === 2);
  await visit.shot('translation');
}

/** Long names of files do not make a panel wider than a phone. */
async function checkNames(visit: Visit): Promise<void> {
  const { page } = visit;
  const buffer = Buffer.from('not read before it is sent');
  for (const [panel, label, mimeType, number] of [
    ['Translation', 'Audio', 'audio/wav', 1],
    ['Images', 'Edit images', 'image/png', 2],
    ['Video', 'First frame', 'image/png', 1],
    ['Chat', 'Images', 'image/png', 2],
  ] as const) {
    await visit.go(panel);
    const files = Array.from({ length: number }, (_, index) => {
      const name = `${index}-a-rather-long-name-of-a-recording-or-a-picture.${mimeType.slice(-3)}`;
      return { name, mimeType, buffer };
    });
    await page.getByLabel(label).setInputFiles(files);
    const remove = page.getByRole('button', { name: /^Remove \d-a/ });
    await remove.nth(number - 1).waitFor();
    const edges = await page
      .locator('main, main form.card, .drop, .chosen-file')
      .evaluateAll((all) => all.map((item) => item.getBoundingClientRect().right));
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(Math.max(width, ...edges) <= 360, `${panel}: ${Math.max(width, ...edges)} pixels`);
    await visit.shot(`phone-files-${panel.toLowerCase()}`);
    while ((await remove.count()) > 0) await remove.first().click();
  }
}

/** By keyboard alone: to the panel, to a fault, and press it. */
async function checkKeyboard(visit: Visit): Promise<void> {
  const { page } = visit;
  await visit.go('Charges');
  await page.getByRole('link', { name: 'Skip to the panel' }).focus();
  await page.keyboard.press('Enter');
  const seen: string[] = [];
  for (let step = 0; step < 30 && !seen.at(-1)?.startsWith('429'); step += 1) {
    await page.keyboard.press('Tab');
    seen.push(await page.evaluate(() => document.activeElement?.textContent ?? ''));
    const isRinged = await page.evaluate(() => document.activeElement?.matches(':focus-visible'));
    assert.ok(isRinged, `what has the focus shows it: ${seen.at(-1)}`);
  }
  assert.match(seen.at(-1) ?? '', /^429 with Retry-After/);
  await page.keyboard.press('Enter');
  await page.locator('.outcome', { hasText: '429 with Retry-After' }).waitFor();
  await page.locator('.lesson', { hasText: /\w/ }).waitFor();
  await page
    .locator('.side-of.own')
    .getByText('After 2 requests, the caller receives the answer.')
    .waitFor();
}

/** Files that are too large and invalid parameters show an error, and nothing is sent. */
async function checkBadInput(visit: Visit): Promise<void> {
  const { page } = visit;
  const charged = async (): Promise<string> =>
    (await page.locator('.account-host').textContent()) ?? '';
  const before = await charged();
  await visit.go('Translation');
  const huge = join(tmpdir(), `playground-huge-${process.pid}.mp3`);
  writeFileSync(huge, Buffer.alloc(65 * 1024 * 1024));
  try {
    await page.getByLabel('Audio').setInputFiles(huge);
    await page.getByText('Larger than the 64 MiB').waitFor();
    await visit.press('Translate');
    await page.locator('.problem', { hasText: 'Nothing was sent. Choose smaller ones.' }).waitFor();
  } finally {
    rmSync(huge);
  }
  await visit.go('Images');
  await page.getByLabel('Model').fill('missing-model');
  await page.getByLabel('Prompt').fill('A boat');
  await visit.press('Create an image');
  await page.locator('.result .problem.rejected', { hasText: 'missing-model' }).first().waitFor();
  await page.getByLabel('Model').fill('m-image');
  await visit.go('Chat');
  await page.locator('.settings > summary').click();
  await page.getByLabel('Offer tools').check();
  await page.getByLabel('Tools', { exact: false }).last().fill('{');
  await page.getByLabel('Message').fill('Hi');
  await visit.press('Send');
  await page.locator('.problem', { hasText: 'must be a JSON array' }).waitFor();
  await page.getByLabel('Offer tools').uncheck();
  await page.getByLabel('Message').fill('');
  assert.equal(await charged(), before);
}

async function checkEmbeddings(visit: Visit): Promise<void> {
  const { page } = visit;
  await visit.go('Embeddings');
  await visit.press('Compare 5 texts');
  await page.locator('.heat').waitFor();
  assert.match(
    (await page.locator('.result').textContent()) ?? '',
    /Most similar: “(How do I reset my password\?” and “I forgot my password|Where is my order\?” and “My order)/,
  );
  await visit.shot('embeddings');
  await page.getByRole('textbox', { name: /^Texts/ }).fill('A boat\nA boat\nBread');
  await visit.press('Compare 3 texts');
  await page.getByText('Most similar: “A boat” and “A boat”, 1.00.').waitFor();
  assert.equal(await page.locator('.heat').first().locator('tbody td').count(), 9);
}

async function checkVideo(visit: Visit): Promise<void> {
  const { page } = visit;
  await visit.go('Video');
  await visit.press('Pause');
  await page.getByLabel('Prompt').fill('A paper boat on a quiet lake');
  await visit.press('Create a video');
  await page.getByText(/next check in \d s/).waitFor();
  await visit.shot('video-waiting');
  await page.reload();
  await page.getByText(/next check in \d s/).waitFor();
  for (const _ of [1, 2, 3]) await visit.press('Skip 5 s');
  await visit.shifted();
  await page.waitForFunction(() => (document.querySelector('video')?.readyState ?? 0) > 0);
  const shifted = await visit.shifted();
  assert.ok(shifted < 0.02, `the film moves what is there by ${shifted}`);
  assert.equal(await newestPill(visit), 'done');
  await visit.shot('video', true);
  await page.locator('summary', { hasText: 'Remix' }).first().click();
  await page.getByLabel('What to change').fill('At night');
  // A remix has the price of its first film.
  await page.getByRole('button', { name: 'Remix, about $0.008', exact: true }).dblclick();
  await page.getByText('Remix: At night').waitFor();
  assert.equal(await page.getByText('Remix: At night').count(), 1);
  await visit.press('Continue');
  await visit.press('10× faster');
  await page.waitForFunction(() => document.querySelectorAll('video').length === 2);
}

async function checkRequests(visit: Visit): Promise<void> {
  const { page } = visit;
  await visit.go('Requests');
  const lines = await page.locator('.log-line').count();
  assert.ok(lines > 12, `${lines} calls`);
  await page.locator('.log-line', { hasText: 'Speech' }).first().click();
  await visit.shot('requests');
  assert.match(
    (await page.locator('.attempts').textContent()) ?? '',
    /POST \/v1\/audio\/speech answered 200 \$0\.0000\d/,
  );
  await visit.press('Copy code');
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(copied, /client\.audio\.speech\.create\(\{/);
  await page.getByLabel('curl').check();
  await visit.press('Copy code');
  const curl = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(
    curl,
    /^curl "\$GATEWAY_BASE_URL\/v1\/audio\/speech" \\\n {2}-H "Authorization: Bearer \$GATEWAY_API_KEY"/,
  );
  const whole = await page.evaluate(() => document.documentElement.outerHTML);
  assert.doesNotMatch(copied + curl + whole, /sk-emulator/);
  const saved = page.waitForEvent('download');
  await visit.press('Export');
  const text = readFileSync(await (await saved).path(), 'utf8');
  assert.equal(JSON.parse(text).length, lines);
  await visit.press('Clear');
  await visit.press('Delete all results');
  await page.getByText('No calls yet').waitFor();
}

/** Each panel does its job, faults included, and the page does nothing that it must not. */
export async function checkPanels(
  checks: Checks,
  browser: Browser,
  url: string,
  shots: string,
): Promise<void> {
  const visit = await Visit.open(browser, url, shots);
  checks.describe = () => visit.page.locator('main').innerText();
  await checks.check('charges: one here, and what the other rule pays', () => checkCharges(visit));
  await checks.check('chat: Markdown, copy, retry, edit, keys', () => checkMessages(visit));
  await checks.check('chat: streams, compares, tools, pictures, faults, stop, reload', () =>
    checkChat(visit),
  );
  await checks.check('settings: presets, and a link without the key', () =>
    checkSettings(visit, browser, url),
  );
  await checks.check('images: made, marked by pointer and keyboard, changed', () =>
    checkImages(visit),
  );
  await checks.check('speech, transcription and translation: player, file, microphone', () =>
    checkSound(visit),
  );
  await checks.check('embeddings: a picture of similarity', () => checkEmbeddings(visit));
  await checks.check('video: progress, reload, player, remix', () => checkVideo(visit));
  await checks.check('keyboard: to a fault and its outcome', () => checkKeyboard(visit));
  await checks.check('on a phone, the newest answer is visible, and long names fit', async () => {
    await visit.page.setViewportSize({ width: 375, height: 812 });
    await checkPhone(visit);
    await visit.page.setViewportSize({ width: 360, height: 800 });
    await checkNames(visit);
    await visit.page.setViewportSize({ width: 1280, height: 900 });
  });
  await checks.check('bad input: an error is shown, and nothing is charged', () =>
    checkBadInput(visit),
  );
  await checks.check('accessible: light, dark, phone width', async () => {
    const found: string[] = [];
    for (const [name, colorScheme, width] of [
      ['light', 'light', 1280],
      ['dark', 'dark', 1280],
      ['phone', 'dark', 375],
      ['phone-light', 'light', 375],
    ] as const) {
      await visit.page.emulateMedia({ colorScheme });
      await visit.page.setViewportSize({ width, height: 812 });
      for (const panel of panels) {
        await visit.go(panel);
        await visit.page.waitForTimeout(100);
        await visit.shot(`${name}-${panel.toLowerCase()}`);
        // Colours are those of the wide page.
        if (name !== 'phone-light') {
          found.push(...(await visit.findings()).map((what) => `${name} ${panel}: ${what}`));
        }
        for (const label of await checkButtons(visit)) {
          found.push(`${name} ${panel}: the button ${label} has no outline`);
        }
        if (panel === 'Chat') {
          const { empty, long } = await composerShares(visit);
          if (long > 0.34) found.push(`${name}: the composer takes ${long} of the page`);
          if (empty > (width < 400 ? 0.15 : 0.2)) {
            found.push(`${name}: the empty composer takes ${empty} of the page`);
          }
        }
        if (width < 400) {
          const { height } = (await visit.page.locator('.side').boundingBox()) ?? { height: 812 };
          if (height > 100) found.push(`${name} ${panel}: the menu takes ${height} pixels`);
        }
        const current = visit.page.locator('nav [aria-current=page]');
        const isHidden = await current.evaluate((link) => {
          const { left, right } = link.getBoundingClientRect();
          return left < 0 || right > innerWidth;
        });
        if (isHidden) found.push(`${name} ${panel}: its entry of the menu is hidden`);
        if (await current.evaluate((link) => link.scrollWidth > link.clientWidth)) {
          found.push(`${name} ${panel}: its name is wider than its entry of the menu`);
        }
        const wide = await visit.page.evaluate(() => document.documentElement.scrollWidth);
        if (wide > width) found.push(`${name} ${panel}: is ${wide} pixels wide`);
      }
    }
    nothing(found, 'nothing is found');
    await visit.page.setViewportSize({ width: 1280, height: 900 });
  });
  await checks.check('requests: code, curl, export, clear, and never the key', () =>
    checkRequests(visit),
  );
  await checks.check('no error, no broken policy, no request that leaves the machine', async () => {
    nothing(visit.problems, 'the page behaves');
  });
  await visit.close();
  checks.describe = undefined;
}
