import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { InvalidInputError, toFile, toStreamingFile } from '../../src/index.ts';
import {
  audioExtensions,
  describeFile,
  nameFromDisposition,
  type FilePurpose,
} from '../../src/uploads/file-name.ts';
import { isUploadable } from '../../src/uploads/file-input.ts';
import { emulated, failureOf } from '../helpers/clients.ts';
import { mediaHeads } from '../helpers/media.ts';
import { untyped } from '../helpers/untyped.ts';

const { png, jpeg, unknown } = mediaHeads;

function named(purpose: FilePurpose, name?: string, type?: string, head: Uint8Array = unknown) {
  const description = describeFile({ field: 'file', purpose, name, type, head });
  return `${description.name} ${description.type}`;
}

async function* chunks(...values: (string | Uint8Array | ArrayBuffer | Blob)[]) {
  for (const value of values) yield await Promise.resolve(value);
}

async function* broken(): AsyncGenerator<string> {
  yield await Promise.resolve('a');
  throw new Error('disk gone');
}

describe('describeFile()', () => {
  test.each([
    { name: 'png', head: png, expected: 'image.png image/png' },
    { name: 'jpeg', head: jpeg, expected: 'image.jpg image/jpeg' },
    { name: 'webp', head: mediaHeads.webp, expected: 'image.webp image/webp' },
    { name: 'gif', head: mediaHeads.gif, expected: 'image.gif image/gif' },
    { name: 'avif', head: mediaHeads.avif, expected: 'image.avif image/avif' },
    { name: 'heic', head: mediaHeads.heic, expected: 'image.heic image/heic' },
    { name: 'a film', head: mediaHeads.mp4, expected: 'image.mp4 video/mp4' },
  ])('names an image without a name by its bytes: $name', ({ head, expected }) => {
    const { name, type } = describeFile({
      field: 'image',
      purpose: 'image',
      name: undefined,
      type: '',
      head,
    });

    expect(`${name} ${type}`).toBe(expected);
  });

  test.each([
    { name: 'ID3', head: mediaHeads.mp3, expected: 'file.mp3 audio/mpeg' },
    { name: 'an MPEG frame', head: mediaHeads.mp3Frame, expected: 'file.mp3 audio/mpeg' },
    { name: 'wav', head: mediaHeads.wav, expected: 'file.wav audio/wav' },
    { name: 'flac', head: mediaHeads.flac, expected: 'file.flac audio/flac' },
    { name: 'ogg', head: mediaHeads.ogg, expected: 'file.ogg audio/ogg' },
    { name: 'adts', head: mediaHeads.aac, expected: 'file.aac audio/aac' },
    { name: 'mp4', head: mediaHeads.mp4, expected: 'file.mp4 video/mp4' },
    { name: 'quicktime', head: mediaHeads.mov, expected: 'file.mp4 video/mp4' },
    { name: 'm4a', head: mediaHeads.m4a, expected: 'file.m4a audio/mp4' },
    { name: 'webm', head: mediaHeads.webm, expected: 'file.webm video/webm' },
    { name: 'aiff', head: mediaHeads.aiff, expected: 'file.aiff audio/aiff' },
  ])('names audio without a name by its bytes: $name', ({ head, expected }) => {
    expect(named('audio', undefined, undefined, head)).toBe(expected);
  });

  test.each([
    // A missing extension comes from the MIME type.
    {
      purpose: 'image',
      name: 'photo',
      type: 'image/jpeg',
      head: unknown,
      expected: 'photo.jpg image/jpeg',
    },
    {
      purpose: 'audio',
      name: 'blob',
      type: 'audio/webm;codecs=opus',
      head: unknown,
      expected: 'blob.webm audio/webm;codecs=opus',
    },
    {
      purpose: 'audio',
      name: undefined,
      type: 'audio/mp4',
      head: unknown,
      expected: 'file.m4a audio/mp4',
    },
    {
      purpose: 'audio',
      name: undefined,
      type: 'audio/x-wav',
      head: unknown,
      expected: 'file.wav audio/wav',
    },
    {
      purpose: 'image',
      name: 'unknown_file',
      type: '',
      head: png,
      expected: 'unknown_file.png image/png',
    },
    // Upper case becomes lower case.
    {
      purpose: 'image',
      name: 'PHOTO.JPEG',
      type: '',
      head: unknown,
      expected: 'PHOTO.jpeg image/jpeg',
    },
    {
      purpose: 'audio',
      name: 'TALK.MP3',
      type: 'audio/mpeg',
      head: unknown,
      expected: 'TALK.mp3 audio/mpeg',
    },
    // Extensions that the gateway does not know.
    {
      purpose: 'audio',
      name: 'talk.mpga',
      type: 'audio/mpeg',
      head: unknown,
      expected: 'talk.mp3 audio/mpeg',
    },
    {
      purpose: 'audio',
      name: 'talk.mpeg',
      type: 'audio/mpeg',
      head: unknown,
      expected: 'talk.mp3 audio/mpeg',
    },
    {
      purpose: 'audio',
      name: 'clip.MOV',
      type: 'video/quicktime',
      head: mediaHeads.mov,
      expected: 'clip.mp4 video/mp4',
    },
    // Bytes of a format that is not looked for: the name is enough.
    {
      purpose: 'audio',
      name: 'talk.m4a',
      type: '',
      head: mediaHeads.unknownBrand,
      expected: 'talk.m4a audio/mp4',
    },
    {
      purpose: 'any',
      name: 'clip',
      type: '',
      head: mediaHeads.unknownBrand,
      expected: 'clip application/octet-stream',
    },
    {
      purpose: 'image',
      name: 'photo.jfif',
      type: '',
      head: jpeg,
      expected: 'photo.jpg image/jpeg',
    },
    // An extension that contradicts the bytes or the MIME type.
    {
      purpose: 'image',
      name: 'photo.png',
      type: 'image/png',
      head: jpeg,
      expected: 'photo.jpg image/jpeg',
    },
    {
      purpose: 'image',
      name: 'photo.png',
      type: 'image/jpeg',
      head: unknown,
      expected: 'photo.jpg image/jpeg',
    },
    {
      purpose: 'audio',
      name: 'talk.mp3',
      type: 'audio/mpeg',
      head: mediaHeads.wav,
      expected: 'talk.wav audio/wav',
    },
    {
      purpose: 'any',
      name: 'photo.png',
      type: undefined,
      head: jpeg,
      expected: 'photo.jpg image/jpeg',
    },
    // Several extensions of one format: the given one stays.
    {
      purpose: 'audio',
      name: 'talk.m4a',
      type: '',
      head: mediaHeads.mp4,
      expected: 'talk.m4a audio/mp4',
    },
    {
      purpose: 'audio',
      name: 'talk.opus',
      type: '',
      head: mediaHeads.ogg,
      expected: 'talk.ogg audio/ogg',
    },
    {
      purpose: 'audio',
      name: 'talk.oga',
      type: 'audio/ogg',
      head: mediaHeads.ogg,
      expected: 'talk.ogg audio/ogg',
    },
    {
      purpose: 'image',
      name: 'photo.jpeg',
      type: 'image/jpg',
      head: jpeg,
      expected: 'photo.jpeg image/jpeg',
    },
    // Bytes that only look like a format do not outweigh a name.
    {
      purpose: 'audio',
      name: 'talk.flac',
      type: '',
      head: mediaHeads.mp3,
      expected: 'talk.flac audio/flac',
    },
    {
      purpose: 'audio',
      name: 'talk.aac',
      type: '',
      head: mediaHeads.mp3Frame,
      expected: 'talk.aac audio/aac',
    },
    // A dot that starts no extension.
    {
      purpose: 'audio',
      name: 'talk.2026-01-31',
      type: '',
      head: mediaHeads.wav,
      expected: 'talk.2026-01-31.wav audio/wav',
    },
    { purpose: 'image', name: '.hidden', type: '', head: png, expected: '.hidden.png image/png' },
    // A type that says nothing of the purpose, or nothing at all.
    {
      purpose: 'image',
      name: 'photo.webp',
      type: 'text/plain',
      head: unknown,
      expected: 'photo.webp image/webp',
    },
    {
      purpose: 'image',
      name: 'photo.png',
      type: 'binary/octet-stream',
      head: unknown,
      expected: 'photo.png image/png',
    },
    {
      purpose: 'audio',
      name: 'talk.mp3',
      type: 'image/png',
      head: png,
      expected: 'talk.mp3 audio/mpeg',
    },
    // Whatever is neither.
    {
      purpose: 'any',
      name: 'lines.jsonl',
      type: '',
      head: unknown,
      expected: 'lines.jsonl application/octet-stream',
    },
    {
      purpose: 'any',
      name: 'lines.jsonl',
      type: 'application/jsonl',
      head: unknown,
      expected: 'lines.jsonl application/jsonl',
    },
    {
      purpose: 'any',
      name: 'film.mpeg',
      type: 'video/mpeg',
      head: mediaHeads.mp3Frame,
      expected: 'film.mpeg video/mpeg',
    },
    { purpose: 'any', name: 'picture.raw', type: '', head: png, expected: 'picture.raw image/png' },
    {
      purpose: 'image',
      name: 'photo',
      type: '',
      head: unknown,
      expected: 'photo application/octet-stream',
    },
    // Folders.
    {
      purpose: 'image',
      name: 'C:\\pictures\\cat.png',
      type: '',
      head: unknown,
      expected: 'cat.png image/png',
    },
    {
      purpose: 'image',
      name: '../../cat.png',
      type: '',
      head: unknown,
      expected: 'cat.png image/png',
    },
  ] as const)('$purpose $name $type', ({ purpose, name, type, head, expected }) => {
    expect(named(purpose, name, type, head)).toBe(expected);
  });

  test('names a file of a list by its field, without the brackets', () => {
    const facts = { purpose: 'image', name: undefined, type: undefined, head: png } as const;

    expect(describeFile({ ...facts, field: 'image[2]' }).name).toBe('image.png');
  });

  test.each([
    { name: 'notes.txt', type: 'text/plain', head: unknown },
    { name: 'talk', type: '', head: unknown },
    { name: undefined, type: undefined, head: unknown },
    { name: 'talk.mkv', type: 'video/x-matroska', head: mediaHeads.mkv },
    { name: 'talk.aifc', type: '', head: mediaHeads.aifc },
    { name: undefined, type: undefined, head: mediaHeads.aifc },
    { name: undefined, type: undefined, head: mediaHeads.unknownBrand },
    { name: 'scan.png', type: 'image/png', head: png },
    { name: 'talk.amr', type: 'audio/amr', head: unknown },
  ])('rejects audio of an unknown format: $name $type', ({ name, type, head }) => {
    expect(() => named('audio', name, type, head)).toThrow(InvalidInputError);
    expect(() => named('audio', name, type, head)).toThrow(/^file: .*\.mp3 .*\.aac/);
  });

  test('drops a MIME type that would break its header', () => {
    expect(named('image', 'a.png', 'image/png\r\nx-evil: 1')).toBe('a.png image/png');
  });

  test('audio always has a known extension', () => {
    const anyHead = fc.oneof(
      fc.constantFrom(...Object.values(mediaHeads)),
      fc.uint8Array({ minLength: 1 }),
    );
    const anyName = fc.oneof(
      fc.string(),
      fc
        .tuple(fc.string(), fc.constantFrom('mp3', 'MP3', 'mpga', 'mov', 'png', 'wave', 'x', ''))
        .map(([stem, extension]) => `${stem}.${extension}`),
    );
    const anyType = fc.option(fc.constantFrom('', 'audio/mpeg', 'audio/wave', 'video/mp4', 'x/y'), {
      nil: undefined,
    });
    fc.assert(
      fc.property(anyName, anyType, anyHead, (name, type, head) => {
        try {
          const description = describeFile({ field: 'file', purpose: 'audio', name, type, head });
          expect(audioExtensions()).toContain(description.name.split('.').pop());
          expect(description.type).not.toBe('');
        } catch (error) {
          if (!InvalidInputError.isInstance(error)) throw error;
        }
      }),
    );
  });

  test('is idempotent', () => {
    const anyHead = fc.constantFrom(...Object.values(mediaHeads));
    const anyName = fc.constantFrom('a', 'a.PNG', 'a.mpga', 'a.b.jpe', 'a.mov', 'a.1', '.x', '');
    const anyType = fc.constantFrom('', 'image/jpg', 'audio/mp3', 'video/quicktime', 'text/plain');
    const purposes = fc.constantFrom<FilePurpose>('image', 'any');
    fc.assert(
      fc.property(anyName, anyType, anyHead, purposes, (name, type, head, purpose) => {
        const once = describeFile({ field: 'f', purpose, name, type, head });

        expect(describeFile({ field: 'f', purpose, head, ...once })).toEqual(once);
      }),
    );
  });
});

