// Pictures, films and sound are billed when they are made: a request for them is sent once, whatever its route.
import { describe, expect, test } from 'vitest';
import { createModelGateway } from '../../src/adapters/ai-sdk/index.ts';
import type { Gateway } from '../../src/index.ts';
import { failureOf, scripted } from '../helpers/clients.ts';
import { messages, reset } from '../helpers/transport.ts';
import { untyped } from '../helpers/untyped.ts';

type Call = (client: Gateway) => PromiseLike<unknown>;

const ask = (client: Gateway, more: object) =>
  client.chat.completions.create({ model: 'm', messages: [...messages], ...more });
const generate = (client: Gateway, more: object) =>
  client.generate.content({ model: 'm', contents: 'hi', ...more });
const respond = (client: Gateway, more: object) =>
  client.responses.create({ model: 'm', input: 'hi', ...more });
const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hi' }] }];
const tools = untyped<[]>([{ type: 'image_generation' }]);
const config = { responseModalities: ['TEXT', 'IMAGE'] };

const charged: Readonly<Record<string, Call>> = {
  'chat with modalities': (client) => ask(client, { modalities: ['image', 'text'] }),
  'chat with sound': (client) => ask(client, { modalities: ['text', 'audio'] }),
  'chat, streamed': (client) => ask(client, { modalities: ['image', 'text'], stream: true }),
  'chat with extraBody': (client) =>
    client.chat.completions.create(
      { model: 'm', messages: [...messages] },
      { extraBody: { modalities: ['image'] } },
    ),
  'chat.completions.parse': (client) =>
    client.chat.completions.parse({
      model: 'm',
      messages: [...messages],
      modalities: ['image', 'text'],
    }),
  'chat.completions.stream': (client) =>
    client.chat.completions
      .stream({ model: 'm', messages: [...messages], modalities: ['image'] })
      .done(),
  'chat.completions.runTools': (client) =>
    client.chat.completions
      .runTools({ model: 'm', messages: [...messages], tools: [], modalities: ['image'] })
      .done(),
  'a model of images': (client) => ask(client, { model: 'google/gemini-2.5-flash-image' }),
  'generate.content': (client) => generate(client, { generationConfig: config }),
  'generate.content of a model of images': (client) =>
    generate(client, { model: 'gemini-3-pro-image-preview' }),
  'generate.contentStream': (client) =>
    client.generate.contentStream({ model: 'm', contents: 'hi', generationConfig: config }),
  'responses.create': (client) => respond(client, { tools }),
  'responses.create, streamed': (client) => respond(client, { tools, stream: true }),
  'post to chat': (client) =>
    client.post('/v1/chat/completions', { body: { model: 'm', messages, modalities: ['image'] } }),
  'post to generateContent': (client) =>
    client.post('/v1beta/models/gemini-2.5-flash-image:generateContent', { body: {} }),
  'the AI SDK': (client) =>
    createModelGateway({ client })('m').doGenerate({
      prompt,
      providerOptions: { modelGateway: { modalities: ['image', 'text'] } },
    }),
  'the AI SDK, streamed': (client) =>
    createModelGateway({ client })('google/gemini-2.5-flash-image').doStream({ prompt }),
};

const metered: Readonly<Record<string, Call>> = {
  'chat with modalities of text': (client) => ask(client, { modalities: ['text'] }),
  'chat with a picture in the prompt': (client) =>
    ask(client, {
      messages: [
        {
          role: 'user',
          content: [{ type: 'image_url', image_url: { url: 'https://pictures.test/a.png' } }],
        },
      ],
    }),
  'generate.content with text': (client) =>
    generate(client, { generationConfig: { responseModalities: ['TEXT'] } }),
  'responses.create with another tool': (client) =>
    respond(client, { tools: [{ type: 'web_search' }] }),
  'a model whose name only resembles': (client) => ask(client, { model: 'imagery-1-veoh' }),
  'post to chat': (client) =>
    client.post('/v1/chat/completions', { body: { model: 'm', messages } }),
};

describe('a lost answer', () => {
  test.each(Object.entries(charged))('with pictures is not paid again: %s', async (_, call) => {
    const { client, requests } = scripted([reset()], { fallback: ['m-other'] });

    const failure = await failureOf(Promise.resolve().then(() => call(client)));

    expect(failure).toMatchObject({ outcome: 'unknown' });
    expect(requests).toHaveLength(1);
  });

  test.each(Object.entries(charged))('with pictures is, if allowed: %s', async (_, call) => {
    const { client, requests } = scripted([reset()], { retryUnknownOutcome: true, maxRetries: 1 });

    await failureOf(Promise.resolve().then(() => call(client)));

    expect(requests).toHaveLength(2);
  });

  test.each(Object.entries(metered))('with text is requested again: %s', async (_, call) => {
    const { client, requests } = scripted([reset()], { maxRetries: 1 });

    await failureOf(Promise.resolve().then(() => call(client)));

    expect(requests).toHaveLength(2);
  });
});
