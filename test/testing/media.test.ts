import { MPEGDecoder } from 'mpg123-decoder';
import { describe, expect, test } from 'vitest';
import { decodePng, encodePng } from '../../src/testing/media/png.ts';
import { eventObjects, newClient } from '../helpers/emulator-client.ts';

/** The boxes of an MP4 file by their path, for example `moov/trak`. */
function boxes(bytes: Uint8Array, path = ''): Map<string, DataView> {
  const found = new Map<string, DataView>();
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at + 8 <= bytes.length; at += view.getUint32(at)) {
    const size = view.getUint32(at);
    const name = path + new TextDecoder().decode(bytes.subarray(at + 4, at + 8));
    const content = bytes.subarray(at + 8, at + size);
    found.set(name, new DataView(content.buffer, content.byteOffset, content.byteLength));
    if (['moov', 'trak', 'mdia', 'minf', 'stbl'].includes(name.split('/').at(-1) ?? '')) {
      for (const [inner, box] of boxes(content, `${name}/`)) found.set(inner, box);
    }
  }
  return found;
}

const readBytes = async (response: Response): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await response.arrayBuffer());

interface Sound {
  readonly samples: Float32Array;
  /** Samples per second. */
  readonly rate: number;
}

/** Decodes a file as a player does. The emulator's WAV ends with its samples, of 16 bits. */
async function soundIn(format: string, bytes: Uint8Array<ArrayBuffer>): Promise<Sound> {
  if (format === 'wav') {
    const start = new TextDecoder('latin1').decode(bytes).indexOf('data') + 8;
    const samples = Float32Array.from(
      new Int16Array(bytes.slice(start).buffer),
      (value) => value / 32_768,
    );
    return { samples, rate: 24_000 };
  }
  const decoder = new MPEGDecoder();
  await decoder.ready;
  const { channelData, sampleRate, errors } = decoder.decode(bytes);
  decoder.free();
  expect(errors).toEqual([]);
  return { samples: channelData[0] ?? new Float32Array(), rate: sampleRate };
}

/** The loudest sample, in decibels below the loudest that a file can hold. */
const decibels = (samples: Float32Array): number =>
  20 * Math.log10(samples.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0));

/** The power at every second hertz up to 2,000, of what is left at 6,000 samples per second. */
function spectrum({ samples, rate }: Sound): number[] {
  const kept = samples.filter((_, at) => at % (rate / 6_000) === 0);
  return Array.from({ length: 1_000 }, (_, at) => {
    const step = (2 * Math.PI * 2 * at) / 6_000;
    let [real, imaginary] = [0, 0];
    for (const [index, sample] of kept.entries()) {
      real += sample * Math.cos(step * index);
      imaginary += sample * Math.sin(step * index);
    }
    return real ** 2 + imaginary ** 2;
  });
}

const generation = { model: 'm-image', size: '64x48' };

const embed = async (input: unknown, fields: object = {}): Promise<number[][]> => {
  const { post } = newClient();
  const response = await post('/v1/embeddings', { model: 'm-embedding', input, ...fields });
  const { data } = await response.json();
  return data.map(({ embedding }: { embedding: number[] }) => embedding);
};
const similarity = (a: number[] = [], b: number[] = []): number =>
  a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);

describe('embeddings', () => {
  test('embeddings are closer for sentences that share words', async () => {
    const [tea, coffee, engine] = await embed([
      'A cup of tea in the morning',
      'Two cups of green tea this morning',
      'The engine failed after take-off',
    ]);

    expect(similarity(tea, tea)).toBeCloseTo(1);
    expect(similarity(tea, coffee)).toBeGreaterThan(0.4);
    expect(Math.abs(similarity(tea, engine))).toBeLessThan(0.2);
  });

  test('embeddings have the requested dimensions', async () => {
    const [vector] = await embed('tea', { dimensions: 7 });

    expect(vector).toHaveLength(7);
  });

  test('embeddings are base64 of little-endian floats on request', async () => {
    const client = newClient();
    const fields = { model: 'm-embedding', input: 'tea', encoding_format: 'base64' };

    const { data } = await (await client.post('/v1/embeddings', fields)).json();
    client.emulator.quirks.embeddingEncoding = 'ignored';
    const ignored = await (await client.post('/v1/embeddings', fields)).json();

    const bytes = Uint8Array.from(atob(data[0].embedding), (letter) => letter.charCodeAt(0));
    expect([...new Float32Array(bytes.buffer)]).toEqual(ignored.data[0].embedding);
  });

  test.each([
    [[1, 2, 3], 1],
    [[[1, 2], [3]], 2],
  ])('embeddings accept the tokens %j', async (input, count) => {
    expect(await embed(input)).toHaveLength(count);
  });

  test.each([undefined, [[]], [1.5], [{}]])('embeddings reject the input %j', async (input) => {
    const { post } = newClient();

    expect((await post('/v1/embeddings', { model: 'm-embedding', input })).status).toBe(400);
  });

  test('embeddings are the same on the engine path of old builds', async () => {
    const { emulator, ask, post } = newClient();
    const engine = '/v1/engines/m-embedding/embeddings';

    const general = await ask('/v1/embeddings', { model: 'm-embedding', input: 'tea' });
    expect((await post(engine, { input: 'tea' })).status).toBe(400);
    emulator.quirks.enginePath = 'embeddings';
    expect(await ask(engine, { input: 'tea' })).toEqual(general);
  });
});

