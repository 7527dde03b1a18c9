// Imports one resource and one policy, so that bundlers omit images, videos and everything else that is not used.
import { Chat, createGateway, withFallback } from 'model-gateway/core';

const options = { fallback: ['gemini-2.5-flash'] };
const client = createGateway(options, { chat: Chat }, [withFallback()]);

const completion = await client.chat.completions.create({
  model: 'gpt-4o-mini',
  messages: [{ role: 'user', content: 'Why is the sky blue?' }],
});
console.log(completion.choices[0]?.message.content);
