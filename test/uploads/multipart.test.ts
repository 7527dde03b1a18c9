import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { build } from 'esbuild';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { toStreamingFile as toTheirStreamingFile } from 'openai';
import { InvalidInputError, toFile, toStreamingFile } from '../../src/index.ts';
import { formBody, type FormFields } from '../../src/uploads/multipart.ts';
import { isUploadable } from '../../src/uploads/file-input.ts';
import type { Uploadable } from '../../src/uploads/types.ts';
import { mediaHeads } from '../helpers/media.ts';
import { encodeForm, type EncodedForm } from '../helpers/encode-form.ts';
import { parseMultipart, type RawPart } from '../helpers/parse-multipart.ts';

const { mp3, png, jpeg } = mediaHeads;
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'multipart-'));
  await writeFile(join(folder, 'talk.mp3'), mp3);
  await writeFile(join(folder, 'empty.mp3'), '');
  await writeFile(join(folder, 'digits'), '0123456789'.repeat(20));
});
afterAll(() => rm(folder, { recursive: true }));

async function* chunks(...values: (string | Uint8Array)[]) {
  for (const value of values) yield await Promise.resolve(value);
}

async function* silent(): AsyncGenerator<string> {
  await new Promise(() => {});
  yield '';
}

const asBrowser = (value: string): string => value.replaceAll(/\r\n|\r|\n/g, '\r\n');
const escaped = (value: string): string =>
  value.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');

function cut(data: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const points = [0, ...cuts.map((point) => Math.min(point, data.length)), data.length];
  points.sort((first, second) => first - second);
  return points.slice(1).map((end, index) => data.subarray(points[index], end));
}

/** The same answer that a gateway gives when it reads the body. */
async function readForm({ body, headers }: EncodedForm): Promise<[string, string | File][]> {
  return [...(await new Response(body, { headers }).formData())];
}

async function readRaw({ body, headers }: EncodedForm): Promise<RawPart[]> {
  const response = new Response(body, { headers });
  const contentType = response.headers.get('content-type') ?? '';
  const bytes = new Uint8Array(await response.arrayBuffer());
  const length = headers['content-length'];
  if (length !== undefined) expect(bytes.byteLength).toBe(Number(length));
  return parseMultipart(bytes, contentType);
}

async function rejection(fields: FormFields): Promise<unknown> {
  return encodeForm(fields).then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('formBody() with text', () => {
  const fields: FormFields = [
    ['model', 'm'],
    ['n', 2],
    ['temperature', 0.5],
    ['watermark', false],
    ['metadata', { negative_prompt: 'a "b"', nested: [1, null] }],
    ['missing', undefined],
    ['nothing', null],
    ['tags', ['a', undefined, 3]],
    ['content', [{ b: 1 }, 'c']],
    ['tags', 'again'],
    ['empty', ''],
  ];
  const expected = [
    ['model', 'm'],
    ['n', '2'],
    ['temperature', '0.5'],
    ['watermark', 'false'],
    ['metadata', '{"negative_prompt":"a \\"b\\"","nested":[1,null]}'],
    ['tags', 'a'],
    ['tags', '3'],
    ['content', '[{"b":1},"c"]'],
    ['tags', 'again'],
    ['empty', ''],
  ];

  test('writes numbers, booleans, objects and lists as text, in order', async () => {
    const form = await encodeForm(fields);

    expect(form.replayable).toBe(true);
    expect(await readForm(form)).toEqual(expected);
  });

  test('writes the same text next to a stream', async () => {
    const form = await encodeForm([...fields, ['file', chunks('x')]]);

    expect(form.replayable).toBe(false);
    expect((await readForm(form)).slice(0, -1)).toEqual(expected);
  });

  test('formBody() with text has a random boundary in its content type', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    vi.spyOn(Date, 'now').mockReturnValue(1);
    // As in a page without TLS.
    vi.stubGlobal('crypto', { getRandomValues: crypto.getRandomValues.bind(crypto) });

    const forms = await Promise.all(Array.from({ length: 100 }, () => encodeForm(fields)));

    const types = forms.map(({ headers }) => headers['content-type']);
    expect(new Set(types).size).toBe(100);
    expect(types[0]).toMatch(/^multipart\/form-data; boundary=----formdata-\d{20,40}$/);
    expect(forms[0]?.body).toHaveProperty('type', types[0]);
  });

  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  test.each([
    { name: 'n', value: NaN, field: 'n' },
    { name: 'n', value: Infinity, field: 'n' },
    { name: 'metadata', value: cycle, field: 'metadata.self' },
    { name: 'metadata', value: { n: 1n }, field: 'metadata.n' },
    { name: 'callback', value: () => {}, field: 'callback' },
    { name: 'mark', value: Symbol('x'), field: 'mark' },
  ])('rejects $name if it cannot be written', async ({ name, value, field }) => {
    expect(await rejection([[name, value]])).toMatchObject({ name: 'InvalidInputError', field });
  });

  test('rejects values that are not files in a file field', async () => {
    const error = await rejection([['image', { image_url: 'x' }, 'image']]);

    expect(error).toMatchObject({ name: 'InvalidInputError', field: 'image' });
  });

  test('sends a URL or a data URL in a file field as text', async () => {
    const form = await encodeForm([['input_reference', 'https://example.com/a.png', 'any']]);

    expect(await readForm(form)).toEqual([['input_reference', 'https://example.com/a.png']]);
  });
});

