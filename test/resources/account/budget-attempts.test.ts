import { describe, expect, test } from 'vitest';
import { BudgetError, type Gateway } from '../../../src/index.ts';
import type { Fault } from '../../../src/testing/index.ts';
import { emulated, failureOf } from '../../helpers/clients.ts';
import { fakeWaitingTime, settle } from '../../helpers/fake-time.ts';

const params = { model: 'm-image', prompt: 'A red circle' };
/** The emulator's price of an image. */
const price = 0.002;
const header = 'Idempotency-Key';
const timedOut: Fault = { type: 'error', status: 504, charged: true };

/** Fails three of four attempts, and makes calls until the budget ends. */
async function spendAll(client: Gateway, fail: (times: number) => void): Promise<number> {
  for (let calls = 0; calls < 20; calls += 1) {
    fail(3);
    const { error } = await settle(client.images.generate(params));
    if (BudgetError.isInstance(error)) return calls;
  }
  throw new Error('The budget never ended.');
}

describe('the attempts of a call', () => {
  fakeWaitingTime();

  test('each count in a budget, although they have the same idempotency key', async () => {
    const budget = { limit: 5 * price };
    const { client, emulator } = emulated({ budget, idempotency: { header }, maxRetries: 3 });

    const calls = await spendAll(client, (times) =>
      emulator.fail({ fault: timedOut, operation: 'images.generate', times }),
    );

    expect(calls).toBe(2);
    expect(emulator.charges).toHaveLength(8);
    const { budget: state } = await client.account.spent();
    expect(state?.spent).toBeCloseTo(8 * price, 9);
  });

  test('count once if the gateway honours the key', async () => {
    const budget = { limit: 5 * price };
    const idempotency = { header, honored: true };
    const { client, emulator } = emulated({ budget, idempotency, maxRetries: 3 });

    const calls = await spendAll(client, (times) =>
      emulator.fail({ fault: timedOut, operation: 'images.generate', times }),
    );

    expect(calls).toBe(5);
  });

  test('include a task that failed after a lost attempt', async () => {
    const { client, emulator } = emulated(
      { budget: { limit: 1 }, retryUnknownOutcome: true },
      { quirks: { imageTasks: 'list' } },
    );
    emulator.fail({ fault: timedOut, operation: 'images.generate', times: 1 });

    const { error } = await settle(
      client.images.generate({ ...params, prompt: '[fail] A circle' }),
    );

    expect(error).toMatchObject({ name: 'ImageFailedError' });
    expect(emulator.charges).toHaveLength(2);
    expect((await client.account.spent()).budget?.spent).toBeCloseTo(2 * price, 9);
  });

  test('honored must be a boolean', async () => {
    const { client } = emulated();
    const options = { idempotency: { header, honored: 'yes' } };

    const error = await failureOf(
      // @ts-expect-error -- JavaScript can pass any value
      Promise.resolve().then(async () => client.images.generate(params, options)),
    );

    expect(error).toMatchObject({ name: 'InvalidInputError', field: 'idempotency.honored' });
  });
});