describe('images', () => {
  test('images are PNG files of the requested size at a URL without a key', async () => {
    const { emulator, post } = newClient();

    const response = await post('/v1/images/generations', { ...generation, prompt: 'a cat', n: 2 });
    const { data } = await response.json();
    const file = await emulator.fetch(data[1].url);
    const bytes = await readBytes(file);

    expect(data).toHaveLength(2);
    expect(file.headers.get('content-type')).toBe('image/png');
    expect(await decodePng(bytes)).toMatchObject({ width: 64, height: 48 });
    expect(emulator.requests[1]).toMatchObject({
      path: new URL(data[1].url).pathname,
      hasKey: false,
    });
    expect(emulator.charges).toHaveLength(1);
  });

  test('images differ by prompt, and have the colours of the prompt', async () => {
    const { post } = newClient();
    const image = async (prompt: string): Promise<string> => {
      const fields = { ...generation, prompt, response_format: 'b64_json' };
      const { data } = await (await post('/v1/images/generations', fields)).json();
      return data[0].b64_json;
    };

    expect(await image('a cat')).toBe(await image('a cat'));
    expect(await image('a cat')).not.toBe(await image('a dog'));
    const red = await decodePng(Uint8Array.from(atob(await image('red')), (c) => c.charCodeAt(0)));
    const pixels = red?.data ?? [];
    const isRed = (at: number): boolean =>
      pixels[at] === 214 && pixels[at + 1] === 40 && pixels[at + 2] === 40;
    expect([...pixels.keys()].filter((at) => at % 4 === 0 && isRed(at)).length).toBeGreaterThan(20);
  });

  test('images have all fields, are data URLs or missing, by the quirks', async () => {
    const { emulator, post } = newClient({
      quirks: { imageKeys: 'all', imageFormat: 'data-url', imagesFiltered: 1 },
    });
    const fields = { ...generation, prompt: 'x', n: 2 };

    const { data } = await (await post('/v1/images/generations', fields)).json();
    emulator.quirks.imageFormatRefused = true;
    const refused = await post('/v1/images/generations', { ...fields, response_format: 'url' });

    expect(data).toEqual([
      { url: expect.stringMatching(/^data:image\/png;base64,/), b64_json: '', revised_prompt: 'x' },
    ]);
    expect(await refused.json()).toMatchObject({ error: { code: 'unknown_parameter' } });
  });

  test('images are streamed on request', async () => {
    const { post } = newClient({ quirks: { imageStream: 'partial' } });
    const fields = { ...generation, prompt: 'x', stream: true, partial_images: 1 };

    const events = await eventObjects(await post('/v1/images/generations', fields));

    expect(events).toMatchObject([
      { type: 'image_generation.partial_image', partial_image_index: 0 },
      { type: 'image_generation.completed', usage: {} },
    ]);
  });

  test.each([{ size: '64×48' }, { size: 'big' }, { n: '2' }])(
    'images reject %j',
    async (fields) => {
      const { post } = newClient();

      const response = await post('/v1/images/generations', {
        ...generation,
        prompt: 'x',
        ...fields,
      });

      expect(response.status).toBe(400);
    },
  );
});

const solid = (value: number, opacity: (column: number) => number) =>
  encodePng({
    width: 16,
    height: 16,
    data: Uint8Array.from({ length: 1024 }, (_, at) =>
      at % 4 === 3 ? opacity(Math.floor(at / 4) % 16) : value,
    ),
  });
const edited = async (fields: object | FormData): Promise<Uint8Array> => {
  const { post } = newClient();
  const { data } = await (await post('/v1/images/edits', fields)).json();
  const bytes = Uint8Array.from(atob(data[0].b64_json), (letter) => letter.charCodeAt(0));
  return (await decodePng(bytes))?.data ?? new Uint8Array(0);
};