describe('formBody() with files in memory', () => {
  test.each([
    ['a Blob', () => new Blob([png])],
    ['a File', () => new File([png], 'image.png')],
    ['a Buffer', () => Buffer.from(png)],
    ['an ArrayBuffer', () => png.slice().buffer],
    ['{ data }', () => ({ data: png })],
    ['a Response', () => new Response(png, { headers: { 'content-type': 'image/png' } })],
  ])('adds a name and a type to %s', async (_, make) => {
    const form = await encodeForm([['image', make(), 'image']]);

    const [[field, file] = []] = await readForm(form);
    expect(field).toBe('image');
    expect(file).toMatchObject({ name: 'image.png', type: 'image/png', size: png.length });
    expect(form.replayable).toBe(true);
  });

  test('formBody() with files in memory can be sent twice', async () => {
    const form = await encodeForm([['image', png, 'image']]);

    const bytes = () => new Response(form.body).bytes();
    expect(await bytes()).toEqual(await bytes());
    expect(await readRaw(form)).toHaveLength(1);
  });

  test('sends several files under one name, each with its own name', async () => {
    const second = { data: jpeg, filename: 'cat.PNG' };

    const form = await encodeForm([['image[]', [png, second], 'image']]);

    expect(
      (await readForm(form)).map(([name, file]) => [name, file instanceof File && file.name]),
    ).toEqual([
      ['image[]', 'image.png'],
      ['image[]', 'cat.jpg'],
    ]);
  });

  test('keeps the bytes of a renamed file', async () => {
    const form = await encodeForm([['image', new File([jpeg], 'a.png'), 'image']]);

    const [part] = await readRaw(form);
    expect(part?.headers).toEqual([
      'Content-Disposition: form-data; name="image"; filename="a.jpg"',
      'Content-Type: image/jpeg',
    ]);
    expect(new Uint8Array(part?.content ?? [])).toEqual(jpeg);
  });

  test('names the field and the index of a file that cannot be sent', async () => {
    expect(await rejection([['image[]', [png, new Blob([])], 'image']])).toMatchObject({
      name: 'InvalidInputError',
      message: expect.stringMatching(/^image\[1\]: is empty \(0 bytes\)/),
      field: 'image[1]',
      outcome: 'not_sent',
    });
  });

  test('names the field of a failed response', async () => {
    expect(await rejection([['image', new Response('', { status: 500 })]])).toMatchObject({
      field: 'image',
      message: expect.stringContaining('response with status 500'),
    });
  });
});

