import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  APIError,
  InvalidInputError,
  UnexpectedResponseError,
  toStreamingFile,
} from '../../../src/index.ts';
import type { Translation, TranslationVerbose } from '../../../src/resources/audio/types.ts';
import { emulated, failureOf, json, misuse, scripted } from '../../helpers/clients.ts';
import { mediaHeads } from '../../helpers/media.ts';

const model = 'm-translation';
const file = new File([mediaHeads.mp3], 'talk.mp3', { type: 'audio/mpeg' });

/** An answer in plain text. */
function plain(text: string, type = 'text/plain'): () => Response {
  return () => new Response(text, { headers: { 'content-type': type } });
}

describe('audio.translations.create()', () => {
  test('returns an object with the text', async () => {
    const { client, emulator } = emulated();

    const translation = await client.audio.translations.create({ model, file });

    expectTypeOf(translation).toEqualTypeOf<Translation>();
    expect(translation.text).toContain('talk.mp3');
    expect(translation).toHaveProperty('_request_id', emulator.requests[0]?.id);
    expect(emulator.requests[0]?.body).toEqual({
      kind: 'multipart',
      fields: { model },
      files: [expect.objectContaining({ field: 'file', filename: 'talk.mp3', type: 'audio/mpeg' })],
    });
  });

  test('translates generated speech', async () => {
    const { client } = emulated();
    const speech = await client.audio.speech.create({ model: 'm-speech', input: 'Good morning.' });

    const { text } = await client.audio.translations.create({ model, file: speech });

    expect(text).toBe('Good morning.');
  });

  test('sends every field as text, with extraBody', async () => {
    const { client, emulator } = emulated();

    await client.audio.translations.create(
      { model, file, prompt: 'Names: Ann', temperature: 0, response_format: 'json' },
      { extraBody: { diarize: true } },
    );

    expect(emulator.requests[0]?.body).toMatchObject({
      fields: {
        model,
        prompt: 'Names: Ann',
        temperature: '0',
        response_format: 'json',
        diarize: 'true',
      },
    });
  });

  test('returns all fields of verbose_json', async () => {
    const { client } = emulated();
    const speech = await client.audio.speech.create({ model: 'm-speech', input: 'One. Two.' });

    const translation = await client.audio.translations.create({
      model,
      file: speech,
      response_format: 'verbose_json',
    });

    expectTypeOf(translation).toEqualTypeOf<TranslationVerbose>();
    expect(translation.duration).toBeGreaterThan(0);
    expect(translation.segments?.map(({ text }) => text)).toEqual(['One.', 'Two.']);
  });

  test.each([
    ['text', /^This is/],
    ['srt', /^1\n00:00:00,000 --> /],
    ['vtt', /^WEBVTT/],
  ] as const)('returns text for %s', async (format, expected) => {
    const { client } = emulated();

    const text = await client.audio.translations.create({ model, file, response_format: format });

    expectTypeOf(text).toEqualTypeOf<string>();
    expect(text).toMatch(expected);
  });

  test('is repeated after a failure, because it is metered', async () => {
    const { client, emulator } = emulated();
    emulator.fail({ fault: { type: 'error', status: 503 } });

    const { text } = await client.audio.translations.create({ model, file });

    expect(text).not.toBe('');
    expect(emulator.requests).toHaveLength(2);
  });

  test('is not repeated when the file is a stream', async () => {
    const { client, emulator } = emulated();
    emulator.fail({ fault: { type: 'error', status: 503 } });
    const stream = toStreamingFile(file.stream(), 'talk.mp3');

    const error = await failureOf(client.audio.translations.create({ model, file: stream }));

    expect(error).toBeInstanceOf(APIError);
    expect(emulator.requests).toHaveLength(1);
  });
});

describe('the name of the file', () => {
  test.each([
    { name: 'bytes without a name', data: mediaHeads.mp3, filename: 'file.mp3' },
    {
      name: 'a Blob with a type',
      data: new Blob(['?'], { type: 'audio/ogg' }),
      filename: 'file.ogg',
    },
    {
      name: 'an extension in capitals',
      data: new File([mediaHeads.wav], 'TALK.WAV'),
      filename: 'TALK.wav',
    },
    {
      name: 'an extension that is not known',
      data: new File([mediaHeads.mp3], 'talk.mpga'),
      filename: 'talk.mp3',
    },
    { name: 'no extension', data: new File([mediaHeads.flac], 'talk'), filename: 'talk.flac' },
    {
      name: 'a wrong extension',
      data: new File([mediaHeads.m4a], 'talk.mp3'),
      filename: 'talk.m4a',
    },
  ])('$name gets a known extension', async ({ data, filename }) => {
    const { client, emulator } = emulated();

    await client.audio.translations.create({ model, file: data });

    expect(emulator.requests[0]?.body).toMatchObject({ files: [{ filename }] });
    expect(emulator.requests).toHaveLength(1);
  });

  test('a file that cannot be recognised as audio is rejected before anything is sent', async () => {
    const { client, requests } = scripted([]);
    const call = client.audio.translations.create({ model, file: new Blob(['?']) });

    await expect(call).rejects.toMatchObject({ name: 'InvalidInputError', field: 'file' });
    expect(requests).toHaveLength(0);
  });
});

