// Pictures, films and sound are billed when they are made: a request for them is sent once, whatever its route.
import { describe, expect, test } from 'vitest';
import { createModelGateway } from '../../src/adapters/ai-sdk/index.ts';
import type { Gateway } from '../../src/index.ts';
import { oneImage } from '../adapters/ai-sdk/support.ts';
import { failureOf, json, scripted } from '../helpers/clients.ts';
import { messages, reset } from '../helpers/transport.ts';
import { untyped } from '../helpers/untyped.ts';
import { McpMachine } from '../programs/mcp/run.ts';

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

const charged: Record<string, Call> = {
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
  'chat with image_config': (client) => ask(client, { image_config: { aspect_ratio: '1:1' } }),
  'a model of images': (client) => ask(client, { model: 'google/gemini-2.5-flash-image' }),
  'generate.content': (client) => generate(client, { generationConfig: config }),
  'generate.content with imageConfig': (client) =>
    generate(client, { generationConfig: { imageConfig: { aspectRatio: '1:1' } } }),
  'generate.content of a model of images': (client) =>
    generate(client, { model: 'gemini-3-pro-image-preview' }),
  'generate.contentStream': (client) =>
    client.generate.contentStream({ model: 'm', contents: 'hi', generationConfig: config }),
  'responses.create': (client) => respond(client, { tools }),
  'responses.create with a preview of the tool': (client) =>
    respond(client, { tools: [{ type: 'image_generation_preview' }] }),
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
  'images of the AI SDK': (client) =>
    createModelGateway({ client }).imageModel('gemini-2.5-flash-image').doGenerate(oneImage),
};

/** Calls of text operations with models whose names say nothing. */
const unnamed: Readonly<Record<string, Call>> = {
  chat: (client) => ask(client, { model: 'brush' }),
  'chat, streamed': (client) => ask(client, { model: 'brush', stream: true }),
  'chat.completions.parse': (client) =>
    client.chat.completions.parse({ model: 'brush', messages: [...messages] }),
  'chat.completions.runTools': (client) =>
    client.chat.completions.runTools({ model: 'brush', messages: [...messages], tools: [] }).done(),
  'generate.content': (client) => generate(client, { model: 'brush' }),
  'responses.create': (client) => respond(client, { model: 'brush' }),
  'post to chat': (client) =>
    client.post('/v1/chat/completions', { body: { model: 'brush', messages } }),
  'post to generateContent': (client) =>
    client.post('/v1beta/models/brush:generateContent', { body: {} }),
  'the AI SDK': (client) => createModelGateway({ client })('brush').doGenerate({ prompt }),
};

/** Price lists that say that a model makes pictures. */
const lists = {
  'new-api': {
    data: [
      {
        model_name: 'brush',
        quota_type: 1,
        model_price: 0.04,
        supported_endpoint_types: ['image-generation', 'openai'],
      },
    ],
  },
  openrouter: {
    data: [
      {
        id: 'brush',
        pricing: { prompt: '0.1', completion: '0.2' },
        architecture: { output_modalities: ['image', 'text'] },
      },
    ],
  },
  litellm: { data: [{ model_name: 'brush', model_info: { output_cost_per_image: 0.04 } }] },
} as const;
const listed = (['new-api', 'openrouter', 'litellm'] as const).flatMap((kind) =>
  Object.entries(unnamed)
    // OpenRouter has no such route.
    .filter(([name]) => kind !== 'openrouter' || name !== 'generate.content')
    .map((row) => [kind, ...row] as const),
);

/** Models of other vendors, as gateways sell them by chat. */
for (const model of [
  'ideogram-v3',
  'recraft-v3',
  'cogview-4',
  'cogvideox-2',
  'hunyuan-video',
  'wan2.2-t2v-plus',
  'suno-v4',
  'runway-gen4',
  'kwai/kolors',
  'lyria-2',
]) {
  charged[`chat with ${model}`] = (client) => ask(client, { model });
}

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
  'a model of text beside one of videos': (client) => ask(client, { model: 'videollama-sunor' }),
  'post to chat': (client) =>
    client.post('/v1/chat/completions', { body: { model: 'm', messages } }),
};

