import { Gateway, RateLimitError } from 'model-gateway';
import { createEmulator } from 'model-gateway/testing';

const emulator = createEmulator();

test('chats, and throws RateLimitError after a 429', async () => {
  const { apiKey, baseURL, fetch } = emulator;
  const client = new Gateway({ apiKey, baseURL, fetch, maxRetries: 0 });
  const messages = [{ role: 'user', content: 'Say hello' }];
  const answer = await client.chat.completions.create({ model: 'm-large', messages });
  expect(answer.choices[0].message.content).not.toBe('');
  emulator.fail({ fault: { type: 'rate-limit', retryAfter: 1 } });
  const error = await client.models.list().catch((caught) => caught);
  expect(RateLimitError.isInstance(error)).toBe(true);
  expect(emulator.requests).toHaveLength(2);
});

test('makes images, vectors and videos', async () => {
  const { apiKey, baseURL, fetch } = createEmulator({ videoDuration: 0 });
  const client = new Gateway({ apiKey, baseURL, fetch });
  const { data } = await client.images.generate({ model: 'm-image', prompt: 'A boat' });
  expect(data).toHaveLength(1);
  const { vectors } = await client.embeddings.createMany({
    model: 'm-embedding',
    input: ['A boat'],
  });
  expect(vectors).toHaveLength(1);
  const task = await client.videos.create({ model: 'm-video', prompt: 'A boat' });
  const { next } = await client.videos.step(task);
  expect(next.video.status).toBe('completed');
});
