import { beforeEach, describe, expect, test, vi } from 'vitest';
import { APIError } from '../../../src/errors/api-errors.ts';
import { GatewayError, InvalidInputError } from '../../../src/errors/gateway-error.ts';
import { StreamTruncatedError } from '../../../src/streams/errors.ts';
import { toStreamingFile } from '../../../src/uploads/to-file.ts';
import { toFile } from '../../../src/uploads/to-file.ts';
import type { Fault } from '../../../src/testing/index.ts';
import {
  bodyOf,
  collect,
  emulated,
  eventStream,
  failureOf,
  json,
  misuse,
  scripted,
} from '../../helpers/clients.ts';
import { fetchFailure } from '../../helpers/failures.ts';
import { intercepted } from '../../helpers/intercepted.ts';
import { mediaHeads } from '../../helpers/media.ts';

const model = 'm-image';
const prompt = 'a red circle';
const { png, jpeg, webp } = mediaHeads;
const url = 'https://pictures.test/cat.png';
const dataURL = 'data:image/png;base64,AAAA';

describe('images.generate()', () => {
  test('returns image URLs', async () => {
    const { client, emulator } = emulated();

    const response = await client.images.generate({ model, prompt, n: 2, size: '256x256' });

    expect(response.data).toHaveLength(2);
    expect(response.data[0]).toMatchObject({ url: expect.stringMatching(/^http/) });
    expect(response.created).toBeGreaterThan(0);
    expect(response).toHaveProperty('_request_id', emulator.requests[0]?.id);
    expect(emulator.charges).toHaveLength(1);
  });

  test('returns base64 if requested', async () => {
    const { client } = emulated();

    const { data } = await client.images.generate({
      model,
      prompt,
      size: '64x64',
      response_format: 'b64_json',
    });

    const bytes = Buffer.from(data[0]?.b64_json ?? '', 'base64');
    expect(bytes.subarray(1, 4).toString()).toBe('PNG');
  });

  test('lets the gateway choose the model if none is set', async () => {
    const { client, requests } = scripted([json({ created: 1, data: [{ url }] })]);

    await client.images.generate({ prompt });

    expect(await bodyOf(requests[0])).toEqual({ prompt });
  });

  test('sends no response_format by default, because some models reject it', async () => {
    const { client, emulator } = emulated({}, { quirks: { imageFormatRefused: true } });

    await client.images.generate({ model, prompt });

    expect(emulator.requests[0]?.body).toEqual({ kind: 'json', value: { model, prompt } });
  });

  test('empty and null fields of an image are absent', async () => {
    const { client } = scripted([
      json({
        created: 1,
        data: [
          { url: '', b64_json: 'AAAA', revised_prompt: '' },
          { url, b64_json: null },
        ],
      }),
    ]);

    const { data } = await client.images.generate({ model, prompt });

    expect(data).toEqual([{ b64_json: 'AAAA' }, { url }]);
    expect(data.map((image) => 'url' in image)).toEqual([false, true]);
  });

  test('returns data URLs unchanged', async () => {
    const { client } = emulated({}, { quirks: { imageFormat: 'data-url', imageKeys: 'all' } });

    const { data } = await client.images.generate({ model, prompt, size: '64x64' });

    expect(data[0]?.url).toMatch(/^data:image\/png;base64,/);
    expect(data[0]).not.toHaveProperty('b64_json');
  });

  test('returns an empty list for a response without images', async () => {
    const { client } = scripted([json({ created: 1, data: [] })]);
    const response = await client.images.generate({ model, prompt });
    expect(response.data).toEqual([]);
  });

  test('accepts and charges fewer images than requested', async () => {
    const { client, emulator } = emulated({}, { quirks: { imagesFiltered: 1 } });

    const { data } = await client.images.generate({ model, prompt, n: 3 });

    expect(data).toHaveLength(2);
    expect(emulator.charges).toHaveLength(1);
  });

  test('keeps unknown fields and unknown enum values', async () => {
    const wire = { created: '7', data: [{ url, seed: 4 }], quality: 'ultra', metadata: { a: 1 } };
    const { client, drifts } = scripted([json(wire)]);

    const response = await client.images.generate({ model, prompt });

    expect(response).toEqual({ ...wire, created: 7 });
    expect(drifts).toEqual([]);
  });

  test('an error with status 200 rejects', async () => {
    const error = { message: 'inspected', type: 'ali_error', code: 'DataInspectionFailed' };
    const { client, requests } = scripted([json({ error })]);

    await expect(client.images.generate({ model, prompt })).rejects.toMatchObject({
      status: 200,
      code: 'DataInspectionFailed',
      outcome: 'unknown',
    });
    expect(requests).toHaveLength(1);
  });
});

