// Lists the models that the key can use.
import { Gateway } from 'model-gateway';

const client = new Gateway();

for await (const model of client.models.list()) {
  console.log(model.id, model.owned_by);
}
