import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Gateway } from '../../src/index.ts';
import { emulated, failureOf } from '../helpers/clients.ts';
import { untyped } from '../helpers/untyped.ts';

const image = { model: 'm-image', prompt: 'A boat', size: '64x64' };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Makes so many calls, of which the older ones are then forgotten. */
async function makeMany(client: Gateway): Promise<void> {
  for (let made = 0; made < 3_000; made += 100) {
    await Promise.allSettled(Array.from({ length: 100 }, () => client.images.generate(image)));
  }
  const { calls } = client.transport();
  await vi.waitFor(() => expect(calls.records.length).toBeLessThan(2_000), { timeout: 10_000 });
}

test('the charge of a call that was forgotten is not taken for that of another', async () => {
  const { client, emulator } = emulated({ maxRetries: 0 });
  emulator.fail({ fault: { type: 'reset', when: 'before-charge' } });
  const error = await failureOf(client.images.generate(image));
  await client.images.generate(image);
  emulator.fail({ fault: { type: 'error', status: 400 }, times: 3_000 });

  await makeMany(client);

  expect(emulator.charges).toHaveLength(1);
  const settlement = await client.account.settle(untyped(error));
  expect(settlement).toMatchObject({ verdict: 'unknowable' });
  expect(settlement.why).toContain('too many calls');
});

test.each([true, false])(
  'after many calls others are settled by model and time again, and all are counted; request ids come: %j',
  async (requestIdHeader) => {
    const { client, emulator } = emulated({ maxRetries: 0 }, { quirks: { requestIdHeader } });
    await makeMany(client);
    vi.advanceTimersByTime(70_000);
    emulator.fail({ fault: { type: 'reset', when: 'after-charge' } });

    const error = await failureOf(client.images.generate(image));

    vi.advanceTimersByTime(10_000);
    const settlement = await client.account.settle(untyped(error));
    expect(settlement).toMatchObject({ verdict: 'charged', amount: { value: 1_000 } });
    const { lines } = await client.account.spent();
    expect(lines).toMatchObject([{ calls: 3_000, unknown: 1 }]);
  },
);
