import type { GatewayPromise } from '../http/promise.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import { loadRare } from '../load-rare.ts';
import { asGiven, fileAsGiven } from '../given.ts';
import type {
  Translation,
  TranslationCreateParams,
  TranslationCreateResponse,
  TranslationVerbose,
} from './types.ts';

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
    const given = asGiven(params, fileAsGiven);
    return this.transport().late(loadRare, options, (rare, transport, own) =>
      rare.translate(transport, given, own),
    );
  }
}

/** The types of `OpenAI.Audio.Translations`. */
// oxfmt-ignore
export declare namespace Translations {
  export {
    Translation, TranslationCreateParams, TranslationCreateResponse, TranslationVerbose,
  };
}
