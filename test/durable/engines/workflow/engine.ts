import { createRequire } from 'node:module';
import { join } from 'node:path';
import { getRun, start as startRun } from 'workflow/api';
import { getWorld } from 'workflow/runtime';
import { paramsFor, type Order } from '../../places.ts';

interface Route {
  readonly POST: (request: Request) => Promise<Response>;
}

const require = createRequire(import.meta.url);
const folder = process.env['RECIPE'] ?? '';
const step: Route = require(join(folder, 'step.cjs'));
const flow: Route = require(join(folder, 'flow.cjs'));

const world = getWorld();
// Instead of a server with these routes.
if (!('registerHandler' in world) || typeof world.registerHandler !== 'function') {
  throw new Error('The world is not the local one.');
}
world.registerHandler('__wkf_step_', step.POST);
world.registerHandler('__wkf_workflow_', flow.POST);
// Continues the workflows of the process before.
await world.start?.();

export async function start(order: Order): Promise<void> {
  const { id, path } = order;
  await startRun({ workflowId: 'workflow//./workflow//makeVideo' }, [id, paramsFor(order), path]);
}

/** The engine chooses the ids of its runs, and has only this one. */
export async function result(): Promise<string> {
  const { data } = await world.runs.list({ pagination: { limit: 1 } });
  const [run] = data;
  if (run === undefined) throw new Error('Missing run');
  return getRun<string>(run.runId).returnValue;
}
