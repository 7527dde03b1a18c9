import type { SharedV4Warning, SpeechModelV4, TranscriptionModelV4 } from '@ai-sdk/provider';
import type { Gateway, RequestOptions, Uploadable } from '../../index.ts';
import { convertErrors } from './errors.ts';
import { toBytes } from './media.ts';
import {
  costMetadata,
  toHeaders,
  readOption,
  providerName,
  readCall,
  unsupported,
} from './options.ts';

/**
 * Creates a speech model.
 *
 * @param connect - Returns the client, at the first call.
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
        warnings.push(unsupported('language', 'The models detect the language.'));
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
      const { audio, response } = await convertErrors(failed, async () => {
        const file = await client.audio.speech.create(params, request);
        return { audio: new Uint8Array(await file.arrayBuffer()), response: file };
      });
      return {
        audio,
        warnings,
        request: { body: params },
        response: { timestamp: new Date(), modelId, headers: toHeaders(response) },
        ...costMetadata(undefined, response.headers),
      };
    },
  };
}

/** Settings of a transcription model. */
export interface TranscriptionModelSettings {
  /**
   * Translate the speech into English instead of transcribing it in its own language, for gateways that
   * only support translation. Also a provider option of a single call.
   * @defaultValue false
   */
  readonly translate?: boolean | undefined;
}

/** Models that return plain text only and reject requests for timestamps. */
const returnsTextOnly = /transcribe/i;

/**
 * Creates a transcription model.
 *
 * @param connect - Returns the client, at the first call.
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
      const isTranslated = readOption(own, 'translate', 'boolean') ?? settings.translate ?? false;
      const file = { data: toBytes(audio), type: mediaType };
      const make = isTranslated ? translateSpeech : transcribe;
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
        response: { timestamp: new Date(), modelId, headers: toHeaders(response), body },
        ...costMetadata(body, response.headers),
      };
    },
  };
}

/** A request to transcribe or translate a file. */
interface FileRequest {
  readonly client: Gateway;
  readonly signal: AbortSignal | undefined;
  readonly request: RequestOptions;
  readonly params: { readonly model: string; readonly file: Uploadable };
}

/** The result of a transcription or translation. */
interface SpeechText {
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

async function transcribe(
  { client, signal, request, params }: FileRequest,
  granularities: readonly string[],
  warnings: SharedV4Warning[],
): Promise<SpeechText> {
  const failed = { client, signal, operation: 'audio.transcriptions.create' } as const;
  const { transcriptions } = client.audio;
  if (returnsTextOnly.test(params.model)) {
    if (granularities.length > 0) {
      warnings.push(unsupported('timestampGranularities', 'This model returns only the text.'));
    }
    const { data, response } = await convertErrors(failed, () =>
      transcriptions.create({ ...params, response_format: 'json' }, request).withResponse(),
    );
    const unknown = { language: undefined, duration: undefined };
    return { ...unknown, text: data.text, segments: [], response, body: data };
  }
  const byWord = granularities.includes('word');
  const { data, response } = await convertErrors(failed, () =>
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

async function translateSpeech(
  { client, signal, request, params }: FileRequest,
  granularities: readonly string[],
  warnings: SharedV4Warning[],
): Promise<SpeechText> {
  const details = 'Translated into English.';
  warnings.push({ type: 'compatibility', feature: 'transcription', details });
  if (granularities.includes('word')) {
    warnings.push(unsupported('word timestamps', 'Segments have timestamps.'));
  }
  const failed = { client, signal, operation: 'audio.translations.create' } as const;
  const { data, response } = await convertErrors(failed, () =>
    client.audio.translations
      .create({ ...params, response_format: 'verbose_json' }, request)
      .withResponse(),
  );
  const { text, segments, duration } = data;
  // The language of the translation, not of the speech.
  return { text, segments: segments ?? [], language: 'en', duration, response, body: data };
}
