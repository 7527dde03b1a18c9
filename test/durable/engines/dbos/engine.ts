import { DBOS } from '@dbos-inc/dbos-sdk';
import { makeVideo } from '../../../../examples/durable/dbos.ts';
import { paramsFor, type Order } from '../../places.ts';

export async function start(order: Order): Promise<void> {
  await DBOS.startWorkflow(makeVideo, { workflowID: order.id })(paramsFor(order), order.path);
}

export function result(id: string): Promise<string> {
  return DBOS.retrieveWorkflow<string>(id).getResult();
}
