import type { GatewayPromise } from '../http/promise.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import type { Stream } from '../streams/stream.ts';
import { loadRare } from '../load-rare.ts';
import { asGiven, fileAsGiven } from '../given.ts';
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
import type { TranscriptionSegment } from './types.ts';

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
    const given = asGiven(params, fileAsGiven);
    return this.transport().late(loadRare, options, (rare, transport, own) =>
      rare.transcribe(transport, given, own),
    );
  }
}

/** The types of `OpenAI.Audio.Transcriptions`. */
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
