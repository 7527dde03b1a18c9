import type { GatewayPromise } from '../http/promise.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import { isObject } from '../answers/objects.ts';
import { fileAnswer } from '../http/response.ts';
import { eventAnswer } from '../streams/open-stream.ts';
import type { Stream } from '../streams/stream.ts';
import { speechEventSchema } from './schema.ts';
import { type StreamProtocol, typedProtocol } from '../streams/protocol.ts';
import type { JsonObject, SpeechModel } from '../types.ts';
import type {
  SpeechCreateParams,
  SpeechCreateParamsBase,
  SpeechCreateParamsFile,
  SpeechCreateParamsStreaming,
  SpeechStreamEvent,
} from './types.ts';
import { checkModel, checkNumber, checkParams, checkText } from '../check.ts';

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
  ): GatewayPromise<Response> | GatewayPromise<Stream<SpeechStreamEvent>> {
    const request = () => ({ json: speechBody(params) });
    return params?.stream_format === 'sse'
      ? this.transport().call('audio.speech.create', request, eventAnswer(speechProtocol), options)
      : this.transport().call('audio.speech.create', request, fileAnswer(soundIn), options);
  }
}

/** Mistral's models answer with JSON. */
function soundIn(value: unknown): string | undefined {
  const data = isObject(value) ? value['audio_data'] : undefined;
  return typeof data === 'string' ? data : undefined;
}

function speechBody(params: SpeechCreateParamsBase): SpeechCreateParamsBase {
  checkParams('audio.speech.create', params);
  checkModel(params.model);
  checkText('input', params.input, 'the text to speak');
  checkNumber('speed', params.speed ?? 1);
  if (params.voice !== undefined) {
    checkText(
      'voice',
      params.voice,
      'the name of a voice or leave it out; { id } is not understood',
    );
  }
  return params;
}

/** How a stream of speech is read. It ends without a terminator; its last event is the proof. */
const speechProtocol: StreamProtocol<SpeechStreamEvent> = {
  ...typedProtocol({
    schema: speechEventSchema,
    endType: 'speech.audio.done',
    fromAnswer: () => [],
  }),
  fromFile: toEvents,
};

/** Small enough for the call stack, and whole groups of three bytes, so that no piece ends in `=`. */
const pieceBytes = 24_576;

function toEvents(bytes: Uint8Array): readonly JsonObject[] {
  const events: JsonObject[] = [];
  for (let start = 0; start < bytes.length; start += pieceBytes) {
    const piece = String.fromCharCode(...bytes.subarray(start, start + pieceBytes));
    events.push({ type: 'speech.audio.delta', audio: btoa(piece) });
  }
  return [...events, { type: 'speech.audio.done' }];
}

/** The types of `OpenAI.Audio.Speech`. */
// oxfmt-ignore
export declare namespace Speech {
  export {
    SpeechCreateParams, SpeechModel,
  };
}
