import type { GatewayPromise } from '../http/promise.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import type { Stream } from '../streams/stream.ts';
import { loadRare } from '../load-rare.ts';
import { asGiven } from '../given.ts';
import type { SpeechModel } from '../types.ts';
import type {
  SpeechCreateParams,
  SpeechCreateParamsBase,
  SpeechCreateParamsFile,
  SpeechCreateParamsStreaming,
  SpeechStreamEvent,
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
    const given = asGiven(params);
    return this.transport().late(loadRare, options, (rare, transport, own) =>
      rare.speak(transport, given, own),
    );
  }
}

/** The types of `OpenAI.Audio.Speech`. */
// oxfmt-ignore
export declare namespace Speech {
  export {
    SpeechCreateParams, SpeechModel,
  };
}