describe('toFile()', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'files-'));
    await writeFile(join(folder, 'talk.mp3'), mediaHeads.mp3);
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('returns a File as it is', async () => {
    const file = new File(['x'], 'a.txt', { type: 'text/plain' });

    expect(await toFile(file)).toBe(file);
    expect(await toFile(file, 'a.txt', { type: 'text/plain' })).toBe(file);
  });

  test('renames a File and keeps its type and date', async () => {
    const file = new File(['x'], 'a.txt', { type: 'text/plain', lastModified: 5 });

    const renamed = await toFile(file, 'b.txt');

    expect(renamed).toMatchObject({ name: 'b.txt', type: 'text/plain', lastModified: 5 });
    expect((await toFile(file, null, { lastModified: 6 })).lastModified).toBe(6);
  });

  test('a file of another package keeps its name, type and date', async () => {
    const blob = new Blob(['x'], { type: 'text/plain' });
    const foreign = Object.assign(blob, { name: 'a.txt', lastModified: 5 });

    expect(await toFile(foreign)).toMatchObject({
      name: 'a.txt',
      type: 'text/plain',
      lastModified: 5,
    });
  });

  test.each([
    ['a Blob', () => new Blob(['héllo'])],
    ['a typed array', () => new TextEncoder().encode('héllo')],
    ['a view into a larger buffer', () => new TextEncoder().encode('<héllo>').subarray(1, 7)],
    ['a Buffer', () => Buffer.from('héllo')],
    ['an ArrayBuffer', () => new TextEncoder().encode('héllo').buffer],
    [
      'shared memory',
      () => {
        const shared = new Uint8Array(new SharedArrayBuffer(6));
        shared.set(new TextEncoder().encode('héllo'));
        return shared;
      },
    ],
    [
      'an async iterable',
      () => chunks('h', new Blob(['é']), new Uint8Array([108]).buffer, '', 'lo'),
    ],
    ['a Node stream', () => Readable.from(['hé', 'llo'])],
    ['a web stream', () => new Blob(['héllo']).stream()],
    ['a Response', () => new Response('héllo')],
    ['{ data } with bytes', () => ({ data: Buffer.from('héllo') })],
    ['{ data } with text', () => ({ data: 'héllo', filename: 'a.txt' })],
    ['a promise', () => Promise.resolve(Buffer.from('héllo'))],
    [
      'a Blob of another implementation',
      () => {
        const blob = new Blob(['héllo']);
        const { size, type } = blob;
        return {
          size,
          type,
          arrayBuffer: () => blob.arrayBuffer(),
          bytes: () => blob.bytes(),
          slice: () => blob,
          stream: () => blob.stream(),
          text: () => blob.text(),
        };
      },
    ],
  ])('reads %s', async (_, make) => {
    const file = await toFile(make(), 'a.txt', { type: 'text/plain' });

    expect(file).toBeInstanceOf(File);
    expect(await file.text()).toBe('héllo');
    expect(file).toMatchObject({ name: 'a.txt', type: 'text/plain', size: 6 });
  });

  test('reads an fs stream and takes its name', async () => {
    const file = await toFile(createReadStream(join(folder, 'talk.mp3')));

    expect(file).toMatchObject({ name: 'talk.mp3', type: 'audio/mpeg' });
    expect(await file.bytes()).toEqual(mediaHeads.mp3);
  });

  test('names a file that does not exist', async () => {
    const file = toFile(createReadStream(join(folder, 'missing.mp3')));

    await expect(file).rejects.toThrow(/^value: cannot be read: ENOENT.*missing\.mp3/);
    await expect(file).rejects.toBeInstanceOf(InvalidInputError);
  });

  test.each([
    {
      url: 'https://example.com/a%20cat.png?size=2#top',
      disposition: undefined,
      expected: 'a cat.png',
    },
    { url: 'https://example.com/', disposition: undefined, expected: 'unknown_file' },
    { url: 'https://example.com/x%ZZ.png', disposition: undefined, expected: 'x%ZZ.png' },
    { url: 'data:image/png;base64,aaaa', disposition: undefined, expected: 'unknown_file' },
    {
      url: 'https://example.com/download',
      disposition: 'attachment; filename="cat \\"1\\".png"',
      expected: 'cat "1".png',
    },
    {
      url: 'https://example.com/download',
      disposition: "inline; filename=x; filename*=UTF-8''k%C3%A4se.png",
      expected: 'käse.png',
    },
    { url: 'https://example.com/download', disposition: 'attachment', expected: 'download' },
  ])(
    'names a response by its header or its URL: $url $disposition',
    async ({ url, disposition, expected }) => {
      const headers = new Headers(
        disposition === undefined ? {} : { 'content-disposition': disposition },
      );
      const response = new Response(png, { headers });
      Object.defineProperty(response, 'url', { value: url });

      const file = await toFile(response);

      expect(file).toMatchObject({ name: expected, type: 'image/png' });
    },
  );

  test('keeps folders out of a content-disposition', () => {
    expect(nameFromDisposition('attachment; filename="../../etc/cat.png"')).toBe('cat.png');
    expect(nameFromDisposition('attachment; filename=cat.png; size=3')).toBe('cat.png');
  });

  test('rejects a failed response, whose body is an error page', async () => {
    const file = toFile(new Response('Not found', { status: 404 }));

    await expect(file).rejects.toThrow('value: cannot be read: it is a response with status 404');
  });

  test('rejects a response that was already read', async () => {
    const response = new Response('x');
    await response.text();

    await expect(toFile(response)).rejects.toBeInstanceOf(InvalidInputError);
  });

  test('detects the type from the name, then from the bytes', async () => {
    expect((await toFile(Buffer.from('x'), 'a.wav')).type).toBe('audio/wav');
    expect((await toFile(jpeg)).type).toBe('image/jpeg');
    expect((await toFile(mediaHeads.m4a)).type).toBe('audio/mp4');
    expect((await toFile(Buffer.from('x'))).type).toBe('');
  });

  test('names a file without a name `unknown_file`', async () => {
    expect((await toFile(Buffer.from('x'))).name).toBe('unknown_file');
  });

  test('prefers its parameters to those in { data }', async () => {
    const value = {
      data: new Blob(['x'], { type: 'text/css' }),
      filename: 'f/a.css',
      type: 'text/x',
    };

    expect(await toFile(value)).toMatchObject({ name: 'a.css', type: 'text/x' });
    expect(await toFile(value, 'b', { type: 'text/y' })).toMatchObject({
      name: 'b',
      type: 'text/y',
    });
  });

  test('rejects with the error of the stream', async () => {
    await expect(toFile(broken())).rejects.toThrow('value: cannot be read: disk gone.');
  });

  test('rejects text, which may be a path', async () => {
    const call: unknown = Reflect.apply(toFile, undefined, ['cat.png', 'cat.png']);

    await expect(call).rejects.toThrow(/^value: must be a file .*; open a path with fileFromPath/);
  });

  test('explains what data may be if it is a stream', async () => {
    const value = { data: new Blob(['x']).stream(), filename: 'a.png', type: 'image/png' };
    const call: unknown = Reflect.apply(toFile, undefined, [value]);

    await expect(call).rejects.toThrow(
      'value: must have a Blob, bytes or text in data, not a stream; pass the stream itself, or toStreamingFile(data, filename) to name it.',
    );
  });

  test.each([[null], [undefined], [5], [{}]])('rejects %j', async (value) => {
    const call: unknown = Reflect.apply(toFile, undefined, [value]);

    await expect(call).rejects.toThrow(/^value: must be a file .*, not/);
  });
});

