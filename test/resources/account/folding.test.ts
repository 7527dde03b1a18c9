import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { findCalls } from '../../../src/resources/account/calls.ts';
import type { Gateway } from '../../../src/index.ts';
import { emulated, failureOf, json, scripted } from '../../helpers/clients.ts';
import { untyped } from '../../helpers/untyped.ts';

// Nine thousand calls take half a minute on a busy machine.
vi.setConfig({ testTimeout: 300_000 });

const image = { model: 'm-image', prompt: 'A boat', size: '64x64' };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Makes a number of calls; the older ones are then forgotten. */
async function makeMany(client: Gateway): Promise<void> {
  for (let made = 0; made < 3_000; made += 100) {
    await Promise.allSettled(Array.from({ length: 100 }, () => client.images.generate(image)));
  }
  const calls = findCalls(client.transport());
  await vi.waitFor(() => expect(calls.records.length).toBeLessThan(2_000), { timeout: 10_000 });
}

test.each([true, false])(
  'counts all calls when the oldest are forgotten; responses have request ids: %j',
  async (requestIdHeader) => {
    const { client, emulator } = emulated({ maxRetries: 0 }, { quirks: { requestIdHeader } });
    emulator.fail({ fault: { type: 'cut', bytes: 5 } });
    const forgotten = await failureOf(client.images.generate(image));
    await makeMany(client);
    emulator.fail({ fault: { type: 'cut', bytes: 5 } });
    const error = await failureOf(client.images.generate(image));
    vi.advanceTimersByTime(70_000);

    const verdict = requestIdHeader ? 'charged' : 'unknowable';
    expect(await client.account.settle(untyped(error))).toMatchObject({ verdict });
    // Its entry is not among the newest any more.
    expect(await client.account.settle(untyped(forgotten))).toMatchObject({
      verdict: 'unknowable',
    });
    const { lines } = await client.account.spent();
    expect(lines).toMatchObject([{ calls: 3_000, unknown: 2 }]);
  },
);

test('counts a call that ends after its record was dropped', async () => {
  let respond: ((response: Response) => void) | undefined;
  const slow = new Promise<Response>((resolve) => {
    respond = resolve;
  });
  const picture = json({ data: [{ url: 'https://pictures.test/a.png' }] });
  const { client } = scripted([() => slow, picture]);
  const first = client.images.generate({ ...image, model: 'm-slow' });
  await makeMany(client);
  expect(await client.account.spent()).toMatchObject({ lines: [{ model: 'm-image' }] });

  respond?.(Response.json({ data: [{ url: 'https://pictures.test/b.png' }] }));
  await first;

  const { lines } = await client.account.spent();
  expect(lines).toMatchObject([
    { model: 'm-image', calls: 3_000 },
    { model: 'm-slow', calls: 1 },
  ]);
});

test('does not keep a record of each call', async () => {
  const { client } = scripted([json({ data: [{ url: 'https://pictures.test/a.png' }] })]);
  for (let round = 0; round < 3; round += 1) await makeMany(client);

  expect(findCalls(client.transport()).records.length).toBeLessThan(3_000);
  expect((await client.account.spent()).lines).toMatchObject([{ calls: 9_000 }]);
});

test('counts the usage that was received, whatever the caller does with the result', async () => {
  const { client } = emulated();
  const { usage } = await client.chat.completions.create({
    model: 'm-large',
    messages: [{ role: 'user', content: 'Hello' }],
  });
  const received = { input: usage?.prompt_tokens, output: usage?.completion_tokens };
  Object.assign(usage ?? {}, { prompt_tokens: 1e6, prompt_tokens_details: null });

  const { lines } = await client.account.spent();

  expect(lines).toMatchObject([{ tokens: received }]);
});
