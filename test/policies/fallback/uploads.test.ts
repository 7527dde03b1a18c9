import { describe, expect, test } from 'vitest';
import { toFile, type Uploadable } from '../../../src/index.ts';
import type { GatewayOptions } from '../../../src/options/options.ts';
import type { EmulatorOptions } from '../../../src/testing/index.ts';
import { emulated, failureOf } from '../../helpers/clients.ts';
import { mediaHeads } from '../../helpers/media.ts';
import { failFirst, requestedModels } from '../../helpers/requested-models.ts';

const { png, mp3 } = mediaHeads;
const fallback = ['model-b'];
const rejected = { type: 'error', status: 429 } as const;

async function* inPieces() {
  yield png.slice(0, 20);
  yield png.slice(20);
}

const readable: readonly { file: string; image: () => Uploadable | Promise<Uploadable> }[] = [
  { file: 'bytes', image: () => png },
  { file: 'a Blob', image: () => new Blob([png]) },
  { file: 'a File', image: () => new File([png], 'room.png') },
  { file: 'toFile() of a response', image: () => toFile(new Response(png), 'room.png') },
];

const streams: readonly { file: string; image: () => Uploadable }[] = [
  { file: 'a ReadableStream', image: () => new Blob([png]).stream() },
  { file: 'an async iterable', image: inPieces },
  { file: 'a Response', image: () => new Response(png) },
];

const bodies: readonly { body: string; options: GatewayOptions & EmulatorOptions; sent: RegExp }[] =
  [
    { body: 'a form', options: {}, sent: /"files":\[\{/ },
    { body: 'JSON', options: { gateway: 'openrouter' }, sent: /"url":"data:image\/png;base64,\w/ },
  ];

describe.each(bodies)('images.edit() as $body', ({ options, sent }) => {
  const setup = () => {
    const { client, emulator } = emulated({ maxRetries: 0, ...options }, options);
    failFirst(emulator, rejected);
    return { client, emulator };
  };

  test.for(readable)('sends $file to the next model again', async ({ image }) => {
    const { client, emulator } = setup();
    const params = { model: 'model-a', prompt: 'a plant', image: await image() };

    const { data } = await client.images.edit(params, { fallback });

    expect(data).toHaveLength(1);
    expect(requestedModels(emulator)).toEqual({
      requests: ['model-a', 'model-b'],
      charges: ['model-b'],
    });
    for (const { body } of emulator.requests) expect(JSON.stringify(body)).toMatch(sent);
  });

  test.for(streams)('ends after $file that was read, with the reason', async ({ image }) => {
    const { client, emulator } = setup();
    const params = { model: 'model-a', prompt: 'a plant', image: image() };

    const failed = await failureOf(client.images.edit(params, { fallback }));

    expect(failed).toMatchObject({ name: 'RateLimitError', outcome: 'rejected' });
    expect(String(failed)).toMatch(/The next request was not sent: .*(stream|read)/);
    expect(requestedModels(emulator)).toEqual({ requests: ['model-a'], charges: [] });
    expect(JSON.stringify(emulator.requests[0]?.body)).toMatch(sent);
  });
});

describe('audio.transcriptions.create()', () => {
  test('sends a file to the next model again', async () => {
    const { client, emulator } = emulated({ maxRetries: 0 });
    failFirst(emulator, rejected);

    const { text } = await client.audio.transcriptions.create(
      { model: 'model-a', file: new File([mp3], 'talk.mp3') },
      { fallback },
    );

    expect(text).not.toBe('');
    expect(requestedModels(emulator).charges).toEqual(['model-b']);
  });

  test('ends after a stream that was read, with the reason', async () => {
    const { client, emulator } = emulated({ maxRetries: 0 });
    failFirst(emulator, rejected);
    const params = { model: 'model-a', file: new Blob([mp3]).stream() };

    const failed = await failureOf(client.audio.transcriptions.create(params, { fallback }));

    expect(failed).toHaveProperty('name', 'RateLimitError');
    expect(String(failed)).toContain('Its body is a stream, which cannot be read again');
    expect(requestedModels(emulator)).toEqual({ requests: ['model-a'], charges: [] });
  });
});

test('videos.create() sends an image given as a Response as a data URL to OpenRouter', async () => {
  const { client, emulator } = emulated({ gateway: 'openrouter' }, { gateway: 'openrouter' });
  await client.videos.create({ model: 'model-a', prompt: 'a boat', image: new Response(png) });
  expect(JSON.stringify(emulator.requests[0]?.body)).toMatch(/"url":"data:image\/png;base64,\w/);
});
