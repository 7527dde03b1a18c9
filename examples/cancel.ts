// Aborts a call with a signal, and a stream by leaving its loop.
import { APIUserAbortError, Gateway } from 'model-gateway';

const client = new Gateway();

const stream = await client.chat.completions.create({
  model: 'gpt-4o-mini',
  messages: [{ role: 'user', content: 'Count to a thousand.' }],
  stream: true,
});
let chunks = 0;
for await (const _ of stream) {
  chunks += 1;
  if (chunks === 3) break; // closes the connection
}
console.log(`Left the stream after ${chunks} chunks.`);

const controller = new AbortController();
const pending = client.chat.completions.create(
  { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello!' }] },
  { signal: controller.signal },
);
controller.abort();
try {
  await pending;
} catch (error) {
  if (!APIUserAbortError.isInstance(error)) throw error;
  console.log(`Aborted; its outcome is ${error.outcome}.`);
}
