import { APICallError, generateSpeech, transcribe } from 'ai';
import { describe, expect, test } from 'vitest';
import { failureOf } from '../../helpers/clients.ts';
import { fakeWaitingTime, resolved } from '../../helpers/fake-time.ts';
import { emulatedProvider, faults } from './support.ts';

const speech = 'm-speech';
const translation = 'm-translation';

describe('speech', () => {
  test('speech is generated with the given options', async () => {
    const { provider, emulator } = emulatedProvider();

    const { audio, warnings } = await generateSpeech({
      model: provider.speechModel(speech),
      text: 'Good morning',
      voice: 'alloy',
      outputFormat: 'wav',
      instructions: 'Slowly',
      speed: 0.5,
      language: 'en',
    });

    expect(audio.format).toBe('wav');
    expect(new TextDecoder().decode(audio.uint8Array.subarray(0, 4))).toBe('RIFF');
    expect(warnings).toMatchObject([{ type: 'unsupported', feature: 'language' }]);
    const value = {
      model: speech,
      input: 'Good morning',
      voice: 'alloy',
      response_format: 'wav',
      instructions: 'Slowly',
      speed: 0.5,
    };
    expect(emulator.requests[0]?.body).toEqual({ kind: 'json', value });
    expect(emulator.charges).toHaveLength(1);
  });
});

/** A provider, and speech that it made. */
async function spoken() {
  const made = emulatedProvider();
  const { audio } = await generateSpeech({
    model: made.provider.speechModel(speech),
    text: 'Good morning. It rains.',
  });
  made.emulator.reset();
  return { ...made, audio: audio.uint8Array };
}

describe('transcription', () => {
  test('translates with translate: true, and adds a warning', async () => {
    const { provider, emulator, audio } = await spoken();
    const model = provider.transcriptionModel(translation, { translate: true });

    const result = await transcribe({ model, audio });

    expect(result.text).toBe('Good morning. It rains.');
    expect(result.segments).toMatchObject([{ text: 'Good morning.' }, { text: 'It rains.' }]);
    expect(result).toMatchObject({ language: 'en', durationInSeconds: expect.any(Number) });
    expect(result.warnings).toMatchObject([{ type: 'compatibility', feature: 'transcription' }]);
    expect(emulator.charges).toHaveLength(1);
  });

  test('translates with the option of one call', async () => {
    const { provider, audio } = await spoken();
    const providerOptions = { modelGateway: { translate: true, prompt: 'A greeting.' } };

    const { text } = await transcribe({
      model: provider.transcriptionModel(translation),
      audio,
      providerOptions,
    });

    expect(text).toBe('Good morning. It rains.');
  });

  test('a transcription is in the spoken language, with timestamps', async () => {
    const { provider, emulator, audio } = await spoken();

    const result = await transcribe({ model: provider.transcriptionModel('whisper-1'), audio });

    expect(result.text).not.toBe('');
    expect(result.segments.length).toBeGreaterThan(0);
    expect(result.warnings).toEqual([]);
    expect(emulator.requests.at(-1)).toMatchObject({ path: '/v1/audio/transcriptions' });
    expect(emulator.charges).toHaveLength(1);
  });

  test('returns words in place of segments on request', async () => {
    const { provider, audio } = await spoken();

    const { segments } = await transcribe({
      model: provider.transcriptionModel('whisper-1'),
      audio,
      timestampGranularities: ['word'],
    });

    expect(segments.length).toBeGreaterThan(1);
    expect(segments.every(({ text }) => !text.trim().includes(' '))).toBe(true);
  });

  test('a transcription by a model that returns only text adds a warning if more is requested', async () => {
    const { provider, emulator, audio } = await spoken();
    const model = provider.transcriptionModel('gpt-4o-transcribe');

    const result = await transcribe({ model, audio, timestampGranularities: ['word'] });

    expect(result.text).not.toBe('');
    expect(result.warnings).toMatchObject([{ feature: 'timestampGranularities' }]);
    expect(emulator.requests.at(-1)?.body).toMatchObject({ fields: { response_format: 'json' } });
  });

  test('a transcription at a gateway without the route is an error, without a retry', async () => {
    const { provider, emulator, audio } = await spoken();
    emulator.fail({
      operation: 'audio.transcriptions.create',
      fault: { type: 'error', status: 404 },
    });

    const error = await failureOf(
      transcribe({ model: provider.transcriptionModel('whisper-1'), audio }),
    );

    expect(error).toMatchObject({ name: 'AI_APICallError', statusCode: 404, isRetryable: false });
  });
});

describe('the AI SDK adds no retries', () => {
  fakeWaitingTime();

  test.each(faults.map((fault) => [JSON.stringify(fault), fault] as const))(
    'speech, %s',
    async (_, fault) => {
      const alone = emulatedProvider();
      const asked = emulatedProvider();
      for (const { emulator } of [alone, asked]) emulator.fail({ fault, times: 10 });

      const params = { model: speech, input: 'Hello', voice: 'alloy' };
      const read = async () => (await alone.client.audio.speech.create(params)).arrayBuffer();
      await resolved(read().then(...nothing));
      const call = { model: asked.provider.speechModel(speech), text: 'Hello', voice: 'alloy' };
      const error = await resolved(generateSpeech(call).then(...nothing));

      expect(asked.emulator.requests).toHaveLength(alone.emulator.requests.length);
      expect(asked.emulator.charges).toHaveLength(alone.emulator.charges.length);
      if (error === undefined) return;
      expect(APICallError.isInstance(error)).toBe(true);
      expect(error).toMatchObject({ isRetryable: false });
    },
  );
});

const nothing = [() => {}, (error: unknown) => error] as const;