const refused = () => fetchFailure('ECONNREFUSED', 'connect');

describe('images are charged once', () => {
  beforeEach(() => {
    // Node reads the bytes of a file in immediates, which must go on by themselves.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
    return () => vi.useRealTimers();
  });

  const lost: { name: string; fault: Fault; charges: 0 | 1 }[] = [
    { name: '502', fault: { type: 'html', status: 502, charged: true }, charges: 1 },
    { name: '503', fault: { type: 'error', status: 503, charged: true }, charges: 1 },
    { name: '500', fault: { type: 'error', status: 500, charged: true }, charges: 1 },
    { name: '524', fault: { type: 'html', status: 524, charged: true }, charges: 1 },
    {
      name: 'a reset after the charge',
      fault: { type: 'reset', when: 'after-charge' },
      charges: 1,
    },
    {
      name: 'a reset before the charge',
      fault: { type: 'reset', when: 'before-charge' },
      charges: 0,
    },
    { name: 'a body that is cut', fault: { type: 'cut', bytes: 20 }, charges: 1 },
    { name: 'no answer at all', fault: { type: 'hang', charged: true }, charges: 1 },
  ];

  test.each(lost)(
    'images are charged once, with one request after $name',
    async ({ fault, charges }) => {
      for (const operation of ['images.generate', 'images.edit'] as const) {
        const { client, emulator } = emulated({ timeout: 60_000 });
        emulator.fail({ fault, times: 5 });
        const call =
          operation === 'images.generate'
            ? client.images.generate({ model, prompt })
            : client.images.edit({ model, prompt, image: png });

        const failed = failureOf(call);
        // A form is read in real time, which has to end before the timeout.
        await expect
          .poll(() => [emulator.requests.length, emulator.charges.length])
          .toEqual([1, charges]);
        await vi.advanceTimersByTimeAsync(120_000);

        const error = await failed;
        expect(error).toBeInstanceOf(APIError);
        expect(error).toMatchObject({ outcome: 'unknown' });
        expect(emulator.requests).toHaveLength(1);
        expect(emulator.charges).toHaveLength(charges);
      }
    },
  );

  test('a refused connection is retried, because nothing was sent', async () => {
    const { client, requests } = scripted([refused, json({ created: 1, data: [{ url }] })]);

    const made = client.images.generate({ model, prompt });
    await vi.advanceTimersByTimeAsync(10_000);

    await expect(made).resolves.toMatchObject({ data: [{ url }] });
    expect(requests).toHaveLength(2);
  });
});

