// Asks a model at OpenRouter, with another to fall back on, makes an image and a video, and prints their costs.
// Set GATEWAY_BASE_URL=https://openrouter.ai and your key as GATEWAY_API_KEY: npm run example openrouter -- --real
import { Gateway, usageOf } from 'model-gateway';
import { downloadVideo } from 'model-gateway/node';

const client = new Gateway({ gateway: 'openrouter' });

const answer = await client.chat.completions.create({
  model: 'anthropic/claude-sonnet-4.5',
  models: ['google/gemini-2.5-flash'],
  provider: { sort: 'price' },
  messages: [{ role: 'user', content: 'Why is the sky blue?' }],
});
console.log(answer.choices[0]?.message.content);
console.log(`${answer.model} cost ${usageOf(answer)?.cost} USD`);

// The id of an answer is that of its generation.
const { data } = await client.account.charges({ requestId: answer.id });
console.log(`charged: ${data[0]?.amount.value} ${data[0]?.amount.unit}`);

const images = await client.images.generate({
  model: 'google/gemini-2.5-flash-image',
  prompt: 'A lighthouse at dawn',
  size: '16:9',
});
console.log(`${images.data.length} image`);

const video = await client.videos.createAndWait({
  model: 'google/veo-3.1',
  prompt: 'A paper boat on a pond',
  seconds: 4,
  size: '720p',
});
const { path } = await downloadVideo(client, video, { to: 'boat.mp4' });
console.log(`Saved ${path}`);

const { estimate } = await client.account.spent();
console.log(`spent: ${estimate.value} ${estimate.unit}`);
