import { connect } from '@restatedev/restate-sdk-clients';
import { videos } from '../../../../examples/durable/restate.ts';
import { paramsFor, type Order } from '../../places.ts';

const { RESTATE_ADMIN_URL: admin, RESTATE_INGRESS_URL: url = '', PORT: port } = process.env;
const ingress = connect({ url });

// As `restate deployments register` does it.
const registered = await fetch(`${admin}/deployments`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ uri: `http://127.0.0.1:${port}` }),
});
if (!registered.ok) throw new Error(await registered.text());

export async function start(order: Order): Promise<void> {
  const { id, path } = order;
  await ingress.workflowClient(videos, id).workflowSubmit({ params: paramsFor(order), path });
}

export function result(id: string): Promise<string> {
  return ingress.workflowClient(videos, id).workflowAttach();
}
