// Parses an answer, validates it with a schema, and streams partial objects.
import { Gateway, InvalidOutputError, responseFormat } from 'model-gateway';
import * as z from 'zod';

const client = new Gateway();
const Trip = z.object({
  city: z.string(),
  days: z.int(),
  stops: z.array(z.object({ name: z.string(), why: z.string() })),
});
const response_format = responseFormat(Trip, 'trip');
const model = 'gpt-4o-mini';

try {
  const completion = await client.chat.completions.parse({
    model,
    messages: [{ role: 'user', content: 'Plan 3 days in "Lisbon".' }],
    response_format,
  });
  const trip = completion.choices[0]?.message.parsed;
  console.log(`${trip?.days} days in ${trip?.city}, ${trip?.stops.length} stops`);
} catch (error) {
  if (!InvalidOutputError.isInstance(error)) throw error;
  // The rejected answer was paid for, so the error contains it.
  console.log('Not as asked:', error.issues, error.completion.choices[0]?.message.content);
}

const stream = client.chat.completions
  .stream({
    model,
    messages: [{ role: 'user', content: 'Plan 2 days in "Porto".' }],
    response_format,
  })
  .on('content.delta', ({ parsed }) => console.log('so far:', JSON.stringify(parsed)));
const { parsed } = await stream.finalMessage();
console.log('checked:', parsed?.city);