describe('image edits', () => {
  test('image edits change only the area of the mask', async () => {
    const form = new FormData();
    form.set('model', 'm-image');
    form.set('prompt', 'a cat');
    form.set('response_format', 'b64_json');
    form.set('image', new File([await solid(7, () => 255)], 'image.png'));
    form.set('mask', new File([await solid(0, (column) => (column < 8 ? 0 : 255))], 'mask.png'));

    const pixels = await edited(form);

    expect([...pixels.subarray(8 * 4, 16 * 4)]).toEqual(
      Array.from({ length: 32 }, (_, at) => (at % 4 === 3 ? 255 : 7)),
    );
    expect([...pixels.subarray(0, 4)]).not.toEqual([7, 7, 7, 255]);
  });

  test('image edits accept JSON with a data URL, in each known format', async () => {
    const url = `data:image/png;base64,${btoa(String.fromCharCode(...(await solid(7, () => 255))))}`;
    const fields = { model: 'm-image', prompt: 'a cat', response_format: 'b64_json' };

    const results = [
      await edited({ ...fields, image: url }),
      await edited({ ...fields, image: [{ url }] }),
      await edited({ ...fields, images: [{ image_url: url }, { image_url: url }] }),
      await edited({ ...fields, image: { image_url: { url } } }),
    ];

    expect(results.every((pixels) => pixels.length === 1024)).toBe(true);
    expect(new Set(results.map((pixels) => pixels.join(','))).size).toBe(1);
  });

  test('image edits require an image in a form', async () => {
    const { emulator, post } = newClient();
    const form = new FormData();
    form.set('model', 'm-image');
    form.set('prompt', 'x');

    const response = await post('/v1/images/edits', form);

    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ error: { code: 'convert_request_failed' } });
    expect(emulator.charges).toEqual([]);
  });

  test('image edits reject a list in a form that has one value', async () => {
    const { post } = newClient();
    const form = new FormData();
    form.set('model', 'm-image');
    form.set('prompt', 'x');
    form.set('images', 'https://example.com/a.png');

    const response = await post('/v1/images/edits', form);

    expect(await response.json()).toMatchObject({
      error: { message: expect.stringContaining('expected array, got string') },
    });
  });
});