describe('images.edit() with files', () => {
  test('sends one file as image, with its fields as text', async () => {
    const { client, emulator } = emulated();

    const { data } = await client.images.edit({
      model,
      prompt,
      image: png,
      n: 2,
      watermark: false,
    });

    expect(data).toHaveLength(2);
    expect(emulator.requests[0]?.body).toMatchObject({
      kind: 'multipart',
      fields: { model, prompt, n: '2', watermark: 'false' },
      files: [{ field: 'image', filename: 'image.png', type: 'image/png', size: png.length }],
    });
  });

  test('sends several files as image[], and one in a list as image', async () => {
    const { client, emulator } = emulated();

    await client.images.edit({ model, prompt, image: [png, jpeg] });
    await client.images.edit({ model, prompt, image: [webp] });

    const names = emulator.requests.map(({ body }) =>
      body.kind === 'multipart' ? body.files.map(({ field, filename }) => [field, filename]) : [],
    );
    expect(names).toEqual([
      [
        ['image[]', 'image.png'],
        ['image[]', 'image.jpg'],
      ],
      [['image', 'image.webp']],
    ]);
  });

  test('matches the name and the type to the bytes', async () => {
    const { client, emulator } = emulated();
    const image = new Blob([jpeg]);
    const mask = new File([png], 'mask.jpg', { type: 'image/jpeg' });

    await client.images.edit({ model, prompt, image, mask });

    expect(emulator.requests[0]?.body).toMatchObject({
      files: [
        { field: 'image', filename: 'image.jpg', type: 'image/jpeg' },
        { field: 'mask', filename: 'mask.png', type: 'image/png' },
      ],
    });
  });

  test('accepts files of toFile() and streams', async () => {
    const { client, emulator } = emulated();
    const stream = toStreamingFile(new Blob([jpeg]).stream(), 'photo.jpg');

    await client.images.edit({ model, prompt, image: await toFile(png, 'a.png') });
    await client.images.edit({ model, prompt, image: stream });

    expect(emulator.requests[0]?.body).toMatchObject({ files: [{ filename: 'a.png' }] });
    expect(emulator.requests[1]?.body).toMatchObject({ files: [{ filename: 'photo.jpg' }] });
  });

  test('edits a file inside its mask', async () => {
    const { client } = emulated();
    const made = await client.images.generate({
      model,
      prompt,
      size: '64x64',
      response_format: 'b64_json',
    });
    const image = Buffer.from(made.data[0]?.b64_json ?? '', 'base64');

    const { data } = await client.images.edit({
      model,
      prompt: 'a blue sky',
      image,
      mask: image,
      response_format: 'b64_json',
    });

    expect(data[0]?.b64_json).toMatch(/^iVBOR/);
  });

  test('sends markup as a file, and the settings of GIF images as fields', async () => {
    const { client, requests } = scripted([json({ created: 1, data: [{ b64_json: 'aGk=' }] })]);
    const gif = { output_format: 'gif', frame_count: 3, frame_duration_ms: 100 } as const;

    await client.images.edit({ model, prompt, image: png, markup: png, ...gif });

    const form = await requests[0]?.formData();
    expect(form?.get('markup')).toBeInstanceOf(File);
    expect(form?.get('frame_count')).toBe('3');
  });

  test('writes each field of an object as a form field', async () => {
    const { client, emulator } = emulated();
    const svg = { model: 'm-draw', reasoning: { effort: 'low' } } as const;

    await client.images.edit({ model, prompt, image: png, output_format: 'svg', svg });

    expect(emulator.requests[0]?.body).toMatchObject({
      fields: { 'svg[model]': 'm-draw', 'svg[reasoning][effort]': 'low' },
    });
  });

  test.each([undefined, null])('the gateway decides without a model (%s)', async (none) => {
    const { client, emulator } = emulated();
    const calls = [
      client.images.generate({ model: none, prompt }),
      client.images.edit({ model: none, prompt, image: png }),
    ];
    const errors = await Promise.all(calls.map((call) => failureOf(call)));

    for (const error of errors) {
      expect(error).toMatchObject({ status: 400, outcome: 'rejected' });
      expect(String(error)).toContain('Model name not specified');
    }
    expect(emulator.requests).toHaveLength(2);
    expect(emulator.charges).toEqual([]);
  });

  test('at a gateway that expects JSON, files are explained; references are not', async () => {
    const refusal = json({ error: { message: 'body must be valid JSON' } }, 400);
    const { client, requests } = scripted([refusal]);

    const asForm = await failureOf(client.images.edit({ model, prompt, image: png }));
    const asJSON = await failureOf(client.images.edit({ model, prompt, image: url }));

    expect(String(asForm)).toMatch(/pass the images as data URLs, .* no charge is expected/);
    expect(String(asJSON)).not.toContain('data URLs');
    expect(requests).toHaveLength(2);
  });

  test('sends extraBody, and no undefined fields', async () => {
    const { client, emulator } = emulated();
    const extraBody = { strength: 0.5 };

    await client.images.edit(
      { model, prompt, image: png, n: null, user: undefined },
      { extraBody },
    );

    expect(emulator.requests[0]?.body).toMatchObject({
      fields: { model, prompt, strength: '0.5' },
    });
  });
});