describe('formBody() with streams', () => {
  test('formBody() with streams has an unpredictable boundary', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);

    const first = await encodeForm([['file', chunks('x')]]);
    const second = await encodeForm([['file', chunks('x')]]);

    expect(first.headers['content-type']).toMatch(/boundary=.{20,}/);
    expect(first.headers['content-type']).not.toBe(second.headers['content-type']);
  });

  test.each([
    ['an fs stream', () => createReadStream(join(folder, 'talk.mp3'))],
    ['a Node stream', () => Readable.from([Buffer.from(mp3)])],
    ['a web stream', () => new Blob([mp3]).stream()],
    ['an async iterable', () => chunks(mp3.slice(0, 2), mp3.slice(2))],
    ['a streaming file', () => toStreamingFile(chunks(mp3), 'talk')],
    ['a streaming file of openai', () => toTheirStreamingFile(chunks(mp3), 'talk')],
  ])('streams %s, with a name and a type', async (_, make) => {
    const form = await encodeForm([
      ['file', make(), 'audio'],
      ['model', 'm'],
    ]);

    expect(form.body).toBeInstanceOf(ReadableStream);
    expect(form.replayable).toBe(false);
    const [file, model] = await readRaw(form);
    expect(file?.headers[0]).toMatch(/name="file"; filename="(talk|file)\.mp3"$/);
    expect(file?.headers[1]).toBe('Content-Type: audio/mpeg');
    expect(new Uint8Array(file?.content ?? [])).toEqual(mp3);
    expect(String(model?.content)).toBe('m');
    expect(form.sourceError()).toBeUndefined();
  });

  test.each([
    { name: 'the whole file', range: {}, length: 200 },
    { name: 'from a start', range: { start: 50 }, length: 150 },
    { name: 'a range', range: { start: 50, end: 59 }, length: 10 },
    { name: 'up to an end', range: { end: 9 }, length: 10 },
    { name: 'up to an end, beyond what is looked at first', range: { end: 149 }, length: 150 },
    { name: 'an end behind the end of the file', range: { start: 190, end: 5000 }, length: 10 },
  ])('formBody() with streams has the length of an fs stream: $name', async ({ range, length }) => {
    const form = await encodeForm([['file', createReadStream(join(folder, 'digits'), range)]]);

    expect(form.headers['content-length']).toBeDefined();
    const [part] = await readRaw(form);
    expect(part?.content).toHaveLength(length);
  });

  test('formBody() with streams has the length of a stream that provides it', async () => {
    const file = toStreamingFile(chunks('a'.repeat(50), 'b'.repeat(50)), 'a.txt', { size: 100 });

    const form = await encodeForm([
      ['file', file],
      ['image', png],
    ]);

    expect(form.headers['content-length']).toBeDefined();
    expect(await readRaw(form)).toHaveLength(2);
  });

  test('formBody() with streams has no length if one part has none', async () => {
    const long = 'a'.repeat(100);

    const form = await encodeForm([
      ['file', toStreamingFile(chunks(long), 'a.txt', { size: 100 })],
      ['other', chunks(long, long)],
    ]);

    expect(Object.keys(form.headers)).toEqual(['content-type']);
    expect(await readRaw(form)).toHaveLength(2);
  });

  test('reads only the first bytes before the body is read', async () => {
    let pulls = 0;
    async function* counted(): AsyncGenerator<Uint8Array> {
      for (; pulls < 100; pulls += 1) yield await Promise.resolve(new Uint8Array(1024));
    }

    const form = await encodeForm([['file', counted()]]);

    expect(pulls).toBe(0);
    await readRaw(form);
    expect(pulls).toBe(100);
  });

  test('stops reading under backpressure', async () => {
    let pulls = 0;
    const endless = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulls += 1;
          controller.enqueue(new Uint8Array(1024));
        },
      },
      { highWaterMark: 0 },
    );
    const form = await encodeForm([['file', endless]]);
    if (!(form.body instanceof ReadableStream)) throw new Error('Expected a stream');
    const reader = form.body.getReader();

    for (let reads = 0; reads < 10; reads += 1) {
      await reader.read();
      await new Promise(setImmediate);
    }

    expect(pulls).toBeLessThan(15);
    await reader.cancel();
  });

  test.each([
    {
      name: 'an fs stream',
      field: 'file',
      make: () => createReadStream(join(folder, 'empty.mp3')),
    },
    { name: 'an async iterable', field: 'file', make: () => chunks('', new Uint8Array()) },
    { name: 'a web stream', field: 'file', make: () => new Blob([]).stream() },
    { name: 'a streaming file', field: 'file', make: () => toStreamingFile(chunks(), 'a.mp3') },
  ])('rejects $name of zero bytes', async ({ field, make }) => {
    expect(await rejection([[field, make(), 'audio']])).toMatchObject({
      name: 'InvalidInputError',
      field,
      message: expect.stringContaining('is empty (0 bytes)'),
    });
  });

  test('names the field of an fs stream that does not exist', async () => {
    const error = await rejection([
      ['model', 'm'],
      ['file', createReadStream(join(folder, 'missing.mp3')), 'audio'],
    ]);

    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error).toMatchObject({ field: 'file', outcome: 'not_sent' });
    expect(String(error)).toMatch(/file: cannot be read: ENOENT.*missing\.mp3'\.$/);
  });

  test('names the field of a locked stream', async () => {
    const stream = new Blob(['x']).stream();
    stream.getReader();

    expect(await rejection([['file', stream]])).toMatchObject({ field: 'file' });
  });

  test('closes every stream if one of them is invalid', async () => {
    const streams = [0, 1, 2].map(() => createReadStream(join(folder, 'talk.mp3')));
    const locked = new Blob(['x']).stream();
    locked.getReader();

    expect(await rejection([['image[]', [streams[0], locked, streams[1]]]])).toMatchObject({
      field: 'image[1]',
    });
    expect(await rejection([['image[]', [new Blob([]), streams[2]]]])).toMatchObject({
      field: 'image[0]',
    });

    expect(streams.map(({ destroyed }) => destroyed)).toEqual([true, true, true]);
  });

  test('rejects with the error of a broken stream', async () => {
    const broken = new Error('disk gone');
    async function* source(): AsyncGenerator<Uint8Array> {
      yield await Promise.resolve(new Uint8Array(1024));
      throw broken;
    }
    const other = createReadStream(join(folder, 'talk.mp3'));
    const form = await encodeForm([
      ['file', source()],
      ['other', other],
    ]);

    await expect(new Response(form.body).arrayBuffer()).rejects.toBe(broken);

    expect(form.sourceError()).toBe(broken);
    expect(other.destroyed).toBe(true);
  });

  test('rejects if a Node stream is destroyed before its end', async () => {
    const source = new Readable({ read() {} });
    source.push(Buffer.alloc(1024));
    const form = await encodeForm([['file', source]]);
    const read = new Response(form.body).arrayBuffer();

    source.destroy();

    await expect(read).rejects.toThrow('Premature close');
    expect(form.sourceError()).toBeInstanceOf(Error);
  });

  test.each([
    {
      name: 'shorter',
      size: 200,
      message: /^file: was declared with 200 bytes, but ended after 100\./,
    },
    {
      name: 'longer',
      size: 99,
      message: /^file: was declared with 99 bytes, but is longer\./,
    },
  ])('rejects if a stream is $name than its length', async ({ size, message }) => {
    const source = toStreamingFile(chunks('a'.repeat(70), 'b'.repeat(30)), 'a.txt', { size });
    const form = await encodeForm([['file', source]]);

    await expect(new Response(form.body).arrayBuffer()).rejects.toThrow(message);

    expect(form.sourceError()).toBeInstanceOf(InvalidInputError);
  });

  test('rejects a stream that yields something other than bytes', async () => {
    expect(await rejection([['file', Readable.from([{ not: 'bytes' }])]])).toMatchObject({
      field: 'file',
      message: expect.stringContaining('must yield bytes, text or Blobs'),
    });
  });

  test('a release destroys the source, and a partial file does not look complete', async () => {
    const source = new Readable({ read() {} });
    source.push(Buffer.alloc(1024));
    const form = await encodeForm([['file', source]]);
    const read = new Response(form.body).arrayBuffer();

    form.release(new Error('answered already'));

    await expect(read).rejects.toThrow('answered already');
    expect(source.destroyed).toBe(true);
    expect(form.sourceError()).toBeUndefined();
  });

  test('a cancelled web stream does not look complete', async () => {
    const first = new Uint8Array(1024);
    const source = new ReadableStream({ start: (controller) => controller.enqueue(first) });
    const form = await encodeForm([['file', source]]);
    const read = new Response(form.body).arrayBuffer();
    await new Promise(setImmediate);

    form.release(new Error('stopped'));

    await expect(read).rejects.toThrow('stopped');
  });

  test('a release also closes files that have not started', async () => {
    const form = await encodeForm([
      ['file', chunks('x')],
      ['image', png],
    ]);

    form.release(new Error('stopped'));

    await expect(new Response(form.body).arrayBuffer()).rejects.toThrow('stopped');
  });

  test('a release after the end has no effect', async () => {
    const form = await encodeForm([['file', chunks('x')]]);
    const parts = await readRaw(form);

    form.release();
    form.release(new Error('again'));

    expect(parts).toHaveLength(1);
    expect(form.sourceError()).toBeUndefined();
  });

  test('cancelling the body closes the source', async () => {
    const cancelled = vi.fn<(reason: unknown) => void>();
    const source = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(1024)),
      cancel: cancelled,
    });
    const form = await encodeForm([['file', source]]);
    if (!(form.body instanceof ReadableStream)) throw new Error('Expected a stream');
    const reader = form.body.getReader();
    await reader.read();

    await reader.cancel('enough');

    expect(cancelled).toHaveBeenCalledWith('enough');
    expect(form.sourceError()).toBeUndefined();
  });
});