describe('toStreamingFile()', () => {
  test('marks a stream and reads nothing', () => {
    const stream = new Blob(['x']).stream();

    const file = toStreamingFile(stream, 'a/b/talk.mp3', { type: 'audio/mpeg', size: 3 });

    expect(file).toMatchObject({ name: 'talk.mp3', type: 'audio/mpeg', size: 3 });
    expect(stream.locked).toBe(false);
  });

  test.each([
    { name: '', options: {}, field: 'name' },
    { name: 'folder/', options: {}, field: 'name' },
    { name: 'a', options: { size: 0 }, field: 'size' },
    { name: 'a', options: { size: 1.5 }, field: 'size' },
  ])('rejects the name $name with $options', ({ name, options, field }) => {
    const make = (): unknown => toStreamingFile(chunks('x'), name, options);

    expect(make).toThrow(expect.objectContaining({ name: 'InvalidInputError', field }));
  });
});

describe('isUploadable()', () => {
  test.each([
    ['a Blob', new Blob(['x'])],
    ['a File', new File(['x'], 'a')],
    ['bytes', new Uint8Array(1)],
    ['an ArrayBuffer', new ArrayBuffer(1)],
    ['a Response', new Response('x')],
    ['a web stream', new Blob(['x']).stream()],
    ['a Node stream', Readable.from(['x'])],
    ['an async iterable', chunks('x')],
    ['a streaming file', toStreamingFile(chunks('x'), 'a')],
    ['{ data } with bytes', { data: new Uint8Array(1) }],
    ['{ data, filename } with text', { data: 'x', filename: 'a.txt' }],
  ])('accepts %s', (_, value) => {
    expect(isUploadable(value)).toBe(true);
  });

  test.each([
    ['https://example.com/cat.png'],
    ['data:image/png;base64,aaaa'],
    [{ image_url: 'https://example.com/cat.png' }],
    [{ data: 'not a file' }],
    [[new Blob(['x'])]],
    [5],
    [null],
    [undefined],
  ])('rejects %j', (value) => {
    expect(isUploadable(value)).toBe(false);
  });
});

