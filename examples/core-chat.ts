// Imports one resource, so that bundlers omit images, videos and everything else that is not used.
import { Chat, createGateway } from 'model-gateway/core';

const client = createGateway({}, { chat: Chat });

const completion = await client.chat.completions.create({
  model: 'gpt-4o-mini',
  messages: [{ role: 'user', content: 'Why is the sky blue?' }],
});
console.log(completion.choices[0]?.message.content);
