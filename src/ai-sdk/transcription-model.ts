import type { SharedV4Warning, TranscriptionModelV4 } from '@ai-sdk/provider';
import type { Gateway } from '../index.ts';
import { bytesOf } from './bytes.ts';
import { calling, UnsupportedError } from './errors.ts';
import { headersOf, optionOf, providerName, readCall, unsupported } from './options.ts';

/** What a transcription model may do. */
export interface TranscriptionModelSettings {
  /**
   * Allows what the gateway has in place of transcription: a translation into English, whatever was
   * spoken. Also a provider option of a single call.
   * @defaultValue false: every call is refused before anything is sent
   */
  readonly translate?: boolean | undefined;
}

const operation = 'audio.translations.create';

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
      const failed = { client, operation, signal: options.abortSignal } as const;
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
