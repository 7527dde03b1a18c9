import type { NoOptions } from '../../options/options.ts';
import type { OpenString, WithRequestId } from '../../types.ts';
import type { Uploadable } from '../../uploads/types.ts';

/** File formats for speech. */
export type SpeechFormat = OpenString<'mp3' | 'opus' | 'aac' | 'flac' | 'wav' | 'pcm'>;

/**
 * Parameters of `audio.speech.create()`: `POST /v1/audio/speech`.
 *
 * Send fields that are not listed here with the option `extraBody`.
 */
export interface SpeechCreateParamsBase extends NoOptions {
  /** A text-to-speech model id from `models.list()`. */
  model: string;
  /** The text to speak. Many models accept at most 4096 characters. */
  input: string;
  /** The name of the voice, as a string: voice objects are not supported. Most models require one. */
  voice?: string | undefined;
  /**
   * The file format; `"mp3"` by default. Some providers ignore it and send MP3, so check the
   * `content-type` of the response. `"pcm"` has no header: 24 kHz, 16 bit, mono.
   */
  response_format?: SpeechFormat | undefined;
  /** Speaking speed, usually 0.25 to 4; 1 is normal. */
  speed?: number | undefined;
  /** Instructions for the style of speaking, for models that accept them. */
  instructions?: string | undefined;
  /** Receive the audio as bytes (`"audio"`) or as events (`"sse"`). */
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

/** Tokens used by speech. */
export interface SpeechUsage {
  input_tokens: number;
  output_tokens: number;
  total_tokens: number;
}

/** A chunk of the audio. */
export interface SpeechAudioDeltaEvent {
  type: 'speech.audio.delta';
  /** The bytes in base64. */
  audio: string;
}

/** The last event of the audio. */
export interface SpeechAudioDoneEvent {
  type: 'speech.audio.done';
  usage?: SpeechUsage | null | undefined;
}

/** An event of `audio.speech.create({ stream_format: "sse" })`. */
export type SpeechStreamEvent = SpeechAudioDeltaEvent | SpeechAudioDoneEvent;

/** Response formats of translations. */
export type TranslationResponseFormat = 'json' | 'text' | 'srt' | 'verbose_json' | 'vtt';

/** Response formats for audio. Not every operation supports all of them. */
export type AudioResponseFormat = TranslationResponseFormat | 'diarized_json';

/**
 * Parameters of `audio.translations.create()`: `POST /v1/audio/translations`.
 *
 * Send fields that are not listed here with the option `extraBody`.
 */
export interface TranslationCreateParams<
  Format extends TranslationResponseFormat | undefined = TranslationResponseFormat | undefined,
> extends NoOptions {
  /**
   * The audio. The gateway detects its format by the extension of the file name, so the extension is
   * corrected from the file's bytes.
   */
  file: Uploadable;
  /** An audio model id from `models.list()`. */
  model: string;
  /** English text that sets the style, or the preceding text. */
  prompt?: string | undefined;
  /**
   * The response format.
   * @defaultValue `"json"`, which is the gateway's own default
   */
  response_format?: Format | undefined;
  /** Sampling temperature, 0 to 1. Higher is more random. */
  temperature?: number | undefined;
}

/** A translation. */
export interface Translation extends WithRequestId {
  /** The text in English. Empty if the audio has no speech. */
  text: string;
}

/** A segment of the audio with its text. */
export interface TranscriptionSegment {
  id: number;
  /** Start time in seconds. */
  start: number;
  /** End time in seconds. */
  end: number;
  text: string;
  seek: number;
  tokens: number[];
  temperature: number;
  avg_logprob: number;
  compression_ratio: number;
  no_speech_prob: number;
}

/** A translation with duration, language and segments. */
export interface TranslationVerbose extends Translation {
  /** Duration of the audio in seconds; 0 if the provider does not report it. */
  duration: number;
  /** The language of the text; empty if the provider does not report it. */
  language: string;
  segments?: TranscriptionSegment[] | null | undefined;
}

/** An object returned by `audio.translations.create()`. */
export type TranslationCreateResponse = Translation | TranslationVerbose;
