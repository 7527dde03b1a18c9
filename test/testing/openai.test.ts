import OpenAI from 'openai';
import { beforeEach, describe, expect, test } from 'vitest';
import { createEmulator, type Emulator } from '../../src/testing/index.ts';

let emulator: Emulator;
let client: OpenAI;

beforeEach(() => {
  emulator = createEmulator();
  client = new OpenAI({
    apiKey: emulator.apiKey,
    baseURL: `${emulator.baseURL}/v1`,
    fetch: emulator.fetch,
    maxRetries: 0,
  });
});

const model = 'm-large';
const messages = [{ role: 'user', content: 'The weather in Paris' }] as const;
const weather = {
  name: 'get_weather',
  description: 'Tells the weather.',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
};

describe('a third-party client', () => {
  test('chats', async () => {
    const { choices } = await client.chat.completions.create({ model, messages: [...messages] });

    expect(choices[0]?.message.content).toContain('Paris');
  });

  test('streams to the end', async () => {
    const stream = client.chat.completions.stream({ model, messages: [...messages] });

    const completion = await stream.finalChatCompletion();

    expect(completion.choices[0]?.finish_reason).toBe('stop');
    expect(await stream.totalUsage()).toMatchObject({ total_tokens: expect.any(Number) });
  });

  test('runs tools', async () => {
    const runner = client.chat.completions.runTools({
      model,
      stream: true,
      messages: [...messages],
      tools: [
        {
          type: 'function',
          function: {
            ...weather,
            parse: (input: string): { city: string } => JSON.parse(input),
            function: ({ city }: { city: string }) => `Sunny in ${city}`,
          },
        },
      ],
    });

    expect(await runner.finalContent()).toBe('get_weather says: Sunny in Paris');
    expect(emulator.charges).toHaveLength(2);
  });

  test('creates embeddings, in base64', async () => {
    const { data } = await client.embeddings.create({ model: 'm-embedding', input: ['a', 'b'] });

    expect(data.map(({ embedding }) => embedding.length)).toEqual([256, 256]);
  });

  test('creates and edits images', async () => {
    const made = await client.images.generate({
      model: 'm-image',
      prompt: 'x',
      size: '256x256',
      response_format: 'b64_json',
    });
    const bytes = Uint8Array.from(atob(made.data?.[0]?.b64_json ?? ''), (c) => c.charCodeAt(0));
    const image = new File([bytes], 'image.png', { type: 'image/png' });
    const edited = await client.images.edit({
      model: 'm-image',
      image: [image, image],
      prompt: 'y',
    });

    expect(edited.data?.[0]?.url).toMatch(/^http:\/\/emulator\.test\/files\//);
  });

  test('creates and translates speech', async () => {
    const input = 'Good morning';
    const speech = await client.audio.speech.create({ model: 'm-speech', voice: 'alloy', input });
    const file = new File([await speech.arrayBuffer()], 'speech.mp3');
    const { text } = await client.audio.translations.create({ model: 'm-translation', file });

    expect(text).toBe(input);
  });

  test('creates a video and downloads it', async () => {
    const { id } = await client.videos.create({ model: 'sora-2', prompt: 'a cat', seconds: '4' });
    emulator.videos.complete(id);
    const video = await client.videos.retrieve(id);
    const content = await client.videos.downloadContent(id);

    expect(video.status).toBe('completed');
    expect((await content.arrayBuffer()).byteLength).toBeGreaterThan(1000);
    expect(emulator.charges).toHaveLength(1);
  });

  test('lists models, and receives errors', async () => {
    const models = await client.models.list();
    const wrong = client.withOptions({ apiKey: 'sk-wrong' });

    expect(models.data.map(({ id }) => id)).toContain('m-large');
    await expect(wrong.models.list()).rejects.toMatchObject({ status: 401, type: 'new_api_error' });
  });
});
