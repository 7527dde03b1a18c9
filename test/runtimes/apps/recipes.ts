import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import type { Checks } from '../playground/check.ts';
import type { Running } from './servers.ts';
import { until, Visit } from './visit.ts';

/** A refusal whose words concern the visitor. */
const refused = {
  type: 'error',
  status: 400,
  code: 'content_policy_violation',
  message: 'Your prompt was refused by our safety system.',
} as const;

/** Has a page use the server of a recipe, as a person does. */
export async function checkRecipe(
  checks: Checks,
  browser: Browser,
  { url, emulator }: Running,
  { name, baseURL = '/api' }: { readonly name: string; readonly baseURL?: string },
): Promise<void> {
  const visit = await Visit.open(browser, url);
  await visit.use(null, baseURL);

  /** Requests of the page, requests at the gateway, and charges. */
  const counted = (): object => ({
    asked: visit.asked.length,
    requests: emulator.requests.length,
    charges: emulator.charges.length,
  });
  const check = (what: string, run: () => Promise<void>): Promise<void> =>
    checks.check(`${name}: ${what}`, async () => {
      emulator.reset();
      visit.asked.length = 0;
      await run();
    });

  await check(
    'a chat is shown as it comes, with the model and the limits of the server',
    async () => {
      const { value } = await visit.call('chat');
      assert.ok(typeof value === 'string' && value.length > 0);
      assert.equal(await visit.shown(), value.trim());
      assert.deepEqual(counted(), { asked: 1, requests: 1, charges: 1 });
      const [request] = emulator.requests;
      assert.equal(request?.hasKey, true);
      const { body } = request;
      assert.partialDeepStrictEqual(body, { value: { model: 'gpt-4o-mini', max_tokens: 1_000 } });
    },
  );

  await check('who stops a chat stops it at the gateway', async () => {
    emulator.fail({ fault: { type: 'stall-events', after: 3 } });
    const chat = visit.call('chat');
    const shown = visit.page.locator('output').nth(1);
    await shown.filter({ hasText: /\w/ }).waitFor();
    await visit.stop();
    assert.equal((await chat).error, 'APIUserAbortError');
    await until(
      'the gateway has lost its reader',
      () => emulator.requests[0]?.disconnected === true,
    );
    assert.deepEqual(counted(), { asked: 1, requests: 1, charges: 1 });
  });

  await check('who stops before there is an answer stops it at the gateway', async () => {
    emulator.fail({ fault: { type: 'hang' } });
    const answer = visit.call('whole');
    await until('the gateway is asked', () => emulator.requests.length === 1);
    await visit.stop();
    assert.equal((await answer).error, 'APIUserAbortError');
    await until(
      'the gateway has lost its reader',
      () => emulator.requests[0]?.disconnected === true,
    );
    assert.deepEqual(counted(), { asked: 1, requests: 1, charges: 0 });
  });

  await check('a chat that ends early is shown as incomplete', async () => {
    emulator.fail({ fault: { type: 'no-finish', after: 3, done: false } });
    assert.equal((await visit.call('chat')).error, 'StreamTruncatedError');
    assert.notEqual(await visit.shown(), '');
    assert.deepEqual(counted(), { asked: 1, requests: 1, charges: 1 });
  });

  await check('what is cut on its way from the gateway never looks whole', async () => {
    // More often than it is requested: bytes before the cut may be lost with it.
    emulator.fail({ fault: { type: 'cut-events', after: 3 }, times: 50 });
    assert.equal((await visit.call('chat')).value, undefined);
    emulator.reset();
    emulator.fail({ fault: { type: 'cut', bytes: 600 }, times: 50 });
    assert.equal((await visit.call('speak', 'Hello')).value, undefined);
  });

  await check('a refusal shows the gateway’s message', async () => {
    emulator.fail({ fault: refused });
    const told = await visit.call('draw', 'A boat');
    assert.equal(told.error, 'BadRequestError');
    assert.ok(String(told.said).startsWith(refused.message), String(told.said));
    assert.equal(told.outcome, 'rejected');
    assert.deepEqual(counted(), { asked: 1, requests: 1, charges: 0 });
  });

  await check('the server hides its own failures and repeats them itself', async () => {
    const soon = { 'retry-after-ms': '1' };
    const fault = { type: 'error', status: 500, message: `Wrong: ${emulator.apiKey}` } as const;
    emulator.fail({ fault: { ...fault, headers: soon }, times: 3 });
    const told = await visit.call('whole');
    assert.equal(told.said, 'Please try again later.');
    assert.deepEqual(counted(), { asked: 1, requests: 3, charges: 0 });
  });

  await check('a picture that may be charged is asked for once', async () => {
    emulator.fail({ fault: { type: 'reset', when: 'after-charge' } });
    const told = await visit.call('draw', 'A boat');
    assert.equal(told.outcome, 'unknown');
    assert.deepEqual(counted(), { asked: 1, requests: 1, charges: 1 });
  });

  await check('a picture, a picture made of another, and speech arrive', async () => {
    assert.ok(Number((await visit.call('draw', 'A boat')).value) > 0);
    assert.ok(Number((await visit.call('edit', 'A hat')).value) > 0);
    const { value } = await visit.call('speak', 'Hello');
    assert.deepEqual(value, { type: 'audio/mpeg', first: [...Buffer.from('ID3')] });
    assert.deepEqual(counted(), { asked: 3, requests: 3, charges: 3 });
  });

  await check('what is not offered never reaches the gateway', async () => {
    const told = await visit.call('embed', 'Hello');
    assert.equal(told.said, 'This is not offered here.');
    assert.deepEqual(counted(), { asked: 1, requests: 0, charges: 0 });
  });

  await check('the key is in nothing that the page received', async () => {
    const received = await visit.received();
    assert.match(received, /This is not offered here/);
    assert.match(received, /gpt-4o-mini/);
    assert.ok(!received.includes(emulator.apiKey));
  });
  await visit.close();
}
