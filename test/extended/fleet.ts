/**
 * Places orders with processes that share a ledger of files, while some are killed, have few descriptors or are another
 * version of this package. Fails if an order is paid twice, or is never sent although nothing was killed.
 *
 *   node test/extended/fleet.ts [--orders 120] [--workers 4] [--kills 0] [--descriptors 60]
 *     [--other FOLDER, a checkout of another version, which every second worker is]
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runFleet } from '../helpers/fleet.ts';

const { values } = parseArgs({
  options: {
    orders: { type: 'string', default: '120' },
    workers: { type: 'string', default: '4' },
    kills: { type: 'string', default: '0' },
    descriptors: { type: 'string' },
    other: { type: 'string' },
  },
});
const begun = performance.now();
const orders = Number(values.orders);
const result = await runFleet({
  orders,
  workers: Number(values.workers),
  kills: Number(values.kills),
  descriptors: values.descriptors === undefined ? undefined : Number(values.descriptors),
  other: values.other && resolve(values.other),
});
const { killed, paid, charges, unsent, lost, wrong } = result;
console.log(orders, result, `${((performance.now() - begun) / 1_000).toFixed(0)} s`);
// A worker works on six orders at a time. Nobody may send again what it was killed with.
const inDoubt = unsent + lost;
const isRight = charges === paid && wrong === 0 && inDoubt <= killed * 6;
process.exitCode = isRight ? 0 : 1;
