import type { Transport } from '../http/transport.ts';
import { Speech } from './speech.ts';
import { Transcriptions } from './transcriptions.ts';
import { Translations } from './translations.ts';
import type {
  Translation,
  TranslationCreateParams,
  TranslationCreateResponse,
  TranslationVerbose,
  SpeechCreateParams,
  AudioResponseFormat,
  TranscriptionSegment,
} from './types.ts';
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
import type { AudioModel, SpeechModel } from '../types.ts';

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

/** The types of `OpenAI.Audio`. */
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