/** Loses every answer after its charge. */
function failAll({ emulator }: McpMachine): void {
  for (const operation of ['chat.completions.create', 'images.generate'] as const) {
    emulator.fail({ operation, fault: { type: 'reset', when: 'after-charge' }, times: 9 });
  }
}

describe('a lost answer', () => {
  test.each(Object.entries(charged))(
    'a lost answer with pictures is not paid again: %s',
    async (_, call) => {
      const { client, requests } = scripted([reset()], { fallback: ['m-other'] });

      const failure = await failureOf(Promise.resolve().then(() => call(client)));

      expect(failure).toMatchObject({ outcome: 'unknown' });
      expect(requests).toHaveLength(1);
    },
  );

  test.each(Object.entries(charged))(
    'a lost answer with pictures is requested again if allowed: %s',
    async (_, call) => {
      const { client, requests } = scripted([reset()], {
        retryUnknownOutcome: true,
        maxRetries: 1,
      });

      await failureOf(Promise.resolve().then(() => call(client)));

      expect(requests).toHaveLength(2);
    },
  );

  test.each(listed)(
    'a lost answer is not paid again if the price list of %s says that the model makes pictures: %s',
    async (gateway, _, call) => {
      const answers = [json(lists[gateway]), reset()];
      const { client, requests } = scripted(answers, { gateway, maxRetries: 1 });
      await client.account.prices();

      await failureOf(Promise.resolve().then(() => call(client.withOptions({ timeout: 9_000 }))));

      expect(requests).toHaveLength(2);
    },
  );

  test.each(Object.entries(unnamed))(
    'a lost answer is not paid again if the profile says that the model makes pictures: %s',
    async (_, call) => {
      const gateway = { name: 'studio', isMediaModel: (model: string) => model === 'brush' };
      const { client, requests } = scripted([reset()], { gateway, maxRetries: 1 });

      await failureOf(Promise.resolve().then(() => call(client)));

      expect(requests).toHaveLength(1);
    },
  );

  test.each(Object.entries(unnamed))(
    'a lost answer is requested again if nothing says that the model makes pictures, and no list is read for that: %s',
    async (_, call) => {
      const { client, requests } = scripted([reset()], { maxRetries: 1 });

      await failureOf(Promise.resolve().then(() => call(client)));

      expect(requests.map(({ method }) => method)).toEqual(['POST', 'POST']);
    },
  );

  test.each([
    ['chat', ['chat', '-m', 'google/gemini-2.5-flash-image', 'Draw a boat']],
    ['image', ['image', '-m', 'gemini-2.5-flash-image', 'A boat']],
  ])('a lost answer with pictures is not paid again by the command line: %s', async (_, words) => {
    const machine = await McpMachine.open();
    failAll(machine);

    await machine.machine.run(words);

    expect(machine.charges).toBe(1);
  });

  test('a lost answer with pictures is not paid again by the MCP server', async () => {
    const machine = await McpMachine.open();
    failAll(machine);
    const session = await machine.connect();

    const request = { model: 'gemini-2.5-flash-image', prompt: 'A boat' };
    const results = [
      await session.call('create_image', request),
      await session.call('create_image', request),
    ];

    expect(results).toMatchObject([{ charged: 'unknown' }, { charged: 'unknown' }]);
    expect(machine.charges).toBe(1);
  });

  test.each(Object.entries(metered))(
    'a lost answer with text is requested again: %s',
    async (_, call) => {
      const { client, requests } = scripted([reset()], { maxRetries: 1 });

      await failureOf(Promise.resolve().then(() => call(client)));

      expect(requests).toHaveLength(2);
    },
  );
});
