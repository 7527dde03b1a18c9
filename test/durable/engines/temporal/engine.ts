import { Client, Connection } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { paramsFor, type Order } from '../../places.ts';

const { RECIPE: folder, TEMPORAL_ADDRESS: address = '' } = process.env;
const { workflow } = new Client({ connection: await Connection.connect({ address }) });

const create = Worker.create.bind(Worker);
Worker.create = (options) =>
  create({
    ...options,
    workflowBundle: { codePath: `${folder}/bundle.cjs` },
    // If a worker dies, its cached workflows wait forever on the test server, and ten seconds on Temporal.
    maxCachedWorkflows: 0,
  });

// Runs as long as the worker.
import(`${folder}/temporal.ts`).catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});

export async function start(order: Order): Promise<void> {
  const args = [paramsFor(order), order.path];
  await workflow.start('makeVideo', { workflowId: order.id, taskQueue: 'videos', args });
}

export function result(id: string): Promise<string> {
  return workflow.getHandle(id).result();
}