describe('speech and translation', () => {
  const speak = { model: 'm-speech', input: 'Good morning. How are you?', voice: 'a' };

  test('speech is an MP3 whose length follows the text', async () => {
    const { post } = newClient();

    const response = await post('/v1/audio/speech', speak);
    const bytes = await readBytes(response);
    const slow = await readBytes(await post('/v1/audio/speech', { ...speak, speed: 0.5 }));

    expect(response.headers.get('content-type')).toBe('audio/mpeg');
    const start = bytes.indexOf(0xff);
    expect([...bytes.subarray(start, start + 4)]).toEqual([0xff, 0xfb, 0x14, 0xc0]);
    expect((bytes.length - start) % 96).toBe(0);
    expect(slow.length).toBeGreaterThan(1.8 * bytes.length);
  });

  test.each(['mp3', 'wav'])('speech as %s has an audible level', async (format) => {
    const { post } = newClient();

    const talk = await post('/v1/audio/speech', { ...speak, response_format: format });
    const peak = decibels((await soundIn(format, await readBytes(talk))).samples);
    // One syllable is one tone, which stands out of everything else that is heard.
    const syllable = { ...speak, input: 'aaaaaaaa', response_format: format };
    const tone = await post('/v1/audio/speech', syllable);
    const powers = spectrum(await soundIn(format, await readBytes(tone)));
    const total = powers.reduce((sum, power) => sum + power, 0);
    const loudest = powers.indexOf(Math.max(...powers));
    const around = powers.slice(loudest - 10, loudest + 11).reduce((sum, power) => sum + power, 0);

    expect(peak).toBeLessThan(-3);
    expect(peak).toBeGreaterThan(-20);
    expect(around / total).toBeGreaterThan(0.95);
  });

  test.each(['mp3', 'wav'])('speech as %s is translated', async (format) => {
    const { post } = newClient();
    const sound = await post('/v1/audio/speech', { ...speak, response_format: format });
    const form = new FormData();
    form.set('model', 'm-translation');
    form.set('response_format', 'verbose_json');
    form.set('file', new File([await sound.arrayBuffer()], `talk.${format}`));

    const response = await post('/v1/audio/translations', form);

    expect(await response.json()).toMatchObject({
      task: 'translate',
      language: 'english',
      duration: expect.closeTo(1.59, 1),
      text: speak.input,
      segments: [
        { id: 0, start: 0, end: expect.any(Number), text: 'Good morning.' },
        { id: 1, start: expect.any(Number), end: expect.any(Number), text: 'How are you?' },
      ],
    });
  });

  test('pcm is 24 kHz, 16 bit, mono', async () => {
    const { post } = newClient();

    const response = await post('/v1/audio/speech', { ...speak, response_format: 'pcm' });

    expect(response.headers.get('content-type')).toBe('audio/pcm');
    expect((await readBytes(response)).length / 48_000).toBeCloseTo(1.62, 1);
  });

  test('streamed speech ends without [DONE]', async () => {
    const { post } = newClient();

    const response = await post('/v1/audio/speech', { ...speak, stream_format: 'sse' });
    const events = await eventObjects(response.clone());

    expect(events[0]).toMatchObject({ type: 'speech.audio.delta', audio: expect.any(String) });
    expect(events.at(-1)).toMatchObject({ type: 'speech.audio.done', usage: {} });
    expect(await response.text()).not.toContain('[DONE]');
  });

  test('speech has the type and delivery of the quirks', async () => {
    const { emulator, post } = newClient({ quirks: { speechType: 'missing' } });

    const untyped = await post('/v1/audio/speech', speak);
    emulator.quirks.speechDelivery = 'redirect';
    const redirected = await post('/v1/audio/speech', speak);

    expect(untyped.headers.get('content-type')).toBeNull();
    expect(redirected.redirected).toBe(true);
    expect(new URL(redirected.url).host).toBe('files.emulator.test');
    expect(emulator.requests.at(-1)?.hasKey).toBe(false);
  });

  test.each([{ voice: { id: 'a' } }, { speed: 5 }, { response_format: 'midi' }])(
    'speech rejects %j',
    async (fields) => {
      const { post } = newClient();

      expect((await post('/v1/audio/speech', { ...speak, ...fields })).status).toBe(400);
    },
  );

  test.each(['blob', 'talk.mpeg', 'talk.MP3'])(
    'translation rejects a file named %s',
    async (name) => {
      const { emulator, post } = newClient();
      const form = new FormData();
      form.set('model', 'm-translation');
      form.set('file', new File(['x'], name));

      const response = await post('/v1/audio/translations', form);

      expect(response.status).toBe(500);
      expect(await response.json()).toMatchObject({ error: { code: 'count_token_failed' } });
      expect(emulator.charges).toEqual([]);
    },
  );

  test.each([
    [
      'json',
      '{"text":"This is the translation of talk.ogg. The sound has a duration of unknown length.","usage":{"type":"duration","seconds":1}}',
    ],
    ['text', 'This is the translation of talk.ogg. The sound has a duration of unknown length.\n'],
    ['srt', expect.stringMatching(/^1\n00:00:00,000 --> 00:00:00,\d{3}\nThis is/)],
    ['vtt', expect.stringMatching(/^WEBVTT\n\n00:00:00.000 --> 00:00:00.\d{3}\nThis is/)],
  ])('translation responds as %s', async (format, body) => {
    const { post } = newClient();
    const form = new FormData();
    form.set('model', 'm-translation');
    form.set('response_format', format);
    form.set('file', new File(['OggS'], 'talk.ogg'));

    expect(await (await post('/v1/audio/translations', form)).text()).toEqual(body);
  });

  test.each([
    { model: 'whisper-1', translationVtt: 'vendor', type: 'application/json' },
    { model: 'whisper-1', translationVtt: 'text', type: 'text/plain; charset=utf-8' },
    { model: 'm-translation', translationVtt: 'vendor', type: 'text/plain; charset=utf-8' },
    { model: 'm-translation', translationVtt: 'json', type: 'application/json' },
  ] as const)(
    'translation of $model as vtt, quirk "$translationVtt": $type',
    async ({ model, translationVtt, type }) => {
      const { post } = newClient({ quirks: { translationVtt } });
      const form = new FormData();
      form.set('model', model);
      form.set('response_format', 'vtt');
      form.set('file', new File(['OggS'], 'talk.ogg'));

      const response = await post('/v1/audio/translations', form);

      expect(response.headers.get('content-type')).toBe(type);
    },
  );
});

describe('the content of a video', () => {
  test('the content of a video is an MP4 with H.264 of the requested size and duration', async () => {
    const { post, get } = newClient({ videoDuration: 0 });
    const order = { model: 'm-video', prompt: 'a cat', seconds: '5.5', size: '320x180' };

    const { id } = await (await post('/v1/videos', order)).json();
    const response = await get(`/v1/videos/${id}/content`);
    const bytes = await readBytes(response);
    const found = boxes(bytes);

    expect(response.headers.get('content-length')).toBe(String(bytes.length));
    expect([...found.keys()].slice(0, 2)).toEqual(['ftyp', 'moov']);
    const header = found.get('moov/mvhd');
    expect((header?.getUint32(16) ?? 0) / (header?.getUint32(12) ?? 1)).toBe(5.5);
    const track = found.get('moov/trak/tkhd');
    expect([track?.getUint16(76), track?.getUint16(80)]).toEqual([320, 180]);
    expect(found.get('moov/trak/mdia/minf/stbl/stsz')?.getUint32(8)).toBe(44);
    const offset = found.get('moov/trak/mdia/minf/stbl/stco')?.getUint32(8) ?? 0;
    expect(bytes[offset + 4]).toBe(0x65);
  });
});
