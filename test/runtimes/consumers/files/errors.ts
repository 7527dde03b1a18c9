// Mistakes that have to stay mistakes: each line below its mark fails to compile.
import { Gateway } from 'model-gateway';
import { Chat, createGateway } from 'model-gateway/core';

const client = new Gateway({ apiKey: 'k', baseURL: 'https://gateway.example.com' });

// @ts-expect-error -- a typing error in the name of a parameter
await client.images.generate({ model: 'm', prompt: 'p', promt: 'q' });
// @ts-expect-error -- a required parameter is missing
await client.chat.completions.create({ model: 'm' });
const params = { model: 'm', messages: [], stream: true } as const;
// @ts-expect-error -- a stream has no choices
export const { choices } = await client.chat.completions.create(params);
// @ts-expect-error -- an option that does not exist
client.withOptions({ retries: 3 });
const chatAlone = createGateway(
  { apiKey: 'k', baseURL: 'https://gateway.example.com' },
  { chat: Chat },
);
// @ts-expect-error -- a resource that the client was not created with
await chatAlone.images.generate({ model: 'm', prompt: 'p' });
