import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fileLedger } from '../../../src/adapters/node/index.ts';
import { memoryLedger } from '../../../src/tasks/ledger.ts';
import type { ListingLedger, SubmitClaim, SubmitLedger } from '../../../src/tasks/ledger.ts';
import { testFaults } from '../../helpers/fault-contract.ts';
import { breakDisk } from '../../helpers/faults.ts';
import { testFencing } from '../../helpers/fencing-contract.ts';
import { testInterleavings } from '../../helpers/fencing-properties.ts';
import { testLedger } from '../../helpers/ledger-contract.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { untyped } from '../../helpers/untyped.ts';
import { emulatedVideos, order } from '../../helpers/videos.ts';
import { failureOf } from '../../helpers/clients.ts';

// Those on PostgreSQL and Redis: test/servers.
const makers: readonly [string, () => Promise<ListingLedger>][] = [
  ['memoryLedger()', async () => memoryLedger()],
  ['fileLedger()', async () => fileLedger(join(await temporaryFolder(), 'ledger'))],
  ['fileLedger() without hard links', async () => (await makeFaulty(false)).own],
];

async function makeFaulty(hasLinks: boolean) {
  const folder = join(await temporaryFolder(), 'ledger');
  const faults = breakDisk(hasLinks);
  return { own: fileLedger(folder), rival: fileLedger(folder), faults };
}

for (const [name, make] of makers) {
  testLedger(name, make);
  testFencing(name, make);
  testInterleavings(name, make, 60);
}

testFaults('fileLedger()', () => makeFaulty(true));
testFaults('fileLedger() without hard links', () => makeFaulty(false));

describe('a ledger of an older version', () => {
  test('a ledger without entry() is rejected before anything is claimed', async () => {
    const { emulator, videos } = emulatedVideos();
    const old = memoryLedger();
    const ledger = { ...old, entry: untyped<SubmitLedger['entry']>(undefined) };

    const error = await failureOf(videos.create(order, { ledger, callId: 'job' }));

    expect(error).toMatchObject({ name: 'InvalidInputError', field: 'ledger' });
    expect(String(error)).toContain('has no method entry()');
    expect(await old.claim('job', 'hash')).toMatchObject({ status: 'claimed' });
    expect(emulator.requests).toHaveLength(0);
  });

  test('a ledger of an older version receives no claim without a callId', async () => {
    const { emulator, videos } = emulatedVideos();
    const claims: unknown[] = [];
    const ledger: SubmitLedger = {
      ...memoryLedger(),
      claim: async (callId) => {
        claims.push(callId);
        return { status: 'claimed', claimId: '1' };
      },
    };

    const error = await failureOf(videos.create(order, { ledger }));

    expect(error).toMatchObject({ name: 'InvalidInputError', field: 'callId' });
    expect(claims).toEqual([]);
    expect(emulator.requests).toHaveLength(0);
  });

  test.each([undefined, null, '', 7])(
    'an older ledger that claims under the id %j submits nothing',
    async (id) => {
      const { emulator, videos } = emulatedVideos();
      const claim = async () => untyped<SubmitClaim>({ status: 'claimed', claimId: id });
      const ledger = { ...memoryLedger(), claim };

      const error = await failureOf(videos.create(order, { ledger, callId: 'job' }));

      expect(error).toMatchObject({ name: 'InvalidInputError', field: 'ledger' });
      expect(String(error)).toContain('{ status: "claimed", claimId }');
      expect(emulator.requests).toHaveLength(0);
    },
  );
});
