import type { Transport } from '../http/transport.ts';
import { Speech } from './speech.ts';
import { Translations } from './translations.ts';
import type {
  Translation,
  TranslationCreateParams,
  TranslationCreateResponse,
  TranslationVerbose,
  SpeechCreateParams,
  AudioResponseFormat,
} from './types.ts';
import type { AudioModel, SpeechModel } from '../types.ts';

/** Turns text into speech, and speech into English text. */
export class Audio {
  /** Text to speech. */
  readonly speech: Speech;
  /** Speech to English text. */
  readonly translations: Translations;

  /** @internal */
  constructor(transport: () => Transport) {
    this.speech = new Speech(transport);
    this.translations = new Translations(transport);
  }
}

/** The types of `OpenAI.Audio`. */
// oxfmt-ignore
export declare namespace Audio {
  export {
    AudioModel, AudioResponseFormat, type Speech, SpeechCreateParams, SpeechModel, type
    Translations, Translation, TranslationCreateParams, TranslationCreateResponse,
    TranslationVerbose,
  };
}
