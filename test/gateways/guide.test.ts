// The guide "Gateways": each cell of its table is tried on the emulator.
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { endpoints } from '../../src/endpoints.ts';
import { type Gateway, type GatewayName, GatewayError } from '../../src/index.ts';
import { collect, emulated } from '../helpers/clients.ts';
import { mediaHeads } from '../helpers/media.ts';

const guide = await readFile(new URL('../../docs/guides/gateways.md', import.meta.url), 'utf8');

const messages = [{ role: 'user' as const, content: 'Hello' }];
const png = () => new File([mediaHeads.png], 'fox.png', { type: 'image/png' });
const mp3 = () => new File([mediaHeads.mp3], 'speech.mp3', { type: 'audio/mpeg' });
const image = { model: 'm-image', prompt: 'A fox' };
/** OpenRouter's route for a model has two segments. */
const model = 'acme/one';
const video = { model: 'm-video', prompt: 'A fox' };
/** The shortest allowed polling interval, in milliseconds. */
const quick = { interval: 250 };

/** One call of each row, by the name in the guide. */
const calls: Readonly<Record<string, (client: Gateway) => Promise<unknown>>> = {
  'chat.completions.create()': async (client) =>
    client.chat.completions.create({ model: 'm-large', messages }),
  'chat.completions.create({ stream: true })': async (client) =>
    collect(await client.chat.completions.create({ model: 'm-large', messages, stream: true })),
  'responses.create()': async (client) =>
    client.responses.create({ model: 'm-large', input: 'Hi' }),
  "post('/v1/messages')": async (client) =>
    client.post('/v1/messages', { body: { model: 'm-large', max_tokens: 100, messages } }),
  'generate.content()': async (client) =>
    client.generate.content({ model: 'm-flash', contents: 'Hello' }),
  'generate.contentStream()': async (client) =>
    collect(await client.generate.contentStream({ model: 'm-flash', contents: 'Hello' })),
  'embeddings.create()': async (client) =>
    client.embeddings.create({ model: 'm-embedding', input: 'Hello' }),
  'embeddings.createForEngine()': async (client) =>
    client.embeddings.createForEngine({ model: 'm-embedding', input: 'Hello' }),
  "post('/v1/rerank')": async (client) =>
    client.post('/v1/rerank', { body: { model: 'm-rerank', query: 'cats', documents: ['a cat'] } }),
  'images.generate()': async (client) => client.images.generate(image),
  'images.generate({ stream: true })': async (client) =>
    collect(await client.images.generate({ ...image, stream: true })),
  'images.edit()': async (client) => client.images.edit({ ...image, image: png() }),
  'audio.speech.create()': async (client) =>
    client.audio.speech.create({ model: 'm-speech', input: 'Hello', voice: 'alloy' }),
  'audio.transcriptions.create()': async (client) =>
    client.audio.transcriptions.create({ model: 'm-translation', file: mp3() }),
  'audio.translations.create()': async (client) =>
    client.audio.translations.create({ model: 'm-translation', file: mp3() }),
  'videos.create()': async (client) => client.videos.create(video),
  'videos.createAndWait()': async (client) => client.videos.createAndWait(video, quick),
  'videos.remix()': async (client) => {
    const task = await client.videos.create(video);
    await client.videos.wait(task.ref, quick);
    return client.videos.remix(task.ref, { prompt: 'At night' });
  },
  'videos.retrieve()': async (client) => {
    const { ref } = await client.videos.create(video);
    return client.videos.retrieve(ref);
  },
  'videos.downloadContent()': async (client) => {
    const { ref } = await client.videos.create(video);
    return client.videos.downloadContent(ref);
  },
  'videos.retrieveFromVendor()': async (client) => {
    const { id: taskId } = await client.videos.create(video);
    return client.videos.retrieveFromVendor({ vendorPrefix: 'kling', taskId });
  },
  'models.list()': async (client) => client.models.list(),
  'models.retrieve()': async (client) => client.models.retrieve(model),
  'account.balance()': async (client) => client.account.balance(),
  'account.prices()': async (client) => client.account.prices(),
  'account.charges()': async (client) => client.account.charges(),
  'account.settle()': async (client) => {
    const call = client.chat.completions.create({ model: 'm-large', messages });
    const { request_id: requestId } = await call.withResponse();
    const { verdict } = await client.account.settle(requestId ?? '');
    expect(verdict).toBe('charged');
  },
};

/** What a cell stands for, found by making the call. */
async function tryCall(gateway: GatewayName, name: string): Promise<string> {
  const { client } = emulated(
    { gateway, maxRetries: 0 },
    {
      gateway,
      ...(name === 'models.retrieve()' && { models: [{ id: model }] }),
      videoDuration: 0,
      quirks: { usageLogDelay: 0 },
    },
  );
  try {
    await calls[name]?.(client);
    return '✓';
  } catch (error) {
    if (!GatewayError.isInstance(error)) throw error;
    if (Reflect.get(error, 'field') === 'requestId') return 'by id';
    if (error.outcome === 'not_sent') return '–';
    const status = String(Reflect.get(error, 'status'));
    if (status === '400' || status === '404') return status;
    throw error;
  }
}

const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll('`', ''));

const [head = [], , ...rows] = guide
  .slice(guide.indexOf('| Call'))
  .split('\n\n', 1)
  .join('')
  .split('\n')
  .map(cellsOf);
const names: readonly GatewayName[] = ['new-api', 'openrouter', 'litellm', 'openai'];

describe('the table of gateways and operations', () => {
  test('the table of gateways and operations has each gateway and each call', () => {
    expect(head.slice(1)).toEqual(names.map((name) => `"${name}"`));
    expect(rows.map(([name]) => name)).toEqual(Object.keys(calls));
  });

  const cells = rows.flatMap(([call = '', ...marks]) =>
    names.map((gateway, index) => ({ gateway, call, mark: marks[index] ?? '' })),
  );

  test('the table of gateways and operations has each operation', () => {
    const called = rows.map(([call = '']) =>
      call.replace(/^post\('\/v1\/(\w+)'\)$/, '$1.create').replace(/\(.*/, ''),
    );

    expect(called).toEqual(expect.arrayContaining(Object.keys(endpoints)));
  });

  test.each(cells)('$gateway, $call: $mark', async ({ gateway, call, mark }) => {
    expect(await tryCall(gateway, call)).toBe(mark);
  });
});
