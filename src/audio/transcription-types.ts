import type { OpenString, WithRequestId } from '../types.ts';
import type { AudioResponseFormat, TranscriptionSegment } from './types.ts';
import type { Uploadable } from '../uploads/types.ts';

/** What a transcription can tell besides its text. */
export type TranscriptionInclude = OpenString<'logprobs'>;

/** How the server cuts sound into pieces, by where nobody speaks. */
export interface TranscriptionVadConfig {
  type: 'server_vad';
  prefix_padding_ms?: number | undefined;
  silence_duration_ms?: number | undefined;
  /** 0 to 1; higher needs louder speech. */
  threshold?: number | undefined;
}

type AnyResponseFormat = AudioResponseFormat | undefined;

/**
 * Parameters of `audio.transcriptions.create()`: `POST /v1/audio/transcriptions`.
 *
 * Fields that are not listed here go through with the option `extraBody`.
 */
export interface TranscriptionCreateParamsBase<
  Format extends AnyResponseFormat = AnyResponseFormat,
> {
  /**
   * The audio. The gateway recognises it by the extension of its file name, so the file is given one
   * that its bytes call for.
   */
  file: Uploadable;
  /** An audio model id, as `models.list()` gives it. */
  model: string;
  /** The language that is spoken, in ISO 639-1, for example `"en"`. */
  language?: string | undefined;
  /** Languages that may be spoken, for models that take several. */
  languages?: readonly string[] | undefined;
  /** Words that are likely to be said, for models that take them. */
  keywords?: readonly string[] | undefined;
  /** Text that sets the style, or what was said before. */
  prompt?: string | undefined;
  /**
   * The form of the answer. Which ones there are is up to the model.
   * @defaultValue `"json"`
   */
  response_format?: Format | undefined;
  /** Sampling temperature, 0 to 1. Higher is more random. */
  temperature?: number | undefined;
  /** What is timed in `verbose_json`. */
  timestamp_granularities?: readonly ('word' | 'segment')[] | undefined;
  /** What is told besides the text. */
  include?: readonly TranscriptionInclude[] | undefined;
  /** How the sound is cut into pieces. */
  chunking_strategy?: 'auto' | TranscriptionVadConfig | null | undefined;
  /** Names of those who speak, for `diarized_json`. */
  known_speaker_names?: readonly string[] | undefined;
  /** Samples of their voices as data URLs, in the same order. */
  known_speaker_references?: readonly string[] | undefined;
  /** Whether the text comes as events, piece by piece. */
  stream?: boolean | null | undefined;
}

/** Parameters of `audio.transcriptions.create()` for an answer in one piece. */
export interface TranscriptionCreateParamsNonStreaming<
  Format extends AnyResponseFormat = AnyResponseFormat,
> extends TranscriptionCreateParamsBase<Format> {
  stream?: false | null | undefined;
}

/** Parameters of `audio.transcriptions.create()` for a stream of events. */
export interface TranscriptionCreateParamsStreaming extends TranscriptionCreateParamsBase {
  stream: true;
}

/** Parameters of `audio.transcriptions.create()`. */
export type TranscriptionCreateParams<Format extends AnyResponseFormat = AnyResponseFormat> =
  | TranscriptionCreateParamsNonStreaming<Format>
  | TranscriptionCreateParamsStreaming;

// The types of `OpenAI.Audio.TranscriptionCreateParams`.
export declare namespace TranscriptionCreateParams {
  export {
    TranscriptionVadConfig as VadConfig,
    TranscriptionCreateParamsNonStreaming,
    TranscriptionCreateParamsStreaming,
  };
}

/** Tokens of a kind that were heard. */
interface TranscriptionInputTokenDetails {
  audio_tokens?: number | null | undefined;
  text_tokens?: number | null | undefined;
}

/** The tokens that a transcription used. */
export interface TranscriptionTokens {
  type: 'tokens';
  input_tokens: number;
  output_tokens: number;
  total_tokens: number;
  input_token_details?: TranscriptionInputTokenDetails | null | undefined;
}

// The parts under the names that code for `openai` uses.
export declare namespace TranscriptionTokens {
  export { TranscriptionInputTokenDetails as InputTokenDetails };
}

/** The length of the sound, for models that are billed by it. */
export interface TranscriptionDuration {
  type: 'duration';
  seconds: number;
}

