import { Chat, createGateway } from '../../dist/core.js';

/** The text of the first chunk of a streamed answer. */
export async function firstChunk(baseURL) {
  const client = createGateway({ apiKey: async () => 'key', baseURL }, { chat: Chat });
  const stream = await client.chat.completions.create({
    model: 'm',
    messages: [{ role: 'user', content: 'Hello' }],
    stream: true,
  });
  for await (const chunk of stream) return chunk.choices[0].delta.content;
}