describe('images as a stream', () => {
  const completed = { type: 'image_generation.completed', b64_json: 'AAAA', created_at: 1 };

  test('a stream of images yields previews and images', async () => {
    const { client, emulator } = emulated({}, { quirks: { imageStream: 'partial' } });
    const params = { model, prompt, size: '64x64', stream: true, partial_images: 2 } as const;
    const seen: string[] = [];

    const made = await client.images.generate(params);
    for await (const event of made) seen.push(event.type);
    const edited = await client.images.edit({ ...params, image: png });
    for await (const event of edited) {
      seen.push(event.type);
      expect(event.b64_json).toMatch(/^iVBOR/);
    }

    expect(seen).toEqual([
      'image_generation.partial_image',
      'image_generation.partial_image',
      'image_generation.completed',
      'image_edit.partial_image',
      'image_edit.partial_image',
      'image_edit.completed',
    ]);
    expect(made.verdict).toBe('complete');
    expect(emulator.requests[0]?.body).toMatchObject({ value: { stream: true } });
    expect(emulator.requests[1]?.body).toMatchObject({ fields: { stream: 'true' } });
  });

  test.each(['b64_json', 'data-url', 'url'] as const)(
    'a stream of images converts a whole response with %s into events',
    async (imageFormat) => {
      const quirks = { imageStream: 'json', imageFormat, imageKeys: 'all' } as const;
      const { client } = emulated({}, { quirks });
      const params = { model: 'gpt-image-1', prompt, n: 2, size: '64x64', stream: true } as const;

      const stream = await client.images.generate(params);
      const images = await collect(stream);

      expect(images.map(({ type }) => type)).toEqual(Array(2).fill('image_generation.completed'));
      for (const image of images) {
        expect(image.b64_json === '').toBe(imageFormat === 'url');
        expect('url' in image ? image.url : undefined).toEqual(
          imageFormat === 'url' ? expect.stringMatching(/^http/) : undefined,
        );
      }
      expect(stream.usage).toMatchObject({ output_tokens: 2000 });
    },
  );

  test('a stream of images throws without the final image, and keeps the received images', async () => {
    const { client, requests } = scripted([eventStream(completed)]);
    const stream = await client.images.generate({ model, prompt, n: 2, stream: true });

    const error = await failureOf(collect(stream));

    expect(error).toBeInstanceOf(StreamTruncatedError);
    expect(error).toMatchObject({ partial: [{ b64_json: 'AAAA' }] });
    expect(requests).toHaveLength(1);
  });

  test('a stream of images accepts fewer images than requested after the terminator', async () => {
    const { client } = scripted([eventStream(completed, '[DONE]')]);
    const stream = await client.images.generate({ model, prompt, n: 2, stream: true });
    await expect(collect(stream)).resolves.toHaveLength(1);
  });

  test('a stream of images reads events without a type, with gaps or with the other name', async () => {
    const { client, drifts } = scripted([
      eventStream({ b64_json: 'AAAA', partial_image_index: 0 }, { ...completed, created_at: '7' }),
    ]);
    const params = { model, prompt, image: url, stream: true } as const;

    const items = await collect(await client.images.edit(params));

    expect(items).toMatchObject([
      { type: 'image_edit.partial_image', created_at: 0, size: '' },
      { type: 'image_edit.completed', created_at: 7 },
    ]);
    expect(drifts).toEqual([]);
  });

  test('events are assembled if JSON was requested', async () => {
    const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 };
    const { client } = scripted([eventStream({ ...completed, usage }, '[DONE]')]);

    const response = await client.images.generate({ model, prompt });

    expect(response).toEqual({ created: 1, data: [{ b64_json: 'AAAA' }], usage });
  });

  test('a rejected request rejects before the stream, and is not retried', async () => {
    const { client, emulator } = emulated();
    emulator.fail({ fault: { type: 'html', status: 502, charged: true } });

    const error = await failureOf(client.images.generate({ model, prompt, stream: true }));

    expect(error).toMatchObject({ status: 502, outcome: 'unknown' });
    expect(emulator.requests).toHaveLength(1);
  });
});

