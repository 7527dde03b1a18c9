import { isObject, parseJSON } from '../answers/objects.ts';
import type { BodyEncoding } from '../http/request.ts';
import { type FromText, textAnswer } from '../http/response.ts';
import { checkFile } from '../uploads/file-input.ts';
import { formBody } from '../uploads/multipart.ts';
import type { GatewayPromise } from '../http/promise.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import type {
  Translation,
  TranslationCreateParams,
  TranslationCreateResponse,
  TranslationResponseFormat,
  TranslationVerbose,
} from './types.ts';
import { checkModel, checkNumber, checkParams } from '../check.ts';
import { translationSchema, verboseTranslationSchema } from './schema.ts';

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
    return this.transport().call(
      'audio.translations.create',
      () => ({ form: translationForm(params) }),
      textAnswer(readTranslation(params?.response_format)),
      options,
    );
  }
}

function translationForm(params: TranslationCreateParams): BodyEncoding {
  checkParams('audio.translations.create', params);
  checkModel(params.model);
  checkNumber('temperature', params.temperature ?? 0);
  const { file, ...others } = params;
  checkFile('file', file);
  return formBody([...Object.entries(others), ['file', file, 'audio']]);
}

/**
 * Reads a translation by what was asked for and by what came: gateways send JSON as text, and text
 * where JSON was asked for.
 */
function readTranslation(format: TranslationResponseFormat | undefined): FromText<AnyTranslation> {
  return (text, read) => {
    const parsed = parseJSON(text);
    const value = isObject(parsed) ? parsed : undefined;
    const inside = value?.['text'];
    if (format === 'text' || format === 'srt' || format === 'vtt') {
      // A provider that knows only JSON has put the text into it; subtitles would be no subtitles.
      return { value: format === 'text' && typeof inside === 'string' ? inside : text };
    }
    if (text.trim() === '') return { problem: 'the answer is empty.' };
    // A bracket may begin a text, such as `[Music]`; a brace never does.
    if (!value && /^\s*\{/.test(text)) return { problem: 'the answer is not whole JSON.' };
    if (value && typeof inside !== 'string') return { problem: 'the answer has no text.' };
    const schema = format === 'verbose_json' ? verboseTranslationSchema : translationSchema;
    return { value: read(value ?? { text }, schema) };
  };
}

/** The types of `OpenAI.Audio.Translations`. */
// oxfmt-ignore
export declare namespace Translations {
  export {
    Translation, TranslationCreateParams, TranslationCreateResponse, TranslationVerbose,
  };
}
