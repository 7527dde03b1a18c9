import { describe, expect, test } from 'vitest';
import { emulated, failureOf } from '../helpers/clients.ts';
import { testFaults } from '../helpers/fault-contract.ts';
import { testFencing } from '../helpers/fencing-contract.ts';
import { testInterleavings } from '../helpers/fencing-properties.ts';
import { testLedger } from '../helpers/ledger-contract.ts';
import { ledgerKinds } from './ledgers.ts';

const kinds = ledgerKinds();

for (const { name, make, makeFaulty } of kinds) {
  testLedger(name, make);
  testFencing(name, make);
  testFaults(name, makeFaulty);
  testInterleavings(name, make, 100);
}

describe.each(kinds)('$name', ({ make }) => {
  test('lets another process settle an unknown outcome', async () => {
    const params = { model: 'm-video', prompt: 'A boat', seconds: 4 };
    const setup = { quirks: { usageLogErrors: true, usageLogDelay: 0 } };
    const { client, emulator } = emulated({ maxRetries: 0 }, setup);
    const options = { ledger: await make(), callId: 'job', onUnknown: 'settle' } as const;
    emulator.fail({ fault: { type: 'error', status: 500 }, times: 1 });
    const error = await failureOf(client.videos.create(params, options));

    // It remembers no call of its own.
    const other = emulated({ fetch: emulator.fetch, baseURL: emulator.baseURL }).client;
    const task = await other.videos.create(params, options);

    expect(error).toMatchObject({ outcome: 'unknown' });
    expect(task.status).toBe('queued');
    expect(emulator.charges).toHaveLength(1);
  });
});