describe('images.edit() with references', () => {
  const forms: [string, object][] = [
    ['an address', { image: url }],
    ['a data URL', { image: dataURL }],
    ['several', { image: [url, dataURL] }],
    ['objects', { images: [{ image_url: url }], mask: { image_url: url } }],
    ['other objects', { image: [{ url }, { b64_json: 'AAAA' }, { image_url: { url } }] }],
    ['a file at the provider', { images: [{ file_id: 'file-1' }] }],
  ];

  test.each(forms)('sends %s unchanged, as JSON', async (_, references) => {
    const { client, requests } = scripted([
      json({ created: 1, data: [{ url: 'https://pictures.test/dog.png' }] }),
    ]);

    await client.images.edit({ model, prompt, ...references });

    expect(requests[0]?.headers.get('content-type')).toBe('application/json');
    expect(await bodyOf(requests[0])).toEqual({ model, prompt, ...references });
  });

  test('any other form can be sent with extraBody', async () => {
    const { client, emulator } = emulated();
    const input = { messages: [{ role: 'user', content: [{ image: url }, { text: prompt }] }] };

    await client.images.edit({ model, prompt }, { extraBody: { input } });

    expect(emulator.requests[0]?.body).toEqual({ kind: 'json', value: { model, prompt, input } });
  });

  test('edits an image by its URL', async () => {
    const { client } = emulated();
    const { data } = await client.images.edit({ model, prompt, image: url });
    expect(data).toHaveLength(1);
  });
});

