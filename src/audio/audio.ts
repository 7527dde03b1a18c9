import type { GatewayPromise } from '../http/promise.ts';
import { startCall, type Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import type { Stream } from '../streams/stream.ts';
import type { AudioModel, SpeechModel } from '../types.ts';
import { speak, transcribe, translate } from './operations.ts';
import type {
  Transcription,
  TranscriptionCreateParams,
  TranscriptionCreateParamsNonStreaming,
  TranscriptionCreateParamsStreaming,
  TranscriptionCreateResponse,
  TranscriptionDiarized,
  TranscriptionDiarizedSegment,
  TranscriptionInclude,
  TranscriptionLanguage,
  TranscriptionStreamEvent,
  TranscriptionTextDeltaEvent,
  TranscriptionTextDoneEvent,
  TranscriptionTextSegmentEvent,
  TranscriptionVerbose,
  TranscriptionWord,
} from './transcription-types.ts';
import type {
  AudioResponseFormat,
  SpeechCreateParams,
  SpeechCreateParamsBase,
  SpeechCreateParamsFile,
  SpeechCreateParamsStreaming,
  SpeechStreamEvent,
  TranscriptionSegment,
  Translation,
  TranslationCreateParams,
  TranslationCreateResponse,
  TranslationVerbose,
} from './types.ts';

/** Turns text into speech. */
export class Speech {
  /** @internal */
  readonly transport: () => Transport;

  /** @internal */
  constructor(transport: () => Transport) {
    this.transport = transport;
  }

  /**
   * Speaks a text: `POST /v1/audio/speech`.
   *
   * Metered: repeated on 408, 429, 5xx and lost connections before the first byte of the audio. The
   * body is a stream that nothing is held back of: read it or cancel it. It fails when the audio breaks
   * off. Its format is what `content-type` says, which can be another one than you asked for.
   *
   * Sound that comes in JSON (`audio_data`) becomes a file. A provider that answers with the address of the audio is followed there, without the key; browsers
   * do not allow that.
   *
   * With `stream_format: "sse"` the audio comes as events, and the loop over them throws
   * `StreamTruncatedError` when the last one is missing.
   *
   * @returns A `Response`, with `arrayBuffer()`, `blob()`, `body` and `headers`.
   * @throws `InvalidInputError` when a parameter cannot work; nothing is sent then
   * @throws `UnexpectedResponseError` when the answer is empty, JSON or a page instead of audio
   * @throws `APIError` when the gateway refuses
   *
   * @example
   * ```ts
   * const speech = await client.audio.speech.create({ model, voice: 'alloy', input: 'Hello!' });
   * const audio = await speech.arrayBuffer();
   * ```
   */
  create(params: SpeechCreateParamsFile, options?: RequestOptions): GatewayPromise<Response>;
  /** Speaks a text as a stream of events; the loop throws `StreamTruncatedError` when it is cut. */
  create(
    params: SpeechCreateParamsStreaming,
    options?: RequestOptions,
  ): GatewayPromise<Stream<SpeechStreamEvent>>;
  /** As a file or as events, as `stream_format` says. */
  create(
    params: SpeechCreateParamsBase,
    options?: RequestOptions,
  ): GatewayPromise<Response | Stream<SpeechStreamEvent>>;
  create(
    params: SpeechCreateParamsBase,
    options?: RequestOptions,
  ): GatewayPromise<Response | Stream<SpeechStreamEvent>> {
    return startCall(params, () => speak(this.transport(), params, options));
  }
}

// The types of `OpenAI.Audio.Speech`.
// oxfmt-ignore
export declare namespace Speech {
  export {
    SpeechCreateParams, SpeechModel,
  };
}

type AnyTranscription = TranscriptionCreateResponse | string;

/** Writes down what is spoken, in its own language. */
export class Transcriptions {
  /** @internal */
  readonly transport: () => Transport;

  /** @internal */
  constructor(transport: () => Transport) {
    this.transport = transport;
  }

  /**
   * Writes down what is spoken: `POST /v1/audio/transcriptions`.
   *
   * Metered: repeated on 408, 429, 5xx and lost connections, but never when the file is a stream, which
   * can be sent once only. Not every gateway has the route, and not every model all forms. The file is
   * named as `audio.translations.create()` does it.
   *
   * With `stream: true` the text comes as events, and the loop over them throws `StreamTruncatedError`
   * when the last one, which has all of the text, is missing. The whole answer of a model that does not
   * stream becomes events too.
   *
   * @param params - `response_format` decides what comes back.
   * @returns An object with `text`, or text for `"text"`, `"srt"` and `"vtt"`.
   * @throws `InvalidInputError` when the file is missing, empty or not audio by its name and bytes, or
   * another parameter cannot work; nothing is sent then
   * @throws `APIError` when the gateway refuses or no usable answer comes
   *
   * @example
   * ```ts
   * const { text } = await client.audio.transcriptions.create({ model: 'whisper-1', file });
   * ```
   */
  create(
    params: TranscriptionCreateParamsNonStreaming<'json' | undefined>,
    options?: RequestOptions,
  ): GatewayPromise<Transcription>;
  /** The same, with duration, language, segments and words where the provider tells them. */
  create(
    params: TranscriptionCreateParamsNonStreaming<'verbose_json'>,
    options?: RequestOptions,
  ): GatewayPromise<TranscriptionVerbose>;
  /** The same, with who spoke when. */
  create(
    params: TranscriptionCreateParamsNonStreaming<'diarized_json'>,
    options?: RequestOptions,
  ): GatewayPromise<TranscriptionDiarized>;
  /** The same, as text or subtitles. */
  create(
    params: TranscriptionCreateParamsNonStreaming<'srt' | 'vtt' | 'text'>,
    options?: RequestOptions,
  ): GatewayPromise<string>;
  /** The same as a stream of events; the loop throws `StreamTruncatedError` when it is cut. */
  create(
    params: TranscriptionCreateParamsStreaming,
    options?: RequestOptions,
  ): GatewayPromise<Stream<TranscriptionStreamEvent>>;
  /** An object, text or events, as `response_format` and `stream` say. */
  create(
    params: TranscriptionCreateParams,
    options?: RequestOptions,
  ): GatewayPromise<AnyTranscription | Stream<TranscriptionStreamEvent>>;
  create(
    params: TranscriptionCreateParams,
    options?: RequestOptions,
  ): GatewayPromise<AnyTranscription | Stream<TranscriptionStreamEvent>> {
    return startCall(params, () => transcribe(this.transport(), params, options));
  }
}

// The types of `OpenAI.Audio.Transcriptions`.
// oxfmt-ignore
export declare namespace Transcriptions {
  export {
    Transcription, TranscriptionCreateParams, TranscriptionCreateParamsNonStreaming,
    TranscriptionCreateParamsStreaming, TranscriptionCreateResponse, TranscriptionDiarized,
    TranscriptionDiarizedSegment, TranscriptionInclude, TranscriptionLanguage,
    TranscriptionSegment, TranscriptionStreamEvent, TranscriptionTextDeltaEvent,
    TranscriptionTextDoneEvent, TranscriptionTextSegmentEvent, TranscriptionVerbose,
    TranscriptionWord,
  };
}

type TextFormat = 'text' | 'srt' | 'vtt';
type AnyTranslation = Translation | TranslationVerbose | string;

/** Translates speech into English text. */
export class Translations {
  /** @internal */
  readonly transport: () => Transport;

  /** @internal */
  constructor(transport: () => Transport) {
    this.transport = transport;
  }

  /**
   * Translates speech into English text: `POST /v1/audio/translations`.
   *
   * Metered: repeated on 408, 429, 5xx and lost connections, but never when the file is a stream, which
   * can be sent once only. The gateway recognises audio by the extension of its file name; a missing or
   * wrong one is corrected by what the bytes are.
   *
   * @param params - `response_format` decides what comes back.
   * @returns An object with `text` for `"json"` (the default) and `"verbose_json"`, text for `"text"`,
   * `"srt"` and `"vtt"`.
   * @throws `InvalidInputError` when the file is missing, empty or not audio by its name and bytes, or
   * another parameter cannot work; nothing is sent then
   * @throws `APIError` when the gateway refuses or no usable answer comes
   *
   * @example
   * ```ts
   * const { text } = await client.audio.translations.create({ model, file });
   * ```
   */
  create(
    params: TranslationCreateParams<'json' | undefined>,
    options?: RequestOptions,
  ): GatewayPromise<Translation>;
  /** The same, with duration, language and segments where the provider tells them. */
  create(
    params: TranslationCreateParams<'verbose_json'>,
    options?: RequestOptions,
  ): GatewayPromise<TranslationVerbose>;
  /** The same, as text or subtitles. */
  create(
    params: TranslationCreateParams<TextFormat> & { response_format: TextFormat },
    options?: RequestOptions,
  ): GatewayPromise<string>;
  /** An object or text, as `response_format` says. */
  create(params: TranslationCreateParams, options?: RequestOptions): GatewayPromise<AnyTranslation>;
  create(
    params: TranslationCreateParams,
    options?: RequestOptions,
  ): GatewayPromise<AnyTranslation> {
    return startCall(params, () => translate(this.transport(), params, options));
  }
}

// The types of `OpenAI.Audio.Translations`.
// oxfmt-ignore
export declare namespace Translations {
  export {
    Translation, TranslationCreateParams, TranslationCreateResponse, TranslationVerbose,
  };
}

/** Turns text into speech, and speech into text. */
export class Audio {
  /** Text to speech. */
  readonly speech: Speech;
  /** Speech to text, in its own language. */
  readonly transcriptions: Transcriptions;
  /** Speech to English text. */
  readonly translations: Translations;

  /** @internal */
  constructor(transport: () => Transport) {
    this.speech = new Speech(transport);
    this.transcriptions = new Transcriptions(transport);
    this.translations = new Translations(transport);
  }
}

// The types of `OpenAI.Audio`.
// oxfmt-ignore
export declare namespace Audio {
  export {
    AudioModel, AudioResponseFormat, type Speech, SpeechCreateParams, SpeechModel, Transcription,
    TranscriptionCreateParams, TranscriptionCreateParamsNonStreaming,
    TranscriptionCreateParamsStreaming, TranscriptionCreateResponse, TranscriptionDiarized,
    TranscriptionDiarizedSegment, TranscriptionInclude, TranscriptionLanguage, type Transcriptions,
    TranscriptionSegment, TranscriptionStreamEvent, TranscriptionTextDeltaEvent,
    TranscriptionTextDoneEvent, TranscriptionTextSegmentEvent, TranscriptionVerbose,
    TranscriptionWord, type Translations, Translation, TranslationCreateParams,
    TranslationCreateResponse, TranslationVerbose,
  };
}
