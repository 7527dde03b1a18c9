// The service worker of an extension: it makes the calls, and pages ask it to.
import { Gateway } from 'model-gateway';

const messages = [{ role: 'user' as const, content: 'Say hello' }];

async function work(apiKey: string, baseURL: string): Promise<string> {
  const client = new Gateway({ apiKey: () => apiKey, baseURL, logLevel: 'off' });
  const stream = await client.chat.completions.create({ model: 'm', messages, stream: true });
  let text = '';
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
  const { data } = await client.images.generate({ model: 'm-image', prompt: 'A boat' });
  const { status } = await client.videos.create({ model: 'm-video', prompt: 'A boat' });
  return `${text.length > 0} ${data.length} ${status}`;
}

async function onMessage({ data, ports: [port] }: MessageEvent): Promise<void> {
  port?.postMessage(await work(data.apiKey, data.baseURL).catch(String));
}

addEventListener('message', (event) => void onMessage(event));
