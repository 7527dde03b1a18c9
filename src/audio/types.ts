import type { OpenString, WithRequestId } from '../types.ts';
import type { Uploadable } from '../uploads/types.ts';

/** The file formats of speech. */
export type SpeechFormat = OpenString<'mp3' | 'opus' | 'aac' | 'flac' | 'wav' | 'pcm'>;

/**
 * Parameters of `audio.speech.create()`: `POST /v1/audio/speech`.
 *
 * Fields that are not listed here go through with the option `extraBody`.
 */
export interface SpeechCreateParamsBase {
  /** A text-to-speech model id, as `models.list()` gives it. */
  model: string;
  /** The text to speak. Many models take at most 4096 characters. */
  input: string;
  /** The name of the voice. Most models need one. Plain text: voice objects are not understood. */
  voice?: string | undefined;
  /**
   * The file format; `"mp3"` when it is left out. Some providers send MP3 whatever is asked for, so go
   * by the `content-type` of the answer. `"pcm"` has no header: 24 kHz, 16 bit, mono.
   */
  response_format?: SpeechFormat | undefined;
  /** Speaking speed, usually 0.25 to 4; 1 is normal. */
  speed?: number | undefined;
  /** How to speak, for models that can be told. */
  instructions?: string | undefined;
  /** Whether the audio comes as bytes (`"audio"`) or as events (`"sse"`). */
  stream_format?: 'sse' | 'audio' | undefined;
}

/** Parameters of `audio.speech.create()` for a file. */
export interface SpeechCreateParamsFile extends SpeechCreateParamsBase {
  stream_format?: 'audio' | undefined;
}

/** Parameters of `audio.speech.create()` for a stream of events. */
export interface SpeechCreateParamsStreaming extends SpeechCreateParamsBase {
  stream_format: 'sse';
}

/** Parameters of `audio.speech.create()`. */
export type SpeechCreateParams = SpeechCreateParamsFile | SpeechCreateParamsStreaming;

/** A voice of your own; gateways refuse it, and so does `voice`. */
type SpeechVoiceID = { id: string };

// The parts under the names that code for `openai` uses.
export declare namespace SpeechCreateParams {
  export { SpeechVoiceID as ID };
}

/** What speech used. */
export interface SpeechUsage {
  input_tokens: number;
  output_tokens: number;
  total_tokens: number;
}

/** A piece of the audio. */
export interface SpeechAudioDeltaEvent {
  type: 'speech.audio.delta';
  /** The bytes in base64. */
  audio: string;
}

/** The end of the audio. */
export interface SpeechAudioDoneEvent {
  type: 'speech.audio.done';
  usage?: SpeechUsage | null | undefined;
}

/** An event of `audio.speech.create({ stream_format: "sse" })`. */
export type SpeechStreamEvent = SpeechAudioDeltaEvent | SpeechAudioDoneEvent;

/** The forms in which a translation can come. */
export type TranslationResponseFormat = 'json' | 'text' | 'srt' | 'verbose_json' | 'vtt';

/** The forms in which audio can be answered. Which of them there are is up to the operation. */
export type AudioResponseFormat = TranslationResponseFormat | 'diarized_json';

/**
 * Parameters of `audio.translations.create()`: `POST /v1/audio/translations`.
 *
 * Fields that are not listed here go through with the option `extraBody`.
 */
export interface TranslationCreateParams<
  Format extends TranslationResponseFormat | undefined = TranslationResponseFormat | undefined,
> {
  /**
   * The audio. The gateway recognises it by the extension of its file name, so the file is given one
   * that its bytes call for.
   */
  file: Uploadable;
  /** An audio model id, as `models.list()` gives it. */
  model: string;
  /** English text that sets the style, or what was said before. */
  prompt?: string | undefined;
  /**
   * The form of the answer.
   * @defaultValue `"json"`, which is the gateway's own default
   */
  response_format?: Format | undefined;
  /** Sampling temperature, 0 to 1. Higher is more random. */
  temperature?: number | undefined;
}

/** A translation. */
export interface Translation extends WithRequestId {
  /** The text in English. Empty when nothing was said. */
  text: string;
}

/** A stretch of the audio and what was said in it. */
export interface TranscriptionSegment {
  id: number;
  /** Where it begins, in seconds. */
  start: number;
  /** Where it ends, in seconds. */
  end: number;
  text: string;
  seek: number;
  tokens: number[];
  temperature: number;
  avg_logprob: number;
  compression_ratio: number;
  no_speech_prob: number;
}

/** A translation with everything that the provider tells about it. */
export interface TranslationVerbose extends Translation {
  /** Length of the audio in seconds; 0 when the provider does not say. */
  duration: number;
  /** The language of the text; empty when the provider does not say. */
  language: string;
  segments?: TranscriptionSegment[] | null | undefined;
}

/** The answer of `audio.translations.create()` that is no text alone. */
export type TranslationCreateResponse = Translation | TranslationVerbose;
