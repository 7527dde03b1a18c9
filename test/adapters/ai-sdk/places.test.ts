import {
  experimental_generateVideo as generateVideo,
  generateImage,
  generateSpeech,
  transcribe,
} from 'ai';
import { describe, expect, test } from 'vitest';
import { markers } from '../../../src/testing/index.ts';
import {
  imageDeliveries,
  imageFailures,
  reasonFor,
  remark,
  remarkedImage,
  speechDeliveries,
  transcriptForms,
  videoDeliveries,
  videoFailures,
} from '../../helpers/media-places.ts';
import { fakeWaitingTime, rejected, resolved } from '../../helpers/fake-time.ts';
import { emulatedProvider, scriptedProvider } from './support.ts';
import { json } from '../../helpers/clients.ts';
import { mediaHeads } from '../../helpers/media.ts';

const prompt = 'A boat';
const size = '64x64';
const png = [0x89, 0x50, 0x4e, 0x47];

describe('generateImage', () => {
  fakeWaitingTime();

  test.each(imageDeliveries)('returns an image: $name', async ({ quirks }) => {
    const { provider, emulator } = emulatedProvider({}, { quirks });
    const model = provider.imageModel('m-image');

    const { image, warnings } = await resolved(generateImage({ model, prompt, size }));

    expect([...image.uint8Array.subarray(0, 4)]).toEqual(png);
    expect(image.mediaType).toBe('image/png');
    expect(warnings).toEqual([]);
    expect(emulator.charges).toHaveLength(1);
    expect(JSON.stringify(emulator.requests)).not.toContain('s3cr3t');
  });

  test('returns an image beside an error, which becomes a warning', async () => {
    const { provider } = emulatedProvider({}, remarkedImage);
    const model = provider.imageModel('m-image');

    const { image, warnings } = await resolved(generateImage({ model, prompt, size }));

    expect([...image.uint8Array.subarray(0, 4)]).toEqual(png);
    expect(warnings).toEqual([{ type: 'other', message: remark }]);
  });

  test.each(imageFailures)('ends with the reason of a failed image: $name', async ({ quirks }) => {
    const { provider, emulator } = emulatedProvider({}, { quirks });
    const model = provider.imageModel('m-image');

    const error = await rejected(generateImage({ model, prompt: `A boat ${markers.fail}`, size }));

    expect(String(error)).toMatch(reasonFor(quirks.videoFailure, /refused by moderation/));
    expect(emulator.charges).toHaveLength(1);
  });

  test.each([
    ['URL-safe', 'data:image/png;base64,iVBORw-_'],
    ['with parameters', 'DATA:image/png;charset=utf-8; base64,iVBORw+/'],
    ['escaped', 'data:image/png;base64,iVBORw%2B%2F'],
    ['without padding', 'data:image/png;base64,iVBORw+/AA'],
    ['of text', 'data:image/svg+xml,%3Csvg%2F%3E'],
  ])('returns an image of a data URL %s', async (_, url) => {
    const { provider, requests } = scriptedProvider([json({ data: [{ url }] })]);

    const { image } = await generateImage({ model: provider.imageModel('m-image'), prompt });

    const start = url.includes('svg') ? '<svg/>' : '\x89PNG\x07';
    expect(Buffer.from(image.uint8Array).toString('latin1')).toContain(start.slice(0, 4));
    expect(requests).toHaveLength(1);
  });

  test('throws an error with the whole response if no image is found', async () => {
    const { provider, emulator } = emulatedProvider({}, { quirks: { imagePlace: 'nowhere' } });

    const error = await rejected(
      generateImage({ model: provider.imageModel('m-image'), prompt, maxRetries: 2 }),
    );

    expect(error).toMatchObject({ responseBody: expect.stringContaining('"assets"') });
    expect(emulator.charges).toHaveLength(1);
  });
});

describe('generateSpeech', () => {
  test.each(speechDeliveries)('returns speech: $name', async ({ quirks }) => {
    const { provider, emulator } = emulatedProvider({}, { quirks });
    const plain = emulatedProvider();
    const text = 'Good morning';

    const { audio } = await generateSpeech({ model: provider.speechModel('m-speech'), text });
    const usual = await generateSpeech({ model: plain.provider.speechModel('m-speech'), text });

    expect(audio.mediaType).toBe('audio/mpeg');
    expect(Buffer.from(audio.uint8Array).equals(Buffer.from(usual.audio.uint8Array))).toBe(true);
    expect(emulator.charges).toHaveLength(1);
  });
});

