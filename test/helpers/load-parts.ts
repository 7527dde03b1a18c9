import { Gateway } from '../../src/gateway.ts';

// The first call of a process loads ky, and the first of each kind its own part of the package. Fake
// timers cannot wait for that, so it is done before.
const gateway = new Gateway({
  apiKey: 'key',
  baseURL: 'https://gateway.test',
  fetch: () => Promise.resolve(new Response('{}')),
  maxRetries: 0,
});
const order = { model: 'model', prompt: 'A paper boat' };
await Promise.allSettled([
  gateway.videos.create(order),
  gateway.images.generate(order),
  gateway.generate.content({ model: 'model', contents: 'Hello' }),
  gateway.chat.completions.stream({ model: 'model', messages: [] }).done(),
  gateway.embeddings.create({ model: 'model', input: 'Hello' }),
  gateway.get('/v1/models'),
  gateway.audio.speech.create({ model: 'model', input: 'Hello' }),
]);