describe('bad input', () => {
  const common: [string, object][] = [
    ['model', { model: '' }],
    ['prompt', { prompt: '' }],
    ['prompt', { prompt: '  ' }],
    ['n', { n: 0 }],
    ['n', { n: 1.5 }],
    ['n', { n: '2' }],
    ['n', { n: Number.NaN }],
    ['size', { size: '1024×1024' }],
    ['output_compression', { output_compression: Number.NaN }],
  ];
  const onlyEdits: [string, object][] = [
    ['image', { image: undefined }],
    ['image', { image: null }],
    ['image', { image: [] }],
    ['image', { image: '' }],
    ['image', { image: 7 }],
    ['image', { image: './cat' }],
    ['image', { image: 'cat.PNG' }],
    ['image', { image: Promise.resolve(png) }],
    ['image', { image: new Uint8Array() }],
    ['image[1]', { image: [png, new Uint8Array()] }],
    ['image[1]', { image: [png, url] }],
    ['image[1]', { image: [url, png] }],
    ['image[0]', { image: [[png], png] }],
    ['images', { images: [{ image_url: url }] }],
    ['images', { image: undefined, images: [png] }],
    ['images', { image: undefined, images: [] }],
    ['mask', { mask: url }],
    ['mask', { mask: new Uint8Array() }],
    ['mask', { image: url, mask: png }],
    ['markup', { image: png, markup: url }],
  ];

  test.each(common)('generate() rejects %s: %j', async (field, params) => {
    const { client, requests } = scripted([]);

    const error = await failureOf(misuse(client.images, 'generate', { model, prompt, ...params }));

    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error).toMatchObject({ field, outcome: 'not_sent' });
    expect(requests).toHaveLength(0);
  });

  test.each([...common, ...onlyEdits])('edit() rejects %s: %o', async (field, params) => {
    const { client, requests } = scripted([]);

    const error = await failureOf(
      misuse(client.images, 'edit', { model, prompt, image: png, ...params }),
    );

    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error).toMatchObject({ field, outcome: 'not_sent' });
    expect(requests).toHaveLength(0);
  });

  test('the message names the correct form', async () => {
    const { client } = scripted([]);
    const size = await failureOf(client.images.generate({ model, prompt, size: '16×9' }));
    const path = await failureOf(client.images.edit({ model, prompt, image: '/tmp/cat.png' }));
    const both = await failureOf(client.images.edit({ model, prompt, image: [png, url] }));

    expect(String(size)).toContain('"16x9"');
    expect(String(path)).toContain('fileFromPath(path)');
    expect(String(both)).toContain('image[1]: is a reference, but image[0] is a file');
  });

  test.each([
    ['hello world', /must be an http\(s\) URL or a data URL/],
    ['/9j/4AAQSkZJRg==', /is base64; pass Buffer\.from\(x, 'base64'\)/],
    ['C:\\cat.png', /is a path; pass fileFromPath\(path\)/],
    ['file:///tmp/cat.png', /is a path; pass fileFromPath\(path\)/],
    ['s3://bucket/cat.png', /must be an http/],
    ['data:text/plain,hello', /is a data URL, but not of an image/],
    ['data:application/json;base64,e30=', /is a data URL, but not of an image/],
    ['data:image/png;base64,<svg>', /is a data URL whose data is not base64/],
    [{ image_url: { url: 'cat.png' } }, /image\.image_url: is a path/],
    [{ url: './cat.png' }, /image\.url: is a path/],
    [Buffer.from('hello world'), /contains text, not an image/],
    [Buffer.from('/9j/4AAQSkZJRgABAQ'.repeat(4)), /decode it with Buffer\.from\(x, 'base64'\)/],
    [Buffer.from('%PDF-1.7'), /is not an image/],
  ])('rejects %j as an image, and names the fix', async (image, message) => {
    const { client, requests } = scripted([]);

    const error = await failureOf(client.images.edit({ model, prompt, image }));

    expect(error).toBeInstanceOf(InvalidInputError);
    expect(String(error)).toMatch(message);
    expect(requests).toHaveLength(0);
  });

  test('accepts the texts that a profile allows', async () => {
    const gateway = { name: 'mine', imageReferences: ['gs://'] };
    const { client, requests } = scripted([json({ created: 1, data: [] })], { gateway });

    await client.images.edit({ model, prompt, image: 'gs://bucket/cat.png' });

    expect(requests).toHaveLength(1);
    expect(
      await failureOf(client.images.edit({ model, prompt, image: 's3://bucket/cat.png' })),
    ).toBeInstanceOf(InvalidInputError);
  });

  test.each(['<svg xmlns="http://www.w3.org/2000/svg"/>', 'P3\n1 1 255\n0 0 0'])(
    'accepts an image format that is text: %s',
    async (text) => {
      const { client, requests } = scripted([json({ created: 1, data: [] })]);

      await client.images.edit({ model, prompt, image: new Blob([text]) });

      expect(requests).toHaveLength(1);
    },
  );

  test.each([undefined, null, 'a cat', []])('%j is rejected as parameters', async (params) => {
    const { client } = scripted([]);
    for (const method of ['generate', 'edit']) {
      await expect(misuse(client.images, method, params)).rejects.toBeInstanceOf(GatewayError);
    }
  });
});

describe("with the runtime's fetch", () => {
  const { client, emulator } = intercepted();

  test('an image is created and edited', async () => {
    const size = '64x64';
    const made = await client.images.generate({ model, prompt, size, response_format: 'b64_json' });
    const image = Buffer.from(made.data[0]?.b64_json ?? '', 'base64');

    const edited = await client.images.edit({ model, prompt: 'a blue sky', image });

    expect(edited.data).toHaveLength(1);
    expect(emulator.requests[1]?.body).toMatchObject({ files: [{ filename: 'image.png' }] });
  });

  test('an image request is not sent again after a lost connection', async () => {
    emulator.fail({ fault: { type: 'reset', when: 'after-charge' } });

    await expect(client.images.generate({ model, prompt })).rejects.toMatchObject({
      outcome: 'unknown',
    });

    expect(emulator.charges).toHaveLength(1);
  });
});