/** What a transcription used. */
export type TranscriptionUsage = TranscriptionTokens | TranscriptionDuration;

/** How sure the model was of a token. */
export interface TranscriptionLogprob {
  token?: string | null | undefined;
  bytes?: number[] | null | undefined;
  logprob?: number | null | undefined;
}

/** A language that was heard. */
export interface TranscriptionLanguage {
  code: string;
}

/** A transcription. */
export interface Transcription extends WithRequestId {
  /** The text as it was spoken. Empty when nothing was said. */
  text: string;
  languages?: TranscriptionLanguage[] | null | undefined;
  logprobs?: TranscriptionLogprob[] | null | undefined;
  usage?: TranscriptionUsage | null | undefined;
}

// The types of `OpenAI.Audio.Transcription`.
export declare namespace Transcription {
  export {
    TranscriptionLogprob as Logprob,
    TranscriptionTokens as Tokens,
    TranscriptionDuration as Duration,
  };
}

/** A word and when it was said. */
export interface TranscriptionWord {
  word: string;
  /** In seconds. */
  start: number;
  /** In seconds. */
  end: number;
}

/** A transcription with everything that the provider tells about it. */
export interface TranscriptionVerbose extends WithRequestId {
  text: string;
  /** Length of the audio in seconds; 0 when the provider does not say. */
  duration: number;
  /** The language that was spoken; empty when the provider does not say. */
  language: string;
  segments?: TranscriptionSegment[] | null | undefined;
  /** Only with `timestamp_granularities: ["word"]`. */
  words?: TranscriptionWord[] | null | undefined;
  usage?: TranscriptionUsage | null | undefined;
}

// The types of `OpenAI.Audio.TranscriptionVerbose`.
export declare namespace TranscriptionVerbose {
  export { TranscriptionDuration as Usage };
}

/** What one person said without a break. */
export interface TranscriptionDiarizedSegment {
  type: 'transcript.text.segment';
  id: string;
  /** In seconds. */
  start: number;
  /** In seconds. */
  end: number;
  /** A name that was given, or a letter. */
  speaker: string;
  text: string;
}

/** A transcription that tells who spoke. */
export interface TranscriptionDiarized extends WithRequestId {
  task: 'transcribe';
  text: string;
  /** Length of the audio in seconds; 0 when the provider does not say. */
  duration: number;
  segments: TranscriptionDiarizedSegment[];
  usage?: TranscriptionUsage | null | undefined;
}

// The types of `OpenAI.Audio.TranscriptionDiarized`.
export declare namespace TranscriptionDiarized {
  export { TranscriptionTokens as Tokens, TranscriptionDuration as Duration };
}

/** What `audio.transcriptions.create()` gives when it gives an object. */
export type TranscriptionCreateResponse =
  | Transcription
  | TranscriptionDiarized
  | TranscriptionVerbose;

/** A piece of the text. */
export interface TranscriptionTextDeltaEvent {
  type: 'transcript.text.delta';
  delta: string;
  logprobs?: TranscriptionLogprob[] | null | undefined;
  segment_id?: string | null | undefined;
}

// The types of `OpenAI.Audio.TranscriptionTextDeltaEvent`.
export declare namespace TranscriptionTextDeltaEvent {
  export { TranscriptionLogprob as Logprob };
}

/** What one person said without a break, with `diarized_json`. */
export type TranscriptionTextSegmentEvent = TranscriptionDiarizedSegment;

/** The end: all of the text. */
export interface TranscriptionTextDoneEvent {
  type: 'transcript.text.done';
  text: string;
  languages?: TranscriptionLanguage[] | null | undefined;
  logprobs?: TranscriptionLogprob[] | null | undefined;
  usage?: TranscriptionUsage | null | undefined;
}

// The types of `OpenAI.Audio.TranscriptionTextDoneEvent`.
export declare namespace TranscriptionTextDoneEvent {
  export { TranscriptionLogprob as Logprob, TranscriptionTokens as Usage };
}

/** An event of `audio.transcriptions.create({ stream: true })`. */
export type TranscriptionStreamEvent =
  | TranscriptionTextDeltaEvent
  | TranscriptionTextSegmentEvent
  | TranscriptionTextDoneEvent;