test('the type Uploadable has everything that can be read', () => {
  const uploadable = [
    new Blob([png]),
    new File([png], 'a.png'),
    Buffer.from(png),
    png.buffer,
    new DataView(png.buffer),
    new Response(png),
    { data: png, filename: 'a.png', type: 'image/png' },
    { data: 'text', filename: 'a.txt' },
    Readable.from([png]),
    Readable.toWeb(Readable.from([png])),
    new Blob([png]).stream(),
    chunks('x'),
    toStreamingFile(chunks('x'), 'a.txt'),
  ] satisfies readonly Uploadable[];

  expect(uploadable.every((value) => isUploadable(value))).toBe(true);
});

describe('formBody() with a signal', () => {
  test('rejects with the reason and destroys a silent source', async () => {
    const source = new Readable({ read() {} });
    const controller = new AbortController();
    const form = encodeForm([['file', source]], controller.signal);

    controller.abort(new Error('stopped'));

    await expect(form).rejects.toThrow('stopped');
    expect(source.destroyed).toBe(true);
  });

  test('formBody() with a signal does not wait for an iterable that cannot be closed', async () => {
    const controller = new AbortController();
    const form = encodeForm([['file', silent()]], controller.signal);

    controller.abort(new Error('stopped'));

    await expect(form).rejects.toThrow('stopped');
  });

  test('reads nothing if it is already aborted', async () => {
    const source = createReadStream(join(folder, 'talk.mp3'));
    const signal = AbortSignal.abort(new Error('stopped'));

    await expect(encodeForm([['file', source]], signal)).rejects.toThrow('stopped');

    expect(source.destroyed).toBe(true);
  });

  test('destroys the source while the body is being read', async () => {
    const source = new Readable({ read() {} });
    source.push(Buffer.alloc(1024));
    const controller = new AbortController();
    const form = await encodeForm([['file', source]], controller.signal);
    const read = new Response(form.body).arrayBuffer();

    controller.abort(new Error('stopped'));

    await expect(read).rejects.toThrow('stopped');
    expect(source.destroyed).toBe(true);
  });

  test('leaves no listener on a long-lived signal', async () => {
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, 'addEventListener');
    const removed = vi.spyOn(signal, 'removeEventListener');
    const form = await encodeForm([['file', chunks('x')]], signal);

    form.release();

    const listeners = added.mock.calls.map(([, listener]) => listener);
    expect(listeners).not.toHaveLength(0);
    expect(removed.mock.calls.map(([, listener]) => listener)).toEqual(
      expect.arrayContaining(listeners),
    );
  });
});

