import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { type Checks, nothing } from './check.ts';
import { serve } from './served.ts';
import { Visit } from './visit.ts';

/** Sends a message, and waits for the answers of all models. */
async function say({ page }: Visit, text: string, models: number): Promise<void> {
  await page.getByRole('textbox', { name: /^Message/ }).fill(text);
  await page.keyboard.press('Enter');
  const answered = page.locator('.turn').filter({ has: page.locator('.asked', { hasText: text }) });
  await answered
    .locator('.pill.done')
    .nth(models - 1)
    .waitFor();
}

async function checkConversations(visit: Visit): Promise<void> {
  const { page } = visit;
  const list = page.locator('.conversations');
  const items = list.locator('li button');
  await visit.go('Chat');
  await say(visit, 'First', 1);
  await visit.press('New conversation');
  await visit.press('+ Compare');
  await say(visit, 'قارب ورقي', 2);
  await say(visit, 'And then?', 2);

  await list.locator('summary').click();
  assert.match((await items.allTextContents()).join(), /^قارب ورقي2 messages, .*,First1 message, /);
  assert.equal(await items.first().getAttribute('aria-current'), 'true');
  await items.nth(1).click();
  assert.deepEqual(await page.locator('.asked').allTextContents(), ['First']);
  assert.equal(await page.locator('.column').count(), 1);
  assert.match(
    await list.locator('summary').evaluate(() => document.activeElement?.textContent ?? ''),
    /^Conversations/,
  );

  await list.locator('summary').click();
  await items.first().click();
  assert.equal(await page.locator('.column').count(), 2, 'opened with both models');
  assert.equal(await page.locator('.turn').count(), 4);

  await list.locator('summary').click();
  const saved = page.waitForEvent('download');
  await list.getByRole('button', { name: 'Export this conversation' }).click();
  const columns = JSON.parse(readFileSync(await (await saved).path(), 'utf8'));
  assert.deepEqual(
    columns.map(({ model, messages }: { model: string; messages: { role: string }[] }) => [
      model,
      messages.map(({ role }) => role).join(),
    ]),
    ['m-large', 'm-reasoning'].map((model) => [model, 'user,assistant,user,assistant']),
  );
  await page.keyboard.press('Escape');

  // Of the conversations, only the id of the open one is stored in the browser.
  const stored = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]));
  assert.doesNotMatch(stored, /First|And then|You said/);
  await page.reload();
  await page.locator('.conversations > summary', { hasText: 'Conversations (2)' }).waitFor();
  await visit.go('Requests');
  await visit.go('Chat');
  assert.equal(await page.locator('.turn').count(), 4, 'the panel keeps its models');
}

/** Escape closes what is open first: a list, an editor. Only then does it stop the calls. */
async function checkEscape(visit: Visit): Promise<void> {
  const { page } = visit;
  const last = page.locator('.turn').last();
  await visit.go('Chat');
  await visit.press('New conversation');
  await say(visit, 'Before', 2);
  await page.getByRole('textbox', { name: /^Message/ }).fill('[long]');
  await page.keyboard.press('Enter');
  await last.locator('.pill.running').waitFor();
  await page.locator('.conversations > summary').click();
  await page.locator('.conversation-list').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('.conversation-list').waitFor({ state: 'hidden' });
  await page.locator('.turn').first().getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Edited message').focus();
  await page.keyboard.press('Escape');
  await page.getByLabel('Edited message').waitFor({ state: 'hidden' });
  assert.equal(await page.locator('.pill.running').count(), 2, 'both are still running');
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => document.querySelectorAll('.pill.running').length === 0);
  await page
    .getByRole('textbox', { name: /^Message/ })
    .and(page.locator(':focus'))
    .waitFor();
}

/** The code below a form follows its settings, in both languages. */
async function checkCode(visit: Visit): Promise<void> {
  const { page } = visit;
  const code = page.locator('form .call-code pre');
  const shows = (text: string): Promise<void> => code.filter({ hasText: text }).waitFor();
  await visit.go('Images');
  await page.getByLabel('Prompt').fill('A boat');
  await page.locator('form').getByText('Code for these settings').click();
  await shows("prompt: 'A boat'");
  await page.getByLabel('Size').selectOption('1536x1024');
  await shows("size: '1536x1024'");
  await page.getByLabel('curl').check();
  await shows('"size": "1536x1024"');
  await page.getByRole('combobox', { name: 'Images', exact: true }).selectOption('2');
  await shows('"n": 2');
  await page.getByLabel('Edit images').setInputFiles({
    name: 'boat.png',
    mimeType: 'image/png',
    buffer: Buffer.from('Not read before it is sent'),
  });
  await shows("-F 'image=@boat.png'");
  await shows('/v1/images/edits');
  await page.getByLabel('TypeScript').check();
  await shows("image: await fileFromPath('boat.png')");
  await page.getByRole('button', { name: 'Remove boat.png' }).click();
  await shows('client.images.generate');

  await visit.press('Create an image');
  const result = page.locator('.result').first();
  await result.locator('img').first().waitFor();
  await result.getByText('Code', { exact: true }).click();
  await page.getByLabel('Size').selectOption('512x512');
  await shows("size: '512x512'");
  assert.match((await result.locator('pre').textContent()) ?? '', /size: '1536x1024'/);

  await visit.go('Chat');
  await page.locator('.settings > summary').click();
  await page.locator('.settings').getByText('Code for these settings').click();
  await page.getByLabel('Temperature').fill('0.5');
  await page.locator('.settings pre', { hasText: 'temperature: 0.5' }).waitFor();
  await page.getByLabel('Temperature').fill('');
}

/** The list of requests has the answers. */
async function checkAnswers(visit: Visit): Promise<void> {
  const { page } = visit;
  await visit.go('Requests');
  await page.locator('.log-line', { hasText: 'Image' }).first().click();
  assert.equal(await page.getByRole('region', { name: 'Answer' }).locator('.picture').count(), 2);
  await page.getByRole('region', { name: 'Answer' }).locator('img').nth(1).waitFor();
  const chat = page.locator('.log-line', { hasText: 'Chat', hasNotText: 'stopped' }).last();
  await chat.click();
  const answer = await page.getByRole('region', { name: 'Answer' }).textContent();
  assert.match(answer ?? '', /^You said: "First"/);
}

/** Conversations, answers and code: what can be found again, and how. */
export async function checkLists(checks: Checks, browser: Browser, shots: string): Promise<void> {
  const served = await serve(['--port', '0', '--emulator']);
  const visit = await Visit.open(browser, served.url, shots);
  checks.describe = () => visit.page.locator('main').innerText();
  try {
    await checks.check('conversations: listed, opened with their models, and exported', () =>
      checkConversations(visit),
    );
    await checks.check('Escape closes a list or an editor before it stops a call', () =>
      checkEscape(visit),
    );
    await checks.check(
      'code below a form changes with its settings, that of a result does not',
      () => checkCode(visit),
    );
    await checks.check('requests show the answers of their calls', () => checkAnswers(visit));
    nothing(visit.problems, 'the page behaves');
  } finally {
    checks.describe = undefined;
    await visit.close();
    await served.end();
  }
}
