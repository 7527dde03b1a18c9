import { toFile, toStreamingFile, type Uploadable } from 'model-gateway';
import { assert, equal } from '../harness/assert.ts';
import type { Check } from '../harness/check.ts';
import { fresh } from '../harness/emulator.ts';
import { isPage } from '../harness/world.ts';
import { pngBytes, wavBytes } from './media.ts';

function inPieces(bytes: Uint8Array<ArrayBuffer>, size: number): ReadableStream<Uint8Array> {
  let offset = 0;
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(bytes.slice(offset, offset + size));
      offset += size;
      if (offset >= bytes.length) controller.close();
    },
  });
}

async function* generated(bytes: Uint8Array<ArrayBuffer>): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < bytes.length; offset += 1_000) {
    yield await Promise.resolve(bytes.slice(offset, offset + 1_000));
  }
}

/** Every way to give a file, and the name and type that have to arrive. */
function waysToGive(bytes: Uint8Array<ArrayBuffer>): [string, () => Uploadable, string][] {
  const type = 'audio/wav';
  return [
    ['File', () => new File([bytes], 'ünï "1".wav', { type }), 'ünï "1".wav'],
    ['Blob', () => new Blob([bytes], { type }), '.wav'],
    ['Blob without type', () => new Blob([bytes]), '.wav'],
    ['ArrayBuffer', () => bytes.buffer, '.wav'],
    ['Uint8Array', () => bytes, '.wav'],
    ['bytes with a name', () => ({ data: bytes, filename: 'named.wav' }), 'named.wav'],
    ['Response', () => new Response(bytes, { headers: { 'content-type': type } }), '.wav'],
    ['ReadableStream', () => inPieces(bytes, 3_000), '.wav'],
    ['async iterable', () => generated(bytes), '.wav'],
    [
      'stream with a name',
      () => toStreamingFile(generated(bytes), 'streamed.wav', { size: bytes.length }),
      'streamed.wav',
    ],
  ];
}

/** Files, given in every way. */
export const uploadChecks: readonly Check[] = [
  {
    name: 'files arrive whole, with name and type, in whatever way they are given',
    async run(world) {
      const bytes = wavBytes(1);
      for (const [way, give, name] of waysToGive(bytes)) {
        const { client, remote } = await fresh(world);
        const answer = await client.audio.translations.create({
          model: 'm-translation',
          file: give(),
        });
        assert(answer.text.includes('1.0 seconds'), `${way}: the sound did not arrive whole`);
        const [request] = await remote.requests();
        const [file] = request?.body.files ?? [];
        equal([file?.field, file?.size], ['file', bytes.length], `${way}: field and size`);
        assert(file?.filename.endsWith(name) === true, `${way}: the name is ${file?.filename}`);
        assert(/^audio\/(x-|vnd\.)?wave?$/.test(file.type), `${way}: the type is ${file.type}`);
        equal(request?.body.fields, { model: 'm-translation' }, `${way}: other fields`);
      }
    },
  },
  {
    name: 'several images and a mask in one form',
    async run(world) {
      const { client, remote } = await fresh(world);
      const image = [await toFile(pngBytes(), 'a.png'), new Blob([pngBytes()])];
      const mask = new File([pngBytes()], 'mask.png', { type: 'image/png' });
      await client.images.edit({ model: 'm-image', prompt: 'A hat', image, mask });
      const [request] = await remote.requests();
      const fields = request?.body.files?.map(({ field }) => field);
      equal(fields, ['image[]', 'image[]', 'mask'], 'fields');
      assert(
        request?.body.files?.every(({ type }) => type === 'image/png') === true,
        'Not every type is image/png',
      );
    },
  },
  {
    name: 'a form is sent again after a rate limit, whole',
    async run(world) {
      const { client, remote } = await fresh(world);
      await remote.fail({ type: 'rate-limit', retryAfter: 0 });
      const file = new File([wavBytes(1)], 'a.wav');
      await client.audio.translations.create({ model: 'm-translation', file });
      const sizes = (await remote.requests()).map(({ body }) => body.files?.[0]?.size);
      equal(sizes, [8_044, 8_044], 'sizes');
    },
  },
  {
    name: 'a form of the caller, with files that have no name',
    async run(world) {
      const { client, remote } = await fresh(world);
      const body = new FormData();
      body.append('model', 'm-translation');
      body.append('file', new File([wavBytes(1)], 'a.wav'));
      body.append('other', new Blob(['hello']));
      await client.post('/v1/audio/translations', { body });
      const [request] = await remote.requests();
      const files = request?.body.files?.map(({ field, filename, size }) => [
        field,
        filename,
        size,
      ]);
      equal(files?.[0], ['file', 'a.wav', 8_044], 'the file');
      // workerd calls a blob by its field.
      const name = world.family === 'workerd' ? 'other' : 'blob';
      equal(files?.[1], ['other', name, 5], 'the blob');
    },
  },
  {
    name: 'a stream is never sent twice',
    async run(world) {
      const { client, remote } = await fresh(world);
      await remote.fail({ type: 'rate-limit', retryAfter: 0 });
      const file = toStreamingFile(generated(wavBytes(1)), 'a.wav');
      const call = client.audio.translations.create({ model: 'm-translation', file });
      await call.catch(() => {});
      // Runtimes that can't stream uploads read the stream into memory, and can send it again.
      const expected = isPage(world) || world.family === 'workerd' ? 2 : 1;
      equal((await remote.requests()).length, expected, 'requests');
    },
  },
  {
    name: '16 MiB in a stream',
    async run(world) {
      const { client, remote } = await fresh(world);
      const bytes = wavBytes(2_097);
      const startedAt = Date.now();
      const file = toStreamingFile(inPieces(bytes, 65_536), 'a.wav', { size: bytes.length });
      await client.audio.translations.create({ model: 'm-translation', file });
      const [request] = await remote.requests();
      equal(request?.body.files?.[0]?.size, bytes.length, 'size');
      return `${Date.now() - startedAt} ms`;
    },
  },
];