describe('transcribe', () => {
  const audio = new Uint8Array([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 0, 0]);

  test('sends Ogg sound under a name that strict gateways accept', async () => {
    const { provider, emulator } = emulatedProvider({}, { quirks: { strictUploads: true } });
    const model = provider.transcriptionModel('whisper-1');

    await transcribe({ model, audio: mediaHeads.ogg });

    expect(JSON.stringify(emulator.requests[0]?.body)).toContain('.ogg');
  });

  test.each(transcriptForms)('returns a transcript in the form %s', async (transcriptForm) => {
    const { provider } = emulatedProvider({}, { quirks: { transcriptForm } });

    const { text } = await transcribe({ model: provider.transcriptionModel('whisper-1'), audio });

    expect(text).toMatch(/^This is the transcription/);
  });

  const hi = { text: 'Hi', start: 0, end: 1 };

  test.each([
    ['nested', { segments: { segments: [hi] } }, 1],
    ['empty and nested', { segments: { segments: [] } }, 0],
    ['null', { segments: [null] }, 0],
    ['null among others', { segments: [null, hi] }, 1],
    ['text', { segments: 'none' }, 0],
    ['with times as text', { segments: [{ ...hi, end: '1.0' }] }, 1],
    ['words in place of them', { segments: null, words: [null] }, 0],
  ])('reads segments that are %s', async (_, body, count) => {
    const { provider } = scriptedProvider([json({ text: 'Hi', duration: 1, ...body })]);

    const { text, segments } = await transcribe({
      model: provider.transcriptionModel('whisper-1'),
      audio,
    });

    expect(text).toBe('Hi');
    expect(segments).toHaveLength(count);
    if (count > 0) expect(segments[0]).toEqual({ text: 'Hi', startSecond: 0, endSecond: 1 });
  });

  test('returns the segments of speakers', async () => {
    const { provider, emulator } = emulatedProvider(
      {},
      { models: [{ id: 'gpt-4o-transcribe-diarize', type: 'audio' }] },
    );
    const model = provider.transcriptionModel('gpt-4o-transcribe-diarize');

    const { segments } = await transcribe({ model, audio });

    expect(segments.length).toBeGreaterThan(0);
    expect(JSON.stringify(emulator.requests[0]?.body)).toContain('diarized_json');
  });

  test('returns segments of speakers that a provider option requests', async () => {
    const segments = [{ ...hi, speaker: 'A', id: 's', type: 'transcript.text.segment' }];
    const { provider } = scriptedProvider([json({ text: 'Hi', task: 'transcribe', segments })]);

    const result = await transcribe({
      model: provider.transcriptionModel('gpt-4o-transcribe'),
      audio,
      providerOptions: { modelGateway: { response_format: 'diarized_json' } },
    });

    expect(result.segments).toEqual([{ text: 'Hi', startSecond: 0, endSecond: 1 }]);
  });
});

describe('generateVideo', () => {
  fakeWaitingTime();

  test.each(videoDeliveries)('returns a video: $name', async ({ quirks }) => {
    const { provider, emulator } = emulatedProvider({}, { quirks, videoDuration: 1_000 });
    const model = provider.videoModel('m-video');

    const { video } = await resolved(generateVideo({ model, prompt }));

    expect(Buffer.from(video.uint8Array).toString('latin1', 4, 8)).toBe('ftyp');
    expect(emulator.charges).toHaveLength(1);
  });

  test('returns a video beside an error, which becomes a warning', async () => {
    const { provider } = emulatedProvider({}, { quirks: { taskRemark: true } });

    const { video, warnings } = await resolved(
      generateVideo({ model: provider.videoModel('m-video'), prompt }),
    );

    expect(Buffer.from(video.uint8Array).toString('latin1', 4, 8)).toBe('ftyp');
    expect(warnings).toEqual([{ type: 'other', message: remark }]);
  });

  test.each(videoFailures)('ends with the reason of a failure of the form %s', async (form) => {
    const { provider, emulator } = emulatedProvider({}, { quirks: { videoFailure: form } });
    const model = provider.videoModel('m-video');

    const error = await rejected(generateVideo({ model, prompt: `A boat ${markers.fail}` }));

    expect(String(error)).toMatch(reasonFor(form, /safety review/));
    expect(emulator.charges).toHaveLength(1);
  });
});
