import type { SharedV4Warning, SpeechModelV4, TranscriptionModelV4 } from '@ai-sdk/provider';
import type { Gateway } from '../index.ts';
import { calling, UnsupportedError } from './errors.ts';
import { bytesOf } from './media.ts';
import { headersOf, optionOf, providerName, readCall, unsupported } from './options.ts';

/**
 * A model that speaks.
 *
 * @param connect - Gives the client, at the first call.
 */
export function speechModel(connect: () => Gateway, modelId: string): SpeechModelV4 {
  return {
    specificationVersion: 'v4',
    provider: `${providerName}.speech`,
    modelId,
    async doGenerate(options) {
      const { text, voice, outputFormat, speed, instructions, language } = options;
      const { request } = readCall(options);
      const warnings: SharedV4Warning[] = [];
      if (language !== undefined) {
        warnings.push(unsupported('language', 'The models go by the text.'));
      }
      const client = connect();
      const params = {
        model: modelId,
        input: text,
        voice,
        response_format: outputFormat,
        speed,
        instructions,
      };
      const operation = 'audio.speech.create' as const;
      const failed = { client, operation, signal: options.abortSignal };
      const { audio, response } = await calling(failed, async () => {
        const file = await client.audio.speech.create(params, request);
        return { audio: new Uint8Array(await file.arrayBuffer()), response: file };
      });
      return {
        audio,
        warnings,
        request: { body: params },
        response: { timestamp: new Date(), modelId, headers: headersOf(response) },
      };
    },
  };
}

/** What a transcription model may do. */
export interface TranscriptionModelSettings {
  /**
   * Allows what the gateway has in place of transcription: a translation into English, whatever was
   * spoken. Also a provider option of a single call.
   * @defaultValue false: every call is refused before anything is sent
   */
  readonly translate?: boolean | undefined;
}

/**
 * A model that listens. The gateway translates into English and does not transcribe, so it has to be
 * told that this will do.
 *
 * @param connect - Gives the client, at the first call.
 */
export function transcriptionModel(
  connect: () => Gateway,
  modelId: string,
  settings: TranscriptionModelSettings = {},
): TranscriptionModelV4 {
  return {
    specificationVersion: 'v4',
    provider: `${providerName}.transcription`,
    modelId,
    async doGenerate(options) {
      const { audio, mediaType, timestampGranularities = [] } = options;
      const { request, own } = readCall(options, ['translate']);
      if (!(optionOf(own, 'translate', 'boolean') ?? settings.translate ?? false)) {
        throw new UnsupportedError(
          'transcription',
          'The gateway translates into English instead: allow it by { translate: true }.',
        );
      }
      const warnings: SharedV4Warning[] = [
        { type: 'compatibility', feature: 'transcription', details: 'Translated into English.' },
      ];
      if (timestampGranularities.includes('word')) {
        warnings.push(unsupported('word timestamps', 'Segments have timestamps.'));
      }
      const client = connect();
      const operation = 'audio.translations.create' as const;
      const failed = { client, operation, signal: options.abortSignal };
      const file = { data: bytesOf(audio), type: mediaType };
      const { data, response } = await calling(failed, () =>
        client.audio.translations
          .create({ model: modelId, file, response_format: 'verbose_json' }, request)
          .withResponse(),
      );
      return {
        text: data.text,
        segments: (data.segments ?? []).map(({ text, start, end }) => ({
          text,
          startSecond: start,
          endSecond: end,
        })),
        // The language of the text, not of the speech.
        language: 'en',
        durationInSeconds: data.duration === 0 ? undefined : data.duration,
        warnings,
        response: { timestamp: new Date(), modelId, headers: headersOf(response), body: data },
      };
    },
  };
}