describe('formBody() without streaming uploads', () => {
  test.each([
    ['a web stream', () => new Blob([mp3]).stream()],
    ['an async iterable', () => chunks(mp3.slice(0, 2), mp3.slice(2))],
    ['a streaming file', () => toStreamingFile(chunks(mp3), 'talk.mp3')],
  ])('reads %s into memory', async (_, make) => {
    vi.stubGlobal('process', undefined);

    const form = await encodeForm([['file', make(), 'audio']]);

    expect(form.replayable).toBe(true);
    expect(form.body).toBeInstanceOf(Blob);
    const [part] = await readRaw(form);
    expect(part?.headers[0]).toMatch(/filename="(talk|file)\.mp3"$/);
    expect(new Uint8Array(part?.content ?? [])).toEqual(mp3);
  });

  test('reads into memory in a bundle for browsers', async () => {
    const { outputFiles } = await build({
      stdin: {
        contents: "export { formBody } from './src/uploads/multipart.ts';",
        resolveDir: process.cwd(),
      },
      bundle: true,
      platform: 'browser',
      format: 'esm',
      write: false,
    });
    const code = outputFiles[0]?.text ?? '';
    expect(code).not.toMatch(/(from|import|require)\s*\(?\s*["'](node:|form-data)/);
    vi.stubGlobal('self', globalThis);
    const bundle: unknown = await import(
      /* @vite-ignore */ `data:text/javascript,${encodeURIComponent(code)}`
    );
    const inBundle = Reflect.get(Object(bundle), 'formBody');
    const { signal } = new AbortController();

    const form = await inBundle([['file', chunks(mp3), 'audio']]).encode(undefined, signal);

    expect(form).toMatchObject({ replayable: true });
    expect(form.body).toBeInstanceOf(Blob);
  });
});

describe("formBody() with the caller's fields", () => {
  test('uses them in place of others', async () => {
    const { signal } = new AbortController();
    const fields: FormFields = [
      ['model', 'm'],
      ['n', 1],
      ['image', png, 'image'],
    ];

    const { body } = await formBody(fields).encode({ n: 2, more: 'x' }, signal);

    if (!(body instanceof Blob)) throw new Error('Expected a Blob');
    const form = await new Response(body).formData();
    expect([...form.keys()]).toEqual(['model', 'image', 'n', 'more']);
  });
});

describe('encoded forms are decoded unchanged', () => {
  // `%22` is how a quote travels, so a name that holds the text `%22` reads as a quote.
  const name = fc
    .string({ unit: 'binary', minLength: 1, maxLength: 20 })
    .filter((text) => !/%(22|0A|0D)/i.test(text));
  // The other parser takes a byte order mark off the front of a name.
  // Folders and control characters are removed from names.
  // oxlint-disable-next-line no-control-regex -- these are the characters to remove
  const fileName = name.map((text) => `f${text.replaceAll(/[/\\]|[\0-\x1f\x7f]/g, '_')}.dat`);
  const content = fc
    .uint8Array({ minLength: 1, maxLength: 500 })
    .map((data) => Uint8Array.from(data));
  const text = fc.string({ unit: 'binary' });
  const field = fc.oneof(
    fc.record({ name, text }),
    fc.record({ name, fileName, content, cuts: fc.array(fc.nat(500), { maxLength: 4 }) }),
  );
  const fields = fc.array(field, { minLength: 1, maxLength: 5 });
  type Field = typeof fields extends fc.Arbitrary<(infer Item)[]> ? Item : never;

  function expectParts(parts: readonly RawPart[], sent: readonly Field[]): void {
    expect(parts).toHaveLength(sent.length);
    for (const [index, value] of sent.entries()) {
      const part = parts[index];
      const start = `Content-Disposition: form-data; name="${escaped(asBrowser(value.name))}"`;
      if ('text' in value) {
        expect(part?.headers).toEqual([start]);
        expect(String(part?.content)).toBe(asBrowser(value.text));
        continue;
      }
      expect(part?.headers[0]).toBe(`${start}; filename="${escaped(value.fileName)}"`);
      expect(part?.headers).toHaveLength(2);
      expect(Buffer.compare(part?.content ?? Buffer.of(), value.content)).toBe(0);
    }
  }

  test('encoded forms are decoded unchanged as a Blob, by an independent parser', () =>
    fc.assert(
      fc.asyncProperty(fields, async (sent) => {
        const form = await encodeForm(
          sent.map((value) =>
            'text' in value
              ? [value.name, value.text]
              : [value.name, { data: value.content, filename: value.fileName }],
          ),
        );

        const read = await readForm(form);

        expect(read.map(([key]) => key)).toEqual(sent.map((value) => asBrowser(value.name)));
        for (const [index, value] of sent.entries()) {
          const found = read[index]?.[1];
          if ('text' in value) {
            expect(found).toBe(asBrowser(value.text));
            continue;
          }
          if (!(found instanceof File)) throw new Error('Expected a file');
          expect(found.name).toBe(value.fileName);
          expect(await found.bytes()).toEqual(value.content);
        }
        expectParts(await readRaw(form), sent);
      }),
    ));

  test('encoded forms are decoded unchanged as a stream, in any chunks', () =>
    fc.assert(
      fc.asyncProperty(fields, fileName, content, async (sent, lastName, last) => {
        const form = await encodeForm([
          ...sent.map((value) => {
            if ('text' in value) return [value.name, value.text] as const;
            const pieces = cut(value.content, value.cuts);
            return [value.name, toStreamingFile(chunks(...pieces), value.fileName)] as const;
          }),
          ['last', toStreamingFile(chunks(last), lastName, { size: last.length })],
        ]);

        const parts = await readRaw(form);

        const all = [...sent, { name: 'last', fileName: lastName, content: last, cuts: [] }];
        expectParts(parts, all);
      }),
    ));

  test('both encodings have the same parts', () =>
    fc.assert(
      fc.asyncProperty(name, text, fileName, content, async (key, value, filename, data) => {
        const inMemory = await encodeForm([
          [key, value],
          ['file', await toFile(data, filename)],
        ]);
        const streamed = await encodeForm([
          [key, value],
          ['file', toStreamingFile(chunks(data), filename)],
        ]);

        expect(await readRaw(streamed)).toEqual(await readRaw(inMemory));
      }),
    ));
});
