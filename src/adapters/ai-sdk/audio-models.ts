import type {
  JSONObject,
  SharedV4Warning,
  SpeechModelV4,
  TranscriptionModelV4,
  TranscriptionModelV4Result,
} from '@ai-sdk/provider';
import type { Gateway, RequestOptions, Uploadable } from '../../index.ts';
import { convertErrors } from './errors.ts';
import { toBytes } from './media.ts';
import {
  costMetadata,
  isJSONObject,
  toHeaders,
  readEnum,
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
      const { request, warnings } = readCall(options);
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
      const { request, providerOptions, warnings } = readCall(options, [
        'translate',
        ...formatNames,
      ]);
      const isTranslated =
        readOption(providerOptions, 'translate', 'boolean') ?? settings.translate ?? false;
      const file = { data: toBytes(audio), type: mediaType };
      const format = readFormat(providerOptions) ?? usualFormat(modelId);
      const make = isTranslated ? translateSpeech : transcribers[format];
      const { text, segments, language, duration, speakers, response, body } = await make(
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
        ...addSpeakers(costMetadata(body, response.headers), speakers),
      };
    },
  };
}

/** Returns the format with the most details that a model has. */
function usualFormat(modelId: string): (typeof formats)[number] {
  if (/diarize/i.test(modelId)) return 'diarized_json';
  return returnsTextOnly.test(modelId) ? 'json' : 'verbose_json';
}

/** Spellings of the provider option that selects the format of a transcript. */
const formatNames = ['response_format', 'responseFormat'] as const;
const formats = ['json', 'verbose_json', 'diarized_json'] as const;

/**
 * Reads the format of a transcript; by default timestamps are requested where the model has them.
 *
 * @throws `InvalidInputError` if it is not JSON
 */
function readFormat(providerOptions: JSONObject): (typeof formats)[number] | undefined {
  const [first, second] = formatNames.map((name) => readEnum(providerOptions, name, formats));
  return first ?? second;
}

/** Adds the speaker of each segment to the provider metadata. */
function addSpeakers(
  { providerMetadata }: ReturnType<typeof costMetadata>,
  speakers: readonly string[] | undefined,
): Pick<TranscriptionModelV4Result, 'providerMetadata'> {
  if (speakers === undefined) return providerMetadata === undefined ? {} : { providerMetadata };
  const metadata = { ...providerMetadata?.[providerName], speakers: [...speakers] };
  return { providerMetadata: { [providerName]: metadata } };
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
  /** The speaker of each segment. */
  readonly speakers?: readonly string[] | undefined;
  readonly response: Response;
  readonly body: unknown;
}

const operation = 'audio.transcriptions.create';

/** Requests the text alone. */
async function transcribeText(
  { client, signal, request, params }: FileRequest,
  granularities: readonly string[],
  warnings: SharedV4Warning[],
): Promise<SpeechText> {
  if (granularities.length > 0) {
    warnings.push(unsupported('timestampGranularities', 'This model returns only the text.'));
  }
  const { data, response } = await convertErrors({ client, signal, operation }, () =>
    client.audio.transcriptions
      .create({ ...params, response_format: 'json' }, request)
      .withResponse(),
  );
  const unknown = { language: undefined, duration: undefined };
  return { ...unknown, text: data.text, segments: [], response, body: data };
}

/** Requests the text with timestamps. */
async function transcribeWithTimes(
  { client, signal, request, params }: FileRequest,
  granularities: readonly string[],
): Promise<SpeechText> {
  const byWord = granularities.includes('word');
  const { data, response } = await convertErrors({ client, signal, operation }, () =>
    client.audio.transcriptions
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
  const heard = byWord ? readSegments(words) : [];
  const segments = heard.length > 0 ? heard : readSegments(data.segments);
  return { text, segments, language, duration, response, body: data };
}

/** Reads segments or words. Gateways send other values in their place, which are left out. */
function readSegments(list: unknown): SpeechText['segments'] {
  const items: readonly unknown[] = Array.isArray(list) ? list : [];
  return items.filter(isJSONObject).flatMap(({ text, word, start, end }) => {
    const spoken = text ?? word;
    if (typeof spoken !== 'string') return [];
    const [from, to] = [start, end].map((time) => (typeof time === 'number' ? time : 0));
    return [{ text: spoken, start: from ?? 0, end: to ?? from ?? 0 }];
  });
}

/** Requests the text of each speaker. */
async function transcribeSpeakers(
  { client, signal, request, params }: FileRequest,
  granularities: readonly string[],
  warnings: SharedV4Warning[],
): Promise<SpeechText> {
  if (granularities.includes('word')) {
    warnings.push(unsupported('word timestamps', 'Segments have timestamps and speakers.'));
  }
  const { data, response } = await convertErrors({ client, signal, operation }, () =>
    client.audio.transcriptions
      .create({ ...params, response_format: 'diarized_json' }, request)
      .withResponse(),
  );
  const { text, duration } = data;
  const listed: readonly unknown[] = Array.isArray(data.segments) ? data.segments : [];
  const spoken = listed.flatMap((segment) => {
    const [read] = readSegments([segment]);
    const speaker = isJSONObject(segment) ? segment['speaker'] : undefined;
    return read === undefined
      ? []
      : [{ read, speaker: typeof speaker === 'string' ? speaker : '' }];
  });
  const segments = spoken.map(({ read }) => read);
  const speakers = spoken.map(({ speaker }) => speaker);
  return { text, segments, speakers, language: undefined, duration, response, body: data };
}

const transcribers = {
  json: transcribeText,
  verbose_json: transcribeWithTimes,
  diarized_json: transcribeSpeakers,
} as const;

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
  return { text, segments: readSegments(segments), language: 'en', duration, response, body: data };
}
