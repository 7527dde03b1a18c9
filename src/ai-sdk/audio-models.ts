import type { SharedV4Warning, SpeechModelV4, TranscriptionModelV4 } from '@ai-sdk/provider';
import type { Gateway, RequestOptions, Uploadable } from '../index.ts';
import { calling } from './errors.ts';
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
      const client = connect();
      const { request } = readCall(client, options);
      const warnings: SharedV4Warning[] = [];
      if (language !== undefined) {
        warnings.push(unsupported('language', 'The models go by the text.'));
      }
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

/** What a transcription model does. */
export interface TranscriptionModelSettings {
  /**
   * Whether the speech is translated into English in place of being written down in its own language,
   * for gateways that only translate. Also a provider option of a single call.
   * @defaultValue false
   */
  readonly translate?: boolean | undefined;
}

/** Models that tell the text alone, and refuse to be asked for more. */
const tellsTextAlone = /transcribe/i;

/**
 * A model that listens.
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
      const { audio, mediaType, abortSignal: signal } = options;
      const client = connect();
      const { request, own } = readCall(client, options, ['translate']);
      const isTranslated = optionOf(own, 'translate', 'boolean') ?? settings.translate ?? false;
      const file = { data: bytesOf(audio), type: mediaType };
      const make = isTranslated ? translated : transcribed;
      const warnings: SharedV4Warning[] = [];
      const { text, segments, language, duration, response, body } = await make(
        { client, signal, request, params: { model: modelId, file } },
        options.timestampGranularities ?? [],
        warnings,
      );
      return {
        text,
        segments: segments.map((segment) => ({
          text: segment.text,
          startSecond: segment.start,
          endSecond: segment.end,
        })),
        language: language === '' ? undefined : language,
        durationInSeconds: duration === 0 ? undefined : duration,
        warnings,
        response: { timestamp: new Date(), modelId, headers: headersOf(response), body },
      };
    },
  };
}

/** A call that hears a file. */
interface Hearing {
  readonly client: Gateway;
  readonly signal: AbortSignal | undefined;
  readonly request: RequestOptions;
  readonly params: { readonly model: string; readonly file: Uploadable };
}

/** What was heard. */
interface Heard {
  readonly text: string;
  readonly segments: readonly {
    readonly text: string;
    readonly start: number;
    readonly end: number;
  }[];
  readonly language: string | undefined;
  readonly duration: number | undefined;
  readonly response: Response;
  readonly body: unknown;
}

async function transcribed(
  { client, signal, request, params }: Hearing,
  granularities: readonly string[],
  warnings: SharedV4Warning[],
): Promise<Heard> {
  const failed = { client, signal, operation: 'audio.transcriptions.create' } as const;
  const { transcriptions } = client.audio;
  if (tellsTextAlone.test(params.model)) {
    if (granularities.length > 0) {
      warnings.push(unsupported('timestampGranularities', 'This model tells the text alone.'));
    }
    const { data, response } = await calling(failed, () =>
      transcriptions.create({ ...params, response_format: 'json' }, request).withResponse(),
    );
    const unknown = { language: undefined, duration: undefined };
    return { ...unknown, text: data.text, segments: [], response, body: data };
  }
  const byWord = granularities.includes('word');
  const { data, response } = await calling(failed, () =>
    transcriptions
      .create(
        {
          ...params,
          response_format: 'verbose_json',
          timestamp_granularities: byWord ? ['word'] : undefined,
        },
        request,
      )
      .withResponse(),
  );
  const { text, words, language, duration } = data;
  const segments = byWord
    ? words?.map(({ word, start, end }) => ({ text: word, start, end }))
    : undefined;
  const heard = segments ?? data.segments ?? [];
  return { text, segments: heard, language, duration, response, body: data };
}

async function translated(
  { client, signal, request, params }: Hearing,
  granularities: readonly string[],
  warnings: SharedV4Warning[],
): Promise<Heard> {
  const details = 'Translated into English.';
  warnings.push({ type: 'compatibility', feature: 'transcription', details });
  if (granularities.includes('word')) {
    warnings.push(unsupported('word timestamps', 'Segments have timestamps.'));
  }
  const failed = { client, signal, operation: 'audio.translations.create' } as const;
  const { data, response } = await calling(failed, () =>
    client.audio.translations
      .create({ ...params, response_format: 'verbose_json' }, request)
      .withResponse(),
  );
  const { text, segments, duration } = data;
  // The language of the text, not of the speech.
  return { text, segments: segments ?? [], language: 'en', duration, response, body: data };
}
