import { testFencing } from '../helpers/fencing-contract.ts';
import { testInterleavings } from '../helpers/fencing-properties.ts';
import { testLedger } from '../helpers/ledger-contract.ts';
import { ledgerKinds } from './ledgers.ts';

for (const { name, make } of ledgerKinds()) {
  testLedger(name, make);
  testFencing(name, make);
  testInterleavings(name, make, 100);
}
