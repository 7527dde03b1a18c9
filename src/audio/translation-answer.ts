import type { FromText, ReadParsed } from '../http/response.ts';
import { isObject, parseJSON } from '../answers/objects.ts';
import { translationSchema, verboseTranslationSchema } from './schema.ts';
import type { JsonObject } from '../types.ts';
import type { Translation, TranslationResponseFormat, TranslationVerbose } from './types.ts';

/** Whatever a translation can be. */
export type AnyTranslation = Translation | TranslationVerbose | string;

/**
 * Reads a translation by what was asked for and by what came: gateways send JSON as text, and text
 * where JSON was asked for.
 */
export function translationAnswer(
  format: TranslationResponseFormat | undefined,
): FromText<AnyTranslation> {
  return (text, read) => {
    if (/^\s*<(!doctype|html)\b/i.test(text)) return { problem: pageProblem };
    const isVerbose = format === 'verbose_json';
    if (format === undefined || format === 'json' || isVerbose) {
      return readObject(text, isVerbose, read);
    }
    // A provider that knows only JSON has put the text into it; subtitles would be no subtitles.
    const parsed = format === 'text' ? parseObject(text) : undefined;
    return { value: typeof parsed?.['text'] === 'string' ? parsed['text'] : text };
  };
}

const pageProblem =
  'the answer is an HTML page instead of a translation. The gateway answers so on paths that it does not know: check baseURL.';

function readObject(
  text: string,
  isVerbose: boolean,
  read: ReadParsed,
): { value: Translation } | { problem: string } {
  if (text.trim() === '') return { problem: 'the answer is empty.' };
  const parsed = parseObject(text);
  // A bracket may begin a text, such as `[Music]`; a brace never does.
  if (parsed === undefined && /^\s*\{/.test(text)) {
    return { problem: 'the answer is not whole JSON.' };
  }
  const value = parsed ?? { text };
  if (typeof value['text'] !== 'string') return { problem: 'the answer has no text.' };
  return { value: read(value, isVerbose ? verboseTranslationSchema : translationSchema) };
}

function parseObject(text: string): JsonObject | undefined {
  const value = parseJSON(text);
  return isObject(value) ? value : undefined;
}
