import {
  experimental_generateVideo as generateVideo,
  generateImage,
  generateSpeech,
  transcribe,
} from 'ai';
import { describe, expect, test } from 'vitest';
import { markers } from '../../../src/testing/index.ts';
import {
  imageEncodings,
  imagePlaces,
  pendingBodies,
  speechPlaces,
  transcriptForms,
  videoFailures,
  videoIds,
  videoURLs,
} from '../../helpers/media-places.ts';
import { fakeWaitingTime, rejected, resolved } from '../../helpers/fake-time.ts';
import { emulatedProvider, scriptedProvider } from './support.ts';
import { json } from '../../helpers/clients.ts';
import { mediaHeads } from '../../helpers/media.ts';

const prompt = 'A boat';
const png = [0x89, 0x50, 0x4e, 0x47];

describe('generateImage', () => {
  test.each(imagePlaces)('returns an image at %s', async (imagePlace) => {
    const { provider, emulator } = emulatedProvider({}, { quirks: { imagePlace } });

    const { image } = await generateImage({ model: provider.imageModel('m-image'), prompt });

    expect([...image.uint8Array.subarray(0, 4)]).toEqual(png);
    expect(image.mediaType).toBe('image/png');
    expect(emulator.charges).toHaveLength(1);
  });

  test('returns an image of a stream that was not requested', async () => {
    const { provider, emulator } = emulatedProvider(
      {},
      { quirks: { imageStream: 'result-always' } },
    );

    const { image } = await generateImage({ model: provider.imageModel('m-image'), prompt });

    expect([...image.uint8Array.subarray(0, 4)]).toEqual(png);
    expect(emulator.charges).toHaveLength(1);
  });

  test.each(imageEncodings)('returns an image in base64 of the form %s', async (encoding) => {
    const quirks = { imageFormat: 'b64_json', imageEncoding: encoding } as const;
    const { provider } = emulatedProvider({}, { quirks });

    const { image } = await generateImage({ model: provider.imageModel('m-image'), prompt });

    expect([...image.uint8Array.subarray(0, 4)]).toEqual(png);
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
  test.each(speechPlaces)('returns speech at %s', async (speechPlace) => {
    const { provider, emulator } = emulatedProvider({}, { quirks: { speechPlace } });
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

  test.each([
    ...videoURLs.map((videoUrl) => ({ videoUrl, contentStatus: 404 }) as const),
    ...videoIds.map((videoId) => ({ videoId })),
    ...pendingBodies.map((taskPending) => ({ taskPending })),
  ])('returns a video of a gateway with %j', async (quirks) => {
    const { provider, emulator } = emulatedProvider({}, { quirks, videoDuration: 1_000 });
    const model = provider.videoModel('m-video');

    const { video } = await resolved(generateVideo({ model, prompt }));

    expect(Buffer.from(video.uint8Array).toString('latin1', 4, 8)).toBe('ftyp');
    expect(emulator.charges).toHaveLength(1);
  });

  test.each(videoFailures)('ends with the reason of a failure of the form %s', async (form) => {
    const { provider, emulator } = emulatedProvider({}, { quirks: { videoFailure: form } });
    const model = provider.videoModel('m-video');

    const error = await rejected(generateVideo({ model, prompt: `A boat ${markers.fail}` }));

    expect(String(error)).toMatch(form === 'moderation' ? /moderation/ : /safety review/);
    expect(emulator.charges).toHaveLength(1);
  });
});
