import { generateImage } from 'ai';
import { describe, expect, test } from 'vitest';
import { createModelGateway } from '../../src/adapters/ai-sdk/index.ts';
import type { Gateway } from '../../src/index.ts';
import { json, misuse, scripted } from '../helpers/clients.ts';

const bytes = '/9j/4AAQSkZJRg==';
const url = `data:image/jpg;base64,${bytes}`;
const image = 'https://cdn.example/x.png';

/** Returns the body of the first request of a call. */
async function bodyOf(call: (client: Gateway) => PromiseLike<unknown>): Promise<string> {
  const choices = [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }];
  const { client, requests } = scripted([json({ id: 't', data: [{ url: image }], choices })]);
  await Promise.resolve(call(client)).catch(() => {});
  return (await requests[0]?.text()) ?? '';
}

const message = (content: unknown) => ({ model: 'm', messages: [{ role: 'user', content }] });
const edit = { model: 'm', prompt: 'Snow' };

describe('the type image/jpg is sent as image/jpeg', () => {
  test.each<[where: string, call: (client: Gateway) => PromiseLike<unknown>]>([
    ['chat', ({ chat }) => misuse(chat.completions, 'create', message([{ image_url: { url } }]))],
    ['an edit', ({ images }) => images.edit({ ...edit, image: url })],
    [
      'an edit of a Blob',
      ({ images }) =>
        images.edit({
          ...edit,
          image: new Blob([Buffer.from(bytes, 'base64')], { type: 'image/jpg' }),
        }),
    ],
    ['a video as a form', ({ videos }) => videos.create({ ...edit, input_reference: url })],
    [
      'a video as JSON',
      ({ videos }) => videos.create({ ...edit, input_reference: url }, { bodyFormat: 'json' }),
    ],
    [
      'generation',
      ({ generate }) =>
        generate.content({
          model: 'm',
          contents: [
            { role: 'user', parts: [{ inlineData: { mimeType: 'image/jpg', data: bytes } }] },
          ],
        }),
    ],
    [
      'the AI SDK',
      (client) =>
        generateImage({
          model: createModelGateway({ client }).imageModel('m'),
          prompt: { text: 'Snow', images: [url, image] },
        }),
    ],
  ])('the type image/jpg is sent as image/jpeg in %s', async (_, call) => {
    const body = await bodyOf(call);

    expect(body).toContain('image/jpeg');
    expect(body).not.toContain('image/jpg');
  });

  test('text that mentions image/jpg is unchanged', async () => {
    const text = 'What is data:image/jpg;base64? {"mime_type":"image/jpg"}';

    const body = await bodyOf(({ chat }) => misuse(chat.completions, 'create', message(text)));

    expect(JSON.parse(body)).toMatchObject({ messages: [{ content: text }] });
  });
});
