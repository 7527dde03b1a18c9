// The types of neither the web nor Node.
import { Gateway } from 'model-gateway';

const client = new Gateway({ apiKey: 'k', baseURL: 'https://gateway.example.com' });
export const completion = client.chat.completions.create({
  model: 'm-large',
  messages: [{ role: 'user', content: 'Hello!' }],
});
// @ts-expect-error -- parameters are checked
export const images = client.images.generate({ model: 'm' });