describe('the format of the response', () => {
  test.each(['json', undefined] as const)(
    'a text body becomes an object when %s was requested',
    async (format) => {
      for (const text of ['Good morning.\n', '[Music] Good morning.', '"Quoted"', '7']) {
        const { client } = scripted([plain(text)]);
        const translation = await client.audio.translations.create({
          model,
          file,
          response_format: format,
        });
        expect(translation).toEqual({ text });
      }
    },
  );

  test('a text body has no duration when verbose_json was requested', async () => {
    const { client } = scripted([plain('Good morning.')]);
    const params = { model, file, response_format: 'verbose_json' } as const;

    const translation = await client.audio.translations.create(params);

    expect(translation).toEqual({ text: 'Good morning.', duration: 0, language: '' });
  });

  test('a duration in text becomes a number, and unknown fields are kept', async () => {
    const wire = { task: 'translate', language: 'english', duration: '3.5', text: 'Hi', usage: {} };
    const { client, drifts } = scripted([json({ ...wire, segments: null })]);
    const params = { model, file, response_format: 'verbose_json' } as const;

    const translation = await client.audio.translations.create(params);

    expect(translation).toEqual({ ...wire, duration: 3.5, segments: null });
    expect(drifts).toEqual([]);
  });

  test('JSON labelled as text is parsed', async () => {
    const { client } = scripted([plain('{"text":"Hi","usage":{"seconds":1}}')]);
    const translation = await client.audio.translations.create({ model, file });
    expect(translation).toEqual({ text: 'Hi', usage: { seconds: 1 } });
  });

  test('returns the text of a JSON response if text was requested', async () => {
    const { client } = scripted([json({ text: 'Hi' })]);
    const text = await client.audio.translations.create({ model, file, response_format: 'text' });
    expect(text).toBe('Hi');
  });

  test('subtitles are returned unchanged', async () => {
    const srt = '1\n00:00:00,000 --> 00:00:01,000\n{\\an8}Hi\n\n';
    const { client } = scripted([plain(srt)]);
    const text = await client.audio.translations.create({ model, file, response_format: 'srt' });
    expect(text).toBe(srt);
  });

  test('silence becomes an empty text', async () => {
    const { client } = scripted([json({ text: '' })]);
    const translation = await client.audio.translations.create({ model, file });
    expect(translation).toEqual({ text: '' });
  });

  test.each([
    { name: 'nothing at all', body: '', message: 'empty' },
    { name: 'JSON that breaks off', body: '{"text":"Hi', message: 'is incomplete JSON' },
    { name: 'an object without text', body: '{"data":{"task":"x"}}', message: 'no text' },
    { name: 'a page in HTML', body: '<!doctype html><title>Console</title>', message: 'baseURL' },
  ])('$name rejects, and the error has the response', async ({ body, message }) => {
    const { client, requests } = scripted([plain(body)]);

    const error = await failureOf(client.audio.translations.create({ model, file }));

    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error).toMatchObject({ body, outcome: 'unknown' });
    expect(String(error)).toContain(message);
    expect(requests).toHaveLength(1);
  });

  test('an error with status 200 rejects, also when text was requested', async () => {
    const { client } = scripted([plain('{"error":{"message":"too long","code":"too_long"}}')]);
    const params = { model, file, response_format: 'text' } as const;

    const error = await failureOf(client.audio.translations.create(params));

    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ code: 'too_long' });
  });

  test('drift is reported, and is an error with validation: "strict"', async () => {
    const wire = json({ text: 'Hi', language: 7 });
    const params = { model, file, response_format: 'verbose_json' } as const;
    const { client, drifts } = scripted([wire]);
    const strict = scripted([wire], { validation: 'strict' });

    await client.audio.translations.create(params);
    const error = await failureOf(strict.client.audio.translations.create(params));

    expect(drifts).toMatchObject([{ operation: 'audio.translations.create', path: 'language' }]);
    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error).toMatchObject({ data: { text: 'Hi' } });
  });
});

describe('bad input', () => {
  test.each([
    ['model', { model: '' }],
    ['file', { file: undefined }],
    ['file', { file: null }],
    ['file', { file: './talk.mp3' }],
    ['file', { file: Promise.resolve(file) }],
    ['file', { file: [file] }],
    ['file', { file: {} }],
    ['file', { file: new File([], 'talk.mp3') }],
    ['temperature', { temperature: Number.NaN }],
  ])('%s is rejected before anything is sent: %o', async (field, params) => {
    const { client, requests } = scripted([]);

    const error = await failureOf(
      misuse(client.audio.translations, 'create', { model, file, ...params }),
    );

    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error).toMatchObject({ field, outcome: 'not_sent' });
    expect(requests).toHaveLength(0);
  });

  test.each([undefined, null, 'talk.mp3', []])('%j is rejected as parameters', async (params) => {
    const { client } = scripted([]);
    await expect(misuse(client.audio.translations, 'create', params)).rejects.toBeInstanceOf(
      InvalidInputError,
    );
  });
});
