/** Types of audio, with the namespaces that code for `openai` uses. */
import type * as transcription from '../../resources/audio/transcription-types.ts';
import type * as audio from '../../resources/audio/types.ts';
import type {
  TranscriptionCreateParamsNonStreaming,
  TranscriptionCreateParamsStreaming,
  TranscriptionDuration,
  TranscriptionLogprob,
  TranscriptionVadConfig,
} from '../../resources/audio/transcription-types.ts';
import type { Closed } from '../../types.ts';
import type { AudioResponseFormat } from '../../resources/audio/types.ts';

export type * from '../../resources/audio/transcription-types.ts';
export type * from '../../resources/audio/types.ts';

/** Parameters of `audio.transcriptions.create()`. */
export type TranscriptionCreateParams<
  Format extends AudioResponseFormat | undefined = AudioResponseFormat | undefined,
> = transcription.TranscriptionCreateParams<Format>;
export declare namespace TranscriptionCreateParams {
  export {
    TranscriptionVadConfig as VadConfig,
    TranscriptionCreateParamsNonStreaming,
    TranscriptionCreateParamsStreaming,
  };
}

/** An addition to a transcription. `create()` also accepts other words. */
export type TranscriptionInclude = Closed<transcription.TranscriptionInclude>;

/** Tokens used by a transcription. */
export interface TranscriptionTokens extends transcription.TranscriptionTokens {}
export declare namespace TranscriptionTokens {
  type InputTokenDetails = NonNullable<transcription.TranscriptionTokens['input_token_details']>;
}

/** A transcription. */
export interface Transcription extends transcription.Transcription {}
export declare namespace Transcription {
  export {
    TranscriptionLogprob as Logprob,
    TranscriptionTokens as Tokens,
    TranscriptionDuration as Duration,
  };
}

/** A transcription with duration, language, segments and words. */
export interface TranscriptionVerbose extends transcription.TranscriptionVerbose {}
export declare namespace TranscriptionVerbose {
  export { TranscriptionDuration as Usage };
}

/** A transcription with speakers. */
export interface TranscriptionDiarized extends transcription.TranscriptionDiarized {}
export declare namespace TranscriptionDiarized {
  export { TranscriptionTokens as Tokens, TranscriptionDuration as Duration };
}

/** A text delta. */
export interface TranscriptionTextDeltaEvent extends transcription.TranscriptionTextDeltaEvent {}
export declare namespace TranscriptionTextDeltaEvent {
  export { TranscriptionLogprob as Logprob };
}

/** The last event, with the full text. */
export interface TranscriptionTextDoneEvent extends transcription.TranscriptionTextDoneEvent {}
export declare namespace TranscriptionTextDoneEvent {
  export { TranscriptionLogprob as Logprob, TranscriptionTokens as Usage };
}

/** Parameters of `audio.speech.create()`. */
export type SpeechCreateParams = audio.SpeechCreateParams;
export declare namespace SpeechCreateParams {
  /** A custom voice. Gateways reject it, and `voice` does not accept it. */
  type ID = { id: string };
}