/** Objects whose `data` is not the content of a file, and what the error calls it. */
const noContents: readonly (readonly [data: unknown, name: string])[] = [
  [Readable.from(['x']), 'a stream; pass the stream itself'],
  [new Blob(['x']).stream(), 'a stream; pass the stream itself'],
  [Promise.resolve(new Uint8Array([1])), 'a promise, which needs "await" before it;'],
  [[1, 2], 'a list;'],
  [null, 'null;'],
  [new Response('x'), 'an object;'],
];

test.each(noContents)('{ data } with something else is never sent: %o', async (data, name) => {
  const { client, emulator } = emulated();
  const file = untyped<Blob>({ data, filename: 'a.png', type: 'image/png' });
  const prompt = 'A fox';
  const calls = {
    image: () => client.images.edit({ model: 'm-image', prompt, image: file }),
    mask: () =>
      client.images.edit({ model: 'm-image', prompt, image: new Blob(['x']), mask: file }),
    file: () => client.audio.transcriptions.create({ model: 'm-translation', file }),
    input_reference: () =>
      client.videos.create({ model: 'm-video', prompt, input_reference: file }),
  };

  for (const [field, call] of Object.entries(calls)) {
    const { message } = Object(await failureOf(call()));
    expect(message).toContain(`${field}: must have a Blob, bytes or text in data, not ${name}`);
  }
  expect(emulator.requests).toEqual([]);
});
