// A program in ES modules with a part in CommonJS: both copies of the package are loaded.
import { APIError, Gateway, type ChatCompletion, type VideoTask } from 'model-gateway';
import { createEmulator } from 'model-gateway/testing';
import { chat, fail, submit } from './common.cjs';

const { apiKey, baseURL, fetch } = createEmulator({ videoDuration: 0 });
const client = new Gateway({ apiKey, baseURL, fetch });

export async function text(): Promise<string | null | undefined> {
  const completion: ChatCompletion = await chat('Say hello');
  return completion.choices[0]?.message.content;
}

export async function status(): Promise<VideoTask['status']> {
  return (await client.videos.retrieve(await submit('A boat'))).status;
}

export const code = fail().then(
  () => undefined,
  (error: unknown) => (APIError.isInstance(error) ? error.status : undefined),
);
