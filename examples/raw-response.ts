// Reads headers and request ids, and calls a route without a method in the client.
import { Gateway } from 'model-gateway';

const client = new Gateway({ logLevel: 'info' });

const { data, response, request_id } = await client.chat.completions
  .create({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello!' }] })
  .withResponse();
console.log(response.status, response.headers.get('content-type'));
console.log(request_id === data._request_id, data.choices.length);

const raw = await client.models.list().asResponse();
console.log((await raw.text()).length > 0);

const models = await client.get('/v1/models', { query: { limit: 1 } });
console.log(typeof models);
