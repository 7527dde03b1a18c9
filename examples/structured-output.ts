// Gets validated JSON from a model that rejects `json_schema` and JSON mode.
import { Gateway, responseFormat } from 'model-gateway';
import { createEmulator } from 'model-gateway/testing';
import * as z from 'zod';

const model = 'plain-model';
const emulator = createEmulator({ models: [{ id: model, structuredOutput: 'none' }] });
const client = new Gateway({
  apiKey: emulator.apiKey,
  baseURL: emulator.baseURL,
  fetch: emulator.fetch,
});
const response_format = responseFormat(z.object({ city: z.string(), days: z.int() }), 'trip');

for (const city of ['Lisbon', 'Porto']) {
  const completion = await client.chat.completions.parse({
    model,
    messages: [{ role: 'user', content: `Plan 3 days in "${city}".` }],
    response_format,
  });
  const { content, parsed } = completion.choices[0]?.message ?? {};
  console.log(`${parsed?.days} days in ${parsed?.city}, read from`, content);
  // The first call needs three requests, of which two are rejected and free. The second call needs one.
  console.log(`${emulator.requests.length} requests, ${emulator.charges.length} charged`);
}
