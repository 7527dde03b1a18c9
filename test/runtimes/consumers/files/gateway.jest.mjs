import { Gateway, RateLimitError } from 'model-gateway';
import { createEmulator } from 'model-gateway/testing';

const emulator = createEmulator();

test('chats, and is told of a rate limit', async () => {
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
