import type { GatewayPromise } from '../../calls/promise.ts';
import { startCall, type Transport } from '../../calls/transport.ts';
import type { RequestOptions } from '../../options/options.ts';
import type { Stream } from '../../streams/stream.ts';
import { speak, transcribe, translate } from './operations.ts';
import type {
  Transcription,
  TranscriptionCreateParams,
  TranscriptionCreateParamsNonStreaming,
  TranscriptionCreateParamsStreaming,
  TranscriptionCreateResponse,
  TranscriptionDiarized,
  TranscriptionStreamEvent,
  TranscriptionVerbose,
} from './transcription-types.ts';
import type {
  SpeechCreateParamsBase,
  SpeechCreateParamsFile,
  SpeechCreateParamsStreaming,
  SpeechStreamEvent,
  Translation,
  TranslationCreateParams,
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
   * Converts text to speech: `POST /v1/audio/speech`.
   *
   * Metered: retried on 408, 429, 5xx and lost connections until the first byte of the audio arrives.
   * The body is an unbuffered stream: read it or cancel it. Reading fails if the audio is cut off. The
   * format is in the `content-type` header and may differ from the requested one.
   *
   * Audio in JSON (`audio_data`, `data.audio` and others) or in a stream that was not requested is converted to a
   * file. A redirect to the URL of the audio is followed, and a URL in JSON is fetched, both without the key, if it
   * is a public https URL or on the gateway; browsers allow neither for every host.
   *
   * With `stream_format: "sse"` the audio arrives as events, and iterating over them throws
   * `StreamTruncatedError` if the last event is missing.
   *
   * @returns A `Response`, with `arrayBuffer()`, `blob()`, `body` and `headers`.
   * @throws `InvalidInputError` if a parameter is invalid; nothing is sent
   * @throws `UnexpectedResponseError` if the response is empty, a page, or JSON without audio; `error.body` is all of
   * it, because it may be paid for
   * @throws `APIError` if the gateway rejects the request
   *
   * @example
   * ```ts
   * const speech = await client.audio.speech.create({ model, voice: 'alloy', input: 'Hello!' });
   * const audio = await speech.arrayBuffer();
   * ```
   */
  create(params: SpeechCreateParamsFile, options?: RequestOptions): GatewayPromise<Response>;
  /** Streams the speech as events; iterating throws `StreamTruncatedError` if the stream is cut off. */
  create(
    params: SpeechCreateParamsStreaming,
    options?: RequestOptions,
  ): GatewayPromise<Stream<SpeechStreamEvent>>;
  /** Returns a file or events, depending on `stream_format`. */
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

type AnyTranscription = TranscriptionCreateResponse | string;

/** Transcribes speech in its original language. */
export class Transcriptions {
  /** @internal */
  readonly transport: () => Transport;

  /** @internal */
  constructor(transport: () => Transport) {
    this.transport = transport;
  }

  /**
   * Transcribes speech: `POST /v1/audio/transcriptions`.
   *
   * Metered: retried on 408, 429, 5xx and lost connections, except if the file is a stream, which can
   * be sent only once. Not every gateway has this route, and not every model supports every format. File
   * names are corrected as in `audio.translations.create()`.
   *
   * With `stream: true` the text arrives as events, and iterating over them throws
   * `StreamTruncatedError` if the last event, which contains the full text, is missing; `error.partial.text` is the
   * text so far. Events of vLLM and Mistral, and the complete response of a model that does not stream, are converted
   * to these events.
   *
   * @param params - `response_format` determines the return type.
   * @returns An object with `text`, or a string for `"text"`, `"srt"` and `"vtt"`.
   * @throws `InvalidInputError` if the file is missing, empty, or not audio by its name and bytes, or
   * another parameter is invalid; nothing is sent
   * @throws `APIError` if the gateway rejects the request or the response is unusable
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
  /** Includes duration, language, segments and words where the provider reports them. */
  create(
    params: TranscriptionCreateParamsNonStreaming<'verbose_json'>,
    options?: RequestOptions,
  ): GatewayPromise<TranscriptionVerbose>;
  /** Includes the speaker and the times of each segment. */
  create(
    params: TranscriptionCreateParamsNonStreaming<'diarized_json'>,
    options?: RequestOptions,
  ): GatewayPromise<TranscriptionDiarized>;
  /** Returns text or subtitles. */
  create(
    params: TranscriptionCreateParamsNonStreaming<'srt' | 'vtt' | 'text'>,
    options?: RequestOptions,
  ): GatewayPromise<string>;
  /** Streams events; iterating throws `StreamTruncatedError` if the stream is cut off. */
  create(
    params: TranscriptionCreateParamsStreaming,
    options?: RequestOptions,
  ): GatewayPromise<Stream<TranscriptionStreamEvent>>;
  /** Returns an object, text or events, depending on `response_format` and `stream`. */
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
   * Metered: retried on 408, 429, 5xx and lost connections, except if the file is a stream, which can
   * be sent only once. The gateway detects audio by the extension of the file name; a missing or wrong
   * extension is corrected from the file's bytes.
   *
   * @param params - `response_format` determines the return type.
   * @returns An object with `text` for `"json"` (the default) and `"verbose_json"`, a string for `"text"`,
   * `"srt"` and `"vtt"`.
   * @throws `InvalidInputError` if the file is missing, empty, or not audio by its name and bytes, or
   * another parameter is invalid; nothing is sent
   * @throws `APIError` if the gateway rejects the request or the response is unusable
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
  /** Includes duration, language and segments where the provider reports them. */
  create(
    params: TranslationCreateParams<'verbose_json'>,
    options?: RequestOptions,
  ): GatewayPromise<TranslationVerbose>;
  /** Returns text or subtitles. */
  create(
    params: TranslationCreateParams<TextFormat> & { response_format: TextFormat },
    options?: RequestOptions,
  ): GatewayPromise<string>;
  /** Returns an object or text, depending on `response_format`. */
  create(params: TranslationCreateParams, options?: RequestOptions): GatewayPromise<AnyTranslation>;
  create(
    params: TranslationCreateParams,
    options?: RequestOptions,
  ): GatewayPromise<AnyTranslation> {
    return startCall(params, () => translate(this.transport(), params, options));
  }
}

/** Text to speech, transcription and translation. */
export class Audio {
  /** Text to speech. */
  readonly speech: Speech;
  /** Speech to text, in the original language. */
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
