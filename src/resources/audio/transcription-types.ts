import type { NoOptions } from '../../options/options.ts';
import type { OpenString, WithRequestId } from '../../types.ts';
import type { AudioResponseFormat, TranscriptionSegment } from './types.ts';
import type { Uploadable } from '../../uploads/types.ts';

/** Optional fields of a transcription. */
export type TranscriptionInclude = OpenString<'logprobs'>;

/** Settings for splitting audio into chunks by voice activity. */
export interface TranscriptionVadConfig {
  type: 'server_vad';
  prefix_padding_ms?: number | undefined;
  silence_duration_ms?: number | undefined;
  /** 0 to 1; a higher threshold requires louder speech. */
  threshold?: number | undefined;
}

type OptionalFormat = AudioResponseFormat | undefined;

/**
 * Parameters of `audio.transcriptions.create()`: `POST /v1/audio/transcriptions`.
 *
 * Send fields that are not listed here with the option `extraBody`.
 */
export interface TranscriptionCreateParamsBase<
  Format extends OptionalFormat = OptionalFormat,
> extends NoOptions {
  /**
   * The audio. The gateway detects its format by the extension of the file name, so the extension is
   * corrected from the file's bytes.
   */
  file: Uploadable;
  /** An audio model id from `models.list()`. */
  model: string;
  /** The spoken language, in ISO 639-1, for example `"en"`. */
  language?: string | undefined;
  /** Possible spoken languages, for models that accept several. */
  languages?: readonly string[] | undefined;
  /** Words likely to occur, for models that accept them. */
  keywords?: readonly string[] | undefined;
  /** Text that sets the style, or the preceding text. */
  prompt?: string | undefined;
  /**
   * The response format. Supported formats depend on the model.
   * @defaultValue `"json"`
   */
  response_format?: Format | undefined;
  /** Sampling temperature, 0 to 1. Higher is more random. */
  temperature?: number | undefined;
  /** Timestamps to include in `verbose_json`. */
  timestamp_granularities?: readonly ('word' | 'segment')[] | undefined;
  /** Additional fields to return. */
  include?: readonly TranscriptionInclude[] | undefined;
  /** The method of splitting the audio into chunks. */
  chunking_strategy?: 'auto' | TranscriptionVadConfig | null | undefined;
  /** Names of the speakers, for `diarized_json`. */
  known_speaker_names?: readonly string[] | undefined;
  /** Voice samples of the speakers as data URLs, in the same order. */
  known_speaker_references?: readonly string[] | undefined;
  /** Set to `true` to receive the text as events. */
  stream?: boolean | null | undefined;
}

/** Parameters of `audio.transcriptions.create()` without streaming. */
export interface TranscriptionCreateParamsNonStreaming<
  Format extends OptionalFormat = OptionalFormat,
> extends TranscriptionCreateParamsBase<Format> {
  stream?: false | null | undefined;
}

/** Parameters of `audio.transcriptions.create()` with streaming. */
export interface TranscriptionCreateParamsStreaming extends TranscriptionCreateParamsBase {
  stream: true;
}

/** Parameters of `audio.transcriptions.create()`. */
export type TranscriptionCreateParams<Format extends OptionalFormat = OptionalFormat> =
  | TranscriptionCreateParamsNonStreaming<Format>
  | TranscriptionCreateParamsStreaming;

/** Input tokens by modality. */
interface TranscriptionInputTokenDetails {
  audio_tokens?: number | null | undefined;
  text_tokens?: number | null | undefined;
}

/** Tokens used by a transcription. */
export interface TranscriptionTokens {
  type: 'tokens';
  input_tokens: number;
  output_tokens: number;
  total_tokens: number;
  input_token_details?: TranscriptionInputTokenDetails | null | undefined;
}

/** Duration of the audio, for models that are billed by duration. */
export interface TranscriptionDuration {
  type: 'duration';
  seconds: number;
}

/** Usage of a transcription, in tokens or seconds. */
export type TranscriptionUsage = TranscriptionTokens | TranscriptionDuration;

/** Log probability of a token. */
export interface TranscriptionLogprob {
  token?: string | null | undefined;
  bytes?: number[] | null | undefined;
  logprob?: number | null | undefined;
}

/** A detected language. */
export interface TranscriptionLanguage {
  code: string;
}

/** A transcription. */
export interface Transcription extends WithRequestId {
  /** The text in the spoken language. Empty if the audio has no speech. */
  text: string;
  languages?: TranscriptionLanguage[] | null | undefined;
  logprobs?: TranscriptionLogprob[] | null | undefined;
  usage?: TranscriptionUsage | null | undefined;
}

/** A word with its timestamps. */
export interface TranscriptionWord {
  word: string;
  /** In seconds. */
  start: number;
  /** In seconds. */
  end: number;
}

/** A transcription with duration, language, segments and words. */
export interface TranscriptionVerbose extends WithRequestId {
  text: string;
  /** Duration of the audio in seconds; 0 if the provider does not report it. */
  duration: number;
  /** The spoken language; empty if the provider does not report it. */
  language: string;
  segments?: TranscriptionSegment[] | null | undefined;
  /** Only with `timestamp_granularities: ["word"]`. */
  words?: TranscriptionWord[] | null | undefined;
  usage?: TranscriptionUsage | null | undefined;
}

/** Continuous speech by one speaker. */
export interface TranscriptionDiarizedSegment {
  type: 'transcript.text.segment';
  id: string;
  /** In seconds. */
  start: number;
  /** In seconds. */
  end: number;
  /** A known speaker name, or a letter. */
  speaker: string;
  text: string;
}

/** A transcription with speakers. */
export interface TranscriptionDiarized extends WithRequestId {
  task: 'transcribe';
  text: string;
  /** Duration of the audio in seconds; 0 if the provider does not report it. */
  duration: number;
  segments: TranscriptionDiarizedSegment[];
  usage?: TranscriptionUsage | null | undefined;
}

/** An object returned by `audio.transcriptions.create()`. */
export type TranscriptionCreateResponse =
  | Transcription
  | TranscriptionDiarized
  | TranscriptionVerbose;

/** A text delta. */
export interface TranscriptionTextDeltaEvent {
  type: 'transcript.text.delta';
  delta: string;
  logprobs?: TranscriptionLogprob[] | null | undefined;
  segment_id?: string | null | undefined;
}

/** Continuous speech by one speaker, with `diarized_json`. */
export type TranscriptionTextSegmentEvent = TranscriptionDiarizedSegment;

/** The last event, with the full text. */
export interface TranscriptionTextDoneEvent {
  type: 'transcript.text.done';
  text: string;
  languages?: TranscriptionLanguage[] | null | undefined;
  logprobs?: TranscriptionLogprob[] | null | undefined;
  usage?: TranscriptionUsage | null | undefined;
}

/** An event of `audio.transcriptions.create({ stream: true })`. */
export type TranscriptionStreamEvent =
  | TranscriptionTextDeltaEvent
  | TranscriptionTextSegmentEvent
  | TranscriptionTextDoneEvent;
