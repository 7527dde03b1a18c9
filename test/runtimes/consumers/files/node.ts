// What only Node's entry has, without the types of a browser.
import { fileFromPath, saveTo } from 'model-gateway/node';
import { Gateway } from 'model-gateway';

const client = new Gateway({ apiKey: 'k', baseURL: 'https://gateway.example.com' });

export async function speak(input: string, path: string): Promise<void> {
  const response: Response = await client.audio.speech.create({ model: 'm', input });
  await saveTo(response, path);
}

export async function translate(path: string): Promise<string> {
  const file = await fileFromPath(path);
  return (await client.audio.translations.create({ model: 'm', file })).text;
}
