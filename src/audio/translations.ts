import type { BodyEncoding } from '../http/body.ts';
import { textAnswer } from '../http/response.ts';
import { checkFile } from '../uploads/file-input.ts';
import { formBody } from '../uploads/multipart.ts';
import type { GatewayPromise } from '../http/promise.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import type { Translation, TranslationCreateParams, TranslationVerbose } from './types.ts';
import { checkModel, checkNumber, checkParams } from '../check.ts';
import { translationAnswer, type AnyTranslation } from './translation-answer.ts';

type TextFormat = 'text' | 'srt' | 'vtt';

/** Translates speech into English text (interface document, 4.2). */
export class Translations {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
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
    return this.#transport.call(
      'audio.translations.create',
      () => ({ form: translationForm(params) }),
      textAnswer(translationAnswer(params?.response_format)),
      options,
    );
  }
}

function translationForm(params: TranslationCreateParams): BodyEncoding {
  checkParams('audio.translations.create', params);
  checkModel(params.model);
  checkNumber('temperature', params.temperature ?? 0);
  const { file, ...others } = params;
  checkFile('file', file, 'the audio to translate');
  return formBody([...Object.entries(others), ['file', file, 'audio']]);
}
