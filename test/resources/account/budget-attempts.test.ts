import { describe, expect, test, vi } from 'vitest';
import { BudgetError, type Gateway, GatewayError } from '../../../src/index.ts';
import type { Fault } from '../../../src/testing/index.ts';
import { emulated, failureOf } from '../../helpers/clients.ts';
import { fakeWaitingTime, settle } from '../../helpers/fake-time.ts';

const params = { model: 'm-image', prompt: 'A red circle' };
/** The emulator's price of an image. */
const price = 0.002;
const header = 'Idempotency-Key';
const timedOut: Fault = { type: 'error', status: 504, charged: true };

function asError(error: unknown): GatewayError {
  if (!GatewayError.isInstance(error)) throw error;
  return error;
}

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

  test('the attempts of a call count once if the gateway honours the key', async () => {
    const budget = { limit: 5 * price };
    const idempotency = { header, honored: true };
    const { client, emulator } = emulated({ budget, idempotency, maxRetries: 3 });

    const calls = await spendAll(client, (times) =>
      emulator.fail({ fault: timedOut, operation: 'images.generate', times }),
    );

    expect(calls).toBe(5);
  });

  test('the attempts of a call include a task that failed after a lost attempt', async () => {
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

  test('the attempts of a call include a stream that broke off after a lost attempt', async () => {
    const perCall = { 'm-chat': price };
    const { client, emulator } = emulated({
      budget: { limit: 1, perCall },
      retryUnknownOutcome: true,
    });
    const broken: Fault = { type: 'cut-events', after: 1 };
    for (const fault of [timedOut, broken]) {
      emulator.fail({ fault, operation: 'chat.completions.create', times: 1 });
    }
    const messages = [{ role: 'user' as const, content: 'A red circle' }];
    const stream = client.chat.completions.stream({ model: 'm-chat', messages });

    const { error } = await settle(stream.finalMessage());

    expect(error).toMatchObject({ name: 'StreamTruncatedError' });
    expect(emulator.charges).toHaveLength(2);
    expect((await client.account.spent()).budget?.spent).toBeCloseTo(2 * price, 9);
  });

  test('each count after a 500 too, which a gateway may charge', async () => {
    const budget = { limit: 5 * price };
    const { client, emulator } = emulated({ budget, retryUnknownOutcome: true, maxRetries: 3 });

    const calls = await spendAll(client, (times) =>
      emulator.fail({
        fault: { type: 'error', status: 500, charged: true },
        operation: 'images.generate',
        times,
      }),
    );

    expect(calls).toBe(2);
    expect(emulator.charges).toHaveLength(8);
  });

  const failing: Fault = { type: 'error', status: 500 };

  test('the attempts of a call are all released if settle() proves that none was charged', async () => {
    const budget = { limit: 1 };
    const { client, emulator } = emulated(
      { budget, retryUnknownOutcome: true, maxRetries: 1 },
      { quirks: { usageLogErrors: true } },
    );
    emulator.fail({ fault: failing, operation: 'images.generate', times: 2 });
    const { error } = await settle(client.images.generate(params));
    expect((await client.account.spent()).budget?.spent).toBeCloseTo(2 * price, 9);

    await vi.advanceTimersByTimeAsync(10_000);
    const settlement = await client.account.settle(asError(error));

    expect(settlement).toMatchObject({ verdict: 'not_charged', isFinal: true });
    const { budget: state, possible } = await client.account.spent();
    expect(state?.spent).toBeCloseTo(0, 9);
    expect(possible.value).toBe(0);
  });

  test('the attempts of a call stay counted if settle() proves only that the last one was not charged', async () => {
    const { client, emulator } = emulated(
      { budget: { limit: 1 }, retryUnknownOutcome: true, maxRetries: 1 },
      { quirks: { usageLogErrors: true } },
    );
    const lost: Fault = { type: 'reset', when: 'after-charge' };
    for (const fault of [lost, failing]) emulator.fail({ fault, operation: 'images.generate' });
    const { error } = await settle(client.images.generate(params));

    await vi.advanceTimersByTimeAsync(10_000);
    const { verdict } = await client.account.settle(asError(error).evidence.requestId ?? '');

    expect(verdict).toBe('not_charged');
    expect((await client.account.spent()).budget?.spent).toBeCloseTo(price, 9);
    expect((await client.account.spent()).possible.value).toBeCloseTo(price, 9);
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
